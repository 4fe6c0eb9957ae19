"""Early stopping: train until the validation loss stops falling, and keep the best parameters."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError

Arrays = tuple[NDArray[Any], ...]


class EarlyStop:
    """Keeps the parameters of the epoch with the smallest validation loss, and the training curve.

    Epoch 0 is the start. Without a validation set (a validation loss of NaN) the last epoch is the best.
    """

    def __init__(self, patience: int, validation: float, start: Arrays) -> None:
        self.patience = patience
        self.curve: list[dict[str, float]] = []
        self.best: Arrays = tuple(array.copy() for array in start)
        self.best_epoch = 0
        self._lowest = validation

    def update(self, loss: float, validation: float, arrays: Arrays) -> bool:
        """Record an epoch; return whether to stop."""
        if not math.isfinite(loss) or not all(np.isfinite(array).all() for array in arrays):
            raise UserError(
                f"training diverged in epoch {len(self.curve) + 1}: a value is not finite",
                hint="use a smaller learning_rate",
            )
        self.curve.append({"loss": loss, "validation": validation})
        if math.isnan(validation) or validation < self._lowest:
            self._lowest = validation
            self.best_epoch = len(self.curve)
            self.best = tuple(array.copy() for array in arrays)
        return len(self.curve) - self.best_epoch >= self.patience

    def stats(self) -> dict[str, Any]:
        """Return the curve and the best epoch, for `stats_`; a missing validation loss is left out."""
        return {
            "curve": [
                {"round": i} | {name: round(value, 6) for name, value in row.items() if not math.isnan(value)}
                for i, row in enumerate(self.curve, start=1)
            ],
            "chosen_round": self.best_epoch,
        }


def train_epochs(
    step: Callable[[], float],
    validate: Callable[[], float],
    arrays: Arrays,
    epochs: int,
    patience: int,
    done: Callable[[int], None],
) -> EarlyStop:
    """Call `step`, which updates the arrays and returns its loss, until the validation loss stops falling."""
    stop = EarlyStop(patience, validate(), arrays)
    for _ in range(epochs):
        finished = stop.update(step(), validate(), arrays)
        done(1)
        if finished:
            break
    return stop
