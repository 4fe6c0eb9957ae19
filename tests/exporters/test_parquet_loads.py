"""Parquet files by pyarrow or DuckDB: loaded twice, killed, a newer version, increments, the way back."""

import importlib.util
import json
import signal
import subprocess
import sys

import duckdb
import numpy as np
import polars
import pytest

import coclick.exporters
from coclick import ClickGraph, create
from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings
from coclick.exporters.parquet_files import write_table
from exporters.small_exports import NASTY_ID, NASTY_TITLE, run, run_py

NASTY = {NASTY_ID: f"{NASTY_TITLE} lamp", "größe 文字": "ünï lamp"}
VERSIONS = {
    "first": {"d1": "red lamp", "d2": "blue lamp", "d3": "green lamp", **NASTY},
    "second": {"d1": "red lamp", "d2": "blue sky lamp", "d4": "white lamp", **NASTY},
    "third": {"d1": "red lamp", "d3": "green lamp", "d4": "white lamp", **NASTY},
}


@pytest.fixture(params=["pyarrow", "duckdb"])
def writer(request, monkeypatch):
    """Write with pyarrow, or as if it were not installed."""
    if request.param == "duckdb":
        find = importlib.util.find_spec
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name: None if name == "pyarrow" else find(name)
        )
    return request.param


TEXTS = ["a", 'it\'s "q" \\ \x00', "größe 文字 🙂"]
WORDS = ["größe", "b'", 'c"', "never used", "e"]
ENTRIES = [{"e": 0.5, "b'": 1e-30}, {"größe": 3.4e38}, {"e": -0.1, 'c"': 1 / 3}]


def rows_of(entries, words):
    """Sparse rows of entries that are given by word."""
    columns = [words.index(word) for row in entries for word in row]
    weights = [weight for row in entries for weight in row.values()]
    ends = np.cumsum([0, *map(len, entries)])
    return Csr(ends, np.array(columns, np.int32), np.array(weights, np.float32), len(words))


def read(path):
    """The rows, as two other programs read them."""
    found = duckdb.sql(f"FROM '{path}'").fetchall()
    assert polars.read_parquet(path).rows() == found
    return found


def test_tables_read_back(writer, tmp_path):
    texts = Strings.from_list(TEXTS)
    write_table(tmp_path / "x.parquet", {"doc": texts}, rows_of(ENTRIES, WORDS), Strings.from_list(WORDS))
    assert read(tmp_path / "x.parquet") == [
        (doc, [*row], [float(np.float32(weight)) for weight in row.values()])
        for doc, row in zip(TEXTS, ENTRIES, strict=True)
    ]
    dense = np.array([[1, 0, -2.5], [0.1, 1e-30, 7], [1 / 3, 2, 3]], np.float32)
    vectors = Csr(np.array([0, 3, 6, 9]), np.tile(np.arange(3, dtype=np.int32), 3), dense.ravel(), 3)
    write_table(tmp_path / "y.parquet", {"doc": texts, "title": texts}, vectors)
    assert read(tmp_path / "y.parquet") == [
        (doc, doc, row) for doc, row in zip(TEXTS, dense.tolist(), strict=True)
    ]
    write_table(tmp_path / "z.parquet", {"doc": texts})
    assert read(tmp_path / "z.parquet") == [(doc,) for doc in TEXTS]


def test_empty_tables_have_their_columns(writer, tmp_path):
    nothing = Strings.from_list([])
    write_table(tmp_path / "x.parquet", {"doc": nothing}, Csr.empty(0, 5), Strings.from_list(WORDS))
    types = duckdb.sql(f"DESCRIBE FROM '{tmp_path}/x.parquet'").fetchall()
    assert [row[:2] for row in types] == [("doc", "VARCHAR"), ("words", "VARCHAR[]"), ("weights", "FLOAT[]")]
    assert read(tmp_path / "x.parquet") == []


def test_files_of_many_documents(monkeypatch, tmp_path):
    monkeypatch.setattr("coclick.exporters.parquet._FILE_ROWS", 3)
    monkeypatch.setattr("coclick.exporters.model_vectors._MAX_DOCS", 2)
    monkeypatch.setattr("coclick.exporters.changes._MIN_BLOCK", 2)
    docs = {f"d{i:02}": f"word{i} lamp" for i in range(11)}
    model = create("vsm(tokenizer=words)").fit(ClickGraph.from_clicks([("lamp", "d01", 1.0)], docs))
    coclick.exporters.export(model, "parquet", tmp_path / "out")
    files = sorted((tmp_path / "out").glob("documents-*.parquet"))
    assert [path.name for path in files] == [f"documents-0000{i}.parquet" for i in range(3)]
    assert {doc: title for path in files for doc, title, *_ in read(path)} == docs


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    """Whole exports of all versions, and increments between neighbours; idf is the same in all of them."""
    path, base = tmp_path_factory.mktemp("parquet"), None
    for name, docs in VERSIONS.items():
        graph = ClickGraph.from_clicks([("lamp", "d1", 1.0), (f"{name} lamp", "d1", 1.0)], docs)
        model = create("vsm(tokenizer=words)").fit(graph)
        coclick.exporters.export(model, "parquet", path / name)
        if base:
            coclick.exporters.export(model, "parquet", path / f"{name}-changes", changes_from=base)
        base = path / name
    return path


def load(exports, name, place, command="load"):
    run("parquet_versions", command, place, exports / name)


def content(place):
    """All rows of documents and queries, sorted."""
    names = ("documents-*", "queries")
    return [sorted(duckdb.sql(f"FROM '{place}/{name}.parquet'").fetchall()) for name in names]


def titles(place):
    return {doc: title for doc, title, *_ in content(place / "current")[0]}


def version_of(folder):
    return json.loads((folder / "manifest.json").read_text())["version"]


def test_load_twice_replace_roll_back_remove(exports, tmp_path):
    for name in ("first", "second"):
        for _ in range(2):
            load(exports, name, tmp_path)
            assert titles(tmp_path) == VERSIONS[name]
    load(exports, "second", tmp_path, "check")
    with pytest.raises(SystemExit, match="not as expected"):
        load(exports, "first", tmp_path, "check")
    for _ in range(2):
        load(exports, "second", tmp_path, "rollback")
        assert titles(tmp_path) == VERSIONS["first"]
    with pytest.raises(SystemExit, match="no version before"):
        load(exports, "first", tmp_path, "rollback")
    for name in ("second", "third"):
        load(exports, name, tmp_path)
    kept = sorted(path.name for path in (tmp_path / "versions").iterdir())
    assert kept == sorted(version_of(exports / name) for name in ("second", "third"))
    for _ in range(2):
        load(exports, "third", tmp_path, "remove")
    assert not list(tmp_path.iterdir())


def test_increments_lead_to_the_same_content_as_whole_exports(exports, tmp_path):
    load(exports, "first", tmp_path)
    for name, before in (("second", "first"), ("third", "second")):
        for _ in range(2):
            load(exports, f"{name}-changes", tmp_path)
            assert content(tmp_path / "current") == content(exports / name)
        load(exports, name, tmp_path, "check")
        load(exports, f"{name}-changes", tmp_path, "rollback")
        assert content(tmp_path / "current") == content(exports / before)
        load(exports, f"{name}-changes", tmp_path)


def test_files_without_changes_are_linked(exports, tmp_path):
    load(exports, "first", tmp_path)
    version = tmp_path / "versions" / version_of(exports / "first")
    unrelated = version / "documents-00007.parquet"
    duckdb.sql(f"COPY (SELECT * REPLACE ('d0' AS doc) FROM '{version}/documents-00000.parquet' LIMIT 1) "
               f"TO '{unrelated}' (FORMAT parquet)")  # fmt: skip
    with pytest.raises(SystemExit, match="6 documents instead of 5"):
        load(exports, "second-changes", tmp_path)
    part = tmp_path / "versions" / f".part-{version_of(exports / 'second')}"
    assert (part / unrelated.name).samefile(unrelated)
    assert (part / "documents-00008.parquet").exists()
    assert titles(tmp_path).keys() == {*VERSIONS["first"], "d0"}  # the version before is the current one


KILLED = """
import os, signal, sys
from pathlib import Path
from coclick.exporters.programs import folder_versions, parquet_versions
from coclick.exporters.programs.engine import run_command
module, name, folder, place = sys.argv[1:]
setattr(globals()[module], name, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
run_command(parquet_versions.COMMANDS, "load", Path(place), Path(folder))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "killed_in"), [("parquet_versions", "_copy_others"), ("folder_versions", "_point_to")]
)
def test_a_killed_load_leaves_the_version_before_and_can_run_again(exports, module, killed_in, tmp_path):
    load(exports, "first", tmp_path)
    command = [sys.executable, "-c", KILLED, module, killed_in, exports / "second-changes", tmp_path]
    assert subprocess.run(command).returncode == -signal.SIGKILL
    assert titles(tmp_path) == VERSIONS["first"]
    load(exports, "second-changes", tmp_path)
    assert titles(tmp_path) == VERSIONS["second"]


def test_an_increment_is_refused_on_another_version(exports, tmp_path):
    load(exports, "first", tmp_path)
    first, second = (version_of(exports / name) for name in ("first", "second"))
    with pytest.raises(SystemExit, match=f"changes version {second}, but the loaded version is {first}"):
        load(exports, "third-changes", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["words", "dense"])
def test_as_a_program(kind, request, tmp_path):
    folder = tmp_path / "out"
    coclick.exporters.export(request.getfixturevalue(kind), "parquet", folder)
    for place, command in ((folder, "check"), (tmp_path / "place", "load"), (tmp_path / "place", "check")):
        done = run_py(folder, place, command)
        assert done.returncode == 0, done.stderr
    assert "10 sample queries have the expected results" in done.stdout
    assert run_py(folder).stderr.startswith("usage")
    assert "run load first" in run_py(folder, tmp_path, "check").stderr
