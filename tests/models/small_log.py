"""A small log for references that train a whole model by loops over dense arrays.

Three topics, texts in two fields, words that only queries or only documents have, words that repeat,
documents that were never clicked, one without a title. Texts are split by `str.split`, not by our tokenizer:
models are created with `tokenizer=whitespace`, and without stemming and stop words.
"""

import random
from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from coclick.graph.click_graph import ClickGraph, SkipPairs

Floats = NDArray[np.float64]

PLAIN_TEXT = "tokenizer=whitespace,stem=false,remove_stop_words=false"
_TOPICS = {
    "travel": ("hotel cheap stay ny", "hotel manhattan rooms suites"),
    "shoes": ("shoe jogging nike run", "shoe running-shoe marathon store"),
    "code": ("python pip error 3.12", "python install interpreter 3.12"),
}


def clicks() -> list[tuple[str, str, float]]:
    """(query, document, clicks): about fifty pairs, some of them across topics."""
    chance = random.Random(7)
    rows: dict[tuple[str, str], float] = {}
    for topic, (words, _) in _TOPICS.items():
        vocabulary = words.split()
        queries = [*vocabulary, *(" ".join(chance.sample(vocabulary, 2)) for _ in range(3))]
        queries.append(f"{vocabulary[0]} {vocabulary[0]} {vocabulary[1]}")
        for query in dict.fromkeys(queries):
            for doc in chance.sample(range(5), 2):
                rows[query, f"{topic}-{doc}"] = float(chance.choice([1, 2, 5, 40]))
    rows["cheap", "shoes-0"] = 1.0
    rows["run", "code-1"] = 3.0
    rows["error", "notitle"] = 2.0
    return [(query, doc, count) for (query, doc), count in rows.items()]


def docs() -> dict[str, dict[str, str]]:
    """Texts by document; 5 and 6 of each topic, and "unseen", were never clicked."""
    chance = random.Random(11)
    found = {}
    for topic, (_, words) in _TOPICS.items():
        vocabulary = words.split()
        for i in range(7):
            title = " ".join([*chance.sample(vocabulary, 2), "the", *([vocabulary[0]] * (i % 3))])
            body = " ".join([*chance.sample(vocabulary, 3), f"{topic}s", "about", "the"])
            found[f"{topic}-{i}"] = {"title": title, "body": body}
    found["notitle"] = {"title": "", "body": "errors python the"}
    found["unseen"] = {"title": "unseen rooms", "body": "rooms store the"}
    return found


def graph() -> ClickGraph:
    """The graph, with skipped documents: for each query, one document that was skipped for each clicked."""
    built = ClickGraph.from_clicks(clicks(), docs())
    chance = random.Random(3)
    starts, clicked, skipped = [0], [], []
    for query in range(len(built.queries)):
        for doc in built.clicks.row(query)[0].tolist():
            if chance.random() < 0.8:
                clicked.append(doc)
                skipped.append(chance.choice([d for d in range(len(built.docs)) if d != doc]))
        starts.append(len(clicked))
    columns = (np.array(column, np.int32) for column in (clicked, skipped, [2] * len(clicked)))
    return replace(built, skips=SkipPairs(np.array(starts), *columns))


def doc_texts(graph: ClickGraph, fields: list[str]) -> list[list[str]]:
    """The words of each document of the graph, in the given fields."""
    texts = docs()
    return [" ".join(texts[doc][field] for field in fields).split() for doc in graph.docs]


def query_texts(graph: ClickGraph) -> list[list[str]]:
    """The words of each query of the graph."""
    return [query.split() for query in graph.queries]


def pairs(graph: ClickGraph) -> list[tuple[int, int, float]]:
    """(row of the query, row of the document, clicks) of each clicked pair, by query and document."""
    found = [(graph.queries.id(q), graph.docs.id(d), count) for q, d, count in clicks()]
    return sorted(found)


def tf_idf(texts: list[list[str]], vocabulary: list[str], idf: dict[str, float]) -> Floats:
    """(1 + ln count) · idf, each row of unit length."""
    rows = np.zeros((len(texts), len(vocabulary)))
    for i, words in enumerate(texts):
        for word, count in Counter(words).items():
            rows[i, vocabulary.index(word)] = (1 + np.log(count)) * idf[word]
        rows[i] /= max(np.linalg.norm(rows[i]), 1e-30)
    return rows


def idf_of(texts: list[list[str]]) -> dict[str, float]:
    """ln(1 + texts / texts with the word)."""
    held = Counter(word for words in texts for word in set(words))
    return {word: float(np.log(1 + len(texts) / count)) for word, count in held.items()}


def shared_features(graph: ClickGraph, fields: list[str]) -> tuple[Floats, Floats]:
    """TF-IDF rows of queries and documents, with one vocabulary and one idf for both."""
    queries, held = query_texts(graph), doc_texts(graph, fields)
    idf = idf_of(queries + held)
    vocabulary = sorted(idf)
    return tf_idf(queries, vocabulary, idf), tf_idf(held, vocabulary, idf)
