"""Training of `Trees` with LightGBM. The same examples always give the same trees."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError
from coclick.evaluation.measures import MAIN_MEASURE, mean, measure
from coclick.jit.threads import threads
from coclick.ltr.folds import Examples
from coclick.ltr.trees import Trees

MIN_LEAF, MAX_MIN_LEAF = 20, 100  # rows of the smallest leaf, a thousandth of all
PATIENCE = 50  # trees without a better nDCG@10 on judgments before early stopping


def check_installed() -> None:
    """Raise if LightGBM is not installed."""
    if importlib.util.find_spec("lightgbm") is None:
        raise UserError("learning to rank needs LightGBM", hint='pip install "coclick[ltr]"')


@dataclass(frozen=True)
class Boosting:
    """The parameters of boosting."""

    objective: Literal["lambdarank", "pointwise"]
    n_trees: int
    n_leaves: int
    learning_rate: float
    seed: int

    def grow(self, train: Examples, judged: Examples | None = None) -> Trees:
        """Train on examples; with judged examples, stop at the number of trees that ranks them best."""
        check_installed()
        import lightgbm

        data = _dataset(lightgbm, train)
        stop: dict[str, Any] = {}
        if judged is not None:
            stop["valid_sets"] = [_dataset(lightgbm, judged, data)]
            stop["callbacks"] = [lightgbm.early_stopping(PATIENCE, verbose=False)]
        booster = lightgbm.train(self._parameters(train, judged), data, self.n_trees, **stop)
        return Trees.from_lightgbm(booster, booster.best_iteration if judged is not None else None)

    def cross_validate(self, examples: Examples, folds: NDArray[np.integer]) -> dict[str, float]:
        """Return the mean measures of queries ranked by trees that were trained without their fold."""
        grades: dict[str, dict[str, int]] = {}
        rankings: dict[str, list[str]] = {}
        for fold in np.unique(folds).tolist():
            held_out = examples.only(folds == fold)
            scores = self.grow(examples.only(folds != fold)).outputs(held_out.features)
            ends = np.cumsum(held_out.sizes)
            for query, first, last in zip(held_out.queries, ends - held_out.sizes, ends, strict=True):
                docs = [str(doc) for doc in held_out.docs[first:last].tolist()]
                order = np.argsort(-scores[first:last], kind="stable").tolist()
                grades[query] = dict(zip(docs, held_out.grades[first:last].tolist(), strict=True))
                rankings[query] = [docs[i] for i in order]
        return mean(measure(grades, rankings, (MAIN_MEASURE,)), list(grades))

    def _parameters(self, train: Examples, judged: Examples | None) -> dict[str, Any]:
        n_rows = len(train.grades)
        several = [one for one in (train, judged) if one is not None]
        highest = max(int(one.grades.max(initial=0)) for one in several)
        return {
            "objective": "lambdarank" if self.objective == "lambdarank" else "regression",
            "metric": "ndcg",
            "eval_at": [10],
            "label_gain": list(range(highest + 1)),
            "num_leaves": self.n_leaves,
            "learning_rate": self.learning_rate,
            "min_data_in_leaf": int(np.clip(n_rows // 1000, MIN_LEAF, MAX_MIN_LEAF)),
            "feature_fraction": 0.5,
            "bagging_fraction": 0.7,
            "bagging_freq": 1,
            "seed": self.seed,
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": threads(),
            "verbosity": -1,
        }


def _dataset(lightgbm: Any, examples: Examples, like: Any = None) -> Any:
    return lightgbm.Dataset(
        examples.features.astype(np.float64), examples.grades, group=examples.sizes, reference=like
    )
