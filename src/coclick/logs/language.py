"""The language of the texts of a log, guessed from a sample of titles and queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.logs.duckdb_session import DuckDBSession
from coclick.text.guess_language import SAMPLE, guess_language
from coclick.text.term_matrix import short_field

_MORE = 20  # times as many queries are read, because some may not be in the graph


def guess(db: DuckDBSession, used: NDArray[np.bool_], text_fields: Sequence[str]) -> dict[str, Any]:
    """Guess the language of the queries in the graph and of the titles (without titles, of the first field).

    `used` masks the queries in the graph. Samples are by hash, so that they do not depend on the order of
    rows. Returns the entry of the graph's statistics.
    """
    found = _sample(db, "id, text", "query", "text", _MORE * SAMPLE)
    queries = [text for row, text in found if used[row]][:SAMPLE]
    titles: list[str] = []
    if text_fields:
        column = f"t{text_fields.index(short_field(text_fields))}"
        titles = [text for (text,) in _sample(db, column, "doc_text", column, SAMPLE)]
    return guess_language(titles, queries).entry()


def _sample(db: DuckDBSession, columns: str, table: str, text: str, size: int) -> list[tuple[Any, ...]]:
    return db.fetchall(
        f"SELECT {columns} FROM {table} WHERE {text} <> '' ORDER BY hash({text}), {text} LIMIT {size}"
    )
