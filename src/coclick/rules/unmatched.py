"""Words of clicked pairs that the other side lacks: of the query without the title's, and the reverse.

A query word that the title has too explains itself. What is left over on both sides is what a rule could
join.
"""

from __future__ import annotations

import numpy as np

from coclick.rules.words import Bools, Ints, LogWords, Phrase, Sequences


class Unmatched:
    """Entries (clicked pair, stem), ordered by pair, each free until a rule explains it."""

    def __init__(self, pairs: Ints, stems: Ints, n_pairs: int, n_stems: int) -> None:
        self.pairs, self.stems = pairs, stems
        self.free = np.ones(len(pairs), np.bool_)
        self.indptr = np.searchsorted(pairs, np.arange(n_pairs + 1))
        self._order = np.argsort(stems, kind="stable")
        self._starts = np.searchsorted(stems[self._order], np.arange(n_stems + 1))

    def entries(self, stem: int) -> Ints:
        """Return the entries of a stem, by pair."""
        return self._order[self._starts[stem] : self._starts[stem + 1]]

    def free_pairs(self, stem: int) -> Ints:
        """Return the pairs in which a stem is not explained yet."""
        entries = self.entries(stem)
        return self.pairs[entries[self.free[entries]]]

    def explain(self, phrase: Phrase, chosen: Bools) -> None:
        """Mark the words of a phrase as explained in the chosen pairs."""
        for stem in phrase:
            entries = self.entries(stem)
            self.free[entries[chosen[self.pairs[entries]]]] = False


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
    counts = np.diff(starts)[our_row]
    pairs = np.repeat(np.arange(len(our_row)), counts)
    offset = np.arange(len(pairs)) - np.repeat(np.cumsum(counts) - counts, counts)
    found = stems[np.repeat(starts[our_row], counts) + offset]
    others = np.unique(theirs.text_of * n_stems + theirs.stems)
    wanted = their_row[pairs] * n_stems + found
    place = np.minimum(np.searchsorted(others, wanted), max(len(others) - 1, 0))
    missing = others[place] != wanted if len(others) else np.ones(len(wanted), np.bool_)
    return Unmatched(pairs[missing], found[missing], len(our_row), n_stems)
