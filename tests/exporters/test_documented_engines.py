"""Exports to engines that tests cannot install, checked against their documentation."""

import re

import pytest

import coclick.exporters
from exporters import documented
from exporters.same_ranking import assert_same_ranking

ENGINES = {
    "elasticsearch": documented.Elasticsearch,
    "opensearch": documented.OpenSearch,
    "solr": documented.Solr,
    "vespa": documented.Vespa,
}


@pytest.fixture(scope="module", params=ENGINES)
def loaded(request, words, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param) / "out"
    stats = coclick.exporters.export(words, request.param, folder)
    return ENGINES[request.param](folder), stats


def test_the_engine_ranks_as_coclick(loaded, words, queries):
    engine, stats = loaded
    assert len(engine.docs) == stats["documents"]
    error = stats["score_error"]["largest"]
    assert error < 0.004
    vectors = {row["query"]: row["vector"] for row in documented.json_lines(engine.folder / "queries.ndjson")}
    for query in queries:
        assert_same_ranking(
            words, query, engine.search(vectors[query]), max(2 * error, 1e-6), set(engine.docs)
        )


def test_sample_query_returns_the_expected_results(loaded, words):
    engine, stats = loaded
    sample = documented.json.loads((engine.folder / "expected.json").read_text())
    found, expected = engine.sample(), sample["results"]
    tolerance = max(2 * stats["score_error"]["largest"], 1e-6)
    assert len(found) == len(expected) == 10
    assert [score for _, score in found] == pytest.approx([row["score"] for row in expected], abs=tolerance)
    assert_same_ranking(words, sample["query"], found, tolerance, set(engine.docs))


def test_ids_and_titles_are_unchanged(loaded, words):
    engine, stats = loaded
    for doc, title in engine.titles.items():
        assert title in (words.title(doc), re.sub("[\x00\x07]", " ", words.title(doc)))
    missing = len(words.graph_.docs) - len(engine.docs)
    assert missing == sum(
        count for reason, count in stats["left_out"].items() if reason.startswith("documents")
    )


def test_weights_are_rounded_to_the_nearest_nine_bits():
    """Compared with every nine-bit number between 1 and 2, and the same a million times smaller."""
    import numpy as np

    from coclick.exporters.bulk_api import round_to_nine_bits

    grid = np.arange(256, 513) / 256
    for scale in (1.0, 2.0**-20):
        values = (np.random.default_rng(0).uniform(1, 2, 2000) * scale).astype(np.float32)
        nearest = np.abs(grid[None] * scale - values[:, None].astype(float)).min(axis=1)
        ours = round_to_nine_bits(values)
        assert np.abs(ours.astype(float) - values) == pytest.approx(nearest, abs=0)
        assert [documented.nine_bits(value) for value in ours.tolist()] == ours.tolist()
