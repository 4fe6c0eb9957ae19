"""`opca` as a model; its solver is tested in tests/solvers/test_opca_solver.py."""

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import planted
from coclick import create
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph


@pytest.fixture(scope="module")
def graph():
    return planted.graph()


def test_the_map_solves_the_equation_of_the_paper(graph):
    """Rows of pairs as in Eq. 24, each scaled by the square root of its weight."""
    model: Any = create("opca(dim=6,ridge=0.3)").fit(graph)
    edges = graph.clicks.to_scipy().tocoo()
    root = np.sqrt(np.log1p(edges.data.astype(np.float64)) / np.log1p(edges.data.astype(np.float64)).sum())
    queries = root[:, None] * model.query_features_.to_scipy().toarray()[edges.row]
    docs = root[:, None] * model.doc_features_.to_scipy().toarray()[edges.col]
    signal = (queries.T @ queries + docs.T @ docs) / 2
    noise = (queries - docs).T @ (queries - docs)
    noise += 0.3 * noise.diagonal().mean() * np.eye(len(noise))
    values, vectors = scipy.linalg.eigh(signal, noise)
    np.testing.assert_allclose(model.stats_["eigenvalues"], values[::-1][:6], rtol=1e-4)
    agreement = np.abs(model.doc_map_.blocks[0].matrix.T @ noise @ vectors[:, ::-1][:, :6])
    np.testing.assert_allclose(agreement, np.eye(6), atol=1e-3)


def test_topics_are_found_without_a_shared_word(graph):
    model = create("opca(dim=10)").fit(graph)
    for topic, (words, _) in planted.TOPICS.items():
        for word in words:
            best = [planted.topic_of(doc) for doc, _ in model.search(word, 5).hits()]
            assert best == [topic] * 5, word


def test_more_dimensions_than_words_are_reduced_with_a_note(graph):
    model: Any = create("opca(dim=5000)").fit(graph)
    assert model.query_map_.dim == model.query_features_.columns
    assert any("dim=5000" in note for note in model.stats_["notes"])


def test_clicked_documents_without_titles():
    graph = ClickGraph.from_clicks([("a", "1", 1)], {"2": "beta"})
    with pytest.raises(UserError, match="no clicked pair has features for both query and document"):
        create("opca").fit(graph)
