"""Parquet: documents and queries as lists of words and weights, for DuckDB, Spark, pandas and many others.

    documents-00000.parquet …   doc VARCHAR, title VARCHAR, words VARCHAR[], weights FLOAT[]
    queries.parquet             query VARCHAR, words VARCHAR[], weights FLOAT[]

Images have a column `vector FLOAT[]` instead. Weights are the model's own, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import duckdb
import numpy as np

from coclick.arrays.csr import Csr
from coclick.exporters.engine import Engine
from coclick.exporters.folder import write_text
from coclick.exporters.limits import Block
from coclick.exporters.lines import joined, numbers
from coclick.exporters.sample import Sample

_ROWS = 1 << 16  # of a file
_BETWEEN = "\x1f"  # no word holds it: words are cut where it stands


class Parquet(Engine):
    """Tables."""

    name = "parquet"
    title = "Parquet"
    takes_images = True
    queries_are = "`queries.parquet`"

    def write_schema(self, folder: Path) -> None:
        """The files carry their own."""

    def write_documents(self, folder: Path, blocks: Iterator[Block]) -> None:
        """Some thousand documents a file."""
        rows = ({"doc": block.ids, "title": block.titles, **self._lists(block.vectors)} for block in blocks)
        for number, columns in enumerate(_gathered(rows, ["doc", "title", *self._fields])):
            self._write(folder / f"documents-{number:05}.parquet", columns)

    def write_queries(self, folder: Path, queries: Sequence[str]) -> None:
        """In the same shape."""
        rows = ({"query": texts, **self._lists(vectors)} for texts, vectors in self.query_blocks(queries))
        for columns in _gathered(rows, ["query", *self._fields], most=len(queries)):
            self._write(folder / "queries.parquet", columns)

    def write_sample(self, folder: Path, sample: Sample) -> None:
        """Exact search in SQL."""
        text = sample.query.replace("'", "''")
        if self.content.dense:
            score = "list_inner_product(d.vector, q.vector)"
            tables = "'documents-*.parquet' d, asked q"
            body = f"SELECT doc, {score} AS score, title\nFROM {tables}\nWHERE score > 0\n"
        else:
            body = (
                "SELECT doc, sum(d.weight * q.weight) AS score, any_value(title) AS title\nFROM (\n"
                "    SELECT doc, title, unnest(words) AS word, unnest(weights) AS weight\n"
                "    FROM 'documents-*.parquet'\n) d\nJOIN (\n"
                "    SELECT unnest(words) AS word, unnest(weights) AS weight FROM asked\n"
                ") q USING (word)\nGROUP BY doc\n"
            )
        asked = f"WITH asked AS (SELECT * FROM 'queries.parquet' WHERE query = '{text}')\n"
        write_text(folder / "sample.sql", f"{asked}{body}ORDER BY score DESC, doc\nLIMIT 10;\n")

    def readme(self) -> str:
        """With DuckDB."""
        return """
There is nothing to load. With DuckDB's command line, in this folder:

    duckdb -c "DESCRIBE FROM 'documents-*.parquet'"
    duckdb -c "FROM 'documents-*.parquet' LIMIT 5"
    duckdb < sample.sql
"""

    @property
    def _fields(self) -> list[str]:
        return ["vector"] if self.content.dense else ["words", "weights"]

    def _lists(self, vectors: Csr) -> dict[str, list[str]]:
        """Rows as texts from which DuckDB makes lists: it takes no ragged arrays from numpy."""
        weights = joined(vectors, numbers(vectors.data), _BETWEEN)
        if self.content.dense:
            return {"vector": weights}
        words = [self.tokens[term] for term in vectors.indices.tolist()]
        return {"words": joined(vectors, words, _BETWEEN), "weights": weights}

    def _write(self, path: Path, columns: dict[str, list[str]]) -> None:
        table = {name: np.array(values, object) for name, values in columns.items()}
        lists = {name: f"string_split({name}, chr(31))" for name in self._fields}
        for name in lists.keys() - {"words"}:
            lists[name] += "::FLOAT[]"
        chosen = ", ".join(f"{lists.get(name, name)} AS {name}" for name in columns)
        with duckdb.connect(config={"preserve_insertion_order": True}) as connection:
            connection.register("rows", table)
            target = str(path).replace("'", "''")
            connection.execute(
                f"COPY (SELECT {chosen} FROM rows) TO '{target}' (FORMAT parquet, COMPRESSION zstd)"
            )


def _gathered(
    rows: Iterable[dict[str, list[str]]], names: list[str], most: int = _ROWS
) -> Iterator[dict[str, list[str]]]:
    """Columns of blocks put together to those of files; at least one, which may be empty."""
    found: dict[str, list[str]] = {name: [] for name in names}
    written = False
    for block in rows:
        for name, values in block.items():
            found[name] += values
        if len(found[names[0]]) >= most:
            yield found
            found, written = {name: [] for name in names}, True
    if found[names[0]] or not written:
        yield found


ENGINE = Parquet
