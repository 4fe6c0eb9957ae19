"""`large_margin`: whole training against plain loops, from the same start and the same samples."""

from typing import Any

import numpy as np
import pytest

import planted
from coclick.models.projection.large_margin import LargeMargin
from coclick.models.projection.pls import PLS
from coclick.solvers import large_margin as solver
from coclick.solvers.sampling import Sampler


def plain_training(x, y, start, batches, rate, margin):
    """Hinge loss on (query, better, worse), one preference at a time with the maps from before its batch."""
    left, right = (side.astype(np.float64) for side in start)
    for batch in batches:
        old_left, old_right = left.copy(), right.copy()
        for query, better, worse in batch:
            toward = (y[better] - y[worse]) @ old_right
            embedded = x[query] @ old_left
            if margin - embedded @ toward > 0:
                left += rate * np.outer(x[query], toward)
                right += rate * np.outer(y[better] - y[worse], embedded)
    return left, right


def test_whole_training_against_plain_loops(monkeypatch):
    graph, recorded = planted.graph(), list[Any]()

    class Recorder(Sampler):
        def prefer(self, *given):
            recorded.append([super().prefer(*given)])
            return recorded[-1][0]

        def order(self, count):
            recorded[-1].append(super().order(count))
            return recorded[-1][1]

    monkeypatch.setattr("coclick.models.projection.large_margin.Sampler", Recorder)
    monkeypatch.setattr(solver, "BATCH", 16)
    model = LargeMargin(dim=6, learning_rate=0.1, margin=0.4, iterations=2).fit(graph)
    start = PLS(dim=6, views="words").fit(graph)
    x, y = (csr.to_scipy().toarray().astype(float) for csr in (model.query_features_, model.doc_features_))
    maps = query_map(start), doc_map(start)
    for rate, (preferences, order) in zip((0.1, 0.05), recorded, strict=True):
        triples = np.stack(preferences, axis=1)[order].tolist()
        batches = [triples[first : first + 16] for first in range(0, len(triples), 16)]
        maps = plain_training(x, y, maps, batches, rate, 0.4)
    assert query_map(model) == pytest.approx(maps[0], abs=1e-4)
    assert doc_map(model) == pytest.approx(maps[1], abs=1e-4)
    assert np.abs(query_map(model) - query_map(start)).max() > 0.01, "training changes something"


def query_map(model):
    return model.query_map_.blocks[0].matrix


def doc_map(model):
    return model.doc_map_.blocks[0].matrix


def test_training_lowers_the_loss():
    curve = LargeMargin(dim=10, iterations=5, learning_rate=0.05).fit(planted.graph()).stats_["curve"]
    assert [row["round"] for row in curve] == [1, 2, 3, 4, 5]
    assert curve[-1]["loss"] < curve[0]["loss"]


def test_without_a_margin_a_right_order_changes_nothing():
    """Where pls already ranks every clicked document above every sampled one, the maps stay."""
    from coclick.graph.click_graph import ClickGraph

    graph = ClickGraph.from_clicks([("red", "d1", 1), ("blue", "d2", 1)], {"d1": "rouge", "d2": "bleu"})
    model = LargeMargin(dim=2, margin=0.0).fit(graph)
    assert query_map(model) == pytest.approx(query_map(PLS(dim=2, views="words").fit(graph)))
