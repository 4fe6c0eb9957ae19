"""Artefacts on disk: a directory of arrays under one `manifest.json`.

Data files have names made of their content, are synced before anything names them, and are never changed.
Replacing the manifest is the only commit, so a crash at any moment leaves the old artefact or the new one,
never a mixture; what no manifest names is collected by the next writer. Nothing is pickled: opening a
stranger's artefact runs no code and touches no file outside its directory.

Arrays are opened as private memory maps: nothing is read until it is used, nothing written reaches the file.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import stat
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from coclick._version import __version__
from coclick.errors import ArtefactError, CoclickError
from coclick.storage.directories import check_kind, check_output, collect, named_files, only_writer
from coclick.storage.manifest import ARRAY_NAME, DTYPES, FORMAT, MANIFEST, read_manifest

_CHUNK = 1 << 24
_LONGEST_HEADER = 4096
_SYNCED_TOGETHER = 8  # files: a disk takes hardly longer for several than for one


class Artefact:
    """An artefact opened for reading. Opening checks the manifest and the files' sizes, not their content.

    With `even_damaged`, sizes are left to `damage`.
    """

    def __init__(self, path: str | Path, *, even_damaged: bool = False) -> None:
        self.path = Path(path)
        self.manifest = read_manifest(self.path)
        self._arrays: dict[str, NDArray[Any]] = {}
        if not even_damaged:
            for name, entry in self.files.items():
                self._check_size(name, entry)

    @property
    def kind(self) -> str:
        """What the artefact is: "graph" or "model"."""
        return str(self.manifest["kind"])

    @property
    def files(self) -> dict[str, dict[str, Any]]:
        """What the manifest says of each file, by the array's name."""
        return self.manifest["files"]

    @property
    def digest(self) -> str:
        """The content's identity: equal for equal arrays, whenever and wherever they were written."""
        return content_digest(self.files)

    def __contains__(self, name: str) -> bool:
        return name in self.files

    def array(self, name: str) -> NDArray[Any]:
        """The array of that name, mapped on first use."""
        if name not in self._arrays:
            self._arrays[name] = self._map(name)
        return self._arrays[name]

    def name_of(self, values: NDArray[Any]) -> str | None:
        """The name under which this very array was mapped from here."""
        return next((name for name, array in self._arrays.items() if array is values), None)

    def file(self, name: str) -> Path:
        """The path of the file that holds `name`."""
        if name not in self.files:
            raise ArtefactError(f"{self.kind} has no part named {name!r}", where=str(self.path))
        return self.path / str(self.files[name]["file"])

    def table(self, name: str) -> list[Path]:
        """The Parquet files of a table, one or as many as Spark wrote, in order; none if there is none."""
        parts = [part for part in sorted(self.files) if name in (part, part.rpartition(".")[0])]
        return [self.file(part) for part in parts]

    def size(self) -> int:
        """Bytes on disk."""
        return sum(int(entry["bytes"]) for entry in self.files.values())

    def damage(self) -> Iterator[tuple[str, str]]:
        """Read every file through and yield (file, what is wrong) for those that are not as written."""
        for name, entry in self.files.items():
            path = self.file(name)
            try:
                self._check_size(name, entry)
                if "dtype" in entry:
                    self._map(name)
                with path.open("rb") as stream:
                    stream.seek(_data_begins(entry) if "dtype" in entry else 0)
                    found = _digest_stream(stream)
            except ArtefactError as error:
                yield path.name, error.what
                continue
            except OSError as error:
                yield path.name, error.strerror or str(error)
                continue
            if found != entry["digest"]:
                yield path.name, "its content is not what was written (digest differs)"

    def _check_size(self, name: str, entry: dict[str, Any]) -> None:
        path = self.path / entry["file"]
        try:
            status = path.lstat()
        except OSError:
            raise ArtefactError(f"{self.kind} is incomplete: a file is missing", where=str(path)) from None
        if not stat.S_ISREG(status.st_mode):
            raise ArtefactError("not a plain file", where=str(path))
        if status.st_size != entry["bytes"]:
            raise ArtefactError(
                f"has {status.st_size:,} bytes where {entry['bytes']:,} were written",
                where=str(path),
                hint="the file was cut or changed; copy or make the artefact again",
            )

    def _map(self, name: str) -> NDArray[Any]:
        """The array as the manifest describes it; the file's own header must say the same, to the byte."""
        path, entry = self.file(name), self.files[name]
        dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
        begin = _data_begins(entry)
        try:
            with path.open("rb") as stream:
                found = stream.read(begin) if 0 < begin <= _LONGEST_HEADER else b""
            if not found or found != _npy_header(dtype, shape, pad_to=begin):
                raise ArtefactError("the array's header is not what the manifest says", where=str(path))
            if 0 in shape:
                return np.empty(shape, dtype)
            return np.memmap(path, dtype, "c", begin, shape).view(np.ndarray)
        except OSError as error:
            raise ArtefactError(f"cannot be read: {error.strerror}", where=str(path)) from None


class ArtefactWriter:
    """Writes the files of one artefact; nothing is visible to readers before `commit`."""

    def __init__(self, path: Path, origins: Sequence[Artefact] = ()) -> None:
        self.path = path
        self.files: dict[str, dict[str, Any]] = {}
        self._origins = origins
        self._parts = 0
        self._written: list[Path] = []  # and not yet synced
        self._finished: dict[str, Path] = {}  # by the names that they are to have

    def array(self, name: str, values: NDArray[Any]) -> None:
        """Write a whole array; one that is mapped from an origin is linked instead."""
        for origin in self._origins:
            if source := origin.name_of(values):
                self.link(name, origin, source)
                return
        with self.stream(name, values.dtype, values.shape[1:]) as append:
            append(values)

    @contextmanager
    def stream(self, name: str, dtype: DTypeLike, row: tuple[int, ...] = ()) -> Iterator[Any]:
        """Write an array of unknown length block by block: yields the function that takes a block."""
        dtype = np.dtype(dtype)
        if not ARRAY_NAME.fullmatch(name) or dtype.str not in DTYPES:
            raise ValueError(f"{name!r} of type {dtype} cannot be stored")
        part = self._part()
        digest, length = hashlib.sha256(), 0
        with self._guard(part), part.open("w+b") as stream:
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
        self._written.append(part)
        entry = {
            "dtype": dtype.str,
            "shape": [length, *row],
            "bytes": size,
            "digest": digest.hexdigest(),
        }
        self._keep(name, part, entry, "npy")

    def parquet(self, name: str, part: Path) -> None:
        """Take over a finished Parquet file (it is moved)."""
        with self._guard(part), part.open("rb") as stream:
            digest = _digest_stream(stream)
        self._written.append(part)
        self._keep(name, part, {"bytes": part.stat().st_size, "digest": digest}, "parquet")

    def scratch(self) -> Path:
        """A path for a file that `parquet` will take over; removed if the writer fails."""
        return self._part()

    def link(self, name: str, source: Artefact, source_name: str) -> None:
        """Take a file of another artefact as it is: by hard link, by copy across file systems."""
        origin, entry = source.file(source_name), source.files[source_name]
        part = self._part()
        with self._guard(part):
            try:
                os.link(origin, part)
            except OSError:
                with origin.open("rb") as read, part.open("wb") as write:
                    while block := read.read(_CHUNK):
                        write.write(block)
                self._written.append(part)
        entry = {key: value for key, value in entry.items() if key != "file"}
        self._keep(name, part, entry, origin.suffix[1:])

    def commit(self, kind: str, **fields: Any) -> None:
        """Make what was written the artefact."""
        check_kind(self.path, kind)
        manifest = {
            "format": FORMAT,
            "coclick": __version__,
            "kind": kind,
            **fields,
            "files": self.files,
        }
        part = self.path / f".manifest-{os.getpid()}"
        with self._guard(part), part.open("w", encoding="utf-8") as stream:
            json.dump(manifest, stream, indent=1, ensure_ascii=False)
            stream.flush()
            os.fsync(stream.fileno())
            self._finish_files()
        _sync_directory(self.path)
        part.replace(self.path / MANIFEST)
        _sync_directory(self.path)
        collect(self.path, named_files(self.path))

    def _part(self) -> Path:
        self._parts += 1
        part = self.path / f".part-{os.getpid()}-{self._parts}"
        part.unlink(missing_ok=True)  # a dead process left it, perhaps as a link to a file that is in use
        return part

    def _keep(self, name: str, part: Path, entry: dict[str, Any], suffix: str) -> None:
        entry["file"] = f"{name}-{entry['digest'][:16]}.{suffix}"
        self._finished[entry["file"]] = part
        self.files[name] = entry

    def _finish_files(self) -> None:
        """Sync what was written, and then give all files their names: an older artefact may have the same."""
        with ThreadPoolExecutor(_SYNCED_TOGETHER) as pool:
            list(pool.map(_sync, self._written))
        for name, part in self._finished.items():
            part.replace(self.path / name)

    @contextmanager
    def _guard(self, part: Path) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            part.unlink(missing_ok=True)
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise CoclickError(
                    f"cannot write: {error.strerror}",
                    where=str(self.path),
                    hint="free some space or choose another output; nothing was changed",
                ) from None
            raise
        except BaseException:
            part.unlink(missing_ok=True)
            raise


@contextmanager
def writing(
    path: str | Path, *, force: bool = False, origins: Sequence[Artefact] = ()
) -> Iterator[ArtefactWriter]:
    """Open a directory for writing an artefact; refuses to replace one without `force`.

    Arrays that come from `origins` unchanged are hard-linked, not written again.

    Leaving the block before `commit` is through (an exception, Ctrl-C) removes what was written.
    """
    path = Path(path)
    check_output(path, force)
    created = not path.exists()
    with only_writer(path):
        writer = ArtefactWriter(path, origins)
        before = {entry.name for entry in path.iterdir()}
        try:
            yield writer
        except BaseException:
            collect(path, before | named_files(path))  # which is the new artefact if it was committed
            if created and not any(path.iterdir()):
                path.rmdir()
            raise


def content_digest(files: dict[str, dict[str, Any]]) -> str:
    """One digest over all files' names and digests."""
    lines = sorted(f"{name} {entry['digest']}" for name, entry in files.items())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _npy_header(dtype: np.dtype[Any], shape: tuple[int, ...], pad_to: int = 0) -> bytes:
    """An .npy version 1 header; `pad_to` reproduces the length of an earlier one for the same file."""
    text = repr({"descr": dtype.str, "fortran_order": False, "shape": shape})
    length = pad_to or -(-(10 + len(text) + 1) // 64) * 64
    text = text.ljust(length - 11) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode("latin1")


def _data_begins(entry: dict[str, Any]) -> int:
    """Where behind its header the data of an array's file begin, by the manifest."""
    return entry["bytes"] - math.prod(entry["shape"]) * np.dtype(entry["dtype"]).itemsize


def _digest_stream(stream: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while block := stream.read(_CHUNK):
        digest.update(block)
    return digest.hexdigest()


def _sync(path: Path) -> None:
    with path.open("r+b") as stream:  # Windows syncs only what may be written
        os.fsync(stream.fileno())


def _sync_directory(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
