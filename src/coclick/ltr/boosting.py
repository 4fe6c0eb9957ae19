"""Training of `Trees` with LightGBM. The same examples always give the same trees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError
from coclick.evaluation.measures import MAIN_MEASURE, measure
from coclick.evaluation.significance import t_test
from coclick.jit.threads import threads
from coclick.ltr.folds import Examples
from coclick.ltr.trees import Trees

MIN_LEAF, MAX_MIN_LEAF = 20, 100  # rows of the smallest leaf, a thousandth of all
SIGNIFICANCE_LEVEL = 0.01  # strict, because the same queries choose the number of trees
MEASURED = 10  # ranks of nDCG
N_BINS = 63  # of a feature; 255 rank no better, and take a fifth longer
PATIENCE = 50  # trees without a better nDCG@10 on judgments before early stopping


def check_installed() -> None:
    """Raise if LightGBM cannot be used."""
    try:
        import lightgbm  # noqa: F401
    except ImportError:
        raise UserError("learning to rank needs LightGBM", hint='pip install "coclick[ltr]"') from None
    except OSError as error:  # a small container has no OpenMP
        hint = "it needs OpenMP: apt-get install libgomp1, or brew install libomp"
        raise UserError(f"LightGBM cannot be loaded: {error}", hint=hint) from None


@dataclass(frozen=True)
class Start:
    """Scores that boosting starts from: a feature times a weight."""

    column: int
    weight: float

    def scores(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the score of each row."""
        return self.weight * features[:, self.column].astype(np.float64)


@dataclass(frozen=True)
class Boosting:
    """The parameters of boosting."""

    objective: Literal["lambdarank", "pointwise"]
    n_trees: int
    n_leaves: int
    learning_rate: float
    seed: int

    def grow(self, train: Examples, judged: Examples | None = None, start: Start | None = None) -> Trees:
        """Train on examples; with judged examples, stop at the number of trees that ranks them best."""
        check_installed()
        import lightgbm

        data = _dataset(lightgbm, train, start)
        stop: dict[str, Any] = {}
        if judged is not None:
            stop["valid_sets"] = [_dataset(lightgbm, judged, start, data)]
            stop["callbacks"] = [lightgbm.early_stopping(PATIENCE, verbose=False)]
        booster = lightgbm.train(self._parameters(train, judged), data, self.n_trees, **stop)
        return Trees.from_lightgbm(booster, booster.best_iteration if judged is not None else None)

    def grow_from(self, start: Start, examples: Examples, held_out: NDArray[np.bool_]) -> Trees:
        """Train trees that add to the start; none unless they rank the marked queries significantly better.

        The marked queries choose the number of trees. Then the trees are trained on all queries.
        """
        none = Trees.from_nested([], examples.features.shape[1])
        train, test = examples.only(~held_out), examples.only(held_out)
        if not train.grades.any() or not test.grades.any():
            return none
        trees = self.grow(train, test, start)
        before = start.scores(test.features)
        gain = _quality(test, before + trees.outputs(test.features)) - _quality(test, before)
        if gain.mean() <= 0 or t_test(gain) >= SIGNIFICANCE_LEVEL:
            return none
        return replace(self, n_trees=len(trees.roots)).grow(examples, start=start)

    def cross_validate(self, examples: Examples, folds: NDArray[np.integer]) -> dict[str, float]:
        """Return the mean measures of queries ranked by trees that were trained without their fold."""
        return {MAIN_MEASURE: float(self.rank_folds(examples, folds).mean())}

    def rank_folds(self, examples: Examples, folds: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the main measure of each query, ranked by trees that were trained without its fold."""
        values = np.zeros(len(examples.queries))
        for fold in np.unique(folds).tolist():
            held_out = examples.only(folds == fold)
            trees = self.grow(examples.only(folds != fold))
            values[folds == fold] = _quality(held_out, trees.outputs(held_out.features))
        return values

    def _parameters(self, train: Examples, judged: Examples | None) -> dict[str, Any]:
        n_rows = len(train.grades)
        several = [one for one in (train, judged) if one is not None]
        highest = max(int(one.grades.max(initial=0)) for one in several)
        return {
            "objective": "lambdarank" if self.objective == "lambdarank" else "regression",
            "metric": "ndcg",
            "eval_at": [MEASURED],
            "label_gain": list(range(highest + 1)),
            "num_leaves": self.n_leaves,
            "learning_rate": self.learning_rate,
            "min_data_in_leaf": int(np.clip(n_rows // 1000, MIN_LEAF, MAX_MIN_LEAF)),
            "feature_fraction": 0.5,
            "bagging_fraction": 0.7,
            "bagging_freq": 1,
            "seed": self.seed,
            "deterministic": True,
            "force_col_wise": True,
            "lambdarank_truncation_level": 2 * MEASURED,
            "num_threads": threads(),
            "verbosity": -1,
        }


def _dataset(lightgbm: Any, examples: Examples, start: Start | None = None, like: Any = None) -> Any:
    return lightgbm.Dataset(
        examples.features,
        examples.grades,
        group=examples.sizes,
        reference=like,
        params={"max_bin": N_BINS, "verbosity": -1},
        init_score=None if start is None else start.scores(examples.features),
    )


def _quality(examples: Examples, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The main measure of each query when its documents are ranked by score."""
    grades: dict[str, dict[str, int]] = {}
    rankings: dict[str, list[str]] = {}
    ends = np.cumsum(examples.sizes)
    for i, (first, last) in enumerate(zip(ends - examples.sizes, ends, strict=True)):
        docs = [str(doc) for doc in examples.docs[first:last].tolist()]
        order = np.argsort(-scores[first:last], kind="stable").tolist()
        grades[str(i)] = dict(zip(docs, examples.grades[first:last].tolist(), strict=True))
        rankings[str(i)] = [docs[place] for place in order]
    found = measure(grades, rankings, (MAIN_MEASURE,))
    return np.array([found[query][MAIN_MEASURE] for query in grades])
