"""The evaluation report that the leaderboard shows: read from its file, and again when that has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coclick.errors import UserError

_COMMANDS = ("coclick compare GRAPH --html report.html", "coclick serve MODEL --report report.html")


class Report:
    """A file that `coclick compare --html` or `evaluate --html` wrote, or none."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._kept: tuple[int, dict[str, Any]] | None = None  # by the time when it was written

    def read(self) -> dict[str, Any]:
        """The report's figures, or why there are none and the commands that make them."""
        if self._path is None:
            return _none("no report was given to the server")
        from coclick.evaluation.report import (
            read_report,
        )  # with all of evaluation, which a service can do without

        try:
            written = self._path.stat().st_mtime_ns
            if self._kept is None or self._kept[0] != written:
                self._kept = written, read_report(self._path)
            return {"report": self._kept[1]}
        except UserError as error:
            return _none(f"{self._path.name}: {error.what}")
        except (OSError, ValueError) as error:
            return _none(f"{self._path.name} cannot be read: {getattr(error, 'strerror', None) or error}")


def _none(said: str) -> dict[str, Any]:
    return {"report": None, "said": said, "commands": _COMMANDS}
