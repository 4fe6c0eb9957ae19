"""Run a piece of work in a fork of this process, with limits on time and memory.

The parent has imported and compiled everything, so a fork costs milliseconds. A child reports as it goes:
what it had reported before it was killed is kept. Time is processor time, so that results do not depend on
what else the machine does; a child that waits, for a pipe or a lock, without using any, hangs too.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import pickle
import resource
import select
import signal
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SECONDS = 10.0  # of processor time, and of waiting without using any
MEMORY = 1 << 30  # bytes beyond what the parent has
_CHUNK = 1 << 16
_POLL = 0.1  # seconds

Report = Callable[[Any], None]
Work = Callable[[Report], None]


@dataclass
class End:
    """How a child ended, and what it had reported before."""

    kind: str  # "done", "traceback", "memory", "hang", "killed" or "crash"
    reports: list[Any] = field(default_factory=list)
    detail: str = ""
    seconds: float = 0.0


@dataclass
class Child:
    """A running fork."""

    pid: int
    pipe: int
    errors: Path
    started: float

    def wait(self, seconds: float = SECONDS, *, kill_after: float | None = None) -> End:
        """Wait for the end; `kill_after` kills it after that time, as a test does, not because it hangs."""
        content, in_time = self._read(seconds, kill_after)
        if not in_time:
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except ProcessLookupError:  # it has no group yet
                os.kill(self.pid, signal.SIGKILL)
        os.close(self.pipe)
        _, status = os.waitpid(self.pid, 0)
        took = time.monotonic() - self.started
        reports = list(_unpickle(content))
        detail = self.errors.read_text(errors="replace")[-4000:]
        self.errors.unlink()
        if not in_time:
            return End("hang" if kill_after is None else "killed", reports, detail, took)
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            kind = "killed" if number == signal.SIGKILL else "crash"
            return End(kind, reports, f"{signal.Signals(number).name}\n{detail}", took)
        kind = {0: "done", 3: "memory"}.get(os.WEXITSTATUS(status), "traceback")
        return End(kind, reports, detail, took)

    def _read(self, seconds: float, kill_after: float | None) -> tuple[bytes, bool]:
        """Read until the child closes the pipe: what it wrote, and whether that was in time."""
        content, used, waited_since = b"", 0.0, time.monotonic()
        ready = select.poll()  # `select.select` takes no file descriptor above 1023
        ready.register(self.pipe, select.POLLIN)
        while True:
            now = time.monotonic()
            left = _POLL if kill_after is None else min(_POLL, self.started + kill_after - now)
            if left <= 0:
                return content, False
            if ready.poll(1000 * left):
                block = os.read(self.pipe, _CHUNK)
                if not block:
                    return content, True
                content += block
                continue
            state, total = _processor_time(self.pid)
            if total > used or state == "R":
                used, waited_since = total, now
            if used > seconds or now - waited_since > seconds:
                return content, False


def _processor_time(pid: int) -> tuple[str, float]:
    """The state of a process ("R" if it runs or could run) and the seconds of processor time it has used."""
    fields = _stat(Path(f"/proc/{pid}"))
    states = {_stat(task)[0] for task in Path(f"/proc/{pid}/task").iterdir()}
    used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return "R" if "R" in states or "D" in states else fields[0], used


def _stat(task: Path) -> list[str]:
    """The fields of `stat` from the state on; those of a thread that has just ended count as running."""
    try:
        return (task / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ["R", *["0"] * 20]


def start(work: Work, *, memory: int | None = MEMORY, limits: dict[int, int] | None = None) -> Child:
    """Start `work(report)` in a fork; `limits` are further limits of `resource.setrlimit`."""
    handle, errors = tempfile.mkstemp(prefix="faults-")
    read, write = os.pipe()
    started = time.monotonic()
    pid = os.fork()
    if pid:
        os.close(write)
        os.close(handle)
        return Child(pid, read, Path(errors), started)
    status = 1
    try:
        gc.disable()  # it would touch, and so copy, every object of the parent
        os.setsid()
        os.close(read)
        for number, target in ((os.open(os.devnull, os.O_RDWR), 0), (handle, 1), (handle, 2)):
            os.dup2(number, target)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory is not None:
            limit = _address_space() + memory
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        for name, value in (limits or {}).items():
            resource.setrlimit(name, (value, value))
        faulthandler.enable()
        work(lambda value: _write_all(write, pickle.dumps(value)))
        status = 0
    except MemoryError:
        status = 3
        os.write(2, traceback.format_exc().encode())
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(status)


def run(work: Work, seconds: float = SECONDS, *, memory: int | None = MEMORY) -> End:
    """Run `work(report)` in a fork, and wait for its end."""
    return start(work, memory=memory).wait(seconds)


def _address_space() -> int:
    """The virtual memory of this process in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _write_all(handle: int, content: bytes) -> None:
    framed = len(content).to_bytes(8, "little") + content
    while framed:
        framed = framed[os.write(handle, framed) :]


def _unpickle(content: bytes) -> list[Any]:
    """The reports of a child; one that was cut off is left out."""
    found, place = [], 0
    while place + 8 <= len(content):
        length = int.from_bytes(content[place : place + 8], "little")
        if place + 8 + length > len(content):
            break
        found.append(pickle.loads(content[place + 8 : place + 8 + length]))
        place += 8 + length
    return found
