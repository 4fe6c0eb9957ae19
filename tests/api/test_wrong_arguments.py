"""Wrong arguments of the public functions: every one gets a sentence, none a traceback."""

# mypy: disable-error-code="arg-type, list-item"

import pandas as pd
import pytest

import coclick
import planted
from coclick import ClickGraph, UserError
from coclick.evaluation.tune import TuningResult
from coclick.recommendation.comparison import BudgetUse, Comparison
from coclick.recommendation.properties import Properties

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


QRELS = {"hotel": {"hotel-0": 1}}
ROWS = [("ny", "d1", 3)]
GRAPH = "the first argument must be a ClickGraph or its directory, not None"
EVALUATE = [
    (lambda m, g: coclick.evaluate("/none", "bm25"), "no such directory"),
    (lambda m, g: coclick.evaluate(None, "bm25"), GRAPH),
    (lambda m, g: coclick.compare(None), GRAPH),
    (lambda m, g: coclick.tune(None, "bm25"), GRAPH),
    (lambda m, g: coclick.evaluate("bm25", g), "the graph is the first argument"),
    (lambda m, g: coclick.compare(["bm25"], g), "the graph is the first argument"),
    (lambda m, g: coclick.tune("bm25", g), "models must be specifications, directories or models"),
    (lambda m, g: coclick.evaluate(g, None), "models must be specifications, directories or models"),
    (lambda m, g: coclick.evaluate(g, [5]), "models must be specifications, directories or models"),
    (lambda m, g: coclick.evaluate(g, [m], holdout="queries:0.2"), "bm25 was trained on the clicks that"),
    (lambda m, g: coclick.evaluate(g, "bm25", qrels=5), "qrels must be a file, a table or a mapping"),
    (lambda m, g: coclick.evaluate(g, "bm25", qrels={"hotel": ["d"]}), "the judgments of 'hotel' must be"),
    (lambda m, g: coclick.evaluate(g, "bm25", qrels={"hotel": {"d": "x"}}), "grade 'x' is not a number"),
    (lambda m, g: coclick.evaluate(g, "bm25", qrels=EVENTS), "a table of judgments needs columns"),
    (lambda m, g: coclick.evaluate(g, "bm25", qrels=QRELS, queries=5), "queries must be a file or a mapping"),
    (lambda m, g: coclick.evaluate(g, "bm25", holdout=0.2), "holdout must be a text such as 'queries:0.2'"),
    (lambda m, g: coclick.evaluate(g, "bm25", qrels=QRELS, runs=["x"]), "runs must be a mapping"),
    (lambda m, g: coclick.evaluate(g, "bm25", depth=0), "depth must be a whole number of at least 1"),
    (lambda m, g: coclick.tune(g, "bm25", trials="x"), "trials must be a whole number of at least 1"),
]
MODELS = [
    (lambda m, g: coclick.export("/none", "qdrant", "x"), "no such directory"),
    (lambda m, g: coclick.export(None, "qdrant", "x"), "model must be a trained model or its directory"),
    (lambda m, g: coclick.export(m, "qdrant", None), "path must be a path, not None"),
    (lambda m, g: coclick.serve(m), "models must be directories of saved models"),
    (lambda m, g: coclick.serve(None), "models must be directories of saved models, not None"),
    (lambda m, g: m.save(None), "path must be a path, not None"),
    (lambda m, g: coclick.open_model(None), "path must be a path, not None"),
    (lambda m, g: m.add(None), "docs must be a mapping from id to text, a table or a file, not None"),
    (lambda m, g: m.add([("n1", "x")]), "docs must be a mapping from id to text, a table or a file"),
    (lambda m, g: m.add({5: "x"}), "a document id must be a text, not 5"),
    (lambda m, g: m.explain("hotel", "hotel-0", clicks="x"), "clicks must be a whole number"),
    (lambda m, g: m.explain("hotel", "hotel-0", clicks=-1), "clicks must be a whole number of at least 0"),
    (lambda m, g: m.search("hotel").hits(99), "no query 99: the run has 1, numbered from 0"),
    (lambda m, g: coclick.train("rw", g).embed_queries("hotel"), "rw cannot export vectors"),
    (lambda m, g: coclick.train("rw", g).embed_docs("hotel-0"), "rw cannot export vectors"),
    (lambda m, g: coclick.create("vpcg", max_term=5), "did you mean 'max_terms'"),
    (lambda m, g: coclick.create("vpcg", max_terms="x"), "the parameter max_terms cannot be 'x'"),
    (lambda m, g: coclick.create("vpcg(max_terms=5)", max_terms=5), "'max_terms' is given twice"),
    (lambda m, g: coclick.train(m, g, k1=5), "parameters go with a specification"),
    (lambda m, g: coclick.train("bm25", g, progress=True), "progress must be a function, not True"),
]
GRAPHS = [
    (lambda m, g: coclick.build(None, None, "x"), "no log file was given"),
    (lambda m, g: coclick.build(5, None, "x"), "a log cannot be 5"),
    (lambda m, g: coclick.build([5], None, "x"), "a log or a file of documents cannot be int"),
    (lambda m, g: coclick.build("f", None, "x", min_clicks="x"), "--min-clicks must be 0 or more"),
    (lambda m, g: coclick.build("f", None, "x", min_users="x"), "--min-users 1 or more"),
    (lambda m, g: coclick.build("f", None, "x", actions=["click"]), "actions must be a mapping"),
    (lambda m, g: coclick.build("f", None, "x", threads="x"), "threads must be a whole number"),
    (lambda m, g: coclick.build("f", None, "x", threads=-1), "threads must be a whole number of at least 1"),
    (lambda m, g: coclick.build("f", None, "x", progress=True), "progress must be a function"),
    (lambda m, g: coclick.build("f", None, "x", columns="query,doc"), "columns=['query', 'doc']"),
    (lambda m, g: coclick.build("f", None, None), "out must be a path, not None"),
    (lambda m, g: g.save(None), "path must be a path, not None"),
    (lambda m, g: ClickGraph.open(None), "path must be a path, not None"),
    (lambda m, g: ClickGraph.from_clicks(ROWS, docs=["d"]), "docs must be a mapping from id to title"),
    (lambda m, g: ClickGraph.from_clicks(ROWS, docs="docs.tsv"), "files are read by coclick.build"),
    (lambda m, g: ClickGraph.from_clicks(ROWS, docs={"d": None}), "the document 'd' must be a text or"),
    (
        lambda m, g: ClickGraph.from_clicks(ROWS, docs={"d": {"title": 5}}),
        "the field 'title' of the document",
    ),
    (lambda m, g: ClickGraph.from_clicks(ROWS, docs={5: "x"}), "a document id must be a text, not 5"),
    (lambda m, g: g.split("pairs", "x"), "fraction must be a number, not 'x'"),
    (lambda m, g: g.title(10_000), "no document has the row 10000"),
]


TEXTS = [
    (lambda m, g: ClickGraph.from_clicks([("a", "b")]), "row 1 has 2 values; each row must be (query, doc"),
    (lambda m, g: ClickGraph.from_clicks([*ROWS, ("a", None, 1)]), "row 2: the document is None"),
    (lambda m, g: ClickGraph.from_clicks([("a", 5, 1)]), "row 1: the document must be a text, not 5"),
    (lambda m, g: ClickGraph.from_clicks([("a", "b", "x")]), "row 1: the number of clicks is 'x'"),
    (lambda m, g: ClickGraph.from_clicks([1, 2]), "row 1 is 1; each row must be (query, document, clicks)"),
    (
        lambda m, g: ClickGraph.from_clicks(pd.DataFrame({"suche": ["a"], "doc": ["d"]})),
        "rename the column that holds the queries: frame.rename(columns={'suche': 'query'})",
    ),
    (lambda m, g: m.score("hotel", [["a"], ["b"]]), "1 query but 2 lists of candidates"),
    (lambda m, g: m.score(["a", "b"], [["a"]]), "2 queries but 1 list of candidates"),
    (lambda m, g: m.score("hotel", None), "candidates must be a list of document ids for each query"),
    (lambda m, g: coclick.create(type(m)), '"bm25" or BM25()'),
    (
        lambda m, g: coclick.create("vpcg(iterations=0)"),
        "use a whole number from 1 to 10000, converge or validate",
    ),
    (lambda m, g: coclick.create("bm25(k1=-1)"), "use a number from 0 to 1000000"),
    (lambda m, g: coclick.export(m, "sphinx", "x"), "unknown engine 'sphinx'"),
]


@pytest.mark.parametrize(("wrong", "sentence"), [*SILENT, *EVALUATE, *MODELS, *GRAPHS, *TEXTS])
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


def test_models_and_judgments_may_be_given_in_memory(graph, model, tmp_path):
    expected = coclick.evaluate(graph, "bm25", qrels=QRELS).results[0].by_query
    assert coclick.evaluate(graph, [model], qrels=QRELS).results[0].by_query == expected
    assert coclick.evaluate(graph, coclick.create("bm25"), qrels=QRELS).results[0].by_query == expected
    frame = pd.DataFrame({"query": ["hotel"], "doc": ["hotel-0"], "grade": [1]})
    assert coclick.evaluate(graph, "bm25", qrels=frame).results[0].by_query == expected
    graph.save(tmp_path / "graph")
    assert coclick.evaluate(tmp_path / "graph", "bm25", qrels=QRELS).results[0].by_query == expected
    scaled = coclick.evaluate(graph, "bm25", qrels={"hotel": {"hotel-0": 0.5}})
    assert scaled.judgments.grades == {"hotel": {"hotel-0": 2}}


def test_parameters_may_be_given_by_name(graph):
    assert str(coclick.create("vpcg(start=doc)", max_terms=5)) == "vpcg(start=doc,max_terms=5)"
    assert str(coclick.train("bm25", graph, k1=2)) == str(coclick.create("bm25(k1=2)"))


def test_a_title_is_found_by_row_or_id(graph):
    assert graph.title("hotel-0") == graph.title(graph.docs.id("hotel-0")) != ""
    assert graph.title("nothing") == ""


def test_results_of_evaluation_have_a_short_repr(graph):
    board = coclick.evaluate(graph, "bm25", qrels=QRELS)
    assert repr(board).startswith("Leaderboard(1 model, 1 query, best: bm25, nDCG@10 ")
    assert repr(board.results[0]).startswith("ModelResult(bm25, 1 query, nDCG@10 ")
    properties = {"bm25": Properties(0.1, ("serve",), takes_new_documents=True, explains=True)}
    assert (
        repr(
            Comparison(
                {"judgments": board}, {"judgments": 1.0}, {"ltr": "slow"}, properties, None, BudgetUse(180)
            )
        )
        == "Comparison(1 model, recommended: bm25, 1 left out)"
    )
    tuned = TuningResult("bm25", "bm25(k1=2)", [("bm25(k1=2)", 0.5)], 2, 2, 0.25, 0.5, 0.03, ("bm25(k1=2)",))
    assert repr(tuned) == "TuningResult(1 trial, best: bm25(k1=2), nDCG@10 0.250 → 0.500, p 0.03)"
