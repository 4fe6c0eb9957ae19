"""The E-step of IBM Model 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit


@jit
def expect(
    first: int,
    last: int,
    query_of: NDArray[np.int32],
    title_of: NDArray[np.int32],
    weights: NDArray[np.float32],
    query_indptr: NDArray[np.int64],
    query_words: NDArray[np.int32],
    query_counts: NDArray[np.float32],
    title_indptr: NDArray[np.int64],
    title_words: NDArray[np.int32],
    title_counts: NDArray[np.float32],
    indptr: NDArray[np.int64],
    words: NDArray[np.int32],
    table: NDArray[np.float32],
    null_row: int,
    expected: NDArray[np.float64],
) -> float:
    """Add the expected counts of translations for pairs `first` … `last` − 1; return their log-likelihood.

    The table has a row for each title word, with query words ascending, and row `null_row` for the null word
    (−1: there is none). A title of n words, the null word included, generates each query word with
    probability Σ_w count_w · t(q|w) / n.
    """
    longest = 1
    for title in range(len(title_indptr) - 1):
        longest = max(longest, title_indptr[title + 1] - title_indptr[title] + 1)
    entries = np.empty(longest, np.int64)
    shares = np.empty(longest, np.float64)
    likelihood = 0.0
    for pair in range(first, last):
        title = title_of[pair]
        begin, end = title_indptr[title], title_indptr[title + 1]
        size = 1.0 if null_row >= 0 else 0.0
        for at in range(begin, end):
            size += title_counts[at]
        for asked in range(query_indptr[query_of[pair]], query_indptr[query_of[pair] + 1]):
            word, count = query_words[asked], weights[pair] * query_counts[asked]
            found, total = 0, 0.0
            for at in range(begin, end + (1 if null_row >= 0 else 0)):
                row = title_words[at] if at < end else null_row
                times = title_counts[at] if at < end else np.float32(1)
                entry = _find_entry(indptr, words, row, word)
                if entry >= 0:
                    entries[found], shares[found] = entry, np.float64(times) * np.float64(table[entry])
                    total += shares[found]
                    found += 1
            if total > 0:
                likelihood += count * np.log(total / size)
                for i in range(found):
                    expected[entries[i]] += count * shares[i] / total
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
