"""`lsa`: latent semantic analysis of queries and titles (paper 001 §4.1).

    CᵀC / n = Σ λ_j v_j v_jᵀ        A = (v_1 … v_k)        score(q, d) = cos(Aᵀq, Aᵀd)

for the TF-IDF rows C of queries and documents, each a text of its own; the eigenvectors of CᵀC are the right
singular vectors of C. Clicks have no part in it: it is where `s2net` starts.
"""

from __future__ import annotations

from dataclasses import dataclass

from coclick.graph import ClickGraph
from coclick.learning.svd import truncated_svd
from coclick.maps import DenseMap
from coclick.model import register
from coclick.progress import Progress
from coclick.sparse import stack
from coclick.title_projection import TitleProjection


@register
@dataclass
class LSA(TitleProjection):
    """Texts by the leading singular vectors of queries and titles."""

    name = "lsa"
    summary = "texts in a space of fewer dimensions than words, by latent semantic analysis"

    def learn(self, graph: ClickGraph, progress: Progress) -> None:
        """Singular vectors of all rows together."""
        rows = self.featurise(graph, "words", progress, one_idf=True, most_terms=self.vocabulary)
        found = truncated_svd([stack(*rows)], self.dim, seed=self.seed, progress=progress)
        self.spectrum(found.values)
        both = DenseMap.of([found.right])
        self.project(both, both, progress)
