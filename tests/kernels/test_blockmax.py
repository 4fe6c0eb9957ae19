"""Block-max search compared with brute force, and its behaviour on damaged indexes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from coclick.errors import ArtefactError
from coclick.jit.threads import set_threads
from coclick.kernels import blocks
from coclick.kernels import search as searches
from coclick.kernels.blocks import BLOCK, STRIP, Blocks, build_blocks
from coclick.kernels.postings import Postings
from coclick.kernels.search import NO_MASK, Scratch, score_rows, search, search_block, search_within

CsrArrays = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]


def rows_of(dense: NDArray[np.float32]) -> CsrArrays:
    row, term = np.nonzero(dense)
    indptr = np.zeros(len(dense) + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=len(dense)), out=indptr[1:])
    return indptr, term.astype(np.int32), dense[row, term].astype(np.float32)


def naive(
    dense: NDArray[np.float32],
    query: NDArray[np.float32],
    k: int,
    allowed: NDArray[np.uint8] | None = None,
) -> list[tuple[int, float]]:
    """Score all rows in float64 and sort them."""
    found = []
    for row, vector in enumerate(dense):
        total = 0.0
        for weight, value in zip(query, vector, strict=True):
            total += float(weight) * float(value)
        score = float(np.float32(total))
        if score > 0 and (allowed is None or allowed[row]):
            found.append((row, score))
    return sorted(found, key=lambda entry: (-entry[1], entry[0]))[:k]


def found_by_search(
    dense: NDArray[np.float32],
    query: NDArray[np.float32],
    k: int,
    allowed: NDArray[np.uint8] = NO_MASK,
) -> list[tuple[int, float]]:
    rows = rows_of(dense)
    terms = np.flatnonzero(query).astype(np.int32)
    index = *build_blocks(*rows, dense.shape[1]), *rows
    found, scores = search(*index, terms, query[terms], k, Scratch(*dense.shape), allowed)
    assert found.dtype == np.int32
    assert scores.dtype == np.float32
    return list(zip(found.tolist(), scores.tolist(), strict=True))


def unit(dense: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(dense, axis=1, keepdims=True)
    return (dense / np.where(norms == 0, 1, norms)).astype(np.float32)


def random_rows(seed: int, rows: int, terms: int, entries: int, skew: float = 1.0) -> NDArray[np.float32]:
    """Rows over few common and many rare terms, so that there are long and short lists."""
    random = np.random.default_rng(seed)
    dense = np.zeros((rows, terms), np.float32)
    for row in dense:
        chosen = (terms * random.random(entries) ** 3).astype(int)
        row[chosen] = random.random(entries) ** skew
    return dense


@contextmanager
def common_above(length: int) -> Iterator[None]:
    """Within this block, terms with longer lists count as common."""
    with mock.patch.multiple(blocks, COMMON_SHARE=10**9, MIN_COMMON=length):
        yield


# Few distinct values, so that weights and scores tie.
values = st.sampled_from([0.0, 0.0, 0.0, 0.25, 0.5, 1.0, 1.0, 3.0])
wild = st.one_of(values, st.floats(0, 1e6, width=32), st.floats(0, 2.0**-20, width=32))


@st.composite
def problems(draw: st.DrawFn) -> tuple[NDArray[np.float32], NDArray[np.float32], int]:
    rows, terms = draw(st.integers(1, 40)), draw(st.integers(1, 8))
    cells = draw(st.lists(wild, min_size=rows * terms, max_size=rows * terms))
    query = draw(st.lists(wild, min_size=terms, max_size=terms))
    return (
        np.array(cells, np.float32).reshape(rows, terms),
        np.array(query, np.float32),
        draw(st.integers(1, 50)),
    )


@pytest.mark.slow
@given(problems(), st.integers(0, 40))
@settings(max_examples=120, deadline=None)
def test_search_equals_brute_force(problem, length):
    dense, query, k = problem
    with common_above(length):
        assert found_by_search(dense, query, k) == naive(dense, query, k)
        assert found_by_search(unit(dense), query, k) == naive(unit(dense), query, k)


@pytest.mark.slow
@given(problems(), st.integers(0, 40), st.data())
@settings(max_examples=120, deadline=None)
def test_search_finds_allowed_rows_only(problem, length, data):
    dense, query, k = problem
    mask = data.draw(st.lists(st.integers(0, 1), min_size=len(dense), max_size=len(dense)))
    allowed = np.array(mask, np.uint8)
    expected = naive(dense, query, k, allowed)
    with common_above(length), mock.patch.object(searches, "FEW", 0):
        assert found_by_search(dense, query, k, allowed) == expected
    assert found_by_search(dense, query, k, allowed) == expected


@pytest.mark.parametrize("skew", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("normed", [True, False])
@pytest.mark.parametrize("length", [0, 300, 10**6])
def test_skipping_long_lists_loses_no_result(skew, normed, length):
    dense = random_rows(1, 4000, 60, 8, skew)
    dense = unit(dense) if normed else dense
    rows = rows_of(dense)
    with common_above(length):
        index = *build_blocks(*rows, 60), *rows
    assert (len(index[1].common) > 0) == (length < 4000)
    for seed in range(6):
        query = random_rows(100 + seed, 1, 60, 1 + 3 * seed)[0]
        terms = np.flatnonzero(query).astype(np.int32)
        expected = naive(dense, query, 100)
        for k in (1, 10, 100):
            found, scores = search(*index, terms, query[terms], k, Scratch(*dense.shape))
            assert list(zip(found, scores, strict=True)) == expected[:k]


def test_a_selective_mask_with_long_lists(monkeypatch):
    dense = unit(random_rows(2, 4000, 60, 8))
    query = random_rows(3, 1, 60, 6)[0]
    allowed = (np.random.default_rng(4).random(4000) < 0.02).astype(np.uint8)
    expected = naive(dense, query, 10, allowed)
    assert found_by_search(dense, query, 10, allowed) == expected
    monkeypatch.setattr(searches, "FEW", 0)
    assert found_by_search(dense, query, 10, allowed) == expected
    allowed[:] = 0
    assert found_by_search(dense, query, 10, allowed) == []
    monkeypatch.undo()
    assert found_by_search(dense, query, 10, allowed) == []


def test_equal_rows_are_ordered_by_number():
    dense = unit(np.tile(np.array([[3, 0, 4]], np.float32), (5000, 1)))
    found = found_by_search(dense, np.array([0.6, 0.5, 0.8], np.float32), 12)
    assert [row for row, _ in found] == list(range(12))
    assert found[0][1] == pytest.approx(1.0, abs=1e-6)


def test_ties_after_a_plateau_are_ordered_by_number():
    # 3000 rows have term 0 alone; the best rows are the last ones, and they tie.
    dense = np.zeros((3020, 2), np.float32)
    dense[:3000, 0] = 1.0
    dense[3000:] = [0.6, 0.8]
    found = found_by_search(dense, np.array([0.6, 0.8], np.float32), 30)
    assert [row for row, _ in found] == [*range(3000, 3020), *range(10)]


def test_one_term_whose_weights_tie_or_round_to_ties():
    # 1.01 · w is the same float32 for these two neighbours: order by row, not by weight.
    low = np.float32(1.99)
    high = np.nextafter(low, np.float32(2))
    assert high > low
    dense = np.full((3000, 2), low, np.float32)
    dense[2000:, 0] = high
    query = np.array([1.01, 0], np.float32)
    expected = naive(dense, query, 20)
    assert [row for row, _ in expected] == list(range(20))
    assert found_by_search(dense, query, 20) == expected
    allowed = (np.arange(3000) % 2).astype(np.uint8)
    assert found_by_search(dense, query, 20, allowed) == naive(dense, query, 20, allowed)


def test_a_rare_and_a_common_term():
    # Fewer than k rows have the rare term; the other results tie for the best common weight.
    dense = np.zeros((6000, 2), np.float32)
    dense[:, 1] = np.linspace(1, 2, 6000, dtype=np.float32)
    dense[1000:1030, 1] = 2
    dense[[5, 70, 4000], 0] = 9
    query = np.array([1, 1], np.float32)
    assert found_by_search(dense, query, 10) == naive(dense, query, 10)


def test_a_search_computed_by_hand():
    dense = np.array([[0.5, 0, 2], [1, 1, 0], [0, 0, 0], [0, 0, 4]], np.float32)
    query = np.array([2, 0, 0.5], np.float32)
    assert found_by_search(dense, query, 3) == [(0, 2.0), (1, 2.0), (3, 2.0)]
    assert found_by_search(dense, query, 2) == [(0, 2.0), (1, 2.0)]
    assert found_by_search(dense, np.array([0, 1, 0], np.float32), 9) == [(1, 1.0)]
    assert found_by_search(dense, np.zeros(3, np.float32), 9) == []


def test_unknown_repeated_and_invalid_query_terms():
    dense = np.array([[1, 0], [1, 2]], np.float32)
    rows = rows_of(dense)
    index, scratch = (*build_blocks(*rows, 2), *rows), Scratch(2, 2)
    terms = np.array([-1, 1, 0, 7, 1, 0, 2**31 - 1, 0], np.int32)
    weights = np.array([9, 0.5, 1, 9, 0.5, -3, 9, np.nan], np.float32)
    found, scores = search(*index, terms, weights, 5, scratch)
    assert found.tolist() == [1, 0]
    assert scores.tolist() == [3.0, 1.0]
    assert not scratch.query.any()


def test_an_empty_index_and_k_of_zero():
    scratch = Scratch(0, 3)
    rows = rows_of(np.zeros((0, 3), np.float32))
    index = *build_blocks(*rows, 3), *rows
    terms, weights = np.array([1], np.int32), np.ones(1, np.float32)
    found, scores = search(*index, terms, weights, 10, scratch)
    assert len(found) == len(scores) == 0
    rows = rows_of(np.ones((4, 3), np.float32))
    found, _ = search(*(*build_blocks(*rows, 3), *rows), terms, weights, 0, Scratch(4, 3))
    assert len(found) == 0


@given(problems(), st.integers(0, 40))
@settings(max_examples=50, deadline=None)
def test_postings_are_sorted_columns_and_shares_bound_them(problem, length):
    dense, _, _ = problem
    with common_above(length):
        postings, built = build_blocks(*rows_of(dense), dense.shape[1])
    placed = dense[built.order]
    assert sorted(built.order) == list(range(len(dense)))
    assert built.common.tolist() == np.flatnonzero((dense > 0).sum(axis=0) > length).tolist()
    for term, column in enumerate(placed.T):
        expected = sorted(np.flatnonzero(column), key=lambda place: (-column[place], place))
        part = slice(postings.indptr[term], postings.indptr[term + 1])
        assert postings.places[part].tolist() == expected
        assert postings.weights[part].tolist() == column[expected].tolist()
    for line, term in enumerate(built.common):
        shares = np.zeros(len(built.strips) * BLOCK)
        shares[: len(dense)] = np.ceil(255 * placed[:, term].astype(np.float64) / dense[:, term].max())
        strips = shares.reshape(-1, BLOCK // STRIP, STRIP).max(axis=2)
        assert np.array_equal(built.strips[:, line], strips)
        assert np.array_equal(built.blocks[line], strips.max(axis=1))


def test_rows_with_the_same_common_terms_become_neighbours():
    dense = np.zeros((800, 3), np.float32)
    dense[np.arange(800), np.random.default_rng(0).permutation(800) % 2] = 1.0
    dense[::100, 2] = 0.5
    with common_above(100):
        _, built = build_blocks(*rows_of(dense), 3)
    assert np.count_nonzero(np.diff(dense[built.order, 0])) == 1
    assert built.common.tolist() == [0, 1]


def test_indexes_do_not_depend_on_threads():
    rows = rows_of(random_rows(5, 3000, 40, 10))
    indexes = []
    for count in (1, 2, 5):
        set_threads(count)
        indexes.append([array for part in build_blocks(*rows, 40) for array in part])
    set_threads(None)
    for other in indexes[1:]:
        for one, two in zip(indexes[0], other, strict=True):
            assert np.array_equal(one, two)


def test_negative_weights_are_refused():
    with pytest.raises(ValueError, match="negative"):
        build_blocks(*rows_of(np.array([[1, -1]], np.float32)), 2)


def test_batch_equals_single_from_any_thread():
    dense = unit(random_rows(6, 3000, 50, 8))
    rows = rows_of(dense)
    index = *build_blocks(*rows, 50), *rows
    queries = rows_of(np.vstack([unit(random_rows(7, 60, 50, 6)), np.zeros((1, 50), np.float32)]))
    count = len(queries[0]) - 1
    found, scores = np.empty((count, 7), np.int32), np.empty((count, 7), np.float32)

    def work(first: int) -> None:
        last = min(first + 9, count)
        search_block(*index, *queries, first, last, found, scores, Scratch(*dense.shape))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(0, count, 9)))
    scratch = Scratch(*dense.shape)
    for query in range(count):
        part = slice(queries[0][query], queries[0][query + 1])
        alone = search(*index, queries[1][part], queries[2][part], 7, scratch)
        size = len(alone[0])
        assert found[query, :size].tolist() == alone[0].tolist()
        assert scores[query, :size].tolist() == alone[1].tolist()
        assert found[query, size:].tolist() == [-1] * (7 - size)
        assert not scores[query, size:].any()
    assert found[-1].tolist() == [-1] * 7


def test_batch_with_a_mask_equals_single():
    dense = random_rows(8, 500, 30, 5)
    rows = rows_of(dense)
    index = *build_blocks(*rows, 30), *rows
    queries = random_rows(9, 5, 30, 4)
    allowed = (np.arange(500) % 3 == 0).astype(np.uint8)
    found, scores = np.empty((5, 8), np.int32), np.empty((5, 8), np.float32)
    search_block(*index, *rows_of(queries), 1, 4, found, scores, Scratch(500, 30), allowed=allowed)
    for query in range(1, 4):
        expected = naive(dense, queries[query], 8, allowed)
        size = len(expected)
        assert list(zip(found[query, :size], scores[query, :size], strict=True)) == expected
        assert found[query, size:].tolist() == [-1] * (8 - size)


def test_scores_of_search_and_score_rows_are_equal_bits():
    dense = unit(random_rows(10, 2000, 40, 9))
    rows, scratch = rows_of(dense), Scratch(*dense.shape)
    index = *build_blocks(*rows, 40), *rows
    for seed in range(20):
        query = random_rows(200 + seed, 1, 40, 7)[0]
        terms = np.flatnonzero(query).astype(np.int32)
        found, scores = search(*index, terms, query[terms], 20, scratch)
        again = score_rows(*rows, terms, query[terms], found, scratch)
        assert scores.tobytes() == again.tobytes()
        some = np.arange(0, 2000, 7, dtype=np.int32)
        within = search_within(*rows, terms, query[terms], some, 20, scratch)
        allowed = np.zeros(2000, np.uint8)
        allowed[some] = 1
        expected = naive(dense, query, 20, allowed)
        assert list(zip(within[0].tolist(), within[1].tolist(), strict=True)) == expected


def test_the_search_clock_of_a_scratch_may_overflow():
    dense = unit(random_rows(11, 1000, 30, 5))
    rows, scratch = rows_of(dense), Scratch(*dense.shape)
    index = *build_blocks(*rows, 30), *rows
    for seed in range(300):
        query = random_rows(300 + seed, 1, 30, 4)[0]
        terms = np.flatnonzero(query).astype(np.int32)
        found, scores = search(*index, terms, query[terms], 5, scratch)
        if seed % 50 == 4 or seed > 250:
            assert list(zip(found, scores, strict=True)) == naive(dense, query, 5)


@pytest.mark.parametrize("value", [-1, -(2**31), 2**31 - 1, 3000])
@pytest.mark.parametrize("part", ["places", "order", "indices"])
def test_damaged_numbers_are_detected(part, value):
    dense = unit(random_rows(12, 3000, 40, 8))
    indptr, indices, data = rows_of(dense)
    index = build_blocks(indptr, indices, data, 40)
    {"places": index[0].places, "order": index[1].order, "indices": indices}[part][:] = value
    expect_damage(*index, (indptr, indices, data), dense.shape)


@pytest.mark.parametrize("value", [-1, 2**62, -(2**62), 10**6])
@pytest.mark.parametrize("part", ["post_indptr", "indptr"])
def test_damaged_pointers_are_detected(part, value):
    dense = unit(random_rows(13, 3000, 40, 8))
    indptr, indices, data = rows_of(dense)
    index = build_blocks(indptr, indices, data, 40)
    (index[0].indptr if part == "post_indptr" else indptr)[1::2] = value
    expect_damage(*index, (indptr, indices, data), dense.shape)


def test_damaged_weights_are_detected():
    dense = unit(random_rows(14, 3000, 40, 8))
    indptr, indices, data = rows_of(dense)
    index = build_blocks(indptr, indices, data, 40)
    data[:] = np.nan
    expect_damage(*index, (indptr, indices, data), dense.shape)
    data[:] = -1.0
    expect_damage(*index, (indptr, indices, data), dense.shape)


def test_truncated_arrays_are_detected():
    dense = unit(random_rows(15, 3000, 40, 8))
    rows = indptr, indices, data = rows_of(dense)
    postings, built = build_blocks(*rows, 40)
    expect_damage(postings, built, (indptr, indices[:9], data), dense.shape)
    expect_damage(postings, built, (indptr, indices, data[:9]), dense.shape)
    for name in ("places", "weights"):
        cut = postings._replace(**{name: getattr(postings, name)[:9]})
        expect_damage(cut, built, rows, dense.shape)
    for name in ("order", "common", "strips", "blocks"):
        shorter = built._replace(**{name: getattr(built, name)[:-1]})
        expect_damage(postings, shorter, rows, dense.shape)


def expect_damage(postings: Postings, built: Blocks, rows: CsrArrays, shape: tuple[int, int]) -> None:
    scratch = Scratch(*shape)
    terms = np.arange(0, 40, 2, dtype=np.int32)
    weights = np.ones(len(terms), np.float32)
    with pytest.raises(ArtefactError, match="index is damaged"):
        search(postings, built, *rows, terms, weights, 5, scratch)
    assert not scratch.query.any()


@given(st.randoms(use_true_random=False), st.integers(0, 300))
@settings(max_examples=100, deadline=None)
def test_random_damage_never_crashes(random, length):
    dense = unit(random_rows(16, 300, 20, 6))
    rows = rows_of(dense)
    with common_above(length):
        postings, built = build_blocks(*rows, 20)
    for array in (*rows, *postings, *built):
        raw = array.reshape(-1).view(np.uint8)
        for _ in range(random.choice([0, 1, 30]) if len(raw) else 0):
            raw[random.randrange(len(raw))] = random.randrange(256)
    terms = np.arange(20, dtype=np.int32)
    scratch = Scratch(300, 20)
    try:
        found, scores = search(postings, built, *rows, terms, np.ones(20, np.float32), 9, scratch)
    except ArtefactError:
        return
    assert ((found >= 0) & (found < 300)).all()
    assert (scores > 0).all()


def test_damage_is_detected_when_rows_are_scored_or_indexed():
    indptr, indices, data = rows_of(np.ones((5, 3), np.float32))
    terms, weights, scratch = np.arange(3, dtype=np.int32), np.ones(3, np.float32), Scratch(5, 3)
    for rows in ([0, 5], [-1]):
        with pytest.raises(ArtefactError):
            score_rows(indptr, indices, data, terms, weights, np.array(rows, np.int32), scratch)
    indices[4] = 3
    with pytest.raises(ArtefactError):
        build_blocks(indptr, indices, data, 3)
    assert not scratch.query.any()


def test_mismatched_sizes_are_refused():
    rows = rows_of(np.ones((5, 3), np.float32))
    index = *build_blocks(*rows, 3), *rows
    terms, weights = np.arange(3, dtype=np.int32), np.ones(3, np.float32)
    with pytest.raises(ValueError, match="scratch"):
        search(*index, terms, weights, 2, Scratch(4, 3))
    with pytest.raises(ValueError, match="mask"):
        search(*index, terms, weights, 2, Scratch(5, 3), allowed=np.ones(4, np.uint8))
