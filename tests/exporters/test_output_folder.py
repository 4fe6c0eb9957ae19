"""An output folder that a killed process had moved away comes back, or is removed if it was replaced."""

import pytest

from coclick.errors import UserError
from coclick.exporters.output_folder import create_folder, write_manifest


def write(path, text, force=False):
    with create_folder(path, force=force) as folder:
        (folder / "a.txt").write_text(text)
        write_manifest(folder, {})


def names(path):
    return sorted(one.name for one in path.iterdir())


def test_killed_before_the_new_folder_was_in_place(tmp_path):
    write(tmp_path / "out", "first")
    (tmp_path / "out").rename(tmp_path / ".out.coclick-old")
    (tmp_path / ".out.coclick-part").mkdir()
    with pytest.raises(UserError, match="exists"):
        write(tmp_path / "out", "second")
    assert (tmp_path / "out" / "a.txt").read_text() == "first"
    assert names(tmp_path) == ["out"]


def test_killed_before_the_old_folder_was_removed(tmp_path):
    write(tmp_path / "out", "second")
    write(tmp_path / ".out.coclick-old", "first")
    assert names(tmp_path) == [".out.coclick-old", "out"]
    write(tmp_path / "out", "third", force=True)
    assert (tmp_path / "out" / "a.txt").read_text() == "third"
    assert names(tmp_path) == ["out"]


def test_other_hidden_folders_stay(tmp_path):
    for name in (".out.old", ".out.part"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.txt").write_text("mine")
    write(tmp_path / "out", "first")
    write(tmp_path / "out", "second", force=True)
    assert names(tmp_path) == [".out.old", ".out.part", "out"]
    assert (tmp_path / ".out.old" / "mine.txt").read_text() == "mine"
    assert (tmp_path / ".out.part" / "mine.txt").read_text() == "mine"
