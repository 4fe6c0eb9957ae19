"""Output directories: permission checks, the write lock, garbage collection and atomic text files."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from coclick.errors import UserError
from coclick.storage.file_lock import try_lock
from coclick.storage.manifest import ENTRY_NAME, MANIFEST, BrokenManifestError, read_manifest, with_article
from coclick.storage.temporary import replacing_file

PUBLISHED = re.compile(r"rejects(_[a-z0-9_]+)?\.parquet")  # as `published_name` makes them
_PART_NAME = re.compile(r"\.part-[0-9]+-[0-9]+|\.manifest-[0-9]+")


@contextmanager
def write_lock(path: Path, shown_as: Path | None = None) -> Iterator[None]:
    """Create a directory and lock it against other writers; errors show the path `shown_as`."""
    where = str(shown_as or path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot create the directory: {error.strerror}", where=where) from None
    lock = os.open(path, os.O_RDONLY)
    try:
        if not try_lock(lock):
            raise UserError("another process is writing here", where=where)
        yield
    finally:
        os.close(lock)


def published_name(part: str) -> str | None:
    """Return the name under which people find a part of an artefact, None if it has none.

    Rejected rows are in `rejects.parquet`, those of a view in `rejects_<view>.parquet`.
    """
    if part == "rejects":
        return "rejects.parquet"
    if part.startswith("view.") and part.endswith(".rejects"):
        return f"rejects_{part[5:-8]}.parquet"
    return None


def check_output(path: Path, force: bool, kind: str | None = None) -> None:
    """Raise if an artefact must not be written there. Call this before long work."""
    _check_name(path)
    if missing := next((place.parent for place in (path, *path.parents) if _leaves_missing(place)), None):
        raise UserError("there is no such directory", where=str(missing))
    place = next(place for place in (path, *path.absolute().parents) if _exists(place))
    if not place.is_dir():
        raise UserError("the output must be a directory, and this is not one", where=str(place))
    if not os.access(place, os.W_OK | os.X_OK):
        raise UserError("no permission to write here", where=str(place))
    if place != path:
        return
    check_replaceable(str(path), [entry.name for entry in path.iterdir()], _is_artefact_entry, force)
    check_kind(path, kind)


def _exists(path: Path) -> bool:
    """Return whether there is something; raise if the directory it would be in is closed."""
    try:
        return path.exists()
    except PermissionError as error:
        raise UserError("no permission to write here", where=str(path.parent)) from error


def _check_name(path: Path) -> None:
    """Raise for a name that some library could not open."""
    try:
        os.fsencode(path)
        str(path).encode()
    except UnicodeEncodeError:
        hint = "choose another name, or set PYTHONUTF8=1 where the locale is not UTF-8"
        raise UserError("the name of the output is not valid UTF-8", where=str(path), hint=hint) from None


def _leaves_missing(path: Path) -> bool:
    """Return whether a path ends in `..` after a directory that is missing: it leads nowhere."""
    return path.name == ".." and not path.parent.is_dir()


def check_replaceable(
    where: str, names: Sequence[str], is_artefact_entry: Callable[[str], bool], force: bool
) -> None:
    """Raise if a directory with these entries must not be replaced."""
    if MANIFEST in names:
        if not force:
            raise _exists_error(where)
    elif foreign := [name for name in names if not is_artefact_entry(name)]:
        what = f"the output directory holds other files ({foreign[0]})"
        raise UserError(what, where=where, hint="choose a new directory")


def _exists_error(where: str) -> UserError:
    hint = "add --force (in Python: force=True) to replace it"
    return UserError("the output exists", where=where, hint=hint)


def _is_artefact_entry(name: str) -> bool:
    return bool(ENTRY_NAME.fullmatch(name) or _PART_NAME.fullmatch(name))


def referenced_files(path: Path) -> set[str]:
    """Return the files and directories that the manifest in a directory refers to, if there is one."""
    if not os.path.lexists(path / MANIFEST):
        return set()
    try:
        files = read_manifest(path, allow_older=True)["files"]
    except BrokenManifestError:  # it may refer to any of them
        return {entry.name for entry in path.iterdir() if ENTRY_NAME.fullmatch(entry.name)}
    return {entry["file"].partition("/")[0] for entry in files.values()}


def remove_unreferenced(path: Path, kept: Iterable[str] = ()) -> None:
    """Remove data files and unfinished files, except those in `kept` or in the manifest of the directory."""
    kept = referenced_files(path) | {*kept}
    for entry in path.iterdir():
        if not _is_artefact_entry(entry.name) or entry.name in kept:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink(missing_ok=True)


def remove_published(path: Path) -> None:
    """Remove the files of `published_name` of an artefact that is about to be replaced.

    If the process is killed before it has published the new ones, there are none instead of wrong ones.
    """
    if not os.path.lexists(path / MANIFEST):
        return
    try:
        files = read_manifest(path, allow_older=True)["files"]
    except BrokenManifestError:
        return
    for name in filter(None, map(published_name, files)):
        (path / name).unlink(missing_ok=True)


def check_kind(path: Path, kind: str | None) -> None:
    """Raise if the artefact in a directory is of another kind: only a graph may replace a graph."""
    if kind is None or not os.path.lexists(path / MANIFEST):
        return
    try:
        existing = read_manifest(path, allow_older=True)["kind"]
    except BrokenManifestError:  # `--force` replaces it if nothing else is there
        check_only_artefact(path)
        return
    check_same_kind(str(path), existing, kind)


def check_only_artefact(path: Path) -> None:
    """Raise if a directory whose manifest is broken is not surely one of coclick's, and nothing else."""
    names = sorted(entry.name for entry in path.iterdir() if entry.name != MANIFEST)
    if foreign := [name for name in names if not _is_artefact_entry(name) and not PUBLISHED.fullmatch(name)]:
        what = f"the manifest is broken, and the output directory holds other files ({foreign[0]})"
        raise UserError(what, where=str(path), hint="choose a new directory, or move these files")
    if not any(ENTRY_NAME.fullmatch(name) for name in names):
        what = "the output directory holds a manifest.json that is none of coclick's"
        raise UserError(what, where=str(path), hint="choose a new directory, or move this file")


def check_same_kind(where: str, existing: str, kind: str) -> None:
    """Raise if one kind of artefact would replace another."""
    if kind != existing:
        what = f"the output is {with_article(existing)}, and {with_article(kind)} does not replace it"
        raise UserError(what, where=where, hint="choose another directory")


def check_file(path: Path, *, force: bool) -> None:
    """Raise if a file must not be written there. Call this before long work."""
    _check_name(path)
    if _exists(path) and path.is_dir():
        raise UserError("the output must be a file, and this is a directory", where=str(path))
    if _exists(path) and not force:
        raise _exists_error(str(path))
    parent = path.absolute().parent
    if not parent.is_dir():
        raise UserError("there is no such directory", where=str(parent))
    if not os.access(parent, os.W_OK | os.X_OK):
        raise UserError("no permission to write here", where=str(parent))


def write_json(path: Path, value: Any) -> None:
    """Write an indented JSON file."""
    write_file(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def write_file(path: Path, text: str | Iterable[str | memoryview]) -> None:
    """Write text, or pieces of text or bytes, to a file that appears only once it is complete."""
    with replacing_file(path) as stream:
        pieces = [text] if isinstance(text, str) else text
        stream.writelines(piece.encode() if isinstance(piece, str) else piece for piece in pieces)
