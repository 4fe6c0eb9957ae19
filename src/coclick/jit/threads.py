"""The thread pool: kernels that release the GIL run in parallel over blocks of rows."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError, check_whole

T = TypeVar("T")

MAX_THREADS = 1024
_threads: int | None = None


def set_threads(count: int | None) -> None:
    """Set how many threads the kernels use; None means every core this process may run on."""
    global _threads
    _threads = None if count is None else check_threads(count)


def check_threads(count: int) -> int:
    """Return a number of threads; raise if it is none, or if so many would exhaust the machine."""
    if check_whole(count, "threads", 1) > MAX_THREADS:
        raise UserError(f"threads must be a whole number from 1 to {MAX_THREADS:,}, not {count:,}")
    return count


def threads() -> int:
    """Return how many threads the kernels use."""
    if _threads:
        return _threads
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def balanced_blocks(indptr: NDArray[np.int64], blocks: int) -> list[tuple[int, int]]:
    """Split rows into at most `blocks` ranges of about equal work (non-zeros plus rows)."""
    rows = len(indptr) - 1
    if blocks == 1 or rows < 2:  # the common case of one query: nothing to split
        return [(0, rows)] if rows else []
    wanted = np.linspace(0, indptr[-1] - indptr[0] + rows, blocks + 1)
    cuts, above = np.zeros(blocks + 1, np.int64), np.full(blocks + 1, rows)
    while np.any(cuts < above):  # bisection: the cumulative work ascends
        middle = (cuts + above) // 2
        too_little = indptr[middle] - indptr[0] + middle < wanted
        cuts, above = np.where(too_little, middle + 1, cuts), np.where(too_little, above, middle)
    cuts[0], cuts[-1] = 0, rows
    edges = np.unique(cuts)
    return [(int(a), int(b)) for a, b in zip(edges[:-1], edges[1:], strict=True)]


def even_blocks(rows: int, blocks: int) -> list[tuple[int, int]]:
    """Split rows of equal work into at most `blocks` ranges."""
    cuts = [rows * block // blocks for block in range(blocks + 1)]
    return [(first, last) for first, last in pairwise(cuts) if first < last]


def run_blocks(
    work: Callable[[int, int], None],
    blocks: Iterable[tuple[int, int]],
    done: Callable[[int], None] | None = None,
) -> None:
    """Call `work(first, last)` for every block, `threads()` at a time, and report progress to `done(rows)`.

    Blocks are handed out in order as threads become free, so a slow block does not delay the others. The
    calling thread works too, and only it calls `done`. The first exception (Ctrl-C too) cancels the blocks
    that have not started and is raised.
    """
    waiting = deque(blocks)
    finished: deque[int] = deque()

    def next_block() -> bool:
        try:
            first, last = waiting.popleft()
        except IndexError:
            return False
        try:
            work(first, last)
        except BaseException:
            waiting.clear()
            raise
        finished.append(last - first)
        return True

    def help_out() -> None:
        while next_block():
            pass

    def report() -> None:
        while done and finished:
            done(finished.popleft())

    count = min(threads(), len(waiting)) - 1
    helpers = [_pool(threads() - 1).submit(help_out) for _ in range(count)]
    try:
        while next_block():
            report()
    finally:
        waiting.clear()
        helpers = [helper for helper in helpers if not helper.cancel()]
        wait(helpers)
    for helper in helpers:
        helper.result()
    report()


def run_alongside(action: Callable[[], None], main: Callable[[], T]) -> T:
    """Return the result of `main`, run in this thread while another thread, if allowed, runs `action`.

    Put the work that needs much memory into `main`: other threads cannot reuse what this one has freed.
    """
    if threads() == 1:
        action()
        return main()
    future = _pool(threads() - 1).submit(action)
    try:
        return main()
    finally:
        future.result()


@cache
def _pool(size: int) -> ThreadPoolExecutor:
    """A pool that lives as long as the process: starting threads takes longer than many kernels."""
    return ThreadPoolExecutor(size)


os.register_at_fork(after_in_child=_pool.cache_clear)  # threads are not inherited
