"""`ctr`: click-through rate of navigational clicks (Jiang et al. 2016 §4.2).

Let n be the number of sessions (30 minutes) that showed the document for the query, and p the fraction of
them in which it was the only click. The score is the lower end of Wilson's interval for p, with z = 1.96:

    (p + z²/2n − z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n)

so that 9 of 10 (0.596) scores higher than 1 of 1 (0.207). A pair that was never shown has no score.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.sparse_vector import SparseVector
from coclick.graph.click_graph import ClickGraph
from coclick.models.click_graph._base import CandidateModel
from coclick.models.presets import Preset
from coclick.models.registry import register
from coclick.progress import Progress
from coclick.storage.layout import Shape
from coclick.text.query import Query

Z = 1.96  # for 95 % confidence


@register
@dataclass
class CTR(CandidateModel):
    """Score a pair by Wilson's lower bound of its rate of navigational clicks."""

    name = "ctr"
    summary = "rate of sessions in which the document was the only click, as a lower bound"
    requires = ("impressions", "sessions")
    presets = {"jiang2016": Preset("Jiang et al. 2016")}  # §4.2 settles everything: there are no parameters

    bounds_: Annotated[Csr, Shape("queries", "docs")] = field(init=False)

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Compute the bound of every pair that was shown."""
        pairs = graph.pairs
        assert pairs is not None
        assert pairs.sessions is not None
        assert pairs.navigational is not None
        bounds = wilson_lower(pairs.navigational, pairs.sessions).astype(np.float32)
        self.bounds_ = Csr(pairs.indptr, pairs.docs, bounds, len(graph.docs)).positive()

    def _list_docs(self, query: Query) -> SparseVector:
        """List the documents that were shown for the query."""
        bounds = self.bounds_.take(np.array([query.row]))
        return SparseVector(bounds.indices, bounds.data.astype(np.float64))


def wilson_lower(successes: NDArray[np.integer], trials: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the lower end of Wilson's interval; 0 without a success or a trial."""
    n = np.maximum(trials, 1).astype(np.float64)
    p = np.minimum(successes / n, 1.0)
    spread = Z * np.sqrt(p * (1 - p) / n + Z**2 / (4 * n**2))
    bound = (p + Z**2 / (2 * n) - spread) / (1 + Z**2 / n)
    return np.where((successes > 0) & (trials > 0), np.maximum(bound, 0.0), 0.0)
