"""`um`: the unigram language model with Jelinek–Mercer smoothing (Gao et al. 2011 §3.3).

Documents are ranked by the likelihood of the query,

    P(q|d) = Π_{t ∈ q} (λ P(t|C) + (1 − λ) P(t|d))

which is Eq. 14–16 with λ₂ = 1. P(t|d) and P(t|C) are the relative frequencies of a word in the document and
in the collection. The score is ln P(q|d) without the part that is the same for all documents, ln Π λ P(t|C):

    score(q, d) = Σ_{t ∈ q} ln(1 + (1 − λ) P(t|d) / (λ P(t|C)))

It is 0 for a document without any word of the query, and a dot product of the query's counts with the
logarithms of the document. Words with P(t|C) = 0 are skipped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.models.lexical._base import LexicalModel
from coclick.models.presets import Preset
from coclick.models.registry import register
from coclick.models.spec import Range
from coclick.models.text_model import GAO2011_TEXT
from coclick.storage.layout import Shape


@register
@dataclass
class UM(LexicalModel):
    """Score documents by the likelihood that they generate the query."""

    name = "um"
    summary = "lexical: query likelihood in a smoothed unigram language model"
    presets = {"gao2011": Preset("Gao et al. 2011", **GAO2011_TEXT)}

    lambda_collection: Annotated[float, Range(0.001, 0.999)] = 0.5  # λ, weight of the collection model

    collection_: Annotated[NDArray[np.float64], Shape("terms")] = field(init=False)

    def _fit_weights(self, counts: Csr) -> None:
        """Learn the language model of the collection, P(t|C)."""
        occurrences = np.bincount(counts.indices, counts.data, minlength=counts.columns)
        self.collection_ = occurrences / max(occurrences.sum(), 1)

    def _weight_docs(self, counts: Csr) -> Csr:
        """Return the logarithms of the score."""
        lengths = np.repeat(counts.row_sums(), counts.row_nnz())
        foreground = (1 - self.lambda_collection) * counts.data / lengths
        return counts.with_data(
            np.log1p(foreground / (self.lambda_collection * self.collection_[counts.indices])).astype(
                np.float32
            )
        )
