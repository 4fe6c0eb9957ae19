"""`lsi_dt`: latent semantic indexing of documents (Deerwester et al. 1990; Wu, Lu & Li 2013 §6.1.1).

    T ≈ U S Vᵀ        score(q, d) = cos(Vᵀ q, Vᵀ d)

for the TF-IDF rows T of documents. Queries are folded in by their words, like documents. It uses no clicks.
"""

from __future__ import annotations

from dataclasses import dataclass

from coclick.graph.click_graph import ClickGraph
from coclick.models.presets import Preset
from coclick.models.projection._base import ProjectionModel
from coclick.models.projection.linear_map import DenseMap
from coclick.models.projection.paper_data import WORDS, WU2013_DATA
from coclick.models.registry import register
from coclick.progress import Progress
from coclick.solvers.svd import truncated_svd


@register
@dataclass
class LsiDT(ProjectionModel):
    """Project texts on the leading singular vectors of the words of documents."""

    name = "lsi_dt"
    summary = "latent semantic indexing of documents and their terms"
    requires = ("texts",)
    cosine = True
    presets = {
        "wu2013": Preset(
            "Wu, Lu & Li 2013",
            dim=(1000, "§6.2: 1000 was the best of 100 to 1000; Wu, Lu & Li 2012 §5.2"),
            **{name: WU2013_DATA[name] for name in ("fields", *WORDS)},
        )
    }

    dim: int = 300

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Compute the singular vectors of the rows of documents."""
        _, docs = self._build_features(graph, "words", progress, one_idf=True)
        found = truncated_svd([docs], self.dim, seed=self.seed, progress=progress)
        self._record_singular_values(found.values)
        both = DenseMap.from_blocks([found.right])
        self._build_embeddings(both, both, progress)
