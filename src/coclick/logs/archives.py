"""Decompress files that DuckDB cannot: zip, bzip2, xz and Zstandard. What they may expand to is limited."""

from __future__ import annotations

import bz2
import importlib
import lzma
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

from coclick.errors import UserError

MAX_RATIO = 200  # logs compress to a tenth or a fiftieth of their size
_ALWAYS_ALLOWED = 1_000_000_000
_FREE = 500_000_000  # bytes of the disk that stay free
_BLOCK = 1 << 20
_BLOCKS_PER_CHECK = 64
_MAGIC = {b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_OTHERS = {  # what else begins with these bytes, and what to do
    (0, b"SQLite format 3\0"): ("an SQLite database", "name it with --database, and write a query in --sql"),
    (8, b"DUCK"): ("a DuckDB database", "name it with --database, and write a query in --sql"),
    (257, b"ustar"): ("a tar archive", "unpack it and name its files"),
}
_DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError, ValueError)
_ZSTD = (("compression.zstd", "open"), ("backports.zstd", "open"), ("zstandard", "open"))


def detect_compression(magic: bytes, name: str) -> str | None:
    """Return how a file is compressed, by its first bytes, if it must be decompressed here; else None."""
    for (at, sign), (what, hint) in _OTHERS.items():
        if magic[at:].startswith(sign):
            raise UserError(f"the file is {what}", where=name, hint=hint)
    return next((kind for sign, kind in _MAGIC.items() if magic.startswith(sign)), None)


def max_expanded(compressed: int) -> int:
    """Return how many bytes a compressed file may expand to."""
    return max(_ALWAYS_ALLOWED, MAX_RATIO * compressed)


def expansion_error(name: str, compressed: int) -> UserError:
    """Return the error for a file that expands beyond the limit."""
    limit = f"{max_expanded(compressed):,} bytes ({MAX_RATIO} times its size, but at least 1 GB)"
    return UserError(
        f"the file expands to more than {limit}",
        where=name,
        hint="if this is right, decompress it and name the result",
    )


def decompress(path: Path, kind: str, name: str, out: Path) -> None:
    """Write the content of a compressed file to `out`."""
    size = path.stat().st_size
    with _errors(kind, name), _open(path, kind, name) as stream:
        copy_bounded(stream, out, name, size)


def zip_members(path: Path, name: str) -> list[str]:
    """Return the names of the files in a zip archive."""
    with _errors("zip", name), zipfile.ZipFile(path) as archive:
        members = [
            info
            for info in archive.infolist()
            if not info.is_dir() and not info.filename.startswith("__MACOSX/")
        ]
    if any(info.filename == "[Content_Types].xml" for info in members):
        raise UserError("the file is an Office document", where=name, hint="save the sheet as CSV (UTF-8)")
    if not members:
        raise UserError("the zip archive has no files", where=name)
    if any(info.flag_bits & 1 for info in members):
        raise UserError("the zip archive is encrypted", where=name, hint="unpack it and name its files")
    return sorted(info.filename for info in members)


def extract(path: Path, member: str, name: str, out: Path) -> None:
    """Write one file of a zip archive to `out`, whatever path its name has."""
    size = path.stat().st_size
    with _errors("zip", name), zipfile.ZipFile(path) as archive, archive.open(member) as stream:
        copy_bounded(stream, out, name, size)


class Readable(Protocol):
    """What can be read in blocks."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes, none at the end."""
        ...


def copy_bounded(stream: Readable, out: Path, name: str, compressed: int | None = None) -> None:
    """Copy a stream to a file. Raise if it expands beyond the limit, or would fill the disk."""
    limit = None if compressed is None else max_expanded(compressed)
    written, blocks = 0, 0
    with out.open("wb") as target:
        while block := stream.read(_BLOCK):
            if blocks % _BLOCKS_PER_CHECK == 0 and shutil.disk_usage(out.parent).free < _FREE:
                raise UserError(
                    "the disk is full",
                    where=f"{out.parent}, while {name} was copied there",
                    hint="free some space or choose another output; the output is unchanged",
                )
            written, blocks = written + len(block), blocks + 1
            if limit is not None and written > limit:
                raise expansion_error(name, compressed or 0)
            target.write(block)


def _open(path: Path, kind: str, name: str) -> IO[bytes]:
    if kind == "bzip2":
        return bz2.open(path, "rb")
    if kind == "xz":
        return lzma.open(path, "rb")
    return _open_zstd(path, name)


def _open_zstd(path: Path, name: str) -> Any:
    """Open with Python 3.14 or later, or with a library that is installed."""
    for module, function in _ZSTD:
        try:
            return getattr(importlib.import_module(module), function)(path, "rb")
        except ImportError:
            continue
    try:
        return importlib.import_module("pyarrow").input_stream(str(path), compression="zstd")
    except ImportError:
        raise UserError(
            "a file compressed with Zstandard cannot be read with this Python",
            where=name,
            hint="decompress it (zstd -d), or run pip install zstandard",
        ) from None


@contextmanager
def _errors(kind: str, name: str) -> Iterator[None]:
    """Report damaged files. Each library has its own errors."""
    try:
        yield
    except UserError:
        raise
    except _DAMAGED as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise UserError(
            f"the {kind} file is damaged: {reason}",
            where=name,
            hint="copy it again or leave it out",
        ) from None
