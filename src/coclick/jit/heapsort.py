"""Numbers sorted in place, for kernels that make no arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit_inline

_ONE, _TWO = np.uint64(1), np.uint64(2)
_HALF, _LOW_HALF = np.uint64(32), np.uint64((1 << 32) - 1)


@jit_inline
def with_place(number: np.uint32, place: np.uint64) -> np.uint64:
    """A number that sorts like the given one and remembers where it stood."""
    return np.uint64(number) << _HALF | place


@jit_inline
def place_of(number: np.uint64) -> np.uint64:
    """Where a number `with_place` stood."""
    return number & _LOW_HALF


@jit_inline
def sort(numbers: NDArray[np.uint64], count: np.uint64) -> None:
    """Sort the first `count` numbers, the smallest first."""
    unheaped, unsorted = count // _TWO, count  # a heap grows downwards, then gives up its largest one by one
    while unsorted > _ONE:
        if unheaped > np.uint64(0):
            unheaped -= _ONE
            moved = numbers[unheaped]
        else:
            unsorted -= _ONE
            moved = numbers[unsorted]
            numbers[unsorted] = numbers[np.uint64(0)]
        hole = unheaped
        child = _TWO * hole + _ONE
        while child < unsorted:
            if child + _ONE < unsorted and numbers[child + _ONE] > numbers[child]:
                child += _ONE
            if numbers[child] <= moved:
                break
            numbers[hole] = numbers[child]
            hole = child
            child = _TWO * hole + _ONE
        numbers[hole] = moved
