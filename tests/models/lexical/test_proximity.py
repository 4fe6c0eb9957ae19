"""The positional index of `bm25sd` entry by entry, and its explanations."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from coclick import ClickGraph, create
from coclick.models.lexical._proximity import WINDOW, WindowIndex
from coclick.text.analyzer import Analyzer

PLAIN = Analyzer(stem=False)


def places(index):
    """{term: [(document, position, weight)]}."""
    found = {}
    for term, name in enumerate(index.terms):
        rows, weights = index._occurrences(term)
        found[name] = [
            (place >> 32, place & 0xFFFFFFFF, pytest.approx(weight))
            for place, weight in zip(rows.tolist(), weights.tolist(), strict=True)
        ]
    return found


def test_positions_of_words_in_documents():
    graph = ClickGraph.from_clicks([("a", "d0", 1)], {"d0": "b a b", "d1": "", "d2": "c a"})
    index = WindowIndex.from_fields(dict(graph.texts), PLAIN)
    assert places(index) == {
        "a": [(0, 1, 1), (2, 1, 1)],
        "b": [(0, 0, 1), (0, 2, 1)],
        "c": [(2, 0, 1)],
    }
    assert index.lengths.tolist() == pytest.approx([3 / 2.5, 0, 2 / 2.5])  # two documents have words


def test_clicked_queries_are_passages_a_window_apart():
    """d0: "a" (3 clicks), "a b" (1); d1: "a b" (7). A document starts at 0."""
    graph = ClickGraph.from_clicks([("a b", "d0", 1), ("a", "d0", 3), ("a b", "d1", 7)])
    index = WindowIndex.from_clicked_queries(graph.queries, graph.clicks_by_doc, PLAIN)
    one, three, seven = math.log(2), math.log(4), math.log(8)
    second = 1 + WINDOW  # after one word
    assert places(index) == {
        "a": [(0, 0, three), (0, second, one), (1, 0, seven)],
        "b": [(0, second + 1, one), (1, 1, seven)],
    }
    lengths = [three + 2 * one, 2 * seven]
    assert index.lengths.tolist() == pytest.approx([length / (sum(lengths) / 2) for length in lengths])


def test_weights_of_words_are_bm25():
    titles = {"d0": "a b a c", "d1": "a", "d2": "b b", "d3": "c d e f g"}
    graph = ClickGraph.from_clicks([("a", "d0", 1)], titles)
    index = WindowIndex.from_fields(dict(graph.texts), PLAIN)
    words = {doc: Counter(text.split()) for doc, text in titles.items()}
    average = sum(count.total() for count in words.values()) / 4
    for k1, b in ((1.2, 0.75), (2.0, 0.3)):
        found = index.word_weights(k1, b, len(index.lengths)).to_scipy().toarray()
        for row, counts in enumerate(words.values()):
            for column, term in enumerate(index.terms):
                df = sum(term in other for other in words.values())
                idf = math.log(1 + (4 - df + 0.5) / (df + 0.5))
                tf = counts[term]
                norm = k1 * (1 - b + b * counts.total() / average)
                assert found[row, column] == pytest.approx(idf * tf * (k1 + 1) / (tf + norm), rel=1e-5)


def test_an_explanation_lists_fields_and_sorts_their_parts():
    docs = {"d0": {"title": "red hat", "anchor": "old hat"}, "d1": {"title": "hat", "anchor": ""}}
    graph = ClickGraph.from_clicks([("red hat", "d0", 2), ("blue hat", "d1", 2)], docs)
    model = create("bm25sd_mult(stem=false,content_weight=1,anchor_weight=2,query_weight=3)").fit(graph)
    why = model.explain("red hat", "d0")
    assert [part.kind for part in why.parts] == ["field"] * len(why.parts)
    assert why.score == pytest.approx(sum(part.value for part in why.parts), rel=1e-6)
    for field in why.parts:
        values = [part.value for part in field.parts]
        assert values == sorted(values, reverse=True)
        assert field.value == pytest.approx(sum(values))
    by_name = {part.label: {(p.kind, p.label): p.value for p in part.parts} for part in why.parts}
    both, one = math.log(1 + 0.5 / 2.5), math.log(1 + 1.5 / 1.5)
    [title, anchor] = [next(v for k, v in by_name.items() if k == name) for name in list(by_name)[:2]]
    length = 2 / 1.5
    norm = 1.2 * (0.25 + 0.75 * length)
    assert title["word", "red"] == pytest.approx(0.8 * one * 2.2 / (1 + norm), rel=1e-5)
    assert title["word", "hat"] == pytest.approx(0.8 * both * 2.2 / (1 + norm), rel=1e-5)
    assert title["ordered pair", "red hat"] == pytest.approx(0.15 * one * 2.2 / (1 + norm), rel=1e-5)
    assert title["unordered pair", "red hat"] == pytest.approx(0.05 * one * 2.2 / (1 + norm), rel=1e-5)
    assert set(anchor) == {("word", "hat")}
    assert anchor["word", "hat"] == pytest.approx(2 * 0.8 * one * 2.2 / (1 + 1.2), rel=1e-5)
    assert len(model.explain("unknown", "d0").parts) == len(why.parts)


def test_repeated_words_count_and_unknown_ones_separate():
    graph = ClickGraph.from_clicks([("a", "d0", 1)], {"d0": "a b", "d1": "c"})
    model = create("bm25sd(stem=false)").fit(graph)
    [once], [twice] = (model.score([query], [["d0"]])[0] for query in ("a", "a a"))
    assert twice == pytest.approx(2 * once, rel=1e-6)
    whole, apart, words = (model.score([query], [["d0"]])[0][0] for query in ("a b", "a zzz b", "b a"))
    assert apart < words < whole, "in another order the pair still shares a window"
    only_words = create("bm25sd(stem=false,ordered_weight=0,unordered_weight=0)").fit(graph)
    assert apart == pytest.approx(only_words.score(["a b"], [["d0"]])[0][0], rel=1e-6)
    pairs = create("bm25sd(stem=false,word_weight=0)").fit(graph)
    assert {part.kind for part in pairs.explain("a b", "d0").parts} == {"ordered pair", "unordered pair"}
    unordered = create("bm25sd(stem=false,word_weight=0,ordered_weight=0)").fit(graph)
    [part] = unordered.explain("b a", "d0").parts
    assert (part.kind, part.label) == ("unordered pair", "b a")
    [[three]] = unordered.score(["b a b a"], [["d0"]])
    assert three == pytest.approx(3 * part.value, rel=1e-6), "b a twice, a b once"


def test_documents_without_words_have_the_length_zero():
    graph = ClickGraph.from_clicks([("a", "d0", 1)], {"d0": "", "d1": ""})
    index = WindowIndex.from_fields(dict(graph.texts), PLAIN)
    assert index.lengths.tolist() == [0, 0] and len(index.terms) == 0
    assert index.word_weights(1.2, 0.75, 0).nnz == 0
    np.testing.assert_array_equal(create("bm25sd").fit(graph).score(["a"], [["d0", "d1"]])[0], [0, 0])


def test_anchors_are_content_only_if_they_are_named_or_alone():
    docs = {"d0": {"title": "red", "anchor": "hat"}, "d1": {"title": "sock", "anchor": "shoe"}}
    for texts, fields, words in (
        (docs, "all", ["red", "sock"]),
        (docs, "title+anchor", ["hat", "red", "shoe", "sock"]),
        (docs, "anchor", ["hat", "shoe"]),
        ({doc: {"anchor": text["anchor"]} for doc, text in docs.items()}, "all", ["hat", "shoe"]),
    ):
        graph = ClickGraph.from_clicks([("red", "d0", 1)], texts)
        model: Any = create(f"bm25sd_mult(fields={fields},stem=false)").fit(graph)
        assert list(model.content_.terms) == words
        assert list(model.anchor_.terms) == ["hat", "shoe"]
