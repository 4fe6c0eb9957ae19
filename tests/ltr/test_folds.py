"""Cross-fitting: which graph the parts were trained on when they computed the features of a query."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import planted
from coclick import create
from coclick.evaluation.holdout import grades_from_clicks
from coclick.evaluation.judgments import Judgments
from coclick.graph.click_graph import ClickGraph
from coclick.graph.split import remove_queries
from coclick.ltr import folds
from coclick.ltr.boosting import Boosting
from coclick.ltr.features import RankingFeatures
from coclick.ltr.folds import Sampling, cross_fitted
from coclick.models import registry
from coclick.models.base import Model
from coclick.text.query import Query

CALLS: list[tuple[ClickGraph, str]] = []  # (graph a part was trained on, query it scored)


@dataclass
class Recorder(Model):
    """A part that records its graph and its queries."""

    name = "recorder"

    def _fit(self, graph, progress):
        pass

    def _score_all(self, query):
        CALLS.append((self.graph_, query.text))
        return np.linspace(0, 1, len(self.graph_.docs), dtype=np.float32)


@pytest.fixture
def graph(monkeypatch):
    monkeypatch.setitem(registry._registered, "recorder", Recorder)
    CALLS.clear()
    return planted.graph()


def parts(graph):
    return [create("recorder").fit(graph)]


def feature_set(graph):
    return RankingFeatures.of(parts(graph), graph, 10)


def clicks_of(graph, query):
    row = graph.queries.id(query)
    return {} if row < 0 else dict(zip(*(side.tolist() for side in graph.clicks.row(row)), strict=True))


def test_parts_are_not_trained_on_the_clicks_of_labels(graph):
    found = cross_fitted(graph, None, parts(graph), feature_set(graph), Sampling())
    unseen, seen = [], []
    for part_graph, query in CALLS:
        (unseen if part_graph.queries.id(query) < 0 else seen).append((part_graph, query))
    assert sorted(query for _, query in unseen) == sorted(graph.queries)
    for part_graph, query in unseen:
        assert clicks_of(part_graph, query) == {}
        assert part_graph.clicks.nnz > 0.5 * graph.clicks.nnz
    assert not seen, "the planted log has no clicks on its last day"
    assert len(found.queries) == len(graph.queries)


def test_labels_of_seen_queries_are_later_clicks(graph, monkeypatch):
    """Half of the clicks move to the last day: they are the grades; the parts are trained on the others."""
    from dataclasses import replace

    daily = graph.daily
    half = np.repeat(graph.clicks.data / 2, 2).astype(np.float32)
    graph = replace(graph, daily=replace(daily, clicks=half))
    features = feature_set(graph)
    CALLS.clear()
    found = cross_fitted(graph, None, parts(graph), features, Sampling())
    assert len(found.queries) == 2 * len(graph.queries)
    later = [(part, query) for part, query in CALLS if part.queries.id(query) >= 0]
    assert len(later) == len(graph.queries)
    for part_graph, query in later:
        left = clicks_of(part_graph, query)
        for doc, clicks in clicks_of(graph, query).items():
            assert doc not in left or left[doc] == pytest.approx(clicks / 2)


def test_judged_queries_are_unseen_too(graph):
    features = feature_set(graph)
    CALLS.clear()
    judgments = Judgments(
        {"1": "HOTEL", "2": "shoe", "3": "nobody asked this"},
        {"1": {"hotel-0": 2, "no such doc": 3}, "2": {"shoe-1": 1}, "3": {"flu-0": 0}},
    )
    found = cross_fitted(graph, judgments, parts(graph), features, Sampling(n_folds=2))
    assert sorted(query for _, query in CALLS) == ["hotel", "nobody asked this", "shoe"]
    assert all(clicks_of(part_graph, query) == {} for part_graph, query in CALLS)
    assert found.grades.sum() == 3


def test_grades_and_negatives(graph):
    sampling = Sampling(max_negatives=4)
    found = cross_fitted(graph, None, parts(graph), feature_set(graph), sampling)
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


def test_forget_queries_removes_their_history():
    graph = planted.graph()
    held = np.arange(len(graph.queries)) % 3 == 0
    rest = remove_queries(graph, held)
    assert list(rest.queries) == [query for query, gone in zip(graph.queries, held, strict=True) if not gone]
    for query in rest.queries:
        assert clicks_of(rest, query) == clicks_of(graph, query)
    shown = np.repeat(~held, np.diff(graph.pairs.indptr))
    assert rest.pairs.impressions.tolist() == graph.pairs.impressions[shown].tolist()
    assert rest.pairs.indptr[-1] == len(rest.pairs.docs)
    assert len(rest.skips.indptr) == len(rest.queries) + 1


def test_cross_validation_trains_without_the_fold(graph, monkeypatch):
    """The trees of each fold are trained only on the queries of the other folds."""
    found = cross_fitted(graph, None, parts(graph), feature_set(graph), Sampling())
    fold_of_query = np.array([folds.fold_of(query, Sampling()) for query in found.queries])
    learned = []
    grow = Boosting.grow

    def recorded(self, train):
        learned.append(train.queries)
        return grow(self, train)

    monkeypatch.setattr(Boosting, "grow", recorded)
    value = Boosting("pointwise", 5, 4, 0.1, 0).cross_validate(found, fold_of_query)
    assert 0 < value["nDCG@10"] <= 1
    for fold, queries in zip(np.unique(fold_of_query), learned, strict=True):
        held = {query for query, its in zip(found.queries, fold_of_query, strict=True) if its == fold}
        assert held
        assert not held & set(queries)
        assert held | set(queries) == set(found.queries)


def test_documents_never_shown_are_not_negative(graph):
    """A quarter of the planted documents has no clicks: in each fold about as many others lose theirs, and
    documents that were never shown are never negative examples."""
    found = cross_fitted(graph, None, parts(graph), feature_set(graph), Sampling())
    never = np.flatnonzero(graph.clicks_by_doc.row_nnz() == 0)
    assert len(never) == len(graph.docs) / 4
    assert not np.isin(found.docs[found.grades == 0], never).any()
    for part_graph in {id(part): part for part, _ in CALLS}.values():
        left = (part_graph.clicks_by_doc.row_nnz() > 0).sum()
        assert 0.4 * len(graph.docs) < left < 0.7 * len(graph.docs)


def with_two_more_shown(graph, query):
    """The graph with two documents that were shown for the query, not clicked; and all that were shown."""
    row = graph.queries.id(query)
    clicked = graph.clicks.row(row)[0].tolist()
    never = [doc for doc in range(len(graph.docs)) if doc not in clicked][-2:]
    pairs = graph.pairs
    first, last = pairs.indptr[row], pairs.indptr[row + 1]
    shown = sorted([*clicked, *never])
    changed = {
        name: np.concatenate([values[:first], np.resize(values[first:last], len(shown)), values[last:]])
        for name, values in vars(pairs).items()
        if name != "indptr" and values is not None
    }
    changed["docs"][first : first + len(shown)] = shown
    indptr = pairs.indptr + np.where(np.arange(len(pairs.indptr)) > row, len(never), 0)
    return replace(graph, pairs=replace(pairs, indptr=indptr, **changed)), shown


@pytest.mark.parametrize(("max_negatives", "expected"), [(8, (2, 2)), (4, (2, 1)), (1, (1, 0))])
def test_most_negative_examples_were_shown_for_the_query(graph, max_negatives, expected):
    """Shown ones take up to three quarters of the places, others up to one: not all that are free."""
    log, shown = with_two_more_shown(graph, "hotel")
    clicked = dict.fromkeys(clicks_of(graph, "hotel"), 1)
    sampling = Sampling(max_negatives=max_negatives)
    features = RankingFeatures.of(parts(graph), graph, len(graph.docs))  # all documents are candidates
    found = folds.examples(parts(log), features, {"hotel": clicked}, sampling, log=log)
    negative = set(found.docs[found.grades == 0].tolist())
    assert (len(negative & {*shown}), len(negative - {*shown})) == expected


def test_without_impressions_negative_examples_are_candidates(graph):
    log = replace(graph, pairs=replace(graph.pairs, impressions=None))
    sampling = Sampling(max_negatives=8)
    found = folds.examples(parts(log), feature_set(log), {"hotel": {}}, sampling, log=log)
    assert len(found.docs) == 8


def test_candidates_of_reranking(graph):
    """Documents that were shown for the query; if nothing but clicked ones was, the best of the part."""
    log, shown = with_two_more_shown(graph, "hotel")
    given = folds.GivenCandidates(log, 0, 3)
    features = feature_set(graph)
    [asked, other] = Query.list_of(["hotel", "shoe"], graph.queries)
    signals = features.signals_of(parts(graph), [asked, other])
    assert given.of(asked, next(signals)).tolist() == shown
    highest = given.of(other, next(signals)).tolist()
    assert highest == [len(graph.docs) - 1, len(graph.docs) - 2, len(graph.docs) - 3]


@pytest.mark.parametrize(
    ("clicked", "in_query_folds", "in_time_folds"), [(60, 0.4, 0.0), (40, 0.5, 0.2), (10, 0.5, 0.5)]
)
def test_share_of_documents_that_lose_their_clicks(clicked, in_query_folds, in_time_folds):
    """Of 10,000 documents `clicked` % have clicks. Time folds hide none unless most documents have none."""
    docs = [f"d{i}" for i in range(10_000)]
    edges = [("query", doc, 1.0) for doc in docs[: clicked * 100]]
    graph = ClickGraph.from_clicks(edges, dict.fromkeys(docs, "title"))
    found = [folds._hidden_docs(graph, Sampling(), 0, usual).mean() for usual in (0.0, folds.THIN_LOG)]
    assert found == pytest.approx([in_query_folds, in_time_folds], abs=0.02)
