"""`lsi_dt`: latent semantic indexing of documents and their terms (Deerwester et al. 1990; paper 002 §6.1.1).

    T ≈ U S Vᵀ        score(q, d) = cos(Vᵀ q, Vᵀ d)

for the TF-IDF rows T of documents. Queries are folded in as documents are, by the words they hold. Clicks
have no part in it.
"""

from __future__ import annotations

from dataclasses import dataclass

from coclick.graph.click_graph import ClickGraph
from coclick.models.projection._base import ProjectionModel
from coclick.models.projection.linear_map import DenseMap
from coclick.models.registry import register
from coclick.progress import Progress
from coclick.solvers.svd import truncated_svd


@register
@dataclass
class LsiDT(ProjectionModel):
    """Texts by the leading singular vectors of the documents' words."""

    name = "lsi_dt"
    summary = "texts in a space of fewer dimensions than words: LSI of documents"
    requires = ("texts",)
    cosine = True

    dim: int = 300

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Singular vectors of the documents' rows."""
        _, docs = self.featurise(graph, "words", progress, one_idf=True)
        found = truncated_svd([docs], self.dim, seed=self.seed, progress=progress)
        self.spectrum(found.values)
        both = DenseMap.of([found.right])
        self.build_embeddings(both, both, progress)
