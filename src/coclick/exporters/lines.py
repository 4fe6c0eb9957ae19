"""Rows of vectors as text, fast enough for a million documents, and files of a bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from json.encoder import encode_basestring
from operator import add
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.storage.directories import write_file

_PART = 16 << 20  # characters of a file, for engines that take requests of a bounded size


def numbers(values: NDArray[np.float32]) -> list[str]:
    """Nine digits, from which every float32 number is read back as it was."""
    return ("%.9g " * len(values) % tuple(values.tolist())).split()


def whole_numbers(values: NDArray[np.integer] | NDArray[np.floating]) -> list[str]:
    """Without a decimal point."""
    return list(map(str, values.astype(np.int64).tolist()))


def quoted(texts: Iterable[str]) -> list[str]:
    """Texts as JSON strings."""
    return list(map(encode_basestring, texts))


def pairs(rows: Csr, keys: Sequence[str], values: Sequence[str], between: str) -> list[str]:
    """Each row as `key + value` of its entries; `keys` are those of columns, `values` those of entries."""
    entries = list(map(add, map(keys.__getitem__, rows.indices.tolist()), values))
    return joined(rows, entries, between)


def joined(rows: Csr, entries: Sequence[str], between: str) -> list[str]:
    """The texts of each row's entries as one."""
    ends = rows.indptr.tolist()
    return [between.join(entries[a:b]) for a, b in zip(ends[:-1], ends[1:], strict=True)]


def write_terms(folder: Path, tokens: Sequence[str], ids: NDArray[np.int64]) -> None:
    """Which number stands for which word: a JSON string, a tab and the number on each line."""
    rows = zip(quoted(tokens), ids.tolist(), strict=True)
    write_file(folder / "terms.tsv", (f"{token}\t{number}\n" for token, number in rows))


def write_parts(folder: Path, name: str, pieces: Iterable[str], most: int = _PART) -> None:
    """Write pieces of text, none of which is cut, to files `name.format(0)` … of about that many."""
    pieces = iter(pieces)
    for number in count():
        first = next(pieces, None)
        if first is None and number:
            return
        write_file(folder / name.format(number), _up_to(first or "", pieces, most))


def _up_to(first: str, pieces: Iterator[str], most: int) -> Iterator[str]:
    yield first
    size = len(first)
    while size < most and (piece := next(pieces, None)) is not None:
        yield piece
        size += len(piece)
