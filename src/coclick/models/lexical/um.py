"""`um`: the unigram language model with Jelinek–Mercer smoothing (paper 001 §3.3, Eq. 14–16 with λ₂ = 1).

Documents are ranked by the likelihood of the query,

    P(q|d) = Π_{t ∈ q} (λ P(t|C) + (1 − λ) P(t|d))

with P(t|d) and P(t|C) the shares of a word in the document and in the collection. What is scored is
ln P(q|d) without the part that is the same for all documents, ln Π λ P(t|C):

    score(q, d) = Σ_{t ∈ q} ln(1 + (1 − λ) P(t|d) / (λ P(t|C)))

which is 0 for a document without any of the query's words, and a dot product with the document's logarithms.
Words with P(t|C) = 0 are skipped.
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
class UM(LexicalModel):
    """Documents by the likelihood that they bring forth the query."""

    name = "um"
    summary = "lexical: the likelihood of the query in the document's smoothed language model"

    lambda_collection: Annotated[float, Range(0.001, 0.999)] = 0.5  # λ, the share of the collection's model

    def observe(self, counts: Csr) -> None:
        """The collection's language model, P(t|C)."""
        occurrences = np.bincount(counts.indices, counts.data, minlength=counts.columns)
        self.collection_ = occurrences / max(occurrences.sum(), 1)

    def weigh_docs(self, counts: Csr) -> Csr:
        """The logarithms in the score, from P(t|d)."""
        lengths = np.repeat(counts.row_sums(), counts.row_nnz())
        foreground = (1 - self.lambda_collection) * counts.data / lengths
        return counts.with_data(
            np.log1p(foreground / (self.lambda_collection * self.collection_[counts.indices])).astype(
                np.float32
            )
        )
