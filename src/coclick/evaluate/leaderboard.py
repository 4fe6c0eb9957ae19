"""Train models on a graph and measure them by judgments: full retrieval, ir-measures' own definitions."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from coclick.errors import UserError
from coclick.evaluate.judgments import Judgments
from coclick.graph import ClickGraph
from coclick.model import Model, create
from coclick.progress import Progress, quiet
from coclick.text import normalise

MEASURES = ("nDCG@10", "AP", "RR", "R@100")
DEPTH = 100


def leaderboard(
    graph: ClickGraph, judgments: Judgments, models: Sequence[str], progress: Progress = quiet
) -> dict[str, Any]:
    """The measures of each model over all judged queries, and apart for those that the log has seen."""
    judged = {doc for grades in judgments.grades.values() for doc in grades}
    known = int((graph.docs.lookup(sorted(judged)) >= 0).sum())
    if known == 0:
        theirs, ours = ", ".join(sorted(judged)[:3]), ", ".join(graph.docs.to_list(0, 3))
        raise UserError(
            f"none of the {len(judged):,} judged documents is in the graph",
            hint=f"judged are {theirs}; the graph has {ours}",
        )
    untrained = [create(spec) for spec in models]  # a misspelt one is found before any is trained
    return {
        "protocol": {
            "retrieval": "full",
            "depth": DEPTH,
            "gain": "linear",
            "queries": len(judgments.queries),
            "docs": len(graph.docs),
            "judged_docs_in_graph": known,
        },
        "models": [_measure_model(model, graph, judgments, progress) for model in untrained],
    }


def _measure_model(
    model: Model, graph: ClickGraph, judgments: Judgments, progress: Progress
) -> dict[str, Any]:
    started = time.perf_counter()
    model.fit(graph, progress)
    seconds = time.perf_counter() - started
    ids, texts = list(judgments.queries), list(judgments.queries.values())
    run = model.search(texts, DEPTH)
    by_query = measure(judgments.grades, {query: dict(run.hits(i)) for i, query in enumerate(ids)})
    rows = graph.queries.lookup([normalise(text) for text in texts])
    clicks = graph.clicks.lengths()
    seen = {query for query, row in zip(ids, rows.tolist(), strict=True) if row >= 0 and clicks[row] > 0}
    groups = {"seen": [q for q in ids if q in seen], "unseen": [q for q in ids if q not in seen]}
    return {
        "name": str(model),
        "measures": _mean(by_query, ids),
        "breakdown": {
            name: {"queries": len(members), **_mean(by_query, members)}
            for name, members in groups.items()
            if members
        },
        "seconds": round(seconds, 3),
    }


def measure(
    grades: Mapping[str, Mapping[str, int]], run: Mapping[str, Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    """Each measure of each judged query. A query that is missing from the run counts as zero, here."""
    try:
        import ir_measures
    except ImportError:
        raise UserError("measures need ir-measures", hint='pip install "coclick[eval]"') from None
    measures = [ir_measures.parse_measure(name) for name in MEASURES]
    values = {query: dict.fromkeys(MEASURES, 0.0) for query in grades}
    filled = {query: dict(found) for query, found in run.items() if found}
    if filled:
        for metric in ir_measures.iter_calc(measures, {q: dict(g) for q, g in grades.items()}, filled):
            values[metric.query_id][str(metric.measure)] = float(metric.value)
    return values


def _mean(by_query: Mapping[str, Mapping[str, float]], queries: Sequence[str]) -> dict[str, float]:
    return {name: sum(by_query[query][name] for query in queries) / len(queries) for name in MEASURES}
