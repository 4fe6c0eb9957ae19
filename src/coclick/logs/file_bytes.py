"""Read the bytes of log files, gzipped or not: the first lines, and lines that are too long."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import IO

from coclick.errors import UserError
from coclick.logs import archives

_SAMPLE_BYTES = 1 << 24  # of the first lines, at most
_LATER_START = 1 << 18  # bytes of a file from which places behind its first lines are looked at
_PLACES, _PLACE_BYTES, _PLACE_LINES = 16, 1 << 16, 100
_GZIP_STEP = 1 << 21  # decompressed bytes between two places
GZIP = b"\x1f\x8b"
MAX_RAW_CHARS = 10_000  # of a rejected line, the same limit as DuckDB's


def first_bytes(path: Path, count: int) -> bytes:
    """Return the first bytes of a file."""
    try:
        with path.open("rb") as stream:
            return stream.read(count)
    except OSError as error:
        raise UserError(f"the file cannot be read: {error.strerror}", where=str(path)) from None


def is_gzipped(path: Path) -> bool:
    """Return whether a file is compressed with gzip."""
    return first_bytes(path, 2) == GZIP


@contextmanager
def reading(path: Path, gzipped: bool) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, decompressed; errors of reading name the file."""
    try:
        with open_bytes(path, gzipped) as stream:
            yield stream
    except (OSError, EOFError, zlib.error) as error:
        raise _gzip_error(path, error) if gzipped else error from None


def first_lines(path: Path, gzipped: bool, count: int) -> list[str]:
    """Return the first lines as text. Invalid UTF-8 is replaced here and rejected when rows are read."""
    lines: list[bytes] = []
    size = 0
    with reading(path, gzipped) as stream:
        while len(lines) < count and size < _SAMPLE_BYTES and (line := stream.readline(1 << 22)):
            lines.append(line)
            size += len(line)
    text = [line.decode("utf-8", "replace").rstrip("\r\n") for line in lines]
    text = [part for line in text for part in line.split("\r")][:count]  # DuckDB also ends a line at \r
    return [text[0].removeprefix("\ufeff"), *text[1:]] if text else []


def later_lines(path: Path, gzipped: bool) -> list[str]:
    """Return lines from places behind the first megabyte: records of another kind may begin there.

    Of a compressed file only the first part is looked at, because it can only be read in order.
    """
    size = path.stat().st_size
    if size < (_PLACE_BYTES if gzipped else _LATER_START):
        return []
    found: list[bytes] = []
    with reading(path, gzipped) as stream:
        steps = [_GZIP_STEP * step for step in range(1, _PLACES)] if gzipped else _spread(size)
        for place in steps:
            stream.seek(place)
            lines = stream.read(_PLACE_BYTES).split(b"\n")[1:-1]
            if not lines and stream.tell() < place + _PLACE_BYTES:
                break  # the end of a compressed file
            half = _PLACE_LINES // 2
            found += lines[:half] + lines[half:][-half:]
    return [line.decode("utf-8", "replace").rstrip("\r") for line in found]


def _spread(size: int) -> list[int]:
    """Places spread over a file, the last one close to its end."""
    last = max(size - _PLACE_BYTES, 0)
    return [last * step // _PLACES for step in range(1, _PLACES + 1)]


def open_bytes(path: Path, gzipped: bool) -> IO[bytes]:
    """Open a file for reading bytes, decompressed."""
    return gzip.open(path, "rb") if gzipped else path.open("rb")  # type: ignore[return-value]


def find_long_lines(
    path: Path, gzipped: bool, max_bytes: int, stop: Event, name: str
) -> list[tuple[int, str]]:
    """Scan a text file for lines of `max_bytes` or more; return their numbers and first characters.

    DuckDB silently drops such a line if it crosses two of its buffers. DuckDB does not verify gzip checksums
    either; reading the whole file here does.
    """
    if not gzipped and path.stat().st_size < max_bytes:
        return []
    try:
        found: list[tuple[int, str]] = []
        for count_lines in (False, True):  # counting takes ten times as long, so only if there are any
            with open_bytes(path, gzipped) as stream:
                blocks = _bounded_blocks(path, gzipped, stream, stop, name)
                found = list(_scan_long_lines(blocks, max_bytes, count_lines))
            if not found:
                break
        return found
    except (OSError, EOFError, zlib.error) as error:
        raise _gzip_error(path, error) if gzipped else error from None


def _bounded_blocks(path: Path, gzipped: bool, stream: IO[bytes], stop: Event, name: str) -> Iterator[bytes]:
    """Yield the content in blocks that do not split \r\n; raise if a gzip file expands beyond the limit."""
    size = path.stat().st_size
    limit = archives.max_expanded(size) if gzipped else size
    while not stop.is_set() and (block := stream.read(1 << 20)):
        if stream.tell() > limit and gzipped:
            raise archives.expansion_error(name, size)
        yield block + stream.read(1) if block.endswith(b"\r") else block


def _scan_long_lines(blocks: Iterator[bytes], max_bytes: int, count_lines: bool) -> Iterator[tuple[int, str]]:
    """See `find_long_lines`. Line numbers are correct only with `count_lines`."""
    line, length, start = 1, 0, b""
    for chunk in blocks:
        last = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        if last < 0:
            start = (start + chunk)[:MAX_RAW_CHARS]
            length += len(chunk)
            continue
        first = min(at for at in (chunk.find(b"\n"), chunk.find(b"\r")) if at >= 0)
        if length + first >= max_bytes:
            yield line, start.decode("utf-8", "replace")
        if count_lines:
            line += chunk.count(b"\n") + chunk.count(b"\r") - chunk.count(b"\r\n")
        start, length = chunk[last + 1 :][:MAX_RAW_CHARS], len(chunk) - last - 1
    if length >= max_bytes:
        yield line, start.decode("utf-8", "replace")


def _gzip_error(path: Path, error: Exception) -> UserError:
    return UserError(
        f"the gzip file is damaged: {error}", where=str(path), hint="copy it again or leave it out"
    )
