"""Document expansion by hand, and the selection of words against plain sorting."""

import math

import numpy as np
import pytest

from coclick import create, open_model
from coclick.arrays.csr import Csr
from coclick.errors import ArtefactError
from coclick.graph.click_graph import ClickGraph
from coclick.models.document_expansion import top_of_dense, top_of_sparse
from coclick.storage.artefact import Artefact

CLICKS = [
    ("cheap trainers", "d1", 3),
    ("trainers", "d1", 1),
    ("running trainers", "d1", 1),
    ("sandals", "d2", 5),
]
TITLES = {
    "d1": {"title": "Running shoes", "body": "cheap"},
    "d2": {"title": "Summer shoes"},
    "d3": {"title": "Running"},
}


def expected_top(weights, excluded, k):
    """The k largest weights above zero of each row, ties by number, in plain Python."""
    found = []
    for row, without in zip(weights, excluded, strict=True):
        kept = [(-w, t) for t, w in enumerate(row) if w > 0 and t not in without]
        found.append([t for _, t in sorted(kept)[:k]])
    return found


@pytest.mark.parametrize("k", [1, 3, 50])
def test_the_heaviest_words_of_sparse_and_dense_weights(monkeypatch, k):
    random = np.random.default_rng(3)
    weights = np.round(random.normal(size=(40, 30)) * 3).astype(np.float32)  # many ties, zeros and negatives
    excluded = [set(random.choice(30, 8).tolist()) for _ in range(40)]
    rows = np.repeat(np.arange(40), [len(one) for one in excluded])
    columns = np.array([t for one in excluded for t in one])
    without = Csr.from_triples(rows, columns, np.ones(len(rows)), (40, 30))
    expected = expected_top(weights.tolist(), excluded, k)
    row, column = np.nonzero(weights)
    sparse = Csr.from_triples(row, column, weights[row, column], (40, 30))
    monkeypatch.setattr("coclick.models.document_expansion._MAX_WEIGHTS", 210)  # seven rows at a time
    docs = np.arange(40, dtype=np.int32)
    for terms, values in (
        top_of_sparse(sparse, without, k),
        top_of_dense(docs, 30, lambda some: weights[some].copy(), without, k),
    ):
        assert terms.shape == values.shape == (40, k)
        for i, (own, kept) in enumerate(zip(terms.tolist(), expected, strict=True)):
            assert sorted(weights[i, [t for t in own if t >= 0]]) == sorted(weights[i, kept])
            assert values[i, : len(kept)].tolist() == weights[i, kept].tolist()
            assert own[len(kept) :] == [-1] * (k - len(kept))


def test_words_of_clicked_queries_by_hand():
    """BM25 of words in the clicked queries of d1, without those of its title."""
    model = create("bm25sd_mult", query_weight=2.0, stem=False).fit(ClickGraph.from_clicks(CLICKS, TITLES))
    (word, weight), (other, _) = model.expand_docs("d1")
    tf = math.log(4) + 2 * math.log(2)
    lengths = [2 * math.log(4) + 3 * math.log(2), math.log(6)]  # d1 and d2, weighted words
    length = lengths[0] / (sum(lengths) / 2)
    idf = math.log1p((3 - 1 + 0.5) / (1 + 0.5))
    bm25 = idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length))
    assert (word, other) == ("trainers", "cheap")
    assert weight == pytest.approx(2.0 * 0.8 * bm25, rel=1e-5)
    assert model.expand_docs("d3").hits() == [], "never clicked"
    [part] = model.explain_expansion("d1", 1, clicks=2)
    assert part.edges == 3
    assert [(click.query, click.clicks, click.share) for click in part.clicks] == [
        ("cheap trainers", 3, pytest.approx(0.6)),
        ("running trainers", 1, pytest.approx(0.2)),
    ]


def test_queries_that_lack_words_of_the_index_are_damaged(tmp_path):
    """Words are made from the queries again: those of damaged ones do not name the terms of the index."""
    model = create("bm25sd_mult", stem=False).fit(ClickGraph.from_clicks(CLICKS, TITLES))
    model.save(tmp_path / "model")
    assert open_model(tmp_path / "model").explain_expansion("d1", 1)[0].label == "trainers"
    file = Artefact(tmp_path / "model").file("queries.data")
    content = file.read_bytes()
    size = sum(len(query) for query, _, _ in CLICKS)
    file.write_bytes(content[:-size] + b" " * size)
    with pytest.raises(
        ArtefactError, match="the queries of the model, or the index of their words, are damaged"
    ):
        open_model(tmp_path / "model").explain_expansion("d1", 1)


def test_words_of_a_propagated_vector_and_the_clicks_that_taught_them():
    model = create("vpcg", stem=False).fit(ClickGraph.from_clicks(CLICKS, TITLES))
    own = dict(model.expand_docs("d1", new=False))
    cheap, trainers = 3 / math.sqrt(2), 3 / math.sqrt(2) + 1 + 1 / math.sqrt(2)  # C' Q with unit queries
    running = 1 / math.sqrt(2)
    norm = math.sqrt(cheap**2 + trainers**2 + running**2)
    assert own == pytest.approx(
        {"trainers": trainers / norm, "cheap": cheap / norm, "running": running / norm}
    )
    assert [word for word, _ in model.expand_docs("d1")] == ["trainers", "cheap"]
    [part] = model.explain_expansion("d1", 1)
    assert sum(click.share for click in part.clicks) == pytest.approx(1)
    assert part.clicks[0].query == "cheap trainers"


def test_translations_of_a_title_by_hand():
    """The weight is what a query of this word alone gets through the translations."""
    model = create("wtm", lambda_doc=0.3, min_probability=0.0).fit(ClickGraph.from_clicks(CLICKS, TITLES))
    for doc in ("d1", "d3"):
        for word, weight in model.expand_docs(doc):  # not in the title, so P(t|d) is 0
            assert model.score([word], [[doc]])[0][0] == pytest.approx(weight, rel=1e-5)
    assert "trainers" in dict(model.expand_docs("d3")), "learned for the word running, not for this document"
    part = model.explain_expansion("d3", 1)[0]
    assert [inner.label for inner in part.parts] == ["running"]
    assert part.clicks == []


def test_words_that_score_highest_as_queries():
    model = create("pls", views="words", dim=3, stem=False).fit(ClickGraph.from_clicks(CLICKS, TITLES))
    for word, weight in model.expand_docs("d1", new=False):
        assert model.score([word + " "], [["d1"]])[0][0] == pytest.approx(weight, rel=1e-4)
