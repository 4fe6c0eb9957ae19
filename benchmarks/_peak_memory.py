"""Peak memory of a process. `ru_maxrss` is unsuitable: a process inherits it from its parent."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

_POLL_SECONDS = 0.02


def peak(process: int | str = "self") -> float:
    """Return the peak memory in gigabytes; 0 for a process that has ended."""
    found = Path(f"/proc/{process}/status").read_text().partition("VmHWM:")[2].split()
    return int(found[0]) * 1024 / 1e9 if found else 0.0


def peak_of(command: Sequence[str]) -> tuple[float, int]:
    """Run a command and return its peak memory in gigabytes and its exit code."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    highest = 0.0
    while child.poll() is None:
        highest = max(highest, peak(child.pid))
        time.sleep(_POLL_SECONDS)
    return highest, child.returncode
