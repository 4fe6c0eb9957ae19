"""Places and limits: a full disk, a full or missing TMPDIR, read-only and forbidden directories, few file
descriptors, little memory, a clock that jumps.

Every command that writes is run there. It succeeds, or ends with a clean error and leaves the old output as
it was. Full disks are small file systems in memory. Where this process may not mount them, or the old output
does not fit, a trial is not run, and counted as such.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faults import forks
from faults.artefacts import Target
from faults.commands import Command, Prepared, commands, prepare, reset, state, tree, verified
from faults.damage import Result
from faults.kill import count_steps

ALLOWED = ("succeeded", "clean error", "not run")
CLASSES = (*ALLOWED, "old output lost", "damaged", "traceback", "memory", "hang", "crash")
NOBODY = 65534
_LONGEST = 120.0


@dataclass(frozen=True)
class Place:
    """A condition: what the parent prepares, and what the child does before the command."""

    name: str
    outside: Callable[[Path, random.Random], Any]  # a context manager
    inside: Callable[[Path, random.Random], None]


@contextmanager
def _nothing(folder: Path, chance: random.Random) -> Iterator[None]:
    yield


@contextmanager
def _small_disk(path: Path, size: int) -> Iterator[bool]:
    """Mount a small file system; yields whether that was allowed."""
    options = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=777", "tmpfs", str(path)]
    allowed = os.geteuid() == 0 and subprocess.run(options, capture_output=True, check=False).returncode == 0
    try:
        yield allowed
    finally:
        if allowed:
            subprocess.run(["umount", "--lazy", str(path)], check=False)


def _quiet(folder: Path, chance: random.Random) -> None:
    pass


def _full_file(folder: Path, chance: random.Random) -> None:
    """No file may be larger than a limit: writes fail as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limit = chance.choice((0, 100, 1000, 5000, 20_000))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def _few_files(folder: Path, chance: random.Random) -> None:
    used = max(int(handle.name) for handle in Path("/proc/self/fd").iterdir())
    limit = used + chance.randint(1, 30)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))


def _little_memory(folder: Path, chance: random.Random) -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + (chance.choice((0, 1, 8, 32, 64, 128, 256)) << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _no_threads(folder: Path, chance: random.Random) -> None:
    """No thread can be started. The limit does not hold for root."""
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))


def _as_nobody(folder: Path, chance: random.Random) -> None:
    """Another user, who may not write here: root ignores permissions."""
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def _clock_jumps(folder: Path, chance: random.Random) -> None:
    """The clock of the machine jumps by up to ten years in both directions."""
    real = time.time

    def jumping() -> float:
        return real() + chance.uniform(-3e8, 3e8)

    time.time = jumping
    time.time_ns = lambda: int(jumping() * 1e9)


def _missing_tmp(folder: Path, chance: random.Random) -> None:
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder / "no-such-directory")


PLACES = (
    Place("full disk", _nothing, _quiet),  # mounted by `_trial`: the old output must be on it, too
    Place(
        "full TMPDIR",
        lambda folder, chance: _small_disk(folder / "tmp", chance.choice((4096, 16384))),
        _quiet,
    ),
    Place("missing TMPDIR", _nothing, _missing_tmp),
    Place("limit of file sizes", _nothing, _full_file),
    Place("read-only for this user", _nothing, _as_nobody),
    Place("few file descriptors", _nothing, _few_files),
    Place("little memory", _nothing, _little_memory),
    Place("no more threads", _nothing, _no_threads),
    Place("clock jumps", _nothing, _clock_jumps),
)


def trials(targets: list[Target], folder: Path, n_trials: int, seed: int) -> Iterator[Result]:
    """Run each command in each place in turn."""
    every = commands(folder, targets)
    folder.chmod(0o755)
    where = folder / "place"
    known: dict[str, Prepared] = {}
    for number in range(seed, seed + n_trials):
        chance = random.Random(number)
        one = every[number % len(every)]
        place = PLACES[(number // len(every) + number) % len(PLACES)]
        if one.name not in known:
            known[one.name] = prepare(one, folder, where, count_steps)
        kind, detail = _trial(known[one.name], place, folder, where, chance)
        yield Result(kind, one.name, place.name, "", "", detail, number)


def _trial(
    prepared: Prepared, place: Place, inputs: Path, folder: Path, chance: random.Random
) -> tuple[str, str]:
    if place.name == "full disk":
        folder.mkdir(exist_ok=True)
        with _small_disk(folder, chance.choice((65536, 200_000, 400_000, 700_000))) as mounted:
            return (
                _run(prepared, place, inputs, folder / "disk", chance)
                if mounted
                else ("not run", "no file system may be mounted")
            )
    return _run(prepared, place, inputs, folder, chance)


def _run(
    prepared: Prepared, place: Place, inputs: Path, folder: Path, chance: random.Random
) -> tuple[str, str]:
    one = prepared.command
    try:
        reset(folder, one, inputs, with_old=True)
    except OSError:
        return "not run", "the old output did not fit"
    with place.outside(folder, chance):
        first = None
        if one.old is None and chance.random() < 0.5 and place.name != "full disk":
            first = forks.run(lambda report: _command(one, folder, report), _LONGEST, memory=None)
            if first.kind != "done":
                return "traceback", f"first run: {first.detail}"
        before = tree(folder / one.output)

        def work(report: forks.Report) -> None:
            os.environ["TMPDIR"] = tempfile.tempdir = str(folder / "tmp")
            place.inside(folder, chance)
            _command(one, folder, report)

        end = forks.run(work, _LONGEST, memory=None)
        if end.kind != "done":
            return ("crash" if end.kind == "killed" else end.kind), end.detail
        code, printed = end.reports[-1]
        if "Traceback" in printed:
            return "traceback", printed
        found = state(prepared, folder, before)
        if code and found not in ("old", "absent"):
            return "old output lost", f"{found}: {printed}"
        if code and found == "absent" and before:
            return "old output lost", printed
        if one.verifiable and found != "absent" and (problem := verified(folder / one.output)):
            return "damaged", problem
    return ("clean error" if code else "succeeded"), printed[-300:]


def _command(one: Command, folder: Path, report: forks.Report) -> None:
    report(one.run(folder))
