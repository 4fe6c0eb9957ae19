"""IBM Model 1: which words of queries the words of titles translate to (Brown et al. 1993; paper 001 §2.1).

A word q of a query is brought forth by one of the n words w of the title, each as likely as the other,

    P(q|title) = Σ_w t(q|w) / n

and t is found by expectation maximisation: every round shares each q among the words that could have brought
it forth, in proportion to t(q|w), and makes t from the sums. The likelihood never falls, and has no maximum
but the global one. A word that stands for none may take what nothing in the title explains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr, vstack
from coclick.jit.threads import run_blocks
from coclick.progress import Progress, quiet
from coclick.solvers._ibm_model1_kernels import expect

_PARTS = 4  # of the pairs, each with sums of its own: whatever the number of threads, sums are the same


@dataclass(frozen=True)
class Pairs:
    """Queries and titles as counts of words, and which of them belong together."""

    queries: Csr
    titles: Csr
    query_of: NDArray[np.int32]
    title_of: NDArray[np.int32]
    weights: NDArray[np.float32]


def learn_translations(
    pairs: Pairs, rounds: int, *, null_word: bool = True, progress: Progress = quiet
) -> tuple[Csr, list[dict[str, Any]]]:
    """t(q|w): a row for each word of titles, whose values sum to 1; and the likelihood of each round."""
    table = _start(pairs, null_word)
    nothing = table.rows - 1 if null_word else -1
    row_of = np.repeat(np.arange(table.rows), table.row_nnz())
    cuts = np.linspace(0, len(pairs.weights), _PARTS + 1).astype(int).tolist()
    curve = []
    tokens = float((pairs.weights * pairs.queries.row_sums()[pairs.query_of]).sum())
    with progress("translations", rounds) as done:
        for number in range(1, rounds + 1):
            sums = np.zeros((_PARTS, table.nnz))
            likelihoods = np.zeros(_PARTS)

            def work(part: int, _: int, table: Csr = table, sums: Any = sums, of: Any = likelihoods) -> None:
                of[part] = expect(
                    cuts[part],
                    cuts[part + 1],
                    pairs.query_of,
                    pairs.title_of,
                    pairs.weights,
                    *(pairs.queries.indptr, pairs.queries.indices, pairs.queries.data),
                    *(pairs.titles.indptr, pairs.titles.indices, pairs.titles.data),
                    *(table.indptr, table.indices, table.data),
                    nothing,
                    sums[part],
                )

            run_blocks(work, [(part, part + 1) for part in range(_PARTS)])
            expected = sums.sum(axis=0)
            totals = np.bincount(row_of, expected, table.rows)
            table = table.with_data((expected / np.maximum(totals[row_of], 1e-300)).astype(np.float32))
            likelihood = float(likelihoods.sum())
            perplexity = float(np.exp(-likelihood / max(tokens, 1e-300)))
            curve.append({"round": number, "objective": likelihood, "perplexity": perplexity})
            done(1)
    return (table.take(np.arange(nothing)) if null_word else table), curve


def prune(table: Csr, least: float) -> Csr:
    """Without translations that are less likely than `least`; what is left of a row sums to 1 again."""
    kept = table.positive(np.nextafter(np.float32(least), np.float32(0)))
    totals = np.repeat(kept.row_sums(), kept.row_nnz())
    return kept.with_data((kept.data / totals).astype(np.float32))


def _start(pairs: Pairs, null_word: bool) -> Csr:
    """Every word of a query that stands beside a word of a title, all of a row equally likely."""
    pattern = Csr.from_triples(
        pairs.title_of,
        pairs.query_of,
        np.ones(len(pairs.title_of), np.float32),
        (pairs.titles.rows, pairs.queries.rows),
    ).to_scipy()
    titles, queries = pairs.titles.to_scipy(), pairs.queries.to_scipy()
    together = Csr.from_scipy(titles.T @ (pattern @ queries))
    if null_word:
        held = np.unique(pairs.queries.take(np.unique(pairs.query_of)).indices).astype(np.int32)
        every = Csr(np.array([0, len(held)]), held, np.ones(len(held), np.float32), together.columns)
        together = vstack(together, every)
    lengths = np.repeat(together.row_nnz(), together.row_nnz())
    return together.with_data((1 / lengths).astype(np.float32))
