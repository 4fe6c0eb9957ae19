"""Judged pairs as flat arrays, and measures of their scores.

nDCG uses exponential gain, 2^grade − 1, as the papers of Microsoft do. For AP a document is relevant if its
grade is "good" (2) or better; the papers do not say where they cut their five grades. Queries without a
relevant document are left out. Ties in scores are broken at random, the same way for all systems.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.evaluation.judgments import Judgments
from coclick.text.normalise import normalise

Scores = NDArray[np.float32]  # of all pairs
Values = NDArray[np.float64]  # of all queries, or a single one
GOOD = 2
_SEED = 17


@dataclass(frozen=True)
class Judged:
    """The judged queries with at least one relevant document, and their documents."""

    texts: list[str]
    docs: list[list[str]]
    grades: NDArray[np.int64]  # of all pairs
    starts: NDArray[np.int64]  # of each query, and the end
    good: int = GOOD

    @classmethod
    def of(cls, judgments: Judgments, good: int = GOOD) -> Judged:
        """Take judgments; the documents of a query come in a random order, which breaks ties."""
        rng = np.random.default_rng(_SEED)
        texts, docs, grades = [], [], []
        for query in sorted(judgments.queries):
            found = judgments.grades[query]
            if max(found.values(), default=0) > 0:
                names = sorted(found)
                names = [names[i] for i in rng.permutation(len(names))]
                texts.append(normalise(judgments.queries[query]))
                docs.append(names)
                grades += [found[name] for name in names]
        starts = np.cumsum([0, *map(len, docs)])
        return cls(texts, docs, np.array(grades, np.int64), starts, good)

    @property
    def query_of(self) -> NDArray[np.int64]:
        """The query of each pair."""
        return np.repeat(np.arange(len(self.texts)), np.diff(self.starts))

    def halves(self) -> NDArray[np.bool_]:
        """Mark a random half of the queries: on these, weights are tuned and rankers are trained."""
        first = np.zeros(len(self.texts), bool)
        first[np.random.default_rng(_SEED).permutation(len(first))[: len(first) // 2]] = True
        return first

    def measure(self, scores: Scores, name: str) -> Values:
        """Return `nDCG@k` or `AP` of each query."""
        query = self.query_of
        order = np.lexsort((-scores.astype(np.float64), query))  # stable: ties keep their random order
        rank = np.arange(len(order)) - self.starts[query]
        if name == "AP":
            return self._average_precision(order, rank)
        depth = int(name.removeprefix("nDCG@"))
        gains = np.exp2(self.grades.astype(np.float64)) - 1
        found = self._dcg(gains[order], rank, depth)
        best = self._dcg(gains[np.lexsort((-gains, query))], rank, depth)
        return found / best

    def _dcg(self, gains: Values, rank: NDArray[np.int64], depth: int) -> Values:
        discounted = np.where(rank < depth, gains / np.log2(rank + 2), 0)
        return np.bincount(self.query_of, discounted, len(self.texts)).astype(np.float64)

    def _average_precision(self, order: NDArray[np.int64], rank: NDArray[np.int64]) -> Values:
        relevant = self.grades[order] >= self.good
        before = np.concatenate([[0], np.cumsum(relevant)])[self.starts[:-1]]
        precision = (np.cumsum(relevant) - before[self.query_of]) / (rank + 1)
        sums = np.bincount(self.query_of, precision * relevant, len(self.texts))
        count = np.bincount(self.query_of, relevant, len(self.texts))
        return np.divide(sums, count, out=np.zeros(len(sums)), where=count > 0)

    def divide_by_maximum(self, scores: Scores) -> Scores:
        """Divide the scores of each query by their maximum; queries without a positive score get zeros."""
        highest = np.maximum.reduceat(scores, self.starts[:-1])[self.query_of]
        return np.divide(scores, highest, out=np.zeros_like(scores), where=highest > 0)


def mean(values: Mapping[str, Values], queries: NDArray[np.bool_]) -> dict[str, float]:
    """Return the means over some queries."""
    return {name: float(found[queries].mean()) for name, found in values.items()}
