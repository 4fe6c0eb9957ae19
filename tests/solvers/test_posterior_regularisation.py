"""Posterior regularisation: after the projection both texts of a pair have equal topic shares."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from coclick.jit.intrinsics import CACHE_LINE
from coclick.solvers.posterior_regularisation import project_posteriors


def project(mix: np.ndarray, first: np.ndarray, second: np.ndarray, counts: list[float]) -> np.ndarray:
    """The tilted mixes; `first` and `second` have P(word|topic), a row per word."""
    tokens, topics = len(first) + len(second), len(mix)
    width = -(-topics // CACHE_LINE) * CACHE_LINE
    rows, padded = np.zeros((tokens, width), np.float32), np.zeros(width, np.float32)
    rows[:, :topics], padded[:topics] = np.vstack([first, second]), mix
    tilts = np.zeros((2, width), np.float32)
    space = (
        np.zeros_like(rows), np.zeros((tokens, tokens)), np.zeros_like(tilts),
        np.zeros(tokens, np.float32), np.zeros(tokens, np.float32), np.zeros(tokens),
    )  # fmt: skip
    project_posteriors(
        len(first), rows, np.array(counts, np.float32), padded, np.float32(1e-5),
        np.ones(tokens, np.float32), tilts, *space,
    )  # fmt: skip
    return tilts[:, :topics].astype(float)


def posterior(mix: np.ndarray, row: np.ndarray) -> np.ndarray:
    return mix * row / (mix @ row)


def test_with_one_word_each_the_posterior_is_the_geometric_mean() -> None:
    random = np.random.default_rng(0)
    mix, left, right = random.dirichlet(np.ones(7), 3)
    tilts = project(mix, left[None], right[None], [1, 1])
    before = posterior(mix, left), posterior(mix, right)
    expected = np.sqrt(before[0] * before[1])
    for tilt, row in zip(tilts, (left, right), strict=True):
        np.testing.assert_allclose(posterior(tilt, row), expected / expected.sum(), rtol=1e-5)
    multiplier = (np.log(tilts[1] / mix) - np.log(tilts[0] / mix)) / 2
    wanted = 0.5 * np.log(before[0] / before[1])
    np.testing.assert_allclose(multiplier - multiplier.mean(), wanted - wanted.mean(), atol=1e-5)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("sharpness", [1.0, 0.1])
def test_it_is_the_projection_that_scipy_finds(seed: int, sharpness: float) -> None:
    """Minimise KL(P′‖P) directly over the posteriors, with explicit constraints."""
    random = np.random.default_rng(seed)
    topics, sizes = 4, random.integers(1, 4, 2)
    mix = random.dirichlet(np.ones(topics))
    rows = random.dirichlet(np.full(topics, sharpness), sizes.sum()) + 1e-3
    counts = random.integers(1, 3, sizes.sum()).astype(float)
    split = sizes[0]
    before = np.array([posterior(mix, row) for row in rows])
    lengths = np.where(np.arange(len(rows)) < split, counts[:split].sum(), -counts[split:].sum())

    def divergence(flat: np.ndarray) -> float:
        after = np.maximum(flat.reshape(before.shape), 1e-12)
        return float((counts[:, None] * after * np.log(after / before)).sum())

    def slope(flat: np.ndarray) -> np.ndarray:
        after = np.maximum(flat.reshape(before.shape), 1e-12)
        return (counts[:, None] * (np.log(after / before) + 1)).ravel()

    constraints = [
        {"type": "eq", "fun": lambda flat: flat.reshape(before.shape).sum(axis=1) - 1},
        {"type": "eq", "fun": lambda flat: ((counts / lengths) @ flat.reshape(before.shape))[:-1]},
    ]
    solved = minimize(
        divergence, before.ravel(), jac=slope, method="SLSQP", bounds=[(1e-12, 1)] * before.size,
        constraints=constraints, options={"maxiter": 2000, "ftol": 1e-13},
    )  # fmt: skip
    tilts = project(mix, rows[:split], rows[split:], counts.tolist())
    found = np.array([posterior(tilts[0 if i < split else 1], row) for i, row in enumerate(rows)])
    np.testing.assert_allclose((counts / lengths) @ found, 0, atol=1e-5)
    assert divergence(found.ravel()) == pytest.approx(divergence(solved.x), abs=1e-5)
    np.testing.assert_allclose(found, solved.x.reshape(before.shape), atol=3e-3)


@pytest.mark.parametrize("sharpness", [1.0, 0.01])
def test_topic_shares_are_equal_for_random_words(sharpness: float) -> None:
    random = np.random.default_rng(1)
    for _ in range(300):
        topics, sizes = random.integers(2, 60), random.integers(1, 12, 2)
        mix = random.dirichlet(np.full(topics, sharpness)) + 1e-4
        rows = random.dirichlet(np.full(topics, sharpness), sizes.sum()) * random.random() + 1e-7
        counts = random.integers(1, 5, sizes.sum()).astype(float)
        tilts = project(mix, rows[: sizes[0]], rows[sizes[0] :], counts.tolist())
        shares = []
        for side, part in enumerate((slice(sizes[0]), slice(sizes[0], None))):
            weights = counts[part] / counts[part].sum()
            shares.append(weights @ np.array([posterior(tilts[side], row) for row in rows[part]]))
        np.testing.assert_allclose(shares[0], shares[1], atol=1e-4)
