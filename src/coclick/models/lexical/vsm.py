"""`vsm`: the vector space model, cosines of TF-IDF vectors (Salton; paper 001 §5.3, row 1 of its Table 2).

    weight(t) = tf · ln(1 + N / df)          score(q, d) = cos(q, d)

with tf the count c of the word, or 1 + ln c (`tf=log`), and df the number of documents that hold it, of N.
Words that no document holds have no weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from coclick.arrays.csr import Csr
from coclick.models.lexical._base import LexicalModel
from coclick.models.registry import register
from coclick.text.term_matrix import inverse_frequency, tf_idf


@register
@dataclass
class VSM(LexicalModel):
    """Queries and documents as TF-IDF vectors of unit length."""

    name = "vsm"
    summary = "lexical: the cosine of TF-IDF vectors"

    tf: Literal["log", "count"] = "log"

    def observe(self, counts: Csr) -> None:
        """The rarity of words."""
        self.idf_ = inverse_frequency(counts)

    def weigh_docs(self, counts: Csr) -> Csr:
        """TF-IDF of unit length."""
        return tf_idf(counts, self.idf_, self.tf)

    def weigh_queries(self, counts: Csr) -> Csr:
        """As for documents."""
        return self.weigh_docs(counts)
