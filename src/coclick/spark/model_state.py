"""What a model has learned on Spark, as its manifest remembers it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Learned:
    """The state of a model, as entries that `coclick.storage.state` reads from tables, and figures."""

    state: dict[str, Any]
    figures: dict[str, Any]


def csr_entry(table: str, rows: int, columns: int) -> dict[str, Any]:
    """Sparse rows in a table."""
    return {"type": "csr", "table": table, "rows": rows, "columns": columns}
