"""The language of the texts of a graph on Spark, guessed as `coclick.logs.language` does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from coclick.text.guess_language import SAMPLE, guess_language
from coclick.text.term_matrix import short_field


def guess(queries: DataFrame, docs: DataFrame, text_fields: Sequence[str]) -> dict[str, Any]:
    """Guess the language of the queries and of the titles (without titles, of the first field)."""
    titles = _sample(docs, f"text_{short_field(text_fields)}") if text_fields else []
    return guess_language(titles, _sample(queries, "text")).entry()


def _sample(table: DataFrame, column: str) -> list[str]:
    texts = table.select(F.col(column).alias("text")).filter("text <> ''")
    rows = texts.orderBy(F.xxhash64("text"), "text").limit(SAMPLE).collect()
    return [row["text"] for row in rows]
