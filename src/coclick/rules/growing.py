"""Grow a link of two words to phrases: "high" with "hypertension" to "high blood pressure"."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from coclick.rules.spelling import is_abbreviation, is_respelling
from coclick.rules.unmatched import Unmatched
from coclick.rules.words import Bools, Ints, LogWords, Phrase, Sequences

_GROW_SHARE = 0.9  # of the linked clicks that a longer phrase of titles must keep
_GROW_LEFT_SHARE = 0.6  # the same for queries, where people use several phrases
_MIN_TYPED = 0.5  # of the uses of a shorter phrase that are uses of the longer one
_MAX_LEFT, _MAX_RIGHT = 4, 6  # words
_WRITTEN_OUT_SHARE = 0.7  # of the linked clicks with the words that are abbreviated or misspelt


class Link(NamedTuple):
    """Two phrases that stand for each other, and the clicked pairs that say so."""

    left: Phrase
    right: Phrase
    pairs: Bools


def grow(words: LogWords, one: int, other: int, met: Ints, left: Unmatched, right: Unmatched) -> Link:
    """Return the link of two words, grown to phrases that most of the linked clicks have."""
    linked = np.zeros(len(words.clicks), np.bool_)
    linked[met] = True
    queries = _Side(words.queries, words.query_of, left)
    grown_left = _grow_phrase(words, queries, (one,), linked, _MAX_LEFT, _GROW_LEFT_SHARE)
    linked &= words.queries.contain(grown_left)[words.query_of]
    grown_right = _written_out(words, grown_left, linked)
    if grown_right is None:
        titles = _Side(words.titles, words.doc_of, right)
        grown_right = _grow_phrase(words, titles, (other,), linked, _MAX_RIGHT, _GROW_SHARE)
    linked &= words.titles.contain(grown_right)[words.doc_of]
    return Link(grown_left, grown_right, linked)


class _Side(NamedTuple):
    """Queries or titles: their texts, the text of each clicked pair, and the words not explained yet."""

    texts: Sequences
    row_of: Ints
    unmatched: Unmatched


def _grow_phrase(
    words: LogWords, side: _Side, phrase: Phrase, linked: Bools, longest: int, share: float
) -> Phrase:
    """Add unexplained neighbours that most linked clicks have; stop words only between other words."""
    needed, best = share * words.clicks[linked].sum(), phrase
    while len(phrase) < longest:
        weighed = {
            longer: _clicks_with(words, side, longer, added, linked)
            for longer, added in _longer(side, phrase, linked)
        }
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


def _longer(side: _Side, phrase: Phrase, linked: Bools) -> set[tuple[Phrase, int]]:
    """The phrases with one word more, before or after, in the linked texts, each with that word."""
    texts = side.texts
    wanted = np.zeros(len(texts), np.bool_)
    wanted[side.row_of[linked]] = True
    start = texts.positions(phrase)
    start = start[wanted[texts.text_of[start]]]
    before, after = start - 1, start + len(phrase)
    before = before[(before >= 0) & (texts.text_of[before] == texts.text_of[start])]
    after = after[
        (after < len(texts.stems))
        & (texts.text_of[np.minimum(after, len(texts.stems) - 1)] == texts.text_of[start])
    ]
    longer = {((stem, *phrase), stem) for stem in texts.stems[before].tolist()}
    return longer | {((*phrase, stem), stem) for stem in texts.stems[after].tolist()}


def _clicks_with(words: LogWords, side: _Side, longer: Phrase, added: int, linked: Bools) -> float:
    """The linked clicks with a longer phrase in which the added word is unexplained or a stop word.

    A number needs nearly all clicks: "gta" stays alone where some add "4".
    """
    pairs = linked & side.texts.contain(longer)[side.row_of]
    if not words.is_stop[added]:
        free = np.zeros(len(linked), np.bool_)
        free[side.unmatched.free_pairs(added)] = True
        pairs &= free
    clicks = float(words.clicks[pairs].sum())
    is_number = not (words.is_stop[added] or words.is_content[added])
    return 0.0 if is_number and clicks < _GROW_SHARE * words.clicks[linked].sum() else clicks


def _is_collocation(words: LogWords, longer: Phrase, shorter: Phrase) -> bool:
    """Whether people who type the shorter phrase type the longer one; if none do, whether titles do."""
    if typed := words.typed(shorter):
        return words.typed(longer) >= _MIN_TYPED * typed
    in_titles = [len(words.titles.positions(phrase)) for phrase in (longer, shorter)]
    return in_titles[0] >= _GROW_SHARE * in_titles[1]


def _written_out(words: LogWords, left: Phrase, linked: Bools) -> Phrase | None:
    """Return the words of titles that the left phrase abbreviates or misspells: "call of duty" for "cod"."""
    short = " ".join(words.words[stem] for stem in left)
    weights = np.bincount(words.doc_of[linked], words.clicks[linked], len(words.titles))
    found: dict[Phrase, float] = defaultdict(float)
    for doc in np.flatnonzero(weights).tolist():
        for window in _windows(words.titles.text(doc)):
            if _is_written_out(short, [words.words[stem] for stem in window]):
                found[window] += weights[doc]
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
