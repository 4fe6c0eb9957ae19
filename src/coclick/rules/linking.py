"""Competitive linking (Melamed 2000): words of queries and words of clicked titles that stand for each other.

Pairs of words are ordered by how much more often they meet in a clicked pair than by chance
(log-likelihood ratio, Dunning 1993). The strongest is linked first, and what it links is explained:
"hotels" with "accommodation", so that "accommodation" is not also learned for "cheap".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from coclick.rules.growing import Link, grow
from coclick.rules.unmatched import Unmatched
from coclick.rules.words import Floats, Ints, LogWords

_BLOCK = 4_000_000  # word pairs in memory at a time
_MIN_SHARE = 0.2  # of a word's clicks that meet the other word
_MIN_UNMATCHED = 0.5  # of a word's clicks on titles without it: else the engine finds them anyway
_MIN_LEFT_OVER = 0.6  # of the clicks of a pair that stronger pairs leave


class _WordPairs(NamedTuple):
    left: Ints
    right: Ints
    clicks: Floats


def find_links(words: LogWords, left: Unmatched, right: Unmatched, min_clicks: float) -> Iterator[Link]:
    """Yield links, the strongest first."""
    found = _strongest_first(words, left, right, min_clicks)
    for one, other, clicks in zip(*(column.tolist() for column in found), strict=True):
        needed = max(min_clicks / 2, _MIN_LEFT_OVER * clicks)
        while True:  # a link to a longer phrase leaves other uses of the word: "high bp" after "high blood"
            met = np.intersect1d(left.free_pairs(one), right.free_pairs(other), assume_unique=True)
            if words.clicks[met].sum() < needed:
                break
            link = grow(words, one, other, met, left, right)
            if not link.pairs.any():
                break
            left.explain(link.left, link.pairs)
            right.explain(link.right, link.pairs)
            yield link
            needed = min_clicks / 2


def _strongest_first(words: LogWords, left: Unmatched, right: Unmatched, min_clicks: float) -> _WordPairs:
    """Return the pairs of words that meet often enough, by their log-likelihood ratio."""
    met = _count_meetings(words, left, right)
    n_stems, total = len(words.stem_of), words.clicks.sum()
    of_left = np.bincount(left.stems, words.clicks[left.pairs], n_stems)
    of_right = np.bincount(right.stems, words.clicks[right.pairs], n_stems)
    typed = np.zeros(n_stems)
    keys = np.unique(words.queries.text_of * n_stems + words.queries.stems)
    np.add.at(typed, keys % n_stems, words.query_clicks[keys // n_stems])
    n_left, n_right = of_left[met.left], of_right[met.right]
    kept = (
        (met.clicks >= min_clicks / 2)
        & (met.clicks >= _MIN_SHARE * n_left)
        & (n_left >= _MIN_UNMATCHED * typed[met.left])
        & (met.clicks * total > n_left * n_right)
    )
    met = _WordPairs(met.left[kept], met.right[kept], met.clicks[kept])
    score = _log_likelihood_ratio(met.clicks, n_left[kept], n_right[kept], total)
    order = np.lexsort((met.right, met.left, -np.round(score, 6)))
    return _WordPairs(met.left[order], met.right[order], met.clicks[order])


def _count_meetings(words: LogWords, left: Unmatched, right: Unmatched) -> _WordPairs:
    """Sum the clicks of all pairs of content words that are unmatched in the same clicked pair."""
    n_stems = np.int64(len(words.stem_of))
    chosen = np.flatnonzero(words.is_content[left.stems])
    n_right = np.diff(right.indptr)[left.pairs[chosen]]
    ends = np.cumsum(n_right)
    keys, sums = np.empty(0, np.int64), np.empty(0, np.float64)
    first = 0
    while first < len(chosen):
        done = ends[first] - n_right[first]
        last = max(int(np.searchsorted(ends, done + _BLOCK, side="right")), first + 1)
        entries, counts = chosen[first:last], n_right[first:last]
        pairs = left.pairs[entries]
        offset = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        others = right.stems[np.repeat(right.indptr[pairs], counts) + offset]
        content = words.is_content[others]
        found = (np.repeat(left.stems[entries], counts) * n_stems + others)[content]
        weights = np.repeat(words.clicks[pairs], counts)[content]
        keys, place = np.unique(np.append(keys, found), return_inverse=True)
        sums = np.bincount(place, np.append(sums, weights), len(keys)).astype(np.float64)
        first = last
    return _WordPairs(keys // n_stems, keys % n_stems, sums)


def _log_likelihood_ratio(both: Floats, left: Floats, right: Floats, total: float) -> Floats:
    """Return Dunning's ratio for two words that meet in `both` of `total` clicks."""

    def entropy(*counts: Floats) -> Floats:
        whole = np.sum(counts, axis=0)
        return np.sum([n * np.log(np.maximum(n, 1e-300) / whole) for n in counts], axis=0)

    only_left, only_right = np.maximum(left - both, 0), np.maximum(right - both, 0)
    neither = np.maximum(total - both - only_left - only_right, 0)
    cells = entropy(both, only_left, only_right, neither)
    rows = entropy(both + only_left, only_right + neither)
    columns = entropy(both + only_right, only_left + neither)
    return 2 * (cells - rows - columns)
