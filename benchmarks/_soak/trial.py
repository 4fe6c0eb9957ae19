"""The threads of a soak test, what they have counted, and the first thing that was wrong."""

from __future__ import annotations

import random
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable

from benchmarks._server import Server

RANDOM = random.Random()  # a separate generator: hypothesis sets the seed of the module's


class WrongError(Exception):
    """The server did something wrong."""


class Trial:
    """A server, and threads that repeat their action until the time is over or one finds an error."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.counts: Counter[str] = Counter()
        self.errors: list[str] = []
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []

    @property
    def is_over(self) -> bool:
        """Whether clients should stop."""
        return self._over.is_set()

    def repeat(self, name: str, action: Callable[[], None], pause: float = 0.0) -> None:
        """Start a thread that repeats an action, with seconds of pause in between."""
        thread = threading.Thread(target=self._loop, args=(name, action, pause), name=name)
        self._threads.append(thread)
        thread.start()

    def count(self, what: str, n: int = 1) -> None:
        """Count something that went as it should."""
        self.counts[what] += n

    def wait(self, seconds: float) -> None:
        """Wait, but not longer than the trial lasts."""
        self._over.wait(seconds)

    def stop(self) -> None:
        """Let all threads end."""
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _loop(self, name: str, action: Callable[[], None], pause: float) -> None:
        while not self.is_over:
            try:
                action()
            except WrongError as error:
                self._fail(f"{name}: {error}")
            except Exception:
                self._fail(f"{name}: {traceback.format_exc()}")
            self.wait(pause)

    def _fail(self, error: str) -> None:
        self.errors.append(f"{time.strftime('%H:%M:%S')} {error}")
        self._over.set()
