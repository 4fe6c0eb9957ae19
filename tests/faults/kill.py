"""Kill commands that write, with SIGKILL, at random moments and before random steps.

A step is an operation on files that Python reports to audit hooks: opening for writing, renaming, linking,
removing. Afterwards the output is the old one, the new one, or absent; `verify` passes; and after the next
run no temporary file is left.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from faults import forks
from faults.artefacts import Target
from faults.commands import Prepared, Run, commands, prepare, reset, state, tree, verified
from faults.damage import Result

CLASSES = ("old", "new", "absent", "mixed", "damaged", "left over", "next run failed", "not killed")
ALLOWED = ("old", "new", "absent", "not killed")
_STEPS = (
    "os.rename",
    "os.remove",
    "os.mkdir",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.chmod",
    "os.truncate",
)
_LONGEST = 120.0  # seconds of a run that is not killed


def _watched(run: Run, folder: Path, kill_at: int | None, report: forks.Report) -> None:
    """Run a command with TMPDIR in the folder; count its steps, or kill it before one of them."""
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder / "tmp")
    count = 0

    def hook(event: str, arguments: Any) -> None:
        nonlocal count
        if event in _STEPS or (event == "open" and _writes(arguments)):
            count += 1
            if count == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    code, printed = run(folder)
    report((code, count, printed))


def _writes(arguments: Any) -> bool:
    path, _, flags = arguments
    return isinstance(path, str) and bool((flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def count_steps(run: Run, folder: Path, report: forks.Report) -> None:
    """Run a command to its end, and report its exit code and the number of its steps."""
    _watched(run, folder, None, report)


def trials(targets: list[Target], folder: Path, n_trials: int, seed: int) -> Iterator[Result]:
    """Kill each command in turn, half of the times before a step, else at a random moment."""
    place = folder / "killed"
    every = commands(folder, targets)
    known: dict[str, Prepared] = {}
    for number in range(seed, seed + n_trials):
        chance = random.Random(number)
        one = every[number % len(every)]
        if one.name not in known:
            known[one.name] = prepare(one, folder, place, count_steps)
        kind, how, detail = _trial(known[one.name], folder, place, chance)
        yield Result(kind, one.name, how, "", "", detail, number)


def _trial(prepared: Prepared, inputs: Path, folder: Path, chance: random.Random) -> tuple[str, str, str]:
    one = prepared.command
    reset(folder, one, inputs, with_old=True)
    if one.old is None and chance.random() < 0.7:  # else it is the first run
        end = forks.run(lambda report: _watched(one.run, folder, None, report), _LONGEST, memory=None)
        if end.kind != "done":
            return "next run failed", "first run", end.detail
    before = tree(folder / one.output)
    if chance.random() < 0.5:
        step = chance.randint(1, prepared.steps)
        how = f"killed before step {step} of {prepared.steps}"
        child = forks.start(lambda report: _watched(one.run, folder, step, report), memory=None)
        end = child.wait(_LONGEST)
    else:
        moment = chance.uniform(0, 1.1 * prepared.seconds)
        how = f"killed after {moment:.3f} of {prepared.seconds:.3f} s"
        child = forks.start(lambda report: _watched(one.run, folder, None, report), memory=None)
        end = child.wait(kill_after=moment)
    if end.kind not in ("killed", "done"):
        return "next run failed", how, f"{end.kind} {end.detail}"
    found = state(prepared, folder, before)
    if found == "mixed":
        return found, how, _difference(prepared.new, tree(folder / one.output))
    if one.verifiable and found != "absent" and (problem := verified(folder / one.output)):
        return "damaged", how, problem
    _grow_old(folder)
    again = one.again if one.again and found == "new" else one.run
    last = forks.run(lambda report: _watched(again, folder, None, report), _LONGEST, memory=None)
    if last.kind != "done" or last.reports[-1][0] != 0:
        return "next run failed", how, f"{last.kind} {last.reports} {last.detail}"
    if left := _left_over(prepared, folder):
        return "left over", how, f"left over: {_stable(left)}"
    return ("not killed" if end.kind == "done" else found), how, ""


def _grow_old(folder: Path) -> None:
    """Let temporary files look as if they were a day old: those of the last minute may be in use."""
    yesterday = time.time() - 86_400
    for one in folder.rglob("*"):
        if any(part.startswith(".") or part == "tmp" for part in one.relative_to(folder).parts):
            os.utime(one, (yesterday, yesterday), follow_symlinks=False)


def _left_over(prepared: Prepared, folder: Path) -> list[str]:
    """Files that a run leaves only if an earlier one was killed."""
    output = prepared.command.output
    now = {name for name in tree(folder) if name != output and not name.startswith(f"{output}/")}
    inside = set(tree(folder / output))
    if prepared.command.again is None:
        extra = inside - set(prepared.new)
    else:  # other documents: only what is hidden
        extra = {name for name in inside if name.startswith(".")}
    return sorted(now - prepared.leftovers) + sorted(extra)


def _stable(names: list[str]) -> str:
    """The first names without their random parts, so that equal failures look equal."""
    import re

    return " ".join(sorted({re.sub(r"[0-9a-z_]{8}\b|-?[0-9]+", "*", name) for name in names}))[:200]


def _difference(expected: dict[str, str], found: dict[str, str]) -> str:
    names = sorted(name for name in expected | found if expected.get(name) != found.get(name))
    return f"differs from a new output: {_stable(names)}"
