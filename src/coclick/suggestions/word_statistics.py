"""Words of queries and titles: how often each is used, and which stand side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.strings import Strings, Vocab
from coclick.storage.layout import Shape
from coclick.storage.state import stored
from coclick.text.analyzer import Analyzer, Tokens, VocabularyBuilder


@stored
@dataclass(frozen=True)
class WordStatistics:
    """Counts of words, sorted by their bytes, and of pairs of neighbours."""

    dimensions: ClassVar = ("words",)
    words: Annotated[Vocab, Shape("words")]
    uses: Annotated[NDArray[np.float32], Shape("words")]  # of the queries that have the word
    queries: Annotated[NDArray[np.int32], Shape("words")]  # that have it
    titles: Annotated[NDArray[np.int32], Shape("words")]  # that have it
    pairs: Annotated[NDArray[np.int64], Shape("pairs")]  # first word × words + second word, ascending
    pair_uses: Annotated[NDArray[np.float32], Shape("pairs")]  # of queries, and titles, with both together
    total: float  # uses of all words, in queries and titles

    @classmethod
    def count(
        cls, queries: Strings, weights: NDArray[np.float32], titles: Strings, language: str = "english"
    ) -> WordStatistics:
        """Count the words of queries, each with a weight, and of titles."""
        analyzer = Analyzer(language=language, stem=False, remove_stop_words=False, tokenizer="words")
        vocabulary = VocabularyBuilder()
        tokens = [analyzer.analyze(texts.to_list(), vocabulary) for texts in (queries, titles)]
        terms = vocabulary.finish()
        size = len(terms.terms)
        in_queries, in_titles = (part.renumbered(terms.new_ids) for part in tokens)
        uses = np.bincount(in_queries.terms, np.repeat(weights, np.diff(in_queries.indptr)), size)
        title_weights = np.ones(len(titles), np.float32)
        pairs, pair_uses = _count_pairs(size, (in_queries, weights), (in_titles, title_weights))
        words = Strings.from_list(terms.terms)
        return cls(
            Vocab(words.offsets, words.data),
            uses.astype(np.float32),
            np.bincount(in_queries.terms, minlength=size).astype(np.int32),
            np.bincount(in_titles.terms, minlength=size).astype(np.int32),
            pairs,
            pair_uses,
            float(uses.sum() + len(in_titles.terms)),
        )

    def pair_uses_of(self, firsts: NDArray[np.int64], seconds: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return how often pairs of words stand side by side; 0 for unknown words (−1)."""
        keys = firsts * len(self.words) + seconds
        places = np.searchsorted(self.pairs, keys)
        places[places == len(self.pairs)] = 0
        if not len(self.pairs):
            return np.zeros(len(keys), np.float32)
        return np.where(
            (self.pairs[places] == keys) & (firsts >= 0) & (seconds >= 0), self.pair_uses[places], 0
        )

    def find_defect(self) -> str | None:
        """Return whether the number of words is missing."""
        return None if self.total > 0 else "the number of words is missing"


def find_texts(vocabulary: Vocab, texts: Sequence[str]) -> list[int]:
    """Return the numbers of texts in a vocabulary, −1 for unknown ones, by compiled code."""
    from coclick.arrays.kernels import lookup

    wanted = Strings.from_list(texts)
    found = np.empty(len(texts), np.int32)
    lookup(vocabulary.offsets, vocabulary.data, vocabulary.order, wanted.offsets, wanted.data, found)
    return found.tolist()


def _count_pairs(
    size: int, *parts: tuple[Tokens, NDArray[np.float32]]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Pairs of neighbouring words as numbers, ascending, and the sum of the weights of their texts."""
    keys, weights = [], []
    for tokens, text_weights in parts:
        text = np.repeat(np.arange(len(tokens)), np.diff(tokens.indptr))
        inside = np.flatnonzero(text[1:] == text[:-1])
        terms = tokens.terms.astype(np.int64)
        keys.append(terms[inside] * size + terms[inside + 1])
        weights.append(text_weights[text[inside]])
    pairs, group = np.unique(np.concatenate(keys), return_inverse=True)
    return pairs, np.bincount(group, np.concatenate(weights), len(pairs)).astype(np.float32)
