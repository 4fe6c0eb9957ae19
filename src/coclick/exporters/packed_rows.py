"""Packed texts (`Strings`) as rows of a file: escape, format vectors, concatenate columns.

No Python object is made for a row, so a million documents take seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings
from coclick.errors import corrupt_error
from coclick.exporters import text_kernels as kernels
from coclick.storage.directories import write_file

NO_KEYS = Strings(np.zeros(1, np.int64), np.empty(0, np.uint8))
_PART_SIZE = 16 << 20  # bytes of a file, for engines that limit the size of a request
_ASCII = 128  # number of its characters
_JSON = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_CONTROLS = {chr(code): f"\\u{code:04x}" for code in range(32)}
_COPY = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


class Escapes:
    """What is written instead of some ASCII characters."""

    def __init__(self, escapes: dict[str, str]) -> None:
        """Fill a table with an entry for every byte."""
        texts = [escapes.get(chr(byte), "") for byte in range(128)]
        self.lengths = np.ones(256, np.int64)
        self.written = np.zeros((256, max(map(len, texts))), np.uint8)
        self.written[:, 0] = np.arange(256)
        for byte, text in enumerate(texts):
            if text:
                self.lengths[byte] = len(text)
                self.written[byte, : len(text)] = list(text.encode())


JSON, COPY = Escapes(_CONTROLS | _JSON), Escapes(_COPY)  # JSON strings; the text format of COPY


def text_slice(texts: Strings, first: int, last: int) -> Strings:
    """Return texts first … last − 1, which are valid UTF-8; raise if pointers are out of bounds."""
    offsets = texts.offsets[first : last + 1]
    if np.any(np.diff(offsets) < 0) or offsets[0] < 0 or offsets[-1] > len(texts.data):
        raise corrupt_error("the texts of documents are")
    data = texts.data[offsets[0] : offsets[-1]]
    if data.max(initial=0) >= _ASCII:
        try:
            data.tobytes().decode()
        except UnicodeDecodeError:
            return Strings.from_list(texts.to_list(first, last))
    return Strings(offsets - offsets[0], data)


def escape(texts: Strings, escapes: Escapes) -> Strings:
    """Replace characters in all texts."""
    size = int(escapes.lengths[texts.data].sum())
    if size == len(texts.data):
        return texts
    out, offsets = np.empty(size, np.uint8), np.zeros(len(texts) + 1, np.int64)
    kernels.escape(texts.offsets, texts.data, escapes.lengths, escapes.written, out, offsets)
    return Strings(offsets, out)


def format_rows(rows: Csr, keys: Strings = NO_KEYS, *, values: bool = True, separator: str = ",") -> Strings:
    """Return each row as its joined entries: the key of the column, and the value with nine digits."""
    joint = _bytes(separator)
    size = rows.nnz * (len(joint) + kernels.MAX_NUMBER * values)
    if len(keys):
        size += int(np.diff(keys.offsets)[rows.indices].sum())
    out, offsets = np.empty(size, np.uint8), np.zeros(rows.rows + 1, np.int64)
    data = rows.data.astype(np.float32, copy=False)
    kernels.format_entries(
        rows.indptr, rows.indices, data, keys.offsets, keys.data, joint, values, out, offsets
    )
    return Strings(offsets, out[: offsets[-1]])


def format_bits(rows: Csr, keys: Strings, suffixes: Strings, separator: str = ",") -> Strings:
    """Return for each row the keys of its entries with the suffix of each bit of their values."""
    joint = _bytes(separator)
    bits = len(suffixes)
    longest = int(np.diff(suffixes.offsets).max()) + len(joint)
    size = bits * (rows.nnz * longest + int(np.diff(keys.offsets)[rows.indices].sum()))
    out, offsets = np.empty(size, np.uint8), np.zeros(rows.rows + 1, np.int64)
    kernels.format_bits(
        rows.indptr, rows.indices, rows.data, keys.offsets, keys.data, suffixes.offsets, suffixes.data,
        joint, out, offsets,
    )  # fmt: skip
    return Strings(offsets, out[: offsets[-1]])


def concatenate(*columns: str | Strings) -> Strings:
    """Return rows that consist of the columns; a `str` is the same in every row."""
    rows = max(len(column) for column in columns if isinstance(column, Strings))
    parts = [column if isinstance(column, Strings) else _bytes(column) for column in columns]
    lengths = np.zeros(rows, np.int64)
    for part in parts:
        lengths += np.diff(part.offsets) if isinstance(part, Strings) else len(part)
    offsets = np.zeros(rows + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    out, places = np.empty(offsets[-1], np.uint8), offsets[:-1].copy()
    for part in parts:
        if isinstance(part, Strings):
            kernels.put_texts(part.offsets, part.data, out, places)
        else:
            kernels.put_literal(part, out, places)
    return Strings(offsets, out)


def write_rows(path: Path, blocks: Iterable[Strings]) -> None:
    """Write all rows to one file."""
    write_file(path, (block.data.data for block in blocks))


def write_term_ids(folder: Path, tokens: Sequence[str], ids: Strings) -> None:
    """Write `terms.tsv`: on each line a token as JSON string, a tab, and its id."""
    words = escape(Strings.from_list(tokens), JSON)
    write_rows(folder / "terms.tsv", [concatenate('"', words, '"\t', ids, "\n")])


def write_row_parts(folder: Path, name: str, blocks: Iterable[Strings], max_size: int = _PART_SIZE) -> None:
    """Write rows to files `name.format(0)` … of about `max_size` bytes; no row is split."""
    pieces = (piece for block in blocks for piece in cut_rows(block, max_size // 8))
    for number in count():
        first = next(pieces, None)
        if first is None and number:
            return
        write_file(folder / name.format(number), _up_to(first, pieces, max_size))


def cut_rows(block: Strings, max_size: int) -> Iterator[memoryview]:
    """Cut a block into pieces of whole rows of at most `max_size` bytes, or of one row."""
    first = 0
    while first < len(block):
        end = block.offsets[first] + max_size
        last = max(int(np.searchsorted(block.offsets, end, side="right")) - 1, first + 1)
        last = min(last, len(block))
        yield block.data.data[int(block.offsets[first]) : int(block.offsets[last])]
        first = last


def _up_to(first: memoryview | None, pieces: Iterator[memoryview], max_size: int) -> Iterator[memoryview]:
    if first is None:
        return
    yield first
    size = len(first)
    while size < max_size and (piece := next(pieces, None)) is not None:
        yield piece
        size += len(piece)


def hash_texts(texts: Strings, seed: int = 0) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each text."""
    out = np.empty(len(texts), np.uint64)
    kernels.hash_texts(texts.offsets, texts.data, seed, out)
    return out


def hash_numbers(numbers: NDArray[np.int64] | Sequence[int]) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each number."""
    out = np.empty(len(numbers), np.uint64)
    kernels.hash_numbers(np.asarray(numbers, np.int64), out)
    return out


def _bytes(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), np.uint8)
