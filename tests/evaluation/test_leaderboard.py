"""The leaderboard, compared with measures computed by hand."""

import math
from pathlib import Path

import pytest

from coclick import train
from coclick.errors import UserError
from coclick.evaluation.inputs import list_models
from coclick.evaluation.judgments import Judgments
from coclick.evaluation.leaderboard import leaderboard
from coclick.evaluation.measures import MEASURES, measure
from coclick.evaluation.protocol import Protocol, evaluate_model
from coclick.graph.click_graph import ClickGraph

GRAPH = ClickGraph.from_clicks([("a", "x", 5), ("a", "y", 3), ("b", "z", 1)], {"w": "never clicked"})


def test_measures_by_hand():
    """x (grade 1) first, y (grade 3) second: linear gain, (1 + 3/log₂3) / (3 + 1/log₂3)."""
    values = measure({"q": {"x": 1, "y": 3}}, {"q": ["x", "y"]})["q"]
    assert values["nDCG@10"] == pytest.approx((1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)))
    assert values["AP"] == 1
    assert values["RR"] == 1


def test_query_without_results_counts_as_zero():
    values = measure({"q": {"x": 1}, "r": {"x": 1}}, {"q": ["x"], "r": []})
    assert values["q"]["nDCG@10"] == 1
    assert values["r"] == dict.fromkeys(MEASURES, 0)


def test_queries_without_a_relevant_document_count_as_zero_with_a_warning():
    """As in ir-measures, whose mean over the same queries is computed here."""
    import ir_measures

    grades = {"1": {"x": 1}, "2": {"x": 0, "z": 0}, "3": {"z": 0}}
    judgments = Judgments({"1": "a", "2": "b", "3": "c"}, grades)
    board = leaderboard(GRAPH, judgments, ["clicks"])
    found = board.to_dict()
    run = {query: {doc: -float(rank) for rank, doc in enumerate(docs)}
           for query, docs in board.results[0].rankings.items()}  # fmt: skip
    expected = ir_measures.calc_aggregate([ir_measures.nDCG @ 10], grades, run)[ir_measures.nDCG @ 10]
    assert found["models"][0]["measures"]["nDCG@10"] == pytest.approx(expected)
    assert expected == pytest.approx(1 / 3)
    assert found["protocol"]["queries_without_relevant"] == 2
    assert board.judgments.without_relevant == ["2", "3"]
    [warning] = found["protocol"]["warnings"]
    assert warning.startswith("2 of 3 judged queries have no relevant document, such as 2, 3")
    assert "no mean can exceed 0.333" in warning


def test_leaderboard_by_hand():
    judgments = Judgments({"1": "A", "2": "b", "3": "unseen"}, {"1": {"y": 2}, "2": {"z": 1}, "3": {"w": 1}})
    board = leaderboard(GRAPH, judgments, ["clicks", "popularity"]).to_dict()
    assert board["protocol"]["queries"] == 3
    clicks, popularity = board["models"]
    assert clicks["name"] == "clicks"
    assert clicks["measures"]["RR"] == pytest.approx((1 / 2 + 1 + 0) / 3)
    seen = clicks["breakdown"]["query"]["seen"]
    assert seen["queries"] == 2
    assert (seen["RR"], seen["AP"], seen["R@100"]) == (0.75, 0.75, 1)
    assert seen["nDCG@10"] == pytest.approx((1 / math.log2(3) + 1) / 2)
    assert clicks["breakdown"]["query"]["unseen"]["queries"] == 1
    assert clicks["breakdown"]["clicks"]["≤10"]["queries"] == 2
    assert clicks["breakdown"]["clicks"]["none"]["queries"] == 1
    assert clicks["breakdown"]["document"]["seen"] == {"queries": 2, "nDCG@10": seen["nDCG@10"]}
    assert clicks["breakdown"]["document"]["unseen"] == {"queries": 1, "nDCG@10": 0}
    assert popularity["measures"]["RR"] == pytest.approx((1 / 2 + 1 / 3 + 0) / 3)


def test_exponential_gain_by_hand():
    values = measure({"q": {"x": 1, "y": 3}}, {"q": ["x", "y"]}, ("nDCG@10",), "exponential")["q"]
    assert values["nDCG@10"] == pytest.approx((1 + 7 / math.log2(3)) / (7 + 1 / math.log2(3)))


def test_judged_candidates_are_all_ranked():
    """y and w are judged for "a": y has clicks and comes first; x is not a candidate."""
    judgments = Judgments({"1": "a"}, {"1": {"w": 1, "y": 3}})
    board = leaderboard(GRAPH, judgments, ["clicks"], protocol=Protocol(candidates="judged"))
    assert board.results[0].rankings == {"1": ["y", "w"]}
    assert board.to_dict()["models"][0]["measures"]["nDCG@10"] == 1
    assert any("flatters" in warning for warning in board.to_dict()["protocol"]["warnings"])


def test_runs_of_other_systems_are_measured():
    judgments = Judgments({"1": "a", "2": "b"}, {"1": {"y": 1}, "2": {"z": 1}})
    board = leaderboard(GRAPH, judgments, ["clicks"], runs={"theirs": {"1": ["y", "x"], "9": ["z"]}})
    assert [result.name for result in board.ordered()] == ["clicks", "theirs"]
    assert board.results[0].values().tolist() == [1, 0], "a query that is missing in the run counts as zero"
    with pytest.raises(UserError, match="none of the judged queries"):
        leaderboard(GRAPH, judgments, [], runs={"theirs": {"9": ["z"]}})


def test_parts_of_combinations_are_trained_once(monkeypatch):
    from coclick.models.click_graph.clicks import Clicks

    trained = []
    monkeypatch.setattr(Clicks, "_fit", lambda self, graph, progress: trained.append(self))
    judgments = Judgments({"1": "a"}, {"1": {"y": 1}})
    leaderboard(GRAPH, judgments, ["clicks", "0.5*clicks + 0.5*popularity", "backoff(clicks + 2*popularity)"])
    assert len(trained) == 1
    leaderboard(GRAPH, judgments, ["clicks", "clicks + popularity", "backoff(clicks + popularity)"])
    assert len(trained) == 3, "and once more on fewer clicks, to learn weights"


def test_saved_model_is_not_measured_by_held_out_clicks(tmp_path):
    path = str(tmp_path / "model")
    train("clicks", GRAPH).save(path)
    judgments = Judgments({"1": "a"}, {"1": {"y": 1}})
    assert leaderboard(GRAPH, judgments, [path]).results[0].name == "clicks"
    with pytest.raises(UserError, match="was trained on the clicks"):
        leaderboard(GRAPH, judgments, [path], protocol=Protocol(source="held-out clicks"))


def test_the_name_of_a_model_is_not_a_directory(tmp_path, monkeypatch):
    """`popularity` is trained even if a directory has that name; `./popularity` and a `Path` open it."""
    monkeypatch.chdir(tmp_path)
    for directory in ("popularity", "mine"):
        train("clicks", GRAPH).save(directory)
    specs = list_models(["popularity", "./popularity", Path("popularity"), "mine"])
    board = leaderboard(GRAPH, Judgments({"1": "a"}, {"1": {"y": 1}}), specs)
    assert [result.name for result in board.results] == ["popularity", "clicks", "clicks", "clicks"]


def test_no_judged_document_is_in_the_graph():
    with pytest.raises(UserError, match="none of the 1 judged documents"):
        leaderboard(GRAPH, Judgments({"1": "a"}, {"1": {"nowhere": 1}}), ["clicks"])


def test_warnings_about_unknown_queries_and_documents():
    judgments = Judgments({"1": "a"}, {"1": {"y": 1, "gone": 2}}, ("9", "8"))
    warnings = leaderboard(GRAPH, judgments, ["clicks"]).to_dict()["protocol"]["warnings"]
    assert any("2 judged queries" in text and "9, 8" in text for text in warnings)
    assert any("1 judged documents" in text and "gone" in text for text in warnings)


def test_judged_documents_are_scored_for_some_queries_only():
    judgments = Judgments({q: q for q in "abcde"}, {q: {"x": 1, "z": 0} for q in "abcde"})
    model = train("clicks", GRAPH)

    def scored(most, protocol):
        return list(evaluate_model(model, judgments, protocol, max_scored=most).scores)

    assert [scored(most, Protocol()) for most in (None, 5, 2, 0)] == [
        list("abcde"),
        list("abcde"),
        ["a", "d"],
        [],
    ]
    assert scored(0, Protocol("judged")) == list("abcde"), "re-ranking needs them all"
