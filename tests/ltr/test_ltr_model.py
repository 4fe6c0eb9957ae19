"""`ltr`: its scores recomputed from LightGBM's predictions, and training with judgments."""

from typing import Any

import lightgbm
import numpy as np
import pytest

import planted
from coclick import create, train
from coclick.errors import UserError
from coclick.evaluation.judgments import Judgments
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
