"""The state of a model that was trained on Spark, as its manifest describes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ModelState:
    """Manifest entries from which `coclick.storage.state` reads the state, and training statistics."""

    state: dict[str, Any]
    stats: dict[str, Any]


def csr_entry(table: str, rows: int, columns: int) -> dict[str, Any]:
    """Return the manifest entry of a sparse matrix in a table."""
    return {"type": "csr", "table": table, "rows": rows, "columns": columns}
