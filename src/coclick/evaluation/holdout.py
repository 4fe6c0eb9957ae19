"""Judgments from the log itself, where there are none: clicks that the models are not shown.

A held-out click says that somebody found a document worth opening, and it was the engine that showed it:
what the engine never shows is never clicked. So such judgments favour what resembles the engine and the
past; they tell models apart, and say little about how good any of them is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.evaluation.judgments import Judgments
from coclick.graph.click_graph import ClickGraph

MOST_QUERIES = 2000  # that are judged: a mean over more changes little
HIGHEST = 4  # grade


class HeldOut(NamedTuple):
    """What to learn from, what to be judged by, and how that was cut: `"time:0.2"`."""

    train: ClickGraph
    judgments: Judgments
    rule: str


def hold_out(graph: ClickGraph, rule: str | None = None, seed: int = 0) -> HeldOut:
    """Cut by a rule such as `time:0.2` or `queries:0.2`; by default by time where the log has days."""
    rule = rule or ("time:0.2" if "days" in graph.provides else "queries:0.2")
    by, _, fraction = rule.partition(":")
    try:
        share = float(fraction or 0.2)
    except ValueError:
        raise UserError(f"cannot read the holdout {rule!r}", hint="time:0.2 or queries:0.2") from None
    train, held = graph.split(by, share, seed)
    rows = np.flatnonzero(held.row_nnz() > 0)
    if not len(rows) or not train.clicks.nnz:
        raise UserError(
            f"holding out {rule} leaves nothing to {'learn from' if len(rows) else 'judge by'}",
            hint="another holdout, such as queries:0.2, or judgments of your own",
        )
    chosen = np.sort(np.random.default_rng(seed).permutation(rows)[:MOST_QUERIES])
    return HeldOut(train, _judged(graph, held, chosen), f"{by}:{share:g}")


def grades_from_clicks(clicks: NDArray[np.floating]) -> NDArray[np.int32]:
    """Grades 1 … 4 of one query's clicked documents: ⌈4 · log(1 + c) / log(1 + c_max)⌉.

    Relative to the query's most clicked document, because queries differ in traffic; logarithmic, because
    positions do most of the difference between ten clicks and a hundred.
    """
    counts = np.log1p(np.asarray(clicks, np.float64))
    return np.clip(np.ceil(HIGHEST * counts / counts.max(initial=1e-9) - 1e-9), 1, HIGHEST).astype(np.int32)


def _judged(graph: ClickGraph, held: Csr, rows: NDArray[np.intp]) -> Judgments:
    queries, grades = {}, {}
    for row in rows.tolist():
        text = graph.queries[row]
        docs, clicks = held.row(row)
        queries[text] = text
        grades[text] = {
            graph.docs[doc]: grade
            for doc, grade in zip(docs.tolist(), grades_from_clicks(clicks).tolist(), strict=True)
        }
    return Judgments(queries, grades)
