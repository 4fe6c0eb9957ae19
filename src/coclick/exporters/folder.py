"""A folder that appears when all of it is there, and replaces only one that coclick wrote.

Everything is written to a hidden folder beside the output, which is renamed at the end. What a killed process
left there is removed by the next one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from coclick._version import __version__
from coclick.errors import UserError
from coclick.storage.directories import check_output, write_file, write_lock
from coclick.storage.manifest import FORMAT, MANIFEST, read_manifest

KIND = "export"


@contextmanager
def new_folder(path: Path, *, force: bool) -> Iterator[Path]:
    """A folder to write to; leaving the block by an exception (Ctrl-C is one) leaves nothing behind."""
    path = path.resolve()
    check_folder(path, force=force)
    part, old = (path.with_name(f".{path.name}.{state}") for state in ("part", "old"))
    with write_lock(part, shown_as=path):
        for leftover in part.iterdir():
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
        try:
            yield part
            _replace(part, path, old)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise


def check_folder(path: Path, *, force: bool) -> None:
    """Raise if the folder may not be written, which is worth knowing before the work."""
    check_output(path, force, KIND)
    if (path / MANIFEST).exists():
        ours = {*read_manifest(path, allow_older=True).get("written", []), MANIFEST}
        if foreign := sorted(entry.name for entry in path.iterdir() if entry.name not in ours):
            raise UserError(
                f"the output directory holds other files ({foreign[0]})",
                where=str(path),
                hint="choose a new directory, or move them away: --force replaces the whole of it",
            )


def write_text(path: Path, text: str) -> None:
    """A file of text."""
    write_file(path, [text])


def write_json(path: Path, value: Any) -> None:
    """A JSON file for people to read, too."""
    write_file(path, [json.dumps(value, indent=1, ensure_ascii=False), "\n"])


def write_manifest(folder: Path, figures: dict[str, Any]) -> None:
    """What was written here, and what it is."""
    written = sorted(entry.name for entry in folder.iterdir())
    head = {"format": FORMAT, "coclick": __version__, "kind": KIND}
    no_arrays: dict[str, Any] = {"files": {}}  # which every manifest has, so that commands know this for ours
    write_json(folder / MANIFEST, head | figures | {"written": written} | no_arrays)


def _replace(part: Path, path: Path, old: Path) -> None:
    if not path.exists() or not any(path.iterdir()):
        part.rename(path)
        return
    shutil.rmtree(old, ignore_errors=True)
    path.rename(old)
    try:
        part.rename(path)
    except BaseException:
        old.rename(path)
        raise
    shutil.rmtree(old)
