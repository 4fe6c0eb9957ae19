"""A killed or interrupted build leaves the old graph unchanged, and the next build cleans up."""

import os
import signal
import subprocess
import sys
import time

import duckdb
import pytest

from coclick.graph.click_graph import ClickGraph
from coclick.logs import build

pytestmark = pytest.mark.slow

PROGRAM = """
import sys
from coclick.logs import build
print("ready", flush=True)
build([sys.argv[1]], None, sys.argv[2], force=True, progress=lambda step: print(step, flush=True))
"""


@pytest.fixture(scope="module")
def big_log(tmp_path_factory):
    """A log large enough that a signal arrives in the middle of a step."""
    path = tmp_path_factory.mktemp("big") / "events.parquet"
    duckdb.execute(f"""
        COPY (SELECT 1.7e9::BIGINT + hash(i // 11) % 5000000 AS timestamp,
            'u' || hash(i // 11) % 20000 AS "user",
            'query ' || hash(i // 11 + 1) % 100000 AS query, 'D' || hash(i) % 50000 AS doc,
            CASE WHEN i % 11 = 0 THEN 'click' ELSE 'impression' END AS action, i % 11 AS position
        FROM range(1000000) t(i)) TO '{path}' (FORMAT parquet)""")
    return path


@pytest.fixture
def old_graph(tmp_path):
    small = tmp_path / "small.tsv"
    small.write_text("query\tdoc\tclicks\nshoe\tD1\t3\n")
    return build([small], None, tmp_path / "graph")


def interrupted(log, out, step, number):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(log), str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in process.stdout:
        if line.startswith(step):
            time.sleep(0.1)
            os.kill(process.pid, number)
            break
    process.communicate(timeout=60)
    return process.returncode


@pytest.mark.parametrize("step", ["aggregating", "writing the graph"])
def test_killed(tmp_path, big_log, old_graph, step):
    out = tmp_path / "graph"
    assert interrupted(big_log, out, step, signal.SIGKILL) == -signal.SIGKILL
    assert (tmp_path / ".graph.building").exists()  # a killed process cannot clean up
    again = ClickGraph.open(out)
    assert again.digest == old_graph.digest and list(again.queries) == ["shoe"]
    assert not list(again.artefact.damage())
    rebuilt = build([tmp_path / "small.tsv"], None, out, force=True)
    assert rebuilt.digest == old_graph.digest
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph", "small.tsv"]
    named = {entry["file"] for entry in rebuilt.artefact.files.values()}
    assert {path.name for path in out.iterdir()} == {"manifest.json", *named}


@pytest.mark.parametrize("step", ["reading", "aggregating", "writing the graph"])
def test_interrupted(tmp_path, big_log, old_graph, step):
    out = tmp_path / "graph"
    before = {path.name for path in out.iterdir()}
    assert interrupted(big_log, out, step, signal.SIGINT) != 0
    assert {path.name for path in out.iterdir()} == before
    assert ClickGraph.open(out).digest == old_graph.digest
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph", "small.tsv"]


def test_a_first_build_that_is_killed(tmp_path, big_log):
    out = tmp_path / "graph"
    interrupted(big_log, out, "writing the graph", signal.SIGKILL)
    small = tmp_path / "small.tsv"
    small.write_text("query\tdoc\tclicks\nshoe\tD1\t3\n")
    assert build([small], None, out).clicks.nnz == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph", "small.tsv"]


SPLIT = """
import sys
from coclick.logs import build
build([sys.argv[1]], None, sys.argv[2], force=True)
"""


@pytest.mark.parametrize("name", ["log.json", "latin.tsv", "-"])
def test_interrupted_while_a_file_is_written_anew(tmp_path, old_graph, name):
    """Ctrl-C while temporary files are written: nothing of them is left, and the old graph is as before."""
    source = tmp_path / name
    if name == "log.json":
        source.write_text("[" + '{"query":"shoe","doc":"D1"},\n' * 2_000_000 + "]")
    elif name == "latin.tsv":
        source.write_bytes(b"query\tdoc\n" + "grün\tD1\n".encode("latin-1") * 8_000_000)
    out, spill = tmp_path / "graph", tmp_path / ".graph.building"
    process = subprocess.Popen(
        [sys.executable, "-c", SPLIT, "-" if name == "-" else str(source), str(out)],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    if name == "-":
        process.stdin.write(b"query\tdoc\n" + b"shoe\tD1\n" * 200_000)
        process.stdin.flush()
    while process.poll() is None and not any(file.stat().st_size for file in spill.glob("*.*")):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(timeout=60) != 0
    process.stdin.close()
    assert ClickGraph.open(out).digest == old_graph.digest
    expected = {"graph", "small.tsv", *([] if name == "-" else [name])}
    assert {path.name for path in tmp_path.iterdir()} == expected
