"""Trees, compared with values computed by hand and bitwise with LightGBM."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import lightgbm
import numpy as np
import pytest

from coclick.errors import ArtefactError, UserError
from coclick.ltr.trees import LEFT, RIGHT, ZERO, Trees, largest_float32_below
from coclick.storage.gate import Gate, Scope

NAN = np.float32(np.nan)


def split(feature, threshold, left, right, missing=ZERO, value=0.0):
    return {"feature": feature, "threshold": threshold, "missing": missing, "value": value,
            "left": left, "right": right}  # fmt: skip


def leaf(value):
    return {"value": value}


TWO = [
    split(0, 0.5, leaf(1.0), split(1, 2.0, leaf(10.0), leaf(20.0), RIGHT, value=16.0), LEFT, value=4.0),
    split(1, -1.0, leaf(100.0), leaf(200.0), ZERO, value=150.0),
]


def test_two_trees_by_hand():
    trees = Trees.from_nested(TWO, 2)
    rows = np.array([[0.5, 0], [0.6, 2], [0.6, 2.1], [0.6, -1], [NAN, -1.5], [1, NAN]], np.float32)
    assert trees.outputs(rows).tolist() == [201.0, 210.0, 220.0, 110.0, 101.0, 220.0]
    assert trees.lowest() == 101.0
    assert trees.to_nested() == TWO


def test_explanation_by_hand():
    """Mean 4 + 150; then 4 → 16 → 20 by features 0 and 1, and 150 → 200 by feature 1."""
    base, parts = Trees.from_nested(TWO, 2).explain(np.array([0.6, 2.1], np.float32))
    assert base == 154.0
    assert parts.tolist() == [12.0, 54.0]


@pytest.mark.parametrize("objective", ["regression", "lambdarank"])
@pytest.mark.parametrize("with_missing", [False, True])
def test_agrees_with_lightgbm(objective, with_missing):
    random = np.random.default_rng(3)
    rows = random.random((2000, 6)).astype(np.float32)
    rows[:, 1] = np.round(rows[:, 1] * 5)  # ties, and zeros
    rows[:, 2] *= 1e-3
    grades = np.floor(4 * rows[:, 0] * rows[:, 4] + random.random(2000)).astype(int)
    if with_missing:
        rows[random.random(rows.shape) < 0.2] = NAN
    data = lightgbm.Dataset(rows, grades, group=[20] * 100 if objective == "lambdarank" else None)
    booster = lightgbm.train({"objective": objective, "num_leaves": 15, "verbosity": -1}, data, 40)
    trees = Trees.from_lightgbm(booster)
    asked = rows.copy()
    asked[:200][random.random((200, 6)) < 0.3] = NAN  # also where the training data had none
    asked[200:300] = np.nextafter(asked[200:300], np.float32(1))
    thresholds = trees.threshold[trees.feature == 0]
    asked[300 : 300 + len(thresholds), 0] = thresholds
    np.testing.assert_array_equal(trees.outputs(asked), booster.predict(asked, raw_score=True))
    np.testing.assert_array_equal(
        Trees.from_lightgbm(booster, 7).outputs(asked),
        booster.predict(asked, raw_score=True, num_iteration=7),
    )
    assert trees.outputs(asked).min() >= trees.lowest()
    for row in asked[:20]:
        base, parts = trees.explain(row)
        assert base + parts.sum() == pytest.approx(trees.outputs(row[None])[0], rel=1e-12, abs=1e-12)


def test_largest_float32_below():
    for number in (0.1, 1 / 3, -0.1, 1e300, 0.0, 1.5):
        below = largest_float32_below(number)
        assert np.float32(below) == below
        assert below <= number
        if abs(number) < 1e30:
            assert float(np.nextafter(np.float32(below), np.float32(np.inf))) > number


def test_damaged_trees_are_refused():
    sound = Trees.from_nested(TWO, 2)
    source: Any = SimpleNamespace(files={}, kind="model", path=Path("model"))
    gate = Gate(source)
    assert gate.checked(Trees, sound, "trees", Scope()) is sound
    for name, wrong in (
        ("left", np.zeros_like(sound.left)),  # a cycle
        ("right", np.full_like(sound.right, 99)),
        ("feature", np.full_like(sound.feature, 2)),
        ("roots", np.array([-1], np.int32)),
        ("value", np.zeros(3)),
    ):
        with pytest.raises(ArtefactError, match="the model is damaged: trees"):
            gate.checked(Trees, replace(sound, **{name: wrong}), "trees", Scope())
    with pytest.raises(UserError, match="2 features"):
        sound.outputs(np.zeros((1, 3), np.float32))
