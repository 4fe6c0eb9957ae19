"""Word vectors from a file: word2vec in text or binary form, or GloVe; also gzipped.

    word2vec text      first line "words dimensions", then a line for each word: the word and its numbers
    word2vec binary    the same first line, then each word, a space and its numbers as float32
    GloVe              like word2vec text, but without the first line

Only vectors of wanted words are kept, so memory does not depend on the size of the file. A wanted word that
the file has only with capitals gets that vector; if a word occurs twice, the first one counts. Words that
are not UTF-8 match nothing.
"""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError

MAX_DIM = 4096
_MAX_WORD = 4096  # bytes
_MAX_NUMBER = 64  # characters
_CHUNK = 1 << 20
_SAMPLE = 1 << 16
_CONTROL = bytes([*range(9), *range(14, 32)])  # never in text; nearly always in a sample of binary numbers


class Entry(NamedTuple):
    """One word of a file with its numbers, not yet parsed, and where it is."""

    word: bytes
    numbers: bytes
    where: str


class FileVectors(NamedTuple):
    """One unit vector for each wanted word, zeros for those not found; and the number of words read."""

    vectors: NDArray[np.float32]
    file_words: int


def read_word_vectors(path: str, wanted: Sequence[str]) -> FileVectors:
    """Read the vectors of some words from a file; raise if it is damaged or has none of them."""
    file = Path(path).expanduser()
    if not file.is_file():
        raise UserError("there is no such file of word vectors", where=str(file))
    try:
        with file.open("rb") as raw:
            zipped = raw.peek(2)[:2] == b"\x1f\x8b"
            stream = gzip.GzipFile(fileobj=raw) if zipped else raw
            return _read(cast(BinaryIO, stream), str(file), wanted)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"the word vectors cannot be read: {error}", where=str(file)) from error


def _read(stream: BinaryIO, name: str, wanted: Sequence[str]) -> FileVectors:
    words, dim = _read_header(stream, name)
    start = stream.tell()
    sample = stream.read(_SAMPLE)
    stream.seek(start)
    is_binary = words is not None and len(sample.translate(None, _CONTROL)) < len(sample)
    entries = _binary(stream, name, dim, words or 0) if is_binary else _text(stream, name, dim, words)
    rows = {word.encode(): row for row, word in enumerate(wanted)}
    vectors = np.zeros((len(wanted), dim), np.float32)
    exact = np.zeros(len(wanted), bool)
    found = np.zeros(len(wanted), bool)
    count = 0
    for entry in entries:
        count += 1
        row = rows.get(entry.word)
        is_exact = row is not None
        if row is None and (row := rows.get(_lower_case(entry.word))) is None:
            continue
        if exact[row] or (found[row] and not is_exact):
            continue
        vectors[row] = _numbers(entry, is_binary)
        exact[row], found[row] = is_exact, True
    if not found.any():
        raise UserError(
            f"none of the {len(wanted):,} words of the log is in this file", where=name,
            hint="word vectors must be of the language of the log",
        )  # fmt: skip
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return FileVectors((vectors / np.maximum(lengths, 1e-30)).astype(np.float32), count)


def _read_header(stream: BinaryIO, name: str) -> tuple[int | None, int]:
    """The number of words, None without a header, and the dimensions; the next entry is to be read next."""
    limit = _MAX_WORD + MAX_DIM * _MAX_NUMBER
    line = stream.readline(limit + 1)
    fields = line.split()
    words = None
    if len(fields) == 2 and all(field.isdigit() and len(field) < 16 for field in fields):
        words, dim = int(fields[0]), int(fields[1])
    else:
        stream.seek(0)
        dim = len(fields) - 1
        if len(line) > limit or dim < 1 or not all(map(_is_number, fields[1:])):
            raise UserError(
                "this is no file of word vectors", where=f"{name}, line 1",
                hint="use word2vec (text or binary) or GloVe files",
            )  # fmt: skip
    if not 1 <= dim <= MAX_DIM:
        raise UserError(
            f"word vectors cannot have {dim:,} dimensions", where=f"{name}, line 1",
            hint=f"they may have from 1 to {MAX_DIM:,}",
        )  # fmt: skip
    return words, dim


def _text(stream: BinaryIO, name: str, dim: int, words: int | None) -> Iterator[Entry]:
    """The entries of a text file, line by line."""
    limit = _MAX_WORD + dim * _MAX_NUMBER
    count, number = 0, 0 if words is None else 1
    while line := stream.readline(limit + 1):
        number += 1
        where = f"{name}, line {number:,}"
        if len(line) > limit:
            raise UserError(f"the line is too long for a word and {dim} numbers", where=where)
        line = line.rstrip().replace(b"\t", b" ")
        if not line:
            continue
        word = line.partition(b" ")[0]
        if line.count(b" ") != dim:
            word, *numbers = line.rsplit(b" ", dim)  # a word may contain spaces
            if len(numbers) != dim or _is_number(word.rpartition(b" ")[2]):
                have = sum(map(_is_number, line.split()[1:]))
                raise UserError(f"the word has {have:,} numbers, not {dim:,}", where=where)
        count += 1
        yield Entry(word, line[len(word) + 1 :], where)
    if words is not None and count < words:
        raise UserError(f"the file has {count:,} of the {words:,} words that its first line says", where=name)


def _binary(stream: BinaryIO, name: str, dim: int, words: int) -> Iterator[Entry]:
    """The entries of a binary file; a line feed before a word is not part of it."""
    buffer, at, offset = b"", 0, stream.tell()
    size = 4 * dim
    for count in range(words):
        space = buffer.find(b" ", at)
        while space < 0 or len(buffer) < space + 1 + size:
            if space < 0 and len(buffer) - at > _MAX_WORD:
                raise UserError("a word is too long", where=f"{name}, byte {offset + at:,}")
            more = stream.read(_CHUNK)
            if not more:
                raise UserError(
                    f"the file ends after {count:,} of the {words:,} words that its first line says",
                    where=f"{name}, byte {offset + at:,}", hint="it may be damaged, or not fully copied",
                )  # fmt: skip
            buffer, offset, at = buffer[at:] + more, offset + at, 0
            space = buffer.find(b" ")
        word = buffer[at:space].lstrip(b"\n")
        yield Entry(word, buffer[space + 1 : space + 1 + size], f"{name}, byte {offset + at:,}")
        at = space + 1 + size


def _numbers(entry: Entry, is_binary: bool) -> NDArray[np.float32]:
    try:
        with np.errstate(over="ignore"):
            values = (
                np.frombuffer(entry.numbers, "<f4")
                if is_binary
                else np.array([float(number) for number in entry.numbers.split(b" ")]).astype(np.float32)
            )
    except ValueError:
        values = np.full(1, np.nan, np.float32)
    if not np.isfinite(values).all():
        word = entry.word.decode(errors="replace")
        raise UserError(
            f"the vector of {word!r:.100} has a value that is no finite number", where=entry.where
        )
    return values


def _is_number(text: bytes) -> bool:
    try:
        return math.isfinite(float(text)) and b"_" not in text
    except ValueError:
        return False


def _lower_case(word: bytes) -> bytes:
    try:
        return word.decode().lower().encode()
    except UnicodeDecodeError:
        return word
