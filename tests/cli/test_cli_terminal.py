"""Text from logs, documents and manifests cannot control the terminal that shows it."""

import json
import os
import subprocess
import sys

import pytest

from coclick import build, create

ESCAPE, OVERRIDE = "\x1b]0;owned\x07\x1b[2J\x9b1m", "\u202egpj.exe\u2066"
HOSTILE = f"shoe{ESCAPE} {OVERRIDE}"
ALLOWED = {"\n", "\t"}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A graph and a model in which queries, ids, titles and names of files are hostile."""
    place = tmp_path_factory.mktemp("hostile")
    log, docs = place / f"log{OVERRIDE}\x1b[31m.tsv", place / "docs.tsv"
    rows = [f"{HOSTILE} {i}\td{ESCAPE}{i % 2}\t{i + 1}" for i in range(4)] + [
        "x\ty\tnot\x1b[2J\u202ea number"
    ]
    log.write_text("query\tdoc\tclicks\n" + "\n".join(rows) + "\n")
    docs.write_text("doc\ttitle\n" + "".join(f"d{ESCAPE}{i}\tred {HOSTILE} {i}\n" for i in range(2)))
    graph = build([log], docs, place / "graph", max_rejected=1)
    create("bm25").fit(graph).save(place / "model")
    return place


def controls(text):
    """Characters that a terminal obeys, found by category and not by our list."""
    import unicodedata

    kept = {"\u200c", "\u200d"}  # joiners are part of words and of emoji
    return {one for one in text if unicodedata.category(one) in ("Cc", "Cf", "Cs")} - ALLOWED - kept


@pytest.mark.parametrize(
    "words",
    [
        "info graph", "info model", "rejects graph", f"search model {HOSTILE}", "search model red",
        "similar model x", "expand model red", "vectors model red", f"explain model red d{ESCAPE}0",
        "verify graph", f"check {HOSTILE}", f"build log{OVERRIDE}\x1b[31m.tsv -o again --max-rejected 100%",
        f"train {HOSTILE} graph -o other", f"search {HOSTILE} red", f"search model red -k {HOSTILE}",
        f"search model red --{HOSTILE}", f"{HOSTILE} model", f"models {HOSTILE}",
    ],
)  # fmt: skip
def test_nothing_printed_controls_the_terminal(run, trained, monkeypatch, words):
    monkeypatch.chdir(trained)
    answer = run(*words.replace(HOSTILE, "\0").replace(" ", "\n").replace("\0", HOSTILE).split("\n"))
    assert answer.out + answer.err
    assert not controls(answer.out + answer.err)


@pytest.mark.parametrize("command", ["info", "search"])
def test_json_keeps_the_values(run, trained, command):
    answer = run(command, trained / "model", *["red"][: command == "search"], "--json")
    assert not controls(answer.out)
    if command == "search":
        assert {hit["doc"] for hit in json.loads(answer.out)["results"]} == {f"d{ESCAPE}0", f"d{ESCAPE}1"}


@pytest.mark.parametrize("key", ["coclick", "kind", "format"])
def test_manifests(run, trained, tmp_path, key):
    manifest = json.loads((trained / "graph" / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | {key: HOSTILE}))
    answer = run("info", tmp_path)
    assert answer.out + answer.err
    assert not controls(answer.out + answer.err)


@pytest.mark.parametrize("name", ["grün", "日本"])
def test_names_of_files_are_utf8_in_every_locale(tmp_path, name):
    """In the C locale Python decodes names as ASCII, and DuckDB fails on what results."""
    (tmp_path / f"{name}.tsv").write_text("query\tdoc\tclicks\nschön\tD1\t3\n", encoding="utf-8")
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-m", "coclick", "build", f"{name}.tsv", "-o", f"{name}-graph"]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | plain, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert f"{name}.tsv".encode("ascii", "replace") in done.stdout  # in the encoding of the terminal
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([f"{name}.tsv", f"{name}-graph"])


def test_where_python_refuses_utf8_the_program_starts_once(tmp_path):
    """`-X utf8=0` wins over the environment: starting again and again would never end."""
    command = [sys.executable, "-X", "utf8=0", "-m", "coclick", "--version"]
    done = subprocess.run(command, env=os.environ | {"LC_ALL": "C"}, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_name_that_is_not_utf8_is_refused(tmp_path):
    (tmp_path / "log.tsv").write_text("query\tdoc\tclicks\nschön\tD1\t3\n", encoding="utf-8")
    command = [sys.executable, "-m", "coclick", "build", "log.tsv", "-o", os.fsdecode(b"caf\xe9")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and "the name of the output is not valid UTF-8" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["log.tsv"]
