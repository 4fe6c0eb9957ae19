"""The bounds of Wu, Lu & Li 2013 §5: by hand, with exact fractions, and in special cases."""

from fractions import Fraction
from math import exp, inf, log, sqrt
from typing import Any

import numpy as np
import pytest

import planted
from coclick import create
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.models.projection.bounds import bound, gap, limited_rows, objective, orthonormal


def test_theorem_3_by_hand():
    """δ = e⁻² makes √(2 ln 1/δ) = 2: (2·3·5 + 5·2·2)·(1/√(4·9) + 1/√4) = 50·(1/6 + 1/2) = 100/3."""
    assert gap(n_x=4, n_y=9, R=5, B=2, C=3, delta=exp(-2)) == pytest.approx(100 / 3)


@pytest.mark.parametrize("seed", range(20))
def test_theorem_3_in_fractions(seed):
    """Squares make every root a whole number, so that fractions are exact."""
    random = np.random.default_rng(seed)
    root_x, root_y, R, B, C = (int(n) for n in random.integers(1, 50, 5))
    half = int(random.integers(1, 10))
    exact = (2 * C * R + R * B * 2 * half) * (Fraction(1, root_x * root_y) + Fraction(1, root_x))
    delta = exp(-2.0 * half**2)  # √(2 ln 1/δ) = 2·half
    assert gap(root_x**2, root_y**2, R, B, C, delta) == pytest.approx(float(exact), rel=1e-12)


def test_theorem_4_is_theorem_3_with_b_1_and_c_root_d():
    space = orthonormal(300)
    assert (space.theorem, space.B, space.C) == (4, 1, sqrt(300))


def test_theorem_5_by_hand():
    """d = 10, θ = (2, 3), m = (4, 9), features (25, 16): B = 6·6 and C = 20·6 without λ; with λ = (0.5, 1),
    B = 6·min(10·0.5, 6) = 30 and C = 20·min(0.5, 6) = 10."""
    free = limited_rows(10, (25, 16), (4, 9), (2, 3))
    assert (free.theorem, free.B, free.C) == (5, 36, 120)
    limited = limited_rows(10, (25, 16), (4, 9), (2, 3), (0.5, 1))
    assert (limited.B, limited.C) == (30, 10)
    assert limited.made_of["lambda_x"] == 0.5 and "lambda_x" not in free.made_of


@pytest.mark.parametrize("seed", range(5))
def test_the_constants_hold_for_random_maps(seed):
    random = np.random.default_rng(seed)
    d, d_x, d_y = 5, 30, 20
    left, right = (np.linalg.qr(random.normal(size=(size, d)))[0] for size in (d_x, d_y))
    space = orthonormal(d)
    assert np.linalg.norm(left @ right.T) == pytest.approx(space.C)
    assert np.linalg.norm(left, 2) * np.linalg.norm(right, 2) <= space.B + 1e-9
    rows_x, rows_y = (
        theta * side / np.linalg.norm(side, axis=1, keepdims=True)
        for theta, side in ((2, random.normal(size=(d_x, d))), (3, random.normal(size=(d_y, d))))
    )
    l1_x, l1_y = (float(np.abs(side).sum(1).max()) for side in (rows_x, rows_y))
    for l1 in ((inf, inf), (l1_x, l1_y)):
        space = limited_rows(d, (d_x, d_y), (4, 9), (2, 3), l1)
        assert np.linalg.norm(rows_x @ rows_y.T) <= space.C + 1e-9
        for _ in range(100):
            lengths = []
            for rows, most in ((rows_x, 4), (rows_y, 9)):
                x = np.zeros(len(rows))
                x[random.choice(len(rows), most, replace=False)] = random.normal(size=most)
                lengths.append(np.linalg.norm(x @ rows) / np.linalg.norm(x))
            assert lengths[0] * lengths[1] <= space.B + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_the_constants_hold_for_several_views(seed):
    """Weighted views as in `mpls`, with any weights: scores are within ±B, and a score is an inner
    product whose two sides are together no longer than C."""
    random = np.random.default_rng(seed)
    dims, sizes = (3, 5), (20, 30)
    alpha = random.random(2)
    alpha /= np.linalg.norm(alpha)
    maps = [
        [np.linalg.qr(random.normal(size=(size, d)))[0] for _ in "xy"]
        for d, size in zip(dims, sizes, strict=True)
    ]
    space = orthonormal(*dims)
    assert (space.theorem, space.B, space.C) == (3, sqrt(2), sqrt(10))
    products = [weight * left @ right.T for weight, (left, right) in zip(alpha, maps, strict=True)]
    weights = np.concatenate([product.ravel() for product in products])
    for _ in range(50):
        pairs = []
        for size in sizes:
            x, y = (side / np.linalg.norm(side) for side in random.normal(size=(2, size)))
            pairs.append(np.outer(x, y).ravel())
        pair = np.concatenate(pairs)
        assert abs(weights @ pair) <= space.B + 1e-9
        assert np.linalg.norm(weights) * np.linalg.norm(pair) <= space.C + 1e-9


CLICKS = [("a", "x", 4), ("a", "y", 1), ("b", "x", 9)]


def test_a_bound_by_hand():
    """n_x = 2; documents 2 and 1, harmonic mean 2 / (1/2 + 1) = 4/3; R = 9. Embeddings: a (1, 0), b (0, 2),
    x (3, 1), y (1, 1): scores a·x = 3, a·y = 1, b·x = 2. Objective ½·(½·(4·3 + 1·1) + 9·2) = 12.25."""
    graph = ClickGraph.from_clicks(CLICKS)
    embeddings = np.array([[1, 0], [0, 2]], np.float32), np.array([[3, 1], [1, 1]], np.float32)
    found = bound(graph.clicks, "degree", embeddings, orthonormal(4), delta=exp(-2))
    assert {name: found[name] for name in ("theorem", "n_x", "R", "B", "C", "d")} == {
        "theorem": 4,
        "n_x": 2,
        "R": 9,
        "B": 1,
        "C": 2,
        "d": 4,
    }
    assert found["n_y"] == pytest.approx(4 / 3)
    assert found["objective"] == pytest.approx(12.25)
    assert found["bound"] == pytest.approx((2 * 2 * 9 + 9 * 2) * (1 / sqrt(8 / 3) + 1 / sqrt(2)))
    assert found["vacuous"] is True
    assert found["probability"] == pytest.approx(1 - 2 * exp(-2))


def test_the_response_depends_on_the_weight():
    graph = ClickGraph.from_clicks(CLICKS)
    embeddings = np.array([[1, 0], [0, 2]], np.float32), np.array([[3, 1], [1, 1]], np.float32)
    by_log1p = bound(graph.clicks, "log1p", embeddings, orthonormal(4))
    assert by_log1p["R"] == pytest.approx(log(10))
    assert by_log1p["objective"] == pytest.approx(((log(5) * 3 + log(2)) / 2 + log(10) * 2) / 2)
    by_log = bound(graph.clicks, "log", embeddings, orthonormal(4))  # the pair with one click has no weight
    assert (by_log["R"], by_log["n_y"]) == (pytest.approx(log(9)), 1)
    assert bound(graph.clicks, "clicks", embeddings, orthonormal(4)) == bound(
        graph.clicks, "degree", embeddings, orthonormal(4)
    )


def test_weight_log_needs_a_pair_with_two_clicks():
    with pytest.raises(UserError, match="no pair has more than one click"):
        create("pls(weight=log)").fit(ClickGraph.from_clicks([("shoe", "x", 1)], {"x": "shoe"}))


def test_with_many_clicks_the_bound_is_not_vacuous():
    """10⁶ queries with 100 documents each, d = 100, R = 1: (20 + 2.45)·1.1/1000 = 0.0247."""
    space = orthonormal(100)
    found = gap(10**6, 100, 1, space.B, space.C, 0.05)
    assert found == pytest.approx((20 + sqrt(2 * log(20))) * 1.1e-3) and found < 1


def test_with_weight_degree_the_objective_is_that_of_pls():
    """The sum of singular values is Σ w x L Lᵀ y; Eq. 2 divides it by the number of queries."""
    model: Any = create("pls(dim=5,weight=degree)").fit(planted.graph())
    embeddings = model.query_index_.vectors, model.doc_index_.vectors
    queries = np.count_nonzero(model.graph_.clicks.row_nnz())
    found = objective(model.graph_.clicks, *embeddings)
    assert found == pytest.approx(sum(model.stats_["singular_values"]) / queries, rel=1e-4)


def test_pls_reports_its_bound():
    model: Any = create("pls(dim=5,views=words+clicks)").fit(planted.graph())
    embeddings = model.query_index_.vectors, model.doc_index_.vectors
    assert model.stats_["bound"] == bound(model.graph_.clicks, "log1p", embeddings, orthonormal(5))


def test_mpls_and_lsi_report_their_bounds():
    model: Any = create("mpls(dim=5,views=words+clicks)").fit(planted.graph())
    embeddings = model.query_index_.vectors, model.doc_index_.vectors
    assert model.stats_["bound"] == bound(model.graph_.clicks, "log1p", embeddings, orthonormal(5, 5))
    joined = create("mpls(dim=5,views=words+clicks,combine=concat)").fit(planted.graph())
    assert (
        joined.stats_["bound"] == create("pls(dim=5,views=words+clicks)").fit(planted.graph()).stats_["bound"]
    )
    assert create("lsi_qd(dim=5)").fit(planted.graph()).stats_["bound"]["theorem"] == 4
