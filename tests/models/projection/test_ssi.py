"""`ssi` as a model; its steps are tested in tests/solvers/test_pairwise.py."""

import dataclasses
from typing import Any

import numpy as np
import pytest

import planted
from coclick import create
from coclick.arrays.csr import Csr
from coclick.errors import ArtefactError, UserError
from coclick.graph.click_graph import ClickGraph, SkipPairs


@pytest.fixture(scope="module")
def graph():
    return planted.graph()


def dense(rows, row):
    return rows.to_scipy()[[row]].toarray()[0].astype(np.float64)


def test_scores_by_the_formula(graph):
    model: Any = create("ssi(dim=7,iterations=3)").fit(graph)
    u, v = (mapping.blocks[0].matrix.astype(np.float64).T for mapping in (model.query_map_, model.doc_map_))
    learned = u.T @ v + np.eye(u.shape[1])
    docs = list(graph.docs)
    for query in ("hotel", "shoe the nike", "never seen flu"):
        known = graph.queries.id(query)
        row = (
            dense(model.query_features_, known)
            if known >= 0
            else dense(model._query_features(*model._queries(query)), 0)
        )
        expected = [max(0.0, row @ learned @ dense(model.doc_features_, i)) for i in range(len(docs))]
        [scores] = model.score([query], [docs])
        np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-6)


def test_similar_by_the_formula(graph):
    model: Any = create("ssi(dim=7,iterations=3)").fit(graph)
    u, v = (mapping.blocks[0].matrix.astype(np.float64).T for mapping in (model.query_map_, model.doc_map_))
    for rows, mapping, name, hits in (
        (model.query_features_, u, "flu", model.similar_queries("flu", 5).hits()),
        (model.doc_features_, v, "flu-1", model.similar_docs("flu-1", 5).hits()),
    ):
        names = graph.queries if rows is model.query_features_ else graph.docs
        every = rows.to_scipy().toarray().astype(np.float64)
        scores = every @ (mapping.T @ mapping + np.eye(every.shape[1])) @ every[names.id(name)]
        scores[names.id(name)] = 0
        assert [score for _, score in hits] == pytest.approx(sorted(scores, reverse=True)[:5], rel=1e-4)
        assert [score for _, score in hits] == pytest.approx([scores[names.id(n)] for n, _ in hits], rel=1e-4)


def test_topics_are_found_without_a_shared_word(graph):
    model = create("ssi").fit(graph)
    for topic, (words, _) in planted.TOPICS.items():
        for word in words:
            best = [planted.topic_of(doc) for doc, _ in model.search(word, 3).hits()]
            assert best == [topic] * 3, word


def test_the_loss_falls_and_the_best_round_is_kept(graph):
    stats = create("ssi").fit(graph).stats_
    losses = [row["loss"] for row in stats["curve"]]
    assert stats["pairs"] + stats["held_out_pairs"] == graph.clicks.nnz
    held_out = [row["validation"] for row in stats["curve"]]
    assert losses[-1] < 0.5 * losses[0]
    assert held_out[stats["chosen_round"] - 1] == min(held_out)


def test_skips_alone_order_the_shown_documents():
    """Of two documents with one word each, the skipped one ranks lower; a third was never shown."""
    clicks = [("apple", doc, 1) for doc in ("1", "2", "3")]
    graph = ClickGraph.from_clicks(clicks, {"1": "x", "2": "y", "3": "z"})
    clicked, skipped, count = np.array([[1], [0], [4]], np.int32)
    skips = SkipPairs(np.array([0, 1]), clicked, skipped, count)
    model: Any = create("ssi(pairs=skips,iterations=10,dim=5,learning_rate=0.5)")
    model.fit(dataclasses.replace(graph, skips=skips))
    assert model.stats_["skips"] == 1
    assert next(doc for doc, _ in model.search("apple", 3).hits()) == "2"
    u, v = (mapping.blocks[0].matrix.astype(np.float64).T for mapping in (model.query_map_, model.doc_map_))
    raw = dense(model.query_features_, 0) @ (u.T @ v) @ model.doc_features_.to_scipy().toarray().T
    assert raw[1] - raw[0] >= 1 - 1e-5


def test_without_skips_documents_are_sampled_with_a_note():
    graph = ClickGraph.from_clicks(planted.clicks(), planted.docs())
    stats = create("ssi(pairs=skips,iterations=2)").fit(graph).stats_
    assert stats["skips"] == 0
    assert any("no skipped documents" in note for note in stats["notes"])
    assert "notes" not in create("ssi(iterations=2)").fit(graph).stats_


def test_words_in_no_query_have_zero_rows(graph):
    model: Any = create("ssi(iterations=1)").fit(graph)
    asked = np.unique(model.query_features_.indices)
    untouched = np.setdiff1d(np.arange(model.query_features_.columns), asked)
    assert len(untouched)
    assert not model.query_map_.blocks[0].matrix[untouched].any()


def test_with_few_pairs_none_is_held_out():
    graph = ClickGraph.from_clicks(
        [("apple", "1", 1), ("berry", "2", 1)], {"1": "alpha apple", "2": "beta berry"}
    )
    stats = create("ssi(iterations=3)").fit(graph).stats_
    assert stats["held_out_pairs"] == 0
    assert stats["chosen_round"] == 3


def test_damaged_features_are_refused(graph):
    model: Any = create("ssi(dim=4,iterations=1)").fit(graph)
    rows = model.doc_features_
    wrong = np.full_like(rows.indices, rows.columns)
    model.doc_features_ = Csr(rows.indptr, wrong, rows.data, rows.columns)
    with pytest.raises(ArtefactError, match="the features of the model are"):
        model.score(["hotel"], [["hotel-0"]])


def test_an_approximate_index_is_refused(graph):
    with pytest.raises(UserError, match="every document"):
        create("ssi(index=approximate)").fit(graph)


def test_clicked_documents_without_titles():
    graph = ClickGraph.from_clicks([("apple", "1", 1)], {"2": "beta"})
    with pytest.raises(UserError, match="no clicked pair has features for both query and document"):
        create("ssi").fit(graph)
