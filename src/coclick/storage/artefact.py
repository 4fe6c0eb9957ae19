"""Artefacts on disk: a directory of arrays under one `manifest.json`.

Data files are named after their content, synced before the manifest refers to them, and never changed.
Replacing the manifest is the only commit, so a crash at any moment leaves the old artefact or the new one,
never a mixture; unreferenced files are garbage-collected by the next writer. Nothing is pickled: opening an
untrusted artefact runs no code and touches no file outside its directory.

Arrays are opened as private memory maps: nothing is read before it is used, and changes never reach the file.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from coclick._version import __version__
from coclick.errors import ArtefactError, CoclickError
from coclick.storage.directories import (
    check_kind,
    check_output,
    published_name,
    remove_published,
    remove_unreferenced,
    write_lock,
)
from coclick.storage.manifest import (
    ARRAY_NAME,
    DTYPES,
    FORMAT,
    MANIFEST,
    digest_of,
    read_manifest,
    with_digest,
)
from coclick.storage.plain_files import open_plain, size_of_plain

_CHUNK = 1 << 24
_MAX_HEADER = 4096
_SYNC_THREADS = 8  # a disk syncs several files in about the time of one


class Artefact:
    """An artefact opened for reading. Opening checks the manifest and the files' sizes, not their content.

    Without `check_sizes`, a damaged artefact opens too; `damage` then reports what is wrong.
    """

    def __init__(self, path: str | Path, *, check_sizes: bool = True) -> None:
        self.path = Path(path)
        self.manifest = read_manifest(self.path)
        self._arrays: dict[str, NDArray[Any]] = {}
        if check_sizes:
            for name, entry in self.files.items():
                self._check_size(name, entry)

    @property
    def kind(self) -> str:
        """The kind of the artefact: "graph" or "model"."""
        return str(self.manifest["kind"])

    @property
    def files(self) -> dict[str, dict[str, Any]]:
        """The manifest's entry for each file, by array name."""
        return self.manifest["files"]

    @property
    def digest(self) -> str:
        """A digest of the content: equal for equal arrays, whenever and wherever they were written."""
        return content_digest(self.files)

    def __contains__(self, name: str) -> bool:
        return name in self.files

    def array(self, name: str) -> NDArray[Any]:
        """Return the array of that name, mapped on first use."""
        if name not in self._arrays:
            self._arrays[name] = self._map(name)
        return self._arrays[name]

    def name_of(self, values: NDArray[Any]) -> str | None:
        """Return the name of an array that `array` returned, or None for any other array."""
        return next((name for name, array in self._arrays.items() if array is values), None)

    def file(self, name: str) -> Path:
        """Return the path of the file that holds `name`."""
        if name not in self.files:
            what = f"{self.kind} has no part named {name!r}"
            raise ArtefactError(what, where=str(self.path / MANIFEST))
        return self.path / str(self.files[name]["file"])

    def table(self, name: str) -> list[Path]:
        """Return the Parquet files of a table in order, or an empty list if there is no such table."""
        parts = [part for part in sorted(self.files) if name in (part, part.rpartition(".")[0])]
        return [self.file(part) for part in parts]

    def size(self) -> int:
        """Return the size on disk in bytes."""
        return sum(int(entry["bytes"]) for entry in self.files.values())

    def damage(self) -> Iterator[tuple[str, str]]:
        """Read every file and yield (file, defect) for each that differs from what was written."""
        if "digest" in self.manifest and self.manifest["digest"] != digest_of(self.manifest):
            yield MANIFEST, "its content is not what was written (digest differs)"
        for name, entry in self.files.items():
            path = self.file(name)
            try:
                self._check_size(name, entry)
                if "dtype" in entry:
                    self._map(name)
                with open_plain(self.path, entry["file"]) as stream:
                    stream.seek(_data_offset(entry) if "dtype" in entry else 0)
                    found = _digest_stream(stream)
                if found != entry["digest"]:
                    yield path.name, "its content is not what was written (digest differs)"
            except ArtefactError as error:
                yield path.name, error.what
            except OSError as error:
                yield path.name, error.strerror or str(error)
            yield from self._published_damage(name, entry)

    def _published_damage(self, name: str, entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the same for the published name of a file, which may no longer be a link to it."""
        published = published_name(name)
        if published is None or not os.path.lexists(self.path / published):
            return
        try:
            with open_plain(self.path, published) as stream:
                if _digest_stream(stream) != entry["digest"]:
                    yield published, "its content is not what was written (digest differs)"
        except ArtefactError as error:
            yield published, error.what

    def _check_size(self, name: str, entry: dict[str, Any]) -> None:
        path = self.path / entry["file"]
        try:
            size = size_of_plain(self.path, entry["file"])
        except OSError:
            raise ArtefactError(f"{self.kind} is incomplete: a file is missing", where=str(path)) from None
        if size != entry["bytes"]:
            raise ArtefactError(
                f"has {size:,} bytes where {entry['bytes']:,} were written",
                where=str(path),
                hint="the file was truncated or changed; copy or make the artefact again",
            )

    def _map(self, name: str) -> NDArray[Any]:
        """Map an array as the manifest describes it; the header of its file must match, byte by byte."""
        path, entry = self.file(name), self.files[name]
        dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
        begin = _data_offset(entry)
        try:
            with open_plain(self.path, entry["file"]) as stream:
                found = stream.read(begin) if 0 < begin <= _MAX_HEADER else b""
                if not found or found != _npy_header(dtype, shape, pad_to=begin):
                    raise ArtefactError(
                        "the header of the array does not match the manifest", where=str(path)
                    )
                if 0 in shape:
                    return np.empty(shape, dtype)
                if os.fstat(stream.fileno()).st_size != entry["bytes"]:  # it may have changed since
                    raise ArtefactError("the file has changed while it was opened", where=str(path))
                return np.memmap(stream, dtype, "c", begin, shape).view(np.ndarray)
        except (OSError, ValueError, OverflowError) as error:
            raise ArtefactError(f"cannot be read: {error}", where=str(path)) from None


class ArtefactWriter:
    """Writes the files of one artefact; nothing is visible to readers before `commit`."""

    def __init__(self, path: Path, origins: Sequence[Artefact] = ()) -> None:
        self.path = path
        self.files: dict[str, dict[str, Any]] = {}
        self._origins = origins
        self._n_temporary = 0
        self._unsynced: list[Path] = []
        self._renames: dict[str, Path] = {}  # temporary files by their final names

    def array(self, name: str, values: NDArray[Any]) -> None:
        """Write a whole array; hard-link it if it is mapped from one of the origins."""
        for origin in self._origins:
            if source := origin.name_of(values):
                self.link(name, origin, source)
                return
        with self.stream(name, values.dtype, values.shape[1:]) as append:
            append(values)

    @contextmanager
    def stream(self, name: str, dtype: DTypeLike, row: tuple[int, ...] = ()) -> Iterator[Any]:
        """Write an array of unknown length; yields a function that appends a block."""
        dtype = np.dtype(dtype)
        if not ARRAY_NAME.fullmatch(name) or dtype.str not in DTYPES:
            raise ValueError(f"{name!r} of type {dtype} cannot be stored")
        part = self.scratch()
        digest, length = hashlib.sha256(), 0
        with self._removing_on_error(part), part.open("w+b") as stream:
            header = _npy_header(dtype, (1 << 62, *row))
            stream.write(header)

            def append(block: NDArray[Any]) -> None:
                nonlocal length
                block = np.ascontiguousarray(block, dtype)
                length += len(block)
                view = block.reshape(-1).view(np.uint8).data
                for start in range(0, len(view), _CHUNK):
                    digest.update(view[start : start + _CHUNK])
                    stream.write(view[start : start + _CHUNK])

            yield append
            stream.seek(0)
            stream.write(_npy_header(dtype, (length, *row), pad_to=len(header)))
            size = stream.seek(0, os.SEEK_END)
        self._unsynced.append(part)
        entry = {"dtype": dtype.str, "shape": [length, *row], "bytes": size, "digest": digest.hexdigest()}
        self._register(name, part, entry, "npy")

    def parquet(self, name: str, part: Path) -> None:
        """Move a finished Parquet file into the artefact."""
        with self._removing_on_error(part), part.open("rb") as stream:
            digest = _digest_stream(stream)
        self._unsynced.append(part)
        self._register(name, part, {"bytes": part.stat().st_size, "digest": digest}, "parquet")

    def scratch(self) -> Path:
        """Return a path for a temporary file, which is removed if the writer fails."""
        self._n_temporary += 1
        part = self.path / f".part-{os.getpid()}-{self._n_temporary}"
        part.unlink(missing_ok=True)  # left by a dead process, and possibly a link to a file in use
        return part

    def link(self, name: str, source: Artefact, source_name: str) -> None:
        """Add a file of another artefact unchanged: by hard link, or by copy across file systems."""
        origin, entry = source.file(source_name), source.files[source_name]
        self._add_again(name, origin, entry, origin.suffix[1:])

    def repeat(self, name: str, other: str) -> None:
        """Add an array that equals another one of this artefact, without writing it again."""
        entry = self.files[other]
        self._add_again(name, self._renames[entry["file"]], entry, "npy")

    def _add_again(self, name: str, origin: Path, entry: dict[str, Any], suffix: str) -> None:
        part = self.scratch()
        with self._removing_on_error(part):
            try:
                os.link(origin, part)
            except OSError:
                with origin.open("rb") as read, part.open("wb") as write:
                    while block := read.read(_CHUNK):
                        write.write(block)
                self._unsynced.append(part)
        entry = {key: value for key, value in entry.items() if key != "file"}
        self._register(name, part, entry, suffix)

    def commit(self, kind: str, **fields: Any) -> None:
        """Replace the manifest: from now on readers see what was written."""
        check_kind(self.path, kind)
        head = {"format": FORMAT, "coclick": __version__, "kind": kind}
        manifest = with_digest(head | fields | {"files": self.files})
        part = self.path / f".manifest-{os.getpid()}"
        with self._removing_on_error(part), part.open("w", encoding="utf-8") as stream:
            json.dump(manifest, stream, indent=1, ensure_ascii=False)
            stream.flush()
            os.fsync(stream.fileno())
            self._sync_and_rename()
        _sync_directory(self.path)
        remove_published(self.path)
        part.replace(self.path / MANIFEST)
        _sync_directory(self.path)
        remove_unreferenced(self.path)

    def _register(self, name: str, part: Path, entry: dict[str, Any], suffix: str) -> None:
        entry["file"] = f"{name}-{entry['digest'][:16]}.{suffix}"
        self._renames[entry["file"]] = part
        self.files[name] = entry

    def _sync_and_rename(self) -> None:
        """Sync all files, then rename them: the artefact to be replaced may use the same names."""
        with ThreadPoolExecutor(_SYNC_THREADS) as pool:
            list(pool.map(_sync, self._unsynced))
        for name, part in self._renames.items():
            part.replace(self.path / name)

    @contextmanager
    def _removing_on_error(self, part: Path) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            part.unlink(missing_ok=True)
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                what, hint = f"cannot write: {error.strerror}", "free some space or choose another output"
                raise CoclickError(what, where=str(self.path), hint=f"{hint}; nothing was changed") from None
            raise
        except BaseException:
            part.unlink(missing_ok=True)
            raise


@contextmanager
def writing(
    path: str | Path, *, force: bool = False, origins: Sequence[Artefact] = ()
) -> Iterator[ArtefactWriter]:
    """Open a directory for writing an artefact; an existing one is replaced only with `force`.

    Arrays that are mapped from `origins` are hard-linked, not written again. An exception (Ctrl-C too) before
    `commit` is done removes what was written.
    """
    path = Path(path)
    check_output(path, force)
    created = not path.exists()
    with write_lock(path):
        writer = ArtefactWriter(path, origins)
        before = {entry.name for entry in path.iterdir()}
        try:
            yield writer
        except BaseException:
            remove_unreferenced(path, before)
            if created and not any(path.iterdir()):
                path.rmdir()
            raise


def content_digest(files: dict[str, dict[str, Any]]) -> str:
    """Return one digest over the names and digests of all files."""
    lines = sorted(f"{name} {entry['digest']}" for name, entry in files.items())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _npy_header(dtype: np.dtype[Any], shape: tuple[int, ...], pad_to: int = 0) -> bytes:
    """An .npy version 1 header, padded to `pad_to` bytes if that is given."""
    text = repr({"descr": dtype.str, "fortran_order": False, "shape": shape})
    length = pad_to or -(-(10 + len(text) + 1) // 64) * 64
    text = text.ljust(length - 11) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode("latin1")


def _data_offset(entry: dict[str, Any]) -> int:
    """The length of the header of an array's file, computed from the manifest."""
    return entry["bytes"] - math.prod(entry["shape"]) * np.dtype(entry["dtype"]).itemsize


def _digest_stream(stream: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while block := stream.read(_CHUNK):
        digest.update(block)
    return digest.hexdigest()


def _sync(path: Path) -> None:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


def _sync_directory(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
