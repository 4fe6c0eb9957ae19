"""A planted graph and model on disk, and the command line in this or a new process."""

import os
import subprocess
import sys
import warnings
from typing import NamedTuple

import pytest

import planted
from coclick import cli, create

COCLICK = [sys.executable, "-m", "coclick"]


class Answer(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def graph(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "graph"
    planted.graph().save(path)
    return path


@pytest.fixture(scope="session")
def model(graph):
    path = graph.parent / "model"
    create("vpcg(own_weight=0)").fit(planted.graph()).save(path)
    return path


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command line in this process."""
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # replaced by the command line

    def command(*arguments) -> Answer:
        monkeypatch.setattr(sys, "argv", ["coclick", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return Answer(int(end.value.code or 0), *capsys.readouterr())

    return command


@pytest.fixture
def start():
    """Start the command line in a new process, which is killed when the test ends."""
    started = []

    def command(*arguments, program=COCLICK, **options) -> subprocess.Popen:
        environment = {**os.environ, "PYTHONIOENCODING": "utf-8", **options.pop("env", {})}
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        process = subprocess.Popen([*program, *map(str, arguments)], env=environment, **streams)
        started.append(process)
        return process

    yield command
    for process in started:
        process.kill()
        process.communicate()
