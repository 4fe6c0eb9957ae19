"""Readers of an artefact that is replaced while they open it."""

import pytest

from coclick.errors import ArtefactError
from coclick.storage.reading import read_current


def test_a_replaced_artefact_is_read_again(tmp_path):
    manifest, calls = tmp_path / "manifest.json", []
    manifest.write_text("old")

    def read():
        calls.append(manifest.read_text())
        if calls[-1] == "old":
            (tmp_path / "part").write_text("new")
            (tmp_path / "part").replace(manifest)
            raise ArtefactError("a file is missing")
        return "read"

    assert read_current(tmp_path, read) == "read" and calls == ["old", "new"]


def test_a_damaged_artefact_is_read_once(tmp_path):
    (tmp_path / "manifest.json").write_text("{}")
    calls = []

    def read():
        calls.append(1)
        raise ArtefactError("damaged")

    with pytest.raises(ArtefactError, match="damaged"):
        read_current(tmp_path, read)
    assert calls == [1]


def test_an_artefact_that_is_always_replaced_ends_in_an_error(tmp_path):
    manifest, calls = tmp_path / "manifest.json", []

    def read():
        calls.append(1)
        (tmp_path / "part").write_text("x")
        (tmp_path / "part").replace(manifest)
        raise ArtefactError("a file is missing")

    with pytest.raises(ArtefactError, match="missing"):
        read_current(tmp_path, read)
    assert len(calls) == 5
