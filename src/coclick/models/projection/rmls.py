"""`rmls`: regularised mapping to latent structures (Wu, Lu & Li 2013 §4; Wu, Lu & Li 2012 §3).

The maps L_x of query features and L_y of document features have sparse rows of bounded length instead of the
orthonormal columns of `pls`:

    min −Σ w_uv · x_uᵀ L_x L_yᵀ y_v + Σ β_u ‖l_xu‖₁ + Σ γ_v ‖l_yv‖₁   with ‖l_xu‖ ≤ θ_x, ‖l_yv‖ ≤ θ_y  (Eq. 4)

The maps are updated in turn; each has an exact minimiser, row by row (`coclick.solvers.rmls`). The global
optimum has rank one, so early stopping is part of the method: the number of half-iterations is chosen on
held-out clicks, and that many are run on all clicks. Often it is one: documents keep a random projection, and
only the map of queries is learned. `frequency_discount` is ours: it slows the loss of rank (docs/rmls.md).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, Literal

from coclick.arrays.csr import Csr
from coclick.graph.click_graph import ClickGraph
from coclick.models.presets import Preset
from coclick.models.projection._base import ProjectionModel
from coclick.models.projection.bounds import bound, limited_rows
from coclick.models.projection.click_evidence import Weight, weight_clicks
from coclick.models.projection.linear_map import SparseMap
from coclick.models.projection.paper_data import WU2013_DATA
from coclick.models.registry import register
from coclick.models.spec import Range
from coclick.progress import Progress
from coclick.solvers.rmls import Penalty, RmlsSolver, RmlsState, density, discount_frequent, map_rank
from coclick.solvers.validation import ValidationSample

# What Wu, Lu & Li 2013 (§3.1, §4.1, §6.1) and 2012 (§3, §5.1) say about the data of `rmls`.
_SETTLED: dict[str, tuple[Any, str]] = WU2013_DATA | {
    "initial_map": ("dense", "Algorithm 2: set randomly"),
    "frequency_discount": (0.0, "Eq. 4 has none"),
}
_LOST_RANK = 0.2  # share of the first effective rank below which a note warns
_PATIENCE = 2  # half-iterations without improvement before validation stops


@register
@dataclass
class RMLS(ProjectionModel):
    """One latent space in which queries are near their clicked documents, by sparse maps."""

    name = "rmls"
    summary = "sparse linear maps of queries and documents to one latent space, by words and clicks"
    relative_cost = 3.0
    presets = {
        "wu2013": Preset(
            "Wu, Lu & Li 2013",
            dim=(1000, "§6.2: performance improves with it; 1000 was chosen"),
            iterations=(10.0, "§6.2: good performance after less than 10 loops"),
            held_out=(0.1, "§6.2: early stopping on validation data, which here are clicks"),
            query_length=(1.0, "§6.2: not sensitive to it; θ = 1 in Wu, Lu & Li 2012 §5.1"),
            doc_length=(1.0, "§6.2: not sensitive to it; θ = 1 in Wu, Lu & Li 2012 §5.1"),
            relative_threshold=(1.5, "§6.2: tuned, but no value is given: ours, which has no scale"),
            **_SETTLED,
        ),
        "wu2012": Preset(
            "Wu, Lu & Li 2012",
            dim=(1000, "§5.2"),
            query_threshold=(0.1, "§5.2: β = 0.1, on the scale of their log"),
            doc_threshold=(0.1, "§5.2: γ = 0.1, on the scale of their log"),
            query_length=(1.0, "§5.1: θ = 1"),
            doc_length=(1.0, "§5.1: θ = 1"),
            **_SETTLED,
        ),
    }

    dim: Annotated[int, Range(1)] = 1000
    views: str = "words+clicks"
    weight: Weight = "degree"
    frequency_discount: Annotated[float, Range(0, 1)] = 0.0  # features are divided by this power of totals
    relative_threshold: Annotated[float, Range(0)] = 1.5  # β, γ relative to the first Ω
    query_threshold: Annotated[float, Range(0)] = 0.0  # β: if above 0, used for all rows instead
    doc_threshold: Annotated[float, Range(0)] = 0.0  # γ
    query_length: Annotated[float, Range(1e-6)] = 1.0  # θ_x, the length of rows
    doc_length: Annotated[float, Range(1e-6)] = 1.0  # θ_y
    initial_map: Literal["sparse", "dense"] = "sparse"  # the random map of documents to start from
    iterations: Annotated[float, Range(0.5)] = 10.0  # at most; half an iteration updates one map
    held_out: Annotated[float, Range(0, 0.9)] = 0.1  # of the pairs, for validation; 0: none

    def __post_init__(self) -> None:
        self._configure_views(self.views)

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Choose the number of half-iterations, then run them."""
        halves = (
            self._choose_half_iterations(graph, progress) if self.held_out else round(2 * self.iterations)
        )
        queries, docs = self._build_features(graph, self.views, progress)
        curve: list[dict[str, Any]] = []
        steps = self._half_iterations(queries, self._edge_weights(graph), docs)
        with progress("half-iterations", halves) as done:
            for _ in range(halves - 1):
                curve.append(_curve_point(next(steps)))
                done(1)
            last = next(steps)
            curve.append(_curve_point(last))
            done(1)
        del steps  # frees the memory of the solver
        self.stats_["chosen_rounds"] = halves / 2
        self.stats_["curve"] = curve
        self._note_lost_rank(curve)
        self._build_embeddings(
            SparseMap(last.query_map, self.query_length), SparseMap(last.doc_map, self.doc_length), progress
        )
        space = limited_rows(
            self.dim,
            (queries.columns, docs.columns),
            (int(queries.row_nnz().max()), int(docs.row_nnz().max())),
            (self.query_length, self.doc_length),
        )
        embeddings = self.query_index_.vectors, self.doc_index_.vectors
        self.stats_["bound"] = bound(graph.clicks, self.weight, embeddings, space)

    def _edge_weights(self, graph: ClickGraph) -> Csr:
        """Return the edge weights chosen by `weight`."""
        return weight_clicks(graph.clicks, self.weight)

    def _half_iterations(self, queries: Csr, edges: Csr, docs: Csr) -> Iterator[RmlsState]:
        if self.frequency_discount:
            queries, docs = discount_frequent(queries, edges, docs, self.frequency_discount)
        solver = RmlsSolver(queries, edges, docs, self.penalties())
        return solver.half_iterations(self.dim, self.seed, dense=self.initial_map == "dense")

    def penalties(self) -> tuple[Penalty, Penalty]:
        """Return thresholds and lengths of the maps of queries and of documents."""
        return (
            Penalty(self.relative_threshold, self.query_threshold, self.query_length),
            Penalty(self.relative_threshold, self.doc_threshold, self.doc_length),
        )

    def _note_lost_rank(self, curve: list[dict[str, Any]]) -> None:
        first, last = curve[0]["query_rank"], curve[-1]["query_rank"]
        if last < _LOST_RANK * first:
            self._add_note(
                f"the effective rank fell from {first:g} to {last:g}: use fewer iterations, or "
                f"frequency_discount=1"
            )

    def _choose_half_iterations(self, graph: ClickGraph, progress: Progress) -> int:
        """The number of half-iterations after which held-out clicks are ranked best."""
        rest, held_out = graph.split("pairs", self.held_out, self.seed)
        if not held_out.nnz:
            self._add_note("no query has a second document to hold out: half an iteration is run")
            return 1
        queries, docs = copy.copy(self)._build_features(rest, self.views, progress)
        trial = ValidationSample.sample(queries, docs, held_out, rest.clicks, self.seed)
        tried: list[float] = []
        max_halves = round(2 * self.iterations)
        with progress("iterations on held-out clicks", max_halves) as done:
            for step in islice(self._half_iterations(queries, self._edge_weights(rest), docs), max_halves):
                tried.append(trial.ndcg(step.query_map, step.doc_map))
                del step  # frees its maps before the next half-iteration
                done(1)
                if len(tried) - 1 - tried.index(max(tried)) == _PATIENCE:
                    break
        self.stats_["validation"] = [
            {"rounds": half / 2, "ndcg": round(value, 4)} for half, value in enumerate(tried, 1)
        ]
        return tried.index(max(tried)) + 1


def _curve_point(step: RmlsState) -> dict[str, Any]:
    found: dict[str, Any] = {"round": step.iterations}
    if step.objective is not None:
        found["objective"] = float(f"{step.objective:.6g}")
    return found | {
        "query_density": round(density(step.query_map), 4),
        "doc_density": round(density(step.doc_map), 4),
        "query_rank": round(map_rank(step.query_map), 1),
        "doc_rank": round(map_rank(step.doc_map), 1),
    }
