"""`Query`: a query as all parts of a model see it. It is normalised, looked up and split into words once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from coclick.arrays.strings import Vocab
from coclick.text.analyzer import Analyzer, Tokens
from coclick.text.normalise import normalise, normalise_batch
from coclick.text.tokenizer import add_pieces, split_words

T = TypeVar("T")

_FEW = 64  # queries, up to which their own tokens are used; above, compiled code splits all texts at once


@dataclass(frozen=True)
class Query:
    """A query: its normalised text, its row in the click graph (−1 if it is not there), and its words."""

    text: str
    row: int
    _memo: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def list_of(cls, texts: Sequence[str], queries: Vocab) -> list[Query]:
        """Normalise texts and look them up among the queries of a graph."""
        many = len(texts) > _FEW
        normalised = normalise_batch(texts) if many else [normalise(text) for text in texts]
        return [cls(*pair) for pair in zip(normalised, queries.lookup(normalised).tolist(), strict=True)]

    @cached_property
    def tokens(self) -> list[str]:
        """The words as they are written, stop words included."""
        return [word for token in self.text.split(" ") for word in split_words(token)]

    @cached_property
    def tokens_with_pieces(self) -> list[str]:
        """The same words, compound ones followed by their pieces."""
        return add_pieces(self.tokens)

    def words(self, analyzer: Analyzer) -> list[str]:
        """The words as they are written, without the stop words that the analyzer removes."""
        if not analyzer.splits_as_any_language:
            return analyzer.words(self.text)
        pieces = analyzer.tokenizer == "pieces"
        return analyzer.without_stop_words(self.tokens_with_pieces if pieces else self.tokens)

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return what was computed for this query under `key`, or compute and keep it."""
        if key not in self._memo:
            self._memo[key] = compute()
        value: T = self._memo[key]
        return value

    def remember(self, key: Hashable, value: Any) -> None:
        """Keep a value for `once`, such as one that was computed for many queries together."""
        self._memo[key] = value

    def recall(self, key: Hashable) -> Any:
        """Return what is kept under `key`, or None."""
        return self._memo.get(key)


def known_share(query: Query, analyzer: Analyzer, vocabulary: Vocab) -> float:
    """Return the share of a query's terms that are in a vocabulary; 0 without terms."""
    terms = lookup_query_terms([query], analyzer, vocabulary).terms
    return float(np.mean(terms >= 0)) if len(terms) else 0.0


def lookup_query_terms(queries: Sequence[Query], analyzer: Analyzer, vocabulary: Vocab) -> Tokens:
    """Return the terms of queries as ids of a vocabulary; −1 for unknown terms."""
    if len(queries) > _FEW:
        return analyzer.lookup_terms([query.text for query in queries], vocabulary)
    terms = [analyzer.stems(query.words(analyzer)) for query in queries]
    indptr = np.cumsum([0, *map(len, terms)], dtype=np.int64)
    return Tokens(indptr, vocabulary.lookup([term for row in terms for term in row]))
