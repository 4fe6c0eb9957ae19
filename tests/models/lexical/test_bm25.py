"""BM25 by hand and against bm25s on the same tokens."""

import math
import random

import bm25s
import numpy as np
import pytest

from coclick import create
from coclick.graph.click_graph import ClickGraph

WORDS = [f"w{i}" for i in range(60)]


def graph(titles):
    docs = {f"d{i:03}": title for i, title in enumerate(titles)}
    return ClickGraph.from_clicks([("w0", "d000", 1.0)], docs)


def test_by_hand():
    """Three documents of 2, 2 and 4 words; "red" is in one of them, twice."""
    model = create("bm25(stem=false)").fit(graph(["blue car", "green car", "red red big car"]))
    [(doc, score)] = model.search("red").hits()
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    expected = idf * 2 * 2.2 / (2 + 1.2 * (1 - 0.75 + 0.75 * 4 / (8 / 3)))
    assert doc == "d002"
    assert score == pytest.approx(expected, rel=1e-6)


def test_a_repeated_query_word_counts_twice():
    model = create("bm25").fit(graph(["blue car", "green car"]))
    [(_, once)] = model.search("blue").hits()
    [(_, twice)] = model.search("blue blue").hits()
    assert twice == pytest.approx(2 * once)


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_bm25s(seed):
    """bm25s' "lucene" form has the same idf and leaves out the constant factor k₁ + 1."""
    chance = random.Random(seed)
    titles = [" ".join(chance.choices(WORDS, k=chance.randint(1, 30))) for _ in range(200)]
    model = create("bm25(stem=false,tokenizer=words,k1=1.5,b=0.6)").fit(graph(titles))
    peer = bm25s.BM25(method="lucene", k1=1.5, b=0.6)
    peer.index([title.split() for title in titles], show_progress=False)
    for _ in range(20):
        query = chance.sample(WORDS, 4)
        theirs = peer.get_scores(query) * 2.5
        [ours] = model.score([" ".join(query)], [[f"d{i:03}" for i in range(200)]])
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
