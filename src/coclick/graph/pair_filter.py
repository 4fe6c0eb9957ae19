"""Keep only the clicked pairs that were clicked often enough for how often and where they were shown.

Gao et al. 2011 (§5.1) learn from pairs whose Score(d, q) is above a threshold. It must consider how often the
document was shown and at which position; they take the formula from Gao et al. 2009. Ours is the number of
clicks over the number that is expected there:

    Score(d, q) = (clicks + a) / (Σ_p shown at p · ctr(p) + a)

ctr(p) is the click rate of position p in the whole log; the clicks of a pair count at its positions in
proportion to its impressions. 1 is the average. The constant a = 1 draws pairs with few impressions to it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.errors import UserError, check_number
from coclick.graph.click_graph import ClickGraph
from coclick.graph.split import clicks_of

_PRIOR = 1.0  # clicks, and expected clicks


def filter_pairs(graph: ClickGraph, min_score: float = 0, min_clicks: float = 0) -> ClickGraph:
    """Return the graph without the clicked pairs below a score or a number of clicks.

    Impressions, sessions, days, searches and follow-ups stay. Skips of dropped clicks are dropped too.
    """
    clicks = graph.clicks
    kept = clicks.data >= check_number(min_clicks, "min_clicks")
    if check_number(min_score, "min_score") > 0:
        kept &= pair_scores(graph) >= min_score
    if not kept.any():
        raise UserError("no clicked pair is left", hint="lower min_score or min_clicks")
    rest = clicks.with_data(np.where(kept, clicks.data, np.float32(0))).positive()
    skips = graph.skips
    if skips is not None:
        pattern = Csr(skips.indptr, skips.clicked, np.empty(0, np.float32), clicks.columns)
        query = np.repeat(np.arange(len(graph.queries)), np.diff(skips.indptr))
        alive = clicks_of(rest, pattern) > 0
        skips = replace(
            skips,
            indptr=np.searchsorted(query[alive], np.arange(len(graph.queries) + 1)),
            clicked=skips.clicked[alive],
            skipped=skips.skipped[alive],
            count=skips.count[alive],
        )
    dropped = {"min_score": min_score, "min_clicks": min_clicks, "dropped_pairs": clicks.nnz - rest.nnz}
    return replace(
        graph, clicks=rest, skips=skips, stats={**graph.stats, "pair_filter": dropped}, artefact=None
    )


def pair_scores(graph: ClickGraph) -> NDArray[np.float64]:
    """Return Score(d, q) of each clicked pair, in the order of `graph.clicks`; 0 if it was never shown."""
    pairs, daily = graph.pairs, graph.daily
    if "positions" not in graph.provides or pairs is None or daily is None:
        raise UserError(
            "scores of pairs need positions, and this graph has none",
            hint="build it from a log of events with impressions and positions",
        )
    assert daily.position_indptr is not None and daily.position is not None and daily.shown is not None
    pair_of_day = np.repeat(np.arange(len(pairs.docs)), np.diff(daily.indptr))
    pair = np.repeat(pair_of_day, np.diff(daily.position_indptr))
    known = daily.position > 0
    pair, position, shown = pair[known], daily.position[known], daily.shown[known].astype(np.float64)
    pattern = Csr(pairs.indptr, pairs.docs, np.empty(0, np.float32), len(graph.docs))
    clicks = clicks_of(graph.clicks, pattern).astype(np.float64)
    impressions = np.bincount(pair, shown, len(clicks))
    _, place = np.unique(position, return_inverse=True)
    rate = np.bincount(place, clicks[pair] * shown / np.maximum(impressions[pair], 1)) / np.maximum(
        np.bincount(place, shown), 1
    )
    expected = np.bincount(pair, shown * rate[place], len(clicks))
    scores = np.where(impressions > 0, (clicks + _PRIOR) / (expected + _PRIOR), 0.0)
    return clicks_of(pattern.with_data(scores.astype(np.float32)), graph.clicks).astype(np.float64)
