"""The approximate index: how much it finds, that scores are exact, and that damage does not reach usearch."""

import sys

import numpy as np
import pytest

import planted
from coclick import create, open_model
from coclick.errors import ArtefactError, UserError
from coclick.index import ann as approximate
from coclick.index.ann import ApproximateIndex
from coclick.index.dense import DenseIndex
from coclick.jit.threads import set_threads
from coclick.models.verify import verify
from coclick.storage.artefact import Artefact

SPEC = "pls(dim=8,index=approximate)"


@pytest.fixture(scope="module")
def vectors():
    """Documents and queries in clusters, of different lengths, as projections of words are."""
    random = np.random.default_rng(3)
    centres = random.normal(size=(100, 24))

    def drawn(count):
        near = centres[random.integers(0, len(centres), count)] + random.normal(size=(count, 24)) / 3
        return np.ascontiguousarray(near * random.uniform(0.3, 1, (count, 1)), np.float32)

    return drawn(4000), drawn(300)


@pytest.fixture(scope="module")
def built(vectors):
    exact = DenseIndex.build(vectors[0])
    return exact, *ApproximateIndex.build(exact, vectors[1])


def test_it_finds_nearly_all_and_says_how_much(vectors, built):
    """Recall by sets, from a full product; the index says the same of these queries."""
    exact, index, figures = built
    rows, scores = index.search(vectors[1], 10, exact)
    dots = vectors[1].astype(np.float64) @ vectors[0].T.astype(np.float64)
    best = np.argsort(-dots, axis=1)[:, :10]
    recall = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(rows.tolist(), best.tolist(), strict=True)])
    assert recall >= 0.95
    assert figures == {"recall@10": pytest.approx(recall, abs=0.002), "expansion": 64, "queries": 300}
    np.testing.assert_allclose(scores, np.take_along_axis(dots, rows.astype(int), 1), rtol=1e-5)
    assert (np.diff(scores, axis=1) <= 0).all()


def test_scores_are_those_of_the_exact_index_to_the_last_bit(vectors, built):
    exact, index, _ = built
    rows, scores = index.search(vectors[1], 5, exact)
    for query, found, values in zip(vectors[1], rows, scores, strict=True):
        assert exact.score(query, found).tolist() == values.tolist()


def test_one_query_or_many_or_none(vectors, built):
    exact, index, _ = built
    rows, scores = index.search(vectors[1], 7, exact)
    alone = index.search(vectors[1][:1], 7, exact)
    assert (alone[0][0].tolist(), alone[1][0].tolist()) == (rows[0].tolist(), scores[0].tolist())
    assert index.search(vectors[1][:0], 7, exact)[0].shape == (0, 7)
    everything = index.search(vectors[1][:2], len(vectors[0]), exact)
    assert (everything[1] >= 0).all()


def test_a_query_without_an_image_finds_nothing(built):
    exact, index, _ = built
    rows, scores = index.search(np.zeros((2, 24), np.float32), 3, exact)
    assert (rows == -1).all() and (scores == 0).all()


def test_later_rows_are_found(vectors, built):
    exact, index, _ = built
    new = 3 * vectors[1][:5]  # longer than any other: each is its own best match
    larger = DenseIndex.build(np.concatenate([exact.vectors, new]))
    rows, _ = index.extended(new).search(new, 1, larger)
    assert rows[:, 0].tolist() == [4000, 4001, 4002, 4003, 4004]


def test_it_looks_further_where_that_is_needed(monkeypatch):
    """Without any structure 20 candidates of 3,000 are too few for 95 %."""
    monkeypatch.setattr(approximate, "_EXPANSIONS", (20, 200))
    random = np.random.default_rng(1)
    exact = DenseIndex.build(random.normal(size=(3000, 60)).astype(np.float32))
    index, figures = ApproximateIndex.build(exact, random.normal(size=(100, 60)).astype(np.float32))
    assert index.expansion == figures["expansion"] == 200
    assert figures["recall@10"] >= 0.95


def test_with_one_thread_it_is_the_same_every_time(vectors):
    set_threads(1)
    try:
        data = [ApproximateIndex.build(DenseIndex.build(vectors[0]), vectors[1])[0].data for _ in range(2)]
    finally:
        set_threads(None)
    assert np.array_equal(*data)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("approximate") / "model"
    create(SPEC).fit(planted.graph()).save(path)
    return path


def test_a_model_ranks_as_the_exact_one_does(saved):
    """So few documents that none can be missed."""
    exact = create("pls(dim=8)").fit(planted.graph())
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


def test_documents_that_came_later(saved, tmp_path):
    larger = open_model(saved).add({"new": "Hotel hotel cheap"})
    larger.save(tmp_path / "larger")
    for model in (larger, open_model(tmp_path / "larger")):
        assert "new" in {doc for doc, _ in model.search("hotel", 50).hits()}


def test_damage_is_said_before_usearch_sees_it(tmp_path):
    create(SPEC).fit(planted.graph()).save(tmp_path / "model")
    file = Artefact(tmp_path / "model").file("model.approximate.data")
    content = np.frombuffer(file.read_bytes(), np.uint8).copy()
    content[-400:] ^= 0x55
    file.write_bytes(content.tobytes())
    opened = open_model(tmp_path / "model")
    with pytest.raises(ArtefactError, match="the approximate index is damaged"):
        opened.search("hotel")
    with pytest.raises(ArtefactError, match="damaged"):
        opened.add({"new": "Hotel"})
    assert opened.search("hotel", allow={"hotel-0"}).hits()  # which needs no index


def test_whatever_is_changed_it_is_refused_or_it_can_be_searched(vectors):
    """Of a small graph every byte of headers, levels and the first node, and of the others every seventh, set
    to other values, one at a time."""
    rows = vectors[0][:15]
    exact = DenseIndex.build(rows)
    index, _ = ApproximateIndex.build(exact, vectors[1])
    behind_vectors = 8 + rows.size * 2
    each, some = behind_vectors + 400, range(behind_vectors + 400, len(index.data), 7)
    refused = 0
    for place in [*range(8), *range(behind_vectors, each), *some]:
        for value in (index.data[place] ^ 0x81, 0xFF):
            changed = index.data.copy()
            changed[place] = value
            other = ApproximateIndex(changed, 64)
            if other.find_defect():
                refused += 1
            else:
                found, _ = other.search(vectors[1][:3], 5, exact)
                assert found.max() < len(rows)
    assert refused > 300


@pytest.mark.parametrize("expansion", [0, -1, 10**9, "64", None])
def test_an_expansion_that_nobody_chose_is_refused(built, expansion):
    assert ApproximateIndex(built[1].data, expansion).find_defect()


def test_what_is_no_array_of_bytes_is_refused(built):
    data = built[1].data
    for other in (data[:, None], data.astype(np.float32), "data", None):
        assert ApproximateIndex(other, 64).find_defect()


def test_queries_without_images_measure_nothing(vectors):
    exact = DenseIndex.build(vectors[0][:100])
    _, figures = ApproximateIndex.build(exact, np.zeros((5, 24), np.float32))
    assert figures == {"recall@10": 1.0, "expansion": 64, "queries": 0}


@pytest.mark.parametrize("length", [0, 7, 100, -1, -300])
def test_a_graph_that_was_cut_is_refused(built, length):
    _, index, _ = built
    assert ApproximateIndex(index.data[:length], 64).find_defect()
    assert index.find_defect() is None


def test_a_graph_of_several_levels_that_leads_to_a_level_that_is_not_there(built):
    """A neighbour of the entry on the highest level must have that level: a node of the lowest is refused."""
    _, index, _ = built
    count, width = (int(n) for n in index.data[:8].view(np.uint32))
    at = 8 + count * width + 64
    upper_room, lowest_room, highest, entry = (
        int(n) for n in index.data[at + 8 : at + 40].copy().view("<u8")
    )
    levels = index.data[at + 40 : at + 40 + 2 * count].copy().view("<i2").astype(int)
    assert highest > 0
    sizes = 10 + 4 * (1 + lowest_room) + levels * 4 * (1 + upper_room)
    node = at + 40 + 2 * count + int(sizes[:entry].sum())
    top_list = node + 10 + 4 * (1 + lowest_room) + (highest - 1) * 4 * (1 + upper_room)
    changed = index.data.copy()
    changed[top_list : top_list + 4] = np.array([1], "<u4").view(np.uint8)
    changed[top_list + 4 : top_list + 8] = np.array([entry], "<u4").view(np.uint8)
    assert ApproximateIndex(changed, 64).find_defect() is None
    lowest = int(np.flatnonzero(levels == 0)[0])
    changed[top_list + 4 : top_list + 8] = np.array([lowest], "<u4").view(np.uint8)
    assert ApproximateIndex(changed, 64).find_defect()


def test_an_index_of_other_vectors_is_refused(vectors, built):
    _, index, _ = built
    with pytest.raises(ArtefactError, match="belongs to other vectors"):
        index.search(vectors[1], 3, DenseIndex.build(vectors[0][:-1]))


def test_without_usearch_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    with pytest.raises(UserError, match=r"needs usearch") as caught:
        create(SPEC).fit(planted.graph())
    assert 'pip install "coclick[ann]"' in str(caught.value)
