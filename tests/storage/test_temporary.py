"""Temporary files: removed at the end by their process, or by the next one if it was killed."""

import fcntl
import os
import signal
import stat
import tempfile
import time

import pytest

from coclick.storage.directories import write_file
from coclick.storage.temporary import replacing_file, temporary_directory


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def killed_while(work):
    """Run `work` in a fork that kills itself in the middle of the block."""
    child = os.fork()
    if child == 0:
        with work():
            os.kill(os.getpid(), signal.SIGKILL)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL


def make_old(place):
    """A day passes: what was made in the last minute may belong to a process that has not locked it yet."""
    for one in place.iterdir():
        os.utime(one, (time.time() - 86_400,) * 2)


def names(place):
    return sorted(one.name for one in place.iterdir())


def test_a_directory_is_removed_at_the_end(place):
    with temporary_directory() as directory:
        (directory / "a").write_text("x")
        assert directory.parent == place
    assert names(place) == []
    with pytest.raises(KeyError), temporary_directory(beside=place / "out.tsv") as directory:
        assert directory.name.startswith(".out.tsv.")
        raise KeyError
    assert names(place) == []


@pytest.mark.parametrize("beside", [None, "out.tsv"])
def test_directories_of_killed_processes_are_removed(place, beside):
    def work():
        return temporary_directory(beside=beside and place / beside)

    killed_while(work)
    assert len(names(place)) == 1
    with work():
        assert len(names(place)) == 2, "the other one may be in use: it is young"
    make_old(place)
    with work():
        assert len(names(place)) == 1
    assert names(place) == []


def test_a_directory_in_use_stays(place):
    with temporary_directory() as used:
        make_old(place)
        with temporary_directory():
            assert used.exists()


def test_files_of_killed_processes_are_removed(place):
    path = place / "page.html"
    path.write_text("old")
    killed_while(lambda: replacing_file(path))
    assert len(names(place)) == 2 and path.read_text() == "old"
    make_old(place)
    write_file(path, "new")
    assert names(place) == ["page.html"] and path.read_text() == "new"


def test_a_file_in_use_stays(place):
    path = place / "page.html"
    with replacing_file(path) as outer:
        outer.write(b"outer")
        make_old(place)
        write_file(path, "inner")
        assert path.read_text() == "inner"
    assert path.read_text() == "outer" and names(place) == ["page.html"]


def test_files_of_others_stay(place):
    path = place / "page.html"
    others = (
        ".page.html.original",
        ".page.html.coclick-backups12",
        ".page.html.coclick-backup12",
        "coclick-tmp-12345678x",
        ".page.html.coclick-tmp-1234567",
    )
    for name in others:
        (place / name).write_text("mine")
    link = ".page.html.coclick-tmp-aaaaaaaa"
    (place / link).symlink_to(place)
    make_old(place)
    write_file(path, "new")
    with temporary_directory():
        pass
    assert set(names(place)) == {*others, link, "page.html"}


@pytest.mark.parametrize("name", ["coclick-logs2024", "coclick-exports1", "coclick-12345678"])
def test_directories_that_a_person_may_name_so_stay(place, name):
    (place / name).mkdir()
    (place / name / "log.tsv").write_text("mine")
    make_old(place)
    with temporary_directory():
        pass
    assert (place / name / "log.tsv").read_text() == "mine"


def test_an_exception_leaves_the_old_file(place):
    path = place / "page.html"
    path.write_text("old")
    with pytest.raises(KeyError), replacing_file(path) as stream:
        stream.write(b"new")
        raise KeyError
    assert path.read_text() == "old" and names(place) == ["page.html"]


def test_a_written_file_has_the_usual_permissions_and_is_not_locked(place):
    mask = os.umask(0o027)
    try:
        write_file(place / "a", "x")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((place / "a").stat().st_mode) == 0o640
    with (place / "a").open() as stream:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_long_names(place):
    path = place / ("ä" * 120)
    write_file(path, "x")
    assert path.read_text() == "x"
