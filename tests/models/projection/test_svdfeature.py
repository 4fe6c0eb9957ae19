"""`svdfeature` as a model; its steps are tested in tests/solvers/test_pairwise.py."""

from typing import Any

import numpy as np
import pytest

import planted
from coclick import create
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph


@pytest.fixture(scope="module")
def graph():
    return planted.graph()


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_scores_by_the_formula(graph, loss):
    model: Any = create(f"svdfeature(dim=7,iterations=3,loss={loss})").fit(graph)
    p, r = (m.blocks[0].matrix[:, :7].astype(np.float64) for m in (model.query_map_, model.doc_map_))
    docs = list(graph.docs)
    z = model.doc_features_.to_scipy().toarray().astype(np.float64)
    for query in ("hotel", "shoe the nike", "never seen flu"):
        x = model._query_features(*model._queries(query)).to_scipy().toarray()[0].astype(np.float64)
        expected = model.mean_ + x @ model.query_bias_ + z @ model.doc_bias_ + (z @ r) @ (x @ p)
        [scores] = model.score([query], [docs])
        np.testing.assert_allclose(scores, np.maximum(expected, 0), rtol=1e-4, atol=1e-6)
    assert model.mean_ == pytest.approx(0.2 if loss == "squared" else 0)  # of one clicked and four others


def test_similar_without_biases(graph):
    model: Any = create("svdfeature(dim=7,iterations=3)").fit(graph)
    p = model.query_map_.blocks[0].matrix[:, :7].astype(np.float64)
    embedded = model.query_features_.to_scipy().toarray() @ p
    scores = embedded @ embedded[graph.queries.id("flu")]
    scores[graph.queries.id("flu")] = 0
    hits = model.similar_queries("flu", 5).hits()
    assert [score for _, score in hits] == pytest.approx(sorted(scores, reverse=True)[:5], rel=1e-4)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_topics_are_found_without_a_shared_word(graph, loss):
    """The first word of each topic also has a click on a document of another topic, which may be found."""
    model = create(f"svdfeature(views=words,loss={loss})").fit(graph)
    for topic, (words, _) in planted.TOPICS.items():
        for word in words:
            best = [planted.topic_of(doc) for doc, _ in model.search(word, 3).hits()]
            assert best[: 2 if word == words[0] else 3].count(topic) == (2 if word == words[0] else 3), word


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_the_loss_falls_and_the_best_round_is_kept(graph, loss):
    stats = create(f"svdfeature(loss={loss})").fit(graph).stats_
    losses = [row["loss"] for row in stats["curve"]]
    assert stats["pairs"] + stats["held_out_pairs"] == graph.clicks.nnz
    held_out = [row["validation"] for row in stats["curve"]]
    assert losses[-1] < 0.7 * losses[0]
    assert held_out[stats["chosen_round"] - 1] == min(held_out)


def test_it_learns_the_number_of_clicks():
    """One query, documents of one word each: with weight=clicks, scores are clicks divided by their mean."""
    clicks = {"1": 9.0, "2": 3.0, "3": 6.0}
    graph = ClickGraph.from_clicks(
        [*(("apple", doc, count) for doc, count in clicks.items()), ("berry", "4", 6.0)],
        {"1": "x", "2": "y", "3": "z", "4": "w"},
    )
    model = create("svdfeature(views=words,weight=clicks,l2=0,learning_rate=0.2,iterations=400,dim=4)").fit(
        graph
    )
    [scores] = model.score(["apple"], [["1", "2", "3", "4"]])
    assert scores == pytest.approx([1.5, 0.5, 1.0, 0.0], abs=0.02)


def test_views_without_texts(graph):
    model = create("svdfeature(views=clicks,dim=10)").fit(graph)
    assert "unseen_queries" not in model.capabilities
    assert model.search("never seen", 5).hits() == []


def test_with_few_pairs_none_is_held_out():
    graph = ClickGraph.from_clicks(
        [("apple", "1", 1), ("berry", "2", 1)], {"1": "alpha apple", "2": "beta berry"}
    )
    stats = create("svdfeature(iterations=3)").fit(graph).stats_
    assert stats["held_out_pairs"] == 0
    assert stats["chosen_round"] == 3


def test_a_query_with_clicks_on_all_documents():
    graph = ClickGraph.from_clicks(
        [("apple", "1", 1), ("apple", "2", 1)], {"1": "alpha apple", "2": "beta apple"}
    )
    for loss in ("squared", "logistic"):
        create(f"svdfeature(iterations=3,loss={loss})").fit(graph)


def test_clicked_documents_without_titles():
    graph = ClickGraph.from_clicks([("apple", "1", 1)], {"2": "beta"})
    with pytest.raises(UserError, match="no clicked pair has features for both query and document"):
        create("svdfeature(views=words)").fit(graph)
