"""Wrong arguments of the public functions: every one gets a sentence, none a traceback."""

import pandas as pd
import pytest

import coclick
import planted
from coclick import ClickGraph, UserError

EVENTS = pd.DataFrame({"query": ["a", "a"], "doc": ["d", "e"], "action": ["impression", "click"]})
IDS = {f"q{i:04}": {"hotel-0": 1} for i in range(30)}


@pytest.fixture(scope="module")
def graph():
    return planted.graph()


@pytest.fixture(scope="module")
def model(graph):
    return coclick.train("bm25", graph)


SILENT = [
    (lambda m, g: ClickGraph.from_clicks(EVENTS), "a log of events, not of clicks"),
    (lambda m, g: m.search("hotel", allow=[5]), "a document id must be a text, not 5"),
    (lambda m, g: m.search("hotel", block=5), "a document id must be a text, not 5"),
    (lambda m, g: m.score_texts("hotel", "Macys"), "docs must be a list of texts, not one text"),
    (lambda m, g: m.search(EVENTS), "queries must be a string or a list of strings, not DataFrame"),
    (lambda m, g: m.search({"hotel": 1}), "queries must be a string or a list of strings, not dict"),
    (lambda m, g: m.search(b"hotel"), "queries must be a string or a list of strings, not bytes"),
    (lambda m, g: m.search("hotel", allow=EVENTS), "document ids must be a string or a list of strings"),
    (
        lambda m, g: coclick.evaluate(g, ["bm25"], qrels=IDS),
        "none of the 30 judged queries is in the graph, and they look like ids (q0000, …)",
    ),
]


@pytest.mark.parametrize(("wrong", "sentence"), SILENT)
def test_a_wrong_argument_gets_a_sentence(wrong, sentence, model, graph):
    with pytest.raises(UserError) as caught:
        wrong(model, graph)
    assert sentence in str(caught.value)


def test_one_id_may_be_allowed_or_blocked(model):
    best = model.search("hotel").hits()[0][0]
    assert [doc for doc, _ in model.search("hotel", allow=best)] == [best]
    assert best not in dict(model.search("hotel", block=best))
    assert model.search("hotel", block=[]).hits() == model.search("hotel").hits()


def test_queries_may_be_a_column(model):
    expected = model.search(["hotel", "flu"]).hits()
    assert model.search(pd.Series(["hotel", "flu"])).hits() == expected
    assert model.search(pytest.importorskip("polars").Series(["hotel", "flu"])).hits() == expected


def test_judged_queries_named_by_text_need_no_file(graph):
    board = coclick.evaluate(graph, "bm25", qrels={"hotel": {"hotel-0": 1}, "x1": {"hotel-0": 1}})
    assert board.results[0].values().shape == (2,)
