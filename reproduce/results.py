"""Stored results: one JSON file for each paper and log, from which the page is rendered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
_DIGITS = 4  # of numbers
_RUN = "run.json"


def write(directory: Path, result: dict[str, Any]) -> None:
    """Write a result; a later one of the same paper and log replaces it."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{result['paper']}-{result['log']}.json"
    text = json.dumps(_rounded(result), ensure_ascii=False, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def read(directory: Path = RESULTS) -> list[dict[str, Any]]:
    """Read all results."""
    paths = sorted(path for path in directory.glob("*.json") if path.name != _RUN)
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def write_run(directory: Path, facts: dict[str, Any]) -> None:
    """Write facts about a complete run: of all papers on all logs."""
    (directory / _RUN).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def read_run(directory: Path = RESULTS) -> dict[str, Any]:
    """Read the facts about the last complete run; empty if there was none."""
    path = directory / _RUN
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def read_notes(directory: Path = RESULTS) -> str:
    """Read what a person noted about the run: a section of the page."""
    notes = directory / "notes.md"
    return notes.read_text(encoding="utf-8") if notes.exists() else ""


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    return value
