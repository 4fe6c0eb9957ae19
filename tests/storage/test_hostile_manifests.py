"""Manifests and files that a stranger may send: pipes, devices, links, endless and huge content."""

import json
import os
import resource
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import planted
from coclick import ClickGraph
from coclick.errors import ArtefactError, CoclickError
from coclick.models.verify import verify
from coclick.storage import manifest as manifests
from coclick.storage.artefact import Artefact, writing
from coclick.storage.manifest import MANIFEST

MEMORY = 2_000_000_000  # address space of a process that opens a hostile artefact
SECONDS = 20


@pytest.fixture
def graph(tmp_path):
    return planted.graph().save(tmp_path / "graph").artefact.path


@pytest.fixture
def time_limit():
    """An open that waits for ever ends the test."""
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it waits"))
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def refused(path, what):
    """Opening is a clean error, and so is `verify`."""
    with pytest.raises(ArtefactError, match=what) as error:
        ClickGraph.open(path)
    problems = verify(path)
    assert problems and all(len(problem) < 500 for _, problem in problems)
    return error.value


@pytest.mark.usefixtures("time_limit")
def test_a_pipe_or_device_is_not_read(graph, tmp_path):
    (graph / MANIFEST).rename(tmp_path / "kept.json")
    os.mkfifo(graph / MANIFEST)
    assert refused(graph, "not a plain file").where == str(graph / MANIFEST)
    for target in ("/dev/zero", tmp_path / "kept.json"):
        (graph / MANIFEST).unlink()
        (graph / MANIFEST).symlink_to(target)
        refused(graph, "not a plain file")
    (graph / MANIFEST).unlink()
    (graph / MANIFEST).mkdir()
    refused(graph, "not a plain file")


@pytest.mark.usefixtures("time_limit")
def test_an_array_that_is_a_pipe_or_link_is_not_read(graph, tmp_path):
    file = Artefact(graph).file("clicks.indices")
    content = file.read_bytes()
    (tmp_path / "outside.npy").write_bytes(content)
    for replace in (os.mkfifo, lambda path: path.symlink_to(tmp_path / "outside.npy"), os.mkdir):
        file.unlink()
        replace(file)
        assert refused(graph, "not a plain file").where == str(file)
        file.rmdir() if file.is_dir() and not file.is_symlink() else None
        if not os.path.lexists(file):
            file.write_bytes(content)


def test_a_folder_that_is_a_link_is_not_entered(tmp_path):
    """The files of a table are in a folder, which could lead outside."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "part-0-a.parquet").write_bytes(b"secret")
    with writing(tmp_path / "a") as out:
        out.array("x", np.zeros(1, np.float32))
        out.commit("graph", layout="parquet")
    path = tmp_path / "a" / MANIFEST
    manifest = json.loads(path.read_text())
    name = "queries-0123456789abcdef"
    entry = {"file": f"{name}/part-0-a.parquet", "bytes": 6, "digest": "0" * 64}
    manifest["files"] = {"queries.part": entry}
    path.write_text(json.dumps(manifest))
    (tmp_path / "a" / name).symlink_to(outside)
    refused(tmp_path / "a", "not a plain directory")
    (tmp_path / "a" / name).unlink()
    (tmp_path / "a" / name).write_bytes(b"")
    refused(tmp_path / "a", "not a plain directory")


def test_the_directory_itself_may_be_a_link(graph, tmp_path):
    (tmp_path / "current").symlink_to(graph)
    assert ClickGraph.open(tmp_path / "current").clicks.nnz > 0


def test_a_hard_link_is_read_and_never_written(graph, tmp_path):
    """The decision: models share files by hard links, so they are followed; writers replace names."""
    file = Artefact(graph).file("clicks.indices")
    os.link(file, tmp_path / "linked.npy")
    before = (tmp_path / "linked.npy").read_bytes()
    opened = ClickGraph.open(graph)
    opened.clicks.indices[:] = 0  # a private map
    planted.graph(seed=5).save(graph, force=True)
    assert (tmp_path / "linked.npy").read_bytes() == before


def test_too_many_bytes_or_values_are_refused_unread(graph, monkeypatch):
    text = (graph / MANIFEST).read_text()
    monkeypatch.setattr(manifests, "MAX_BYTES", len(text) - 1)
    refused(graph, "more than .* bytes")
    monkeypatch.setattr(manifests, "MAX_BYTES", len(text))
    ClickGraph.open(graph)
    monkeypatch.setattr(manifests, "MAX_VALUES", 50)
    refused(graph, "more than 50 values")


@pytest.mark.parametrize("depth", [101, 800, 950, 5000])
def test_a_deep_manifest_is_refused(graph, depth):
    """`info` ended in a traceback, at depths that the parser of JSON still reads."""
    manifest = json.loads((graph / MANIFEST).read_text())
    nested = "[" * (depth - 1) + "]" * (depth - 1)
    for key in ("stats", "x"):
        text = json.dumps(manifest | {key: {"n": "here"}}).replace('"here"', nested)
        (graph / MANIFEST).write_text(text)
        refused(graph, "nested more than 100 levels deep")
    (graph / MANIFEST).write_text(json.dumps(manifest | {"x": {"n": json.loads("[" * 98 + "]" * 98)}}))
    ClickGraph.open(graph)
    for scalar in ("1", '"x"', "null"):
        (graph / MANIFEST).write_text(scalar)
        refused(graph, "not a coclick manifest")


HUGE = {
    "1.5 GB": "stream.truncate(1_500_000_000)",
    "lists": "stream.write(b'[' + b'[],' * 10_000_000 + b'[]]')",
    "nesting": "stream.write(b'[' * 5_000_000)",
    "digits": "stream.write(b'{\"format\": ' + b'9' * 20_000_000 + b'}')",
    "not UTF-8": "stream.write(b'\\xff' * 1_000_000)",
}


@pytest.mark.parametrize("content", HUGE.values(), ids=HUGE)
def test_a_huge_manifest_takes_neither_memory_nor_time(graph, content):
    with (graph / MANIFEST).open("wb") as stream:
        exec(content, {"stream": stream})
    code = f"""
        from coclick import ClickGraph
        from coclick.errors import ArtefactError
        try:
            ClickGraph.open({str(graph)!r})
        except ArtefactError as error:
            assert len(str(error)) < 1000
            print("refused")
    """
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=SECONDS,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )  # fmt: skip
    assert found.stdout == "refused\n", found.stderr


def entry_of(manifest):
    return manifest["files"]["clicks.indices"]


@pytest.mark.parametrize(
    "change",
    [
        lambda m: entry_of(m).update(shape=[1] * 100_000),
        lambda m: entry_of(m).update(shape=[10**30]),
        lambda m: entry_of(m).update(shape=[2**62, 2**62]),
        lambda m: entry_of(m).update(shape=[-1]),
        lambda m: entry_of(m).update(shape=[1.0]),
        lambda m: entry_of(m).update(shape=[True]),
        lambda m: entry_of(m).update(shape="1"),
        lambda m: entry_of(m).update(bytes=10**400),
        lambda m: entry_of(m).update(bytes=-1),
        lambda m: entry_of(m).update(bytes=True),
        lambda m: entry_of(m).update(dtype=[["<i4"]]),
        lambda m: entry_of(m).update(dtype="|O"),
        lambda m: entry_of(m).update(digest=["a"]),
        lambda m: entry_of(m).update(file="../../etc/passwd"),
        lambda m: entry_of(m).update(file=7),
        lambda m: m.update(files=[]),
        lambda m: m["files"].update({"clicks.indices": 7}),
        lambda m: m["files"].update({"A B": {}}),
        lambda m: m.update(kind=[]),
        lambda m: m.update(format="2"),
        lambda m: m.update(format=10**50),
        lambda m: m.update(stats=7),
        lambda m: m.clear(),
    ],
)
def test_odd_entries_are_clean_errors(graph, change):
    manifest = json.loads((graph / MANIFEST).read_text())
    change(manifest)
    (graph / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(CoclickError) as error:
        ClickGraph.open(graph)
    assert len(str(error.value)) < 1000
    assert verify(graph)


@pytest.mark.parametrize("value", [7, "", "x", [1], {"a": 1}, 10**400, True], ids=lambda v: f"{v!r:.12}")
@pytest.mark.parametrize("key", ["stats", "layout", "texts", "coclick", "digest", "kind"])
def test_odd_values_of_other_keys_are_clean(graph, key, value):
    manifest = json.loads((graph / MANIFEST).read_text())
    (graph / MANIFEST).write_text(json.dumps(manifest | {key: value}))
    try:
        opened = ClickGraph.open(graph)
        repr(opened)
    except CoclickError:
        pass
    assert verify(graph), "edits of the manifest do not pass"
