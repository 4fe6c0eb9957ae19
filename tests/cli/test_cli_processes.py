"""The command line as a process: signals, pipes, terminals, imports."""

import fcntl
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
from typing import Any

import pytest

from coclick import open_model

pytestmark = pytest.mark.slow

COCLICK = [sys.executable, "-m", "coclick"]
LONG = "vpcg(iterations=10000)"  # runs until it is stopped
HEAVY = {"numba", "llvmlite", "scipy", "duckdb"}

# A process that gets Ctrl-C inside the first callback with which LLVM asks for compiled code. These names are
# private to numba and llvmlite: if one is gone, find out how the code is loaded now.
IN_CALLBACK = """
import signal
from numba.core.registry import cpu_target
from coclick import cli

engine = cpu_target.target_context.codegen()._engine._ee
load = engine._object_cache_getbuffer

def interrupted(module):
    engine._object_cache_getbuffer = load
    signal.raise_signal(signal.SIGINT)
    return load(module)

engine._object_cache_getbuffer = interrupted
cli.main()
"""

# A process that gets the signal at its n-th fsync.
SIGNALLED = """
import os, sys
number, at = int(sys.argv.pop(1)), int(sys.argv.pop(1))
fsync, calls = os.fsync, 0
def counting(descriptor):
    global calls
    calls += 1
    if calls == at:
        os.kill(os.getpid(), number)
    fsync(descriptor)
os.fsync = counting
from coclick.cli import main
main()
"""


def files(path):
    return {file.name: file.read_bytes() for file in path.iterdir()}


def on_a_terminal(width):
    """Return (ours, theirs): a terminal of that many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, width, 0, 0))
    return ours, theirs


def read_terminal(ours, until=None):
    """Read what was written to the terminal, to its end or up to a text."""
    seen = b""
    while until is None or until not in seen:
        try:
            block = os.read(ours, 1 << 16)
        except OSError:  # on Linux: the other end is closed
            break
        if not block:
            break
        seen += block
    return seen


@pytest.fixture
def old_model(model, tmp_path):
    return shutil.copytree(model, tmp_path / "model")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_stopped_while_training(start, graph, old_model, number):
    before = files(old_model)
    ours, theirs = on_a_terminal(100)
    process = start("train", LONG, graph, "-o", old_model, "--force", stderr=theirs)
    os.close(theirs)
    read_terminal(ours, b"propagation")
    process.send_signal(number)
    err = read_terminal(ours)
    out, _ = process.communicate(timeout=60)
    os.close(ours)
    assert (process.returncode, out) == ({signal.SIGINT: 130, signal.SIGKILL: -9}[number], b"")
    assert (b"interrupted: no output is left half-written" in err) == (number == signal.SIGINT)
    assert b"Traceback" not in err
    assert files(old_model) == before


@pytest.mark.parametrize("at", [1, 20, 30])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_stopped_while_writing(start, graph, old_model, number, at):
    """Ctrl-C leaves no files; after kill -9 the old model is intact and the next training cleans up."""
    before = files(old_model)
    command = ["train", "vpcg(max_terms=3)", graph, "-o", old_model, "--force"]
    process = start(*command, program=[sys.executable, "-c", SIGNALLED, str(int(number)), str(at)])
    _, err = process.communicate(timeout=100)
    assert process.returncode == {signal.SIGINT: 130, signal.SIGKILL: -9}[number]
    assert b"Traceback" not in err
    if number == signal.SIGINT:
        assert files(old_model) == before
    assert files(old_model).items() >= before.items()
    opened: Any = open_model(old_model)
    assert opened.max_terms == 20
    again = start(*command)
    assert again.communicate(timeout=100) and again.returncode == 0
    opened = open_model(old_model)
    named = {entry["file"] for entry in opened.artefact_.files.values()}
    assert opened.max_terms == 3 and files(old_model).keys() == {"manifest.json", *named}


def test_ctrl_c_while_compiled_code_is_loaded(start, graph, tmp_path):
    """In a callback from LLVM, which crashed the process."""
    process = start(
        "train", "vpcg", graph, "-o", tmp_path / "model", program=[sys.executable, "-c", IN_CALLBACK]
    )
    _, err = process.communicate(timeout=100)
    # If the signal interrupts `exec` of a text, Python ends by that signal; shells show 130 for both.
    assert process.returncode in (130, -signal.SIGINT)
    assert err == b"interrupted: no output is left half-written\n"
    assert not list(tmp_path.iterdir())


def test_an_interrupted_first_training_leaves_no_files(start, graph, tmp_path):
    program = [sys.executable, "-c", SIGNALLED, str(int(signal.SIGINT)), "5"]
    process = start("train", "vpcg", graph, "-o", tmp_path / "model", program=program)
    process.communicate(timeout=100)
    assert process.returncode == 130
    assert not list(tmp_path.iterdir())


def test_full_disk_exits_with_1(start, graph, tmp_path):
    """A file size limit makes the kernel refuse writes, like a full disk."""
    limit = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (256, 256)); "
    program = [sys.executable, "-c", limit + "from coclick.cli import main; main()"]
    process = start("train", "popularity", graph, "-o", tmp_path / "model", program=program)
    out, err = process.communicate(timeout=100)
    assert (process.returncode, out) == (1, b"")
    assert b"nothing was changed" in err and b"Traceback" not in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "command", [["info", "{graph}"], ["explain", "{model}", "hotel", "hotel-0", "--clicks", "0"]]
)
def test_closed_pipe(start, graph, model, command):
    """As in `coclick … | head -0`: no message, no traceback."""
    ours, theirs = os.pipe()
    os.close(ours)
    process = start(*(word.format(graph=graph, model=model) for word in command), stdout=theirs)
    os.close(theirs)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (1, b"")


def test_closed_standard_output(start, model):
    process = start("search", model, "hotel", program=["sh", "-c", 'exec "$@" >&-', "sh", *COCLICK])
    _, err = process.communicate(timeout=60)
    assert err == b""


@pytest.mark.parametrize("width", [40, 120])
@pytest.mark.parametrize("command", ["search", "explain", "expand", "info graph", "info model", "help"])
def test_on_a_terminal(start, graph, model, command, width):
    """Output is coloured, and no line is wider than the terminal."""
    words = {
        "search": ["search", model, "hotel"],
        "explain": ["explain", model, "hotel", "hotel-0"],
        "expand": ["expand", model, "hotel"],
        "info graph": ["info", graph],
        "info model": ["info", model],
        "help": ["search", "--help"],
    }[command]
    ours, theirs = on_a_terminal(width)
    process = start(*words, stdout=theirs, env={"TERM": "xterm-256color", "COLUMNS": "", "NO_COLOR": ""})
    os.close(theirs)
    seen = read_terminal(ours).decode()
    os.close(ours)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert "\x1b[" in seen
    assert max(map(len, re.sub(r"\x1b\[[0-9;]*m", "", seen).splitlines())) <= width


def test_explain_counts_hidden_clicks(run, model):
    shown = run("explain", model, "hotel the cheap", "hotel-0", "--clicks", "1").out
    everything = run("explain", model, "hotel the cheap", "hotel-0", "--clicks", "0").out
    edges = len(re.findall(r"\d clicks  ", everything))
    assert "more;" not in everything
    left_out = sum(int(number) for number in re.findall(r"and (\d+) more;", shown))
    assert 0 < left_out == edges - len(re.findall(r"\d clicks  ", shown))


def test_unwritable_cache_is_a_warning(start, model, tmp_path):
    (tmp_path / "file").write_text("")  # even root cannot make a directory inside a file
    process = start(
        "expand", model, "hotel", "--json", env={"COCLICK_CACHE": str(tmp_path / "file" / "cache")}
    )
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0 and b'"hotel"' in out
    assert err.startswith(b"warning: ") and b"COCLICK_CACHE" in err and err.count(b"\n") == 1


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["--help"], 0),
        (["search", "--help"], 0),
        (["serach"], 2),
        (["search", "{model}", "hotel", "-k", "0"], 2),
        (["info", "nothing"], 2),
        (["search", "nothing", "hotel"], 2),
        (["search", "{graph}", "hotel"], 2),
        (["verify", "nothing"], 2),
        (["train", "vpcg", "{graph}", "-o", "{model}"], 2),
        (["train", "vpcg", "nothing", "-o", "new"], 2),
        (["train", "vpgc", "{graph}", "-o", "new"], 2),
    ],
)
def test_help_and_mistakes_import_nothing_heavy(graph, model, tmp_path, command, code):
    words = [word.format(graph=graph, model=model) for word in command]
    done = subprocess.run(
        [COCLICK[0], "-X", "importtime", *COCLICK[1:], *words], cwd=tmp_path, capture_output=True, text=True
    )
    imported = set(re.findall(r"\| +(\w+)$", done.stderr, re.MULTILINE))
    assert done.returncode == code
    assert "typer" in imported and not imported & HEAVY


@pytest.mark.parametrize(
    ("typed", "completed"),
    [("coclick se", ["search", "serve"]), ("coclick search --al", ["--allow"]), ("coclick dem", [])],
)
def test_tab_completes_commands_and_options(start, typed, completed):
    words = typed.split()
    asked = {"COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1), "_COCLICK_COMPLETE": "complete_bash"}
    named = "import sys; sys.argv = ['coclick']; from coclick.cli import main; main()"
    out, _ = start(env=asked, program=[sys.executable, "-c", named]).communicate(timeout=60)
    assert out.decode().split() == completed
