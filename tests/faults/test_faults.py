"""Whether the harness notices what it looks for."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from coclick import open_model
from faults import forks
from faults.artefacts import Target, specs
from faults.commands import commands, tree

TESTS = Path(__file__).resolve().parents[1]


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
    def work(report):
        for n in range(5):
            report({"n": n, "text": "x" * 100_000})

    end = forks.run(work)
    assert end.kind == "done" and [one["n"] for one in end.reports] == list(range(5))


def test_a_fork_is_killed_at_the_moment_asked_for():
    end = forks.start(wait).wait(kill_after=0.2)
    assert end.kind == "killed" and 0.2 <= end.seconds < 5


@pytest.mark.slow
def test_damage_to_each_artefact_of_the_short_form():
    """Nothing that is not allowed happens in one trial on each of its nine artefacts."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "faults", "damage", "--short", "--trials", "9"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("short", [True, False])
def test_commands_take_models_that_can_do_it(short):
    """In the long form the model to add documents to was one that cannot: no kill was ever tried there."""
    targets = [Target(spec, Path(f"model-{i}"), open_model, {}) for i, spec in enumerate(specs(short))]
    by_name = {one.name: one for one in commands(Path("inputs"), targets)}
    [spec] = [target.name for target in targets if target.path.name == by_name["add"].old]
    assert spec == "bm25"


def test_reports_that_differ_in_the_seconds_of_training_are_the_same(tmp_path):
    digests = []
    for number, text in enumerate(
        ('{"seconds":0.044,"x":1}', '{"seconds":0.05,"x":1}', '{"seconds":0.05,"x":2}')
    ):
        (tmp_path / f"{number}.html").write_text(text)
        digests.append(tree(tmp_path / f"{number}.html"))
    assert digests[0] == digests[1] != digests[2]
