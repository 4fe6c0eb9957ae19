"""One EM iteration for topics, in blocks of pairs, without a copy of the word counts per thread.

A pair of texts has a distribution over topics (`mix`), a word has a row of P(word|topic). The expected number
of tokens of word w from topic z is Σ over pairs of c · mix[z] · P(w|z), with a coefficient c for each token:
its count over the normaliser of its posterior. A block of pairs takes two steps, each writing disjoint rows:

1. by pairs (`expect`): the coefficients of the tokens, and the new mix of each pair;
2. by words (`accumulate`): Σ c · mix over the tokens of each word. The factor P(w|z) is the same for all of
   them and is multiplied in once per iteration.

The tokens of a block (distinct words of a text with their counts) are in one array; `starts` has the start of
each text, the two texts of a pair in turn.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit
from coclick.jit.intrinsics import prefetch
from coclick.jit.math import CACHE_LINE, add_scaled, dot, sum_of_logs

_AHEAD = 8  # prefetch distance, in tokens or texts
_SMALL = 1e-200  # below this, a product of probabilities is turned into a logarithm, before it underflows


@jit
def lay_out(
    first: int,
    last: int,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    rows: NDArray[np.int32],
    shift: int,
    starts: NDArray[np.int64],
    side: int,
    words: NDArray[np.int32],
    counts: NDArray[np.float32],
) -> None:
    """Write the words of one side of pairs first … last, plus `shift`, and their counts."""
    for pair in range(first, last):
        prefetch(indptr, rows[min(pair + 2 * _AHEAD, last - 1)])
        soon = indptr[rows[min(pair + _AHEAD, last - 1)]]
        prefetch(indices, soon)
        prefetch(data, soon)
        out = starts[2 * pair + side]
        for at in range(indptr[rows[pair]], indptr[rows[pair] + 1]):
            words[out] = indices[at] + shift
            counts[out] = data[at]
            out += 1


@jit
def expect(
    first: int,
    last: int,
    starts: NDArray[np.int64],
    words: NDArray[np.int32],
    counts: NDArray[np.float32],
    weights: NDArray[np.float32],
    given: NDArray[np.float32],
    topics: int,
    prior: np.float32,
    mixes: NDArray[np.float32],
    fitted: NDArray[np.float32],
    gains: NDArray[np.float64],
) -> None:
    """Write the new mixes of pairs first … last to `fitted`, and their log-likelihoods to `gains`.

    `counts` become coefficients. `given` has P(word|topic), a row per word. `prior` is added to the expected
    count of each topic.
    """
    total = np.empty(given.shape[1], np.float32)
    for pair in range(first, last):
        mix, weight = mixes[pair], weights[pair]
        total[:] = 0
        tokens = np.float32(0)
        logs, product = 0.0, 1.0
        for at in range(starts[2 * pair], starts[2 * pair + 2]):
            if at + _AHEAD < starts[2 * last]:
                fetch_row(given, words[at + _AHEAD])
            row, count = given[words[at]], counts[at]
            probability = dot(mix, row)
            if count == 1:
                product *= probability
                if product < _SMALL:
                    logs, product = logs + np.log(product), 1.0
            else:
                logs += count * np.log(np.float64(probability))
            tokens += count
            counts[at] = weight * count / probability
            add_scaled(total, counts[at], row)
        gains[pair] = weight * (logs + np.log(product)) + prior * sum_of_logs(mix, topics)
        scale = np.float32(1) / (topics * prior + weight * tokens)
        for z in range(topics):
            fitted[pair - first, z] = (prior + mix[z] * total[z]) * scale


@jit
def accumulate(
    first: int,
    last: int,
    words: NDArray[np.int32],
    coefficients: NDArray[np.float32],
    mix_of: NDArray[np.int32],
    mixes: NDArray[np.float32],
    totals: NDArray[np.float32],
) -> None:
    """Add Σ coefficient · mix over the tokens of each of the words first … last, in the order of tokens.

    Blocks are summed separately: two short float32 sums are more exact than a long one.
    """
    ends = np.zeros(last - first + 1, np.int32)
    for word in words:
        if first <= word < last:
            ends[word - first + 1] += 1
    for i in range(1, len(ends)):
        ends[i] += ends[i - 1]
    order = np.empty(ends[-1], np.int32)
    for at in range(len(words)):
        if first <= words[at] < last:
            order[ends[words[at] - first]] = at
            ends[words[at] - first] += 1
    total = np.empty(mixes.shape[1], np.float32)
    start = 0
    for i in range(last - first):
        if ends[i] == start:
            continue
        total[:] = 0
        for at in range(start, ends[i]):
            if at + _AHEAD < len(order):
                soon = order[at + _AHEAD]
                fetch_row(mixes, mix_of[soon])
                if words[soon] != words[order[at + _AHEAD - 1]]:
                    fetch_row(totals, words[soon])
            add_scaled(total, coefficients[order[at]], mixes[mix_of[order[at]]])
        start = ends[i]
        add_scaled(totals[first + i], np.float32(1), total)


@jit
def expected_counts(
    first: int,
    last: int,
    given: NDArray[np.float32],
    totals: NDArray[np.float32],
    topics: int,
    sums: NDArray[np.float64],
) -> float:
    """Turn totals into expected counts and add them up by topic; return Σ log P(word|topic)."""
    logs = 0.0
    for word in range(first, last):
        row, total = given[word], totals[word]
        logs += sum_of_logs(row, topics)
        for z in range(topics):
            total[z] *= row[z]
            sums[z] += total[z]
    return logs


@jit
def update_probabilities(
    first: int,
    last: int,
    totals: NDArray[np.float32],
    prior: float,
    scales: NDArray[np.float64],
    given: NDArray[np.float32],
) -> None:
    """Compute P(word|topic) from expected counts, and set these to zero."""
    for word in range(first, last):
        row, total = given[word], totals[word]
        for z in range(len(scales)):
            row[z] = (prior + total[z]) * scales[z]
            total[z] = 0


@jit
def fetch_row(rows: NDArray[np.float32], index: int) -> None:
    """Prefetch all cache lines of a row."""
    width = rows.shape[1]
    for j in range(0, width, CACHE_LINE):
        prefetch(rows, index * width + j)


@jit
def fold(
    first: int,
    last: int,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    given: NDArray[np.float32],
    prior: np.float32,
    iterations: int,
    mixes: NDArray[np.float32],
) -> None:
    """Write the mixes of texts first … last after some iterations from uniform mixes, P(word|topic) fixed."""
    topics = given.shape[1]
    width = -(-topics // CACHE_LINE) * CACHE_LINE
    mix, total = np.zeros(width, np.float32), np.empty(width, np.float32)
    longest = 0
    for text in range(first, last):
        longest = max(longest, indptr[text + 1] - indptr[text])
    near = np.zeros((longest, width), np.float32)  # copies of the text's rows of `given`
    for text in range(first, last):
        start, length = indptr[text], indptr[text + 1] - indptr[text]
        tokens = np.float32(0)
        for i in range(length):
            near[i, :topics] = given[indices[start + i]]
            tokens += data[start + i]
        mix[:topics] = np.float32(1) / topics
        scale = np.float32(1) / (topics * prior + tokens)
        for _ in range(iterations if length else 0):
            total[:] = 0
            for i in range(length):
                add_scaled(total, data[start + i] / dot(mix, near[i]), near[i])
            for z in range(topics):
                mix[z] = (prior + mix[z] * total[z]) * scale
        mixes[text] = mix[:topics]
