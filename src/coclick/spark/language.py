"""The language of the texts of a graph on Spark, guessed as `coclick.logs.language` does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from coclick.text.guess_language import guess_language, sample_step
from coclick.text.term_matrix import short_field


def guess(
    queries: DataFrame, docs: DataFrame, text_fields: Sequence[str], sizes: Mapping[str, int]
) -> dict[str, Any]:
    """Guess the language of the queries and of the titles (without titles, of the first field)."""
    titles: list[str] = []
    if text_fields:
        titles = _sample(docs, f"text_{short_field(text_fields)}", sizes["docs"])
    return guess_language(titles, _sample(queries, "text", sizes["queries"])).entry()


def _sample(table: DataFrame, column: str, size: int) -> list[str]:
    """Every n-th text, by id: the same ones as on one machine."""
    rows = table.filter(F.col("id") % sample_step(size) == 0).select(F.col(column).alias("text")).collect()
    return [row["text"] for row in rows if row["text"]]
