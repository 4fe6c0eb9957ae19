"""Words as engines can take them: escaped where a character means something, or numbered."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr


def escaped(tokens: Sequence[str], characters: str) -> list[str]:
    """Tokens in which each of these characters, and %, is written as in URLs: 3.5mm is 3%2E5mm."""
    pattern = re.compile(f"[{characters}%]")
    return [pattern.sub(_percent, token) if pattern.search(token) else token for token in tokens]


def by_number(rows: Csr, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], Csr]:
    """For each entry the number of its column, and the rows; the numbers ascending in each row."""
    found = ids[rows.indices]
    order = np.lexsort((found, np.repeat(np.arange(rows.rows), rows.row_nnz())))
    return found[order], Csr(rows.indptr, rows.indices[order], rows.data[order], rows.columns)


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())
