"""`bm25`: the lexical baseline (Robertson & Walker 1994; word part of Jiang et al. 2016 §4.2).

    score(q, d) = Σ_{t ∈ q} idf(t) · tf · (k₁ + 1) / (tf + k₁ (1 − b + b |d| / avg))
    idf(t)      = ln(1 + (N − df + ½) / (df + ½))

This is a dot product: the vector of a document has all of a summand but the count of the word in the query,
which is the vector of the query.
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
from coclick.storage.layout import Shape


@register
@dataclass
class BM25(LexicalModel):
    """Score documents by the words they share with the query."""

    name = "bm25"
    summary = "lexical: BM25 over the words that query and document share"
    presets = {
        name: Preset(
            source,
            k1=(1.2, f"{section}: “the default setting”, taken as the customary one"),
            b=(0.75, f"{section}: “the default setting”, taken as the customary one"),
            fields=(fields, f"{texts}: the words of documents"),
            stem=(True, words),
            remove_stop_words=(True, words),
            tokenizer=("words", "words are not split into pieces"),
        )
        for name, source, section, fields, texts, words in (
            ("wu2013b", "Wu, Li & Xu 2013", "§5.3", "url", "§5.1", "§5.1: stemmed, stop words removed"),
            ("wu2013", "Wu, Lu & Li 2013", "§6.2", "title+url", "§6.1", "as Wu, Lu & Li 2012, same data"),
            ("wu2012", "Wu, Lu & Li 2012", "§5.1", "title+url", "§5.1", "§5.1: stemmed, stop words removed"),
        )
    }

    k1: Annotated[float, Range(0)] = 1.2
    b: Annotated[float, Range(0, 1)] = 0.75

    idf_: Annotated[NDArray[np.float32], Shape("terms")] = field(init=False)
    average_: float = field(init=False)

    def _fit_weights(self, counts: Csr) -> None:
        """Learn idf and the average document length."""
        frequency = np.bincount(counts.indices, minlength=counts.columns)
        self.idf_ = np.log1p((counts.rows - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)
        self.average_ = float(counts.data.sum(dtype=np.float64) / max(counts.rows, 1)) or 1.0

    def _weight_docs(self, counts: Csr) -> Csr:
        """Return the summands for a query count of 1."""
        length = np.repeat(counts.row_sums() / self.average_, counts.row_nnz())
        saturation = counts.data + self.k1 * (1 - self.b + self.b * length)
        weights = self.idf_[counts.indices] * counts.data * (self.k1 + 1) / saturation
        return counts.with_data(weights.astype(np.float32))
