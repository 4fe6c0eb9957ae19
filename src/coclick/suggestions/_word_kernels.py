"""Compiled code of words: look them up, and find all words that a text without blanks contains."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit, jit_inline


@jit_inline
def _byte_at(offsets, data, word, depth):  # type: ignore[no-untyped-def]
    """A byte of a word; −1 after its end, −2 if the pointers are out of bounds."""
    first, last = offsets[word], offsets[word + 1]
    if first < 0 or last < first or last > len(data):
        return np.int64(-2)
    return np.int64(data[first + depth]) if first + depth < last else np.int64(-1)


@jit
def find_pieces(
    offsets: NDArray[np.int64], data: NDArray[np.uint8], text: NDArray[np.uint8], max_piece: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], bool]:
    """Return all words, sorted by their bytes, that occur in a text: first byte, last byte, number.

    Words of more than `max_piece` bytes are left out. The fourth value says whether a pointer was out of
    bounds.
    """
    room = len(text) * max_piece
    begins, ends, words = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32)
    count, damaged = 0, False
    for begin in range(len(text)):
        low, high = 0, len(offsets) - 1
        for depth in range(min(max_piece, len(text) - begin)):
            wanted = np.int64(text[begin + depth])
            first = low
            for end in range(2):  # where the words with this byte begin and end
                left, right = first, high
                while left < right:
                    middle = (left + right) // 2
                    byte = _byte_at(offsets, data, middle, depth)
                    damaged |= byte == -2
                    if byte < wanted + end:
                        left = middle + 1
                    else:
                        right = middle
                if end == 0:
                    first = left
                else:
                    high = left
            low = first
            if low >= high:
                break
            if _byte_at(offsets, data, low, depth + 1) == -1:
                begins[count], ends[count], words[count] = begin, begin + depth + 1, low
                count += 1
    return begins[:count], ends[:count], words[:count], damaged
