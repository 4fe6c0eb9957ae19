"""`compare --task similar` on planted data."""

import planted
from coclick import compare
from coclick.evaluation.report import read_report
from coclick.evaluation.similar_task import SIMILAR
from coclick.models.registry import create
from coclick.recommendation.candidates import select_models

GRAPH = planted.graph()


def test_models_that_find_similar_queries_are_compared():
    chosen, left_out = select_models(GRAPH, SIMILAR)
    assert {str(create(spec)) for spec in SIMILAR.variants} <= set(chosen)
    assert {"cos_words", "cos_clicks", "rw", "neighbours", "vpcg", "pls", "lsa"} <= set(chosen)
    assert "cannot find similar queries" in left_out["bm25"]
    assert not {"bm25", "ltr", "popularity"} & set(chosen)


def test_the_best_model_is_recommended(tmp_path):
    """Unseen queries have no clicks: `cos_clicks` finds nothing for them, `neighbours` uses their words."""
    only = ["cos_clicks", "neighbours", "cos_words"]
    found = compare(GRAPH, task="similar", holdout="queries:0.3", only=only)
    assert found.recommended in ("neighbours", "cos_words")
    measured = {result.name: result.values().mean() for result in found.leaderboard.results}
    assert measured["cos_clicks"] == 0 < measured["neighbours"]
    stats = found.to_dict()
    assert stats["protocol"]["task"] == "similar"
    assert any("evaluated; left out" in note for note in stats["protocol"]["warnings"])
    found.write_html(tmp_path / "report.html")
    assert read_report(tmp_path / "report.html")["recommendation"]["model"] == found.recommended
