"""User views: aligned by ids, and kept when a graph is saved, split or merged."""

import json

import numpy as np
import pytest
import scipy.sparse

from coclick import ClickGraph, create, open_model
from coclick.errors import ArtefactError, UserError
from coclick.graph.split import remove_doc_interactions, remove_queries
from coclick.models.verify import verify

CLICKS = [("red shoe", "d1", 2), ("hat", "d2", 1), ("hat", "d3", 4), ("sock", "d3", 1)]
QUERIES = (["Hat", "red  SHOE", "unseen", "HAT"], scipy.sparse.csr_array([[1, 0], [2, 3], [9, 9], [0, 4.5]]))
DOCS = (["d3", "d1", "x", "y"], scipy.sparse.coo_array([[1.0, 0, 0], [0, 0, 7], [1, 1, 1], [1, 1, 1]]))
NAMES = {"query_features": ["wear", "head"], "doc_features": ["wool", "silk", "leather"]}


def graph():
    return ClickGraph.from_clicks(CLICKS, {"d4": "never clicked"})


def tagged():
    return graph().with_view("tags", QUERIES, DOCS, **NAMES)


def cells(ids, matrix, features):
    coo = matrix.to_scipy().tocoo()
    entries = zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True)
    return {(ids[row], features[column]): value for row, column, value in entries}


def content(graph, name="tags"):
    view = graph.views[name]
    assert (view.queries.rows, view.docs.rows) == (len(graph.queries), len(graph.docs))
    return (
        cells(graph.queries, view.queries, view.query_features),
        cells(graph.docs, view.docs, view.doc_features),
    )


# By hand: spellings of "hat" are one query, so their rows are added up; "unseen", "x" and "y" are ignored.
QUERY_CELLS = {
    ("hat", "wear"): 1,
    ("hat", "head"): 4.5,
    ("red shoe", "wear"): 2,
    ("red shoe", "head"): 3,
}
DOC_CELLS = {("d3", "wool"): 1, ("d1", "leather"): 7}


def test_rows_are_aligned_with_the_graph():
    assert content(tagged()) == (QUERY_CELLS, DOC_CELLS)
    assert tagged().stats["views"] == {"tags": {"unknown_queries": 1, "unknown_docs": 2}}
    assert graph().views == {}


def test_features_without_names_are_numbered():
    view = graph().with_view("tags", QUERIES, DOCS).views["tags"]
    assert (view.query_features.to_list(), view.doc_features.to_list()) == (["0", "1"], ["0", "1", "2"])


def test_saved_with_the_graph(tmp_path):
    opened = tagged().with_view("more", QUERIES, DOCS).save(tmp_path / "graph")
    assert content(opened) == (QUERY_CELLS, DOC_CELLS)
    assert list(opened.views) == ["more", "tags"]
    assert verify(tmp_path / "graph") == []
    assert opened.digest != graph().save(tmp_path / "plain").digest


def test_a_new_view_clears_the_digest(tmp_path):
    opened = graph().save(tmp_path / "graph")
    assert opened.with_view("tags", QUERIES, DOCS).digest == ""


def test_models_do_not_store_views(tmp_path):
    create("clicks").fit(tagged().save(tmp_path / "graph")).save(tmp_path / "model")
    assert open_model(tmp_path / "model").graph_.views == {}
    assert not list((tmp_path / "model").glob("view*"))


@pytest.mark.parametrize("by", ["queries", "pairs"])
def test_splits_keep_views(by):
    assert content(tagged().split(by, 0.5, seed=1).train) == (QUERY_CELLS, DOC_CELLS)


def test_removed_queries_lose_their_view_rows():
    whole = tagged()
    rest = remove_queries(whole, np.array([query == "hat" for query in whole.queries]))
    assert list(rest.queries) == ["red shoe", "sock"]
    left = {cell: value for cell, value in QUERY_CELLS.items() if cell[0] != "hat"}
    assert content(rest) == (left, DOC_CELLS)


def test_documents_without_interactions_keep_their_view_rows():
    whole = tagged()
    assert content(remove_doc_interactions(whole, np.ones(len(whole.docs), bool))) == (QUERY_CELLS, DOC_CELLS)


def test_merged_views_take_missing_rows_from_the_other_graph():
    other = ClickGraph.from_clicks([("hat", "d9", 1), ("belt", "d1", 1)]).with_view(
        "tags",
        (["hat", "belt"], scipy.sparse.csr_array([[1.0, 0], [0, 2]])),
        (["d9", "d1"], scipy.sparse.csr_array([[5.0], [6]])),
        query_features=["odd", "wear"],
        doc_features=["leather"],
    )
    merged = tagged().merge(other)
    assert content(merged) == (
        {**QUERY_CELLS, ("belt", "wear"): 2},
        {**DOC_CELLS, ("d9", "leather"): 5},
    )
    assert content(graph().merge(other))[0] == {("hat", "odd"): 1, ("belt", "wear"): 2}


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("words", {}, "a built-in view or a text field has this name"),
        ("title", {}, "a built-in view or a text field has this name"),
        ("My tags", {}, "cannot be called"),
        ("tags", {"queries": (["hat"], QUERIES[1])}, r"1 ids, but the matrix has 4 rows"),
        ("tags", {"query_features": ["one"]}, "2 distinct names"),
        ("tags", {"doc_features": ["one", "two", "two"]}, "3 distinct names"),
        ("tags", {"docs": (["d1"], scipy.sparse.csr_array([[-1.0]]))}, "negative"),
        ("tags", {"docs": (["d1"], scipy.sparse.csr_array([[np.inf]]))}, "negative, not a number or above"),
        ("tags", {"docs": (["D1"], scipy.sparse.csr_array([[1.0]]))}, "no documents of the graph"),
        ("tags", {"docs": (["d1"], scipy.sparse.csr_array((1, 3)))}, "no documents of the graph"),
    ],
)
def test_invalid_views_are_rejected(name, arguments, message):
    with pytest.raises(UserError, match=message):
        graph().with_view(name, **{"queries": QUERIES, "docs": DOCS, **arguments})


def test_the_error_shows_ids_of_both_sides_if_none_match():
    with pytest.raises(UserError) as caught:
        graph().with_view("tags", QUERIES, (["D1", "D2"], scipy.sparse.csr_array([[1.0], [1]])))
    assert "the view has 'D1', 'D2'; the graph has 'd1', 'd2', 'd3'" in str(caught.value)


@pytest.mark.parametrize("part", ["queries.indices", "docs.indptr", "query_features.offsets"])
def test_corruption_is_detected(tmp_path, part):
    opened = tagged().save(tmp_path / "graph")
    with opened.artefact.file(f"view.tags.{part}").open("r+b") as stream:
        stream.seek(-8, 2)
        stream.write(b"\xff" * 8)
    assert [where for where, _ in verify(tmp_path / "graph")] == [
        opened.artefact.file(f"view.tags.{part}").name
    ]
    with pytest.raises(ArtefactError, match=r"view\.tags"):
        create("pls(dim=1,views=tags)").fit(ClickGraph.open(tmp_path / "graph"))


def test_a_missing_part_is_named(tmp_path):
    tagged().save(tmp_path / "graph")
    path = tmp_path / "graph" / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["files"]["view.tags.docs.data"]
    path.write_text(json.dumps(manifest))
    with pytest.raises(ArtefactError, match=r"view\.tags\.docs\.data"):
        ClickGraph.open(tmp_path / "graph")


@pytest.mark.parametrize(
    "spec", ["pls(dim=2,views=tags)", "mpls(dim=2,views=tags+clicks)", "svdfeature(views=tags)"]
)
def test_models_learn_from_views_without_texts(spec, tmp_path):
    """Of the documents clicked for "hat" only d3 has tags."""
    bare = ClickGraph.from_clicks(CLICKS).with_view("tags", QUERIES, DOCS, **NAMES)
    create(spec).fit(bare).save(tmp_path / "model")
    opened = open_model(tmp_path / "model")
    assert opened.search("hat").hits()[0][0] == "d3"
    labels = {
        (part.kind, part.label, inner.kind, inner.label)
        for part in opened.explain("hat", "d3").parts
        for inner in part.parts
    }
    assert ("query tags", "head", "document tags", "wool") in labels


def test_a_model_with_an_unknown_view():
    with pytest.raises(UserError, match="there is no view 'tags'"):
        create("pls(views=tags)").fit(graph())
