"""`TextSimilarity`: similarity of short texts by their character n-grams and words.

    similarity(a, b) = (1 − w) · cosine of character n-grams + w · cosine of words

with w = `word_weight`. Both kinds are weighted by idf, ln(1 + N / number of texts that contain it), and
counted once per text. N-grams match misspelt, inflected and run-together words; words separate texts that
only look similar. One vector per text has both, scaled so that dot products are similarities.

Unknown n-grams and words match nothing, but they count in the length of the vector, each with the largest
idf, ln(1 + N). So a text with few known words is similar to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr, hstack
from coclick.arrays.strings import Strings, Vocab
from coclick.storage.layout import Shape
from coclick.storage.state import stored
from coclick.text.analyzer import Analyzer, Tokens
from coclick.text.ngrams import CharUnits, SparsePattern, character_sequences
from coclick.text.term_matrix import TermMatrix

_BLOCK = 1 << 16  # rows per scaling step


@stored
@dataclass(frozen=True)
class TextSimilarity:
    """The known n-grams and words with their weights."""

    dimensions: ClassVar = ("features",)
    chars: Annotated[CharUnits, Shape("chars")]
    char_idf: Annotated[NDArray[np.float32], Shape("chars")]
    analyzer: Analyzer
    terms: Annotated[Vocab, Shape("terms")]
    word_idf: Annotated[NDArray[np.float32], Shape("terms")]
    n_texts: int  # N
    word_weight: float  # w

    def sizes(self) -> dict[str, int]:
        """Return the number of n-grams and words."""
        return {"features": len(self.char_idf) + len(self.word_idf)}

    def find_defect(self) -> str | None:
        """Return what is wrong with the numbers, or None."""
        if self.n_texts < 0 or not 0 <= self.word_weight <= 1:
            return "the number of texts or the weight of words is out of bounds"
        return None

    @classmethod
    def fit(
        cls, texts: Strings, analyzer: Analyzer, sizes: tuple[int, int], word_weight: float
    ) -> tuple[TextSimilarity, Csr]:
        """Learn words and n-grams of `sizes` (shortest, longest); also return the vectors of the texts."""
        held = CharUnits.extract(character_sequences(texts), 1, sizes)
        assert isinstance(held.table, CharUnits)
        words = TermMatrix.fit(texts, analyzer)
        chars, terms = SparsePattern(held.indptr, held.units), _distinct(words.tokens, len(words.terms))
        idf = _idf(chars, len(held.table)), _idf(terms, len(words.terms))
        similarity = cls(held.table, idf[0], analyzer, words.terms, idf[1], len(texts), word_weight)
        unknown = np.zeros(len(texts), np.int64)
        return similarity, similarity._join(chars, unknown, terms, unknown)

    def vectors(self, texts: Sequence[str]) -> Csr:
        """Return the vectors of other texts."""
        sequences = character_sequences(texts)
        known = self.chars.incidence(sequences)
        every = CharUnits.extract(sequences, 1, (self.chars.min_n, self.chars.max_n))
        tokens = self.analyzer.lookup_terms(texts, self.terms)
        known_words = _distinct(tokens, len(self.terms))
        unknown_words = np.bincount(_text_of(tokens)[tokens.terms < 0], minlength=len(texts))
        for text in np.flatnonzero(unknown_words > 1).tolist():  # a repeated word counts once
            distinct = len(set(self.analyzer.terms(texts[text])))
            unknown_words[text] = distinct - (known_words.indptr[text + 1] - known_words.indptr[text])
        return self._join(
            SparsePattern(known.indptr, known.units),
            np.diff(every.indptr) - np.diff(known.indptr),
            known_words,
            unknown_words,
        )

    def _join(
        self,
        chars: SparsePattern,
        unknown_chars: NDArray[np.int64],
        words: SparsePattern,
        unknown_words: NDArray[np.int64],
    ) -> Csr:
        unknown_square = np.log1p(self.n_texts) ** 2
        return hstack(
            _weight_rows(chars, self.char_idf, unknown_chars * unknown_square, np.sqrt(1 - self.word_weight)),
            _weight_rows(words, self.word_idf, unknown_words * unknown_square, np.sqrt(self.word_weight)),
        )


def _text_of(tokens: Tokens) -> NDArray[np.int64]:
    """For each token, the number of its text."""
    return np.repeat(np.arange(len(tokens)), np.diff(tokens.indptr))


def _distinct(tokens: Tokens, terms: int) -> SparsePattern:
    """The distinct known terms of each text."""
    known = tokens.terms >= 0
    pairs = np.unique(_text_of(tokens)[known] * terms + tokens.terms[known])
    indptr = np.searchsorted(pairs, np.arange(len(tokens) + 1) * terms)
    return SparsePattern(indptr, (pairs % max(terms, 1)).astype(np.int32))


def _idf(held: SparsePattern, columns: int) -> NDArray[np.float32]:
    texts = len(held.indptr) - 1
    return np.log1p(texts / np.maximum(np.bincount(held.indices, minlength=columns), 1)).astype(np.float32)


def _weight_rows(
    held: SparsePattern, idf: NDArray[np.float32], unknown: NDArray[np.float64], length: float
) -> Csr:
    """Rows of idf, scaled to `length`; `unknown` is the sum of squares of the unknown entries of each row."""
    weights = Csr(held.indptr, held.indices, idf[held.indices], len(idf))
    for first in range(0, weights.rows, _BLOCK):  # in blocks to save memory
        rows = slice(first, first + _BLOCK)
        indptr = held.indptr[first : first + _BLOCK + 1]
        values = weights.data[indptr[0] : indptr[-1]]
        squares = Csr(indptr - indptr[0], held.indices, values * values, len(idf)).row_sums()
        scale = length / np.sqrt(np.maximum(squares + unknown[rows], 1e-30))
        values *= np.repeat(scale.astype(np.float32), np.diff(indptr))
    return weights
