"""`ltr`: its scores recomputed from LightGBM's predictions, and training with judgments."""

from typing import Any

import lightgbm
import numpy as np
import pytest

import planted
from coclick import create, open_model, train
from coclick.errors import UserError
from coclick.evaluation.judgments import Judgments
from coclick.graph.click_graph import ClickGraph
from coclick.ltr.model import Ltr

SMALL = "ltr(parts=bm25 + clicks + popularity,n_trees=20)"
JUDGED = Judgments({"1": "hotel", "2": "shoe"}, {"1": {"hotel-1": 3, "flu-1": 0}, "2": {"shoe-2": 2}})


def test_scores_are_those_of_lightgbm(monkeypatch):
    """The booster is intercepted; the features are computed here from the scores of the parts."""
    boosters = []
    grow = lightgbm.train
    monkeypatch.setattr(
        lightgbm, "train", lambda *args, **more: boosters.append(grow(*args, **more)) or boosters[0]
    )
    graph = planted.graph()
    model: Any = train(SMALL, graph)
    for query in ("hotel", "ny the cheap", "never seen pizza"):
        columns = []
        for part in model.parts_:
            scores = part._score_all(*part._queries(query)).astype(np.float64)
            above = (scores[None, :] > scores[:, None]).sum(axis=1)
            columns += [scores, scores / max(scores.max(), 1e-30), np.where(scores > 0, 1 / (1 + above), 0)]
        row = graph.queries.id(query)
        clicks = graph.clicks.row(row)[1].sum() if row >= 0 else 0
        matrix = graph.clicks.to_scipy().toarray()
        docs = graph.clicks.row(row)[1].size if row >= 0 else 0
        for value in (clicks / (clicks + 1), len(query.split()), len(query), clicks, docs):
            columns.append(np.full(len(graph.docs), value))
        columns += [matrix.sum(axis=0), (matrix > 0).sum(axis=0)]
        columns.append([len(graph.title(doc)) for doc in range(len(graph.docs))])
        # All clicks are of the day before the last one of two.
        by_doc = matrix.sum(axis=0)
        clicked = by_doc > 0
        columns += [clicked, np.zeros(len(by_doc)), *[by_doc] * 4, clicked, *[np.where(clicked, 1, 2)] * 2]
        features = np.stack(columns, axis=1).astype(np.float32)
        outputs = boosters[0].predict(features, raw_score=True)
        found = (columns[0] > 0) | (columns[3] > 0)  # by bm25 or by clicks; popularity ignores the query
        trees = boosters[0].dump_model()["tree_info"]
        lowest = sum(min(leaves(tree["tree_structure"])) for tree in trees)
        expected = np.where(found, outputs - lowest + 1, 0)
        np.testing.assert_allclose(model._score_all(*model._queries(query)), expected, rtol=1e-6)
        hits = model.search(query, 100).hits()
        assert len(hits) == found.sum()


def leaves(node):
    if "leaf_value" in node:
        return [node["leaf_value"]]
    return leaves(node["left_child"]) + leaves(node["right_child"])


@pytest.mark.parametrize("objective", ["lambdarank", "pointwise"])
def test_ranks_by_the_informative_part(objective):
    """In the planted log, bm25 finds the right topic; popularity does not."""
    model = train(f"ltr(parts=bm25 + popularity,n_trees=20,objective={objective})", planted.graph())
    for topic in planted.TOPICS:
        assert planted.topic_of(model.search(topic, 1).hits()[0][0]) == topic


def test_judgments_choose_the_number_of_trees():
    model = Ltr("bm25 + popularity", n_trees=120).fit_with(planted.graph(), JUDGED)
    assert 1 <= model.stats_["trees"] < 120
    assert str(model) == "ltr(parts=bm25 + popularity,n_trees=120)"


def test_judgments_as_labels():
    model = Ltr("bm25 + popularity", n_trees=10, n_folds=2)
    model.fit_with(planted.graph(), JUDGED, "judgments")
    assert model.stats_["queries"] == 2
    assert model.search("hotel", 1).hits()


@pytest.mark.parametrize("parts", ["0.5*bm25 + clicks", "bm25 + bm25", "bm25 + nothing"])
def test_invalid_parts(parts):
    with pytest.raises(UserError):
        create(f"ltr(parts={parts})")


def test_reranking_starts_from_bm25():
    """Scores and explanations, recomputed from BM25 and the trees."""
    graph = planted.graph()
    model: Any = train("ltr(parts=clicks + bm25,task=reranking,n_trees=20)", graph)
    for query in ("hotel", "shoe the nike"):
        scores = model.parts_[1]._score_all(*model._queries(query)).astype(np.float64)
        every = np.arange(len(graph.docs), dtype=np.int32)
        signals = model.features_.signals(model.parts_, *model._queries(query), docs=every)
        rows = model.features_.features(signals, every)
        expected = 1 + 3 * scores / scores.max() + model.trees_.outputs(rows) - model.trees_.lowest()
        found = (scores > 0) | (model.parts_[0]._score_all(*model._queries(query)) > 0)
        ours = model._score_all(*model._queries(query))
        np.testing.assert_allclose(ours, np.where(found, expected, 0), rtol=1e-5)
        [(doc, score)] = model.search(query, 1).hits()
        explanation = model.explain(query, doc)
        assert sum(part.value for part in explanation.parts) == pytest.approx(score, rel=1e-6)
        [start] = [part for part in explanation.parts if part.kind == "start"]
        assert start.value == pytest.approx(3 * scores[graph.docs.id(doc)] / scores.max(), rel=1e-6)


def test_reranking_keeps_the_order_of_bm25_if_trees_do_not_help(tmp_path):
    """Clicks that have nothing to do with the query: the trees cannot rank those of held-out queries."""
    chance = np.random.default_rng(0)
    rows = [
        (query, f"{chance.choice([*planted.TOPICS])}-{chance.integers(6)}", 1.0)
        for query, _, _ in planted.clicks()
    ]
    graph = ClickGraph.from_clicks(rows, planted.docs())
    train("ltr(parts=bm25 + clicks,task=reranking)", graph).save(tmp_path / "model")
    model: Any = open_model(tmp_path / "model")
    assert model.stats_["trees"] == 0
    bm25 = [doc for doc, _ in train("bm25", graph).search("never seen hotel suites", 10).hits()]
    assert [doc for doc, _ in model.search("never seen hotel suites", 10).hits()] == bm25


def test_reranking_needs_bm25():
    with pytest.raises(UserError, match="needs bm25"):
        create("ltr(parts=vsm + clicks,task=reranking)")
    assert "popularity" not in str(create("ltr(task=reranking)"))
    with pytest.raises(UserError, match="by held-out clicks"):
        Ltr("bm25", task="reranking").fit_with(planted.graph(), JUDGED)
