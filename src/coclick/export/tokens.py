"""Words as engines can take them: escaped where a character means something, or numbered."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from coclick.sparse import Csr

ID_SPACE = 1_000_000_000  # the dimensions of pgvector's sparsevec; Qdrant has more


def escaped(tokens: Sequence[str], characters: str) -> list[str]:
    """Tokens in which each of these characters, and %, is written as in URLs: 3.5mm is 3%2E5mm."""
    pattern = re.compile(f"[{characters}%]")
    return [pattern.sub(_percent, token) if pattern.search(token) else token for token in tokens]


def numbered(tokens: Sequence[str]) -> NDArray[np.int64]:
    """A number for each token that stays the same when a model is trained again: its CRC-32 modulo 10⁹.

    Of tokens with equal numbers the first by letter keeps it; the others get the next that are free.
    """
    ids = np.fromiter((zlib.crc32(token.encode()) % ID_SPACE for token in tokens), np.int64, len(tokens))
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
                number = (number + 1) % ID_SPACE
            taken.add(number)
            ids[place] = number
        owners.add(number)
    return ids


def by_number(rows: Csr, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], Csr]:
    """For each entry the number of its column, and the rows; the numbers ascending in each row."""
    found = ids[rows.indices]
    order = np.lexsort((found, np.repeat(np.arange(rows.rows), rows.lengths())))
    return found[order], Csr(rows.indptr, rows.indices[order], rows.data[order], rows.columns)


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())
