"""An output folder that appears only when it is complete, and replaces only a folder that coclick wrote.

Files are written to a hidden folder next to the output, which is renamed at the end. The next export removes
what a killed process left there, and restores an output that it had moved away but not replaced.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from coclick._version import __version__
from coclick.errors import UserError
from coclick.storage.directories import check_output, write_json, write_lock
from coclick.storage.manifest import FORMAT, MANIFEST, read_manifest

KIND = "export"


@contextmanager
def create_folder(path: Path, *, force: bool) -> Iterator[Path]:
    """Yield a folder to write to; an exception in the block (Ctrl-C is one) leaves nothing behind."""
    given, path = path, path.resolve()
    # They are emptied or removed without a question, so nobody else may have a folder of that name.
    part, old = (path.with_name(f".{path.name}.coclick-{state}") for state in ("part", "old"))
    if old.exists():
        _recover(part, path, old)
    check_folder(given, force=force)
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
    """Raise if the folder may not be written; call it before the work starts."""
    check_output(path, force, KIND)
    if (path / MANIFEST).exists():
        ours = {*read_manifest(path, allow_older=True).get("written", []), MANIFEST}
        if foreign := sorted(entry.name for entry in path.iterdir() if entry.name not in ours):
            raise UserError(
                f"the output directory holds other files ({foreign[0]})",
                where=str(path),
                hint="choose a new directory, or move these files: --force replaces the whole directory",
            )


def write_manifest(folder: Path, stats: dict[str, Any]) -> None:
    """Write the manifest: the statistics of the export, and the names of its files."""
    written = sorted(entry.name for entry in folder.iterdir())
    head = {"format": FORMAT, "coclick": __version__, "kind": KIND}
    no_arrays: dict[str, Any] = {"files": {}}  # every manifest has this key: commands recognise ours by it
    write_json(folder / MANIFEST, head | stats | {"written": written} | no_arrays)


def _recover(part: Path, path: Path, old: Path) -> None:
    """Undo or complete a replacement during which the process was killed."""
    with write_lock(part, shown_as=path):
        if not path.exists():
            old.rename(path)
        else:
            shutil.rmtree(old)
        shutil.rmtree(part)


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
