"""Mixes, tuned parameters and rankers from stored scores."""

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from coclick.evaluation.judgments import Judgments
from reproduce.jobs import Job
from reproduce.judged import Judged
from reproduce.paper import Grid, Mix, Paper, Ranker
from reproduce.systems import NotMeasured, Systems, job_of, parts_of

SYSTEMS: dict[str, Any] = {
    "good": "bm25",
    "bad": "um",
    "mixed": Mix("good", "bad"),
    "added": Mix("good", "bad", scaled=False),
    "tuned": Grid("bltm", "lambda_doc", (0.1, 0.2), (0.0, 0.1, 0.2)),
    "alone": Grid("bltm", "lambda_doc", (0.0,), (0.0, 0.1, 0.2)),
    "trees": Ranker(("good", "absent"), ("bad",)),
    "more": Ranker(("good",), ("absent",)),
    "absent": "ctr",
}


def paper(tuning):
    return Paper("test", "Doe 2020", "", "", "t", 0.05, tuning, SYSTEMS, ())


@pytest.fixture
def log(tmp_path):
    grades = {f"q{i:02}": {f"d{j}": int(j == i % 4) * 3 for j in range(4)} for i in range(60)}
    judged = Judged.of(Judgments({query: query for query in grades}, grades))
    found: Any = SimpleNamespace(directory=tmp_path, settings={}, judged=lambda: judged)
    right = (judged.grades > 0).astype(np.float32)
    noise = np.random.default_rng(0).random(len(right)).astype(np.float32)
    store(found, "good", right[None])
    store(found, "bad", 100 * noise[None])
    store(found, "tuned", np.stack([noise, noise, right]))
    path = job_of(SYSTEMS["absent"], found).path(found)
    path.with_suffix(".json").write_text(json.dumps({"error": "no impressions"}))
    np.savez(path.with_suffix(".npz"))
    return found


def store(log, name, scores):
    path = job_of(SYSTEMS[name], log).path(log)
    path.parent.mkdir(exist_ok=True)
    np.savez(path.with_suffix(".npz"), scores=scores)
    path.with_suffix(".json").write_text(json.dumps({"seconds": 1.0}))


def test_parts_of_systems():
    assert parts_of(SYSTEMS, ["mixed", "trees", "tuned"]) == ["good", "bad", "absent", "tuned"]


def test_systems_with_other_values_share_a_job(log):
    assert job_of(SYSTEMS["tuned"], log) == job_of(SYSTEMS["alone"], log)


def test_settings_fill_specifications(log):
    log.settings = {"dim": 7}
    assert job_of("pls(dim={dim})", log) == Job("pls(dim=7)")


def test_scaled_scores_are_mixed(log):
    """Scaled, any weight above a half ranks perfectly; unscaled, the noise is a hundred times larger."""
    systems = Systems(paper("best"), log)
    assert systems.values("mixed", "nDCG@1").mean() == 1
    assert systems.chosen["mixed"][0] >= 0.5
    assert systems.values("added", "nDCG@1").mean() < 0.7
    assert systems.chosen["added"] == [0.9]


def test_a_parameter_is_tuned(log):
    systems = Systems(paper("two-fold"), log)
    assert systems.values("tuned", "nDCG@1").mean() == 1
    assert systems.chosen["tuned"] == [0.2, 0.2]  # one for each fold
    assert systems.values("alone", "nDCG@1").mean() < 0.5


def test_two_folds_use_the_weight_of_the_other_half(log):
    """The first value is right on one half and wrong on the other, the second the reverse."""
    judged = log.judged()
    first = judged.halves()[judged.query_of]
    right = (judged.grades > 0).astype(np.float32)
    store(log, "tuned", np.stack([right, np.where(first, right, -right), np.where(first, -right, right)]))
    systems = Systems(paper("two-fold"), log)
    assert systems.chosen.get("tuned") is None
    assert systems.values("tuned", "nDCG@1").mean() == 0  # tuned on the one, used on the other
    assert systems.chosen["tuned"] == [0.1, 0.2]
    half = Systems(paper("half"), log)
    assert (half.measured == ~judged.halves()).all()
    assert half.values("tuned", "nDCG@1")[half.measured].mean() == 0
    best = Systems(paper("best"), log)
    assert best.measured.all()


def test_rankers_learn_from_judgments_and_leave_absent_features_out(log, monkeypatch):
    monkeypatch.setattr("reproduce.systems.N_TREES", 5)
    systems = Systems(paper("two-fold"), log)
    assert systems.values("trees", "nDCG@1").mean() > 0.9
    assert set(systems.importance["trees"]) == {"good", "bad"}
    assert systems.importance["trees"]["good"] == 100


def test_a_ranker_needs_its_added_features(log):
    with pytest.raises(NotMeasured, match="no impressions"):
        Systems(paper("two-fold"), log).scores("more")


def test_a_model_that_has_not_been_run(log, tmp_path):
    log.directory = tmp_path / "empty"
    with pytest.raises(NotMeasured, match="has not been run"):
        Systems(paper("best"), log).scores("good")
