"""The language of the texts of a log, guessed from a sample of titles and queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coclick.logs.duckdb_session import DuckDBSession
from coclick.logs.write_arrays import IdMap
from coclick.text.guess_language import guess_language, sample_step
from coclick.text.term_matrix import short_field


def guess(db: DuckDBSession, queries: IdMap, docs: IdMap, text_fields: Sequence[str]) -> dict[str, Any]:
    """Guess the language of the queries in the graph and of the titles (without titles, of the first field).

    Returns the entry of the graph's statistics.
    """
    titles: list[str] = []
    if text_fields:
        titles = _sample(db, "doc_text", f"t{text_fields.index(short_field(text_fields))}", docs)
    return guess_language(titles, _sample(db, "query", "text", queries)).entry()


def _sample(db: DuckDBSession, table: str, column: str, ids: IdMap) -> list[str]:
    """Every n-th text, by final id: the order of rows in the log does not matter."""
    chosen = np.flatnonzero(ids.new >= 0)[:: sample_step(ids.size)].tolist()
    listed = ", ".join(map(str, chosen))
    return [text for (text,) in db.fetchall(f"SELECT {column} FROM {table} WHERE id IN ({listed})") if text]
