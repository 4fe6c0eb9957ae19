"""Labels of similar queries: graded pairs, intents, or held-out clicks.

A label is directed: the gain of query b for query a, the probe, says how well b can stand in for a. From
held-out clicks it is the share of a's held-out clicks that b explains,

    gain(b | a) = Σ_d P(d | a) · discount(rank of d among b's clicks),    discount(r) = 1 / log2(1 + r), r ≤ 10

with P(d | a) the share of d in the held-out clicks of a. It is what users of a would get from the documents
that users of b click most. A broad query explains little of a narrow one, because the wanted document is far
down among its clicks, and a narrow query little of a broad one, because it has few of the wanted documents. A
cosine cannot tell these apart: it is the same in both directions. Documents with equally many clicks share
their discounts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.evaluation.holdout import split_clicks
from coclick.evaluation.judgment_files import is_number, lines, read_text
from coclick.graph.click_graph import ClickGraph
from coclick.graph.split import remove_queries
from coclick.text.normalise import normalise

DEPTH = 10  # results that count, of similar queries as well as of a query's clicked documents
MAX_PROBES = 5000  # a mean over more changes little
_BLOCK = 256  # probes whose gains are in memory at a time
_NOT_DRAWN = "are not in the random sample"

Gains = NDArray[np.float64]


class SampleOfProbes(NamedTuple):
    """At most how many probes to use, and the random seed of the sample where there are more."""

    size: int = MAX_PROBES
    seed: int = 0


@dataclass(frozen=True)
class SimilarityLabels:
    """The probes, and the gain of each query of the graph for each of them.

    The gain of query b for probe a is the dot product of row a of `wanted` and row b of `offered`.
    """

    graph: ClickGraph  # to train on; its queries are the candidates
    probes: list[str]
    rows: NDArray[np.int32]  # of the probes in the graph, −1 if unseen
    wanted: Csr  # a row for each probe
    offered: Csr  # a row for each query of the graph
    best_gains: Gains  # of each probe, in descending order: those of an ideal ranking
    source: str  # "graded pairs", "intents", or "held-out clicks, RULE"
    left_out: dict[str, int]  # reasons why queries are not used as probes, and how many

    def gains(self, found: NDArray[np.int32]) -> Gains:
        """Return the gains of the queries found for each probe, given as rows of the graph; −1 has none."""
        probe = np.repeat(np.arange(len(found)), found.shape[1])
        pairs = self.wanted.take(probe).to_scipy().multiply(self.offered.take(found.ravel()).to_scipy())
        values: Gains = np.asarray(pairs.sum(axis=1), np.float64).reshape(found.shape)
        return values


def labels_from_clicks(
    graph: ClickGraph, rule: str | None = None, sample: SampleOfProbes = SampleOfProbes()
) -> SimilarityLabels:
    """Hold out clicks: every query with held-out clicks is a probe.

    Models are trained on, and may only return, the queries that have other clicks: in use they would not know
    the rest either.
    """
    train, held_out, rule = split_clicks(graph, rule)
    seen = train.clicks.row_nnz() > 0
    rows = np.flatnonzero(held_out.row_nnz() > 0)
    probes = held_out.take(rows)
    shares = probes.data / np.repeat(probes.row_sums(), probes.row_nnz())
    return _build_labels(
        remove_queries(train, ~seen),
        graph.queries.take(rows).to_list(),
        probes.with_data(shares.astype(np.float32)),
        rank_discounts(graph.clicks.take(np.flatnonzero(seen))),
        f"held-out clicks, {rule}",
        sample,
        {
            "have no held-out clicks": len(graph.queries) - len(rows),
            "have held-out clicks only on documents that no other query was clicked for": None,
        },
    )


def rank_discounts(clicks: Csr) -> Csr:
    """Replace the clicks of each row by 1 / log2(1 + rank), 0 beyond rank 10; ties share their discounts."""
    row_of = np.repeat(np.arange(clicks.rows), clicks.row_nnz())
    order = np.lexsort((-clicks.data, row_of))
    rank = np.arange(clicks.nnz) - clicks.indptr[row_of] + 1  # of the entries in this order
    discounts = np.where(rank <= DEPTH, 1 / np.log2(1 + rank), 0)
    ordered = clicks.data[order]
    starts = np.flatnonzero((rank == 1) | (ordered != np.roll(ordered, 1)))
    size = np.diff(np.append(starts, clicks.nnz))
    values = np.empty(clicks.nnz, np.float32)
    if clicks.nnz:
        values[order] = np.repeat(np.add.reduceat(discounts, starts) / size, size)
    return clicks.with_data(values).positive()


def read_intents(
    path: str | Path, graph: ClickGraph, sample: SampleOfProbes = SampleOfProbes()
) -> SimilarityLabels:
    """Read lines of `query<TAB>intent`; queries of one intent have gain 1 for each other.

    A header is optional. The intents.tsv of `coclick sample` is such a file.
    """
    rows = [cells for _, cells in _read_rows(path, 2)]
    if rows[0][0].lower() == "query":
        del rows[0]
    intents = {normalise(query): intent for query, intent, *_ in rows}
    numbers = {intent: number for number, intent in enumerate(dict.fromkeys(intents.values()))}
    wanted = _ones(np.array([numbers[intent] for intent in intents.values()], np.int32), len(numbers))
    place = {query: number for number, query in enumerate(intents)}
    offered = wanted.take(np.array([place.get(query, -1) for query in graph.queries], np.int32))
    reasons = {"share their intent with no other query of the graph": None}
    return _build_labels(graph, list(intents), wanted, offered, "intents", sample, reasons)


def read_pairs(
    path: str | Path, graph: ClickGraph, sample: SampleOfProbes = SampleOfProbes()
) -> SimilarityLabels:
    """Read lines of `query<TAB>query<TAB>grade`: the grade of the second query for the first.

    A header is optional. Grades are directed: list a pair twice if it holds in both directions.
    """
    grades: dict[tuple[str, str], float] = {}
    for number, (where, cells) in enumerate(_read_rows(path, 3)):
        if not is_number(cells[2]):
            if number == 0:
                continue
            raise UserError(f"the grade {cells[2]!r} is not a number", where=where)
        grade = float(cells[2])
        if not 0 <= grade < np.inf:
            raise UserError(f"a grade cannot be {cells[2]}", where=where, hint="grades are 0 or more")
        pair = normalise(cells[0]), normalise(cells[1])
        if grades.setdefault(pair, grade) != grade:
            raise UserError(f"the pair has two grades, {grades[pair]:g} and {grade:g}", where=where)
    probes = {probe: number for number, probe in enumerate(dict.fromkeys(a for a, _ in grades))}
    rows = np.array([probes[a] for a, _ in grades], np.int32)
    columns = graph.queries.lookup([b for _, b in grades])
    known = columns >= 0
    count = len(graph.queries)
    values = np.array(list(grades.values()), np.float32)
    wanted = Csr.from_triples(rows[known], columns[known], values[known], (len(probes), count))
    offered = _ones(np.arange(count, dtype=np.int32), count)
    reasons = {"have no similar query in the graph: their pairs are unknown or have grade 0": None}
    return _build_labels(graph, list(probes), wanted, offered, "graded pairs", sample, reasons)


def _build_labels(
    graph: ClickGraph,
    probes: list[str],
    wanted: Csr,
    offered: Csr,
    source: str,
    sample: SampleOfProbes,
    reasons: dict[str, int | None],
) -> SimilarityLabels:
    """Draw the sample, and leave out probes for which no query has a gain: any ranking is as good for them.

    Their number is that of the last reason.
    """
    drawn = np.random.default_rng(sample.seed).permutation(len(probes))[: sample.size]
    drawn.sort()
    rows = graph.queries.lookup(probes)
    best = _best_gains(wanted.take(drawn), offered, rows[drawn])
    usable = best[:, 0] > 0
    *_, otherwise = reasons
    if not usable.any():
        raise UserError(
            f"there is no query to evaluate on: all {len(drawn):,} {otherwise}",
            hint=f"labelled queries: {', '.join(probes[:3])}",
        )
    counts = {**reasons, otherwise: int((~usable).sum()), _NOT_DRAWN: len(probes) - len(drawn)}
    kept = drawn[usable]
    return SimilarityLabels(
        graph,
        [probes[i] for i in kept.tolist()],
        rows[kept],
        wanted.take(kept),
        offered,
        best[usable],
        source,
        {reason: count for reason, count in counts.items() if count},
    )


def _best_gains(wanted: Csr, offered: Csr, own: NDArray[np.int32]) -> Gains:
    """The largest gains of each probe, without that of the probe itself."""
    best = np.zeros((wanted.rows, DEPTH))
    by_feature = offered.transpose().to_scipy()
    for first in range(0, wanted.rows, _BLOCK):
        last = min(first + _BLOCK, wanted.rows)
        block = Csr.from_scipy(wanted.row_slice(first, last).to_scipy() @ by_feature)
        for i in range(last - first):
            queries, gains = block.row(i)
            others = np.sort(gains[queries != own[first + i]])[::-1][:DEPTH]
            best[first + i, : len(others)] = others
    return best


def _ones(columns: NDArray[np.int32], width: int) -> Csr:
    """A matrix with a single 1 in each row."""
    return Csr(np.arange(len(columns) + 1), columns, np.ones(len(columns), np.float32), width)


def _read_rows(path: str | Path, columns: int) -> list[tuple[str, list[str]]]:
    found = []
    for where, line in lines(read_text(path), path):
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) < columns:
            raise UserError(f"the line needs {columns} columns, separated by tabs", where=where)
        found.append((where, cells))
    if not found:
        raise UserError("the file has no labels", where=str(path))
    return found
