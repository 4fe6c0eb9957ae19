"""Tables in memory as clicks and documents: the same graph as from plain rows, and errors for people."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import coclick
from coclick import ClickGraph, UserError

ROWS = [("ny hotels", "d1", 3.0), ("ny hotels", "d2", 1.0), ("Boston", "d2", 2.0)]
TITLES = {"d1": "New York hotels", "d2": "Hotels", "d3": "Never clicked"}
COLUMNS = {"query": [q for q, _, _ in ROWS], "doc": [d for _, d, _ in ROWS], "clicks": [c for *_, c in ROWS]}
DOCS = {"doc": list(TITLES), "title": list(TITLES.values())}


class Capsule:
    """Anything with the Arrow PyCapsule interface."""

    def __init__(self, columns):
        self._table = pa.table(columns)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def polars_frame(columns):
    return pytest.importorskip("polars").DataFrame(columns)


KINDS = {
    "pandas": pd.DataFrame,
    "polars": polars_frame,
    "arrow": pa.table,
    "capsule": Capsule,
}


def same(graph, expected):
    assert graph.queries.to_list() == expected.queries.to_list()
    assert graph.docs.to_list() == expected.docs.to_list()
    np.testing.assert_array_equal(graph.clicks.to_scipy().toarray(), expected.clicks.to_scipy().toarray())
    assert {name: list(texts) for name, texts in graph.texts.items()} == {
        name: list(texts) for name, texts in expected.texts.items()
    }


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_from_clicks_takes_tables(make):
    same(ClickGraph.from_clicks(make(COLUMNS), make(DOCS)), ClickGraph.from_clicks(ROWS, TITLES))


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_build_takes_tables(make, tmp_path):
    graph = coclick.build(make(COLUMNS), make(DOCS), tmp_path / "graph")
    same(graph, ClickGraph.from_clicks(ROWS, TITLES))


def test_build_takes_titles_as_a_mapping(tmp_path):
    graph = coclick.build([pd.DataFrame(COLUMNS)], TITLES, tmp_path / "graph")
    same(graph, ClickGraph.from_clicks(ROWS, TITLES))
    fields = {doc: {"title": title, "body": "text " + doc} for doc, title in TITLES.items()}
    again = coclick.build(pd.DataFrame(COLUMNS), fields, tmp_path / "fields")
    assert again.texts["body"].to_list() == ["text d1", "text d2", "text d3"]


def test_rows_without_a_column_of_clicks_are_one_click_each():
    frame = pd.DataFrame({"q": ["a", "a", "b"], "sku": [7, 7, 8]})
    graph = ClickGraph.from_clicks(frame)
    assert graph.docs.to_list() == ["7", "8"]
    assert graph.clicks.data.tolist() == [2.0, 1.0]


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_add_takes_tables(make):
    model = coclick.train("bm25", ClickGraph.from_clicks(ROWS, TITLES))
    larger = model.add(make({"id": ["n1"], "name": ["York york"]}))
    assert larger.search("york").hits()[0][0] == "n1"
    mapped = model.add({"n1": "York york"})
    assert larger.search("york").hits() == mapped.search("york").hits()


def test_wrong_columns_are_named_as_for_files(tmp_path):
    frame = pd.DataFrame({"suche": ["a"], "doc": ["d"], "clicks": [1]})
    with pytest.raises(UserError, match="no column for 'query'") as in_memory:
        ClickGraph.from_clicks(frame)
    assert "'suche'" in in_memory.value.where
    with pytest.raises(UserError, match="no column for 'query'") as built:
        coclick.build(frame, None, tmp_path / "graph")
    assert built.value.where == "the table of clicks, whose columns are 'suche', 'doc', 'clicks'"
    frame.to_csv(tmp_path / "log.csv", index=False)
    with pytest.raises(UserError, match="no column for 'query'") as from_file:
        coclick.build(tmp_path / "log.csv", None, tmp_path / "graph")
    assert built.value.what == from_file.value.what
    with pytest.raises(UserError, match="no column for 'doc'"):
        ClickGraph.from_clicks(ROWS, pd.DataFrame({"title": ["x"]}))


def test_missing_values_are_located():
    frame = pd.DataFrame({"query": ["a", None], "doc": ["d", "e"], "clicks": [1, 2]})
    with pytest.raises(UserError, match="missing") as caught:
        ClickGraph.from_clicks(frame)
    assert caught.value.where == "the table, row 2"


@pytest.mark.parametrize("wrong", [5, "text", [("a", "b")], [1, 2]])
def test_what_is_no_table_of_clicks_gets_a_sentence(wrong):
    with pytest.raises(UserError):
        ClickGraph.from_clicks(wrong)


def test_invalid_rows_of_a_table_are_rejected_and_counted(tmp_path):
    frame = pd.DataFrame({"query": ["a", None, "b"], "doc": ["d", "e", "f"], "clicks": [1, 2, 3]})
    graph = coclick.build(frame, None, tmp_path / "graph")
    assert graph.queries.to_list() == ["a", "b"]
    assert graph.stats["rejected"]


def test_a_table_of_events_is_not_counted_as_clicks():
    frame = pd.DataFrame({"query": ["a", "a"], "doc": ["d", "e"], "action": ["impression", "click"]})
    with pytest.raises(UserError, match="this table has a column 'action': it is a log of events") as caught:
        ClickGraph.from_clicks(frame)
    assert "coclick.build(table, docs, out)" in str(caught.value.hint)
    graph = ClickGraph.from_clicks(frame[frame.action == "click"])  # as the hint says
    assert graph.docs.to_list() == ["e"]
    assert ClickGraph.from_clicks(frame.assign(clicks=1)).docs.to_list() == ["d", "e"]
