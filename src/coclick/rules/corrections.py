"""Spelling corrections: words that no title has, beside a known spelling that leads to the same documents.

Candidates differ by one typing error ("warefare", "warfare") or by their spaces ("blackops", "black ops",
and "battle field", "battlefield"). A document is reached by a spelling if its title has it or if people
clicked it for a query with it. Rare spellings need fewer clicks than other rules, because the letters
agree already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from coclick.rules.rule import Rule, with_evidence
from coclick.rules.spelling import deletions, edit_distance
from coclick.rules.words import Ints, LogWords, Phrase, Sequences

_MIN_SHARE = 0.7  # of its clicks on documents that the right spelling reaches
_MIN_LIFT = 2.0  # of that share over the share of all clicks on these documents
_MIN_RATIO = 4.0  # clicks of the right spelling to those of the wrong one
_MIN_LETTERS = 4
_MAX_WORDS = 4  # that are run together
_KEPT = 100  # phrases whose documents are kept
_BASE = 0x100000001B3  # of a hash of letters


class Correction(NamedTuple):
    """A correction, with the stems of both sides."""

    left: Phrase
    right: Phrase
    rule: Rule


def find_corrections(words: LogWords, min_clicks: float) -> list[Correction]:
    """Return a correction for each misspelt word or phrase that has one."""
    best: dict[Phrase, Correction] = {}
    score: dict[Phrase, float] = {}
    known = _Reached(words)
    for left, right in _candidates(words, min_clicks):
        rule = _rule(words, known, left, right, min_clicks)
        if rule is not None and rule.share * words.typed(right) >= score.get(left, 0.0):
            best[left], score[left] = Correction(left, right, rule), rule.share * words.typed(right)
    for left, found in list(best.items()):
        if found.right in best:  # an error for another error
            right = best[found.right].right
            rule = None if right == left else _rule(words, known, left, right, min_clicks)
            best[left] = found if rule is None else Correction(left, right, rule)
    return [found for found in best.values() if found.right not in best]


def _candidates(words: LogWords, min_clicks: float) -> Iterator[tuple[Phrase, Phrase]]:
    clicks = np.zeros(len(words.words))
    np.add.at(clicks, words.queries.stems, words.query_clicks[words.queries.text_of])
    in_titles = np.zeros(len(words.words), np.bool_)
    in_titles[words.titles.stems] = True
    typed = clicks > 0
    unknown = np.flatnonzero(typed & ~in_titles & words.is_content & (clicks >= min_clicks))
    unknown = np.array([stem for stem in unknown if len(words.words[stem]) >= _MIN_LETTERS], np.int64)
    known = np.flatnonzero((typed | in_titles) & words.is_content)
    yield from _one_error_apart(words, unknown.tolist(), known.tolist())
    yield from _spaced_differently(
        words, unknown.tolist(), np.flatnonzero(in_titles & words.is_content).tolist()
    )


def _one_error_apart(
    words: LogWords, unknown: list[int], known: list[int]
) -> Iterator[tuple[Phrase, Phrase]]:
    wanted: dict[str, list[int]] = defaultdict(list)
    for stem in unknown:
        for form in deletions(words.words[stem]):
            wanted[form].append(stem)
    seen = set()
    for stem in known:
        right = words.words[stem]
        if len(right) < _MIN_LETTERS:
            continue
        for left in {left for form in deletions(right) for left in wanted.get(form, ())} - {stem}:
            wrong = words.words[left]
            if (left, stem) not in seen and _is_typo(wrong, right):
                seen.add((left, stem))
                yield (left,), (stem,)


def _is_typo(wrong: str, right: str) -> bool:
    """Whether one word is the other with an error: not its plural, and with the same digits."""
    digits = ["".join(filter(str.isdigit, word)) for word in (wrong, right)]
    plural = wrong.rstrip("s") == right.rstrip("s")
    return digits[0] == digits[1] and not plural and edit_distance(wrong, right, 1) == 1


def _spaced_differently(
    words: LogWords, unknown: list[int], in_titles: list[int]
) -> Iterator[tuple[Phrase, Phrase]]:
    run_together = {words.joined((stem,)): stem for stem in unknown}
    whole = {words.joined((stem,)): stem for stem in in_titles if len(words.words[stem]) > _MIN_LETTERS}
    for phrase, joined in _joined_phrases(words, (words.queries, words.titles), set(run_together)):
        yield (run_together[joined],), phrase
    for phrase, joined in _joined_phrases(words, (words.queries,), set(whole)):
        if len(phrase) == 2 and not len(words.titles.positions(phrase)):
            yield phrase, (whole[joined],)


def _joined_phrases(
    words: LogWords, sides: Iterable[Sequences], wanted: set[str]
) -> Iterator[tuple[Phrase, str]]:
    """Yield the phrases of several words whose letters, joined, are wanted."""
    hashes = np.array([_letter_hash(word) for word in words.words], np.uint64)
    powers = np.array([pow(_BASE, len(_letters(word)), 1 << 64) for word in words.words], np.uint64)
    looked_for = np.array([_letter_hash(text) for text in wanted], np.uint64)
    seen = set()
    for side in sides:
        joined = hashes[side.words]  # of "ab": that of "a", moved on by the length of "b", plus that of "b"
        for length in range(2, _MAX_WORDS + 1):
            more = side.words[length - 1 :]
            joined = joined[: len(more)] * powers[more] + hashes[more]
            same_text = side.text_of[: len(more)] == side.text_of[length - 1 :]
            for start in np.flatnonzero(same_text & np.isin(joined, looked_for, kind="sort")).tolist():
                phrase = tuple(side.stems[start : start + length].tolist())
                text = words.joined(side.words[start : start + length].tolist())
                if text in wanted and phrase not in seen:
                    seen.add(phrase)
                    yield phrase, text


def _letters(word: str) -> str:
    return "".join(filter(str.isalnum, word))


def _letter_hash(word: str) -> int:
    """A polynomial of the letters modulo 2⁶⁴."""
    found = 0
    for letter in _letters(word):
        found = (found * _BASE + ord(letter)) % (1 << 64)
    return found


def _rule(words: LogWords, known: _Reached, left: Phrase, right: Phrase, min_clicks: float) -> Rule | None:
    rows = words.queries.rows_with(left)
    rows = rows[~words.queries.have(rows, right)]
    asked = words.pairs_of_queries(rows)
    clicks = words.clicks[asked].sum()
    if clicks < min_clicks:
        return None
    spaced = len(left) + len(right) > 2 and len(words.titles.positions(right)) > 0
    if not spaced and words.typed(right) + known.titled(right) < _MIN_RATIO * clicks:
        return None
    docs, base = known.docs(right)
    successes = words.clicks[asked[np.isin(words.doc_of[asked], docs)]].sum()
    if successes < _MIN_SHARE * clicks or successes < _MIN_LIFT * base * clicks:
        return None
    wrong = words.display(words.queries, words.query_clicks, left)
    return with_evidence("correction", wrong, words.nearest_form(right, wrong), successes, clicks)


class _Reached:
    """The documents that have a phrase in their title, or clicks for queries with it; kept by phrase."""

    def __init__(self, words: LogWords) -> None:
        self._words = words
        self._titled: dict[Phrase, float] = {}
        self._docs: dict[Phrase, tuple[Ints, float]] = {}

    def titled(self, phrase: Phrase) -> float:
        """Return the clicks of documents with a phrase in their title."""
        if phrase not in self._titled:
            rows = self._words.titles.rows_with(phrase)
            self._titled[phrase] = float(self._words.doc_clicks[rows].sum())
        return self._titled[phrase]

    def docs(self, phrase: Phrase) -> tuple[Ints, float]:
        """Return the documents, and the share of all clicks that they have."""
        if phrase not in self._docs:
            if len(self._docs) >= _KEPT:
                self._docs.clear()
            words = self._words
            asked = words.pairs_of_queries(words.queries.rows_with(phrase))
            docs = np.union1d(words.titles.rows_with(phrase), words.doc_of[asked])
            self._docs[phrase] = docs, float(words.doc_clicks[docs].sum() / words.clicks.sum())
        return self._docs[phrase]
