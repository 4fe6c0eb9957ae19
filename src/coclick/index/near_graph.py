"""Does a graph of near vectors, as usearch writes it, lead nowhere but to its own nodes?

A node is its key (8 bytes), its level (2), and for each level up to that a list of neighbours: how many there
are (4), then places for so many (4 each), more on the lowest level.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit

KEY_AND_LEVEL = 10  # bytes
NUMBER = 4


@jit
def leads_inside(
    nodes: NDArray[np.uint8], levels: NDArray[np.int16], upper_room: int, lowest_room: int
) -> bool:
    """Whether keys are distinct rows, and neighbours are nodes that have the level on which they are reached.

    The caller has made sure that `nodes` is as long as the levels, none of them negative, say.
    """
    seen = np.zeros(len(levels), np.uint8)
    at = 0
    for node in range(len(levels)):
        key = _number(nodes, at)
        if _number(nodes, at + NUMBER) != 0 or key >= len(levels) or seen[key]:
            return False
        seen[key] = 1
        if np.int64(nodes[at + 8]) | np.int64(nodes[at + 9]) << 8 != levels[node]:
            return False
        at += KEY_AND_LEVEL
        for level in range(levels[node] + 1):
            room = upper_room if level else lowest_room
            count = _number(nodes, at)
            if count > room:
                return False
            for place in range(1, count + 1):
                neighbour = _number(nodes, at + NUMBER * place)
                if neighbour >= len(levels) or levels[neighbour] < level:
                    return False
            at += NUMBER * (1 + room)
    return True


@jit
def _number(data: NDArray[np.uint8], at: int) -> np.int64:
    """Four bytes, the lowest first; they need not be aligned."""
    low = np.int64(data[at]) | np.int64(data[at + 1]) << 8
    return low | np.int64(data[at + 2]) << 16 | np.int64(data[at + 3]) << 24
