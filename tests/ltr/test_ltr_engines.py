"""`ltr` for engines: trees over features that an engine has, scored by an independent walker."""

import json
import re
import textwrap
from typing import Any

import numpy as np
import pytest

import planted
from coclick import create, train
from coclick.errors import UserError
from coclick.exporters import LTR_ENGINES, export
from coclick.exporters.ltr_elasticsearch import trained_model
from coclick.exporters.ltr_engine_model import (
    GRAMS_FIELD,
    QUERIES_FIELD,
    EngineLtr,
    clicked_queries,
    measure_ltr_loss,
)
from coclick.exporters.ltr_json import identifier
from coclick.graph.click_graph import ClickGraph

FAST = "ltr(parts=bm25 + popularity,n_trees=20,n_leaves=4)"


@pytest.fixture(scope="module")
def model():
    return train(FAST, planted.graph())


@pytest.fixture(scope="module")
def trained(model):
    return EngineLtr.train(model, model.graph_)


def walk(definition, features):
    """Score by the rules of Elasticsearch's tree ensembles."""
    ensemble = definition["trained_model"]["ensemble"]
    assert set(ensemble) == {"target_type", "feature_names", "trained_models", "aggregate_output"}
    weights = ensemble["aggregate_output"]["weighted_sum"]["weights"]
    total = 0.0
    for weight, wrapped in zip(weights, ensemble["trained_models"], strict=True):
        tree = wrapped["tree"]
        nodes = {node["node_index"]: node for node in tree["tree_structure"]}
        node = nodes[0]
        while "leaf_value" not in node:
            assert node["decision_type"] == "lte"
            x = features.get(tree["feature_names"][node["split_feature"]], 0.0)
            node = nodes[node["left_child"] if x <= node["threshold"] else node["right_child"]]
        total += weight * node["leaf_value"]
    return total


def test_trees_read_only_features_of_the_engine(trained):
    for name in trained.used():
        ours = (
            name in trained.fields or name.startswith("doc ") or name in ("query words", "query characters")
        )
        assert ours, name
    assert {*trained.fields.values()} == {"title", QUERIES_FIELD, GRAMS_FIELD}


def test_elasticsearch_gives_the_scores_of_the_trees(trained):
    """Features as Lucene computes them: BM25 without the factor 2.2."""
    match = {feature: {"match": {field: "{{keywords}}"}} for feature, field in trained.fields.items()}
    body = trained_model(trained.engine_trees(), match)
    names = trained.ltr.features_.names
    [query] = trained.ltr._queries("hotel the stay")
    signals = trained.ltr.features_.signals(trained.ltr.parts_, query)
    rows = trained.ltr.features_.features(signals, signals.candidates)
    ours = trained.ltr.trees_.outputs(rows) - trained.ltr.trees_.lowest() + 1
    for row, expected in zip(rows, ours, strict=True):
        features = {
            identifier(name): np.float32(value / 2.2) if name in trained.fields else value
            for name, value in zip(names, row.tolist(), strict=True)
        }
        assert walk(body["definition"], features) == pytest.approx(expected, abs=1e-4)
    extractors = body["inference_config"]["learning_to_rank"]["feature_extractors"]
    listed = [one["query_extractor"]["feature_name"] for one in extractors]
    assert listed == body["definition"]["trained_model"]["ensemble"]["feature_names"]
    assert all(one["query_extractor"]["default_score"] == 0 for one in extractors)


def test_clicked_queries_are_repeated_by_their_clicks():
    graph = ClickGraph.from_clicks([("a b", "d", 1.0), ("c", "d", 20.0)], {"d": "t"})
    assert sorted(clicked_queries(graph, 0)) == ["a b", "c", "c", "c"]  # ln 2 → 1, ln 21 → 3


def test_n_grams_find_misspelt_queries(trained):
    """BM25 by hand of the three n-grams that lamo shares with lamp alone; all texts have the same length."""
    clicks = [("lamp", "a", 1.0), ("lump", "b", 1.0), ("desk", "c", 1.0)]
    graph = ClickGraph.from_clicks(clicks, planted.docs())
    [name] = [name for name, field in trained.fields.items() if field == GRAMS_FIELD]
    part = create(name.removesuffix(" score")).fit(graph)
    idf = np.log(1 + (3 - 1 + 0.5) / (1 + 0.5))  # Lucene counts the documents that have the field
    tf = np.log(2)  # of one click
    expected = 3 * idf * tf * 2.2 / (tf + 1.2)  # _la, lam, _lam
    assert dict(part.search("lamo", 9).hits()) == pytest.approx({"a": expected}, rel=1e-4)


def grams_of(readme):
    """The function that the README shows."""
    lines = readme[readme.index("    def grams") :].split("\n\n")[0]
    names: dict[str, Any] = {"re": re}
    exec(textwrap.dedent(lines), names)
    return names["grams"]


@pytest.mark.parametrize("engine", LTR_ENGINES)
def test_folder_of_each_engine(engine, model, tmp_path):
    stats = export(model, engine, tmp_path / "out", name="ranker", into="products", measure=False)
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert manifest.items() >= stats.items() and stats["trees"] > 0
    search = (tmp_path / "out/search.json").read_text()
    assert "ranker" in search and "keywords" in search and QUERIES_FIELD in search
    assert GRAMS_FIELD in search and "_so som ome me_ _som some ome_ _qu que uer ery ry_" in search
    readme = (tmp_path / "out/README.md").read_text()
    assert "not run against a server" in readme and "--no-measure" in readme and "products" in readme
    of_words = "_so som ome me_ _som some ome_ _8f 8ft ft_ _8ft 8ft_ _x_ _ns ns_ _ns_"
    assert " ".join(grams_of(readme)("some 8ft_x n's")) == of_words
    fields = "schema.json" if engine == "ltr-solr" else "mapping.json"
    declared = (tmp_path / "out" / fields).read_text()
    if engine == "ltr-solr":
        [first, *_] = json.loads((tmp_path / "out/updates-00000.json").read_text())
        changed = first.keys() - {"id"}
        assert all(set(value) == {"set"} for name, value in first.items() if name != "id")
    else:
        lines = (tmp_path / "out/updates-00000.ndjson").read_text().splitlines()
        assert json.loads(lines[0]) == {"update": {"_id": model.graph_.docs[0]}}
        changed = json.loads(lines[1])["doc"].keys()
        assert len(lines) == 2 * len(model.graph_.docs)
    assert all(f'"{field}"' in declared for field in changed)


def test_loss_is_measured():
    graph = ClickGraph.from_clicks(planted.clicks(both_orders=True), planted.docs())
    model: Any = train(FAST, graph)
    loss = measure_ltr_loss(model, model.trained_on)
    assert loss["queries"] > 5 and 0 < loss["as_shipped"] <= 1 and 0 < loss["in_coclick"] <= 1


def test_other_models_have_no_trees(tmp_path):
    with pytest.raises(UserError, match="bm25 has none") as error:
        export(train("bm25", planted.graph()), "ltr-solr", tmp_path / "out")
    assert "coclick train ltr" in error.value.hint
