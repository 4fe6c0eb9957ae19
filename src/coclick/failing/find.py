"""`find_failing`: which queries fail, how, and what would help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from coclick.errors import UserError, check_whole
from coclick.failing.clusters import cluster_queries
from coclick.failing.fixes import Fixes
from coclick.failing.kinds import KINDS, failing_queries
from coclick.failing.reformulations import FollowUp, follow_ups
from coclick.failing.search_counts import Longs, SearchCounts
from coclick.failing.trends import Trend
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model
from coclick.models.persistence import open_model
from coclick.models.registry import create
from coclick.progress import Progress, quiet

DEFAULT_MODEL = "vpcg"
MAX_QUERIES = 2000  # that are clustered; others are only counted
_NEXT = 5  # next queries that are listed
_SIMILAR = 10
_DAY = 86_400


def find_failing(
    graph: ClickGraph | str | Path,
    model: Model | str | Path | None = None,
    *,
    min_searches: int = 5,
    examples: int = 10,
    progress: Progress = quiet,
) -> dict[str, Any]:
    """Find the queries of a log that fail, in clusters with the fix that would help.

    Parameters: `graph`, or its directory; `model`, trained or in a directory, that finds similar queries, or
    the specification of one that is trained here (by default vpcg); `min_searches`, below which a query is
    left out; `examples`, how many queries of a cluster are listed; `progress`. Returns plain values, which
    docs/failing.md describes.
    """
    check_whole(min_searches, "min_searches", 1)
    check_whole(examples, "examples", 1)
    opened = graph if isinstance(graph, ClickGraph) else ClickGraph.open(graph)
    counts = SearchCounts.of(opened)
    kinds, trends, tested = failing_queries(opened, counts, min_searches)
    failed = _failed_searches(counts)
    rows = sorted(kinds, key=lambda row: (-int(failed[row]), -int(counts.searches[row]), opened.queries[row]))
    listed = rows[:MAX_QUERIES]
    clusters: list[dict[str, Any]] = []
    name = ""
    if listed:
        trained = _trained(model, opened, progress)
        name = str(trained)
        clusters = _clusters(opened, counts, kinds, trends, listed, trained, examples, progress)
    return {
        "model": name,
        "min_searches": min_searches,
        "counted": counts.unit,
        "missing": list(counts.missing),
        "totals": _totals(counts),
        "kinds": [
            {
                "kind": kind,
                "meaning": KINDS[kind],
                **_sizes(counts, [row for row in rows if kind in kinds[row]]),
            }
            for kind in KINDS
        ],
        "failing": _sizes(counts, rows),
        "trends_tested": tested,
        "left_out": len(rows) - len(listed),
        "clusters": clusters,
    }


def _failed_searches(counts: SearchCounts) -> Longs:
    """Searches without a click; where the log only has clicks, those after which people searched on."""
    if counts.unit == "clicks" and counts.followed is not None:
        return counts.followed
    return counts.without_clicks


def _clusters(
    graph: ClickGraph,
    counts: SearchCounts,
    kinds: Mapping[int, list[str]],
    trends: Mapping[int, Trend],
    rows: Sequence[int],
    model: Model,
    examples: int,
    progress: Progress,
) -> list[dict[str, Any]]:
    texts = [graph.queries[row] for row in rows]
    similar = _similar(texts, model)
    fixes = Fixes(graph, counts, progress)
    described = []
    for place, row in enumerate(rows):
        next_queries = follow_ups(graph, row)
        described.append(
            _describe(graph, counts, row, kinds[row], next_queries, trends.get(row))
            | {"fix": fixes.propose(row, next_queries, similar[place])}
        )
    groups = cluster_queries(texts, model, progress)
    found = [_cluster([described[place] for place in group], examples) for group in groups]
    return sorted(found, key=lambda one: (-one["failed"], -one["searches"], one["name"]))


def _similar(queries: Sequence[str], model: Model) -> list[list[tuple[str, float]]]:
    """Similar queries of each query; sums of models, which may exceed 1, are divided by the largest."""
    found = model.similar_queries(queries, _SIMILAR, damped=True)
    best = max(1.0, float(found.scores.max(initial=0)))
    return [[(query, score / best) for query, score in hits] for hits in found.hits()]


def _describe(
    graph: ClickGraph,
    counts: SearchCounts,
    row: int,
    kinds: list[str],
    next_queries: list[FollowUp],
    trend: Trend | None,
) -> dict[str, Any]:
    clicks = float(graph.clicks.row(row)[1].sum(dtype=np.float64))
    without_results, followed = counts.without_results, counts.followed
    return {
        "query": graph.queries[row],
        "kinds": kinds,
        "searches": int(counts.searches[row]),
        "without_results": None if without_results is None else int(without_results[row]),
        "without_clicks": int(counts.without_clicks[row]),
        "abandoned_at_least": int(counts.abandoned[row]),
        "followed": None if followed is None else int(followed[row]),
        "reformulated": None
        if followed is None
        else sum(one.searches for one in next_queries if one.related),
        "failed": int(_failed_searches(counts)[row]),
        "clicks": int(clicks) if clicks.is_integer() else round(clicks, 3),
        "next": [
            {"query": one.query, "searches": one.searches, "users": one.users, "related": one.related}
            for one in next_queries[:_NEXT]
        ],
        "weeks": [
            {"first_day": _date(week.first_day), "searches": week.searches, "clicked": week.clicked}
            for week in (trend.weeks if trend else [])
        ],
        "p": None if trend is None else trend.p,
    }


def _cluster(queries: list[dict[str, Any]], examples: int) -> dict[str, Any]:
    """A cluster: sums of its queries, and the fix that would help most of the failed searches."""
    votes: Counter[str] = Counter()
    for query in queries:
        votes[query["fix"]["kind"]] += 1 + query["failed"]
    kind = max(votes, key=lambda one: (votes[one], one))
    first = next(query for query in queries if query["fix"]["kind"] == kind)
    return {
        "name": queries[0]["query"],
        "queries": len(queries),
        "searches": sum(query["searches"] for query in queries),
        "failed": sum(query["failed"] for query in queries),
        "kinds": dict(Counter(kind for query in queries for kind in query["kinds"])),
        "fix": first["fix"],
        "examples": queries[:examples],
    }


def _sizes(counts: SearchCounts, rows: Sequence[int]) -> dict[str, int]:
    return {"queries": len(rows), "searches": int(counts.searches[list(rows)].sum())}


def _totals(counts: SearchCounts) -> dict[str, Any]:
    columns = ("searches", "without_clicks", "without_results", "followed")
    values = {name: getattr(counts, name) for name in columns}
    return {name: None if column is None else int(column.sum()) for name, column in values.items()}


def _trained(model: Model | str | Path | None, graph: ClickGraph, progress: Progress) -> Model:
    """The given model, the one in a directory, or a new one."""
    if isinstance(model, Path) or (isinstance(model, str) and Path(model).is_dir()):
        model = open_model(model)
    if isinstance(model, Model):
        if model.trained_on.queries.digest != graph.queries.digest:
            raise UserError("the model was trained on another graph", hint="train it on this graph")
        found = model
    else:
        found = create(model or DEFAULT_MODEL)
    if "similar" not in found.capabilities:
        raise UserError(
            f"{found} finds no similar queries", hint=f"use another model, such as {DEFAULT_MODEL}"
        )
    return found if hasattr(found, "graph_") else found.fit(graph, progress)


def _date(day: int) -> str:
    return datetime.fromtimestamp(day * _DAY, UTC).date().isoformat()
