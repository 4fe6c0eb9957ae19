"""Unit weights on Spark: conjugate gradients between units and texts.

The local counterpart is `coclick.models.propagation.regression`. Weights and residuals are stored with the
units. The parts of texts receive the vectors of their units once. Each iteration then sends numbers instead
of vectors: one per unit and part that contains it, in both directions. The driver receives a few dot products
and computes the step sizes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from coclick.arrays.csr import Csr
from coclick.models.propagation.regression import MAX_CG_ITERATIONS, TOLERANCE, UnitRegression, preconditioner
from coclick.spark.matrix_product import (
    MESSAGE_SCHEMA,
    message,
    messages_from_blocks,
    persist_on_disk,
    received_rows,
)
from coclick.spark.partitioned_matrix import LocalMatrix, SendPlan, as_edges, as_pieces, partition
from coclick.spark.partitioning import NodeSet, apply_to_parts, by_part
from coclick.spark.serialization import (
    buffers,
    buffers_by,
    csr_arrays,
    csr_from_arrays,
    map_parts,
    pack,
    part_row,
    unpack,
    unpack_csr,
)
from coclick.spark.storage import WorkDir

if TYPE_CHECKING:
    from coclick.spark.units import UnitTrainer

Doubles = NDArray[np.float64]

_VALUES_SCHEMA = "part int, values binary"
_STATE_SCHEMA = "part int, values binary, plan binary, sums array<double>"


def unit_weights(
    trainer: UnitTrainer,
    nodes: NodeSet,
    units: DataFrame,
    incidence: DataFrame,
    vectors: DataFrame,
    texts: NodeSet,
    targets: DataFrame,
) -> tuple[DataFrame, dict[str, float]]:
    """Return the unit weights (part, values) of the model's weighting, and statistics."""
    weighting, n_parts = trainer.model.unit_weights, nodes.n_parts
    kept = units.select("id", "texts", (F.col("id") % n_parts).cast("int").alias("part"))
    blocks = by_part(kept, n_parts)
    n_texts = None if weighting == "equal" else texts.n_nodes
    prior = apply_to_parts(partial(_prior, n_texts), _VALUES_SCHEMA, blocks)
    if weighting in ("equal", "idf"):
        return trainer.work.checkpoint("weights", prior), {}
    return _Regression(trainer, nodes, texts).solve(prior, incidence, vectors, targets)


def _prior(texts: int | None, part: int, table: pa.Table) -> pa.Table:
    """Weights before the regression: inverse document frequencies, or ones without `texts`."""
    n_texts = table.sort_by("id")["texts"].to_numpy()
    values = np.ones(len(n_texts)) if texts is None else np.log1p(texts / np.maximum(n_texts, 1))
    return part_row(part, values=pack([values]))


@dataclass(frozen=True)
class _Iteration:
    """The parameters that the driver sends to the parts of units at the start of an iteration."""

    kind: str  # "probe", "first" or "next"
    rho: float
    factor: float = 0.0  # multiple of the prior
    step: float = 0.0
    beta: float = 0.0

    def advance(self, arrays: list[Doubles]) -> list[Doubles]:
        """Return weights, residual, preconditioner and direction after the last iteration.

        A probe returns the prior alone. `arrays` come from `_initial_state` or `_collect`.
        """
        if self.kind == "probe":
            return [arrays[0]]
        if self.kind == "first":
            prior, right_side, product, counts, squares = arrays
            prior = self.factor * prior
            diagonal = preconditioner(counts * squares, self.rho)
            residual = right_side - self.factor * product
            return [prior, residual, diagonal, residual / diagonal]
        weights, residual, diagonal, direction, product = arrays
        weights = weights + self.step * direction
        residual = residual - self.step * product
        return [weights, residual, diagonal, residual / diagonal + self.beta * direction]

    @property
    def sent(self) -> int:
        """The index of the array to send: the direction, or the prior in a probe."""
        return 0 if self.kind == "probe" else 3


class _Regression:
    def __init__(self, trainer: UnitTrainer, nodes: NodeSet, texts: NodeSet) -> None:
        self.trainer, self.nodes, self.texts = trainer, nodes, texts
        self.rho = trainer.model.rho

    def solve(
        self, prior: DataFrame, incidence: DataFrame, vectors: DataFrame, targets: DataFrame
    ) -> tuple[DataFrame, dict[str, float]]:
        """Solve as `UnitRegression.solve` does, starting from the best multiple of the prior."""
        work = self.trainer.work
        edges = as_edges(incidence.filter("NOT whole"), "text", "unit", F.lit(1.0))
        to_texts = partition(edges, self.texts, self.nodes, work, "regression")
        state = _initial_state(prior, vectors, to_texts.plans, self.nodes.n_parts, work)
        with persist_on_disk(self._equations_by_part(to_texts, vectors, targets)) as equations:
            state, iteration, iterations = self._iterate(state, equations)

        def final_weights(part: int, values: pa.Buffer) -> list[pa.RecordBatch]:
            weights = np.maximum(iteration.advance(unpack(values))[0], 0.0)
            return part_row(part, values=pack([weights])).to_batches()

        final = state.mapInArrow(map_parts(final_weights, "values"), _VALUES_SCHEMA)
        return work.checkpoint("weights", final), {"regression_rounds": iterations}

    def _iterate(self, state: DataFrame, equations: DataFrame) -> tuple[DataFrame, _Iteration, int]:
        """The last state, the parameters that complete it, and the number of iterations."""
        state, (norm, fit) = self._run_iteration(state, equations, _Iteration("probe", self.rho), "probe")
        factor = max(fit / norm, 0.0) if norm > 0 else 0.0
        iteration = _Iteration("first", self.rho, factor)
        iterations = 0
        while iterations < MAX_CG_ITERATIONS:
            state, sums = self._run_iteration(state, equations, iteration, f"iteration-{iterations}")
            # r·M⁻¹r, d·Ad, M⁻¹r·Ad, Ad·M⁻¹Ad and b·M⁻¹b, with preconditioner M and direction d
            energy, curvature, cross, square, scale = sums
            if not iterations:
                goal = TOLERANCE**2 * max(scale, 1e-30)
            if not energy > goal:
                iteration = _Iteration("next", self.rho)
                break
            step = energy / curvature
            after = energy - 2 * step * cross + step * step * square
            iteration = _Iteration("next", self.rho, step=step, beta=after / energy)
            iterations += 1
            if not after > goal:
                break
        return state, iteration, iterations

    def _equations_by_part(self, to_texts: Any, vectors: DataFrame, targets: DataFrame) -> DataFrame:
        """For each part of the texts: their units, the vectors of the units, and their own vectors."""
        n_parts, columns, texts = self.nodes.n_parts, self.trainer.words.size, self.texts
        own = as_pieces(targets, "vectors").union(to_texts.local)
        blocks = by_part(own, n_parts)

        def equations_of_part(part: int, pieces: pa.Table, messages: pa.Table) -> pa.Table:
            payloads = buffers_by(pieces, "kind")
            local = LocalMatrix.unpack(payloads.get("local"), texts.n_rows(part), n_parts)
            units = received_rows(local, messages, columns)
            own = unpack_csr(payloads["vectors"])
            arrays = [local.expected, *csr_arrays(local.rows), *csr_arrays(units), *csr_arrays(own)]
            arrays += _equations(local.rows, units, own).products
            return part_row(part, values=pack(arrays))

        sent = by_part(messages_from_blocks(vectors, to_texts), n_parts)
        equations = apply_to_parts(equations_of_part, _VALUES_SCHEMA, blocks, sent)
        return equations.repartitionById(n_parts, "part")

    def _run_iteration(
        self, state: DataFrame, equations: DataFrame, iteration: _Iteration, name: str
    ) -> tuple[DataFrame, list[float]]:
        """Send the direction, apply the equations and sum the results; returns the state and dot products."""
        n_parts = self.nodes.n_parts
        send = map_parts(partial(_send_values, iteration), "values", "plan")
        sent = by_part(state.mapInArrow(send, MESSAGE_SCHEMA), n_parts)
        apply = partial(_apply_equations, iteration.kind == "probe")
        back = apply_to_parts(apply, MESSAGE_SCHEMA, equations.groupBy("part"), sent)
        collect = partial(_collect, iteration)
        found = apply_to_parts(collect, _STATE_SCHEMA, by_part(state, n_parts), by_part(back, n_parts))
        state = self.trainer.work.checkpoint(f"regression-{name}", found)
        rows = [row[0] for row in state.select("sums").collect()]
        return state, np.sum(rows, axis=0).tolist()


def _initial_state(
    prior: DataFrame, vectors: DataFrame, plans: DataFrame, n_parts: int, work: WorkDir
) -> DataFrame:
    """The state before the first iteration: prior weights and squared lengths of the unit vectors."""
    together = plans.union(as_pieces(vectors, "vectors")).union(as_pieces(prior, "values"))

    def state(part: int, table: pa.Table) -> pa.Table:
        payloads = buffers_by(table, "kind")
        rows = unpack_csr(payloads["vectors"])
        squares = rows.with_data(rows.data * rows.data).row_sums()
        prior = unpack(payloads["values"])[0] if "values" in payloads else np.empty(0)  # no units
        return _state_table(part, [prior, squares], SendPlan.from_pieces(table).pack(), [])

    states = apply_to_parts(state, _STATE_SCHEMA, by_part(together, n_parts))
    return work.checkpoint("regression-start", states)


def _state_table(part: int, arrays: list[Doubles], plan: bytes, sums: list[float]) -> pa.Table:
    row = part_row(part, values=pack(arrays), plan=plan)
    return row.append_column("sums", pa.array([sums], pa.list_(pa.float64())))


def _send_values(
    iteration: _Iteration, part: int, values: pa.Buffer, plan: pa.Buffer
) -> Iterator[pa.RecordBatch]:
    """At the units: send each part of the texts the values of its units."""
    sent = iteration.advance(unpack(values))[iteration.sent]
    for receiver, rows in SendPlan.unpack(plan).routes.items():
        yield message(receiver, part, pack([sent[rows]]))


def _apply_equations(probe: bool, part: int, equations: pa.Table, messages: pa.Table) -> pa.Table:
    """At the texts: apply the normal equations to the received values; a probe adds the right-hand side."""
    expected, *arrays = unpack(buffers(equations, "values")[0])
    local, units, targets = (csr_from_arrays(arrays[first : first + 4]) for first in (0, 4, 8))
    equations = _equations(local, units, targets, arrays[12:])
    arrived = buffers_by(messages, "sender")
    values = np.concatenate([np.empty(0), *(unpack(arrived[sender])[0] for sender in sorted(arrived))])
    if len(values) != local.columns:
        raise RuntimeError("the received values do not match the routes")
    found = [equations.apply(values)]
    if probe:
        counts = np.bincount(local.indices, minlength=local.columns).astype(np.float64)
        found = [equations.right_side(), *found, counts]
    ends = np.cumsum(expected)
    back = [
        message(home, part, pack([array[ends[home] - expected[home] : ends[home]] for array in found]))
        for home in np.flatnonzero(expected).tolist()
    ]
    return pa.Table.from_batches(back, message(0, 0, b"").schema)


def _equations(
    texts: Csr, units: Csr, targets: Csr, products: list[NDArray[np.float32]] | None = None
) -> UnitRegression:
    """The normal equations of a part."""
    rows = (units.indptr, units.indices, units.data)
    own = (targets.indptr, targets.indices, targets.data)
    return UnitRegression(texts.indptr, texts.indices, rows, own, units.columns, products)


def _collect(iteration: _Iteration, part: int, state: pa.Table, messages: pa.Table) -> pa.Table:
    """At the units: sum the returned values and compute the dot products for the driver."""
    before = unpack(buffers(state, "values")[0])
    plan = buffers(state, "plan")[0]
    routes = SendPlan.unpack(plan).routes
    found = [np.zeros(len(before[0])) for _ in range(3 if iteration.kind == "probe" else 1)]
    arrived = buffers_by(messages, "sender")
    for sender in sorted(arrived):
        for total, values in zip(found, unpack(arrived[sender]), strict=True):
            total[routes[sender]] += values
    if iteration.kind == "probe":
        prior, squares = before
        right_side, product, counts = found
        sums = [float(prior @ product), float(prior @ right_side)]
        return _state_table(part, [prior, right_side, product, counts, squares], plan.to_pybytes(), sums)
    weights, residual, diagonal, direction = iteration.advance(before)
    product = found[0] + iteration.rho * direction
    scaled = residual / diagonal
    # The scale of the residual, known in the first iteration.
    target = before[1] + iteration.rho * weights if iteration.kind == "first" else np.zeros(1)
    sums = [
        float(residual @ scaled),
        float(direction @ product),
        float(scaled @ product),
        float(product @ (product / diagonal)),
        float(target @ (target / diagonal)) if iteration.kind == "first" else 0.0,
    ]
    return _state_table(part, [weights, residual, diagonal, direction, product], plan.to_pybytes(), sums)
