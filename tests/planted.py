"""Planted data: topics whose queries and documents are known, so that the right answer is known too.

Every topic has words of its own for queries and for titles and one word that both use. Two words
("the", "best") are everywhere. Some documents of each topic were never clicked.
"""

import random
from dataclasses import replace
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from coclick.graph.click_graph import ClickGraph, DailyStats, PairStats, SkipPairs

TOPICS = {
    "hotel": (["ny", "hotel", "cheap", "stay"], ["manhattan", "hotel", "lodging", "suites"]),
    "shoe": (["shoe", "trainers", "jogging", "nike"], ["running", "shoe", "footwear", "marathon"]),
    "pizza": (["pizza", "dough", "mozzarella", "napoli"], ["italian", "pizza", "recipe", "oven"]),
    "python": (["python", "pip", "traceback", "venv"], ["programming", "python", "interpreter", "errors"]),
    "flu": (["flu", "fever", "cough", "sick"], ["influenza", "flu", "symptoms", "medicine"]),
}


def clicks(seed: int = 0, both_orders: bool = False) -> list[tuple[str, str, float]]:
    """(query, document, clicks) rows: inside a topic, with a little noise across topics.

    Queries are a word, or two words with "the" between them; with `both_orders` also two words side by side,
    in both orders.
    """
    chance = random.Random(seed)
    rows = []
    for topic, (words, _) in TOPICS.items():
        for i, first in enumerate(words):
            for second in [None, *words[i + 1 :]]:
                query = first if second is None else f"{first} the {second}"
                for doc in chance.sample(range(6), 3):
                    rows.append((query, f"{topic}-{doc}", float(chance.randint(2, 30))))
    for topic in TOPICS:
        other = chance.choice([name for name in TOPICS if name != topic])
        rows.append((TOPICS[topic][0][0], f"{other}-0", 1.0))
    for topic, (words, _) in TOPICS.items() if both_orders else ():
        for pair in permutations(words, 2):
            for doc in chance.sample(range(6), 3):
                rows.append((" ".join(pair), f"{topic}-{doc}", float(chance.randint(2, 30))))
    return rows


def docs() -> dict[str, str]:
    """Titles. Documents 0–5 of a topic may be clicked, 6 and 7 never are."""
    titles = {}
    for topic, (_, words) in TOPICS.items():
        for i in range(8):
            chosen = [
                words[1],
                words[(i + 2) % 4 if (i + 2) % 4 != 1 else 0],
                words[0] if i % 2 else words[3],
            ]
            titles[f"{topic}-{i}"] = f"The best {' '.join(chosen)} {i}"
    return titles


def graph(seed: int = 0) -> ClickGraph:
    """The planted click graph, with a history."""
    return with_history(ClickGraph.from_clicks(clicks(seed), docs()))


def with_history(graph: ClickGraph) -> ClickGraph:
    """As if events had been logged: two days, documents shown in the order of their clicks.

    A pair with c clicks was shown in c + 10 sessions, all but the last of them on day 100; in c // 2 of
    those it was the only click. Of two neighbours in the order the lower one was once clicked over the upper.
    """
    order = np.concatenate(
        [np.argsort(np.argsort(-graph.clicks.row(q)[1], kind="stable")) for q in range(len(graph.queries))]
    )
    counts = graph.clicks.data.astype(np.int32)
    sessions, navigational = counts + 10, counts // 2
    days = np.tile(np.array([100, 101], np.int32), len(counts))

    def by_day(values: NDArray[np.int32], last: int) -> NDArray[np.int32]:
        return np.stack([values - last, np.full_like(values, last)], 1).ravel()

    pairs = PairStats(
        graph.clicks.indptr,
        graph.clicks.indices,
        sessions,
        np.maximum(counts // 3, 1),
        sessions,
        navigational,
    )
    daily = DailyStats(
        indptr=np.arange(len(counts) + 1) * 2,
        day=days,
        clicks=by_day(counts, 0).astype(np.float32),
        impressions=by_day(sessions, 1),
        users=by_day(np.maximum(counts // 3, 1), 0),
        sessions=by_day(sessions, 1),
        navigational=by_day(navigational, 0),
        position_indptr=np.arange(2 * len(counts) + 1),
        position=np.repeat(order + 1, 2).astype(np.int32),
        shown=by_day(sessions, 1),
    )
    upper = np.flatnonzero(order[:-1] + 1 == order[1:])
    upper = upper[np.searchsorted(graph.clicks.indptr, upper, "right")
                  == np.searchsorted(graph.clicks.indptr, upper + 1, "right")]  # fmt: skip
    skips = SkipPairs(
        np.searchsorted(upper, graph.clicks.indptr),
        graph.clicks.indices[upper + 1],
        graph.clicks.indices[upper],
        np.ones(len(upper), np.int32),
    )
    return ClickGraph(graph.queries, graph.docs, graph.clicks, graph.texts, pairs, daily, skips)


def with_skips_across_topics(graph: ClickGraph) -> ClickGraph:
    """The graph with other skip pairs: every clicked document was once shown below one of another topic."""
    topics = list(TOPICS)
    skipped = []
    for doc in graph.clicks.indices.tolist():
        topic, _, number = graph.docs[doc].rpartition("-")
        other = topics[(topics.index(topic) + 1 + int(number) % 4) % len(topics)]
        skipped.append(graph.docs.id(f"{other}-{number}"))
    ones = np.ones(len(skipped), np.int32)
    pairs = SkipPairs(graph.clicks.indptr, graph.clicks.indices, np.array(skipped, np.int32), ones)
    return replace(graph, skips=pairs)


def topic_of(doc: str) -> str:
    """The topic that a document belongs to."""
    return doc.rpartition("-")[0]
