"""Checks of the content of models."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import planted
from coclick import ClickGraph, train
from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings
from coclick.errors import ArtefactError
from coclick.graph.click_graph import UserView
from coclick.index.dense import DenseIndex
from coclick.models.integrity import check_bounds, out_of_bounds


def test_defects_of_an_index_are_reported():
    sound, damaged = (DenseIndex.build(np.full((2, 3), value, np.float32)) for value in (1.0, np.nan))
    assert list(out_of_bounds("doc_index_", sound)) == []
    assert list(out_of_bounds("doc_index_", damaged)) == [("doc_index_", "a value is not a number")]


def with_history(**changes) -> ClickGraph:
    """The planted graph; a change replaces a column of its pairs, days or skips."""
    graph = planted.graph()
    for name, value in changes.items():
        table, _, column = name.partition("__")
        changed = replace(getattr(graph, table), **{column: value(getattr(getattr(graph, table), column))})
        graph = replace(graph, **{table: changed})
    return graph


def test_a_sound_graph_has_no_defects():
    assert list(out_of_bounds("graph", with_history())) == []


POINTERS, COLUMNS, DOCS = (
    "row pointers do not match its rows",
    "a column does not have as many entries as the row pointers say",
    "a document is out of bounds",
)


def shifted(values):
    return np.concatenate([[1], values[1:]])


def falling(values):
    changed = np.array(values)
    changed[2] = changed[1] - 1
    return changed


def with_last(value):
    def change(values):
        changed = np.array(values)
        changed[-1] = value
        return changed

    return change


@pytest.mark.parametrize(
    ("name", "change", "part", "defect"),
    [
        *((f"{table}__indptr", change, table, POINTERS)
          for table in ("pairs", "daily", "skips")
          for change in (shifted, falling, lambda values: values[:-1])),
        ("daily__position_indptr", shifted, "daily.position", POINTERS),
        ("daily__position_indptr", falling, "daily.position", POINTERS),
        *((f"pairs__{column}", lambda values: values[:-1], "pairs", COLUMNS)
          for column in ("docs", "impressions", "users", "sessions", "navigational")),
        *((f"daily__{column}", lambda values: values[:-1], "daily", COLUMNS)
          for column in ("day", "clicks", "impressions", "users", "sessions", "navigational")),
        *((f"daily__{column}", lambda values: values[:-1], "daily.position", COLUMNS)
          for column in ("position", "shown")),
        *((f"skips__{column}", lambda values: values[:-1], "skips", COLUMNS)
          for column in ("clicked", "skipped", "count")),
        ("pairs__docs", with_last(-1), "pairs", DOCS),
        ("pairs__docs", with_last(40), "pairs", DOCS),
        ("skips__clicked", with_last(40), "skips", DOCS),
        ("skips__skipped", with_last(-1), "skips", DOCS),
    ],
)  # fmt: skip
def test_defects_of_the_history_are_named(name, change, part, defect):
    found = list(out_of_bounds("graph", with_history(**{name: change})))
    assert (part, defect) in found


def test_the_last_document_is_within_bounds():
    assert list(out_of_bounds("graph", with_history(pairs__docs=with_last(39)))) == []
    assert list(out_of_bounds("graph", replace(with_history(), daily=None, skips=None))) == []
    assert list(out_of_bounds("graph", replace(with_history(), pairs=None, daily=None, skips=None))) == []


def damaged(matrix):
    indices = np.array(matrix.indices)
    indices[0] = 10_000
    return Csr(matrix.indptr, indices, matrix.data, matrix.columns)


def test_defects_of_clicks_texts_and_views_are_named():
    graph = with_history()
    falls = Strings(np.array([0, 5, 3]), np.zeros(5, np.uint8))
    assert list(out_of_bounds("x", falls)) == [("x", "offsets fall")]
    assert list(out_of_bounds("x", Strings.from_list(["", "a", ""]))) == []
    problems = list(out_of_bounds("graph", replace(graph, clicks=damaged(graph.clicks))))
    assert [p for p, _ in problems] == ["clicks"], "which are not transposed then"
    assert [p for p, _ in out_of_bounds("graph", replace(graph, texts={"body": falls}))] == ["text.body"]
    view = UserView(damaged(graph.clicks), graph.clicks_by_doc, graph.docs, graph.queries)
    found = [p for p, _ in out_of_bounds("graph", replace(graph, views={"tags": view}))]
    assert found == ["view.tags.queries"]


def test_lists_parts_and_stored_classes_are_checked():
    graph = with_history()
    wrong = damaged(graph.clicks)
    assert [p for p, _ in out_of_bounds("x", [graph.clicks, wrong])] == ["x.1"]
    combination: Any = train("bm25 + clicks", graph)
    assert list(out_of_bounds("x", combination)) == []
    combination.parts_[0].doc_index_ = replace(combination.parts_[0].doc_index_, vectors=wrong)
    assert [p for p, _ in out_of_bounds("x", combination)] != []
    assert list(out_of_bounds("x", 5)) == list(out_of_bounds("x", None)) == []


def test_a_damaged_value_names_artefact_and_part(tmp_path):
    graph = with_history().save(tmp_path / "graph")
    assert graph.artefact is not None
    check_bounds({"clicks": graph.clicks}, graph.artefact)
    with pytest.raises(ArtefactError, match="the graph is damaged: mine: ") as error:
        check_bounds({"fine": graph.clicks, "mine": damaged(graph.clicks)}, graph.artefact)
    assert error.value.where == str(graph.artefact.path)
