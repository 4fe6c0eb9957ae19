"""Exports to engines that cannot be installed here, against what their documentation says."""

import re

import documented
import pytest
from same_ranking import assert_same_ranking

import coclick.exporters

ENGINES = {
    "elasticsearch": documented.Elasticsearch,
    "opensearch": documented.OpenSearch,
    "solr": documented.Solr,
    "vespa": documented.Vespa,
}


@pytest.fixture(scope="module", params=ENGINES)
def loaded(request, words, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param) / "out"
    figures = coclick.exporters.export(words, request.param, folder)
    return ENGINES[request.param](folder), figures


def test_the_engine_finds_what_we_find(loaded, words, queries):
    engine, figures = loaded
    assert len(engine.docs) == figures["documents"]
    error = figures["score_error"]["largest"]
    assert error < 0.004
    vectors = {row["query"]: row["vector"] for row in documented.json_lines(engine.folder / "queries.ndjson")}
    for query in queries:
        assert_same_ranking(
            words, query, engine.search(vectors[query]), max(2 * error, 1e-6), set(engine.docs)
        )


def test_the_sample_query_finds_what_it_should(loaded, words):
    engine, figures = loaded
    sample = documented.json.loads((engine.folder / "expected.json").read_text())
    found, expected = engine.sample(), sample["results"]
    tolerance = max(2 * figures["score_error"]["largest"], 1e-6)
    assert len(found) == len(expected) == 10
    assert [score for _, score in found] == pytest.approx([row["score"] for row in expected], abs=tolerance)
    assert_same_ranking(words, sample["query"], found, tolerance, set(engine.docs))


def test_ids_and_titles_arrive_as_they_are(loaded, words):
    engine, figures = loaded
    for doc, title in engine.titles.items():
        assert title in (words.title(doc), re.sub("[\x00\x07]", " ", words.title(doc)))
    lost = len(words.graph_.docs) - len(engine.docs)
    assert lost == sum(
        count for reason, count in figures["left_out"].items() if reason.startswith("documents")
    )


def test_synonyms_are_the_words_of_single_word_queries(words, tmp_path):
    coclick.exporters.export(words, "solr", tmp_path / "out")
    synonyms = documented.Solr(tmp_path / "out").synonyms()
    expected = words.expand("pizza")[:10]
    heaviest = expected[0][1]
    found = synonyms["pizza"]
    assert found == {word: pytest.approx(weight / heaviest, rel=1e-6) for word, weight in expected}


def test_nine_bits_are_the_nearest():
    """Against every number of nine bits between 1 and 2, and the same a million times smaller."""
    import numpy as np

    from coclick.exporters.bulk import nine_bits

    grid = np.arange(256, 513) / 256
    for scale in (1.0, 2.0**-20):
        values = (np.random.default_rng(0).uniform(1, 2, 2000) * scale).astype(np.float32)
        nearest = np.abs(grid[None] * scale - values[:, None].astype(float)).min(axis=1)
        ours = nine_bits(values)
        assert np.abs(ours.astype(float) - values) == pytest.approx(nearest, abs=0)
        assert [documented.nine_bits(value) for value in ours.tolist()] == ours.tolist()
