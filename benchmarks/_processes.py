"""CPU time and memory of a process and its descendants, from /proc."""

from __future__ import annotations

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PARENT, _TIMES = 1, slice(11, 15)  # fields of /proc/PID/stat after the name


def processor_seconds(root: int) -> float:
    """Return the CPU time on all cores, including finished children."""
    return sum(sum(map(int, fields[_TIMES])) for fields in _tree(root).values()) / _TICKS


def memory_bytes(root: int) -> int:
    """Return the current memory of all processes; shared pages count once."""
    total = 0
    for process in _tree(root):
        try:
            rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
            total += 1024 * int(rollup.partition("\nPss:")[2].split()[0])
        except (OSError, IndexError):  # the process has ended
            continue
    return total


def _tree(root: int) -> dict[int, list[str]]:
    """The stat fields of a process and its descendants."""
    every: dict[int, list[str]] = {}
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            every[int(directory.name)] = (directory / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
    children: dict[int, list[int]] = {}
    for process, fields in every.items():
        children.setdefault(int(fields[_PARENT]), []).append(process)
    found, waiting = {}, [root]
    while waiting:
        process = waiting.pop()
        if process in every:
            found[process] = every[process]
            waiting += children.get(process, [])
    return found
