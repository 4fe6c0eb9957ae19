"""Training in rounds that stops when held-out pairs stop gaining, and keeps the best round."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError

Arrays = tuple[NDArray[Any], ...]


class EarlyStop:
    """Remembers the arrays of the round with the smallest validation loss, and the curve of all rounds.

    Round 0 is the start. Without held-out pairs (a validation loss of NaN) the last round is the best one.
    """

    def __init__(self, patience: int, validation: float, start: Arrays) -> None:
        self.patience = patience
        self.curve: list[dict[str, float]] = []
        self.best: Arrays = tuple(array.copy() for array in start)
        self.chosen = 0
        self._lowest = validation

    def saw(self, loss: float, validation: float, arrays: Arrays) -> bool:
        """Note a round; is it time to stop?"""
        if not math.isfinite(loss) or not all(np.isfinite(array).all() for array in arrays):
            raise UserError(
                f"training left the finite numbers in round {len(self.curve) + 1}",
                hint="a smaller learning rate (rate=) is needed",
            )
        self.curve.append({"loss": loss, "validation": validation})
        if math.isnan(validation) or validation < self._lowest:
            self._lowest = validation
            self.chosen = len(self.curve)
            self.best = tuple(array.copy() for array in arrays)
        return len(self.curve) - self.chosen >= self.patience

    def figures(self) -> dict[str, Any]:
        """The curve and the chosen round, for `figures_`; a missing validation loss is left out."""
        return {
            "curve": [
                {"round": i} | {name: round(value, 6) for name, value in row.items() if not math.isnan(value)}
                for i, row in enumerate(self.curve, start=1)
            ],
            "chosen_round": self.chosen,
        }


def train_rounds(
    step: Callable[[], float],
    validate: Callable[[], float],
    arrays: Arrays,
    rounds: int,
    patience: int,
    done: Callable[[int], None],
) -> EarlyStop:
    """Call `step`, which changes the arrays and returns its mean loss, until validation stops gaining."""
    stop = EarlyStop(patience, validate(), arrays)
    for _ in range(rounds):
        finished = stop.saw(step(), validate(), arrays)
        done(1)
        if finished:
            break
    return stop
