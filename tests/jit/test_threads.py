"""Blocks of rows: split evenly, each processed once, by threads that stop at the first exception."""

import os
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coclick.jit.threads import balanced_blocks, even_blocks, run_alongside, run_blocks, set_threads

LENGTHS = st.lists(st.integers(0, 50), max_size=40)


@pytest.fixture(params=[1, 2, 5])
def count(request):
    set_threads(request.param)
    yield request.param
    set_threads(None)


@given(LENGTHS, st.integers(1, 20), st.integers(0, 9))
def test_blocks_are_even(lengths, blocks, first):
    indptr = np.cumsum([first, *lengths]).astype(np.int64)
    cut = balanced_blocks(indptr, blocks)
    assert [row for a, b in cut for row in range(a, b)] == list(range(len(lengths)))
    assert len(cut) <= blocks
    share = (sum(lengths) + len(lengths)) / blocks
    heaviest = max(lengths, default=0) + 1
    for a, b in cut:
        assert sum(lengths[a:b]) + (b - a) < share + heaviest


def test_every_block_runs_once(count):
    seen, rows = [], []
    run_blocks(lambda first, last: seen.append((first, last)), [(i, i + 3) for i in range(100)], rows.append)
    assert sorted(seen) == [(i, i + 3) for i in range(100)]
    assert sum(rows) == 300


def test_an_exception_stops_the_rest(count):
    seen = []

    def work(first, last):
        if first == 7:
            raise ValueError("seven")
        seen.append(first)

    with pytest.raises(ValueError, match="seven"):
        run_blocks(work, [(i, i + 1) for i in range(10_000)])
    assert len(seen) < 10_000 - 1


def test_an_exception_in_a_worker_thread_is_raised():
    set_threads(2)
    own, met = threading.get_ident(), threading.Barrier(2)

    def work(first, last):
        met.wait(10)  # waits until both threads have a block
        if threading.get_ident() != own:
            raise ValueError("helper")

    try:
        with pytest.raises(ValueError, match="helper"):
            run_blocks(work, [(0, 1), (1, 2)])
    finally:
        set_threads(None)


def test_nested_blocks(count):
    seen = []

    def outer(first, last):
        run_blocks(lambda a, b: seen.append((first, a)), [(i, i + 1) for i in range(4)])

    run_blocks(outer, [(i, i + 1) for i in range(6)])
    assert sorted(seen) == [(i, j) for i in range(6) for j in range(4)]


def test_a_forked_process_starts_its_own_threads():
    set_threads(2)
    run_blocks(lambda first, last: None, [(0, 1), (1, 2)])
    child = os.fork()
    if child == 0:
        met = threading.Barrier(2)  # passed only if there are two threads

        def meet(first: int, last: int) -> None:
            met.wait(10)

        try:
            run_blocks(meet, [(0, 1), (1, 2)])
        except BaseException:
            os._exit(1)
        os._exit(0)
    set_threads(None)
    assert os.waitpid(child, 0)[1] == 0


def test_there_are_never_more_workers_than_requested():
    """For any number of blocks, five threads are four workers and the calling thread."""
    set_threads(5)
    before = threading.active_count()
    met = set()
    for blocks in (2, 3, 4, 5, 20):
        all_there = threading.Barrier(min(blocks, 5))

        def work(first, last, all_there=all_there):
            met.add(threading.get_ident())
            all_there.wait(10)

        run_blocks(work, [(i, i + 1) for i in range(blocks)])
    set_threads(None)
    assert len(met) == 5 and threading.active_count() <= before + 4


@pytest.mark.parametrize("rows", [0, 1, 5, 16])
def test_even_blocks_cover_all_rows(rows):
    blocks = even_blocks(rows, 4)
    assert [row for first, last in blocks for row in range(first, last)] == list(range(rows))
    assert all(last - first <= -(-rows // 4) for first, last in blocks)


def test_run_alongside_waits_for_both(count):
    done = []
    assert run_alongside(lambda: done.append("action"), lambda: "main") == "main"
    assert done == ["action"]


def test_run_alongside_raises_the_exception_of_the_action(count):
    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_alongside(fail, lambda: "main")
