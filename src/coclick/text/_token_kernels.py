"""Number the distinct pieces of a text, and spread what is known of each piece over its occurrences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit

SPACE, LINE_FEED = 32, 10
_FNV_OFFSET = np.uint64(14695981039346656037)
_FNV_PRIME = np.uint64(1099511628211)
_HALF = np.uint64(32)


@jit
def _hash(data: NDArray[np.uint8], first: int, last: int) -> np.uint64:
    """FNV-1a, its high bits folded into the low ones, which choose the slot."""
    value = _FNV_OFFSET
    for i in range(first, last):
        value = (value ^ np.uint64(data[i])) * _FNV_PRIME
    return value ^ (value >> _HALF)


@jit
def _same(
    a: NDArray[np.uint8], first: int, last: int, b: NDArray[np.uint8], b_first: int, b_last: int
) -> bool:
    if last - first != b_last - b_first:
        return False
    same = True
    for i in range(last - first):
        same &= a[first + i] == b[b_first + i]
    return same


@jit
def number_pieces(
    text: NDArray[np.uint8],
    slots: NDArray[np.int32],
    starts: NDArray[np.int64],
    known: NDArray[np.uint8],
    pieces: int,
    numbers: NDArray[np.int32],
) -> tuple[int, int]:
    """Number the pieces between blanks by first appearance; 0 stands for the end of a line.

    Piece p of those seen so far is `known[starts[p]:starts[p+1]]`; new ones are appended, for which the
    caller leaves room. `slots` is an open hash table of piece numbers (0 is free) with a power of two of
    places. Returns how many pieces are known now and how many numbers were written.
    """
    mask = np.uint64(len(slots) - 1)
    written = 0
    first = 0
    for i in range(len(text) + 1):
        if i < len(text) and text[i] != SPACE and text[i] != LINE_FEED:
            continue
        if i > first:
            slot = _hash(text, first, i) & mask
            number = slots[slot]
            while number and not _same(text, first, i, known, starts[number], starts[number + 1]):
                slot = (slot + np.uint64(1)) & mask
                number = slots[slot]
            if number == 0:
                number = pieces
                start = starts[number]
                for j in range(first, i):
                    known[start + j - first] = text[j]
                starts[number + 1] = start + i - first
                slots[slot] = number
                pieces += 1
            numbers[written] = number
            written += 1
        if i < len(text) and text[i] == LINE_FEED:
            numbers[written] = 0
            written += 1
        first = i + 1
    return pieces, written


@jit
def fill_slots(
    slots: NDArray[np.int32], starts: NDArray[np.int64], known: NDArray[np.uint8], pieces: int
) -> None:
    """Enter all known pieces into an empty hash table."""
    mask = np.uint64(len(slots) - 1)
    for number in range(1, pieces):
        slot = _hash(known, starts[number], starts[number + 1]) & mask
        while slots[slot]:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = number


@jit
def spread(
    numbers: NDArray[np.int32],
    bounds: NDArray[np.int64],
    words: NDArray[np.int32],
    line_ends: NDArray[np.int64],
    out: NDArray[np.int32],
) -> int:
    """Write the words of each piece, `words[bounds[p]:bounds[p+1]]`, one after the other.

    Returns how many there are; where the words of each line end goes to `line_ends`.
    """
    line = 0
    written = 0
    for number in numbers:
        if number == 0:
            line_ends[line] = written
            line += 1
        for word in range(bounds[number], bounds[number + 1]):
            out[written] = words[word]
            written += 1
    line_ends[line] = written
    return written


@jit
def tally(words: NDArray[np.int32], counts: NDArray[np.int64], class_of: NDArray[np.int32]) -> None:
    """Count every word and put its class in its place."""
    for i in range(len(words)):
        counts[words[i]] += 1
        words[i] = class_of[words[i]]
