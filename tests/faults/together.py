"""Several writers and readers of one artefact at the same time.

A writer succeeds, or says that another process is writing. A reader gets the answer of an artefact that was
there at some time. At the end the artefact is sound and nothing is left over.
"""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from coclick import answers, open_model
from coclick.errors import CoclickError
from faults import forks
from faults.artefacts import Target, command
from faults.commands import tree, verified
from faults.damage import Result

CLASSES = (
    "sound",
    "reader got an error",
    "damaged",
    "left over",
    "wrong answer",
    "traceback",
    "hang",
    "crash",
)
ALLOWED = ("sound",)
_SPECS = ("bm25", "clicks", "cos_words")
_READERS, _WRITERS, _SECONDS = 2, 2, 2.0


def trials(targets: list[Target], folder: Path, n_trials: int, seed: int) -> Iterator[Result]:
    """Let two writers replace a model for two seconds, and two readers ask it."""
    graph, place = folder / "graph", folder / "together"
    allowed: dict[str, str] = {}
    for spec in _SPECS:
        shutil.rmtree(place, ignore_errors=True)
        command("train", spec, graph, "-o", place / "model")
        allowed[spec] = _ask(place / "model")
    expected = set(tree(place))
    for number in range(seed, seed + n_trials):
        shutil.rmtree(place, ignore_errors=True)
        command("train", _SPECS[0], graph, "-o", place / "model")
        kind, detail = _trial(graph, place / "model", set(allowed.values()), number)
        others = {name for name in tree(place) if "-" not in name and name not in expected}
        if kind == "sound" and others:
            kind, detail = "left over", str(others)
        yield Result(kind, "model", "together", "", "", detail, number)


def _ask(path: Path) -> str:
    return repr(answers.search(open_model(path), ["a", "best laptop"], 3))


def _trial(graph: Path, path: Path, allowed: set[str], seed: int) -> tuple[str, str]:
    def write(report: forks.Report) -> None:
        chance = random.Random(f"{seed} {os.getpid()}")
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            code, printed = command("train", chance.choice(_SPECS), graph, "-o", path, "--force")
            if code and "another process is writing" not in printed:
                report(("failed", printed))
            time.sleep(chance.uniform(0, 0.02))

    def read(report: forks.Report) -> None:
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            try:
                found = _ask(path)
                if found not in allowed:
                    report(("wrong answer", found))
            except CoclickError as error:
                report(("reader got an error", str(error)))

    children = [forks.start(work) for work in (*[write] * _WRITERS, *[read] * _READERS)]
    ends = [child.wait(60) for child in children]
    for end in ends:
        if end.kind != "done":
            return ("crash" if end.kind == "killed" else end.kind), end.detail
    reports = [report for end in ends for report in end.reports]
    for kind in ("failed", "wrong answer"):
        for what, detail in reports:
            if what == kind:
                return ("traceback" if kind == "failed" else kind), detail
    if problem := verified(path):
        return "damaged", problem
    return ("reader got an error", reports[0][1]) if reports else ("sound", "")
