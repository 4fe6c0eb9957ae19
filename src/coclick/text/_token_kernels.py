"""Number the distinct tokens of a text, and replace each occurrence by the words of its token."""

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
    """Return the FNV-1a hash, its high bits folded into the low ones, which choose the slot."""
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
def number_tokens(
    text: NDArray[np.uint8],
    slots: NDArray[np.int32],
    starts: NDArray[np.int64],
    data: NDArray[np.uint8],
    count: int,
    ids: NDArray[np.int32],
) -> tuple[int, int]:
    """Number the tokens between blanks by first appearance; id 0 is the end of a line.

    Token t of the table is `data[starts[t]:starts[t+1]]`; new ones are appended, for which the caller leaves
    room. `slots` is an open-addressing hash table of ids (0 is free), its size a power of two. Returns how
    many tokens the table has now and how many ids were written.
    """
    mask = np.uint64(len(slots) - 1)
    written = 0
    first = 0
    for i in range(len(text) + 1):
        if i < len(text) and text[i] != SPACE and text[i] != LINE_FEED:
            continue
        if i > first:
            slot = _hash(text, first, i) & mask
            token = slots[slot]
            while token and not _same(text, first, i, data, starts[token], starts[token + 1]):
                slot = (slot + np.uint64(1)) & mask
                token = slots[slot]
            if token == 0:
                token = count
                start = starts[token]
                for j in range(first, i):
                    data[start + j - first] = text[j]
                starts[token + 1] = start + i - first
                slots[slot] = token
                count += 1
            ids[written] = token
            written += 1
        if i < len(text) and text[i] == LINE_FEED:
            ids[written] = 0
            written += 1
        first = i + 1
    return count, written


@jit
def fill_slots(
    slots: NDArray[np.int32], starts: NDArray[np.int64], data: NDArray[np.uint8], count: int
) -> None:
    """Enter all tokens into an empty hash table."""
    mask = np.uint64(len(slots) - 1)
    for token in range(1, count):
        slot = _hash(data, starts[token], starts[token + 1]) & mask
        while slots[slot]:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = token


@jit
def expand_tokens(
    ids: NDArray[np.int32],
    bounds: NDArray[np.int64],
    words: NDArray[np.int32],
    line_ends: NDArray[np.int64],
    out: NDArray[np.int32],
) -> int:
    """Write the words of each token, `words[bounds[t]:bounds[t+1]]`, to `out`, and the end of each line.

    Returns how many words were written.
    """
    line = 0
    written = 0
    for token in ids:
        if token == 0:
            line_ends[line] = written
            line += 1
        for word in range(bounds[token], bounds[token + 1]):
            out[written] = words[word]
            written += 1
    line_ends[line] = written
    return written


@jit
def count_words(words: NDArray[np.int32], counts: NDArray[np.int64], term_of: NDArray[np.int32]) -> None:
    """Count every word, and replace it by its term, in place."""
    for i in range(len(words)):
        counts[words[i]] += 1
        words[i] = term_of[words[i]]
