"""Where models are asked: quick questions at once, others in threads beside the loop that talks to clients.

To hand a question to a thread and back costs more than most questions do. So what a model answers within
two milliseconds is asked right in the loop; anything slower, and all batches, leave the loop free.
"""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from coclick.service.errors import BusyError
from coclick.service.loaded_models import Served

T = TypeVar("T")

_WAITING = 256  # requests; who comes later is told to come again
_QUICK = 0.002  # seconds of computing
_MEMORY = 0.9  # the weight of the past in what a question usually costs


class Work:
    """Threads for questions to models; kernels release the GIL, and use one thread each."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_cores(), "coclick")
        self._inside = 0

    async def ask(self, served: Served, question: Callable[..., T], *args: Any) -> T:
        """Ask a model once: `question(model, *args)`."""
        if served.seconds.get(question.__name__, math.inf) < _QUICK:
            return _timed(served, question, args)
        return await self.elsewhere(_timed, served, question, args)

    async def ask_several(self, served: Served, question: Callable[..., T], *args: Any) -> T:
        """The same where one cannot tell beforehand how much is asked."""
        return await self.elsewhere(question, served.model, *args)

    async def elsewhere(self, function: Callable[..., T], *args: Any) -> T:
        """Call a function in one of the threads."""
        if self._inside >= _WAITING:
            raise BusyError
        self._inside += 1
        future = self._pool.submit(function, *args)
        future.add_done_callback(self._left)
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Wait for what is running."""
        self._pool.shutdown()

    def _left(self, _: object) -> None:
        self._inside -= 1


def _timed(served: Served, question: Callable[..., T], args: tuple[Any, ...]) -> T:
    """Ask, and learn what such questions cost: the time of this thread's computing, not of its waiting."""
    began = time.thread_time()
    answer = question(served.model, *args)
    took = time.thread_time() - began
    before = served.seconds.get(question.__name__, took)
    served.seconds[question.__name__] = _MEMORY * before + (1 - _MEMORY) * took
    return answer


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
