"""The command that compares models: lines and tables, the recommended model saved, Ctrl-C."""

import json
import signal

import pytest

import planted
from coclick import open_model
from coclick.models.registry import model_class

ONLY = ("--only", "clicks", "--only", "bm25", "--only", "pls(dim=2)")


@pytest.fixture
def judged(tmp_path):
    """Options with judgments by the text of the query: each topic's own documents are relevant."""
    rows = [
        f"{topic}\t{doc}\t{int(planted.topic_of(doc) == topic)}\n"
        for topic in planted.TOPICS
        for doc in planted.docs()
    ]
    (tmp_path / "qrels.tsv").write_text("".join(rows))
    return "--qrels", tmp_path / "qrels.tsv"


def test_a_line_for_each_model_the_table_and_the_command(run, graph, judged):
    done = run("compare", graph, *judged, *ONLY)
    assert done.code == 0
    lines = [line.split(" by judgments")[0] for line in done.err.splitlines() if "trained in" in line]
    assert sorted(lines) == ["bm25", "clicks", "pls(dim=2)"]
    shown = " ".join(done.out.split())
    for text in ("5 queries (judgments)", "training", "exports to", "new docs", "explains", "8 engines"):
        assert text in shown
    assert "recommended: " in shown and "it ranks best" in shown
    assert "what quality costs" not in shown or " of training and " in shown
    assert 'coclick train "' in shown


def test_the_recommended_model_is_trained_on_all_clicks(run, graph, judged, tmp_path):
    out = tmp_path / "model"
    done = run("compare", graph, "--holdout", "queries:0.3", "--only", "bm25", "-o", out)
    assert done.code == 0 and "coclick train" not in done.out
    model = open_model(out)
    assert str(model) == "bm25"
    assert model.trained_on.clicks.data.sum() == planted.graph().clicks.data.sum()
    again = run("compare", graph, *judged, "--only", "bm25", "-o", out)
    assert again.code == 2 and "trained in" not in again.err, "refused before anything is trained"
    assert run("compare", graph, *judged, "--only", "bm25", "-o", out, "--force").code == 0


def test_json_has_costs_offers_and_the_target(run, graph, judged):
    found = json.loads(run("compare", graph, *judged, *ONLY, "--target", "postgres", "--json", "-").out)
    assert found["recommendation"].keys() == {"model", "reason", "target", "base", "steps", "prices"}
    assert found["recommendation"]["target"] == "pgvector"
    assert found["budget"].keys() == {"seconds", "used", "left_out", "enough", "complete"}
    assert found["budget"]["seconds"] == 180 and found["budget"]["complete"]
    [split] = found["splits"]
    assert split == {"name": "judgments", "weight": 1, "judged_by": "judgments", "queries": 5, "models": 3}
    for model in found["models"]:
        assert model.keys() >= {"milliseconds", "targets", "takes_new_documents", "explains", "splits"}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--budget", "soon"), "cannot read the budget 'soon'"),
        (("--target", "lucene"), "unknown target 'lucene'"),
        (("--only", "bm52"), "no model is called 'bm52'"),
        (("--skip", "bm52"), "no model is called 'bm52'"),
    ],
)
def test_wrong_options(run, graph, options, told):
    done = run("compare", graph, *options)
    assert done.code == 2 and told in done.err


def test_the_table_is_printed_even_if_no_model_suits_the_target(run, graph, judged):
    done = run("compare", graph, *judged, "--only", "ltr(parts=clicks,n_trees=2)", "--target", "vespa")
    assert done.code == 2
    assert "ltr" in done.out and "recommended" not in done.out
    assert "can be used with vespa" in done.err


def test_ctrl_c_prints_the_results_so_far(run, graph, judged, monkeypatch):
    """The second model is interrupted while it is trained."""
    monkeypatch.setattr(model_class("bm25"), "_fit", lambda *_: signal.raise_signal(signal.SIGINT))
    done = run("compare", graph, *judged, "--only", "clicks", "--only", "bm25")
    assert done.code == 130
    assert "interrupted: these are the results so far" in done.out
    assert "recommended: clicks" in done.out
    assert "interrupted" in done.err


@pytest.mark.slow
def test_compare_recommends_a_model_and_prints_how_to_train_it(run, graph, judged):
    done = run("compare", graph, *judged)
    assert done.code == 0
    assert "recommended:" in done.out
    assert "coclick train" in done.out
