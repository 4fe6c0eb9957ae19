"""Peak memory of a process. `ru_maxrss` would not do: a process inherits it from the one that started it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

_OFTEN = 0.02  # seconds between looks


def peak(process: int | str = "self") -> float:
    """Gigabytes so far; 0 of a process that has ended."""
    found = Path(f"/proc/{process}/status").read_text().partition("VmHWM:")[2].split()
    return int(found[0]) * 1024 / 1e9 if found else 0.0


def peak_of(command: Sequence[str]) -> tuple[float, int]:
    """Run a command: the gigabytes that it had at most, and its exit code."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    most = 0.0
    while child.poll() is None:
        most = max(most, peak(child.pid))
        time.sleep(_OFTEN)
    return most, child.returncode
