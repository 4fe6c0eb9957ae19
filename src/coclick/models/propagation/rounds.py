"""Rounds of propagation over a click graph: how many there should be, and what each does to the vectors.

"Texts" are the side that propagation starts from (queries or documents), "others" the opposite side.
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
from coclick.kernels.packed import MOST_ENTRIES, PackedRows
from coclick.kernels.propagation import propagate
from coclick.progress import Progress
from coclick.text.term_matrix import unit_rows

MOST_ROUNDS = 20
CONVERGED = 1 - 1e-3  # mean cosine to the round before
_SAMPLED_PAIRS = 10_000
_HELD_OUT = 0.1  # of the clicked pairs, for validation
_VALIDATION_QUERIES = 2000
_VALIDATION_ROUNDS = 5
_EDGES_AT_A_TIME = 4_000_000


class Round(NamedTuple):
    """The vectors after a round, and those of the texts before it, which its first half-step read."""

    texts: Csr
    others: Csr
    read: Csr


@dataclass(frozen=True)
class Propagation:
    """A graph with weighted edges, and how to prune."""

    to_texts: Csr  # rows are texts, columns others
    k: int  # ties for the last places go to the terms of smaller number

    def rounds(self, start: Csr, progress: Progress) -> Iterator[Round]:
        """One round after the other, without end."""
        packed = PackedRows.with_room_for(start)
        # To look for orders takes one thread; to pack texts as they come, none of the orders.
        text_order, other_order = run_alongside(
            lambda: packed.fill(start), lambda: local_orders(self.to_texts)
        )
        to_texts = renumber(self.to_texts, text_order, other_order)
        to_others = transpose(to_texts)
        read = start
        while True:
            with progress("propagation", to_texts.rows + to_texts.columns) as done:
                packed = propagate(to_others, packed.in_order(text_order.numbers), self.k, done=done)
                others = packed.in_order(other_order.places).to_csr()
                packed = propagate(to_texts, packed, self.k, done=done)
                texts = packed.in_order(text_order.places).to_csr()
            del packed
            yield Round(texts, others, read)
            read, packed = texts, PackedRows.from_csr(texts)

    def run(
        self, start: Csr, iterations: int | str, progress: Progress
    ) -> tuple[Round, list[dict[str, Any]]]:
        """A number of rounds, or as many as it takes to converge; with figures for each."""
        most = MOST_ROUNDS if iterations == "converge" else int(iterations)
        figures: list[dict[str, Any]] = []
        for number, result in enumerate(self.rounds(start, progress), 1):
            change = mean_cosine(result.read, result.texts)
            figures.append(
                {
                    "round": number,
                    "cosine_to_round_before": round(change, 4),
                    "cosine_of_random_pairs": round(random_pair_cosine(result.texts), 4),
                    "entries_per_text": round(result.texts.nnz / max(_filled(result.texts), 1), 2),
                }
            )
            if number == most or (iterations == "converge" and change > CONVERGED):
                return result, figures
        raise AssertionError("rounds have no end")


def initial_vectors(counts: Csr) -> Csr:
    """Texts as unit vectors of their own words, given the words' counts.

    Of a text with more words than a packed row can hold, the commonest are taken: a dictionary, not a title.
    """
    for row in np.flatnonzero(counts.row_nnz() > MOST_ENTRIES).tolist():
        first, last = counts.indptr[row : row + 2]
        rarest = np.argsort(-counts.data[first:last], kind="stable")[MOST_ENTRIES:]
        counts.data[first + rarest] = 0
    return unit_rows(counts.positive())


def propagate_once(weights: Csr, rows: Csr, k: int) -> Csr:
    """norm(top_K(W X)), for positive weights W."""
    return propagate(weights, PackedRows.from_csr(rows), k).to_csr()


def propagate_through_units(
    holder_indptr: NDArray[np.int64],
    holder_rows: NDArray[np.int32],
    edges: Csr,
    rows: Csr,
    k: int,
    done: Callable[[int], None],
) -> Csr:
    """norm(top_K(Bᵀ W X)) with B given by the rows of W that each result sums: Bᵀ W is never whole."""
    packed = PackedRows.from_csr(rows)
    reached = np.concatenate([[0], np.cumsum(edges.row_nnz()[holder_rows])])[holder_indptr]
    parts = [Csr.empty(0, rows.columns)]
    for first, last in balanced_blocks(reached, int(reached[-1] // _EDGES_AT_A_TIME) + 1):
        begin, end = holder_indptr[first], holder_indptr[last]
        held = edges.take(holder_rows[begin:end])
        ends = held.indptr[holder_indptr[first : last + 1] - begin]
        weights = Csr(ends, held.indices, held.data, edges.columns)
        parts.append(propagate(weights, packed, k, done=done).to_csr())
    return vstack(*parts)


def choose_rounds(
    propagation: Callable[[ClickGraph], Propagation],
    graph: ClickGraph,
    start: Csr,
    by_side: Callable[[Csr, Csr], tuple[Csr, Csr]],
    seed: int,
    progress: Progress,
) -> tuple[int, list[dict[str, Any]]]:
    """The number of rounds after which held-out clicks are ranked best, and the nDCG@10 of each number.

    Documents that the training clicks of a query name already are taken out of its ranking.
    """
    rest, held_out = graph.split("pairs", _HELD_OUT, seed)
    train = rest.clicks
    queries = np.flatnonzero(held_out.row_nnz() > 0)
    sample = np.sort(np.random.default_rng(seed).permutation(queries)[:_VALIDATION_QUERIES])
    figures = []
    rounds = propagation(rest).rounds(start, progress)
    for number, result in enumerate(islice(rounds, _VALIDATION_ROUNDS), 1):
        query_vectors, doc_vectors = by_side(result.texts, result.others)
        index = VectorIndex.build(doc_vectors)
        deepest = int(train.row_nnz()[sample].max(initial=0)) + 10
        found, _ = index.search(query_vectors.take(sample), min(deepest, doc_vectors.rows))
        gains = [
            _ndcg(row, train.row(q)[0], held_out.row(q)[0]) for row, q in zip(found, sample, strict=True)
        ]
        figures.append({"rounds": number, "ndcg_at_10": round(float(np.mean(gains or [0.0])), 4)})
    best = max(figures, key=lambda figure: (figure["ndcg_at_10"], -figure["rounds"]))
    return int(best["rounds"]), figures


def _ndcg(ranked: NDArray[np.int32], known: NDArray[np.int32], wanted: NDArray[np.int32]) -> float:
    new = ranked[(ranked >= 0) & ~np.isin(ranked, known)][:10]
    discount = 1 / np.log2(np.arange(2, 12))
    return float(discount[: len(new)][np.isin(new, wanted)].sum() / discount[: min(len(wanted), 10)].sum())


def mean_cosine(first: Csr, second: Csr) -> float:
    """The mean dot product of rows that both matrices have something in."""
    both = (first.row_nnz() > 0) & (second.row_nnz() > 0)
    if not both.any():
        return 0.0
    return float(row_dots(first, second)[both].mean())


def random_pair_cosine(vectors: Csr) -> float:
    """The mean dot product of random pairs of rows that are not empty: near 1, all have become alike."""
    filled = np.flatnonzero(vectors.row_nnz() > 0)
    if len(filled) < 2:
        return 0.0
    random = np.random.default_rng(0)
    first = random.integers(0, len(filled), _SAMPLED_PAIRS)
    second = (first + random.integers(1, len(filled), _SAMPLED_PAIRS)) % len(filled)
    return float(row_dots(vectors.take(filled[first]), vectors.take(filled[second])).mean())


def row_dots(first: Csr, second: Csr) -> NDArray[np.float64]:
    """The dot product of each row of one matrix with the same row of the other."""
    return rows.row_dots(first.indptr, first.indices, first.data, second.indptr, second.indices, second.data)


def _filled(vectors: Csr) -> int:
    return int((vectors.row_nnz() > 0).sum())
