"""Held-out clicks as judgments, for logs without any.

Users click only what the engine has shown them. So held-out clicks favour models that resemble that engine:
they can rank models, but their absolute values mean little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.evaluation.hidden_documents import restrict_to_clicked, split_with_hidden_documents
from coclick.evaluation.judgments import Judgments
from coclick.graph.click_graph import ClickGraph

MAX_QUERIES = 2000  # a mean over more queries changes little
MAX_CLICK_GRADE = 4


class HeldOut(NamedTuple):
    """The graph to train on, the judgments from held-out clicks, and the rule, such as `"time:0.2"`."""

    train: ClickGraph
    judgments: Judgments
    rule: str


def hold_out(graph: ClickGraph, rule: str | None = None, seed: int = 0) -> HeldOut:
    """Split off clicks and turn them into judgments.

    Parameters: `graph`, `rule` and `seed` as in `split_clicks`.
    """
    train, held_out, rule = split_clicks(graph, rule, seed)
    rows = np.flatnonzero(held_out.row_nnz() > 0)
    chosen = np.sort(np.random.default_rng(seed).permutation(rows)[:MAX_QUERIES])
    judgments = _judgments(graph, held_out, chosen)
    if rule.startswith("documents"):
        judgments = restrict_to_clicked(judgments, graph)
    return HeldOut(train, judgments, rule)


class SplitClicks(NamedTuple):
    """The graph to train on, the clicks that were held out, and the rule, such as `"time:0.2"`."""

    train: ClickGraph
    held_out: Csr
    rule: str


def split_clicks(graph: ClickGraph, rule: str | None = None, seed: int = 0) -> SplitClicks:
    """Split off clicks.

    Parameters:
        graph: the click graph to split.
        rule: `time:0.2` holds out the last 20 % of the days, `queries:0.2` 20 % of the queries,
            `documents:0.5` also 20 % of the queries and hides the clicks of half of the documents. The
            default is `time:0.2` if the graph has days, else `queries:0.2`.
        seed: random seed.
    """
    rule = rule or ("time:0.2" if "days" in graph.provides else "queries:0.2")
    by, _, fraction = rule.partition(":")
    try:
        share = float(fraction or 0.2)
    except ValueError:
        hint = "use time:0.2, queries:0.2 or documents:0.5"
        raise UserError(f"cannot read the holdout {rule!r}", hint=hint) from None
    if by == "documents" and 0 < share < 1:
        train, held_out = split_with_hidden_documents(graph, share, seed)
    else:
        train, held_out = graph.split(by, share, seed)
    if not held_out.nnz or not train.clicks.nnz:
        raise UserError(
            f"the holdout {rule} leaves no clicks to {'train on' if held_out.nnz else 'evaluate on'}",
            hint="use another holdout, such as queries:0.2, or judgments: --qrels (in Python: qrels=…)",
        )
    return SplitClicks(train, held_out, f"{by}:{share:g}")


def grades_from_clicks(clicks: NDArray[np.floating]) -> NDArray[np.int32]:
    """Return grades 1 … 4 of one query's clicked documents: ⌈4 · log(1 + c) / log(1 + c_max)⌉.

    Clicks are relative to the query's most clicked document, because queries differ in traffic. They are
    logarithmic, because the difference between ten clicks and a hundred is mostly due to the position.
    """
    counts = np.log1p(np.asarray(clicks, np.float64))
    return np.clip(
        np.ceil(MAX_CLICK_GRADE * counts / counts.max(initial=1e-9) - 1e-9), 1, MAX_CLICK_GRADE
    ).astype(np.int32)


def _judgments(graph: ClickGraph, held_out: Csr, rows: NDArray[np.intp]) -> Judgments:
    queries, grades = {}, {}
    for row in rows.tolist():
        text = graph.queries[row]
        docs, clicks = held_out.row(row)
        queries[text] = text
        grades[text] = {
            graph.docs[doc]: grade
            for doc, grade in zip(docs.tolist(), grades_from_clicks(clicks).tolist(), strict=True)
        }
    return Judgments(queries, grades)
