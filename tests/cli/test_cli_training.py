"""Training statistics printed by `coclick info` and `coclick train`."""

import json

import pytest

import planted
from coclick import create
from coclick.cli.render_training import spark_line

FIGURES = {
    "effective_rank": 1.5,
    "singular_values": [8.0, 4.0, 1.0],
    "views": {
        "words": {"alpha": 0.8, "sum": 4.0, "dim": 2, "singular_values": [3.0, 1.0]},
        "tags": {"alpha": 0.6, "sum": 3.0, "dim": 1, "singular_values": [3.0]},
    },
    "density": {"queries": 0.25, "docs": 0.5},
    "curve": [{"round": 1, "objective": 0.5}, {"round": 2, "objective": 0.75, "validation": 0.125}],
    "bound": {
        "theorem": 5,
        "objective": 0.25,
        "bound": 12.5,
        "vacuous": True,
        "probability": 0.9,
        "n_x": 1917,
        "n_y": 1.5,
        "R": 2.0,
        "B": 3.0,
        "C": 4.0,
        "delta": 0.05,
        "theta_x": 0.5,
    },
    "notes": ["dim=9 is more than the data has: 3 dimensions are used"],
}


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    path = tmp_path_factory.mktemp("training") / "model"
    model = create("clicks").fit(planted.graph())
    model.stats_ = FIGURES
    model.save(path)
    return path


def test_info_prints_every_statistic(run, described):
    shown = run("info", described).out.splitlines()
    assert "effective_rank  1.5" in [line.strip() for line in shown]
    assert "singular values  3 values, from 8 down to 1, sum 13" in shown
    assert shown[shown.index("singular values  3 values, from 8 down to 1, sum 13") + 1] == "█▄▁"
    assert "singular values of words  2 values, from 3 down to 1, sum 4" in shown
    words = next(line for line in shown if line.startswith("words "))
    assert words.split()[:4] == ["words", "0.8000", "4.0000", "2"] and "█" in words
    assert any(line.split() == ["2", "0.7500", "0.1250"] for line in shown)
    assert any("density" in line and "queries 0.25, docs 0.5" in line for line in shown)
    assert "generalisation bound  objective 0.25 ± 12.5 with probability 0.9, by Theorem 5" in shown
    assert "vacuous: no objective exceeds R·B = 6" in shown
    assert "n_x 1,917, n_y 1.5, R 2, B 3, C 4, δ 0.05, θ_x 0.5" in shown
    assert "note: dim=9 is more than the data has: 3 dimensions are used" in shown


def test_json_has_the_statistics_unchanged(run, described):
    assert json.loads(run("info", described, "--json").out)["training"] == FIGURES


def test_parameters_named_like_statistics_are_printed(run, graph, tmp_path):
    done = run("train", "pls(dim=1000)", graph, "-o", tmp_path / "pls")
    assert done.code == 0 and "note: dim=1000 is more than the data has" in done.out
    shown = [line.split() for line in run("info", tmp_path / "pls").out.splitlines()]
    assert ["views", "words+chars"] in shown


def test_spark_line_has_one_character_per_value_up_to_a_limit():
    assert spark_line([1.0]) == "█"
    assert spark_line([8, 7, 6, 5, 4, 3, 2, 1]) == "█▇▆▅▄▃▂▁"
    assert spark_line([0.0, 0.0]) == "▁▁"
    assert len(spark_line(list(range(1000)))) == 60
