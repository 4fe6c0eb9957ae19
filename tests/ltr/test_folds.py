"""Cross-fitting: what the parts were shown when they made the features of a query."""

from dataclasses import dataclass

import numpy as np
import pytest

import planted
from coclick import create
from coclick.evaluation.holdout import grades_from_clicks
from coclick.evaluation.judgments import Judgments
from coclick.graph.split import forget_queries
from coclick.ltr import folds
from coclick.ltr.boosting import Boosting
from coclick.ltr.features import FeatureSet, reciprocal_ranks
from coclick.ltr.folds import Sampling, cross_fitted
from coclick.models import registry
from coclick.models.base import Model

ASKED: list[tuple[object, str]] = []  # (graph that a part was trained on, query it was asked about)


@dataclass
class Recorder(Model):
    """A part that remembers what it was shown and what it was asked."""

    name = "recorder"

    def _fit(self, graph, progress):
        pass

    def _score_all(self, query):
        ASKED.append((self.graph_, query.text))
        return np.linspace(0, 1, len(self.graph_.docs), dtype=np.float32)


@pytest.fixture
def graph(monkeypatch):
    monkeypatch.setitem(registry._registered, "recorder", Recorder)
    ASKED.clear()
    return planted.graph()


def feature_set(graph, spec="recorder"):
    return FeatureSet.of([create(spec).fit(graph)], graph, 10)


def clicks_of(graph, query):
    row = graph.queries.id(query)
    return {} if row < 0 else dict(zip(*(side.tolist() for side in graph.clicks.row(row)), strict=True))


def test_no_part_saw_the_clicks_that_are_labels(graph):
    found = cross_fitted(graph, None, ["recorder"], feature_set(graph), Sampling())
    unseen, seen = [], []
    for part_graph, query in ASKED:
        (unseen if part_graph.queries.id(query) < 0 else seen).append((part_graph, query))
    assert sorted(query for _, query in unseen) == sorted(graph.queries)
    for part_graph, query in unseen:
        assert clicks_of(part_graph, query) == {}
        assert part_graph.clicks.nnz > 0.5 * graph.clicks.nnz
    assert not seen, "the planted log has no clicks on its last day"
    assert len(found.queries) == len(graph.queries)


def test_seen_queries_learn_from_later_clicks_only(graph, monkeypatch):
    """Half of the clicks are moved to the last day: parts see the others, grades come from these."""
    from dataclasses import replace

    daily = graph.daily
    half = np.repeat(graph.clicks.data / 2, 2).astype(np.float32)
    graph = replace(graph, daily=replace(daily, clicks=half))
    features = feature_set(graph)
    ASKED.clear()
    found = cross_fitted(graph, None, ["recorder"], features, Sampling())
    assert len(found.queries) == 2 * len(graph.queries)
    later = [(part, query) for part, query in ASKED if part.queries.id(query) >= 0]
    assert len(later) == len(graph.queries)
    for part_graph, query in later:
        left = clicks_of(part_graph, query)
        for doc, clicks in clicks_of(graph, query).items():
            assert doc not in left or left[doc] == pytest.approx(clicks / 2)


def test_judged_queries_are_not_seen_either(graph):
    features = feature_set(graph)
    ASKED.clear()
    judgments = Judgments(
        {"1": "HOTEL", "2": "shoe", "3": "nobody asked this"},
        {"1": {"hotel-0": 2, "no such doc": 3}, "2": {"shoe-1": 1}, "3": {"flu-0": 0}},
    )
    found = cross_fitted(graph, judgments, ["recorder"], features, Sampling(folds=2))
    assert sorted(query for _, query in ASKED) == ["hotel", "nobody asked this", "shoe"]
    assert all(clicks_of(part_graph, query) == {} for part_graph, query in ASKED)
    assert found.grades.sum() == 3


def test_grades_and_negatives(graph):
    sampling = Sampling(negatives=4)
    found = cross_fitted(graph, None, ["recorder"], feature_set(graph), sampling)
    starts = np.concatenate([[0], np.cumsum(found.sizes)])
    for i, query in enumerate(found.queries):
        docs = found.docs[starts[i] : starts[i + 1]].tolist()
        grades = found.grades[starts[i] : starts[i + 1]]
        clicked = clicks_of(graph, query)
        assert len(docs) == len({*docs}) <= len(clicked) + 4
        expected = dict(zip(clicked, grades_from_clicks(np.array([*clicked.values()])), strict=True))
        assert {doc: grade for doc, grade in zip(docs, grades.tolist(), strict=True) if grade} == expected


def test_folds_do_not_depend_on_other_queries():
    sampling = Sampling()
    assert {folds.fold_of(f"query {i}", sampling) for i in range(50)} == {*range(5)}
    assert folds.fold_of("hotel", sampling) == folds.fold_of("hotel", Sampling())


def test_forgotten_queries_are_gone_with_all_their_history():
    graph = planted.graph()
    held = np.arange(len(graph.queries)) % 3 == 0
    rest = forget_queries(graph, held)
    assert list(rest.queries) == [query for query, gone in zip(graph.queries, held, strict=True) if not gone]
    for query in rest.queries:
        assert clicks_of(rest, query) == clicks_of(graph, query)
    shown = np.repeat(~held, np.diff(graph.pairs.indptr))
    assert rest.pairs.impressions.tolist() == graph.pairs.impressions[shown].tolist()
    assert rest.pairs.indptr[-1] == len(rest.pairs.docs)
    assert len(rest.skips.indptr) == len(rest.queries) + 1


def test_reciprocal_ranks_by_hand():
    scores = np.array([0, 5, 3, 3, 9, 1], np.float32)
    np.testing.assert_allclose(reciprocal_ranks(scores, 3), [0, 1 / 2, 1 / 3, 1 / 3, 1, 0])
    assert reciprocal_ranks(np.zeros(3, np.float32), 2).tolist() == [0, 0, 0]


def test_no_query_is_ranked_by_trees_that_saw_it(graph, monkeypatch):
    """Cross-validated quality: the trees of each fold learn from the other folds' queries only."""
    found = cross_fitted(graph, None, ["recorder"], feature_set(graph), Sampling())
    of = np.array([folds.fold_of(query, Sampling()) for query in found.queries])
    learned = []
    grow = Boosting.grow

    def remembered(self, train):
        learned.append(train.queries)
        return grow(self, train)

    monkeypatch.setattr(Boosting, "grow", remembered)
    value = Boosting("pointwise", 5, 4, 0.1, 0).cross_validate(found, of)
    assert 0 < value["nDCG@10"] <= 1
    for fold, queries in zip(np.unique(of), learned, strict=True):
        held = {query for query, its in zip(found.queries, of, strict=True) if its == fold}
        assert held
        assert not held & set(queries)
        assert held | set(queries) == set(found.queries)


def test_documents_without_clicks_are_no_verdict(graph):
    """A quarter of the planted documents has no clicks: in each fold about as many others lose theirs, and
    what was never shown is never an example of what is not relevant."""
    found = cross_fitted(graph, None, ["recorder"], feature_set(graph), Sampling())
    never = np.flatnonzero(graph.clicks_by_doc.row_nnz() == 0)
    assert len(never) == len(graph.docs) / 4
    assert not np.isin(found.docs[found.grades == 0], never).any()
    for part_graph in {id(part): part for part, _ in ASKED}.values():
        left = (part_graph.clicks_by_doc.row_nnz() > 0).sum()
        assert 0.4 * len(graph.docs) < left < 0.7 * len(graph.docs)
