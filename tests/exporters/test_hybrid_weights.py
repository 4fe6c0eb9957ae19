"""The weight of vectors in hybrid queries is tuned on held-out clicks."""

import json

import numpy as np
import pytest

import planted
from coclick import create
from coclick.exporters import export
from coclick.exporters.hybrid_weights import (
    HybridWeight,
    _Candidates,
    _min_max,
    _ndcg,
    _normalised,
    _ways,
    tune_hybrid,
)
from coclick.graph.click_graph import ClickGraph


def candidates(text, vectors, gains):
    text, vectors, gains = (np.array(values, float) for values in (text, vectors, gains))
    return _Candidates(text, vectors, gains, np.sort(gains)[::-1])


def test_scores_by_hand():
    assert _min_max(np.array([4.0, 0.0, 2.0, 3.0])).tolist() == [1.0, 0.0, 0.001, 0.5]
    assert _min_max(np.array([0.0, 2.0])).tolist() == [0.0, 1.0]
    one = candidates([4, 0, 2], [0, 3, 1], [0, 1, 0])
    assert _normalised(one, 0.25).tolist() == pytest.approx([0.75, 0.25, 0.75 * 0.001 + 0.25 * 0.001])
    assert _ndcg(one, np.array([3.0, 2.0, 1.0])) == pytest.approx(1 / np.log2(3))
    assert _ndcg(one, np.array([3.0, 0.0, 1.0])) == 0  # not found
    mix, boosts, equal = _ways([one], "added")
    assert mix(one, 2.0).tolist() == [4, 6, 4] and equal == 1.0
    assert boosts[5] == pytest.approx(4 / 3, rel=1e-2)  # of the usual best scores


@pytest.fixture(scope="module")
def model():
    return create("vpcg(units=words)").fit(
        ClickGraph.from_clicks(planted.clicks(both_orders=True), planted.docs())
    )


@pytest.mark.parametrize("way", ["normalised", "added"])
def test_vectors_get_weight_where_titles_say_little(way, model):
    """Queries of the planted log rarely have words of titles, so that vectors must help."""
    tuned = tune_hybrid(model, ["title^3", "body"], way)
    assert isinstance(tuned, HybridWeight)
    assert tuned.tuned > tuned.text_only and tuned.queries >= 10
    assert f"{tuned.tuned:.3f}" in tuned.sentence()


def test_reasons_why_nothing_is_tuned(model):
    assert tune_hybrid(model, ["name"], "added") == "the graph has none of the fields name"
    small = create("bm25").fit(ClickGraph.from_clicks([("a", "d", 9.0)], {"d": "a"}))
    assert isinstance(tune_hybrid(small, ["title"], "added"), str)


def test_weights_are_in_the_exported_requests(model, tmp_path):
    for engine in ("opensearch", "elasticsearch"):
        export(model, engine, tmp_path / engine, into="products", hybrid="title")
    tuned, added = (tune_hybrid(model, ["title"], way) for way in ("normalised", "added"))
    assert isinstance(tuned, HybridWeight) and isinstance(added, HybridWeight)
    pipeline = json.loads((tmp_path / "opensearch/pipeline.json").read_text())["phase_results_processors"][0]
    weights = pipeline["normalization-processor"]["combination"]["parameters"]["weights"]
    assert weights == pytest.approx([1 - tuned.weight, tuned.weight])
    assert f'"boost": {added.weight}' in (tmp_path / "elasticsearch/hybrid.json").read_text()
    assert "tuned on held-out clicks" in (tmp_path / "opensearch/README.md").read_text()
