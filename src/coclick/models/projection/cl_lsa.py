"""`cl_lsa`: cross-lingual LSA of clicked pairs (Gao et al. 2011 §4.1; Dumais et al. 1997).

Like `lsa`, but a text is a query joined with the title of a document that was clicked for it,

    P = (q + d for each clicked pair, weighted)        A = leading right singular vectors of P

with both sides over one vocabulary, so that words which co-occur across clicks are near each other. With
`centre` the mean row is subtracted, as PCA does.
"""

from __future__ import annotations

from dataclasses import dataclass

from coclick.arrays.csr import Csr
from coclick.graph.click_graph import ClickGraph
from coclick.models.presets import Preset
from coclick.models.projection._principal import joined_pair_directions
from coclick.models.projection._titles import TitleProjection
from coclick.models.projection.click_evidence import Weight, weight_clicks
from coclick.models.projection.linear_map import DenseMap
from coclick.models.projection.paper_data import EACH_PAIR_ONCE, GAO2011_DATA, PCA
from coclick.models.registry import register
from coclick.progress import Progress


@register
@dataclass
class CLLSA(TitleProjection):
    """Project texts on the leading singular vectors of queries joined with their clicked titles."""

    name = "cl_lsa"
    summary = "latent semantic analysis of queries joined with their clicked titles"
    presets = {"paper": Preset("Gao et al. 2011", weight=EACH_PAIR_ONCE, centre=PCA, **GAO2011_DATA)}

    weight: Weight = "log1p"
    centre: bool = False

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Compute singular vectors of the sums of the two rows of each pair, a product of two matrices."""
        rows = self._build_features(graph, "words", progress, one_idf=True, max_terms=self.max_vocabulary)
        weights = self._edge_weights(graph)
        found = joined_pair_directions(
            rows, weights, self.dim, centre=self.centre, seed=self.seed, progress=progress
        )
        self._record_singular_values(found.values)
        both = DenseMap.from_blocks([found.right])
        self._build_embeddings(both, both, progress)

    def _edge_weights(self, graph: ClickGraph) -> Csr:
        """Return the edge weights chosen by `weight`."""
        return weight_clicks(graph.clicks, self.weight)
