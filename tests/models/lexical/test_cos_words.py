"""`cos_words` by hand, and against cosines of plain dictionaries."""

import math
import random
from collections import Counter

import pytest

from coclick import create
from coclick.graph.click_graph import ClickGraph

WORDS = [f"w{i}" for i in range(30)]


def vector(text, held, texts, tf):
    """{word: weight}; `held` is the number of texts with each word, at least one."""
    return {
        word: (count if tf == "count" else 1 + math.log(count)) * math.log(1 + texts / max(held[word], 1))
        for word, count in Counter(text.split()).items()
    }


def cosine(a, b):
    lengths = [math.sqrt(sum(x * x for x in vector.values())) for vector in (a, b)]
    return sum(a[word] * b.get(word, 0) for word in a) / math.prod(lengths)


@pytest.mark.parametrize("tf", ["log", "count"])
def test_cosines_of_dictionaries(tf):
    """Queries use w0 … w19, titles w10 … w29; the body is not used."""
    chance = random.Random(1)
    queries = sorted({" ".join(chance.choices(WORDS[:20], k=chance.randint(1, 6))) for _ in range(60)})
    titles = {f"d{i:02}": " ".join(chance.choices(WORDS[10:], k=chance.randint(1, 15))) for i in range(50)}
    docs = {doc: {"title": title, "body": "w0 w1 w2"} for doc, title in titles.items()}
    graph = ClickGraph.from_clicks([(query, chance.choice(list(docs)), 1.0) for query in queries], docs)
    model = create(f"cos_words(fields=title,stem=false,tokenizer=words,tf={tf})").fit(graph)

    def side(texts):
        held = Counter(word for text in texts for word in set(text.split()))
        return lambda text: vector(text, held, len(texts), tf)

    query_vector, doc_vector = side(queries), side(titles.values())

    def alike(mine, others):
        found = {name: cosine(mine, other) for name, other in others.items()}
        return {name: value for name, value in found.items() if value > 0}

    query_vectors = {query: query_vector(query) for query in queries}
    doc_vectors = {doc: doc_vector(title) for doc, title in titles.items()}
    for query in [*queries[:10], "w0 w25 w25", "w3 w3 w4 w12", "w28"]:
        mine = query_vector(query)
        assert dict(model.search(query, 100).hits()) == pytest.approx(alike(mine, doc_vectors), rel=1e-5)
        similar = alike(mine, query_vectors)
        similar.pop(query, None)
        assert dict(model.similar_queries(query, 100).hits()) == pytest.approx(similar, rel=1e-5)
    for doc in list(docs)[:10]:
        similar = alike(doc_vectors[doc], doc_vectors)
        similar.pop(doc)
        assert dict(model.similar_docs(doc, 100).hits()) == pytest.approx(similar, rel=1e-5)


CLICKS = [("cheap trip", "a", 1), ("cheap flight", "b", 1), ("flight", "b", 2)]


def test_queries_can_share_words_that_no_document_has():
    """ "cheap" is in two of three queries (idf ln 2.5), "trip" in one (ln 4), neither in a title."""
    model = create("cos_words").fit(ClickGraph.from_clicks(CLICKS, {"a": "a journey", "b": "the plane"}))
    cheap, trip, flight = math.log(2.5), math.log(4), math.log(2.5)
    expected = cheap**2 / (math.hypot(cheap, trip) * math.hypot(cheap, flight))
    assert model.similar_queries("cheap trip").hits() == [("cheap flight", pytest.approx(expected))]
    assert model.search("cheap trip").hits() == []
    assert model.search("plane").hits() == [("b", pytest.approx(1))]
    assert model.similar_docs("a").hits() == []


def test_unknown_words_have_no_weight():
    model = create("cos_words").fit(ClickGraph.from_clicks(CLICKS, {"a": "a journey", "b": "the plane"}))
    assert model.similar_queries("flight unheard").hits() == [
        ("flight", pytest.approx(1)),
        ("cheap flight", pytest.approx(math.sqrt(0.5))),
    ]
