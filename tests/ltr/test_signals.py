"""Features of candidates found through indexes: the same as if all documents were scored."""

import numpy as np
import pytest

import planted
from coclick import train
from coclick.ltr import features
from coclick.ltr.features import RankingFeatures
from coclick.text.query import Query

GRAPH = planted.graph()
PARTS = [train(spec, GRAPH) for spec in ("bm25", "bm25sd_mult", "neighbours", "clicks", "popularity")]
FEATURES = RankingFeatures.of(PARTS, GRAPH, 5)


@pytest.mark.parametrize("text", ["hotel", "cheap hotel", "shoe nike", "never seen"])
def test_candidates_and_features_are_those_of_all_scores(text):
    asked = Query.list_of([text], GRAPH.queries)
    [every] = FEATURES.signals_of(PARTS, Query.list_of([text], GRAPH.queries))
    found = FEATURES.signals(PARTS, asked[0])
    assert found.candidates.tolist() == every.candidates.tolist()
    docs = found.candidates
    expected = FEATURES.features(every, docs)
    np.testing.assert_allclose(FEATURES.features(found, docs), expected, rtol=1e-5)
    some = np.array([7, 3, 30], np.int32)
    chosen = FEATURES.signals(PARTS, Query.list_of([text], GRAPH.queries)[0], docs=some)
    np.testing.assert_allclose(FEATURES.features(chosen, some), FEATURES.features(every, some), rtol=1e-5)
    assert chosen.found(some).tolist() == every.found(some).tolist()


def test_a_mask_filters_candidates_but_not_ranks():
    [query] = Query.list_of(["hotel"], GRAPH.queries)
    first = FEATURES.signals(PARTS, query)
    mask = np.ones(len(GRAPH.docs), np.uint8)
    mask[first.candidates[:2]] = 0
    masked = FEATURES.signals(PARTS, query, mask)
    assert not {*first.candidates[:2].tolist()} & {*masked.candidates.tolist()}
    for before, after in zip(first.best, masked.best, strict=True):
        assert before.tolist() == after.tolist()


SCANNING = [*PARTS, train("wtm", GRAPH)]


@pytest.mark.parametrize("text", ["cheap hotel", "shoe nike", "never seen"])
def test_a_part_that_scans_a_large_collection_only_scores_what_others_find(text, monkeypatch):
    monkeypatch.setattr(features, "MAX_SCANNED", len(GRAPH.docs) - 1)
    ranking = RankingFeatures.of(SCANNING, GRAPH, 5)
    [query], [same] = (Query.list_of([text], GRAPH.queries) for _ in range(2))
    [every] = ranking.signals_of(SCANNING, [query])
    found = ranking.signals(SCANNING, same)
    assert found.candidates.tolist() == FEATURES.signals(PARTS, query).candidates.tolist()
    assert not found.finding[-1]
    by_score = np.sort(SCANNING[-1]._score(query, found.candidates))[::-1]
    expected = [*by_score[by_score > 0].tolist(), 0, 0, 0, 0, 0][:5]
    np.testing.assert_allclose(found.best[-1], expected, rtol=1e-5)
    docs = found.candidates
    np.testing.assert_allclose(ranking.features(found, docs), ranking.features(every, docs), rtol=1e-5)
    some = np.array([7, 3, 30], np.int32)  # a pair's features do not depend on the other documents
    chosen = ranking.signals(SCANNING, query, docs=some)
    np.testing.assert_allclose(ranking.features(chosen, some), ranking.features(every, some), rtol=1e-5)
    mask = np.ones(len(GRAPH.docs), np.uint8)
    mask[docs[:2]] = 0
    masked = ranking.signals(SCANNING, query, mask)
    assert masked.best[-1].tolist() == found.best[-1].tolist()
