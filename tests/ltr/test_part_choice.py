"""Further parts of `ltr`: chosen if they rank held-out clicks better, and if the texts are not too long."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from coclick import open_model, train
from coclick.graph.click_graph import ClickGraph, PairStats
from coclick.ltr import part_choice
from coclick.ltr.boosting import Boosting
from coclick.ltr.features import RankingFeatures
from coclick.ltr.folds import Sampling, cross_fitted
from coclick.ltr.part_choice import Choice, choose_parts

TITLES = [f"{a}ako" for a in "bdfgklmnpr"]
BODIES = [f"{a}ilu" for a in "bdfgkl"]
PAIRS = [(title, body) for title in TITLES for body in BODIES]
DOCS = {f"{title}-{body}": {"title": title, "body": body} for title, body in PAIRS}
# A query names the title and the body of the only document that is clicked for it: titles alone do not tell.
CLICKS = [(f"{title} {body} {more}x", f"{title}-{body}", 1) for title, body in PAIRS for more in "stvwz"]


@pytest.fixture(scope="module")
def graph():
    return ClickGraph.from_clicks(CLICKS, DOCS)


def choose(graph, further, monkeypatch, min_queries=20):
    monkeypatch.setattr(part_choice, "FURTHER", further)
    monkeypatch.setattr(part_choice, "MIN_QUERIES", min_queries)
    parts = [train(spec, graph) for spec in ("bm25(fields=title)", "clicks")]
    features = RankingFeatures.of(parts, graph, 20)
    boosting = Boosting("lambdarank", 20, 4, 0.2, 0)
    return [str(part) for part in choose_parts(graph, parts, features, Sampling(), boosting).parts]


def test_a_part_is_chosen_if_it_ranks_held_out_clicks_better(graph, monkeypatch):
    assert choose(graph, ("bm25(fields=body)", "um(fields=title)"), monkeypatch) == ["bm25(fields=body)"]


@pytest.mark.parametrize(
    ("n_unclicked", "has_impressions", "joins"), [(60, True, False), (61, False, False), (61, True, True)]
)
def test_parts_join_in_thin_logs_without_a_test(n_unclicked, has_impressions, joins, monkeypatch):
    """Only if most documents have no clicks (60 have some); the part gains nothing, and queries are few."""
    unclicked = {f"other-{i}": {"title": "kako", "body": "bilu"} for i in range(n_unclicked)}
    log = ClickGraph.from_clicks(CLICKS, {**DOCS, **unclicked})
    if has_impressions:
        shown = np.full(log.clicks.nnz, 2, np.int32)
        log = replace(log, pairs=PairStats(log.clicks.indptr, log.clicks.indices, impressions=shown))
    further = ("um(fields=title)",)
    assert choose(log, further, monkeypatch, min_queries=10_000) == [*further] * joins


def test_the_examples_of_the_first_fold_are_those_of_cross_fitting(graph, monkeypatch):
    monkeypatch.setattr(part_choice, "FURTHER", ("bm25(fields=body)",))
    monkeypatch.setattr(part_choice, "MIN_QUERIES", 20)
    parts = [train(spec, graph) for spec in ("bm25(fields=title)", "clicks")]
    features = RankingFeatures.of(parts, graph, 20)
    choice = choose_parts(graph, parts, features, Sampling(), Boosting("lambdarank", 20, 4, 0.2, 0))
    assert choice.first_fold is not None
    every = [*parts, *choice.parts]
    wide = RankingFeatures.of(every, graph, 20)
    expected = cross_fitted(graph, None, every, wide, Sampling())
    found = cross_fitted(graph, None, every, wide, Sampling(), known=choice.first_fold)
    np.testing.assert_array_equal(found.features, expected.features)
    assert found.queries == expected.queries and found.docs.tolist() == expected.docs.tolist()


def test_no_part_is_tried_if_texts_are_long_or_queries_few(graph, monkeypatch):
    size = sum(len(text) for fields in DOCS.values() for text in fields.values())
    further = ("bm25(fields=body)", "um(fields=title)")
    monkeypatch.setattr(part_choice, "MAX_TEXT", size)
    assert choose(graph, further, monkeypatch)
    monkeypatch.setattr(part_choice, "MAX_TEXT", size - 1)
    assert choose(graph, further, monkeypatch) == []
    monkeypatch.setattr(part_choice, "MAX_TEXT", size)
    degrees = np.array([len({query for query, doc, _ in CLICKS if doc == name}) for name in DOCS])
    clicked = int(degrees @ [sum(map(len, fields.values())) for fields in DOCS.values()])
    monkeypatch.setattr(part_choice, "MAX_CLICKED_TEXT", clicked - 1)
    assert choose(graph, further, monkeypatch) == []
    monkeypatch.setattr(part_choice, "MAX_CLICKED_TEXT", clicked)
    assert choose(graph, further, monkeypatch)
    few = ClickGraph.from_clicks(CLICKS[:40], DOCS)
    assert choose(few, further, monkeypatch) == []


def test_default_parts_are_joined_by_what_helps_and_others_are_not(graph, monkeypatch, tmp_path):
    monkeypatch.setattr(
        "coclick.ltr.model.choose_parts", lambda graph, *_: Choice([train("um", graph)], None)
    )
    model: Any = train("ltr(n_trees=5,max_queries=50)", graph)
    assert [str(part) for part in model.parts_] == [*model.part_specs, "um"]
    assert "um score" in model.features_.names
    assert model.stats_["further_parts"] == ["um"]
    query = CLICKS[0][0]
    model.save(tmp_path / "model")
    assert open_model(tmp_path / "model").search(query).hits() == model.search(query).hits()
    named: Any = train("ltr(parts=bm25 + clicks,n_trees=5)", graph)
    assert [str(part) for part in named.parts_] == ["bm25", "clicks"]
