"""`lsa`: latent semantic analysis of queries and titles (Gao et al. 2011 §4.1).

    CᵀC / n = Σ λ_j v_j v_jᵀ        A = (v_1 … v_k)        score(q, d) = cos(Aᵀq, Aᵀd)

for the n TF-IDF rows C of queries and titles; the eigenvectors of CᵀC are the right singular vectors of C.
With `centre` the mean row is subtracted, as PCA does. `corpus=distinct` takes every text once and uses no
clicks; `corpus=pairs` takes both texts of every clicked pair. `s2net` starts from it.
"""

from __future__ import annotations

from dataclasses import dataclass

from coclick.graph.click_graph import ClickGraph
from coclick.models.presets import Preset
from coclick.models.projection._principal import Corpus, principal_directions
from coclick.models.projection._titles import TitleProjection
from coclick.models.projection.linear_map import DenseMap
from coclick.models.projection.paper_data import GAO2011_DATA, PCA, TEXTS_OF_PAIRS
from coclick.models.registry import register
from coclick.progress import Progress


@register
@dataclass
class LSA(TitleProjection):
    """Project texts on the leading singular vectors of queries and titles."""

    name = "lsa"
    summary = "latent semantic analysis of queries and titles"
    presets = {"paper": Preset("Gao et al. 2011", corpus=TEXTS_OF_PAIRS, centre=PCA, **GAO2011_DATA)}

    corpus: Corpus = "distinct"
    centre: bool = False

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Compute the singular vectors of the rows of both sides."""
        rows = self._build_features(graph, "words", progress, one_idf=True, max_terms=self.max_vocabulary)
        found = principal_directions(
            rows, graph.clicks, self.dim, self.corpus, centre=self.centre, seed=self.seed, progress=progress
        )
        self._record_singular_values(found.values)
        both = DenseMap.from_blocks([found.right])
        self._build_embeddings(both, both, progress)
