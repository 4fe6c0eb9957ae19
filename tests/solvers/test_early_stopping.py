"""Early stopping, with given losses."""

import math

import numpy as np
import pytest

from coclick.errors import UserError
from coclick.solvers.early_stopping import train_epochs


def run(validation, epochs=100, patience=3):
    weights = np.zeros(1)
    done = []

    def step():
        weights[0] += 1
        return 10 - weights[0]

    def validate():
        return validation[int(weights[0])]

    return train_epochs(step, validate, (weights,), epochs, patience, done.append), weights, done


def test_stops_after_patience_and_keeps_the_best():
    stop, weights, done = run([6, 5, 4, 3, 3.5, 3.2, 3.1, 0])
    assert weights[0] == 6 == len(done)
    assert stop.best[0][0] == 3
    assert stop.stats()["chosen_round"] == 3
    assert stop.stats()["curve"][0] == {"round": 1, "loss": 9.0, "validation": 5}


def test_the_start_is_kept_if_no_epoch_improves():
    stop, weights, _ = run([1, 2, 3, 4, 5])
    assert weights[0] == 3
    assert stop.best[0][0] == 0
    assert stop.stats()["chosen_round"] == 0


def test_without_validation_the_last_epoch_is_best():
    stop, _, _ = run([math.nan] * 5, epochs=4)
    assert stop.best[0][0] == 4
    assert stop.stats()["chosen_round"] == 4
    assert stop.stats()["curve"][3] == {"round": 4, "loss": 6.0}


def test_divergence_is_an_error_with_a_hint():
    weights = np.ones(1, np.float32)

    def step():
        weights[0] = np.inf
        return 1.0

    with pytest.raises(UserError, match="epoch 1") as error:
        train_epochs(step, lambda: 0.0, (weights,), 5, 5, lambda rows: None)
    assert "learning_rate" in error.value.hint
