"""`vsm`: the vector space model, cosine of TF-IDF vectors (Salton; Gao et al. 2011 §5.3, Table 2 row 1).

    weight(t) = tf · ln(1 + N / df)          score(q, d) = cos(q, d)

with tf the count c of the word, or 1 + ln c (`tf=log`), and df the number of documents that contain it,
of N. Words that no document contains have no weight.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.models.lexical._base import LexicalModel
from coclick.models.presets import Preset
from coclick.models.registry import register
from coclick.models.text_model import GAO2011_TEXT
from coclick.storage.layout import Shape
from coclick.text.term_matrix import inverse_frequency, tf_idf


@register
@dataclass
class VSM(LexicalModel):
    """Queries and documents as TF-IDF vectors of unit length."""

    name = "vsm"
    summary = "lexical: cosine of TF-IDF vectors"
    presets = {"gao2011": Preset("Gao et al. 2011", **GAO2011_TEXT)}

    tf: Literal["log", "count"] = "log"

    idf_: Annotated[NDArray[np.float32], Shape("terms")] = field(init=False)

    def _fit_weights(self, counts: Csr) -> None:
        """Learn idf."""
        self.idf_ = inverse_frequency(counts)

    def _weight_docs(self, counts: Csr) -> Csr:
        """Return TF-IDF vectors of unit length."""
        return tf_idf(counts, self.idf_, self.tf)

    def _weight_queries(self, counts: Csr) -> Csr:
        """Return TF-IDF vectors of unit length."""
        return self._weight_docs(counts)
