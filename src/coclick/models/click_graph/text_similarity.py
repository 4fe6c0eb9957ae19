"""`Wording`: how alike two texts are worded, by their character n-grams and words.

    similarity(a, b) = (1 − w) · cosine of character n-grams + w · cosine of words

Both kinds are weighed by idf, ln(1 + N / texts that hold it), and counted once a text. Characters see through
misspelt, inflected and run-together words; words keep apart what only looks alike. One vector a text holds
both, scaled so that dot products are similarities.

What no known text holds cannot be shared, but it makes the text longer: its idf, ln(1 + N), counts in the
vector's length. So a text of which little is known is similar to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr, hstack
from coclick.arrays.strings import Strings, Vocab
from coclick.storage.state import stored
from coclick.text.analyzer import Analyzer, Tokens
from coclick.text.ngrams import CharUnits, SparsePattern, UnitTable, character_sequences
from coclick.text.term_matrix import TermMatrix

_BLOCK = 1 << 16  # rows that are scaled at a time


@stored
@dataclass(frozen=True)
class TextSimilarity:
    """Known n-grams and words with their weights."""

    chars: UnitTable
    char_idf: NDArray[np.float32]
    analyzer: Analyzer
    terms: Vocab
    word_idf: NDArray[np.float32]
    texts: int  # N
    share: float  # w

    @classmethod
    def fit(
        cls, texts: Strings, analyzer: Analyzer, sizes: tuple[int, int], share: float
    ) -> tuple[TextSimilarity, Csr]:
        """From a collection, with n-grams of so many characters; its vectors, too."""
        held = CharUnits.extract(character_sequences(texts), 1, sizes)
        words = TermMatrix.fit(texts, analyzer)
        chars, terms = SparsePattern(held.indptr, held.units), _distinct(words.tokens, len(words.terms))
        idf = _idf(chars, len(held.table)), _idf(terms, len(words.terms))
        wording = cls(held.table, idf[0], analyzer, words.terms, idf[1], len(texts), share)
        nothing = np.zeros(len(texts), np.int64)
        return wording, wording._join(chars, nothing, terms, nothing)

    def vectors(self, texts: Sequence[str]) -> Csr:
        """Vectors of other texts."""
        sequences = character_sequences(texts)
        known = self.chars.incidence(sequences)
        every = CharUnits.extract(sequences, 1, (self.chars.min_n, self.chars.max_n))
        tokens = self.analyzer.look_up(texts, self.terms)
        unknown_words = np.bincount(_text_of(tokens)[tokens.terms < 0], minlength=len(texts))
        return self._join(
            SparsePattern(known.indptr, known.units),
            np.diff(every.indptr) - np.diff(known.indptr),
            _distinct(tokens, len(self.terms)),
            unknown_words,
        )

    def _join(
        self,
        chars: SparsePattern,
        unknown_chars: NDArray[np.int64],
        words: SparsePattern,
        unknown_words: NDArray[np.int64],
    ) -> Csr:
        rarest = np.log1p(self.texts) ** 2
        return hstack(
            _weighed(chars, self.char_idf, unknown_chars * rarest, np.sqrt(1 - self.share)),
            _weighed(words, self.word_idf, unknown_words * rarest, np.sqrt(self.share)),
        )


def _text_of(tokens: Tokens) -> NDArray[np.int64]:
    """For each token the text it stands in."""
    return np.repeat(np.arange(len(tokens)), np.diff(tokens.indptr))


def _distinct(tokens: Tokens, terms: int) -> SparsePattern:
    """The known terms of each text, each once."""
    known = tokens.terms >= 0
    pairs = np.unique(_text_of(tokens)[known] * terms + tokens.terms[known])
    indptr = np.searchsorted(pairs, np.arange(len(tokens) + 1) * terms)
    return SparsePattern(indptr, (pairs % max(terms, 1)).astype(np.int32))


def _idf(held: SparsePattern, columns: int) -> NDArray[np.float32]:
    texts = len(held.indptr) - 1
    return np.log1p(texts / np.maximum(np.bincount(held.indices, minlength=columns), 1)).astype(np.float32)


def _weighed(
    held: SparsePattern, idf: NDArray[np.float32], unknown: NDArray[np.float64], length: float
) -> Csr:
    """Rows of idf, scaled to `length` together with what is unknown, of which the squares are given."""
    weights = Csr(held.indptr, held.indices, idf[held.indices], len(idf))
    for first in range(0, weights.rows, _BLOCK):  # in blocks, because all at once would take much memory
        rows = slice(first, first + _BLOCK)
        indptr = held.indptr[first : first + _BLOCK + 1]
        values = weights.data[indptr[0] : indptr[-1]]
        squares = Csr(indptr - indptr[0], held.indices, values * values, len(idf)).row_sums()
        scale = length / np.sqrt(np.maximum(squares + unknown[rows], 1e-30))
        values *= np.repeat(scale.astype(np.float32), np.diff(indptr))
    return weights
