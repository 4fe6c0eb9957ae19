"""Features of documents, on a log of five documents that is counted by hand."""

from dataclasses import replace

import numpy as np
import pytest

from coclick.graph.click_graph import ClickGraph, DailyStats, PairStats
from coclick.ltr.doc_values import OF_DAYS, doc_features, with_clicks

# (query, document, day, clicks); the last day is 140.
HISTORY = [
    ("red shoe", "new", 138, 2),
    ("red shoe", "new", 140, 5),
    ("red shoe", "old", 100, 9),
    ("shoe", "new", 140, 1),
    ("shoe", "steady", 111, 4),
    ("shoe", "steady", 134, 3),
    ("shoe", "steady", 140, 0),  # shown, not clicked
]
DOCS = {
    "new": {"title": "red shoe", "price": "19.90", "released": "1970-01-11", "sku": "a1"},
    "old": {"title": "blue", "price": "5", "released": "1970-01-02T10:00", "sku": "17"},
    "steady": {"title": "", "price": "", "released": "", "sku": "x"},
    "never": {"title": "boot", "price": "1e3", "released": "", "sku": "y"},
}


@pytest.fixture
def graph():
    pairs = list(dict.fromkeys((query, doc) for query, doc, _, _ in HISTORY))
    totals = {pair: sum(count for q, d, _, count in HISTORY if (q, d) == pair) for pair in pairs}
    graph = ClickGraph.from_clicks([(*pair, count) for pair, count in totals.items()], DOCS)
    by_row = sorted(HISTORY, key=lambda row: (graph.queries.id(row[0]), graph.docs.id(row[1]), row[2]))
    starts = [i for i, row in enumerate(by_row) if i == 0 or row[:2] != by_row[i - 1][:2]]
    daily = DailyStats(
        np.array([*starts, len(by_row)], np.int64),
        np.array([row[2] for row in by_row], np.int32),
        np.array([row[3] for row in by_row], np.float32),
    )
    return replace(graph, pairs=PairStats(graph.clicks.indptr, graph.clicks.indices), daily=daily)


def values_of(graph, doc):
    names, values = doc_features(graph)
    return dict(zip(names, values[graph.docs.id(doc)].tolist(), strict=True))


@pytest.mark.parametrize(
    ("doc", "expected"),
    # days with clicks; clicks of the last 1, 3, 7, 14, 30 days; trend; days since first, last click
    [
        ("new", [2, 6, 8, 8, 8, 8, 1, 2, 0]),
        ("old", [1, 0, 0, 0, 0, 0, 0, 40, 40]),
        ("steady", [2, 0, 0, 3, 3, 7, 3 / 7, 29, 6]),
        ("never", [0, 0, 0, 0, 0, 0, 0, 41, 41]),
    ],
)
def test_recent_clicks(graph, doc, expected):
    found = values_of(graph, doc)
    np.testing.assert_allclose([found[name] for name in OF_DAYS], expected, rtol=1e-6)


def test_clicks_lengths_and_numeric_fields(graph):
    found = values_of(graph, "new")
    assert (found["doc clicks"], found["doc queries"], found["doc title characters"]) == (8, 2, 8)
    assert found["doc price"] == pytest.approx(19.9)
    assert found["doc released"] == 10
    assert "doc sku" not in found
    assert "doc title" not in found
    assert values_of(graph, "old")["doc released"] == 1
    assert np.isnan(values_of(graph, "steady")["doc price"])
    assert values_of(graph, "never")["doc price"] == 1000


def test_recent_clicks_are_missing_where_labels_are_of_the_same_days(graph):
    names, values = doc_features(graph)
    without = with_clicks(values, graph, recent=False)
    of_days = np.isin(names, OF_DAYS)
    assert np.isnan(without[:, of_days]).all()
    np.testing.assert_array_equal(without[:, ~of_days], values[:, ~of_days])


def test_a_log_without_days_has_no_recent_clicks(graph):
    names, values = doc_features(replace(graph, daily=None, pairs=None))
    assert not {*OF_DAYS} & {*names}
    assert values.shape == (4, len(names))
