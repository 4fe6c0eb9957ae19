"""`compare` on planted data: which models are tried, in which order, on which splits, within the budget."""

from dataclasses import replace

import numpy as np
import pytest

import planted
from coclick import compare, create
from coclick.errors import UserError
from coclick.evaluation.inputs import EvaluationData
from coclick.evaluation.judgments import Judgments
from coclick.evaluation.leaderboard import Trainer
from coclick.evaluation.protocol import Protocol
from coclick.evaluation.report import read_report
from coclick.graph.click_graph import ClickGraph
from coclick.recommendation import compare as comparing
from coclick.recommendation import properties, schedule
from coclick.recommendation.budget import Budget
from coclick.recommendation.candidates import Candidates, combine_best, select_models
from coclick.recommendation.costs import Costs
from coclick.recommendation.splits import Split
from coclick.recommendation.updates import Update

GRAPH = planted.graph()
JUDGMENTS = Judgments(
    {topic: topic for topic in planted.TOPICS},
    {topic: {doc: int(topic in doc) for doc in planted.docs()} for topic in planted.TOPICS},
)
_late = np.minimum(GRAPH.clicks.data, 1)  # one click of each pair is on the second of two days
_clicks = np.stack([GRAPH.clicks.data - _late, _late], 1).ravel()
DAYS = replace(GRAPH, daily=replace(GRAPH.daily, clicks=_clicks))
CHEAP = ["clicks", "bm25", "popularity"]


def names(found, split=None):
    board = found.leaderboard if split is None else found.boards[split]
    return {result.name for result in board.results}


@pytest.fixture
def only_cheap(monkeypatch):
    """Three models are all there are."""
    select = lambda graph, task, only, skip: Candidates(list(CHEAP), {})  # noqa: E731
    monkeypatch.setattr(comparing, "select_models", select)


@pytest.mark.slow
def test_compare_evaluates_all_models_and_recommends_one(tmp_path):
    found = compare(GRAPH, qrels=JUDGMENTS, budget=None)
    assert {"popularity", "clicks", "bm25", "vpcg", "ltr", "wmd"} <= names(found)
    assert found.recommended in names(found)
    stats = found.to_dict()
    assert stats["recommendation"]["model"] == found.recommended
    assert set(stats) >= {"protocol", "models", "significance", "left_out", "splits", "budget"}
    found.write_html(tmp_path / "comparison.html")
    found.leaderboard.write_html(str(tmp_path / "leaderboard.html"))
    assert read_report(tmp_path / "comparison.html")["recommendation"]["model"] == found.recommended
    assert "recommendation" not in read_report(tmp_path / "leaderboard.html")


def test_unsupported_models_are_left_out_with_the_reason():
    _, left_out = select_models(ClickGraph.from_clicks([("a", "x", 1)]))
    assert "needs texts" in left_out["bm25"]


def test_only_and_skip_take_names_and_specifications():
    def select(**options):
        return select_models(GRAPH, **options).specs

    everything = select()
    assert [spec for spec in everything if spec.startswith("vpcg")] == select(only=["vpcg"])
    assert len(select(only=["vpcg"])) > 1
    assert select(only=["bm25(k1=2)", "clicks"]) == ["bm25(k1=2)", "clicks"]
    without = select(skip=["vpcg", "ltr"])
    assert not [spec for spec in without if spec.startswith(("vpcg", "ltr")) or "vpcg" in spec]
    skipped = {*everything} - {*select(skip=["vpcg(start=doc)"])}
    assert skipped == {spec for spec in everything if "vpcg(start=doc)" in spec}
    for wrong in ({"only": ["vpgc"]}, {"skip": ["vpgc"]}):
        with pytest.raises(UserError, match="no model is called 'vpgc'"):
            select(**wrong)
    assert all(spec.startswith("backoff(") for spec in select(only=["backoff"]))


def test_models_that_cannot_be_trained_are_left_out_with_the_reason(monkeypatch):
    """Of three queries one is held out, and both others fall into one fold of ltr."""
    trees = "ltr(parts=clicks + popularity)"
    select = lambda graph, task, only, skip: Candidates(["clicks", trees, "bm25"], {})  # noqa: E731
    monkeypatch.setattr(comparing, "select_models", select)
    titles = {"d1": "running shoe", "d2": "summer hat", "d3": "boots"}
    rows = [("red shoe", "d1", 3), ("blue hat", "d2", 2), ("green shoe", "d1", 1), ("green shoe", "d3", 1)]
    graph = ClickGraph.from_clicks(rows, titles)
    found = compare(graph, holdout="queries:0.5")
    assert names(found) >= {"clicks", "bm25"}
    assert "too few queries" in found.to_dict()["left_out"][trees]
    with pytest.raises(UserError, match="too few queries"):
        compare(graph, [trees], holdout="queries:0.5")  # one that was asked for


def test_the_best_single_models_of_different_families_are_combined():
    """`um` is of the family of `wmd`, and runs of other systems and combinations are no parts."""
    ordered = ["wmd", "ltr", "um", "0.8*rw + 0.2*bm25", "theirs", "vpcg(start=doc)", "clicks", "pls"]
    pair, triple = "backoff(wmd + vpcg(start=doc))", "backoff(wmd + vpcg(start=doc) + clicks)"
    assert combine_best(ordered) == [pair, triple]
    assert combine_best(ordered, skip=["backoff"]) == []
    assert combine_best(ordered[:5]) == []


def test_the_best_models_are_combined(only_cheap, monkeypatch):
    monkeypatch.setattr(properties, "milliseconds", lambda *_: 0.1)  # a busy machine must not decide
    found = compare(GRAPH, qrels=JUDGMENTS)
    assert names(found) == {*CHEAP, "backoff(bm25 + clicks)"}
    assert found.recommended == "backoff(bm25 + clicks)"
    perfect = {topic: [doc for doc in planted.docs() if topic in doc] for topic in planted.TOPICS}
    with_run = compare(GRAPH, qrels=JUDGMENTS, runs={"theirs": perfect})
    assert with_run.recommended == found.recommended, "a run cannot be recommended"
    assert "theirs" in names(with_run)


def test_a_log_with_days_is_judged_by_time_and_by_queries():
    found = compare(DAYS, only=CHEAP)
    assert list(found.boards) == ["time", "queries"]
    assert names(found, "time") == names(found, "queries") == {*CHEAP}
    stats = found.to_dict()
    assert [split["judged_by"] for split in stats["splits"]] == [
        "held-out clicks, time:0.2", "held-out clicks, queries:0.2"]  # fmt: skip
    clicks = next(model for model in stats["models"] if model["name"] == "clicks")
    assert clicks["splits"]["queries"]["nDCG@10"] == 0, "it knows no unseen query"
    assert clicks["splits"]["time"]["nDCG@10"] == clicks["measures"]["nDCG@10"] > 0
    assert list(compare(DAYS, only=CHEAP, holdout="queries:0.3").boards) == ["queries"]


def test_a_log_of_one_day_is_judged_by_queries():
    daily = replace(DAYS.daily, day=DAYS.daily.day * 0)
    assert list(compare(replace(DAYS, daily=daily), only=CHEAP).boards) == ["queries"]


def test_properties_of_models():
    found = compare(GRAPH, only=[*CHEAP, "pls(dim=2)"], qrels=JUDGMENTS).to_dict()
    models = {model["name"]: model for model in found["models"]}
    assert {"serve", "rerank", "opensearch", "solr"} <= {*models["bm25"]["targets"]}
    assert {"opensearch", "pgvector", "qdrant", "tantivy"} <= {*models["pls(dim=2)"]["targets"]}
    assert models["clicks"]["targets"] == models["pls(dim=2)"]["targets"]
    assert {"solr", "vespa"} <= {*models["clicks"]["targets"]}
    assert models["bm25"]["takes_new_documents"] and not models["clicks"]["takes_new_documents"]
    assert models["bm25"]["explains"]
    assert models["bm25"]["milliseconds"] > 0


def test_the_target_limits_the_recommendation():
    trees = "ltr(parts=bm25 + clicks,n_trees=2)"
    found = compare(GRAPH, only=[trees, "vsm"], target="vespa")
    assert found.recommended == "vsm"
    several = compare(GRAPH, only=["neighbours", "pls(dim=2)"], target="postgres")
    assert several.recommended == compare(GRAPH, only=["neighbours", "pls(dim=2)"]).recommended
    assert several.to_dict()["recommendation"]["target"] == "pgvector"
    useless = compare(GRAPH, only=[trees], target="solr")
    assert useless.recommendation is None and useless.to_dict()["recommendation"] is None
    with pytest.raises(UserError, match="none of the 1 evaluated model can be used with solr"):
        useless.recommended  # noqa: B018
    with pytest.raises(UserError, match="unknown target 'lucene'"):
        compare(GRAPH, target="lucene")
    with pytest.raises(UserError, match="no task is called 'dance'"):
        compare(GRAPH, task="dance")


def test_reranking_ranks_judged_candidates():
    found = compare(GRAPH, only=CHEAP, qrels=JUDGMENTS, target="rerank")
    assert found.to_dict()["protocol"]["retrieval"] == "judged candidates"


def test_cheap_models_are_evaluated_within_a_short_budget(monkeypatch):
    """By its own estimate ltr takes days; it is left out, with the reason and how to include it."""
    from coclick.ltr.model import Ltr

    monkeypatch.setattr(Ltr, "relative_cost", 1e6)
    select = lambda graph, task, only, skip: Candidates(["clicks", "ltr", "bm25"], {})  # noqa: E731
    monkeypatch.setattr(comparing, "select_models", select)
    found = compare(GRAPH, budget="30s", skip=["backoff"])
    assert names(found) == {"clicks", "bm25"}
    assert "the budget of 30 s did not suffice: it would take about" in found.left_out["ltr"]
    assert found.left_out["ltr"].endswith("include it with --only ltr")
    assert {*found.to_dict()["budget"]["left_out"]} == {"ltr"}


def test_named_models_are_evaluated_whatever_they_take():
    found = compare(DAYS, only=CHEAP, budget=0.001)
    assert names(found, "time") == {*CHEAP}
    assert names(found, "queries") == set(), "the budget does not suffice"
    assert "not judged by queries" in found.reason


def test_expensive_models_need_a_relative_that_is_not_far_behind(monkeypatch):
    """`cos_clicks` is of the same family as `popularity`, which is far behind `bm25` on the topics."""
    from coclick.models.click_graph.cos_clicks import CosClicks

    monkeypatch.setattr(schedule, "_EXPENSIVE", 1e-9)
    monkeypatch.setattr(CosClicks, "relative_cost", 50.0)
    monkeypatch.setattr(schedule, "FIRST_TABLE", 0.0)
    order = ["popularity", "bm25", "cos_clicks"]
    select = lambda graph, task, only, skip: Candidates(order, {})  # noqa: E731
    monkeypatch.setattr(comparing, "select_models", select)
    judgments = JUDGMENTS.only({*planted.TOPICS})
    found = compare(GRAPH, qrels=judgments, skip=["backoff"])
    assert "cos_clicks" not in names(found)
    assert "popularity, the best of its kind, is" in found.left_out["cos_clicks"]


def test_updates_have_a_line_for_each_model_and_tables(monkeypatch):
    monkeypatch.setattr(schedule, "FIRST_TABLE", 0.0)
    updates: list[Update] = []
    found = compare(GRAPH, only=CHEAP, qrels=JUDGMENTS, on_update=updates.append)
    lines = [update.text for update in updates if update.text]
    assert next(update.running for update in updates if update.running).endswith(" by judgments")
    assert [line.split(" by ")[0] for line in lines] == [one.name for one in found.leaderboard.results]
    assert all("nDCG@10" in line and "trained in" in line and "ms a query" in line for line in lines)
    tables = [update.comparison for update in updates if update.is_table]
    assert tables and not tables[0].budget.complete and found.budget.complete
    assert len(names(tables[0])) < len(CHEAP)


def test_a_saved_model_is_compared(tmp_path):
    from coclick import train

    train("clicks", GRAPH).save(tmp_path / "mine")
    found = compare(GRAPH, str(tmp_path / "mine"), qrels=JUDGMENTS, only=["bm25"])
    assert names(found) == {"clicks", "bm25"}
    assert compare(GRAPH, train("clicks", GRAPH), qrels=JUDGMENTS, only=["bm25"]).recommended == "bm25"


def test_similar_queries_are_a_task():
    """Only models that find similar queries take part, and the one that the task names."""
    from coclick.evaluation.tasks import find_task

    chosen, left_out = select_models(GRAPH, find_task("similar"))
    assert left_out["ltr"] == "it cannot find similar queries or documents"
    assert {str(create(spec)) for spec in find_task("similar").variants} <= {*chosen}
    found = compare(GRAPH, task="similar", only=["cos_words", "vpcg(start=doc)"], holdout="queries:0.3")
    assert found.to_dict()["protocol"]["task"] == "similar"
    assert names(found) == {"cos_words", "vpcg(start=doc)"}


def test_the_report_shows_costs_and_offers(browser, tmp_path):
    perfect = {topic: [doc for doc in planted.docs() if topic in doc] for topic in planted.TOPICS}
    found = compare(DAYS, only=["bm25", "popularity"], runs={"theirs": {**perfect, "ny": ["hotel-1"]}})
    found.write_html(tmp_path / "page.html")
    page, errors = browser.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((tmp_path / "page.html").as_uri())
    heads = page.locator("#leaderboard thead button").all_inner_texts()
    assert heads[-5:] == ["training time", "search", "exports to", "new documents", "explains"]
    assert "by queries" in heads
    page.get_by_role("button", name="by queries").click()
    first = page.locator("#leaderboard tbody tr").first
    assert first.locator("th").inner_text().startswith("bm25")
    assert first.locator("td").all_inner_texts()[-3:] == ["8", "yes", "yes"]
    theirs = page.locator("#leaderboard tbody tr", has_text="theirs").locator("td").all_inner_texts()
    assert theirs[-3:] == ["", "", ""], "nothing is known of a run"
    assert errors == []
    page.close()


def test_training_that_takes_much_too_long_is_stopped(monkeypatch):
    """`bm25` reports progress while it is trained; by then four times its estimate has passed."""
    monkeypatch.setattr(schedule, "FIRST_TABLE", 0.0)
    monkeypatch.setattr(schedule, "_PATIENCE", 0.0)
    monkeypatch.setattr(schedule, "_PATIENT", 0.0)
    select = lambda graph, task, only, skip: Candidates(["bm25", "clicks"], {})  # noqa: E731
    monkeypatch.setattr(comparing, "select_models", select)
    found = compare(GRAPH, qrels=JUDGMENTS, skip=["backoff"])
    assert names(found) == {"clicks"}
    assert found.left_out["bm25"].startswith("stopped after ")
    assert "bm25" in names(compare(GRAPH, qrels=JUDGMENTS, models=["bm25"], skip=["backoff"]))


def test_a_thin_log_is_also_judged_by_hidden_documents():
    """Of the 40 documents of the planted graph 30 have clicks; with 120 more, a fifth of all."""
    more = {f"more-{i}": f"Something else {i}" for i in range(110)}
    graph = ClickGraph.from_clicks(planted.clicks(), planted.docs() | more)
    found = compare(graph, only=["bm25", "clicks"])
    assert list(found.boards) == ["queries", "documents"]
    clicked = (graph.clicks_by_doc.row_nnz() > 0).mean()
    assert found.weights == pytest.approx({"queries": clicked, "documents": 1 - clicked})
    stats = found.to_dict()
    assert [split["weight"] for split in stats["splits"]] == pytest.approx([clicked, 1 - clicked])
    for model in stats["models"]:
        parts = [model["splits"][split["name"]]["nDCG@10"] * split["weight"] for split in stats["splits"]]
        assert model["quality"] == pytest.approx(sum(parts))
    assert found.recommended == "bm25"


@pytest.mark.parametrize(("cost", "first"), [(10.0, "ltr"), (8.0, "um"), (30.0, "um")])
def test_time_is_kept_for_trees_unless_they_take_most_of_the_budget(monkeypatch, cost, first):
    """16 s of 40 s are left, and `um` takes 2 s. Half as much again is kept for trees: 15, 12 or 45 s.

    After `um` there is time for the second, not for the first; the third would take most of the budget.
    """
    monkeypatch.setattr(Costs, "estimate", lambda self, spec, *_: cost if spec == "ltr" else 2.0)
    monkeypatch.setattr(Budget, "left", property(lambda self: 16.0))
    data = EvaluationData(GRAPH, JUDGMENTS, "judgments")
    split = Split("judgments", data, Protocol(), Trainer(GRAPH))
    order = schedule.Schedule(
        [split], {"judgments": 1.0}, Candidates(["um", "ltr"], {}), (), Budget("40s"), None
    )._in_order(["um", "ltr"])
    assert next(order) == (first, split)
