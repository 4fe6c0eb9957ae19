"""`bm25sd` and `bm25sd_mult` by hand and against a naive implementation."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coclick import create
from coclick.graph.click_graph import ClickGraph

LETTERS = ["ab", "cd", "ef", "gh"]  # few words, so that they repeat and co-occur
texts = st.lists(st.sampled_from(LETTERS), max_size=24)
queries = st.lists(st.sampled_from([*LETTERS, "unheard"]), min_size=1, max_size=5)


def graph(titles, clicks=(("ab", 0, 1.0),)):
    docs = {f"d{i:03}": " ".join(title) for i, title in enumerate(titles)}
    return ClickGraph.from_clicks([(query, f"d{doc:03}", count) for query, doc, count in clicks], docs)


def scores(model, query, count):
    [found] = model.score([" ".join(query)], [[f"d{i:03}" for i in range(count)]])
    return found


# -- the definition, word by word: a document is a list of (weight, words) -----------------------------------


def word(x, words):
    return words.count(x)


def ordered(pair, words):
    return sum(words[i : i + 2] == list(pair) for i in range(len(words)))


def unordered(pair, words):
    """From left to right, each word takes the first free partner in a window of 8 positions."""
    used, found = set(), 0
    for right in range(len(words)):
        for left in range(max(0, right - 7), right):
            if not {left, right} & used and sorted([words[left], words[right]]) == sorted(pair):
                used |= {left, right}
                found += 1
                break
    return found


def naive(docs, query, parameters=(0.8, 0.15, 0.05), k1=1.2, b=0.75):
    lengths = [sum(weight * len(words) for weight, words in doc) for doc in docs]
    average = sum(lengths) / max(sum(length > 0 for length in lengths), 1) or 1.0
    totals = np.zeros(len(docs))
    pairs = list(zip(query, query[1:], strict=False))
    for share, count, asked in zip(
        parameters, (word, ordered, unordered), (query, pairs, pairs), strict=True
    ):
        for x in asked:
            tf = [sum(weight * count(x, words) for weight, words in doc) for doc in docs]
            df = sum(value > 0 for value in tf)
            idf = math.log(1 + (len(docs) - df + 0.5) / (df + 0.5))
            for i, value in enumerate(tf):
                norm = 1 - b + b * lengths[i] / average
                if value > 0:
                    totals[i] += share * idf * value * (k1 + 1) / (value + k1 * norm)
    return totals


def test_by_hand():
    """ "new york" is in both documents, but in this order only in the first."""
    model = create("bm25sd(b=0,stem=false)").fit(graph([["new", "york"], ["york", "old", "new"]]))
    both, one = math.log(1 + 0.5 / 2.5), math.log(1 + 1.5 / 1.5)
    assert scores(model, ["new", "york"], 2) == pytest.approx(
        [0.8 * 2 * both + 0.15 * one + 0.05 * both, 0.8 * 2 * both + 0.05 * both], rel=1e-6
    )


def test_a_window_has_eight_positions():
    inside, outside = (["ab", *["x"] * gap, "cd"] for gap in (6, 7))
    model = create("bm25sd(word_weight=0)").fit(graph([inside, outside]))
    assert [doc for doc, _ in model.search("cd ab").hits()] == ["d000"]


def test_without_pairs_it_is_bm25():
    titles = [["ab", "cd", "ab"], ["ef"], ["cd", "gh", "ab", "ef"]]
    ours = create("bm25sd(word_weight=1,ordered_weight=0,unordered_weight=0)").fit(graph(titles))
    bm25 = create("bm25").fit(graph(titles))
    np.testing.assert_allclose(scores(ours, LETTERS, 3), scores(bm25, LETTERS, 3), rtol=1e-6)


@given(titles=st.lists(texts, min_size=1, max_size=6), query=queries)
def test_agrees_with_a_naive_count(titles, query):
    model = create("bm25sd(stem=false)").fit(graph(titles))
    expected = naive([[(1.0, title)] for title in titles], query)
    np.testing.assert_allclose(scores(model, query, len(titles)), expected, rtol=1e-5)


@given(
    titles=st.lists(texts, min_size=3, max_size=5),
    anchors=st.lists(texts, min_size=5, max_size=5),
    clicks=st.dictionaries(
        st.tuples(queries.map(tuple), st.integers(0, 2)), st.integers(1, 50), min_size=1, max_size=6
    ),
    query=queries,
)
def test_fields_agree_with_a_naive_count(titles, anchors, clicks, query):
    docs = {
        f"d{i:03}": {"title": " ".join(title), "anchor": " ".join(anchors[i])}
        for i, title in enumerate(titles)
    }
    rows = [(" ".join(asked), f"d{doc:03}", float(count)) for (asked, doc), count in clicks.items()]
    model = create("bm25sd_mult(stem=false,content_weight=0.5,anchor_weight=2,query_weight=3)").fit(
        ClickGraph.from_clicks(rows, docs)
    )
    clicked = [
        [(math.log1p(count), list(asked)) for (asked, doc), count in clicks.items() if doc == i]
        for i in range(len(titles))
    ]
    expected = (
        0.5 * naive([[(1.0, title)] for title in titles], query)
        + 2 * naive([[(1.0, anchor)] for anchor in anchors[: len(titles)]], query)
        + 3 * naive(clicked, query)
    )
    np.testing.assert_allclose(scores(model, query, len(titles)), expected, rtol=1e-5)


def test_contributions_name_the_matched_words():
    model = create("bm25sd").fit(graph([["hotels", "york"], ["york", "hotel"]]))
    why = model.explain("Hotel york", "d000")
    assert Counter((part.kind, part.label) for part in why.parts) == Counter(
        [
            ("word", "hotel"),
            ("word", "york"),
            ("ordered pair", "hotel york"),
            ("unordered pair", "hotel york"),
        ]
    )
