"""The evaluation report for the leaderboard, reloaded when its file changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coclick.errors import UserError

_COMMANDS = ("coclick compare GRAPH --html report.html", "coclick serve MODEL --report report.html")


class Report:
    """A report of `coclick compare --html` or `evaluate --html`, or none."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._cached: tuple[int, dict[str, Any]] | None = None  # with the modification time of the file

    def read(self) -> dict[str, Any]:
        """Return the report, or why there is none and the commands that make one."""
        if self._path is None:
            return _no_report("no report was given to the server")
        # here: it imports all of evaluation, which the service does not need otherwise
        from coclick.evaluation.report import read_report

        try:
            modified = self._path.stat().st_mtime_ns
            if self._cached is None or self._cached[0] != modified:
                self._cached = modified, read_report(self._path)
            return {"report": self._cached[1]}
        except UserError as error:
            return _no_report(f"{self._path.name}: {error.what}")
        except (OSError, ValueError) as error:
            return _no_report(
                f"{self._path.name} cannot be read: {getattr(error, 'strerror', None) or error}"
            )


def _no_report(reason: str) -> dict[str, Any]:
    return {"report": None, "reason": reason, "commands": _COMMANDS}
