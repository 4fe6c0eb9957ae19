"""The weight of vectors in hybrid queries is tuned on held-out clicks."""

import json
from typing import Any

import numpy as np
import pytest
from qdrant_client import QdrantClient, models

import planted
from coclick import create
from coclick.exporters import export
from coclick.exporters.hybrid_weights import (
    LUCENE,
    VESPA,
    HybridWeight,
    _Candidates,
    _fused,
    _hits,
    _min_max,
    _ndcg,
    _normalised,
    _ways,
    tune_hybrid,
)
from coclick.graph.click_graph import ClickGraph
from coclick.text.query import Query


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


def test_reciprocal_rank_fusion_by_hand():
    one = candidates([4, 0, 2, 0], [1, 3, 2, 0], [0, 1, 0, 0])
    assert _fused(one).tolist() == pytest.approx([1 / 61 + 1 / 63, 1 / 61, 1 / 62 + 1 / 62, 0])


def test_scores_of_fields_are_maxima_or_sums():
    docs = {"a": "red lamp", "b": "red", "c": "blue"}
    texts = {doc: {"title": title, "body": "red"} for doc, title in docs.items()}
    graph = ClickGraph.from_clicks([("red", "a", 1.0)], texts)
    title, body = (create(f"bm25(fields={name})").fit(graph) for name in ("title", "body"))
    scores = [dict(one.search("red", 3).hits()) for one in (title, body)]
    [query] = Query.list_of(["red"], graph.queries)
    for adds, combine in ((False, max), (True, sum)):
        expected = {doc: combine([3 * scores[0].get(doc, 0.0), scores[1].get(doc, 0.0)]) for doc in scores[1]}
        found = _hits([(3.0, title), (1.0, body)], query, 3, adds=adds)
        assert {graph.docs[row]: score for row, score in found.items()} == pytest.approx(expected)
    assert LUCENE.factor == pytest.approx(1 / (1.2 + 1)) and not LUCENE.adds_fields
    assert VESPA == (1.0, True)


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
    for engine in ("opensearch", "elasticsearch", "solr", "vespa"):
        export(model, engine, tmp_path / engine, into="products", hybrid="title")
    tuned, added = (tune_hybrid(model, ["title"], way) for way in ("normalised", "added"))
    assert isinstance(tuned, HybridWeight) and isinstance(added, HybridWeight)
    pipeline = json.loads((tmp_path / "opensearch/pipeline.json").read_text())["phase_results_processors"][0]
    weights = pipeline["normalization-processor"]["combination"]["parameters"]["weights"]
    assert weights == pytest.approx([1 - tuned.weight, tuned.weight])
    assert f'"boost": {added.weight}' in (tmp_path / "elasticsearch/hybrid.json").read_text()
    assert f'"b": {added.weight}' in (tmp_path / "solr/hybrid.json").read_text()
    summed = tune_hybrid(model, ["title"], "added", VESPA)
    assert isinstance(summed, HybridWeight)
    request = json.loads((tmp_path / "vespa/hybrid.json").read_text())
    assert request["input.query(words_weight)"] == summed.weight != added.weight
    profile = (tmp_path / "vespa/schemas/products/coclick_hybrid.profile").read_text()
    assert f"query(words_weight) double: {summed.weight}\n" in profile
    for engine, weight in (
        ("opensearch", tuned),
        ("elasticsearch", added),
        ("solr", added),
        ("vespa", summed),
    ):
        readme = (tmp_path / engine / "README.md").read_text()
        assert weight.sentence() in readme and weight.rrf_sentence() in readme


def test_requests_for_reciprocal_rank_fusion(model, tmp_path):
    """As the pages that the modules name document them."""
    for engine in ("opensearch", "elasticsearch", "solr", "vespa", "qdrant"):
        hybrid = None if engine == "qdrant" else "title^2"
        export(model, engine, tmp_path / engine, into="products", hybrid=hybrid)

    def read(name):
        return json.loads((tmp_path / name).read_text())

    ranker = {"score-ranker-processor": {"combination": {"technique": "rrf", "rank_constant": 60}}}
    assert read("opensearch/rrf-pipeline.json") == {"phase_results_processors": [ranker]}
    elastic, sample = read("elasticsearch/rrf.json"), read("elasticsearch/sample.json")
    text, words = (part["standard"]["query"] for part in elastic["retriever"]["rrf"]["retrievers"])
    assert text["multi_match"]["fields"] == ["title^2"] and words == sample["query"]
    assert elastic.keys() == {"size", "_source", "retriever"}
    assert elastic["size"] <= elastic["retriever"]["rrf"]["rank_window_size"]
    solr, both = read("solr/rrf.json"), read("solr/hybrid.json")["query"]["bool"]["should"]
    assert solr["queries"] == {"text": both[0], "words": both[1]["boost"]["query"]}
    assert solr["params"]["combiner"] is True and solr["params"]["combiner.query"] == ["text", "words"]
    profile = (tmp_path / "vespa/schemas/products/coclick_rrf.profile").read_text()
    assert "rank-profile coclick_rrf inherits coclick_hybrid {" in profile
    assert "reciprocal_rank_fusion(text_score, words_score)" in profile
    assert profile.count("{") == profile.count("}") and "2 * bm25(title)" in profile
    assert read("vespa/rrf.json") == read("vespa/hybrid.json") | {"ranking": "coclick_rrf"}


def test_qdrant_fuses_ranks(tmp_path):
    """Run by the local mode of the client; Qdrant adds 1 / (2 + rank), ranks counted from 0."""
    graph = ClickGraph.from_clicks([("lamp", "1", 1.0)], {"1": "lamp lamp lamp", "2": "lamp"})
    export(create("bm25").fit(graph), "qdrant", tmp_path / "out", into="products")
    request = json.loads((tmp_path / "out/rrf.json").read_text())
    ours, yours = request["prefetch"]
    client = QdrantClient(":memory:")
    sparse = {ours["using"]: models.SparseVectorParams()}
    dense = {"mine": models.VectorParams(size=1, distance=models.Distance.DOT)}
    client.create_collection("products", vectors_config=dense, sparse_vectors_config=sparse)
    for key, weight, value in ((1, 3.0, 1.0), (2, 2.0, 2.0), (3, 1.0, 3.0), (4, 0.0, 9.0)):
        vector: dict[str, Any] = {"mine": [value]}
        if weight:
            indices = ours["query"]["indices"]
            vector[ours["using"]] = {"indices": indices, "values": [weight] * len(indices)}
        client.upsert("products", [models.PointStruct(id=key, vector=vector)])
    yours |= {"query": [1.0], "using": "mine"}
    asked = models.QueryRequest(**request)
    found = client.query_points(
        "products", prefetch=asked.prefetch, query=asked.query, limit=asked.limit, with_payload=True
    )
    scores = {point.id: point.score for point in found.points}
    assert scores == pytest.approx({1: 1 / 2 + 1 / 5, 2: 1 / 3 + 1 / 4, 3: 1 / 4 + 1 / 3, 4: 1 / 2})
