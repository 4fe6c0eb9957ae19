"""The approximate index: its recall, exact scores, and a graph that is rebuilt from checked vectors."""

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import planted
from coclick import create, open_model
from coclick.errors import ArtefactError, UserError
from coclick.index import ann
from coclick.index.ann import ApproximateIndex
from coclick.index.dense import DenseIndex
from coclick.jit.threads import set_threads
from coclick.models.verify import verify
from coclick.storage.artefact import Artefact

SPEC = "pls(dim=8,views=words,index=approximate)"


@pytest.fixture(scope="module")
def vectors():
    """Clustered documents and queries of different lengths, like projections of words."""
    random = np.random.default_rng(3)
    centres = random.normal(size=(100, 24))

    def sample(count):
        near = centres[random.integers(0, len(centres), count)] + random.normal(size=(count, 24)) / 3
        return np.ascontiguousarray(near * random.uniform(0.3, 1, (count, 1)), np.float32)

    return sample(4000), sample(300)


@pytest.fixture(scope="module")
def built(vectors):
    exact = DenseIndex.build(vectors[0])
    return exact, *ApproximateIndex.build(exact, vectors[1])


def test_recall_is_high_and_reported(vectors, built):
    """The recall that the index reports equals the recall computed from all dot products."""
    exact, index, stats = built
    rows, scores = index.search(vectors[1], 10, exact)
    dots = vectors[1].astype(np.float64) @ vectors[0].T.astype(np.float64)
    best = np.argsort(-dots, axis=1)[:, :10]
    recall = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(rows.tolist(), best.tolist(), strict=True)])
    assert recall >= 0.95
    assert stats == {"recall@10": pytest.approx(recall, abs=0.002), "expansion": 64, "queries": 300}
    np.testing.assert_allclose(scores, np.take_along_axis(dots, rows.astype(int), 1), rtol=1e-5)
    assert (np.diff(scores, axis=1) <= 0).all()


def test_scores_equal_the_exact_index_bit_by_bit(vectors, built):
    exact, index, _ = built
    rows, scores = index.search(vectors[1], 5, exact)
    for query, found, values in zip(vectors[1], rows, scores, strict=True):
        assert exact.score(query, found).tolist() == values.tolist()


def test_one_query_many_queries_and_no_query(vectors, built):
    exact, index, _ = built
    rows, scores = index.search(vectors[1], 7, exact)
    alone = index.search(vectors[1][:1], 7, exact)
    assert (alone[0][0].tolist(), alone[1][0].tolist()) == (rows[0].tolist(), scores[0].tolist())
    assert index.search(vectors[1][:0], 7, exact)[0].shape == (0, 7)
    everything = index.search(vectors[1][:2], len(vectors[0]), exact)
    assert (everything[1] >= 0).all()


def test_a_zero_query_vector_finds_nothing(built):
    exact, index, _ = built
    rows, scores = index.search(np.zeros((2, 24), np.float32), 3, exact)
    assert (rows == -1).all() and (scores == 0).all()


def test_added_rows_are_found(vectors, built):
    exact, index, _ = built
    new = 3 * vectors[1][:5]  # longer than all others, so each is its own best match
    larger = DenseIndex.build(np.concatenate([exact.vectors, new]))
    rows, _ = index.extended(new).search(new, 1, larger)
    assert rows[:, 0].tolist() == [4000, 4001, 4002, 4003, 4004]


def test_the_expansion_grows_until_recall_is_reached(monkeypatch):
    """Among 3,000 vectors without structure, 20 candidates are too few for a recall of 95 %."""
    monkeypatch.setattr(ann, "_EXPANSIONS", (20, 200))
    random = np.random.default_rng(1)
    exact = DenseIndex.build(random.normal(size=(3000, 60)).astype(np.float32))
    index, stats = ApproximateIndex.build(exact, random.normal(size=(100, 60)).astype(np.float32))
    assert index.expansion == stats["expansion"] == 200
    assert stats["recall@10"] >= 0.95


def test_one_thread_builds_the_same_graph_every_time(vectors):
    set_threads(1)
    try:
        exact = DenseIndex.build(vectors[0])
        graphs = [ApproximateIndex.build(exact, vectors[1])[0]._graph.save() for _ in range(2)]
    finally:
        set_threads(None)
    assert graphs[0] == graphs[1]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("approximate") / "model"
    create(SPEC).fit(planted.graph()).save(path)
    return path


def test_a_model_ranks_like_the_exact_one(saved):
    """There are so few documents that none can be missed."""
    exact = create("pls(dim=8,views=words)").fit(planted.graph())
    opened = open_model(saved)
    assert opened.stats_["approximate"]["recall@10"] == 1
    for query in ("hotel", "jogging nike sale", "zzzz"):
        assert opened.search(query, 5).hits() == exact.search(query, 5).hits()
    assert verify(saved) == []


def test_filters_are_exact(saved):
    opened = open_model(saved)
    allowed = {"hotel-0", "hotel-3"}
    assert {doc for doc, _ in opened.search("hotel", 50, allow=allowed).hits()} == allowed
    blocked = {doc for doc, _ in opened.search("hotel", 50, block=allowed).hits()}
    assert blocked and not blocked & allowed


def test_added_documents_are_found(saved, tmp_path):
    larger = open_model(saved).add({"new": "Hotel hotel cheap"})
    larger.save(tmp_path / "larger")
    for model in (larger, open_model(tmp_path / "larger")):
        assert "new" in {doc for doc, _ in model.search("hotel", 50).hits()}


def test_the_graph_is_not_stored_but_rebuilt(saved):
    assert not [name for name in Artefact(saved).files if "approximate" in name]
    opened: Any = open_model(saved)
    assert opened.approximate_._graph is None
    opened.search("hotel")
    assert len(opened.approximate_._graph) == len(opened.doc_index_.vectors)


def test_adding_documents_leaves_the_graph_of_the_first_model_alone(saved):
    opened: Any = open_model(saved)
    opened.search("hotel")
    count = len(opened.doc_index_.vectors)
    graph = opened.approximate_._graph
    opened.add({"new": "Hotel hotel cheap"})
    assert len(graph) == count


def test_searches_at_the_same_time_build_one_graph(vectors, monkeypatch):
    built = []
    monkeypatch.setattr(ann, "_add_rows", lambda *args, add=ann._add_rows: built.append(1) or add(*args))
    exact, index = DenseIndex.build(vectors[0]), ApproximateIndex(64)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: index.search(vectors[1][:5], 3, exact)[0].tolist(), range(4)))
    assert len(built) == 1
    assert all(rows == found[0] for rows in found)


def test_damaged_vectors_never_reach_usearch(tmp_path):
    create(SPEC).fit(planted.graph()).save(tmp_path / "model")
    file = Artefact(tmp_path / "model").file("model.doc_index.vectors")
    content = bytearray(file.read_bytes())
    content[-4:] = np.float32(np.nan).tobytes()
    file.write_bytes(content)
    opened = open_model(tmp_path / "model")
    with pytest.raises(ArtefactError, match=r"model\.doc_index\.vectors: a value is not a finite number"):
        opened.search("hotel")


@pytest.mark.parametrize("expansion", [0, -1, 10**9, "64", None])
def test_an_invalid_expansion_is_refused(vectors, expansion):
    index = ApproximateIndex(expansion)
    assert index.find_defect()
    with pytest.raises(ArtefactError, match="expansion must be"):
        index.search(vectors[1], 3, DenseIndex.build(vectors[0][:100]))


def test_zero_query_vectors_are_not_sampled(vectors):
    exact = DenseIndex.build(vectors[0][:100])
    _, stats = ApproximateIndex.build(exact, np.zeros((5, 24), np.float32))
    assert stats == {"recall@10": 1.0, "expansion": 64, "queries": 0}


def test_without_usearch_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    with pytest.raises(UserError, match=r"needs usearch") as caught:
        create(SPEC).fit(planted.graph())
    assert 'pip install "coclick[ann]"' in str(caught.value)
