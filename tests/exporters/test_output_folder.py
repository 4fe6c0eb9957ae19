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
    (tmp_path / "out").rename(tmp_path / ".out.old")
    (tmp_path / ".out.part").mkdir()
    with pytest.raises(UserError, match="exists"):
        write(tmp_path / "out", "second")
    assert (tmp_path / "out" / "a.txt").read_text() == "first"
    assert names(tmp_path) == ["out"]


def test_killed_before_the_old_folder_was_removed(tmp_path):
    write(tmp_path / "out", "second")
    write(tmp_path / ".out.old", "first")
    assert names(tmp_path) == [".out.old", "out"]
    write(tmp_path / "out", "third", force=True)
    assert (tmp_path / "out" / "a.txt").read_text() == "third"
    assert names(tmp_path) == ["out"]
