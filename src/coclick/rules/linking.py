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
from coclick.rules.words import Bools, Floats, Ints, LogWords, expand

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
            met = _free_in_both(left, one, right, other)
            if words.clicks[met].sum() < needed:
                break
            link = grow(words, one, other, met, left, right)
            if not len(link.pairs):
                break
            left.explain(link.left, link.pairs)
            right.explain(link.right, link.pairs)
            yield link
            needed = min_clicks / 2


def _free_in_both(left: Unmatched, one: int, right: Unmatched, other: int) -> Ints:
    """The clicked pairs in which neither word is explained; reads the entries of the rarer one."""
    if len(left.entries(one)) <= len(right.entries(other)):
        pairs = left.free_pairs(one)
        return pairs[right.are_free(pairs, other)]
    pairs = right.free_pairs(other)
    return pairs[left.are_free(pairs, one)]


def _strongest_first(words: LogWords, left: Unmatched, right: Unmatched, min_clicks: float) -> _WordPairs:
    """Return the pairs of words that meet often enough, by their log-likelihood ratio."""
    n_stems, total = len(words.stem_of), words.clicks.sum()
    of_left = np.bincount(left.stems, words.clicks[left.pairs], n_stems)
    of_right = np.bincount(right.stems, words.clicks[right.pairs], n_stems)
    typed = np.zeros(n_stems)
    keys = np.unique(words.queries.text_of * n_stems + words.queries.stems)
    np.add.at(typed, keys % n_stems, words.query_clicks[keys // n_stems])
    wanted = words.is_content & (of_left >= min_clicks / 2) & (of_left >= _MIN_UNMATCHED * typed)
    met = _count_meetings(words, left, right, wanted, np.maximum(min_clicks / 2, _MIN_SHARE * of_left))
    n_left, n_right = of_left[met.left], of_right[met.right]
    kept = met.clicks * total > n_left * n_right
    met = _WordPairs(met.left[kept], met.right[kept], met.clicks[kept])
    score = _log_likelihood_ratio(met.clicks, n_left[kept], n_right[kept], total)
    order = np.lexsort((met.right, met.left, -np.round(score, 6)))
    return _WordPairs(met.left[order], met.right[order], met.clicks[order])


def _count_meetings(
    words: LogWords, left: Unmatched, right: Unmatched, wanted: Bools, needed: Floats
) -> _WordPairs:
    """Sum the clicks of pairs of content words that are unmatched in the same clicked pair.

    Left words are the `wanted` ones, each with the right words that it meets in `needed` clicks. Goes from
    left word to left word, so that the sums of a block are complete.
    """
    n_stems = np.int64(len(words.stem_of))
    order, _ = left.by_stem()
    entries = order[wanted[left.stems[order]]]
    stems = left.stems[entries]
    counts = np.diff(right.indptr)[left.pairs[entries]]
    ends = np.cumsum(counts)
    found: list[tuple[Ints, Floats]] = []
    first = 0
    while first < len(entries):
        reached = np.searchsorted(ends, ends[first] - counts[first] + _BLOCK, side="right")
        last = int(np.searchsorted(stems, stems[min(max(int(reached), first), len(stems) - 1)], side="left"))
        if last <= first:  # one word fills the block
            last = int(np.searchsorted(stems, stems[first], side="right"))
        pairs = left.pairs[entries[first:last]]
        others = right.stems[expand(right.indptr, pairs)]
        content = words.is_content[others]
        met = (np.repeat(stems[first:last], counts[first:last]) * n_stems + others)[content]
        clicks = np.repeat(words.clicks[pairs], counts[first:last])[content]
        keys, place = np.unique(met, return_inverse=True)
        sums = np.bincount(place, clicks, len(keys)).astype(np.float64)
        enough = sums >= needed[keys // n_stems]
        found.append((keys[enough], sums[enough]))
        first = last
    keys = np.concatenate([np.empty(0, np.int64), *(keys for keys, _ in found)])
    sums = np.concatenate([np.empty(0, np.float64), *(sums for _, sums in found)])
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
