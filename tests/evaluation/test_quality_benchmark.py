"""`benchmarks.quality`: what it selects, measures, stores and writes, on tiny data."""

import json
from pathlib import Path

import numpy as np
import pytest

import planted
from benchmarks import _quality_logs as logs
from benchmarks import _quality_page as page
from benchmarks import encoder, quality
from benchmarks._quality_results import best_single, difference, mean_and_interval, read_results, store
from coclick.evaluation.judgments import Judgments
from coclick.graph.click_graph import ClickGraph
from coclick.text.normalise import normalise

GRAPH = ClickGraph.from_clicks(planted.clicks(), planted.docs())


def row(values, single=True, **more):
    costs = {"AP": 0.1, "R@100": 0.2, "seconds": 1.0, "ms": 0.5, "commit": "abc1234"}
    return {"spec": "x", "single": single, "values": values, **costs, **more}


def result(log="thin5", models=None, unseen=None, left_out=None):
    models = models or {"bm25": row([0.5] * 30), "ltr": row([0.6, 0.8] * 15, single=False)}
    queries = [str(i) for i in range(len(next(iter(models.values()))["values"]))]
    return {
        "log": log,
        "docs": 10,
        "clicked_docs": 5,
        "retrieval": "all",
        "queries": queries,
        "unseen": unseen or [1] * len(queries),
        "models": models,
        "left_out": left_out or {},
    }


def test_a_model_measured_again_replaces_its_row_and_others_stay(tmp_path):
    store(tmp_path, result(left_out={"ctr": "no impressions"}))
    later = {"ltr": row([1.0] * 30, single=False), "ctr": row([0.0] * 30)}
    store(tmp_path, result(models=later, left_out={"vpcg": "too slow"}))
    found = read_results(tmp_path)["thin5"]
    assert {name: np.mean(one["values"]) for name, one in found["models"].items()} == {
        "bm25": 0.5, "ltr": 1.0, "ctr": 0.0
    }  # fmt: skip
    assert found["left_out"] == {"vpcg": "too slow"}


def test_results_for_other_queries_are_not_kept(tmp_path):
    store(tmp_path, result())
    assert set(store(tmp_path, result(models={"ltr": row([1.0] * 5)}))["models"]) == {"ltr"}


def test_differences_are_paired_and_by_group():
    # The first 20 of 30 queries are unseen: there a − b is 0.1 and 0.3 in turn, elsewhere it is −0.5.
    models = {
        "a": row([0.6, 0.8] * 10 + [0.0] * 10, single=False),
        "b": row([0.5] * 30),
        "c": row([0.1] * 30),
    }
    found = result(models=models, unseen=[1] * 20 + [0] * 10)
    every, unseen = difference(found, "a", found, "b"), difference(found, "a", found, "b", "unseen")
    assert every and unseen
    assert every.means == pytest.approx((14 / 30, 0.5))
    assert every.difference == pytest.approx(-1 / 30)
    assert unseen.difference == pytest.approx(0.2)
    assert 0.1 < unseen.interval[0] < 0.2 < unseen.interval[1] < 0.3
    assert every.interval[0] < 0 < every.interval[1] and unseen.p < 1e-6 < 0.05 < every.p
    assert difference(found, "a", found, "missing") is None
    assert best_single(found) == "b"


def test_groups_that_are_too_small_or_everything_have_no_figure():
    few = result(unseen=[1] * 19 + [0] * 11)
    assert mean_and_interval(few, "bm25", "unseen") is None
    assert mean_and_interval(result(), "bm25", "unseen") is None  # all are unseen
    assert mean_and_interval(few, "bm25") == pytest.approx((0.5, 0.5, 0.5))


def test_measures_the_given_models_and_says_which_are_left_out(monkeypatch):
    monkeypatch.setattr(encoder, "load_encoder", lambda threads: None)
    texts = {
        "seen": "hotel",
        "unseen": "hotel zzz",
        "hopeless": "zzz",
    }  # every title of the topic has the word
    grades = {query: {doc: int("hotel" in doc) for doc in planted.docs()} for query in texts}
    log = logs.QualityLog(GRAPH, Judgments(texts, grades))
    found = quality.measure("planted", log, ["bm25", "encoder", "ctr"])
    assert set(found["models"]) == {"bm25"} and found["models"]["bm25"]["single"]
    assert found["models"]["bm25"]["values"] == [1, 1, 0]
    assert "not installed" in found["left_out"]["encoder"] and "impressions" in found["left_out"]["ctr"]
    assert found["unseen"] == [0, 1, 1]
    assert found["models"]["bm25"]["seconds"] >= 0 and found["models"]["bm25"]["ms"] > 0


def test_the_recommended_model_is_chosen_without_the_judgments(monkeypatch):
    asked = {}

    class Comparison:
        recommended = "bm25"

    def compare(graph, **options):
        asked.update(options, graph=graph)
        return Comparison()

    monkeypatch.setattr(quality, "compare", compare)
    judgments = Judgments({"q": GRAPH.queries[0]}, {"q": {GRAPH.docs[0]: 1}})
    found = quality.measure("planted", logs.QualityLog(GRAPH, judgments), ["recommended", "bm25"], "9s")
    assert asked == {"graph": GRAPH, "target": None, "budget": "9s"}
    rows = found["models"]
    assert rows["recommended"]["values"] == rows["bm25"]["values"]
    assert rows["recommended"]["spec"] == "bm25" and not rows["recommended"]["single"]


def test_logs_are_selected_by_the_beginning_of_their_names(tmp_path, capsys):
    assert list(quality.select_logs("thin,small5", tmp_path)) == [
        "thin5",
        "thin10",
        "thin20",
        "thin40",
        "small5",
    ]
    assert quality.select_logs("bestbuy", tmp_path) == {}
    assert f"{tmp_path / 'bestbuy'} does not exist" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="no log is called web"):
        quality.select_logs("web", tmp_path)


@pytest.mark.parametrize("name", ["thin20", "small20"])
def test_thin_logs_have_clicks_on_few_documents(name, tmp_path, monkeypatch):
    for constant, value in (("N_QUERIES", 200), ("N_DOCS", 100), ("N_EVENTS", 6000)):
        monkeypatch.setattr(logs, constant, value)
    log = logs.SOURCES[name].load(tmp_path, tmp_path)
    clicked = int((log.train.clicks_by_doc.row_nnz() > 0).sum())
    assert len(log.train.docs) == 100 and (0 < clicked <= 20 if name == "thin20" else 20 <= clicked < 40)
    assert "days" in log.train.provides
    if name == "thin20":
        known = set(log.train.queries.to_list())
        with_clicks = {
            q for q, n in zip(log.train.queries.to_list(), log.train.clicks.row_nnz(), strict=True) if n
        }
        assert known and not with_clicks & {normalise(text) for text in log.judgments.queries.values()}


def test_the_page_has_claims_losing_rows_and_the_commit(tmp_path):
    models = {
        "bm25": row([0.5, 0.7] * 15),
        "vpcg": row([0.1, 0.2] * 15),
        "recommended": row([0.4, 0.2] * 15, single=False, spec="ltr"),
    }
    for log in ("bestbuy", "thin5"):
        store(tmp_path / "results", result(log, models, left_out={"encoder": "not installed"}))
    target = tmp_path / "quality.md"
    quality.main(["--models", "--results", str(tmp_path / "results"), "-o", str(target)])
    text = target.read_text()
    assert (
        "| bestbuy, all | *recommended:* `ltr` | `bm25`, the best single model | 0.300 | 0.600 | -0.300"
        in text
    )
    assert (
        "with hindsight: significantly better on none, significantly worse on bestbuy, thin5, of 2 logs"
        in text
    )
    assert "| `vpcg` | 0.150 (" in text
    assert "| `bm25` | **0.600** |" in text and "| *recommended* by `coclick compare` | 0.300 |" in text
    assert "all-MiniLM-L6-v2` on bestbuy, thin5: not installed" in text
    assert "Measured on commit abc1234" in text
    assert "| nDCG@10 | bestbuy | thin, mean of 1 |" in text
    assert "| best single model, with hindsight | 0.600 (`bm25`) | 0.600 (`bm25`) |" in text
    assert text.index("## Real logs") < text.index("### bestbuy") < text.index("## Simulated")


def test_figures_as_json_have_no_values_of_queries(tmp_path):
    store(tmp_path / "results", result())
    target = tmp_path / "quality.json"
    quality.main(["--models", "--results", str(tmp_path / "results"), "-o", str(target)])
    rows = json.loads(target.read_text())
    assert [(one["log"], one["model"]) for one in rows] == [("thin5", "ltr"), ("thin5", "bm25")]
    assert rows[1]["nDCG@10"] == {"all": [0.5, 0.5, 0.5], "unseen": None} and "values" not in rows[0]


def test_gains_are_paired_with_earlier_results():
    before = result(models={"ltr": row([0.5, 0.7] * 15, single=False)})
    text = page.gains({"thin5": result()}, {"thin5": before})
    assert "| thin5, all | `ltr` | `ltr` before | 0.700 | 0.600 | +0.100" in text
    assert "bm25" not in text


def test_rows_of_several_commits_are_told_apart():
    old = result("thin5", {"bm25": row([0.5] * 30), "ltr": row([0.5] * 30, commit="def5678")})
    new = result("thin10", {"bm25": row([0.5] * 30), "ltr": row([0.5] * 30, commit="def5678")})
    lines = page.commits([old, new]).splitlines()
    assert lines[2:] == ["- abc1234, thin5, thin10: `bm25`", "- def5678, thin5, thin10: `ltr`"]


def test_the_encoder_ranks_by_the_cosine_of_texts():
    class Letters:
        def encode(self, texts, normalize_embeddings):
            assert normalize_embeddings
            vectors = np.array([[text.count("a"), text.count("b")] for text in texts], np.float32)
            return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    graph = ClickGraph.from_clicks([("q", "d1", 1)], {"d1": "a", "d2": "ab", "d3": "b"})
    assert encoder.Encoder(Letters(), graph).search(["aab", "b"], 2) == [["d2", "d1"], ["d3", "d2"]]
    assert encoder.Encoder(Letters(), graph, ["d3", "d1", "unknown"]).search(["aab"], 9) == [["d1", "d3"]]


def test_the_readme_has_the_table_of_the_page():
    root = Path(__file__).resolve().parents[2]
    written = page.short_table((root / "docs" / "quality.md").read_text())
    assert page.short_table((root / "README.md").read_text()) == written
    assert page.with_short_table(f"a {page.BEGIN}old{page.END} b", "new") == f"a {page.BEGIN}new{page.END} b"
