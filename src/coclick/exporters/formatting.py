"""Vectors and tokens as text, fast enough for a million documents, and files of bounded size."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from json.encoder import encode_basestring
from operator import add
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.storage.directories import write_file

_PART_SIZE = 16 << 20  # characters of a file, for engines that limit the size of a request


def format_floats(values: NDArray[np.float32]) -> list[str]:
    """Return float32 numbers with nine digits, which is enough to read back the same numbers."""
    return ("%.9g " * len(values) % tuple(values.tolist())).split()


def format_integers(values: NDArray[np.integer] | NDArray[np.floating]) -> list[str]:
    """Return whole numbers without a decimal point."""
    return list(map(str, values.astype(np.int64).tolist()))


def json_strings(texts: Iterable[str]) -> list[str]:
    """Return texts as JSON strings."""
    return list(map(encode_basestring, texts))


def join_pairs(rows: Csr, keys: Sequence[str], values: Sequence[str], separator: str) -> list[str]:
    """Return each row as the joined `key + value` of its entries: one key per column, one value per entry."""
    entries = list(map(add, map(keys.__getitem__, rows.indices.tolist()), values))
    return join_entries(rows, entries, separator)


def join_entries(rows: Csr, entries: Sequence[str], separator: str) -> list[str]:
    """Join the texts of each row's entries."""
    ends = rows.indptr.tolist()
    return [separator.join(entries[a:b]) for a, b in zip(ends[:-1], ends[1:], strict=True)]


def percent_encode(tokens: Sequence[str], characters: str) -> list[str]:
    """Encode these characters and % as in URLs: `3.5mm` becomes `3%2E5mm`."""
    pattern = re.compile(f"[{characters}%]")
    return [pattern.sub(_percent, token) if pattern.search(token) else token for token in tokens]


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


def write_parts(folder: Path, name: str, pieces: Iterable[str], max_size: int = _PART_SIZE) -> None:
    """Write pieces of text to files `name.format(0)` … of about `max_size`; no piece is split."""
    pieces = iter(pieces)
    for number in count():
        first = next(pieces, None)
        if first is None and number:
            return
        write_file(folder / name.format(number), _up_to(first or "", pieces, max_size))


def _up_to(first: str, pieces: Iterator[str], max_size: int) -> Iterator[str]:
    yield first
    size = len(first)
    while size < max_size and (piece := next(pieces, None)) is not None:
        yield piece
        size += len(piece)
