"""The E-step of IBM Model 1: the entries of the table are located once, and used in each iteration."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit


@jit
def locate(
    first: int,
    last: int,
    query_of: NDArray[np.int32],
    title_of: NDArray[np.int32],
    query_indptr: NDArray[np.int64],
    query_words: NDArray[np.int32],
    title_indptr: NDArray[np.int64],
    title_words: NDArray[np.int32],
    indptr: NDArray[np.int64],
    words: NDArray[np.int32],
    null_row: int,
    entries: NDArray[np.int32],
) -> None:
    """Find the entry of the table for each query word and title word of pairs `first` … `last` − 1.

    The table has a row for each title word, with query words ascending, and row `null_row` for the null word
    (−1: there is none), which comes after the words of the title.
    """
    found = 0
    for pair in range(first, last):
        begin, end = title_indptr[title_of[pair]], title_indptr[title_of[pair] + 1]
        for asked in range(query_indptr[query_of[pair]], query_indptr[query_of[pair] + 1]):
            for at in range(begin, end):
                entries[found] = _find_entry(indptr, words, title_words[at], query_words[asked])
                found += 1
            if null_row >= 0:
                entries[found] = _find_entry(indptr, words, null_row, query_words[asked])
                found += 1


@jit
def expect(
    first: int,
    last: int,
    query_of: NDArray[np.int32],
    title_of: NDArray[np.int32],
    weights: NDArray[np.float32],
    query_indptr: NDArray[np.int64],
    query_counts: NDArray[np.float32],
    title_indptr: NDArray[np.int64],
    title_counts: NDArray[np.float32],
    table: NDArray[np.float32],
    has_null_word: bool,
    entries: NDArray[np.int32],
    expected: NDArray[np.float64],
) -> float:
    """Add the expected counts of translations for pairs `first` … `last` − 1; return their log-likelihood.

    A title of n words, the null word included, generates each query word with probability
    Σ_w count_w · t(q|w) / n. `entries` are those of `locate`.
    """
    longest = 1
    for title in range(len(title_indptr) - 1):
        longest = max(longest, title_indptr[title + 1] - title_indptr[title] + 1)
    shares = np.empty(longest, np.float64)
    likelihood, start = 0.0, 0
    for pair in range(first, last):
        begin, end = title_indptr[title_of[pair]], title_indptr[title_of[pair] + 1]
        n_words = end - begin + (1 if has_null_word else 0)
        size = 1.0 if has_null_word else 0.0
        for at in range(begin, end):
            size += title_counts[at]
        for asked in range(query_indptr[query_of[pair]], query_indptr[query_of[pair] + 1]):
            count, total = weights[pair] * query_counts[asked], 0.0
            for i in range(n_words):
                entry = entries[start + i]
                times = title_counts[begin + i] if begin + i < end else np.float32(1)
                shares[i] = np.float64(times) * np.float64(table[entry]) if entry >= 0 else 0.0
                total += shares[i]
            if total > 0:
                likelihood += count * np.log(total / size)
                for i in range(n_words):
                    if entries[start + i] >= 0:
                        expected[entries[start + i]] += count * shares[i] / total
            start += n_words
    return likelihood


@jit
def _find_entry(indptr: NDArray[np.int64], words: NDArray[np.int32], row: int, word: int) -> int:
    """The entry of a word in a row, or −1."""
    low, high = indptr[row], indptr[row + 1]
    while low < high:
        middle = (low + high) >> 1
        if words[middle] < word:
            low = middle + 1
        else:
            high = middle
    if low < indptr[row + 1] and words[low] == word:
        return low
    return -1
