"""Notice models and suggestions that change on disk, for as long as the service runs.

Whatever goes wrong in a check, the next one follows: the problem is logged, counted, and shown by `/models`
and `/ready`, and the pauses grow up to a minute until a check succeeds.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time

from coclick.errors import counted
from coclick.service.executor import start_pool
from coclick.service.loaded_models import LoadedModel, LoadedModels
from coclick.service.loaded_suggestions import LoadedSuggestions, ServedSuggestions
from coclick.service.metrics import Metrics
from coclick.service.reloading import Retries, problem_of

log = logging.getLogger("coclick.service")

_SLOW = 60.0  # seconds after which a check that still runs is a problem
_KEPT = "changed on disk but cannot be loaded; the old version is still served"


class Watcher:
    """Checks the directories of everything that is served, in a separate thread."""

    def __init__(
        self, models: LoadedModels, suggestions: ServedSuggestions, seconds: float, metrics: Metrics
    ) -> None:
        self._models, self._suggestions, self._metrics = models, suggestions, metrics
        self._seconds = seconds
        self._pool = start_pool(1, "coclick-watch")
        self._retries = Retries()
        self._problem: str | None = None  # of the checks themselves, not of one model
        self._checking_since: float | None = None

    async def run(self) -> None:
        """Check every few seconds, until the task is cancelled."""
        pause = self._seconds
        while True:
            await asyncio.sleep(pause)
            try:
                await self._check()
                pause = self._seconds
            except Exception as error:  # cancelling is no Exception: it ends the watcher
                pause = self._fail(error)
            self._checking_since = None
            with contextlib.suppress(Exception):
                self._metrics.set_problems(len(self.problems()))

    def close(self) -> None:
        """Let the thread end; do not wait for a check that runs."""
        self._pool.shutdown(wait=False)

    def problems(self) -> list[str]:
        """Return what keeps new versions from being served, or nothing."""
        found = [f"{name}: {problem}" for name, problem in self._models.problems()]
        found += [f"{name}: {problem}" for name, problem in self._suggestions.problems()]
        if self._problem:
            found.append(f"changes on disk cannot be noticed: {self._problem}")
        elif (since := self._checking_since) and (seconds := time.monotonic() - since) > _SLOW:
            found.append(f"a check for changes on disk has been running for {seconds:.0f} seconds")
        return found

    def public_problems(self) -> list[str]:
        """Return the same without names, paths and causes, which need the API key."""
        broken = len(self._models.problems()) + len(self._suggestions.problems())
        found = []
        if broken:
            what = counted(broken, "model")
            found.append(
                f"{what} changed on disk and cannot be loaded; the old version is served: see /models"
            )
        if len(self.problems()) > broken:
            found.append("changes on disk are not noticed at present: see /models")
        return found

    async def _check(self) -> None:
        self._checking_since = time.monotonic()
        changed = await asyncio.get_running_loop().run_in_executor(self._pool, self._refresh)
        for loaded in changed:
            if loaded.problem:
                log.warning("%s %s: %s", loaded.name, _KEPT, loaded.problem)
            else:
                log.warning("%s changed on disk and was reloaded", loaded.name)
            self._metrics.model_changed(reloaded=loaded.problem is None)
        if self._problem:
            log.warning("changes on disk are noticed again")
        self._problem = None
        self._retries.succeeded()

    def _refresh(self) -> list[LoadedModel | LoadedSuggestions]:
        """Reload what has changed; runs in the thread."""
        try:
            return [*self._models.refresh(), *self._suggestions.refresh()]
        except Exception:
            raise
        except BaseException as error:  # SystemExit in a task would end the event loop
            raise RuntimeError(problem_of(error)) from error

    def _fail(self, error: Exception) -> float:
        """Report that a check failed; return the seconds until the next one."""
        problem = problem_of(error)
        is_new, self._problem = problem != self._problem, problem
        with contextlib.suppress(Exception):
            self._metrics.check_failed()
            if is_new:
                log.error("changes on disk cannot be noticed: %s", problem, exc_info=error)
        return max(self._seconds, self._retries.failed())
