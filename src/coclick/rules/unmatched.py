"""Words of clicked pairs that the other side lacks: of the query without the title's, and the reverse.

A query word that the title has too explains itself. What is left over on both sides is what a rule could
join.
"""

from __future__ import annotations

import numpy as np

from coclick.rules.words import Bools, Ints, LogWords, Phrase, Sequences, expand


class Unmatched:
    """Entries (clicked pair, stem), ordered by pair and stem, each free until a rule explains it."""

    def __init__(self, pairs: Ints, stems: Ints, n_pairs: int, n_stems: int) -> None:
        self.pairs, self.stems = pairs, stems
        self.free = np.ones(len(pairs), np.bool_)
        self.indptr = np.searchsorted(pairs, np.arange(n_pairs + 1))
        self.n_stems = n_stems
        self._keys = pairs * n_stems + stems
        self._order = np.argsort(stems, kind="stable")
        self._starts = np.searchsorted(stems[self._order], np.arange(n_stems + 1))

    def entries(self, stem: int) -> Ints:
        """Return the entries of a stem, by pair."""
        return self._order[self._starts[stem] : self._starts[stem + 1]]

    def by_stem(self) -> tuple[Ints, Ints]:
        """Return all entries ordered by stem, and where each stem starts."""
        return self._order, self._starts

    def free_pairs(self, stem: int) -> Ints:
        """Return the pairs in which a stem is not explained yet."""
        entries = self.entries(stem)
        return self.pairs[entries[self.free[entries]]]

    def are_free(self, pairs: Ints, stems: Ints | int) -> Bools:
        """Return for each pair whether it has the stem, not explained yet."""
        place = self._find(pairs, stems)
        return (place >= 0) & self.free[np.maximum(place, 0)] if len(self.free) else place >= 0

    def explain(self, phrase: Phrase, chosen: Ints) -> None:
        """Mark the words of a phrase as explained in the chosen pairs."""
        for stem in phrase:
            place = self._find(chosen, stem)
            self.free[place[place >= 0]] = False

    def _find(self, pairs: Ints, stems: Ints | int) -> Ints:
        """The entries of pairs and stems, −1 where there is none."""
        if not len(self._keys):
            return np.full(len(pairs), -1, np.int64)
        keys = pairs * self.n_stems + stems
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[place] == keys, place, -1)


def unmatched_words(words: LogWords) -> tuple[Unmatched, Unmatched]:
    """Return the words of queries that titles lack, and the words of titles that queries lack."""
    left = _difference(words, words.queries, words.query_of, words.titles, words.doc_of)
    right = _difference(words, words.titles, words.doc_of, words.queries, words.query_of)
    return left, right


def _difference(
    words: LogWords, ours: Sequences, our_row: Ints, theirs: Sequences, their_row: Ints
) -> Unmatched:
    n_stems = len(words.stem_of)
    kept = ~words.is_stop[ours.stems]
    keys = np.unique(ours.text_of[kept] * n_stems + ours.stems[kept])
    texts, stems = np.divmod(keys, n_stems)
    starts = np.searchsorted(texts, np.arange(len(ours) + 1))
    pairs = np.repeat(np.arange(len(our_row)), np.diff(starts)[our_row])
    found = stems[expand(starts, our_row)]
    others = np.unique(theirs.text_of * n_stems + theirs.stems)
    wanted = their_row[pairs] * n_stems + found
    place = np.minimum(np.searchsorted(others, wanted), max(len(others) - 1, 0))
    missing = others[place] != wanted if len(others) else np.ones(len(wanted), np.bool_)
    return Unmatched(pairs[missing], found[missing], len(our_row), n_stems)
