"""Feature views: TF-IDF by hand, and the same features for a text inside and outside of the graph."""

import math
from collections import Counter

import numpy as np
import pytest

import planted
from coclick import create
from coclick.arrays.strings import Strings
from coclick.features.views import CharView, TextOptions, TextView
from coclick.graph.click_graph import ClickGraph
from coclick.text.analyzer import Analyzer


def test_each_side_has_its_own_idf():
    """ln(1 + 3/2) and ln(1 + 3/1) for two words of queries; in the documents both are ln(1 + 2/1)."""
    rows = [("red hat", "a", 1.0), ("red", "b", 1.0), ("shoe", "b", 1.0)]
    graph = ClickGraph.from_clicks(rows, {"a": "hat red red", "b": "shoe"})
    view, fitted = TextView.fit("words", graph, TextOptions(Analyzer()))
    hat, red, shoe = (view.terms.id(word) for word in ("hat", "red", "shoe"))
    queries, docs = (side.to_scipy().toarray() for side in fitted)
    expected = np.array([math.log(1 + 3 / 2), math.log(1 + 3)])
    row = queries[graph.queries.id("red hat")]
    np.testing.assert_allclose(row[[red, hat]], expected / np.linalg.norm(expected), rtol=1e-6)
    expected = np.array([1 + math.log(2), 1])  # the same idf of both words cancels out
    row = docs[graph.docs.id("a")]
    np.testing.assert_allclose(row[[red, hat]], expected / np.linalg.norm(expected), rtol=1e-6)
    assert docs[graph.docs.id("b"), shoe] == 1


@pytest.mark.parametrize("kind", [TextView, CharView])
def test_texts_outside_of_the_graph_have_the_same_features(kind):
    graph = planted.graph()
    view, fitted = kind.fit("words", graph, TextOptions(Analyzer()))
    for ours, inside in (
        (view.transform_queries(list(graph.queries), graph), fitted.queries),
        (view.transform_docs(graph.texts, graph), fitted.docs),
    ):
        np.testing.assert_allclose(ours.to_scipy().toarray(), inside.to_scipy().toarray(), rtol=1e-6)


@pytest.mark.parametrize("views", ["words", "chars", "words+chars"])
def test_an_added_document_scores_like_one_of_the_graph_with_the_same_text(views):
    titles = planted.docs()
    model = create(f"pls(dim=9,views={views})").fit(planted.graph())
    known = [f"{topic}-{i}" for topic in planted.TOPICS for i in (0, 6)]
    model = model.add({f"new-{doc}": titles[doc] for doc in known})
    for query in planted.TOPICS:
        old, new = model.score([query] * 2, [known, [f"new-{doc}" for doc in known]])
        np.testing.assert_allclose(new, old, rtol=1e-5)
        assert max(old) > 0


def naive_chars(text: str) -> set[str]:
    """The 3- to 5-grams of words between edges, and of all words run together."""
    words = text.split()
    runs = [*(f"_{word}_" for word in words), "".join(words)]
    return {run[i : i + n] for run in runs for n in (3, 4, 5) for i in range(len(run) - n + 1)}


@pytest.mark.parametrize(
    ("fields", "limit", "fewest"), [("all", 100, 2), ("title+body", 100, 2), ("all", 15, 3), ("all", 4, 4)]
)
def test_characters_of_titles_the_most_frequent_ones(fields, limit, fewest, monkeypatch):
    monkeypatch.setattr("coclick.features.views.MAX_CHARS", limit)
    docs = {
        "a": {"title": "red hats", "body": "warm woollen hats"},
        "b": {"title": "red shoes", "body": "warm socks"},
    }
    rows = [("red hat", "a", 1.0), ("redhat", "a", 1.0), ("shoes", "b", 1.0)]
    view, _ = CharView.fit("chars", ClickGraph.from_clicks(rows, docs), TextOptions(Analyzer(), fields))
    texts = [query for query, _, _ in rows]
    texts += [" ".join(doc[name] for name in ("title", "body") if name in fields.replace("all", "title"))
              for doc in docs.values()]  # fmt: skip
    counts = Counter(gram for text in texts for gram in naive_chars(text))
    expected = {gram for gram, count in counts.items() if count >= fewest}
    labels = view.units.labels(np.arange(len(view.units)), Strings.from_list([]))
    assert {label.strip("~") for label in labels} == expected
    assert 0 < len(expected) <= limit
