"""Directories to write to: may one write there, one writer at a time, and what there is ours."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from coclick.errors import UserError
from coclick.storage.file_lock import try_lock
from coclick.storage.manifest import MANIFEST, OWN_NAME, a_kind, read_manifest

_PART_NAME = re.compile(r"\.part-[0-9]+-[0-9]+|\.manifest-[0-9]+")


@contextmanager
def only_writer(path: Path, named: Path | None = None) -> Iterator[None]:
    """Make a directory and be the only process that writes there; in errors it is called `named`."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"no directory can be made here: {error.strerror}", where=str(named or path)
        ) from None
    lock = os.open(path, os.O_RDONLY)
    try:
        if not try_lock(lock):
            raise UserError("another process is writing here", where=str(named or path))
        yield
    finally:
        os.close(lock)


def check_output(path: Path, force: bool, kind: str | None = None) -> None:
    """Raise if an artefact may not be written there; for callers that work long before they write."""
    place = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not place.is_dir():
        raise UserError("the output must be a directory, and this is not one", where=str(place))
    if not os.access(place, os.W_OK | os.X_OK):
        raise UserError("no permission to write here", where=str(place))
    if place != path:
        return
    check_names(str(path), [entry.name for entry in path.iterdir()], _is_ours, force)
    check_kind(path, kind)


def check_names(where: str, names: Sequence[str], is_ours: Callable[[str], bool], force: bool) -> None:
    """Raise if a directory that holds these files is not to be replaced."""
    if MANIFEST in names:
        if not force:
            raise UserError(
                "the output exists", where=where, hint="add --force (in Python: force=True) to replace it"
            )
        return
    foreign = [name for name in names if not is_ours(name)]
    if foreign:
        raise UserError(
            f"the output directory holds other files ({foreign[0]})",
            where=where,
            hint="choose a new directory",
        )


def _is_ours(name: str) -> bool:
    return bool(OWN_NAME.fullmatch(name) or _PART_NAME.fullmatch(name))


def named_files(path: Path) -> set[str]:
    """The files and directories of the artefact that is there, if there is one."""
    if not (path / MANIFEST).exists():
        return set()
    return {entry["file"].partition("/")[0] for entry in read_manifest(path)["files"].values()}


def collect(path: Path, kept: set[str]) -> None:
    """Remove data files and unfinished ones, but for those to be kept."""
    for entry in path.iterdir():
        if not _is_ours(entry.name) or entry.name in kept:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink(missing_ok=True)


def check_kind(path: Path, kind: str | None) -> None:
    """Only a graph may replace a graph and only a model a model; nothing replaces somebody else's files."""
    if not (path / MANIFEST).exists():
        return
    if kind is not None:
        check_replaces(str(path), read_manifest(path)["kind"], kind)


def check_replaces(where: str, there: str, kind: str) -> None:
    """Raise if one kind of artefact would replace another."""
    if kind != there:
        raise UserError(
            f"the output is {a_kind(there)}, and {a_kind(kind)} does not replace it",
            where=where,
            hint="choose another directory",
        )


def check_file(path: Path, *, force: bool) -> None:
    """Raise if a file may not be written there; for callers that work long before they write."""
    if path.is_dir():
        raise UserError("the output must be a file, and this is a directory", where=str(path))
    if path.exists() and not force:
        raise UserError("the output exists", where=str(path), hint="add --force to replace it")
    if not path.absolute().parent.is_dir():
        raise UserError("there is no such directory", where=str(path.absolute().parent))
    if not os.access(path.absolute().parent, os.W_OK | os.X_OK):
        raise UserError("no permission to write here", where=str(path.absolute().parent))


def write_file(path: Path, lines: Iterable[str]) -> None:
    """Write pieces of text to a file that appears when all of it is there."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.absolute().parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.writelines(lines)
            stream.flush()
            os.fsync(stream.fileno())
        mask = os.umask(0)
        os.umask(mask)
        part.chmod(0o666 & ~mask)  # as if it had been opened here: temporary files are private
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
