"""Searches and follow-ups of a graph: stored, verified, split and merged; counts by hand."""

from dataclasses import replace

import numpy as np
import pytest

from coclick.graph.click_graph import ClickGraph
from coclick.graph.search_tables import FollowUps, SearchStats
from coclick.graph.split import hold_out_queries, remove_queries
from coclick.models.verify import verify


def ints(*values):
    return np.array(values, np.int32)


@pytest.fixture
def graph():
    """Queries a, b, c: a was searched on two days, b on one, c never; a → b, a → c, b → a."""
    plain = ClickGraph.from_clicks([("a", "x", 1), ("b", "x", 2), ("c", "y", 3)])
    searches = SearchStats(np.array([0, 2, 3, 3]), ints(5, 3, 1), ints(1, 2, 1), ints(7, 8, 7), ints(0, 1, 0))
    followups = FollowUps(np.array([0, 2, 3, 3]), ints(1, 2, 0), ints(4, 2, 1), ints(3, 2, 1))
    return replace(plain, searches=searches, followups=followups)


def columns(table):
    return {name: None if values is None else values.tolist() for name, values in vars(table).items()}


def test_they_are_saved_and_opened(tmp_path, graph):
    opened = graph.save(tmp_path / "g")
    for table in ("searches", "followups"):
        assert columns(getattr(opened, table)) == columns(getattr(graph, table))
    assert opened.provides == {"searches", "followups"}
    assert verify(tmp_path / "g") == []


@pytest.mark.parametrize(
    ("table", "column", "value", "wrong"),
    [
        ("followups", "next", 3, "a number of queries is out of bounds"),
        ("followups", "next", -1, "a number of queries is out of bounds"),
        ("followups", "indptr", 9, "row pointers do not ascend"),
        ("searches", "indptr", 1, "row pointers do not ascend"),
    ],
)
def test_verify_names_what_is_wrong(tmp_path, graph, table, column, value, wrong):
    changed = getattr(getattr(graph, table), column).copy()
    changed[-1] = value
    corrupt = replace(graph, **{table: replace(getattr(graph, table), **{column: changed})})
    [(part, problem)] = verify(corrupt.save(tmp_path / "g").artefact.path)
    assert part.startswith(f"{table}.{column}-") and wrong in problem


def test_without_a_query_its_searches_and_followups_are_gone(graph):
    held_out = np.array([False, True, False])
    train = hold_out_queries(graph, held_out).train
    assert columns(train.searches) == {
        "indptr": [0, 2, 2, 2], "searches": [5, 3], "without_clicks": [1, 2], "day": [7, 8],
        "without_results": [0, 1],
    }  # fmt: skip
    assert (train.followups.indptr.tolist(), train.followups.next.tolist()) == ([0, 1, 1, 1], [2])
    rest = remove_queries(graph, held_out)
    assert rest.queries.to_list() == ["a", "c"]
    assert (rest.followups.indptr.tolist(), rest.followups.next.tolist()) == ([0, 1, 1], [1]), (
        "c is row 1 now"
    )
    assert rest.searches.indptr.tolist() == [0, 2, 2]


def test_other_splits_drop_what_they_cannot_split(graph):
    train = graph.split("pairs", 0.5).train
    assert train.searches is None and train.followups is None
    assert graph.filter_pairs(min_clicks=2).searches is graph.searches


def test_merging_adds_up(graph):
    other = ClickGraph.from_clicks([("b", "x", 1), ("d", "y", 1)])
    more = SearchStats(np.array([0, 1, 2]), ints(10, 4), ints(3, 4), ints(7, 7))
    after = FollowUps(np.array([0, 0, 1]), ints(0), ints(6), ints(5))  # d → b
    merged = graph.merge(replace(other, searches=more, followups=after))
    assert merged.queries.to_list() == ["a", "b", "c", "d"]
    assert columns(merged.searches) == {
        "indptr": [0, 2, 3, 3, 4], "searches": [5, 3, 11, 4], "without_clicks": [1, 2, 4, 4],
        "day": [7, 8, 7, 7], "without_results": None,
    }  # fmt: skip
    assert columns(merged.followups) == {
        "indptr": [0, 2, 3, 3, 4], "next": [1, 2, 0, 1], "count": [4, 2, 1, 6], "users": [3, 2, 1, 5],
    }  # fmt: skip
    no_days = graph.merge(replace(other, searches=replace(more, day=None), followups=after))
    assert no_days.searches is None and no_days.stats["not_merged"] == ["searches"]
