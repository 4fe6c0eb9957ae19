"""Commands that evaluate models: JSON as in docs/json.md, files written, errors."""

import json

import pytest

import planted

MODELS = ("--models", "bm25", "--models", "vpcg", "--models", "0.8*clicks + 0.2*bm25")


@pytest.fixture
def judged(tmp_path):
    """Options with judgments: each topic is a query, its own documents are relevant."""
    (tmp_path / "q.tsv").write_text(
        "id\ttext\n" + "".join(f"q{i}\t{t}\n" for i, t in enumerate(planted.TOPICS))
    )
    rows = [
        f"q{i} 0 {doc} {3 * (planted.topic_of(doc) == topic)}\n"
        for i, topic in enumerate(planted.TOPICS)
        for doc in planted.docs()
    ]
    (tmp_path / "r.trec").write_text("".join(rows))
    return "--queries", tmp_path / "q.tsv", "--qrels", tmp_path / "r.trec"


def test_evaluate(run, graph, judged):
    done = run("evaluate", graph, *judged, *MODELS, "--json", "-")
    assert done.code == 0
    found = json.loads(done.out)
    assert found["protocol"]["queries"] == 5
    assert found["protocol"]["gain"] == "linear"
    assert [model["name"] for model in found["models"]] == ["bm25", "vpcg", "0.8*clicks + 0.2*bm25"]
    for model in found["models"]:
        assert model["measures"].keys() >= {
            "nDCG@1",
            "nDCG@3",
            "nDCG@5",
            "nDCG@10",
            "AP",
            "RR",
            "P@10",
            "R@100",
        }
        assert model["measures"]["nDCG@10"] == pytest.approx(1), (
            "all relevant documents of a topic come first"
        )
        assert set(model["breakdown"]) == {"query", "clicks", "words", "document"}
    assert len(found["significance"]) == 2 * 3, "three pairs, two measures"
    for row in found["significance"]:
        assert row.keys() >= {"a", "b", "measure", "difference", "p_t", "p_sign", "p_holm"}


def test_files_are_written_and_the_table_is_printed(run, graph, judged, tmp_path):
    out, page = tmp_path / "out.json", tmp_path / "out.html"
    done = run("evaluate", graph, *judged, *MODELS, "--json", out, "--html", page)
    assert done.code == 0
    assert "nDCG@10" in done.out
    assert json.loads(out.read_text())["models"]
    assert page.read_text().startswith("<!doctype html>")


def test_clicks_are_held_out_without_judgments(run, graph):
    done = run("evaluate", graph, "--holdout", "queries:0.3", "--models", "bm25", "--json", "-")
    found = json.loads(done.out)
    assert found["protocol"]["judged_by"] == "held-out clicks, queries:0.3"
    assert list(found["models"][0]["breakdown"]["query"]) == ["unseen"]


def test_tune(run, graph, judged):
    done = run("tune", "0.5*clicks + 0.5*bm25", graph, *judged, "--trials", 3, "--json", "-")
    found = json.loads(done.out)
    assert found["given"] == "0.5*clicks + 0.5*bm25"
    assert len(found["trials"]) == 3
    assert found["check"].keys() == {"queries", "given", "best", "p_t"}


def test_tune_with_cross_validation(run, graph, judged):
    options = (*judged, "--trials", 2, "--cross-validate")
    found = json.loads(run("tune", "0.5*clicks + 0.5*bm25", graph, *options, "--json", "-").out)
    assert len(found["chosen"]) == 2 and len(found["trials"]) == 4
    assert found["check"]["queries"] > found["queries"]
    shown = " ".join(run("tune", "0.5*clicks + 0.5*bm25", graph, *options).out.split())
    assert "chosen by each half: {}, and {}".format(*found["chosen"]) in shown
    assert "tested with the choice of the other half" in shown


def test_models_lists_presets(run):
    rows = {row["name"]: row["presets"] for row in json.loads(run("models", "--json").out)}
    assert rows["vpcg"] == {"paper": "Jiang et al. 2016"}
    assert rows["popularity"] == {}
    assert "presets" in run("models").out


def test_a_written_run_can_be_evaluated(run, graph, model, judged, tmp_path):
    path = tmp_path / "run.trec"
    assert run("run", model, *judged[:2], "-o", path, "-k", 10).code == 0
    assert all(len(line.split()) == 6 for line in path.read_text().splitlines())
    again = run("run", model, *judged[:2], "-o", path)
    assert (again.code, "exists" in again.err) == (2, True)
    options = ("--models", model, "--run", f"mine={path}", "--json", "-")
    found = json.loads(run("evaluate", graph, *judged, *options).out)
    saved, mine = sorted(found["models"], key=lambda model: model["name"], reverse=True)
    assert (saved["name"], mine["name"]) == ("vpcg(own_weight=0)", "mine")
    assert saved["measures"]["nDCG@10"] == mine["measures"]["nDCG@10"]


def test_similar_queries(run, graph, tmp_path):
    rows = {query: planted.topic_of(doc) for query, doc, clicks in planted.clicks() if clicks > 1}
    (tmp_path / "i.tsv").write_text("".join(f"{query}\t{topic}\n" for query, topic in rows.items()))
    options = ("--intents", tmp_path / "i.tsv", "--models", "vpcg", "--json", "-")
    found = json.loads(run("evaluate-similar", graph, *options).out)
    assert found["protocol"]["task"] == "similar"
    assert found["protocol"]["judged_by"] == "judgments"
    assert [model["name"] for model in found["models"]] == ["cos_words", "vpcg"]
    assert all(0 < model["measures"]["nDCG@10"] <= 1 for model in found["models"])
    printed = run("evaluate-similar", graph, "--models", "vpcg", "--holdout", "queries:0.3")
    assert printed.code == 0 and "judged by held-out clicks, queries:0.3" in printed.out
    both = run("evaluate-similar", graph, "--intents", tmp_path / "i.tsv", "--labels", tmp_path / "i.tsv")
    assert (both.code, "either --intents or --labels" in both.err) == (2, True)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--models", "bm52"), "did you mean 'bm25'"),
        (("--models", "bm25(kk=1)"), "no parameter"),
        (("--models", "bm25 + "), "cannot read the summand"),
        (("--models", "bm25", "--candidates", "some"), "'all', 'judged'"),
        (("--models", "bm25", "--gain", "none"), "'linear', 'exponential'"),
        (("--models", "bm25", "--run", "x"), "NAME=FILE"),
        (("--models", "bm25", "--run", "x=nowhere"), "no such file"),
        (("--models", "bm25", "--json", "nowhere/x.json"), "no such directory"),
        ((), "no model is given"),
    ],
)
def test_mistakes(run, graph, judged, options, what):
    done = run("evaluate", graph, *judged, *options)
    assert done.code == 2
    assert what in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ("q9\thotel-0\t1\nq8\thotel-0\t1\n", "none of the 2 judged queries"),
        ("q0\tnowhere\t1\n", "none of the 1 judged documents"),
        ("q0\thotel-0\t-1\n", "out of range"),
        ("q0\thotel-0\t1\nq0\thotel-0\t2\n", "two grades"),
        ("q0\thotel-0\t0\n", "no judged document is relevant"),
    ],
)
def test_unusable_judgments(run, graph, judged, tmp_path, rows, what):
    (tmp_path / "bad").write_text(rows)
    done = run("evaluate", graph, *judged[:2], "--qrels", tmp_path / "bad", "--models", "bm25")
    assert done.code == 2
    assert what in done.err
