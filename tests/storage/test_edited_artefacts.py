"""Artefacts that were edited, copied or left half-written: what `verify`, `info` and the next writer say."""

import json
import os
import shutil
import signal
import sys
import tempfile
import time

import pytest

import coclick
import planted
from coclick import ClickGraph, train
from coclick.cli import main
from coclick.errors import ArtefactError
from coclick.logs.documents import read_docs
from coclick.models.verify import verify
from coclick.storage.manifest import MANIFEST

DIFFERS = "its content is not what was written (digest differs)"


@pytest.fixture
def built(tmp_path):
    """A graph with rejected rows."""
    (tmp_path / "log.tsv").write_text("query\tdoc\tclicks\nhat\ta\t3\nsock\tb\t2\nshoe\tc\t-1\n")
    coclick.build(tmp_path / "log.tsv", None, tmp_path / "graph", max_rejected=0.9)
    return tmp_path / "graph"


def edit(path, change):
    manifest = json.loads((path / MANIFEST).read_text())
    change(manifest)
    (path / MANIFEST).write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m["stats"].update(rows=10**6),
        lambda m: m.update(coclick="9.9"),
        lambda m: m.update(note="hello"),
        lambda m: m["files"]["clicks.data"].update(note=1),
    ],
)
def test_verify_notices_edits_of_figures(built, change):
    assert verify(built) == []
    edit(built, lambda manifest: manifest.update(files=dict(reversed(manifest["files"].items()))))
    assert verify(built) == [], "the order and the spaces of the JSON do not matter"
    edit(built, change)
    assert verify(built) == [(MANIFEST, DIFFERS)]


def test_verify_covers_the_copy_of_rejected_rows(built, tmp_path):
    assert verify(built) == []
    shutil.copytree(built, tmp_path / "copy")  # no hard link any more
    assert verify(tmp_path / "copy") == []
    (tmp_path / "copy" / "rejects.parquet").write_bytes(b"other rows")
    assert verify(tmp_path / "copy") == [("rejects.parquet", DIFFERS)]
    (tmp_path / "copy" / "rejects.parquet").unlink()
    (tmp_path / "copy" / "rejects.parquet").symlink_to("/dev/zero")
    assert verify(tmp_path / "copy") == [("rejects.parquet", "not a plain file")]


ODD = (7, None, "x", [1], {"a": {"b": 1}}, 10**400, True, [], {}, [[1]])


def paths_of(value, path=()):
    """The places of all values, except those of files and state."""
    if path:
        yield path
    items = (
        value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    )
    for key, one in items:
        if path or key not in ("files", "state"):
            yield from paths_of(one, (*path, key))


@pytest.mark.parametrize("name", ["graph", "vpcg", "clicks + bm25"])
def test_info_on_an_edited_manifest_is_an_answer_or_an_error(tmp_path, capsys, monkeypatch, name):
    graph = planted.graph()
    path = tmp_path / "artefact"
    graph.save(path) if name == "graph" else train(name, graph).save(path)
    sound = json.loads((path / MANIFEST).read_text())
    sound.setdefault("stats", {})["bots"] = {"n_users": 1, "users": [{"user": "u", "rule": "r"}]}
    monkeypatch.setattr(sys, "argv", ["coclick", "info", str(path)])
    for number, place in enumerate(paths_of(sound)):
        manifest = json.loads(json.dumps(sound))
        holder = manifest
        for key in place[:-1]:
            holder = holder[key]
        holder[place[-1]] = ODD[number % len(ODD)]
        (path / MANIFEST).write_text(json.dumps(manifest))
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code in (0, None, 2, 3), place
        assert "Traceback" not in capsys.readouterr().err, place


def test_the_next_add_collects_what_a_killed_one_left(tmp_path, monkeypatch):
    """DuckDB's directory of a killed `coclick add` stayed in the directory for temporary files for ever."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    (tmp_path / "docs.tsv").write_text("doc\ttitle\nx\ta hat\n")
    child = os.fork()
    if child == 0:
        monkeypatch.setattr(
            "coclick.logs.documents.create_reject_tables", lambda _: os.kill(0, signal.SIGKILL)
        )
        os.setpgrp()
        read_docs(tmp_path / "docs.tsv")
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    [left] = (tmp_path / "tmp").iterdir()
    os.utime(left, (time.time() - 3600,) * 2)
    assert read_docs(tmp_path / "docs.tsv").docs == {"x": {"title": "a hat"}}
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_column_of_days_that_is_gone_is_not_split(tmp_path):
    graph = planted.graph().save(tmp_path / "graph").artefact.path
    edit(graph, lambda manifest: manifest["files"].pop("daily.sessions"))
    assert ClickGraph.open(graph).split("time").train.clicks.nnz > 0
    edit(graph, lambda manifest: [manifest["files"].pop(f"pairs.{name}") for name in ("indptr", "docs")])
    with pytest.raises(ArtefactError, match="'pairs' has no"):
        ClickGraph.open(graph)
