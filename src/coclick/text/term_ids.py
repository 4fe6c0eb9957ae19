"""Stable integer ids of terms, for engines whose sparse vectors have numbered dimensions."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

N_TERM_IDS = 1_000_000_000  # ids are below this: the most dimensions of pgvector's sparsevec


def stable_term_ids(tokens: Sequence[str]) -> NDArray[np.int64]:
    """Return an id for each token that does not change when a model is retrained: its CRC-32 modulo 10⁹.

    Of tokens with equal ids the first in code-point order keeps it; the others get the next free ones.
    """
    ids = np.fromiter((zlib.crc32(token.encode()) % N_TERM_IDS for token in tokens), np.int64, len(tokens))
    found, counts = np.unique(ids, return_counts=True)
    if len(found) == len(ids):
        return ids
    shared = np.isin(ids, found[counts > 1])
    taken = set(found.tolist())
    owners: set[int] = set()
    for place in sorted(np.flatnonzero(shared).tolist(), key=lambda place: tokens[place]):
        number = int(ids[place])
        if number in owners:
            while number in taken:
                number = (number + 1) % N_TERM_IDS
            taken.add(number)
            ids[place] = number
        owners.add(number)
    return ids
