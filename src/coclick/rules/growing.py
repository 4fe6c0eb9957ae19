"""Grow a link of two words to phrases: "high" with "hypertension" to "high blood pressure"."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from coclick.rules.spelling import is_abbreviation, is_respelling
from coclick.rules.unmatched import Unmatched
from coclick.rules.words import Ints, LogWords, Phrase, Sequences, expand

_GROW_SHARE = 0.9  # of the linked clicks that a longer phrase of titles must keep
_GROW_LEFT_SHARE = 0.6  # the same for queries, where people use several phrases
_MIN_TYPED = 0.5  # of the uses of a shorter phrase that are uses of the longer one
_MAX_LEFT, _MAX_RIGHT = 4, 6  # words
_WRITTEN_OUT_SHARE = 0.7  # of the linked clicks with the words that are abbreviated or misspelt


class Link(NamedTuple):
    """Two phrases with the same meaning, and the clicked pairs that support it."""

    left: Phrase
    right: Phrase
    pairs: Ints  # ascending


def grow(words: LogWords, one: int, other: int, met: Ints, left: Unmatched, right: Unmatched) -> Link:
    """Return the link of two words, grown to phrases that most of the linked clicks have."""
    queries = _Side(words.queries, words.query_of, left)
    grown_left = _grow_phrase(words, queries, (one,), met, _MAX_LEFT, _GROW_LEFT_SHARE)
    linked = met[words.queries.have(words.query_of[met], grown_left)]
    grown_right = _written_out(words, grown_left, linked)
    if grown_right is None:
        titles = _Side(words.titles, words.doc_of, right)
        grown_right = _grow_phrase(words, titles, (other,), linked, _MAX_RIGHT, _GROW_SHARE)
    linked = linked[words.titles.have(words.doc_of[linked], grown_right)]
    return Link(grown_left, grown_right, linked)


class _Side(NamedTuple):
    """Queries or titles: their texts, the text of each clicked pair, and the words not explained yet."""

    texts: Sequences
    row_of: Ints
    unmatched: Unmatched


def _grow_phrase(
    words: LogWords, side: _Side, phrase: Phrase, linked: Ints, longest: int, share: float
) -> Phrase:
    """Add unexplained neighbours that most linked clicks have; stop words only between other words."""
    needed, best = share * words.clicks[linked].sum(), phrase
    while len(phrase) < longest:
        weighed = _weigh_longer(words, side, phrase, linked)
        grown = sorted(
            (longer for longer in weighed if weighed[longer] >= needed), key=lambda p: (-weighed[p], p)
        )
        if side.texts is words.titles:
            grown = [longer for longer in grown if _is_collocation(words, longer, phrase)]
        if not grown:
            break
        phrase = grown[0]
        if not (words.is_stop[phrase[0]] or words.is_stop[phrase[-1]]):
            best = phrase
    return best


def _weigh_longer(words: LogWords, side: _Side, phrase: Phrase, linked: Ints) -> dict[Phrase, float]:
    """The phrases with one word more, before or after, each with the linked clicks that have it.

    Clicks count in which the added word is unexplained or a stop word. A number needs nearly all clicks:
    "gta" stays alone where some add "4".
    """
    texts = side.texts
    start = texts.positions_in(np.unique(side.row_of[linked]), phrase)
    found: dict[Phrase, float] = {}
    total = words.clicks[linked].sum()
    for at, is_after in ((start - 1, False), (start + len(phrase), True)):
        inside = (at >= 0) & (at < len(texts.stems))
        inside[inside] &= texts.text_of[at[inside]] == texts.text_of[start[inside]]
        rows_with, added = texts.text_of[at[inside]], texts.stems[at[inside]]
        for stem, clicks in _clicks_by_word(words, side, linked, rows_with, added):
            is_number = not (words.is_stop[stem] or words.is_content[stem])
            longer = (*phrase, stem) if is_after else (stem, *phrase)
            found[longer] = 0.0 if is_number and clicks < _GROW_SHARE * total else clicks
    return found


def _clicks_by_word(
    words: LogWords, side: _Side, linked: Ints, rows: Ints, stems: Ints
) -> Iterator[tuple[int, float]]:
    """Yield each of some words of linked texts with the linked clicks in which it is not explained."""
    keys = np.unique(rows * len(words.stem_of) + stems)
    rows, stems = np.divmod(keys, len(words.stem_of))
    by_row = linked[np.argsort(side.row_of[linked], kind="stable")]
    distinct, starts = np.unique(side.row_of[by_row], return_index=True)
    place = np.searchsorted(distinct, rows)
    indptr = np.append(starts, len(by_row))
    pairs = by_row[expand(indptr, place)]
    stems = np.repeat(stems, np.diff(indptr)[place])
    counts = words.is_stop[stems] | side.unmatched.are_free(pairs, stems)
    added, place = np.unique(stems, return_inverse=True)
    clicks = np.bincount(place, np.where(counts, words.clicks[pairs], 0.0), len(added))
    yield from zip(added.tolist(), clicks.tolist(), strict=True)


def _is_collocation(words: LogWords, longer: Phrase, shorter: Phrase) -> bool:
    """Whether people who type the shorter phrase type the longer one; if none do, whether titles do."""
    if typed := words.typed(shorter):
        return words.typed(longer) >= _MIN_TYPED * typed
    in_titles = [len(words.titles.positions(phrase)) for phrase in (longer, shorter)]
    return in_titles[0] >= _GROW_SHARE * in_titles[1]


def _written_out(words: LogWords, left: Phrase, linked: Ints) -> Phrase | None:
    """Return the words of titles that the left phrase abbreviates or misspells: "call of duty" for "cod"."""
    short = " ".join(words.words[stem] for stem in left)
    docs, place = np.unique(words.doc_of[linked], return_inverse=True)
    weights = np.bincount(place, words.clicks[linked], len(docs))
    found: dict[Phrase, float] = defaultdict(float)
    verdicts: dict[Phrase, bool] = {}
    for doc, weight in zip(docs.tolist(), weights.tolist(), strict=True):
        for window in _windows(words.titles.text(doc)):
            first = words.words[window[0]][0]
            if len(window) > 1 and first != short[0] and first.isalnum():
                continue  # neither the same letters nor an abbreviation
            if window not in verdicts:
                verdicts[window] = _is_written_out(short, [words.words[stem] for stem in window])
            if verdicts[window]:
                found[window] += weight
    if not found:
        return None
    best = min(found, key=lambda window: (-found[window], len(window), window))
    return best if found[best] >= _WRITTEN_OUT_SHARE * weights.sum() else None


def _windows(title: list[int]) -> set[Phrase]:
    starts = range(len(title))
    return {tuple(title[i:j]) for i in starts for j in range(i + 1, min(i + _MAX_RIGHT, len(title)) + 1)}


def _is_written_out(short: str, long: list[str]) -> bool:
    if len(long) > 1 and is_abbreviation(short, long):
        return True
    return short != " ".join(long) and is_respelling(short, " ".join(long))
