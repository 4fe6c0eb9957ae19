"""`bm25`: the lexical baseline (Robertson & Walker 1994; paper 003 §4.2, its word part).

    score(q, d) = Σ_{t ∈ q} idf(t) · tf · (k₁ + 1) / (tf + k₁ (1 − b + b |d| / avg))
    idf(t)      = ln(1 + (N − df + ½) / (df + ½))

The document's part of each summand is its vector, the query's counts are the query's: a dot product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from coclick.arrays.csr import Csr
from coclick.models.lexical._base import LexicalModel
from coclick.models.registry import register
from coclick.models.spec import Range


@register
@dataclass
class BM25(LexicalModel):
    """Documents by the words they share with the query."""

    name = "bm25"
    summary = "lexical: the words that query and document share"

    k1: Annotated[float, Range(0)] = 1.2
    b: Annotated[float, Range(0, 1)] = 0.75

    def observe(self, counts: Csr) -> None:
        """The rarity of words and the average length."""
        frequency = np.bincount(counts.indices, minlength=counts.columns)
        self.idf_ = np.log1p((counts.rows - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)
        self.average_ = float(counts.data.sum(dtype=np.float64) / max(counts.rows, 1)) or 1.0

    def weigh_docs(self, counts: Csr) -> Csr:
        """All of a summand but the query's count."""
        length = np.repeat(counts.row_sums() / self.average_, counts.row_nnz())
        saturation = counts.data + self.k1 * (1 - self.b + self.b * length)
        weights = self.idf_[counts.indices] * counts.data * (self.k1 + 1) / saturation
        return counts.with_data(weights.astype(np.float32))
