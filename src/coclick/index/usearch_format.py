"""What usearch writes for a graph of near vectors, and whether that can be searched without harm.

usearch believes a file: one that leads outside its own nodes ends the process. It writes the vectors (their
number, their bytes), a header that says what they are, another with the graph's measures, the level of each
node, and the nodes (see `kernels.near_graph`).
"""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

from coclick.index.near_graph import KEY_AND_LEVEL, NUMBER, leads_inside

_HEAD, _SECOND_HEAD = 64, 40  # bytes
_KINDS = (b"usearch", 2, ord("i"), 4, 14, 15)  # version 2: inner products of 16 bits, keys of 64, slots of 32


def is_sound(data: NDArray[np.uint8], neighbours: int) -> bool:
    """Whether a graph of so many neighbours leads nowhere but to its own nodes, and has no other parts."""
    if not isinstance(data, np.ndarray) or data.dtype != np.uint8 or data.ndim != 1:
        return False
    try:
        count, width = struct.unpack_from("<II", data.data)
        at = 8 + count * width
        head = struct.unpack_from("<7sHHH4BQQQ?", data.data, at)
        size, upper_room, lowest_room, highest, entry = struct.unpack_from("<5Q", data.data, at + _HEAD)
    except struct.error:
        return False
    magic, version, _, _, *kinds, present, deleted, dim, several = head
    if (magic, version, *kinds, deleted, several) != (*_KINDS, 0, False):
        return False
    if not (count == present == size > entry and width == 2 * dim and upper_room == neighbours):
        return False
    at += _HEAD + _SECOND_HEAD
    if lowest_room != 2 * neighbours or len(data) < at + 2 * size:
        return False
    levels = np.frombuffer(data, "<i2", size, at)
    if levels.min() < 0 or levels.max() != highest or levels[entry] != highest:
        return False
    nodes = data[at + 2 * size :]
    list_bytes = NUMBER * (1 + upper_room)
    lowest_bytes = KEY_AND_LEVEL + NUMBER * (1 + lowest_room)
    if len(nodes) != size * lowest_bytes + int(levels.sum(dtype=np.int64)) * list_bytes:
        return False
    return bool(leads_inside(nodes, levels.copy(), upper_room, lowest_room))
