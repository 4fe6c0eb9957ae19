"""Vector arithmetic compared with numpy."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from coclick.jit.math import CACHE_LINE, add_scaled, dot, four_dots, powers, sum_of_logs


@numba.njit
def _dot(left, right):
    return dot(left, right)


@numba.njit
def _four_dots(left, rows):
    return four_dots(left, rows[0], rows[1], rows[2], rows[3])


@numba.njit
def _add_scaled(total, scale, row):
    add_scaled(total, scale, row)


@numba.njit(error_model="numpy")
def _powers(base, exponent, out):
    powers(base, exponent, out)


@numba.njit
def _sum_of_logs(row, count):
    return sum_of_logs(row, count)


@pytest.mark.parametrize("length", [0, CACHE_LINE, 7 * CACHE_LINE])
def test_dot_products_and_scaled_sums(length: int) -> None:
    random = np.random.default_rng(0)
    left, rows = random.random(length, np.float32), random.random((4, length), np.float32)
    np.testing.assert_allclose(_dot(left, rows[0]), left.astype(float) @ rows[0], rtol=1e-6)
    np.testing.assert_allclose(_four_dots(left, rows), rows.astype(float) @ left, rtol=1e-6)
    total = left.copy()
    _add_scaled(total, np.float32(0.3), rows[1])
    np.testing.assert_allclose(total, left + np.float32(0.3) * rows[1], rtol=1e-6)


@pytest.mark.parametrize("exponent", [0.0, 1.0, -0.7, 0.25])
def test_powers(exponent: float) -> None:
    base = np.exp(np.linspace(-60, 60, 1001)).astype(np.float32)
    out = np.empty_like(base)
    _powers(base, np.float32(exponent), out)
    np.testing.assert_allclose(out, base.astype(float) ** float(np.float32(exponent)), rtol=5e-6)
    _powers(base, np.float32(100), out)
    assert np.isfinite(out).all()
    assert (out > 0).all()


def test_sum_of_logs() -> None:
    row = np.random.default_rng(0).random(100, np.float32) + np.float32(1e-6)
    assert _sum_of_logs(row, 90) == pytest.approx(np.log(row[:90].astype(float)).sum(), rel=1e-6)
