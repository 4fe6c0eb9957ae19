"""Calibrated sums: by hand from maps and weights, in explanations, saved and damaged."""

import json
from typing import Any

import numpy as np
import pytest

import planted
from coclick import open_model, train
from coclick.errors import ArtefactError
from coclick.models.combination.calibration import Calibration

TWO = Calibration(
    knots=[[1.0, 3.0], [10.0]],
    heights=[[0.5, 2.5], [4.0]],
    weights=[[[1.0, 0.25], [0.5, 1.0]], [[2.0, 3.0], [4.0, 5.0]]],
    base=[[0.0, 0.75], [0.125, 0.0]],
)


def test_a_map_is_linear_between_knots_and_goes_on():
    """0.5 per 1 up to 1, then 1 per 1; the other map has 0.4 per 1."""
    np.testing.assert_allclose(TWO.log_odds(0, np.array([0, 0.5, 1, 2, 3, 5])), [0, 0.25, 0.5, 1.5, 2.5, 4.5])
    np.testing.assert_allclose(TWO.log_odds(1, np.array([0, 5, 10, 20])), [0, 2, 4, 8])
    assert TWO.log_odds(0, np.array([-3.0])) == 0


def test_weights_depend_on_the_clicks_of_query_and_document():
    scores = [np.array([2.0, 2.0, 0.0, 0.0]), np.array([5.0, 5.0, 0.0, 10.0])]
    clicked = np.array([False, True, True, True])
    # maps: 1.5, 1.5, 0, 0 and 2, 2, 0, 4
    unseen = [1.5 + 0.25 * 2, 0.75 + 0.5 * 1.5 + 2, 0, 0.75 + 4]
    seen = [0.125 + 2 * 1.5 + 3 * 2, 4 * 1.5 + 5 * 2, 0, 5 * 4]
    np.testing.assert_allclose(TWO.total(scores, False, clicked), unseen)
    np.testing.assert_allclose(TWO.total(scores, True, clicked), seen)
    base, added = TWO.contributions(scores, False, clicked)
    np.testing.assert_allclose(base, [0, 0.75, 0, 0.75])
    np.testing.assert_allclose(added, [[1.5, 0.75, 0, 0], [0.5, 2, 0, 4]])


@pytest.mark.parametrize(
    ("change", "defect"),
    [
        ({"knots": [[1.0, 1.0], [10.0]]}, "does not rise"),
        ({"knots": [[0.0, 1.0], [10.0]]}, "does not rise"),
        ({"heights": [[0.5, 0.25], [4.0]]}, "does not rise"),
        ({"heights": [[0.5, float("nan")], [4.0]]}, "does not rise"),
        ({"heights": [[0.5], [4.0]]}, "do not match"),
        ({"knots": [[], [10.0]], "heights": [[], [4.0]]}, "do not match"),
        ({"knots": [[1.0, 3.0]]}, "not lists of numbers"),
        ({"knots": 7}, "not lists of numbers"),
        ({"weights": [[[1.0], [0.5]], [[2.0], [4.0]]]}, "not one weight for each part"),
        ({"weights": TWO.weights[:1]}, "not one row"),
        ({"weights": [*TWO.weights[:1], TWO.weights[0][:1]]}, "not one row"),
        ({"base": [[0.0], [0.0, 0.0]]}, "not one row"),
        ({"base": [[0.0, -1.0], [0.0, 0.0]]}, "not a number"),
        ({"base": [[0.0, "1"], [0.0, 0.0]]}, "not a number"),
        ({"base": [[0.0, None], [0.0, 0.0]]}, "not a number"),
        ({"base": [[0.0, float("inf")], [0.0, 0.0]]}, "not a number"),
    ],
)
def test_damaged_numbers_are_refused(change, defect):
    assert defect in Calibration(**{**vars(TWO), **change}).find_defect()


@pytest.fixture(scope="module")
def model() -> Any:
    return train("backoff(clicks + vpcg + bm25)", planted.graph())


def test_scores_are_those_of_the_formula(model):
    """From the scores of the parts, the clicks of the graph, and the learned numbers."""
    learned, graph = model.calibration_, model.graph_
    docs = list(graph.docs)
    clicked = [len(graph.clicks_by_doc.row(row)[0]) > 0 for row in range(len(docs))]
    assert {*clicked} == {False, True}
    for query, seen in (("hotel", graph.queries.id("hotel") >= 0), ("hotel unheard of", False)):
        by_part = [part.score([query], [docs])[0].tolist() for part in model.parts_]
        expected = []
        for d in range(len(docs)):
            total = 0.0
            for i, scores in enumerate(by_part):
                knots, heights = [0.0, *learned.knots[i]], [0.0, *learned.heights[i]]
                at = max(0, min(len(knots) - 2, sum(scores[d] >= knot for knot in knots) - 1))
                slope = (heights[at + 1] - heights[at]) / (knots[at + 1] - knots[at])
                total += learned.weights[seen][clicked[d]][i] * (
                    heights[at] + slope * (scores[d] - knots[at])
                )
            expected.append(total + learned.base[seen][clicked[d]] if total else 0.0)
        np.testing.assert_allclose(model.score([query], [docs])[0], expected, rtol=1e-5)
        np.testing.assert_allclose(model.score([query], [docs[3:4]])[0], expected[3:4], rtol=1e-5)


def test_explanations_have_weights_and_add_up(model):
    [(best, score), *_] = model.search("hotel").hits()
    why = model.explain("hotel", best)
    assert why.score == pytest.approx(score, rel=1e-5)
    assert sum(part.value for part in why.parts) == pytest.approx(why.score)
    models = [part for part in why.parts if part.kind == "model"]
    for name, part in zip(model.part_specs, models, strict=True):
        label, weight, calibrated = part.label.replace(" = ", " × ").split(" × ")
        assert label == name and float(weight) * float(calibrated) == pytest.approx(part.value, rel=1e-3)
        if part.parts:
            assert sum(one.value for one in part.parts) == pytest.approx(part.value, rel=1e-4)


def test_a_base_is_part_of_the_explanation(model):
    base = [[0.0, 0.75], [0.25, 0.5]]
    changed = Calibration(**{**vars(model.calibration_), "base": base})
    model = type(model)(model.parts).assemble(model.graph_, model.parts_)
    model.calibration_ = changed
    why = model.explain("hotel unheard of", model.search("hotel unheard of", 1).hits()[0][0])
    assert (why.parts[-1].kind, why.parts[-1].value) == ("base", 0.75)
    assert why.parts[-1].label == "query without clicks, document with clicks"
    assert model.explain("zzzz", "hotel-1").score == 0, "no part finds it"


def test_texts_are_documents_without_clicks():
    model: Any = train("backoff(vpcg + bm25)", planted.graph())
    learned = Calibration([[1.0]] * 2, [[1.0]] * 2, [[[2.0, 3.0], [9.0, 9.0]]] * 2, [[0.5, 9.0]] * 2)
    model.calibration_ = learned
    texts = ["hotel", "nothing at all"]
    one, other = (part.score_texts("hotel", texts) for part in model.parts_)
    expected = np.where(one + other > 0, 0.5 + 2 * one + 3 * other, 0)
    np.testing.assert_allclose(model.score_texts("hotel", texts), expected, rtol=1e-5)
    larger = model.add({"new": "hotel"})
    assert larger.calibration_ is learned
    assert larger.score(["hotel"], [["new"]])[0][0] == pytest.approx(expected[0], rel=1e-5)


def test_saved_models_keep_what_was_learned(model, tmp_path):
    opened: Any = model.save(tmp_path / "model") and open_model(tmp_path / "model")
    assert opened.calibration_ == model.calibration_
    assert opened.search("hotel").hits() == model.search("hotel").hits()
    assert opened.stats_["weights"] == model.stats_["weights"]
    assert opened.calibration_.find_defect() is None


def edit(path, change):
    manifest = json.loads((path / "manifest.json").read_text())
    change(manifest["state"])
    (path / "manifest.json").write_text(json.dumps(manifest))


def test_damaged_weights_are_refused(model, tmp_path):
    def drop_a_part(state):
        fields = state["calibration_"]["fields"]
        for name in ("knots", "heights"):
            fields[name]["value"].pop()
        for by_doc in fields["weights"]["value"]:
            for cell in by_doc:
                cell.pop()

    def negative(state):
        state["calibration_"]["fields"]["base"]["value"][0][0] = -1

    def text(state):
        state["calibration_"] = {"type": "json", "value": "weights"}

    for change in (drop_a_part, negative, text):
        path = tmp_path / change.__name__
        model.save(path)
        edit(path, change)
        with pytest.raises(ArtefactError):
            open_model(path)


def test_models_of_before_open_with_the_weights_that_are_written(tmp_path):
    model: Any = train("0.5*clicks + 0.5*bm25", planted.graph())
    model.save(tmp_path / "model")
    edit(tmp_path / "model", lambda state: state.pop("calibration_"))
    assert open_model(tmp_path / "model").search("hotel").hits() == model.search("hotel").hits()


def test_weights_that_are_written_stay():
    for spec in ("0.5*clicks + 0.5*bm25", "backoff(clicks + 0.5*bm25)", "backoff(bm25)", "mix(clicks)"):
        model: Any = train(spec, planted.graph())
        assert model.calibration_ is None and "weights" not in model.stats_
