"""Parquet: documents and queries as lists of words and weights, for DuckDB, Spark, pandas and other tools.

    documents-00000.parquet …   doc VARCHAR, title VARCHAR, words VARCHAR[], weights FLOAT[]
    queries.parquet             query VARCHAR, words VARCHAR[], weights FLOAT[]

An increment has only new and changed documents and queries, and `deleted-docs.parquet` and
`deleted-queries.parquet`. Dense vectors have one column `vector FLOAT[]` instead. Weights are exactly those
of the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import duckdb
import numpy as np

from coclick.arrays.csr import Csr
from coclick.exporters.base import Exporter
from coclick.exporters.formatting import format_floats, join_entries
from coclick.exporters.limits import DocBlock
from coclick.exporters.model_vectors import DENSE, SHIPPED, SPARSE
from coclick.exporters.sample_queries import SampleQuery
from coclick.storage.directories import write_file

_FILE_ROWS = 1 << 16
_SEPARATOR = "\x1f"  # the tokenizer splits at it, so no word contains it
_MERGE = """
The sample query needs all documents. With the whole export in `../base`, this writes them to `whole.parquet`;
the same with `query` merges the queries:

    duckdb -c "COPY (FROM 'documents-*.parquet' UNION ALL BY NAME (FROM '../base/documents-*.parquet'
        WHERE doc NOT IN (SELECT doc FROM 'documents-*.parquet')
        AND doc NOT IN (SELECT doc FROM 'deleted-docs.parquet'))) TO 'whole.parquet'"

Files have no version that could be checked: `base_version` in `manifest.json` must be the `version` in the
`manifest.json` of `../base`.
"""


class Parquet(Exporter):
    """Exports Parquet files."""

    name = "parquet"
    title = "Parquet"
    accepts = frozenset({SPARSE, DENSE, SHIPPED})
    query_vectors_in = "`queries.parquet`"

    def write_schema(self, folder: Path) -> None:
        """Write nothing: Parquet files contain their schema."""

    def write_documents(self, folder: Path, blocks: Iterator[DocBlock]) -> None:
        """Write files of at most some ten thousand documents."""
        rows = ({"doc": block.ids, "title": block.titles, **self._lists(block.vectors)} for block in blocks)
        for number, columns in enumerate(_concatenate(rows, ["doc", "title", *self._fields])):
            self._write(folder / f"documents-{number:05}.parquet", columns)

    def write_queries(self, folder: Path, queries: Sequence[str]) -> None:
        """Write `queries.parquet`, with the same columns."""
        rows = ({"query": texts, **self._lists(vectors)} for texts, vectors in self.query_blocks(queries))
        for columns in _concatenate(rows, ["query", *self._fields], max_rows=len(queries)):
            self._write(folder / "queries.parquet", columns)

    def write_deletions(self, folder: Path, docs: Sequence[str], queries: Sequence[str]) -> None:
        """Write one column of ids, and one of queries."""
        for name, column, gone in (("docs", "doc", docs), ("queries", "query", queries)):
            self._write(folder / f"deleted-{name}.parquet", {column: list(gone)})

    def write_sample(self, folder: Path, sample: SampleQuery) -> None:
        """Write an exact search in SQL."""
        text = sample.query.replace("'", "''")
        if self.source.dense:
            score = "list_inner_product(d.vector, q.vector)"
            tables = "'documents-*.parquet' d, wanted q"
            body = f"SELECT doc, {score} AS score, title\nFROM {tables}\nWHERE score > 0\n"
        else:
            body = (
                "SELECT doc, sum(d.weight * q.weight) AS score, any_value(title) AS title\nFROM (\n"
                "    SELECT doc, title, unnest(words) AS word, unnest(weights) AS weight\n"
                "    FROM 'documents-*.parquet'\n) d\nJOIN (\n"
                "    SELECT unnest(words) AS word, unnest(weights) AS weight FROM wanted\n"
                ") q USING (word)\nGROUP BY doc\n"
            )
        wanted = f"WITH wanted AS (SELECT * FROM 'queries.parquet' WHERE query = '{text}')\n"
        write_file(folder / "sample.sql", f"{wanted}{body}ORDER BY score DESC, doc\nLIMIT 10;\n")

    def readme(self) -> str:
        """Return the DuckDB commands."""
        merge = "" if self.base_version is None else _MERGE
        return f"""
DuckDB reads the files directly. Run these commands in this folder:

    duckdb -c "DESCRIBE FROM 'documents-*.parquet'"
    duckdb -c "FROM 'documents-*.parquet' LIMIT 5"
    duckdb < sample.sql
{merge}"""

    @property
    def _fields(self) -> list[str]:
        return ["vector"] if self.source.dense else ["words", "weights"]

    def _lists(self, vectors: Csr) -> dict[str, list[str]]:
        """Rows as joined texts, which DuckDB splits into lists: it does not read ragged numpy arrays."""
        weights = join_entries(vectors, format_floats(vectors.data), _SEPARATOR)
        if self.source.dense:
            return {"vector": weights}
        words = [self.tokens[term] for term in vectors.indices.tolist()]
        return {"words": join_entries(vectors, words, _SEPARATOR), "weights": weights}

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


def _concatenate(
    rows: Iterable[dict[str, list[str]]], names: list[str], max_rows: int = _FILE_ROWS
) -> Iterator[dict[str, list[str]]]:
    """Concatenate blocks to the columns of files; yield at least one file, which may be empty."""
    found: dict[str, list[str]] = {name: [] for name in names}
    written = False
    for block in rows:
        for name, values in block.items():
            found[name] += values
        if len(found[names[0]]) >= max_rows:
            yield found
            found, written = {name: [] for name in names}, True
    if found[names[0]] or not written:
        yield found


EXPORTER = Parquet
