"""Where models are asked: in a few threads beside the loop that talks to clients."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from coclick.serve.problems import BusyError

P = ParamSpec("P")
T = TypeVar("T")

_WAITING = 256  # requests; who comes later is told to come again


class Work:
    """Threads for questions to models; kernels release the GIL, and use one thread each."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_cores(), "coclick")
        self._inside = 0

    async def do(self, function: Callable[P, T], *args: P.args, **given: P.kwargs) -> T:
        """Call a function in one of the threads."""
        if self._inside >= _WAITING:
            raise BusyError
        self._inside += 1
        future = self._pool.submit(function, *args, **given)
        future.add_done_callback(self._left)
        return await asyncio.wrap_future(future)

    def _left(self, _: object) -> None:
        self._inside -= 1

    def close(self) -> None:
        """Wait for what is running."""
        self._pool.shutdown()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
