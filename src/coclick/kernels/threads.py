"""Our own pool: kernels that release the GIL, run side by side over blocks of rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

_threads: int | None = None


def set_threads(count: int | None) -> None:
    """Fix how many threads the kernels use; None means every core this process may run on."""
    global _threads
    _threads = count


def threads() -> int:
    """How many threads the kernels use."""
    if _threads:
        return _threads
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def balanced_blocks(indptr: NDArray[np.int64], blocks: int) -> list[tuple[int, int]]:
    """Cut rows into at most `blocks` ranges of about equal work (non-zeros plus rows)."""
    rows = len(indptr) - 1
    work = (indptr - indptr[0]) + np.arange(rows + 1)
    cuts = np.searchsorted(work, np.linspace(0, work[-1], blocks + 1))
    cuts[0], cuts[-1] = 0, rows
    edges = np.unique(cuts)
    return [(int(a), int(b)) for a, b in zip(edges[:-1], edges[1:], strict=True)]


def run_blocks(
    work: Callable[[int, int], None],
    blocks: Iterable[tuple[int, int]],
    done: Callable[[int], None] | None = None,
) -> None:
    """Call `work(first, last)` for every block, `threads()` at a time; `done(rows)` after each.

    Blocks are handed out in order as threads come free, so a block with heavy rows holds up nobody.
    The first exception (Ctrl-C too) stops what has not started and is raised.
    """
    blocks = list(blocks)
    if threads() == 1 or len(blocks) == 1:
        for first, last in blocks:
            work(first, last)
            if done:
                done(last - first)
        return
    with ThreadPoolExecutor(threads()) as pool:
        futures = [pool.submit(work, first, last) for first, last in blocks]
        try:
            for future, (first, last) in zip(futures, blocks, strict=True):
                future.result()
                if done:
                    done(last - first)
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
