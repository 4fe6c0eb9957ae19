"""Parquet: documents and queries as lists of words and weights, for DuckDB, Spark, pandas and other tools.

    documents-00000.parquet …   doc VARCHAR, title VARCHAR, words VARCHAR[], weights FLOAT[]
    queries.parquet             query VARCHAR, words VARCHAR[], weights FLOAT[]

An increment has only new and changed documents and queries, and `deleted-docs.parquet` and
`deleted-queries.parquet`; a program merges it with its base. Dense vectors have one column `vector FLOAT[]`
instead. Weights are exactly those of the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from coclick.arrays.csr import Csr, vstack
from coclick.arrays.strings import Strings
from coclick.exporters.base import Exporter
from coclick.exporters.limits import DocBlock
from coclick.exporters.model_vectors import DENSE, SHIPPED, SPARSE
from coclick.exporters.parquet_files import write_table
from coclick.exporters.program_files import write_program, write_sample_requests
from coclick.exporters.sample_queries import SampleQuery
from coclick.storage.directories import write_file

_FILE_ROWS = 1 << 16
_DIRECT = """
DuckDB, Spark and pandas read the files directly. In this folder, with the command line of DuckDB:

    duckdb -c "DESCRIBE FROM 'documents-*.parquet'"
    duckdb -c "FROM 'documents-*.parquet' LIMIT 5"
    duckdb < sample.sql

`python3 run.py . check` compares the results of sample queries with those of coclick. A program keeps
versions, so that increments can be merged and you can go back:
"""


class Parquet(Exporter):
    """Exports Parquet files."""

    name = "parquet"
    title = "Parquet"
    accepts = frozenset({SPARSE, DENSE, SHIPPED})
    query_vectors_in = "`queries.parquet`"

    def write_schema(self, folder: Path) -> None:
        """Write the program that merges increments; Parquet files contain their schema."""
        settings = {
            "version": self.version,
            "base_version": self.base_version,
            "documents": self.n_documents,
        }
        program = "parquet_versions"
        write_program(folder, self.title, program, ("folder_versions",), settings, program)

    def write_documents(self, folder: Path, blocks: Iterator[DocBlock]) -> None:
        """Write files of some ten thousand documents."""
        for number, block in enumerate(self._file_blocks(blocks)):
            texts = {"doc": block.packed_ids, "title": block.packed_titles}
            write_table(folder / f"documents-{number:05}.parquet", texts, block.vectors, self._words)

    def write_queries(self, folder: Path, queries: Sequence[str]) -> None:
        """Write `queries.parquet`, with the same columns."""
        found = [*self.query_blocks(queries)]
        texts = Strings.from_list(text for block, _ in found for text in block)
        vectors = vstack(*(vectors for _, vectors in found)) if found else Csr.empty(0, self.source.dim)
        write_table(folder / "queries.parquet", {"query": texts}, vectors, self._words)

    def write_deletions(self, folder: Path, docs: Sequence[str], queries: Sequence[str]) -> None:
        """Write one column of ids, and one of queries."""
        for name, column, gone in (("docs", "doc", docs), ("queries", "query", queries)):
            write_table(folder / f"deleted-{name}.parquet", {column: Strings.from_list(gone)})

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
        write_sample_requests(folder, self, self.sample_vector)

    def readme(self) -> str:
        """Return the commands."""
        return f"""{"" if self.base_version else _DIRECT}
1. Run these commands in this folder; `~/parquet` is the folder for all versions of the files:

       pip install duckdb
       python3 run.py ~/parquet load
       python3 run.py ~/parquet check

2. {self._load_note()}

3. `check` asks the queries of `sample-queries.ndjson` and compares the results with those of coclick.
   By hand, with the command line of DuckDB: `cd ~/parquet/current && duckdb < sample.sql`

4. Load the next export, or the next increment, in the same way. The way back:

       python3 run.py ~/parquet rollback     # to the version that was loaded before this one
       python3 run.py ~/parquet remove       # delete all versions
"""

    def _load_note(self) -> str:
        note = f"""`load` copies the files to `~/parquet/versions/{self.version}` and then lets the link
   `~/parquet/current` point to it, at once. It can be interrupted and run again, and a second run changes
   nothing."""
        if self.base_version is None:
            return note
        return f"""{note}
   This increment is refused if another version than `{self.base_version}` is loaded. Files of that version
   without changed documents are linked, the others are written anew."""

    @cached_property
    def _words(self) -> Strings | None:
        """The words that name the columns of sparse vectors."""
        return None if self.source.dense else Strings.from_list(self.tokens)

    def _file_blocks(self, blocks: Iterable[DocBlock]) -> Iterator[DocBlock]:
        """Join blocks to the documents of files; yield at least one, which may be empty."""
        found: list[DocBlock] = []
        written = False
        for block in blocks:
            found.append(block)
            if sum(len(part.packed_ids) for part in found) >= _FILE_ROWS:
                yield DocBlock.joined(found)
                found, written = [], True
        if found or not written:
            yield DocBlock.joined(found) if found else self._no_documents()

    def _no_documents(self) -> DocBlock:
        nothing = Strings.from_list([])
        return DocBlock(nothing, nothing, Csr.empty(0, self.source.dim))


EXPORTER = Parquet
