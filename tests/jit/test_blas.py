"""BLAS has one thread inside, and as many as before afterwards."""

import numpy as np
from threadpoolctl import threadpool_info

from coclick.jit.blas import single_threaded_blas


def blas_threads():
    return [one["num_threads"] for one in threadpool_info() if "numpy" in one["filepath"]]


def test_one_thread_inside_and_as_many_as_before_afterwards():
    np.ones((2, 2)) @ np.ones((2, 2))
    before = blas_threads()
    with single_threaded_blas():
        assert set(blas_threads()) == {1}
        with single_threaded_blas():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}, "another user is still inside"
    assert blas_threads() == before
