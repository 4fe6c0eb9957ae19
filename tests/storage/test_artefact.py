"""Artefacts: round trips, damage that is reported, and interrupted writes that leave nothing behind."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from coclick.errors import ArtefactError, UserError
from coclick.storage.artefact import Artefact, writing
from coclick.storage.directories import check_file, check_output
from coclick.storage.manifest import FORMAT


def write(path, force=False, value=1.0):
    with writing(path, force=force) as out:
        out.array("numbers", np.full(1000, value, np.float32))
        out.array("matrix.part", np.arange(6, dtype=np.int32).reshape(3, 2))
        out.array("empty", np.empty(0, np.int64))
        out.commit("graph", note="hello")


def test_round_trip(tmp_path):
    write(tmp_path / "a")
    opened = Artefact(tmp_path / "a")
    assert opened.kind == "graph"
    assert opened.manifest["note"] == "hello"
    np.testing.assert_array_equal(opened.array("numbers"), np.ones(1000, np.float32))
    np.testing.assert_array_equal(opened.array("matrix.part"), [[0, 1], [2, 3], [4, 5]])
    assert opened.array("empty").shape == (0,)
    assert list(opened.damage()) == []


def test_files_are_plain_npy(tmp_path):
    write(tmp_path / "a")
    path = Artefact(tmp_path / "a").file("matrix.part")
    np.testing.assert_array_equal(np.load(path, allow_pickle=False), [[0, 1], [2, 3], [4, 5]])


def test_a_stream_of_unknown_length_is_one_array(tmp_path):
    with writing(tmp_path / "a") as out:
        with out.stream("long", np.int32) as append:
            for start in range(0, 1_000_000, 1000):
                append(np.arange(start, start + 1000, dtype=np.int32))
        out.commit("graph")
    opened = Artefact(tmp_path / "a")
    np.testing.assert_array_equal(opened.array("long"), np.arange(1_000_000, dtype=np.int32))
    assert list(opened.damage()) == []


def test_equal_content_has_an_equal_digest(tmp_path):
    write(tmp_path / "a")
    write(tmp_path / "b")
    write(tmp_path / "c", value=2.0)
    a, b, c = (Artefact(tmp_path / name).digest for name in "abc")
    assert a == b != c


def test_writing_to_a_mapped_array_never_reaches_the_file(tmp_path):
    write(tmp_path / "a")
    Artefact(tmp_path / "a").array("numbers")[:] = 9
    assert Artefact(tmp_path / "a").array("numbers")[0] == 1


def test_existing_output_is_refused_without_force(tmp_path):
    write(tmp_path / "a")
    with pytest.raises(UserError, match="exists"):
        write(tmp_path / "a", value=2.0)
    assert Artefact(tmp_path / "a").array("numbers")[0] == 1
    write(tmp_path / "a", force=True, value=2.0)
    assert Artefact(tmp_path / "a").array("numbers")[0] == 2
    assert len(list((tmp_path / "a").glob("numbers-*.npy"))) == 1, "the replaced file is removed"


def test_a_directory_with_other_files_is_never_written_to(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match=r"thesis\.tex"):
        write(tmp_path, force=True)


def test_a_foreign_manifest_is_not_replaced(tmp_path):
    (tmp_path / "manifest.json").write_text('{"name": "my web app"}')
    with pytest.raises(UserError, match="none of coclick's"):
        write(tmp_path, force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


@pytest.mark.parametrize("broken", [b'{"format": 2, "coc', b"", b"[1]", b'{"format": 2, "kind": "graph"}'])
def test_force_replaces_an_artefact_with_a_broken_manifest(tmp_path, broken):
    write(tmp_path / "a")
    (tmp_path / "a" / "manifest.json").write_bytes(broken)
    (tmp_path / "a" / "rejects.parquet").write_bytes(b"")
    with pytest.raises(UserError, match="exists"):
        write(tmp_path / "a")
    with pytest.raises(RuntimeError), writing(tmp_path / "a", force=True) as out:
        out.array("numbers", np.zeros(5, np.float32))
        raise RuntimeError
    assert (tmp_path / "a" / "manifest.json").read_bytes() == broken, "and no file that it may name is lost"
    assert len(list((tmp_path / "a").glob("numbers-*"))) == 1
    write(tmp_path / "a", force=True)
    assert list(Artefact(tmp_path / "a").damage()) == []
    (tmp_path / "a" / "manifest.json").write_bytes(broken)
    (tmp_path / "a" / "holiday.jpg").write_bytes(b"")
    with pytest.raises(UserError, match=r"other files \(holiday\.jpg\)"):
        write(tmp_path / "a", force=True)


def test_an_exception_leaves_the_old_artefact(tmp_path):
    write(tmp_path / "a")
    before = sorted(path.name for path in (tmp_path / "a").iterdir())
    with pytest.raises(RuntimeError), writing(tmp_path / "a", force=True) as out:
        out.array("numbers", np.zeros(5, np.float32))
        raise RuntimeError
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == before
    with pytest.raises(RuntimeError), writing(tmp_path / "new") as out:
        out.array("numbers", np.zeros(5, np.float32))
        raise RuntimeError
    assert not (tmp_path / "new").exists()


def test_an_interrupt_after_the_commit_leaves_the_new_artefact(tmp_path):
    write(tmp_path / "a")
    with pytest.raises(KeyboardInterrupt), writing(tmp_path / "a", force=True) as out:
        out.array("numbers", np.full(10, 2.0, np.float32))
        out.commit("graph")
        raise KeyboardInterrupt
    assert Artefact(tmp_path / "a").array("numbers")[0] == 2


def test_arrays_of_an_origin_are_linked(tmp_path):
    write(tmp_path / "a")
    origin = Artefact(tmp_path / "a")
    with writing(tmp_path / "b", origins=[origin]) as out:
        out.array("same", origin.array("numbers"))
        out.commit("model")
    assert Artefact(tmp_path / "b").file("same").stat().st_ino == origin.file("numbers").stat().st_ino


def test_two_writers_do_not_mix(tmp_path):
    with writing(tmp_path / "a") as out:
        with pytest.raises(UserError, match="another process"), writing(tmp_path / "a"):
            pass
        out.commit("graph")


@pytest.mark.parametrize("size", [-1, 1])
def test_a_file_of_another_size_is_found_on_opening(tmp_path, size):
    write(tmp_path / "a")
    path = Artefact(tmp_path / "a").file("numbers")
    content = path.read_bytes()
    path.write_bytes(content[:size] if size < 0 else content + b"x")
    with pytest.raises(ArtefactError, match="bytes"):
        Artefact(tmp_path / "a")


def test_a_changed_byte_is_found_by_damage(tmp_path):
    write(tmp_path / "a")
    path = Artefact(tmp_path / "a").file("numbers")
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    [(where, what)] = Artefact(tmp_path / "a").damage()
    assert where == path.name
    assert "digest" in what


@pytest.mark.parametrize("array", ["numbers", "empty"])
def test_every_byte_of_a_header_is_checked(tmp_path, array):
    """Some changed bytes make numpy's own reader raise undocumented exceptions."""
    write(tmp_path / "a")
    path = Artefact(tmp_path / "a").file(array)
    sound = path.read_bytes()
    for place in range(128):
        path.write_bytes(sound[:place] + bytes([sound[place] ^ 5]) + sound[place + 1 :])
        with pytest.raises(ArtefactError, match="header"):
            Artefact(tmp_path / "a").array(array)
        assert [name for name, _ in Artefact(tmp_path / "a").damage()] == [path.name]


def test_a_missing_file_and_a_link_are_refused(tmp_path):
    write(tmp_path / "a")
    path = Artefact(tmp_path / "a").file("numbers")
    path.rename(tmp_path / "elsewhere")
    with pytest.raises(ArtefactError, match="missing"):
        Artefact(tmp_path / "a")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ArtefactError, match="plain file"):
        Artefact(tmp_path / "a")


@pytest.mark.parametrize(
    "change",
    [
        {"file": "../../etc/passwd"},
        {"file": "/etc/passwd"},
        {"dtype": "|O"},
        {"shape": [-1]},
        {"shape": "all"},
        {"bytes": "many"},
    ],
)
def test_a_hostile_manifest_is_refused(tmp_path, change):
    write(tmp_path / "a")
    path = tmp_path / "a" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["files"]["numbers"].update(change)
    path.write_text(json.dumps(manifest))
    with pytest.raises(ArtefactError):
        Artefact(tmp_path / "a").array("numbers")


def test_a_directory_without_an_artefact(tmp_path):
    with pytest.raises(UserError, match="no such directory"):
        Artefact(tmp_path / "no")
    with pytest.raises(UserError, match=r"manifest\.json"):
        Artefact(tmp_path)


def make_older(path, kind):
    """Turn an artefact into one of the previous format."""
    file = path / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"format": FORMAT - 1, "kind": kind}))


@pytest.mark.parametrize("kind, advice", [("graph", "build it again"), ("model", "train it again")])
def test_an_older_format_says_what_to_do(tmp_path, kind, advice):
    write(tmp_path / "a")
    make_older(tmp_path / "a", kind)
    with pytest.raises(ArtefactError) as caught:
        Artefact(tmp_path / "a")
    assert caught.value.what.startswith("an older coclick (") and caught.value.what.endswith(
        f") made this {kind}: {advice}"
    )


def test_an_older_format_is_replaced_with_force(tmp_path):
    write(tmp_path / "a")
    make_older(tmp_path / "a", "graph")
    with pytest.raises(UserError, match="exists"):
        write(tmp_path / "a")
    write(tmp_path / "a", force=True, value=2.0)
    assert Artefact(tmp_path / "a").array("numbers")[0] == 2
    assert len(list((tmp_path / "a").glob("numbers-*.npy"))) == 1


def test_a_newer_format_asks_for_an_upgrade(tmp_path):
    write(tmp_path / "a")
    file = tmp_path / "a" / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"format": FORMAT + 1}))
    with pytest.raises(ArtefactError, match="made by a newer coclick"):
        Artefact(tmp_path / "a")


def test_kill_in_the_middle_of_writing(tmp_path):
    """After a real SIGKILL the old artefact opens, and the next writer removes the leftovers."""
    write(tmp_path / "a")
    program = """
        import sys, numpy as np
        from coclick.storage.artefact import writing
        with writing(sys.argv[1], force=True) as out:
            out.array("numbers", np.zeros(10, np.float32))
            with out.stream("long", np.float32) as append:
                print("started", flush=True)
                while True:
                    append(np.zeros(1 << 16, np.float32))
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "a")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"started\n"
        time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    assert any((tmp_path / "a").glob(".part-*"))
    assert Artefact(tmp_path / "a").array("numbers")[0] == 1
    write(tmp_path / "a", force=True, value=3.0)
    assert Artefact(tmp_path / "a").array("numbers")[0] == 3
    assert not any((tmp_path / "a").glob(".part-*"))


def test_full_disk(tmp_path):
    """A file-size limit makes the system refuse writes, like a full disk."""
    write(tmp_path / "a")
    program = """
        import resource, signal, sys, numpy as np
        from coclick.errors import CoclickError
        from coclick.storage.artefact import writing
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        try:
            with writing(sys.argv[1], force=True) as out:
                out.array("numbers", np.zeros(10_000_000, np.float32))
        except CoclickError as error:
            print(error)
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "a")]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "cannot write" in answer
    assert "nothing was changed" in answer
    assert Artefact(tmp_path / "a").array("numbers")[0] == 1


def test_a_leftover_link_is_not_written_through(tmp_path):
    """A dead process with the same number left a hard link: it must not be opened for writing."""
    path = tmp_path / "a"
    with writing(path) as out:
        out.array("values", np.arange(5))
        out.commit("graph")
    os.link(Artefact(path).file("values"), path / f".part-{os.getpid()}-1")
    with writing(path, force=True) as out:
        out.array("more", np.arange(2))
        assert Artefact(path).array("values").tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("check", [check_output, check_file])
def test_an_output_in_a_closed_directory_is_a_mistake(check, tmp_path, monkeypatch):
    def closed(path, **options):
        if path.parent == tmp_path / "closed":
            raise PermissionError(13, "Permission denied", str(path))
        return exists(path, **options)

    exists = Path.exists
    monkeypatch.setattr(Path, "exists", closed)
    with pytest.raises(UserError, match="no permission to write here") as error:
        check(tmp_path / "closed" / "new", force=False)
    assert error.value.where == str(tmp_path / "closed")
