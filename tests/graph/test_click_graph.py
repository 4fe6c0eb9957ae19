"""Click graphs: build, save, open, split and merge, against counts by hand."""

import json
from dataclasses import replace

import numpy as np
import pytest

import planted
from coclick.arrays.strings import Vocab
from coclick.errors import ArtefactError, UserError
from coclick.graph.click_graph import ClickGraph, DailyStats, PairStats
from coclick.graph.split import remove_doc_interactions
from coclick.models.verify import verify


def edges(graph):
    coo = graph.clicks.to_scipy().tocoo()
    rows = zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True)
    return {(graph.queries[q], graph.docs[d]): c for q, d, c in rows}


def test_rows_are_queries_and_spellings_are_merged():
    graph = ClickGraph.from_clicks(
        [("New  York", "d2", 1), ("new york", "d1", 2), ("NEW YORK", "d1", 3), ("b", "d1", 1)],
        {"d1": "One", "d3": {"title": "Three", "body": "text"}},
    )
    assert list(graph.queries) == ["b", "new york"]
    assert list(graph.docs) == ["d1", "d2", "d3"]
    assert edges(graph) == {("new york", "d1"): 5, ("new york", "d2"): 1, ("b", "d1"): 1}
    assert [graph.title(i) for i in range(3)] == ["One", "", "Three"]
    assert list(graph.texts["body"]) == ["", "", "text"]
    assert graph.clicks_by_doc.row_nnz().tolist() == [2, 1, 0]
    assert repr(graph) == "ClickGraph(2 queries, 3 docs, 3 edges)"


@pytest.mark.parametrize("count", [0, -1, float("nan"), float("inf"), 1e39])
def test_clicks_must_be_positive_numbers(count):
    with pytest.raises(UserError, match="positive"):
        ClickGraph.from_clicks([("q", "d", count)])


def test_empty_queries_and_bad_field_names_are_rejected():
    with pytest.raises(UserError, match="a query is empty"):
        ClickGraph.from_clicks([("a", "d", 1), ("  ", "d", 1)])
    with pytest.raises(UserError, match="cannot be called 'Title'"):
        ClickGraph.from_clicks([("a", "d", 1)], {"d": {"Title": "One"}})


def test_saved_and_opened(tmp_path):
    graph = planted.graph()
    opened = graph.save(tmp_path / "g")
    assert edges(opened) == edges(graph)
    assert list(opened.texts["title"]) == list(graph.texts["title"])
    assert opened.digest
    with pytest.raises(UserError, match="exists"):
        graph.save(tmp_path / "g")


def test_the_same_clicks_in_any_order_are_the_same_files(tmp_path):
    first = ClickGraph.from_clicks(planted.clicks(), planted.docs()).save(tmp_path / "a")
    again = ClickGraph.from_clicks(planted.clicks()[::-1], planted.docs()).save(tmp_path / "b")
    assert first.digest == again.digest


def test_a_matrix_of_the_wrong_shape_is_rejected(tmp_path):
    graph = planted.graph()
    wrong = ClickGraph(Vocab.from_list(["one"]), graph.docs, graph.clicks, graph.texts)
    with pytest.raises(ArtefactError, match="clicks"):
        wrong.save(tmp_path / "g")


@pytest.mark.parametrize("lost", ["pairs.docs", "pairs.indptr", "daily.day", "skips.count"])
def test_a_table_with_a_missing_column_is_rejected(tmp_path, lost):
    path = planted.graph().save(tmp_path / "g").artefact.path
    manifest = json.loads((path / "manifest.json").read_text())
    del manifest["files"][lost]
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ArtefactError, match=f"has no {lost.partition('.')[2]}"):
        ClickGraph.open(path)
    assert [part for part, _ in verify(path)] == ["manifest.json"]


def with_last(table, column, value):
    """The table with another last value in a column."""
    values = getattr(table, column).copy()
    values[-1] = value
    return replace(table, **{column: values})


@pytest.mark.parametrize(
    ("table", "column", "value", "wrong"),
    [
        ("pairs", "docs", 40, "a number of docs is out of bounds"),  # there are 40: 0 … 39
        ("pairs", "indptr", 3, "row pointers do not ascend"),
        ("pairs", "indptr", 10**6, "row pointers do not ascend"),
        ("daily", "indptr", 0, "row pointers do not ascend"),
        ("daily", "position_indptr", 10**6, "row pointers do not ascend"),
        ("skips", "skipped", -1, "a number of docs is out of bounds"),
    ],
)
def test_verify_checks_the_history(tmp_path, table, column, value, wrong):
    graph = planted.graph()
    assert verify(graph.save(tmp_path / "sound").artefact.path) == []
    corrupt = replace(graph, **{table: with_last(getattr(graph, table), column, value)})
    [(part, problem)] = verify(corrupt.save(tmp_path / "corrupt").artefact.path)
    assert part.startswith(table) and wrong in problem


def test_split_by_pairs_leaves_every_query_a_click():
    graph = planted.graph()
    train, held = graph.split("pairs", 0.4, seed=3)
    assert train.clicks.nnz + held.nnz == graph.clicks.nnz
    assert held.nnz > 0
    assert (train.clicks.row_nnz() > 0).tolist() == (graph.clicks.row_nnz() > 0).tolist()
    total = train.clicks.to_scipy() + held.to_scipy()
    assert abs(total - graph.clicks.to_scipy()).max() == 0


def test_split_by_queries_takes_all_clicks_of_a_query():
    graph = planted.graph()
    train, held = graph.split("queries", 0.3, seed=1)
    both = (train.clicks.row_nnz() > 0) & (held.row_nnz() > 0)
    assert not both.any()
    assert 0 < (held.row_nnz() > 0).sum() < len(graph.queries)


def test_split_by_time():
    """Pair (a, x): 2 clicks on day 10, 3 on day 20; pair (a, y): 1 on day 20; (b, x): 4 on day 10."""
    base = ClickGraph.from_clicks([("a", "x", 5), ("a", "y", 1), ("b", "x", 4)])
    numbers = np.array([0, 0, 0, 0], np.int32)
    graph = ClickGraph(
        base.queries,
        base.docs,
        base.clicks,
        pairs=PairStats(np.array([0, 2, 3]), np.array([0, 1, 0], np.int32)),
        daily=DailyStats(
            indptr=np.array([0, 2, 3, 4]),
            day=np.array([10, 20, 20, 10], np.int32),
            clicks=np.array([2, 3, 1, 4], np.float32),
            impressions=numbers,
            users=numbers,
            sessions=numbers,
            navigational=numbers,
            position_indptr=np.zeros(5, np.int64),
            position=np.empty(0, np.int32),
            shown=np.empty(0, np.int32),
        ),
    )
    train, held = graph.split("time", 0.5)
    assert edges(train) == {("a", "x"): 2, ("b", "x"): 4}
    assert edges(ClickGraph(graph.queries, graph.docs, held)) == {("a", "x"): 3, ("a", "y"): 1}


def history(graph):
    """{(query, doc): (sessions, navigational, {(day, position): shown})} from the tables, row by row."""
    pairs, daily, found = graph.pairs, graph.daily, {}
    for query in range(len(graph.queries)):
        for pair in range(pairs.indptr[query], pairs.indptr[query + 1]):
            cells = {}
            for row in range(daily.indptr[pair], daily.indptr[pair + 1]):
                for at in range(daily.position_indptr[row], daily.position_indptr[row + 1]):
                    cells[int(daily.day[row]), int(daily.position[at])] = int(daily.shown[at])
            name = graph.queries[query], graph.docs[int(pairs.docs[pair])]
            found[name] = int(pairs.sessions[pair]), int(pairs.navigational[pair]), cells
    return found


def test_splits_also_split_the_history():
    graph = planted.graph()
    before = history(graph)
    by_time = history(graph.split("time", 0.5).train)
    assert by_time == {
        pair: (sessions - 1, alone, {cell: n for cell, n in cells.items() if cell[0] == 100})
        for pair, (sessions, alone, cells) in before.items()
    }
    train, held = graph.split("queries", 0.3, seed=1)
    out = {graph.queries[int(q)] for q in np.flatnonzero(held.row_nnz() > 0)}
    assert history(train) == {pair: known for pair, known in before.items() if pair[0] not in out}
    assert not np.diff(train.skips.indptr)[held.row_nnz() > 0].any()
    assert 0 < len(train.skips.clicked) < len(graph.skips.clicked)
    train, held = graph.split("pairs", 0.3, seed=1)
    assert set(history(train)) == set(edges(train))


def test_removed_document_interactions_leave_no_trace():
    graph = planted.graph()
    held = np.array([doc.startswith("hotel") for doc in graph.docs])
    rest = remove_doc_interactions(graph, held)
    assert list(rest.docs) == list(graph.docs)
    assert edges(rest) == {pair: clicks for pair, clicks in edges(graph).items() if "hotel" not in pair[1]}
    before = history(graph)
    assert history(rest) == {pair: known for pair, known in before.items() if "hotel" not in pair[1]}
    assert not held[rest.skips.clicked].any()
    assert not held[rest.skips.skipped].any()


def test_impossible_splits():
    graph = planted.graph()
    with pytest.raises(UserError, match="no days"):
        ClickGraph.from_clicks([("a", "x", 1)]).split("time")
    with pytest.raises(UserError, match="cannot split by"):
        graph.split("weather")
    with pytest.raises(UserError, match="fraction"):
        graph.split("pairs", 1.5)


def test_merge_adds_clicks_and_fills_texts():
    first = ClickGraph.from_clicks([("a", "x", 1), ("b", "y", 2)], {"x": "X", "y": ""})
    second = ClickGraph.from_clicks([("a", "x", 10), ("c", "z", 3)], {"x": "other", "y": "Y", "z": "Z"})
    merged = first.merge(second)
    assert edges(merged) == {("a", "x"): 11, ("b", "y"): 2, ("c", "z"): 3}
    assert dict(zip(merged.docs, merged.texts["title"], strict=True)) == {"x": "X", "y": "Y", "z": "Z"}


def test_a_graph_that_was_split_by_queries_is_split_again_by_others():
    graph = ClickGraph.from_clicks([(f"query {i}", f"d{i % 7}", 1 + i % 3) for i in range(60)])
    train, first = graph.split("queries", 0.3)
    again, second = train.split("queries", 0.3)
    assert first.nnz and second.nnz
    assert not {*np.flatnonzero(first.row_nnz())} & {*np.flatnonzero(second.row_nnz())}
    assert first.nnz + second.nnz + again.clicks.nnz == graph.clicks.nnz
