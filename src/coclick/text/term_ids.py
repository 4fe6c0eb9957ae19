"""Numbers for words, where an engine has no names for dimensions: the same in all models with the word."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SPACE = 1_000_000_000  # numbers are below: the dimensions of pgvector's sparsevec; Qdrant has more


def numbered(tokens: Sequence[str]) -> NDArray[np.int64]:
    """A number for each token that stays the same when a model is trained again: its CRC-32 modulo 10⁹.

    Of tokens with equal numbers the first by letter keeps it; the others get the next that are free.
    """
    ids = np.fromiter((zlib.crc32(token.encode()) % SPACE for token in tokens), np.int64, len(tokens))
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
                number = (number + 1) % SPACE
            taken.add(number)
            ids[place] = number
        owners.add(number)
    return ids
