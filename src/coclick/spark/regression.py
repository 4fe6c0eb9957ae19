"""Weights of units on Spark: the conjugate gradients of `kernels.regression`, between units and texts.

Weights and residuals lie with the units. Texts have the vectors of their units and their own, sent there
once. In each round numbers travel, not vectors: one for each unit and part that holds it, there and back.
The driver learns the sums of a few dot products, and decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from coclick.arrays.csr import Csr
from coclick.jit.threads import set_threads
from coclick.models.propagation.regression import MOST_ROUNDS, TOLERANCE, UnitRegression, preconditioner
from coclick.spark.matrix_product import MESSAGE, message, messages_of, on_executors, received_rows
from coclick.spark.partitioned_matrix import Links, Plan, cut, piece
from coclick.spark.partitioning import Nodes
from coclick.spark.serialization import (
    cells,
    cells_by,
    csr_arrays,
    csr_of,
    pack,
    part_row,
    unpack,
    unpack_csr,
)
from coclick.spark.storage import Work

if TYPE_CHECKING:
    from coclick.spark.units import UnitTrainingData

Floats = NDArray[np.float64]

_VALUES = "part int, values binary"
_STATE = "part int, values binary, plan binary, sums array<double>"


def unit_weights(
    lesson: UnitTrainingData,
    nodes: Nodes,
    units: DataFrame,
    held: DataFrame,
    vectors: DataFrame,
    texts: Nodes,
    targets: DataFrame,
) -> tuple[DataFrame, dict[str, float]]:
    """The weights of units (part, values) as the model wants them, and figures."""
    weighting, parts = lesson.model.unit_weights, nodes.parts
    kept = units.select("id", "texts", (F.col("id") % parts).cast("int").alias("part"))
    blocks = kept.repartitionById(parts, "part").groupBy("part")
    if weighting == "equal":
        return lesson.work.saved("weights", blocks.applyInArrow(_prior(None), _VALUES)), {}
    prior = blocks.applyInArrow(_prior(texts.count), _VALUES)
    if weighting == "idf":
        return lesson.work.saved("weights", prior), {}
    return _Regression(lesson, nodes, texts).solve(prior, held, vectors, targets)


def _prior(texts: int | None) -> Callable[[tuple[pa.Scalar, ...], pa.Table], pa.Table]:
    """Weights before the regression: inverse document frequencies among so many texts, or ones."""

    def prior(key: tuple[pa.Scalar, ...], table: pa.Table) -> pa.Table:
        holders = table.sort_by("id")["texts"].to_numpy()
        values = np.ones(len(holders)) if texts is None else np.log1p(texts / np.maximum(holders, 1))
        return part_row(key[0].as_py(), values=pack([values]))

    return prior


@dataclass(frozen=True)
class _Round:
    """What the driver tells the units' parts at the beginning of a round."""

    kind: str  # "probe", "first" or "next"
    rho: float
    factor: float = 0.0  # of the prior
    step: float = 0.0
    turn: float = 0.0

    def begin(self, arrays: list[Floats]) -> list[Floats]:
        """What a part knows after the last round: weights, residual, preconditioner and direction; at first
        the prior alone. `arrays` are those that `_start` and `_gather` left."""
        if self.kind == "probe":
            return [arrays[0]]
        if self.kind == "first":
            prior, right_side, image, counts, squares = arrays
            prior = self.factor * prior
            diagonal = preconditioner(counts * squares, self.rho)
            residual = right_side - self.factor * image
            return [prior, residual, diagonal, residual / diagonal]
        weights, residual, diagonal, direction, image = arrays
        weights = weights + self.step * direction
        residual = residual - self.step * image
        return [weights, residual, diagonal, residual / diagonal + self.turn * direction]

    @property
    def sent(self) -> int:
        """Which array of the state travels: the direction, or at first the prior."""
        return 0 if self.kind == "probe" else 3


class _Regression:
    def __init__(self, lesson: UnitTrainingData, nodes: Nodes, texts: Nodes) -> None:
        self.lesson, self.nodes, self.texts = lesson, nodes, texts
        self.rho = lesson.model.rho

    def solve(
        self, prior: DataFrame, held: DataFrame, vectors: DataFrame, targets: DataFrame
    ) -> tuple[DataFrame, dict[str, float]]:
        """As `UnitRegression.solve`, from the best multiple of the prior."""
        work = self.lesson.work
        edges = held.filter("NOT whole").select(
            F.col("text").alias("target"),
            F.col("unit").alias("source"),
            F.lit(1.0).cast("float").alias("weight"),
        )
        to_texts = cut(edges, self.texts, self.nodes, work, "regression")
        state = _start(prior, vectors, to_texts.plans, self.nodes.parts, work)
        with on_executors(self._lessons(to_texts, vectors, targets)) as lessons:
            state, told, rounds = self._descend(state, lessons)
        weights = work.saved("weights", state.mapInArrow(_End(told), _VALUES))
        return weights, {"regression_rounds": rounds}

    def _descend(self, state: DataFrame, lessons: DataFrame) -> tuple[DataFrame, _Round, int]:
        """The state after the last round, what is to be told of it, and how many rounds there were."""
        state, (length, fit) = self._round(state, lessons, _Round("probe", self.rho), "probe")
        factor = max(fit / length, 0.0) if length > 0 else 0.0
        told = _Round("first", self.rho, factor)
        rounds = 0
        while rounds < MOST_ROUNDS:
            state, sums = self._round(state, lessons, told, f"round-{rounds}")
            energy, along, across, beyond, size = sums
            if not rounds:
                goal = TOLERANCE**2 * max(size, 1e-30)
            if not energy > goal:
                told = _Round("next", self.rho)
                break
            step = energy / along
            after = energy - 2 * step * across + step * step * beyond
            told = _Round("next", self.rho, step=step, turn=after / energy)
            rounds += 1
            if not after > goal:
                break
        return state, told, rounds

    def _lessons(self, to_texts: Any, vectors: DataFrame, targets: DataFrame) -> DataFrame:
        """With each part of the texts: their units, those units' vectors, and the texts' own."""
        parts, columns, texts = self.nodes.parts, self.lesson.words.size, self.texts
        own = piece(targets, "vectors").union(to_texts.links)
        blocks = own.repartitionById(parts, "part").groupBy("part")

        def lesson(key: tuple[pa.Scalar, ...], held: pa.Table, messages: pa.Table) -> pa.Table:
            part = key[0].as_py()
            payloads = cells_by(held, "kind")
            links = Links.unpack(payloads.get("links"), texts.rows(part), parts)
            units = received_rows(links, messages, columns)
            own = unpack_csr(payloads["vectors"])
            arrays = [links.expected, *csr_arrays(links.rows), *csr_arrays(units), *csr_arrays(own)]
            arrays += _equations(links.rows, units, own).products
            return part_row(part, values=pack(arrays))

        sent = messages_of(vectors, to_texts).repartitionById(parts, "part").groupBy("part")
        lessons = blocks.cogroup(sent).applyInArrow(lesson, _VALUES)
        return lessons.repartitionById(parts, "part")

    def _round(
        self, state: DataFrame, lessons: DataFrame, told: _Round, name: str
    ) -> tuple[DataFrame, list[float]]:
        """Send, apply, return, add up: the new state, and the sums that the driver decides by."""
        parts = self.nodes.parts
        sent = state.mapInArrow(_Send(told), MESSAGE).repartitionById(parts, "part").groupBy("part")
        probe = told.kind == "probe"
        back = (
            lessons.groupBy("part")
            .cogroup(sent)
            .applyInArrow(
                lambda key, lessons, messages: _teach(key[0].as_py(), lessons, messages, probe), MESSAGE
            )
        )
        own = state.repartitionById(parts, "part").groupBy("part")
        found = own.cogroup(back.repartitionById(parts, "part").groupBy("part")).applyInArrow(
            lambda key, state, messages: _gather(key[0].as_py(), state, messages, told), _STATE
        )
        saved = self.lesson.work.saved(f"regression-{name}", found)
        rows = [row[0] for row in saved.select("sums").collect()]
        return saved, np.sum(rows, axis=0).tolist()


def _start(prior: DataFrame, vectors: DataFrame, plans: DataFrame, parts: int, work: Work) -> DataFrame:
    """The state before the first round: prior weights, and the squared lengths of the units' vectors."""
    together = plans.union(piece(vectors, "vectors")).union(piece(prior, "values"))

    def state(key: tuple[pa.Scalar, ...], table: pa.Table) -> pa.Table:
        held = cells_by(table, "kind")
        rows = unpack_csr(held["vectors"])
        squares = rows.with_data(rows.data * rows.data).row_sums()
        prior = unpack(held["values"])[0] if "values" in held else np.empty(0)  # a part without units
        return _state_table(key[0].as_py(), [prior, squares], Plan.gather(table).pack(), [])

    blocks = together.repartitionById(parts, "part").groupBy("part")
    return work.saved("regression-start", blocks.applyInArrow(state, _STATE))


def _state_table(part: int, arrays: list[Floats], plan: bytes, sums: list[float]) -> pa.Table:
    row = part_row(part, values=pack(arrays), plan=plan)
    return row.append_column("sums", pa.array([sums], pa.list_(pa.float64())))


@dataclass(frozen=True)
class _Send:
    """To each part of the texts, the numbers of the units that it holds."""

    told: _Round

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for part, values, plan in zip(
                batch["part"].to_pylist(), cells(batch, "values"), cells(batch, "plan"), strict=True
            ):
                sent = self.told.begin(unpack(values))[self.told.sent]
                for receiver, rows in Plan.unpack(plan).routes.items():
                    yield message(receiver, part, pack([sent[rows]]))


def _teach(part: int, lessons: pa.Table, messages: pa.Table, probe: bool) -> pa.Table:
    """At the texts: apply the normal equations to what arrived; the first time, with the right side, too."""
    expected, *arrays = unpack(cells(lessons, "values")[0])
    links, units, targets = (csr_of(arrays[first : first + 4]) for first in (0, 4, 8))
    equations = _equations(links, units, targets, arrays[12:])
    arrived = cells_by(messages, "sender")
    values = np.concatenate([np.empty(0), *(unpack(arrived[sender])[0] for sender in sorted(arrived))])
    if len(values) != links.columns:
        raise RuntimeError("what arrived is not what the routes promise")
    found = [equations.apply(values)]
    if probe:
        counts = np.bincount(links.indices, minlength=links.columns).astype(np.float64)
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
    """The normal equations of a part, in one thread."""
    set_threads(1)
    rows = (units.indptr, units.indices, units.data)
    own = (targets.indptr, targets.indices, targets.data)
    return UnitRegression(texts.indptr, texts.indices, rows, own, units.columns, products)


def _gather(part: int, state: pa.Table, messages: pa.Table, told: _Round) -> pa.Table:
    """At the units: add up what came back, and what the driver needs to know of it."""
    before = unpack(cells(state, "values")[0])
    plan = cells(state, "plan")[0]
    routes = Plan.unpack(plan).routes
    found = [np.zeros(len(before[0])) for _ in range(3 if told.kind == "probe" else 1)]
    arrived = cells_by(messages, "sender")
    for sender in sorted(arrived):
        for total, values in zip(found, unpack(arrived[sender]), strict=True):
            total[routes[sender]] += values
    if told.kind == "probe":
        prior, squares = before
        right_side, image, counts = found
        sums = [float(prior @ image), float(prior @ right_side)]
        return _state_table(part, [prior, right_side, image, counts, squares], plan.to_pybytes(), sums)
    weights, residual, diagonal, direction = told.begin(before)
    image = found[0] + told.rho * direction
    scaled = residual / diagonal
    # What the residual is measured against, known in the first round.
    target = before[1] + told.rho * weights if told.kind == "first" else np.zeros(1)
    sums = [
        float(residual @ scaled),
        float(direction @ image),
        float(scaled @ image),
        float(image @ (image / diagonal)),
        float(target @ (target / diagonal)) if told.kind == "first" else 0.0,
    ]
    return _state_table(part, [weights, residual, diagonal, direction, image], plan.to_pybytes(), sums)


@dataclass(frozen=True)
class _End:
    """Weights below 0 become 0."""

    told: _Round

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for part, values in zip(batch["part"].to_pylist(), cells(batch, "values"), strict=True):
                weights = np.maximum(self.told.begin(unpack(values))[0], 0.0)
                yield from part_row(part, values=pack([weights])).to_batches()
