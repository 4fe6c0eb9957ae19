"""`rmls`: regularised mapping to latent structures (paper 002 §4, paper 004 §3).

The maps L_x of queries' and L_y of documents' features have sparse rows of bounded length instead of the
orthonormal columns of `pls`:

    min −Σ w_uv · x_uᵀ L_x L_yᵀ y_v + Σ β_u ‖l_xu‖₁ + Σ γ_v ‖l_yv‖₁     with ‖l_xu‖, ‖l_yv‖ ≤ θ       (Eq. 4)

Each map in turn has its exact minimiser, row by row: `learning.alternation`. The global optimum has rank one,
so early stopping is part of the method. Every half-round is tried on held-out clicks, and as many as were
best are run on all clicks. Often that is a single one: documents keep a random projection, and queries learn.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any

from coclick.arrays.csr import Csr
from coclick.graph.click_graph import ClickGraph
from coclick.models.projection._base import ProjectionModel
from coclick.models.projection.bounds import bound, limited_rows
from coclick.models.projection.click_evidence import Weight, weigh
from coclick.models.projection.linear_map import SparseMap
from coclick.models.registry import register
from coclick.models.spec import Range
from coclick.progress import Progress
from coclick.solvers.rmls import Penalty, RmlsSolver, RmlsState, density, map_rank
from coclick.solvers.validation import ValidationSample

_PATIENCE = 2  # half-rounds without a better one after which no more are tried


@register
@dataclass
class RMLS(ProjectionModel):
    """The space in which queries and their clicked documents agree, by sparse maps."""

    name = "rmls"
    summary = "words and clicks of queries and documents in one space, by sparse maps"

    dim: Annotated[int, Range(1)] = 1000
    views: str = "words+clicks"
    weight: Weight = "degree"
    relative_threshold: Annotated[float, Range(0)] = (
        1.5  # thresholds, in root mean squares of the rows of the first Ω
    )
    threshold: Annotated[float, Range(0)] = 0.0  # above 0: one threshold for all rows instead
    theta: Annotated[float, Range(1e-6)] = 1.0  # the length of rows
    iterations: Annotated[float, Range(0.5)] = 10.0  # at most; half a round is one of the maps
    held_out: Annotated[float, Range(0, 0.9)] = 0.1  # of the pairs, held out; 0: all rounds are run

    def __post_init__(self) -> None:
        self.configure_views(self.views)

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Choose the number of half-rounds, then run them."""
        halves = self._best(graph, progress) if self.held_out else round(2 * self.iterations)
        queries, docs = self.featurise(graph, self.views, progress)
        curve: list[dict[str, Any]] = []
        steps = self._half_rounds(queries, self.edge_weights(graph), docs)
        with progress("half-rounds", halves) as done:
            for _ in range(halves - 1):
                curve.append(_figures(next(steps)))
                done(1)
            last = next(steps)
            curve.append(_figures(last))
        del steps  # and with it what was needed for learning only
        self.stats_["chosen_rounds"] = halves / 2
        self.stats_["curve"] = curve
        self.build_embeddings(
            SparseMap(last.query_map, self.theta), SparseMap(last.doc_map, self.theta), progress
        )
        space = limited_rows(
            self.dim,
            (queries.columns, docs.columns),
            (int(queries.row_nnz().max()), int(docs.row_nnz().max())),
            (self.theta, self.theta),
        )
        images = self.query_index_.vectors, self.doc_index_.vectors
        self.stats_["bound"] = bound(graph.clicks, self.weight, images, space)

    def edge_weights(self, graph: ClickGraph) -> Csr:
        """As the parameter says."""
        return weigh(graph.clicks, self.weight)

    def _half_rounds(self, queries: Csr, edges: Csr, docs: Csr) -> Iterator[RmlsState]:
        penalty = Penalty(self.relative_threshold, self.threshold, self.theta)
        return RmlsSolver(queries, edges, docs, penalty).half_iterations(self.dim, self.seed)

    def _best(self, graph: ClickGraph, progress: Progress) -> int:
        """The number of half-rounds after which held-out clicks are ranked best."""
        rest, held_out = graph.split("pairs", self.held_out, self.seed)
        if not held_out.nnz:
            self.note("no query has a second document to hold out: half a round is run")
            return 1
        queries, docs = copy.copy(self).featurise(rest, self.views, progress)
        trial = ValidationSample.sample(queries, docs, held_out, rest.clicks, self.seed)
        tried: list[float] = []
        most = round(2 * self.iterations)
        with progress("rounds on held-out clicks", most) as done:
            for step in islice(self._half_rounds(queries, self.edge_weights(rest), docs), most):
                tried.append(trial.ndcg(step.query_map, step.doc_map))
                del step  # the next half-round can do without its maps
                done(1)
                if len(tried) - 1 - tried.index(max(tried)) == _PATIENCE:
                    break
        self.stats_["validation"] = [
            {"rounds": half / 2, "ndcg": round(value, 4)} for half, value in enumerate(tried, 1)
        ]
        return tried.index(max(tried)) + 1


def _figures(step: RmlsState) -> dict[str, Any]:
    found: dict[str, Any] = {"round": step.iterations}
    if step.objective is not None:
        found["objective"] = float(f"{step.objective:.6g}")
    return found | {
        "query_density": round(density(step.query_map), 4),
        "doc_density": round(density(step.doc_map), 4),
        "query_rank": round(map_rank(step.query_map), 1),
        "doc_rank": round(map_rank(step.doc_map), 1),
    }
