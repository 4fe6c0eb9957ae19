"""Ask the Parquet files of this export with DuckDB: python3 ask.py QUERY (pip install duckdb).

This file is part of coclick and is copied into exports.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from coclick.exporters.shipping.answer import Recipe, Similar, answer

_HERE = Path(__file__).resolve().parent
_SIMILAR = """
SELECT any_value(q.clicked), any_value(q.weights), sum(u.weight * a.weight) AS similarity
FROM (SELECT query, unnest(units) AS unit, unnest(unit_weights) AS weight FROM queries) u
JOIN (SELECT unnest($1::VARCHAR[]) AS unit, unnest($2::DOUBLE[]) AS weight) a USING (unit)
JOIN queries q USING (query) GROUP BY query ORDER BY similarity DESC LIMIT $3"""
_DOCUMENTS = """
WITH found AS (
    SELECT doc, sum(d.weight * a.weight) AS score
    FROM (SELECT doc, unnest(words) AS word, unnest(weights) AS weight FROM documents) d
    JOIN (SELECT unnest($1::VARCHAR[]) AS word, unnest($2::DOUBLE[]) AS weight) a USING (word) GROUP BY doc
)
(SELECT doc, score FROM found ORDER BY score DESC LIMIT $3)
UNION (SELECT doc, score FROM found WHERE doc IN (SELECT unnest($4::VARCHAR[])))"""


class Parquet:
    """The files of the export, as views of DuckDB."""

    def __init__(self, folder: Path) -> None:
        """Open the files of the folder `search`."""
        self.connection = duckdb.connect()
        for view, files in (
            ("queries", folder / "queries-*.parquet"),
            ("documents", folder.parent / "documents-*.parquet"),
        ):
            path = str(files).replace("'", "''")
            self.connection.execute(f"CREATE VIEW {view} AS SELECT * FROM '{path}'")

    def ranking(self, query: str) -> Sequence[tuple[str, float]]:
        """Look up the stored ranking."""
        found = self._rows("SELECT docs, scores FROM queries WHERE query = $1", query)
        return [pair for docs, scores in found for pair in zip(docs, scores, strict=True)]

    def similar_queries(self, vector: Mapping[str, float], n: int) -> Iterator[Similar]:
        """Join the units of all queries."""
        for clicked, weights, similarity in self._rows(_SIMILAR, [*vector], [*vector.values()], n):
            yield Similar(similarity, clicked, weights)

    def match_documents(self, words: Mapping[str, float], n: int, docs: Sequence[str]) -> Mapping[str, float]:
        """Join the words of all documents."""
        return dict(self._rows(_DOCUMENTS, [*words], [*words.values()], n, list(docs)))

    def _rows(self, sql: str, *parameters: Any) -> list[Any]:
        return self.connection.execute(sql, list(parameters)).fetchall()


def ask(query: str) -> list[tuple[str, float]]:
    """Return the best documents for a query, with their scores."""
    return answer(Parquet(_HERE), Recipe.read(_HERE), query)


def main(arguments: list[str]) -> None:
    """Ask one query."""
    if len(arguments) != 1:
        sys.exit(__doc__)
    for doc, score in ask(arguments[0]):
        print(f"{score:.6f}\t{doc}")


if __name__ == "__main__":
    main(sys.argv[1:])
