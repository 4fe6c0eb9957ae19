"""A system that refuses to start threads: a sentence instead of a traceback."""

import subprocess
import sys

import pytest

import planted
from coclick import train

REFUSED = """
import sys, threading
def refuse(*_):
    raise RuntimeError("can't start new thread")
threading.Thread.start = refuse
sys.argv = ["coclick", *sys.argv[1:]]
from coclick.cli import main
main()
"""


def without_threads(*arguments):
    command = [sys.executable, "-c", REFUSED, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    home = tmp_path_factory.mktemp("no-threads")
    train("popularity", planted.graph()).save(home / "model")
    (home / "log.tsv").write_text("query\tdoc\tclicks\npizza\td1\t3\nflu\td2\t2\n")
    return home


@pytest.mark.parametrize(
    "arguments",
    [["serve", "{}/model", "--port", "0"], ["build", "{}/log.tsv", "-o", "{}/graph"]],
    ids=lambda arguments: arguments[0],
)
def test_no_thread_can_be_started(place, arguments):
    done = without_threads(*(one.format(place) for one in arguments))
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "error: no thread can be started: can't start new thread\n" in done.stderr
    assert "ulimit -u" in done.stderr
