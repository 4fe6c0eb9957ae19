"""Comparing, tuning, run files, similar queries: on planted data, where the right answer is known."""

import numpy as np
import pytest

import planted
from coclick import train
from coclick.errors import UserError
from coclick.evaluation.compare import choose, compare, recommend, two_best
from coclick.evaluation.judgments import Judgments
from coclick.evaluation.protocol import Trial
from coclick.evaluation.runs import read_run, run_lines
from coclick.evaluation.similar import compare_similar, read_intents, read_pairs
from coclick.evaluation.tune import tune
from coclick.graph.click_graph import ClickGraph

GRAPH = planted.graph()
JUDGMENTS = Judgments(
    {topic: topic for topic in planted.TOPICS},
    {topic: {doc: int(topic in doc) for doc in planted.docs()} for topic in planted.TOPICS},
)


def trial(name, *values):
    return Trial(name, {}, {str(i): {"nDCG@10": value} for i, value in enumerate(values)})


@pytest.mark.slow
def test_compare_judges_all_that_fits_and_recommends():
    found = compare(GRAPH, JUDGMENTS)
    judged = {one.name for one in found.board.trials}
    assert {"popularity", "clicks", "bm25", "vpcg"} <= judged
    assert found.recommended in judged
    assert found.to_dict()["recommendation"]["model"] == found.recommended
    assert set(found.to_dict()) >= {"protocol", "models", "significance", "left_out"}


def test_what_the_graph_cannot_feed_is_left_out_with_the_reason():
    _, left_out = choose(ClickGraph.from_clicks([("a", "x", 1)]))
    assert "needs" in left_out["bm25"] or "texts" in left_out["bm25"]


def test_recommended_is_what_backs_off_unless_another_is_better_beyond_chance():
    close = [trial("bm25", 0.9, 0.1, 0.5, 0.6), trial("backoff(a + b)", 0.1, 0.9, 0.5, 0.5)]
    assert recommend(close)[0] == "backoff(a + b)"
    clear = [trial("bm25", 0.9, 0.8, 0.85, 0.9), trial("backoff(a + b)", 0.1, 0.2, 0.1, 0.15)]
    assert recommend(clear)[0] == "bm25"
    assert recommend([trial("ltr", 0.9, 0.8), trial("bm25", 0.1, 0.1)])[0] == "ltr"


def test_the_two_best_single_models_are_tried_together():
    ordered = [trial(name, 0.5) for name in ("wmd", "ltr", "0.8*rw + 0.2*bm25", "theirs", "vpcg(start=doc)")]
    weighted = ("vpcg(start=doc)", "0.5*vpcg(start=doc)", "0.2*vpcg(start=doc)")
    assert two_best(ordered) == [f"backoff(wmd + {second})" for second in weighted]
    assert two_best(ordered[:3]) == []


def test_a_single_model_that_is_ahead_is_tried_with_the_next(monkeypatch):
    from coclick.evaluation import compare as comparing

    monkeypatch.setattr(comparing, "choose", lambda graph: (["clicks", "bm25", "popularity"], {}))
    found = compare(GRAPH, JUDGMENTS)
    assert {one.name for one in found.board.trials} >= {"backoff(bm25 + clicks)"}
    assert found.recommended == "backoff(bm25 + clicks)"
    perfect = {topic: [doc for doc in planted.docs() if topic in doc] for topic in planted.TOPICS}
    assert compare(GRAPH, JUDGMENTS, runs={"theirs": perfect}).recommended == "backoff(bm25 + clicks)"


def test_tuning_finds_the_weight_that_matters():
    """Popularity ranks at random here: the less of it, the better."""
    found = tune("0.1*clicks + 0.9*popularity", GRAPH, JUDGMENTS, trials=12)
    weight = dict(found.trials)
    assert found.trials[0][0] == found.best
    assert weight[found.best] >= weight[found.given]
    assert found.chosen_by + found.checked_by == len(JUDGMENTS.queries)
    assert found.to_dict()["trials"][0]["nDCG@10"] == max(weight.values())


def test_what_is_no_matter_of_quality_is_not_tuned():
    found = tune("lsi_qd(dim=3)", GRAPH, JUDGMENTS, trials=12)
    assert not any("index" in spec or "seed" in spec for spec, _ in found.trials)


def test_tuning_changes_parameters_within_their_ranges():
    found = tune("bm25", GRAPH, JUDGMENTS, trials=15, seed=1)
    assert len({spec for spec, _ in found.trials}) == len(found.trials) == 15
    assert all(spec.startswith("bm25") for spec, _ in found.trials)
    with pytest.raises(UserError, match="no parameters"):
        tune("popularity", GRAPH, JUDGMENTS, trials=3)
    with pytest.raises(UserError, match="too few"):
        tune("bm25", GRAPH, JUDGMENTS.only({"hotel", "shoe"}))


def test_runs_are_written_and_read_back(tmp_path):
    model = train("bm25", GRAPH)
    queries = {f"q{i}": topic for i, topic in enumerate(planted.TOPICS)}
    path = tmp_path / "run.trec"
    path.write_text("".join(run_lines(model, queries, 5, "bm25")))
    assert path.read_text().split("\n")[0].split()[:2] == ["q0", "Q0"]
    expected = model.search(list(queries.values()), 5)
    assert read_run(path) == {q: [doc for doc, _ in expected.hits(i)] for i, q in enumerate(queries)}


def test_ids_with_spaces_cannot_stand_in_a_run():
    model = train("popularity", ClickGraph.from_clicks([("a", "x y", 1)]))
    with pytest.raises(UserError, match="x y"):
        list(run_lines(model, {"q": "a"}, 5, "t"))


@pytest.mark.parametrize(
    "text", ["", "q Q0 d\n", "q Q0 d one 2.0 t\n", "q Q0 d 1 2.0 t\nq Q0 d 2 1.0 t\n"], ids=repr
)
def test_broken_runs(tmp_path, text):
    (tmp_path / "r").write_text(text)
    with pytest.raises(UserError):
        read_run(tmp_path / "r")


def test_equal_scores_stand_by_rank(tmp_path):
    (tmp_path / "r").write_text("q Q0 b 2 1.0 t\nq Q0 a 3 1.0 t\nq Q0 c 1 1.0 t\n")
    assert read_run(tmp_path / "r") == {"q": ["c", "b", "a"]}


def test_similar_queries_by_hand(tmp_path):
    """Intents are the planted topics: vpcg finds three of the same topic for every query."""
    lines = [f"{query}\t{planted.topic_of(doc)}" for query, doc, clicks in planted.clicks() if clicks > 1]
    (tmp_path / "intents.tsv").write_text("query\tintent\n" + "\n".join(lines))
    found = compare_similar(GRAPH, read_intents(tmp_path / "intents.tsv"), ["vpcg"], "vpcg(start=doc)")
    names = [model["name"] for model in found["models"]]
    assert names == ["vpcg(start=doc)", "vpcg"]
    assert found["models"][1]["all"] > 0.95
    [row] = [row for row in found["significance"] if row["queries"] == "all"]
    assert (row["a"], row["b"]) == ("vpcg", "vpcg(start=doc)")
    assert row["won"] + row["tied"] + row["lost"] == found["queries"]


def test_labelled_pairs_hold_in_both_directions(tmp_path):
    (tmp_path / "pairs").write_text("a\tb\tgrade\nhotel\tstay\t1\n")
    labels = read_pairs(tmp_path / "pairs")
    assert labels.grade("stay", "hotel") == labels.grade("hotel", "stay") == 1
    assert labels.grade("hotel", "pizza") == 0
    (tmp_path / "pairs").write_text("nobody\tnowhere\t1\n")
    with pytest.raises(UserError, match="none of the labelled queries"):
        compare_similar(GRAPH, read_pairs(tmp_path / "pairs"), ["vpcg"], "vpcg(start=doc)")


def test_values_are_in_the_order_of_the_queries():
    assert np.array_equal(trial("a", 0.1, 0.2).values(), [0.1, 0.2])
