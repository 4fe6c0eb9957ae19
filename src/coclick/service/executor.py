"""Call models: fast calls in the event loop, others in threads.

Handing a call to a thread and back costs more than most calls do. So calls that usually take less than two
milliseconds run in the event loop; slower ones, and all batches, run in threads and leave the loop free.
"""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Semaphore
from typing import Any, Protocol, TypeVar

from coclick.errors import ThreadError
from coclick.service.errors import BusyError

T = TypeVar("T")


class Loaded(Protocol):
    """What functions are called with: a model or suggestions."""

    @property
    def model(self) -> Any:
        """The first argument of the functions."""

    @property
    def seconds(self) -> dict[str, float]:
        """The average CPU time by function."""


_MAX_WAITING = 256  # calls; further requests get 503
_FAST = 0.002  # seconds of CPU time
_DECAY = 0.9  # of the moving average of call times


class Executor:
    """Threads for calls to models; kernels release the GIL and use one thread each."""

    def __init__(self) -> None:
        self._pool = start_pool(_cores(), "coclick")
        self._places = Semaphore(_MAX_WAITING)  # taken in the event loop, given back in threads

    async def call(self, loaded: Loaded, function: Callable[..., T], *args: Any) -> T:
        """Call `function(model, *args)`, in the event loop if such calls are fast."""
        if loaded.seconds.get(function.__name__, math.inf) < _FAST:
            return _timed(loaded, function, args)
        return await self.run_in_thread(_timed, loaded, function, args)

    async def call_batch(self, loaded: Loaded, function: Callable[..., T], *args: Any) -> T:
        """Call `function(model, *args)` in a thread: the size of a batch varies."""
        return await self.run_in_thread(function, loaded.model, *args)

    async def run_in_thread(self, function: Callable[..., T], *args: Any) -> T:
        """Call a function in one of the threads."""
        if not self._places.acquire(blocking=False):
            raise BusyError
        try:
            future = self._pool.submit(function, *args)
        except RuntimeError:  # the service is shutting down
            self._places.release()
            raise BusyError from None
        future.add_done_callback(lambda _: self._places.release())
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Wait for running calls."""
        self._pool.shutdown()


def start_pool(size: int, name: str) -> ThreadPoolExecutor:
    """Return a pool whose threads all run already: later, the system might refuse to start one."""
    pool = ThreadPoolExecutor(size, name)
    all_started = Barrier(size)  # a thread that waits here is busy, so the next call starts another one
    try:
        for _ in range(size):
            pool.submit(all_started.wait)
    except RuntimeError as error:
        all_started.abort()
        pool.shutdown(cancel_futures=True)
        raise ThreadError(error) from None
    return pool


def _timed(loaded: Loaded, function: Callable[..., T], args: tuple[Any, ...]) -> T:
    """Call a function and update its average time: CPU time of this thread, without waiting."""
    began = time.thread_time()
    result = function(loaded.model, *args)
    seconds = time.thread_time() - began
    average = loaded.seconds.get(function.__name__, seconds)
    loaded.seconds[function.__name__] = _DECAY * average + (1 - _DECAY) * seconds
    return result


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
