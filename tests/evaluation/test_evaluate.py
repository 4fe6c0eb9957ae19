"""`evaluate`, `tune`, run files and similar queries on planted data with known answers."""

import numpy as np
import pytest

import planted
from coclick import train
from coclick.errors import UserError
from coclick.evaluation.evaluate import evaluate
from coclick.evaluation.judgments import Judgments
from coclick.evaluation.protocol import ModelResult
from coclick.evaluation.runs import read_run, run_lines
from coclick.evaluation.similar_queries import read_intents
from coclick.evaluation.tune import tune
from coclick.graph.click_graph import ClickGraph

GRAPH = planted.graph()
JUDGMENTS = Judgments(
    {topic: topic for topic in planted.TOPICS},
    {topic: {doc: int(topic in doc) for doc in planted.docs()} for topic in planted.TOPICS},
)


def result(name, *values):
    return ModelResult(name, {}, {str(i): {"nDCG@10": value} for i, value in enumerate(values)})


def test_tuning_finds_the_weight_that_matters():
    """Popularity ranks at random here: the smaller its weight, the better."""
    found = tune(GRAPH, "0.1*clicks + 0.9*popularity", qrels=JUDGMENTS, trials=12)
    weight = dict(found.trials)
    assert found.trials[0][0] == found.best
    assert weight[found.best] >= weight[found.given]
    assert found.n_selection_queries + found.n_test_queries == len(JUDGMENTS.queries)
    assert found.to_dict()["trials"][0]["nDCG@10"] == max(weight.values())


def test_parameters_without_influence_on_quality_are_not_tuned():
    found = tune(GRAPH, "lsi_qd(dim=3)", qrels=JUDGMENTS, trials=12)
    assert not any("index" in spec or "seed" in spec for spec, _ in found.trials)


def test_tuning_changes_parameters_within_their_ranges():
    found = tune(GRAPH, "bm25", qrels=JUDGMENTS, trials=15, seed=1)
    assert len({spec for spec, _ in found.trials}) == len(found.trials) == 15
    assert all(spec.startswith("bm25") for spec, _ in found.trials)
    with pytest.raises(UserError, match="no parameters"):
        tune(GRAPH, "popularity", qrels=JUDGMENTS, trials=3)
    with pytest.raises(UserError, match="too few"):
        tune(GRAPH, "bm25", qrels=JUDGMENTS.only({"hotel", "shoe"}))


def test_runs_are_written_and_read_back(tmp_path):
    model = train("bm25", GRAPH)
    queries = {f"q{i}": topic for i, topic in enumerate(planted.TOPICS)}
    path = tmp_path / "run.trec"
    path.write_text("".join(run_lines(model, queries, 5, "bm25")))
    assert path.read_text().split("\n")[0].split()[:2] == ["q0", "Q0"]
    expected = model.search(list(queries.values()), 5)
    assert read_run(path) == {q: [doc for doc, _ in expected.hits(i)] for i, q in enumerate(queries)}


def test_ids_with_spaces_are_refused_in_runs():
    model = train("popularity", ClickGraph.from_clicks([("a", "x y", 1)]))
    with pytest.raises(UserError, match="x y"):
        list(run_lines(model, {"q": "a"}, 5, "t"))


@pytest.mark.parametrize(
    "text", ["", "q Q0 d\n", "q Q0 d one 2.0 t\n", "q Q0 d 1 2.0 t\nq Q0 d 2 1.0 t\n"], ids=repr
)
def test_invalid_runs(tmp_path, text):
    (tmp_path / "r").write_text(text)
    with pytest.raises(UserError):
        read_run(tmp_path / "r")


def test_equal_scores_are_ordered_by_rank(tmp_path):
    (tmp_path / "r").write_text("q Q0 b 2 1.0 t\nq Q0 a 3 1.0 t\nq Q0 c 1 1.0 t\n")
    assert read_run(tmp_path / "r") == {"q": ["c", "b", "a"]}


def test_similar_queries_of_planted_topics(tmp_path):
    """Intents are the planted topics: vpcg finds queries of the same topic for every query."""
    lines = [f"{query}\t{planted.topic_of(doc)}" for query, doc, clicks in planted.clicks() if clicks > 1]
    (tmp_path / "intents.tsv").write_text("query\tintent\n" + "\n".join(lines))
    judgments = read_intents(tmp_path / "intents.tsv")
    board = evaluate(GRAPH, ["vpcg", "vpcg(start=doc)"], task="similar", qrels=judgments)
    assert min(result.values().mean() for result in board.results) > 0.95


def test_qrels_as_file_mapping_and_judgments(tmp_path):
    """All forms of judgments, queries and runs give the same result."""
    grades = {f"q{i}": JUDGMENTS.grades[topic] for i, topic in enumerate(planted.TOPICS)}
    texts = {f"q{i}": topic for i, topic in enumerate(planted.TOPICS)}
    lines = [f"{query}\t{doc}\t{grade}\n" for query, docs in grades.items() for doc, grade in docs.items()]
    (tmp_path / "qrels.tsv").write_text("".join(lines))
    (tmp_path / "queries.tsv").write_text("".join(f"{query}\t{text}\n" for query, text in texts.items()))
    (tmp_path / "run").write_text("q0 Q0 hotel-0 1 1.0 t\n")
    boards = [
        evaluate(GRAPH, "bm25", qrels=qrels, queries=queries, runs={"other": run})
        for qrels in (grades, tmp_path / "qrels.tsv", str(tmp_path / "qrels.tsv"))
        for queries in (texts, tmp_path / "queries.tsv")
        for run in ({"q0": ["hotel-0"]}, tmp_path / "run")
    ]
    first = boards[0].ordered()
    assert [one.name for one in first] == ["bm25", "other"]
    for board in boards:
        assert [one.by_query for one in board.ordered()] == [one.by_query for one in first]
    by_text = evaluate(GRAPH, ["bm25"], qrels=JUDGMENTS.grades)
    assert by_text.results[0].values().tolist() == first[0].values().tolist()
    assert repr(by_text) == "Leaderboard(1 model, 5 queries, best: bm25, nDCG@10 1.000)"
    with pytest.raises(UserError, match="queries without judgments"):
        evaluate(GRAPH, "bm25", queries=texts)
    with pytest.raises(UserError, match="none of the 5 judged queries"):
        evaluate(GRAPH, "bm25", qrels=grades, queries={"other": "text"})


def test_clicks_are_held_out_without_judgments():
    board = evaluate(GRAPH, "bm25", holdout="queries:0.3")
    assert board.protocol.source == "held-out clicks, queries:0.3"
    assert tune(GRAPH, "bm25", holdout="queries:0.3", trials=2).n_test_queries


def test_values_are_in_the_order_of_the_queries():
    assert np.array_equal(result("a", 0.1, 0.2).values(), [0.1, 0.2])
