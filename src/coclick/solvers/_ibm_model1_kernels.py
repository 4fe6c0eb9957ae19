"""One step of expectation maximisation for word translation, over some of the pairs of texts."""

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
    nothing: int,
    expected: NDArray[np.float64],
) -> float:
    """Add the expected counts of translations for pairs `first` … `last` − 1; their log-likelihood.

    The table has a row for each word of titles, with the words of queries ascending, and row `nothing` for
    the word that stands for none. A title of n words brings forth each word of the query with probability
    Σ_w count_w · t(q|w) / n, the word that is none counting as one of the n, if `nothing` is not negative.
    """
    most = 1
    for title in range(len(title_indptr) - 1):
        most = max(most, title_indptr[title + 1] - title_indptr[title] + 1)
    places = np.empty(most, np.int64)
    shares = np.empty(most, np.float64)
    likelihood = 0.0
    for pair in range(first, last):
        title = title_of[pair]
        begin, end = title_indptr[title], title_indptr[title + 1]
        size = 1.0 if nothing >= 0 else 0.0
        for at in range(begin, end):
            size += title_counts[at]
        for asked in range(query_indptr[query_of[pair]], query_indptr[query_of[pair] + 1]):
            word, count = query_words[asked], weights[pair] * query_counts[asked]
            found, total = 0, 0.0
            for at in range(begin, end + (1 if nothing >= 0 else 0)):
                row = title_words[at] if at < end else nothing
                times = title_counts[at] if at < end else np.float32(1)
                place = _place(indptr, words, row, word)
                if place >= 0:
                    places[found], shares[found] = place, np.float64(times) * np.float64(table[place])
                    total += shares[found]
                    found += 1
            if total > 0:
                likelihood += count * np.log(total / size)
                for i in range(found):
                    expected[places[i]] += count * shares[i] / total
    return likelihood


@jit
def _place(indptr: NDArray[np.int64], words: NDArray[np.int32], row: int, word: int) -> int:
    """Where a row has a word; −1 if it does not."""
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
