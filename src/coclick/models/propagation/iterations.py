"""Iterations of propagation over a click graph, and the choice of their number.

"Texts" are the side that propagation starts from (queries with `start=query`, documents with `start=doc`),
"others" the opposite side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays import kernels as rows
from coclick.arrays.csr import Csr, vstack
from coclick.arrays.reorder import local_orders, renumber, transpose
from coclick.graph.click_graph import ClickGraph
from coclick.index.sparse import VectorIndex
from coclick.jit.threads import balanced_blocks, run_alongside
from coclick.kernels.packed import MAX_ENTRIES, PackedRows
from coclick.kernels.propagation import propagate
from coclick.progress import Progress
from coclick.text.term_matrix import unit_rows

MAX_ITERATIONS = 20
CONVERGED = 1 - 1e-3  # mean cosine to the previous iteration
_SAMPLED_PAIRS = 10_000
_HELD_OUT = 0.1  # share of the clicked pairs for validation
_VALIDATION_QUERIES = 2000
_VALIDATION_ITERATIONS = 5
_EDGES_PER_BLOCK = 4_000_000


class Iteration(NamedTuple):
    """The vectors after an iteration, and the previous vectors of the texts, the input of the iteration."""

    texts: Csr
    others: Csr
    previous: Csr


@dataclass(frozen=True)
class Propagation:
    """A graph with weighted edges, and the number of terms to keep."""

    to_texts: Csr  # rows are texts, columns others
    k: int  # terms per vector; ties are broken by the smaller term number

    def iterations(self, start: Csr, progress: Progress) -> Iterator[Iteration]:
        """Yield the results of one iteration after the other, without end."""
        packed = PackedRows.with_room_for(start)
        # Finding orders takes one thread, and packing does not need them: run both at once.
        text_order, other_order = run_alongside(
            lambda: packed.fill(start), lambda: local_orders(self.to_texts)
        )
        to_texts = renumber(self.to_texts, text_order, other_order)
        to_others = transpose(to_texts)
        previous = start
        while True:
            with progress("propagation", to_texts.rows + to_texts.columns) as done:
                packed = propagate(to_others, packed.in_order(text_order.numbers), self.k, done=done)
                others = packed.in_order(other_order.places).to_csr()
                packed = propagate(to_texts, packed, self.k, done=done)
                texts = packed.in_order(text_order.places).to_csr()
            del packed
            yield Iteration(texts, others, previous)
            previous, packed = texts, PackedRows.from_csr(texts)

    def run(
        self, start: Csr, iterations: int | str, progress: Progress
    ) -> tuple[Iteration, list[dict[str, Any]]]:
        """Run a number of iterations, or until convergence; return the last and statistics of each."""
        max_iterations = MAX_ITERATIONS if iterations == "converge" else int(iterations)
        stats: list[dict[str, Any]] = []
        for number, result in enumerate(self.iterations(start, progress), 1):
            change = mean_cosine(result.previous, result.texts)
            stats.append(
                {
                    "round": number,
                    "cosine_to_round_before": round(change, 4),
                    "cosine_of_random_pairs": round(random_pair_cosine(result.texts), 4),
                    "entries_per_text": round(result.texts.nnz / max(_filled(result.texts), 1), 2),
                }
            )
            if number == max_iterations or (iterations == "converge" and change > CONVERGED):
                return result, stats
        raise AssertionError("iterations have no end")


def initial_vectors(counts: Csr) -> Csr:
    """Return texts as unit vectors of their words, given the counts of the words.

    A text with more words than fit into a packed row keeps the most frequent ones.
    """
    for row in np.flatnonzero(counts.row_nnz() > MAX_ENTRIES).tolist():
        first, last = counts.indptr[row : row + 2]
        rarest = np.argsort(-counts.data[first:last], kind="stable")[MAX_ENTRIES:]
        counts.data[first + rarest] = 0
    return unit_rows(counts.positive())


def propagate_once(weights: Csr, rows: Csr, k: int) -> Csr:
    """Return norm(top_K(W X)), for positive weights W."""
    return propagate(weights, PackedRows.from_csr(rows), k).to_csr()


def propagate_through_units(
    text_indptr: NDArray[np.int64],
    text_rows: NDArray[np.int32],
    edges: Csr,
    rows: Csr,
    k: int,
    done: Callable[[int], None],
) -> Csr:
    """Return norm(top_K(Bᵀ W X)), with B given by the rows of W that contain each unit.

    Bᵀ W is computed in blocks and never stored as a whole.
    """
    packed = PackedRows.from_csr(rows)
    reached = np.concatenate([[0], np.cumsum(edges.row_nnz()[text_rows])])[text_indptr]
    parts = [Csr.empty(0, rows.columns)]
    for first, last in balanced_blocks(reached, int(reached[-1] // _EDGES_PER_BLOCK) + 1):
        begin, end = text_indptr[first], text_indptr[last]
        held = edges.take(text_rows[begin:end])
        ends = held.indptr[text_indptr[first : last + 1] - begin]
        weights = Csr(ends, held.indices, held.data, edges.columns)
        parts.append(propagate(weights, packed, k, done=done).to_csr())
    return vstack(*parts)


def choose_iterations(
    propagation: Callable[[ClickGraph], Propagation],
    graph: ClickGraph,
    start: Csr,
    by_side: Callable[[Csr, Csr], tuple[Csr, Csr]],
    seed: int,
    progress: Progress,
) -> tuple[int, list[dict[str, Any]]]:
    """Return the number of iterations that ranks held-out clicks best, and the nDCG@10 of each number.

    Documents with training clicks for a query are removed from its ranking.
    """
    rest, held_out = graph.split("pairs", _HELD_OUT, seed)
    train = rest.clicks
    queries = np.flatnonzero(held_out.row_nnz() > 0)
    sample = np.sort(np.random.default_rng(seed).permutation(queries)[:_VALIDATION_QUERIES])
    stats = []
    iterations = propagation(rest).iterations(start, progress)
    for number, result in enumerate(islice(iterations, _VALIDATION_ITERATIONS), 1):
        query_vectors, doc_vectors = by_side(result.texts, result.others)
        index = VectorIndex.build(doc_vectors)
        deepest = int(train.row_nnz()[sample].max(initial=0)) + 10
        found, _ = index.search(query_vectors.take(sample), min(deepest, doc_vectors.rows))
        gains = [
            _ndcg(row, train.row(q)[0], held_out.row(q)[0]) for row, q in zip(found, sample, strict=True)
        ]
        stats.append({"rounds": number, "ndcg_at_10": round(float(np.mean(gains or [0.0])), 4)})
    best = max(stats, key=lambda row: (row["ndcg_at_10"], -row["rounds"]))
    return int(best["rounds"]), stats


def _ndcg(ranked: NDArray[np.int32], known: NDArray[np.int32], wanted: NDArray[np.int32]) -> float:
    new = ranked[(ranked >= 0) & ~np.isin(ranked, known)][:10]
    discount = 1 / np.log2(np.arange(2, 12))
    return float(discount[: len(new)][np.isin(new, wanted)].sum() / discount[: min(len(wanted), 10)].sum())


def mean_cosine(first: Csr, second: Csr) -> float:
    """Return the mean dot product of rows that are non-empty in both matrices."""
    both = (first.row_nnz() > 0) & (second.row_nnz() > 0)
    if not both.any():
        return 0.0
    return float(row_dots(first, second)[both].mean())


def random_pair_cosine(vectors: Csr) -> float:
    """Return the mean dot product of random pairs of non-empty rows; near 1, vectors have collapsed."""
    filled = np.flatnonzero(vectors.row_nnz() > 0)
    if len(filled) < 2:
        return 0.0
    random = np.random.default_rng(0)
    first = random.integers(0, len(filled), _SAMPLED_PAIRS)
    second = (first + random.integers(1, len(filled), _SAMPLED_PAIRS)) % len(filled)
    return float(row_dots(vectors.take(filled[first]), vectors.take(filled[second])).mean())


def row_dots(first: Csr, second: Csr) -> NDArray[np.float64]:
    """Return the dot product of each row of one matrix with the same row of the other."""
    return rows.row_dots(first.indptr, first.indices, first.data, second.indptr, second.indices, second.data)


def _filled(vectors: Csr) -> int:
    return int((vectors.row_nnz() > 0).sum())
