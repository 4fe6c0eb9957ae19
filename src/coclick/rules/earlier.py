"""What the days before the held-out ones knew at least of sessions, whose tables are not kept by day.

A split by time drops skips and follow-ups. But a document is passed over by a click on another one, and a
follow-up begins with a search. So the held-out days have at most as many skips in favour of a document as it
has held-out clicks, and at most as many follow-ups of a query as it has held-out searches. What is left of
each count is from the earlier days for certain.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.graph.click_graph import ClickGraph
from coclick.graph.search_tables import SearchStats
from coclick.graph.split import clicks_of


def keep_certain_sessions(graph: ClickGraph, train: ClickGraph, held_out: Csr) -> ClickGraph:
    """Return the earlier part of a graph with the skips and follow-ups that certainly belong to it.

    Parameters: `graph`, which was split into `train` and the clicks `held_out`. A split that keeps these
    tables itself stays as it is.
    """
    skips, followups = graph.skips, graph.followups
    if skips is not None and train.skips is None and "half_life" not in graph.stats:
        pattern = Csr(skips.indptr, skips.clicked, np.empty(0, np.float32), held_out.columns)
        later = np.ceil(clicks_of(held_out, pattern) / _smallest_weight(graph) - 1e-6).astype(np.int64)
        train = replace(train, skips=replace(skips, count=_less(skips.count, later)))
    if followups is not None and train.followups is None and graph.searches is not None:
        if train.searches is None:  # it is not known on which days they were
            return train
        searches = _by_query(graph.searches) - _by_query(train.searches)
        count = _less(followups.count, np.repeat(searches, np.diff(followups.indptr)))
        users = np.minimum(followups.users, count)
        train = replace(train, followups=replace(followups, count=count, users=users))
    return train


def _smallest_weight(graph: ClickGraph) -> float:
    """How much the lightest action adds to the clicks of a pair, at most 1."""
    weights = (graph.stats.get("actions") or {}).values()
    return min([1.0, *(float(weight) for weight in weights if weight > 0)])


def _less(count: NDArray[np.int32], later: NDArray[np.int64]) -> NDArray[np.int32]:
    return np.maximum(count - later, 0).astype(np.int32)


def _by_query(table: SearchStats) -> NDArray[np.int64]:
    total = np.concatenate([[0], np.cumsum(table.searches, dtype=np.int64)])
    return np.diff(total[table.indptr])
