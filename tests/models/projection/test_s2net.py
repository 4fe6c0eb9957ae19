"""`s2net` as a model; its loss and gradient are tested in tests/solvers/test_siamese.py."""

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


@pytest.mark.parametrize("optimiser", ["lbfgs", "adagrad"])
def test_clicked_titles_are_found_without_a_shared_word(graph, optimiser):
    """ "trainers" is in no title: only clicks relate it to titles."""
    model = create(f"s2net(optimiser={optimiser},iterations=15,dim=10,learning_rate=0.1)").fit(graph)
    for topic, (words, _) in planted.TOPICS.items():
        for word in words:
            # Three: the first word of each topic was also clicked for a document of another.
            best = [planted.topic_of(doc) for doc, _ in model.search(word, 3).hits()]
            assert best == [topic] * 3, word


@pytest.mark.parametrize("optimiser", ["lbfgs", "adagrad"])
def test_the_loss_falls_and_the_best_round_is_kept(graph, optimiser):
    stats = create(f"s2net(optimiser={optimiser},iterations=12,dim=10,learning_rate=0.1)").fit(graph).stats_
    losses = [row["loss"] for row in stats["curve"]]
    held_out = [row["validation"] for row in stats["curve"]]
    assert losses[-1] < 0.5 * losses[0]
    assert held_out[stats["chosen_round"] - 1] == min(held_out)
    assert stats["held_out_pairs"] == round(0.1 * graph.clicks.nnz)  # of few pairs a tenth is held out
    assert stats["pairs"] + stats["held_out_pairs"] == graph.clicks.nnz


def test_a_score_is_the_cosine_of_embeddings(graph):
    model: Any = create("s2net(dim=5,iterations=3)").fit(graph)
    query = model.query_features_.to_scipy()[[graph.queries.id("hotel")]].toarray()[0]
    doc = model.doc_features_.to_scipy()[[graph.docs.id("hotel-3")]].toarray()[0]
    projection = model.query_map_.blocks[0].matrix
    one, other = query @ projection, doc @ projection
    [[score]] = model.score(["hotel"], [["hotel-3"]])
    assert score == pytest.approx(one @ other / np.linalg.norm(one) / np.linalg.norm(other), rel=1e-5)


def test_more_dimensions_than_words_are_reduced_with_a_note(graph):
    model: Any = create("s2net(dim=5000,iterations=1)").fit(graph)
    assert model.query_map_.dim <= model.query_features_.columns
    assert any("dim=5000" in note for note in model.stats_["notes"])


def test_with_few_pairs_none_is_held_out():
    graph = ClickGraph.from_clicks([("a", "1", 1), ("b", "2", 1)], {"1": "alpha a", "2": "beta b"})
    stats = create("s2net(iterations=3)").fit(graph).stats_
    assert stats["held_out_pairs"] == 0
    assert not any("validation" in row for row in stats["curve"])
    assert stats["chosen_round"] == len(stats["curve"])
    assert any("too few pairs" in note for note in stats["notes"])


def test_a_query_with_clicks_on_all_documents():
    graph = ClickGraph.from_clicks([("a", "1", 1), ("a", "2", 1)], {"1": "alpha a", "2": "beta a"})
    assert len(create("s2net(iterations=3)").fit(graph).search("a", 5).hits()) == 2


def test_clicked_documents_without_titles():
    graph = ClickGraph.from_clicks([("a", "1", 1)], {"2": "beta"})
    with pytest.raises(UserError, match="no clicked pair has features for both query and document"):
        create("s2net").fit(graph)
