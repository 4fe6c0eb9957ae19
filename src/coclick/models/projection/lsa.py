"""`lsa`: latent semantic analysis of queries and titles (paper 001 §4.1).

    CᵀC / n = Σ λ_j v_j v_jᵀ        A = (v_1 … v_k)        score(q, d) = cos(Aᵀq, Aᵀd)

for the TF-IDF rows C of queries and documents, each a text of its own; the eigenvectors of CᵀC are the right
singular vectors of C. Clicks have no part in it: it is where `s2net` starts.
"""

from __future__ import annotations

from dataclasses import dataclass

from coclick.arrays.csr import vstack
from coclick.graph.click_graph import ClickGraph
from coclick.models.projection._base import TitleProjection
from coclick.models.projection.linear_map import DenseMap
from coclick.models.registry import register
from coclick.progress import Progress
from coclick.solvers.svd import truncated_svd


@register
@dataclass
class LSA(TitleProjection):
    """Texts by the leading singular vectors of queries and titles."""

    name = "lsa"
    summary = "texts in a space of fewer dimensions than words, by latent semantic analysis"

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Singular vectors of all rows together."""
        rows = self.featurise(graph, "words", progress, one_idf=True, max_terms=self.max_vocabulary)
        found = truncated_svd([vstack(*rows)], self.dim, seed=self.seed, progress=progress)
        self.spectrum(found.values)
        both = DenseMap.of([found.right])
        self.build_embeddings(both, both, progress)
