"""The short form of `make faults`, and whether the harness itself notices what it looks for."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from faults import forks

TESTS = Path(__file__).resolve().parents[1]


@pytest.mark.slow
def test_short_form():
    """Nothing that is not allowed happens in a few trials of each kind."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "faults", "--short"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def crash(report):
    report("before")
    os.kill(os.getpid(), signal.SIGSEGV)


def use_memory(report):
    report("before")
    report(len(np.ones(1 << 31, np.uint8)))


def loop(report):
    report("before")
    while True:
        pass


def wait(report):
    report("before")
    time.sleep(1000)


def fail(report):
    report("before")
    raise ValueError("a bug")


@pytest.mark.parametrize(
    ("work", "kind"),
    [(crash, "crash"), (use_memory, "memory"), (loop, "hang"), (wait, "hang"), (fail, "traceback")],
)
def test_ends_of_forks_are_distinguished(work, kind):
    end = forks.run(work, 0.3)
    assert (end.kind, end.reports) == (kind, ["before"])
    if kind == "traceback":
        assert "a bug" in end.detail


def test_what_a_fork_reports_arrives():
    end = forks.run(lambda report: [report({"n": n, "text": "x" * 100_000}) for n in range(5)])
    assert end.kind == "done" and [one["n"] for one in end.reports] == list(range(5))


def test_a_fork_is_killed_at_the_moment_asked_for():
    end = forks.start(wait).wait(kill_after=0.2)
    assert end.kind == "killed" and 0.2 <= end.seconds < 5
