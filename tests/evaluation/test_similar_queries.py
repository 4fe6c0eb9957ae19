"""Judgments of similar queries, and nDCG@10 of models, by hand."""

import math

import numpy as np
import pytest

from coclick import build, evaluate
from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.evaluation import similar_queries
from coclick.evaluation.inputs import load_judgments
from coclick.evaluation.similar_queries import judge_by_clicks, judge_by_pairs, rank_discounts, read_intents
from coclick.evaluation.tasks import find_task
from coclick.graph.click_graph import ClickGraph
from coclick.graph.split import hold_out_queries

SECOND, THIRD = 1 / math.log2(3), 1 / math.log2(4)  # discounts of ranks 2 and 3


def test_discounts_of_ranks_and_ties():
    """Clicks 5, 9, 5: the 9 has rank 1, the others share ranks 2 and 3. Only ranks up to 10 count."""
    rows = [[5.0, 9.0, 5.0], [1.0] * 11]
    indptr = np.array([0, 3, 14])
    columns = np.concatenate([np.arange(3), np.arange(11)]).astype(np.int32)
    found = rank_discounts(Csr(indptr, columns, np.concatenate(rows).astype(np.float32), 11))
    shared = (SECOND + THIRD) / 2
    np.testing.assert_allclose(found.row(0)[1], [shared, 1, shared], rtol=1e-6)
    of_eleven = sum(1 / math.log2(1 + rank) for rank in range(1, 11)) / 11
    np.testing.assert_allclose(found.row(1)[1], [of_eleven] * 11, rtol=1e-6)
    falling = Csr(
        np.array([0, 12]), np.arange(12, dtype=np.int32), np.arange(12, 0, -1, dtype=np.float32), 12
    )
    assert len(rank_discounts(falling).row(0)[0]) == 10, "ranks 11 and 12 count nothing"
    assert rank_discounts(Csr.empty(2, 3)).nnz == 0


# Queries are held out by a random mask, so the mask is given: `narrow` is the probe.
CLICKS = [
    ("narrow", "x", 4.0),
    ("broad", "y", 9.0),
    ("broad", "z", 5.0),
    ("broad", "x", 2.0),
    ("same", "x", 1.0),
    ("other", "w", 3.0),
]


def split_off(monkeypatch, graph, queries):
    """Hold out all clicks of these queries."""
    held_out = np.isin(graph.queries.to_list(), queries)
    monkeypatch.setattr(
        similar_queries,
        "split_clicks",
        lambda graph, rule, seed: (*hold_out_queries(graph, held_out), "queries:0.2"),
    )


def test_grades_are_directed_shares_of_explained_clicks(monkeypatch):
    """`same` has all of the clicks of `narrow` on its first document, `broad` on its third.

    In the other direction `broad` has 9 + 5 + 2 clicks, of which `narrow` and `same` explain 2 each: both get
    100 %. So the grade of `broad` for `narrow` is 50, and that of `narrow` for `broad` is 100.
    """
    graph = ClickGraph.from_clicks(CLICKS)
    split_off(monkeypatch, graph, ["narrow"])
    found = judge_by_clicks(graph)
    assert found.judgments.grades == {"narrow": {"same": 100, "broad": round(100 * THIRD)}}
    assert found.train.queries.id("narrow") == -1, "models do not know the probe"
    assert found.judgments.candidates is None
    split_off(monkeypatch, graph, ["broad"])
    found = judge_by_clicks(graph)
    assert found.judgments.grades == {"broad": {"narrow": 100, "same": 100}}


def test_what_is_left_out_is_said(monkeypatch):
    graph = ClickGraph.from_clicks(CLICKS)
    split_off(monkeypatch, graph, ["narrow", "other"])
    [note] = judge_by_clicks(graph).judgments.notes
    assert "1 query evaluated" in note
    assert "2 have no held-out clicks" in note
    assert "1 share their held-out clicks with no other query" in note
    monkeypatch.setattr(similar_queries, "MAX_QUERIES", 1)
    graph = ClickGraph.from_clicks([("a", "x", 1), ("b", "x", 1), ("c", "x", 1)])
    split_off(monkeypatch, graph, ["a", "b"])
    [note] = judge_by_clicks(graph).judgments.notes
    assert "1 query evaluated" in note and "1 are not in the random sample" in note
    monkeypatch.setattr(similar_queries, "MAX_QUERIES", 9)
    assert len(judge_by_clicks(graph).judgments.grades) == 2
    monkeypatch.setattr(similar_queries, "MAX_PAIRS", 1)
    [note] = judge_by_clicks(graph).judgments.notes
    assert "1 query evaluated" in note and "1 are not in the random sample" in note
    split_off(monkeypatch, ClickGraph.from_clicks(CLICKS), ["other"])
    with pytest.raises(UserError, match="no query that shares held-out clicks"):
        judge_by_clicks(ClickGraph.from_clicks(CLICKS))


DAYS = [  # day 1 is trained on, day 2 held out
    ("a", "x", 1), ("b", "x", 1), ("b", "y", 1), ("c", "y", 1), ("rare", "x", 1),
    ("a", "x", 2), ("a", "x", 2), ("a", "x", 2), ("a", "y", 2), ("b", "y", 2), ("c", "x", 2),
    ("late", "x", 2),
]  # fmt: skip


@pytest.fixture
def by_days(tmp_path):
    lines = [f"2026-01-0{day}T00:00:{i:02},u{i},{q},{doc},click" for i, (q, doc, day) in enumerate(DAYS)]
    (tmp_path / "events.csv").write_text("timestamp,user,query,doc,action\n" + "\n".join(lines) + "\n")
    return build([tmp_path / "events.csv"], out=tmp_path / "graph")


def test_by_time_only_held_out_clicks_are_labels(by_days):
    """On day 2, a has 3/4 of its clicks on x and 1/4 on y, b all on y, c all on x, and `late` is new.

    For a, c explains 3/4 and b 1/4, a third of that. `late` is a probe, which a and c answer alike: x is the
    first document of both. `rare` has no clicks on day 2: it is no probe and it is not judged.
    """
    data = judge_by_clicks(by_days, "time:0.5")
    assert sorted(data.train.queries) == ["a", "b", "c", "rare"]
    assert data.judgments.candidates == {"a", "b", "c"}
    assert data.judgments.grades == {
        "a": {"c": 100, "b": 33},
        "b": {"a": 100},
        "c": {"a": 100},
        "late": {"a": 100, "c": 100},
    }
    assert "3 have held-out clicks and are judged" in data.judgments.notes[1]


def test_ndcg_by_hand(by_days):
    """`cos_clicks` knows only day 1. For a it finds b (cos 1/√2) and rare (cos 1), which is not judged."""
    board = evaluate(by_days, "cos_clicks", task="similar", holdout="time:0.5")
    [result] = board.results
    assert result.rankings["a"] == ["b"], "rare is removed from the ranking, and a itself is none of it"
    values = {query: found["nDCG@10"] for query, found in result.by_query.items()}
    assert values["a"] == pytest.approx(33 / (100 + 33 * SECOND))
    assert values["late"] == 0, "an unseen query without results counts as zero"
    assert values["c"] == 0, "b is no answer to c on day 2"
    assert result.rankings["b"][:2] in (["a", "c"], ["c", "a"])
    first = {"a": 1.0, "c": SECOND}[result.rankings["b"][0]]
    assert values["b"] == pytest.approx(first)
    found = board.to_dict()
    assert found["protocol"]["task"] == "similar"
    assert found["protocol"]["ranked"] == 4
    assert found["models"][0]["measures"]["nDCG@10"] == pytest.approx(np.mean(list(values.values())))
    assert found["models"][0]["breakdown"]["query"]["unseen"]["queries"] == 1


GRAPH = ClickGraph.from_clicks(
    [("nine", "d", 9.0), ("ten", "d", 10.0), ("eleven", "d", 11.0), ("far", "e", 5.0)]
)


def test_graded_pairs_are_directed(tmp_path):
    """Only first queries are evaluated. Unknown queries are left out, and so is a query with itself."""
    text = "nine\tTen\t3\nnine\televen\t1\nnine\tnine\t4\nnine\tunknown\t4\nten\tunknown\t4\nunseen\tfar\t2\n"
    (tmp_path / "pairs.tsv").write_text(text)
    judged = judge_by_pairs(GRAPH, load_judgments(tmp_path / "pairs.tsv"))
    assert judged.grades == {"nine": {"ten": 3, "eleven": 1}, "unseen": {"far": 2}}
    used, missing = judged.notes
    assert "2 queries evaluated; left out: 1 have no similar query in the graph" in used
    assert missing.startswith("2 judged pairs left out")
    board = evaluate(GRAPH, "cos_clicks", task="similar", qrels=tmp_path / "pairs.tsv")
    [first, second] = (found["nDCG@10"] for found in board.results[0].by_query.values())
    wrong_order = (1 + 3 * SECOND) / (3 + SECOND)  # all cosines are 1: ties are in the order of the graph
    assert first == pytest.approx(wrong_order if board.results[0].rankings["nine"][0] == "eleven" else 1)
    assert second == 0
    (tmp_path / "pairs.tsv").write_text("nine\tunknown\t1\n")
    with pytest.raises(UserError, match="none of the judged queries has a similar query"):
        find_task("similar").load(GRAPH, tmp_path / "pairs.tsv", None, None)


def test_many_pairs_are_sampled(monkeypatch):
    monkeypatch.setattr(similar_queries, "MAX_QUERIES", 1)
    judged = judge_by_pairs(GRAPH, load_judgments({"nine": {"ten": 1}, "ten": {"nine": 1}}))
    assert len(judged.grades) == 1
    assert "1 are not in the random sample" in judged.notes[0]


def test_intents(tmp_path):
    (tmp_path / "i.tsv").write_text(
        "query\tintent\tkind\nNine\tnumber\thead\nten\tnumber\ttail\nfar\tplace\thead\n"
    )
    judged = judge_by_pairs(GRAPH, read_intents(tmp_path / "i.tsv"))
    assert judged.grades == {"nine": {"ten": 1}, "ten": {"nine": 1}}
    for text, what in (("nine number\n", "no tab"), ("", "no intents")):
        (tmp_path / "i.tsv").write_text(text)
        with pytest.raises(UserError, match=what):
            read_intents(tmp_path / "i.tsv")


def test_the_task_needs_judgments_for_its_queries():
    with pytest.raises(UserError, match="queries without judgments"):
        find_task("similar").load(GRAPH, None, {"q": "nine"}, None)
    with pytest.raises(UserError, match="cannot find similar queries"):
        evaluate(GRAPH, "popularity", task="similar", qrels={"nine": {"ten": 1}})
