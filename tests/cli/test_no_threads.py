"""A system that refuses to start threads: a sentence instead of a traceback."""

import subprocess
import sys

import pytest

import planted
from coclick import train

COMMAND = """
sys.argv = ["coclick", *sys.argv[1:]]
from coclick.cli import main
main()
"""
PATCHED = """
import sys, threading
def refuse(*_):
    raise RuntimeError("can't start new thread")
threading.Thread.start = refuse
"""
# The limit does not hold for root: another user, whose files are still those of root.
LIMITED = """
import ctypes, os, resource, sys
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
if os.geteuid() == 0:
    os.setresuid(23456, 23456, 0)
    ctypes.CDLL(None).setfsuid(0)
"""


def without_threads(start, *arguments):
    command = [sys.executable, "-c", start + COMMAND, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    home = tmp_path_factory.mktemp("no-threads")
    train("popularity", planted.graph()).save(home / "model")
    (home / "log.tsv").write_text("query\tdoc\tclicks\npizza\td1\t3\nflu\td2\t2\n")
    return home


def check(done):
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "error: no thread can be started: can't start new thread\n" in done.stderr
    assert "ulimit -u" in done.stderr


def test_commands(place):
    check(without_threads(PATCHED, "build", place / "log.tsv", "-o", place / "graph"))


@pytest.mark.parametrize("start", [PATCHED, *([LIMITED] if sys.platform == "linux" else [])])
def test_the_service(place, start):
    check(without_threads(start, "serve", place / "model", "--port", "0"))
