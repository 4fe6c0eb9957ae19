"""Exported trees, evaluated by simple interpreters of each engine's JSON and comparison rule.

Elasticsearch and OpenSearch (NaiveAdditiveDecisionTree): left where threshold > x. Solr
(MultipleAdditiveTreesModel): left where x <= threshold + 1e-6f. All numbers are float32, and a feature
without a match is 0.
"""

import json
from typing import Any

import numpy as np
import pytest

import planted
from coclick import train
from coclick.errors import UserError
from coclick.exporters.ltr_json import doc_fields, identifier, ltr_json
from coclick.ltr.trees import LEFT, RIGHT, Trees

F = np.float32
TEMPLATES = {
    f"{part} {kind}": {"match": {"title": "{{ keywords }}"}}
    for part in ("bm25", "popularity")
    for kind in ("score", "relative", "rank")
}


def xgboost_score(definition, features):
    total = F(0)
    for node in json.loads(definition):
        while "leaf" not in node:
            assert node["yes"] == node["children"][0]["nodeid"]
            assert node["no"] == node["children"][1]["nodeid"]
            assert {"nodeid", "depth", "split", "split_condition"} <= set(node)
            left = F(node["split_condition"]) > features.get(node["split"], F(0))
            node = node["children"][0 if left else 1]
        total = F(total + F(node["leaf"]))
    return total


def solr_score(model, features):
    total = F(0)
    for tree in model["params"]["trees"]:
        node = tree["root"]
        while "feature" in node:
            threshold = F(F(node["threshold"]) + F(1e-6))
            node = node["left" if features.get(node["feature"], F(0)) <= threshold else "right"]
        total = F(total + F(F(tree["weight"]) * F(node["value"])))
    return total


@pytest.fixture(scope="module")
def model():
    return train("ltr(parts=bm25 + popularity,n_trees=60)", planted.graph())


def rows_to_try(trees):
    """Random rows, rows at thresholds and next to them, and missing values."""
    random = np.random.default_rng(1)
    rows = (random.random((300, trees.width)) * random.choice([0, 1, 5, 40], (300, 1))).astype(F)
    for column in range(trees.width):
        at = trees.threshold[trees.feature == column]
        if len(at):
            rows[: 3 * len(at), column][: 3 * len(at)] = np.concatenate(
                [at, np.nextafter(at, F(np.inf)), np.nextafter(at, F(-np.inf))]
            )[: len(rows)]
    rows[random.random(rows.shape) < 0.1] = np.nan
    return rows


def engine_features(model, row):
    """The features as an engine has them, without missing ones."""
    return {
        identifier(name): value
        for name, value in zip(model.features_.names, row, strict=True)
        if not np.isnan(value)
    }


def test_elasticsearch_scores_are_equal(model):
    exported = ltr_json(model, "elasticsearch", "mine", TEMPLATES)
    assert exported == ltr_json(model, "opensearch", "mine", TEMPLATES)
    definition = exported["model"]["model"]["model"]
    assert definition["type"] == "model/xgboost+json"
    rows = rows_to_try(model.trees_)
    ours = model.trees_.outputs(rows) - model.trees_.lowest() + 1
    theirs = [xgboost_score(definition["definition"], engine_features(model, row)) for row in rows]
    np.testing.assert_allclose(theirs, ours, rtol=1e-5)
    known = {feature["name"] for feature in exported["featureset"]["featureset"]["features"]}
    assert {*splits(json.loads(definition["definition"]))} == known


def splits(nodes):
    for node in nodes:
        if "split" in node:
            yield node["split"]
            yield from splits(node["children"])


def test_solr_scores_are_equal(model):
    exported = ltr_json(model, "solr", "mine", TEMPLATES)
    rows = rows_to_try(model.trees_)
    rows = np.where(np.abs(rows) < 1e-5, F(0), rows)  # below Solr's tolerance
    ours = model.trees_.outputs(rows) - model.trees_.lowest() + 1
    theirs = [solr_score(exported["model"], engine_features(model, row)) for row in rows]
    np.testing.assert_allclose(theirs, ours, rtol=1e-5)
    assert {feature["name"] for feature in exported["features"]} == {
        feature["name"] for feature in exported["model"]["features"]
    }


def test_exported_trees_give_the_scores_of_search(model):
    """End to end: features of a real query, exported trees, the scores of `search`."""
    definition = ltr_json(model, "opensearch", "mine", TEMPLATES)["model"]["model"]["model"]["definition"]
    signals = model.features_.signals(model.parts_, *model._queries("hotel"))
    for doc, score in model.search("hotel", 10).hits():
        row = model.graph_.docs.id(doc)
        features = model.features_.features(signals, np.array([row]))[0]
        assert xgboost_score(definition, engine_features(model, features)) == pytest.approx(score, rel=1e-5)


def test_features_that_no_engine_can_compute_are_named(model):
    with pytest.raises(UserError) as error:
        ltr_json(model, "solr", "mine", {"bm25 score": {"q": "{!edismax}${keywords}"}})
    assert "bm25 relative" in str(error.value)
    assert "bm25 score:" not in str(error.value)
    assert "maximum" in str(error.value)


@pytest.mark.parametrize(
    ("threshold", "default", "valid"),
    [(0.5, LEFT, True), (0.5, RIGHT, False), (-0.5, LEFT, False), (-0.5, RIGHT, True)],
)
def test_missing_values_must_be_treated_as_zero(model, monkeypatch, threshold, default, valid):
    names = model.features_.names
    tree = {"feature": names.index("query clicks"), "threshold": threshold, "missing": default, "value": 0.0,
            "left": {"value": 1.0}, "right": {"value": 2.0}}  # fmt: skip
    monkeypatch.setattr(model, "trees_", Trees.from_nested([tree], len(names)))
    if valid:
        definition = ltr_json(model, "opensearch", "mine")["model"]["model"]["model"]["definition"]
        missing = np.full((1, len(names)), np.nan, F)
        lift = 1 - model.trees_.lowest()
        assert xgboost_score(definition, {}) == model.trees_.outputs(missing)[0] + lift
    else:
        with pytest.raises(
            UserError, match="query clicks: the trees treat a missing value differently from zero"
        ):
            ltr_json(model, "opensearch", "mine")


def test_a_value_that_every_document_has_is_never_missing(model, monkeypatch):
    """Recent clicks are missing in some training examples, so trees may send missing values anywhere."""
    names = model.features_.names
    tree = {"feature": names.index("doc clicks of the last 7 days"), "threshold": 0.5, "missing": RIGHT,
            "value": 0.0, "left": {"value": 1.0}, "right": {"value": 2.0}}  # fmt: skip
    monkeypatch.setattr(model, "trees_", Trees.from_nested([tree], len(names)))
    exported = ltr_json(model, "opensearch", "mine")
    [feature] = exported["featureset"]["featureset"]["features"]
    assert feature["name"] == "coclick_doc_clicks_of_the_last_7_days"


def test_doc_fields(model):
    fields = {row["doc"]: row for row in doc_fields(model)}
    clicks = [(query, count) for query, doc, count in planted.clicks() if doc == "hotel-0"]
    assert fields["hotel-0"]["coclick_doc_clicks"] == sum(count for _, count in clicks)
    assert fields["hotel-0"]["coclick_doc_queries"] == len({query for query, _ in clicks})
    assert fields["hotel-7"]["coclick_doc_clicks"] == 0
    assert fields["hotel-7"]["coclick_doc_title_characters"] == len(planted.docs()["hotel-7"])


def test_scores_that_start_from_bm25_are_refused():
    model: Any = train("ltr(parts=bm25 + clicks,task=reranking,n_trees=5)", planted.graph())
    with pytest.raises(UserError, match="start from BM25"):
        ltr_json(model, "opensearch", "mine", TEMPLATES)
