"""pgvector: `sparsevec` for sparse vectors and `vector` for dense ones, loaded with COPY.

Limits (README of pgvector 0.8): a sparsevec has at most 10⁹ dimensions, numbered from 1, and 16,000 non-zero
elements (1,000 in an HNSW index). A vector has at most 16,000 dimensions (2,000 in an HNSW index; 4,000 as
halfvec). PostgreSQL texts cannot contain NUL, and B-tree keys have at most 2,704 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings
from coclick.exporters.base import Exporter
from coclick.exporters.limits import DocBlock, Limits
from coclick.exporters.model_vectors import DENSE, SHIPPED, SPARSE, ModelVectors
from coclick.exporters.packed_rows import (
    COPY,
    concatenate,
    escape,
    format_rows,
    hash_numbers,
    write_rows,
    write_term_ids,
)
from coclick.exporters.pgvector_check import write_check
from coclick.exporters.pgvector_scripts import OwnTable, Scripts
from coclick.exporters.sample_queries import SampleQuery
from coclick.storage.directories import write_file
from coclick.text.term_ids import N_TERM_IDS

_HNSW_MAX_WORDS, _HNSW_MAX_DIM, _HNSW_MAX_HALF_DIM = 1000, 2000, 4000
_WORDS = """
`terms.tsv` has the dimension of each word. It is one more than the `number` that `coclick vectors` prints.
"""


class PgVector(Exporter):
    """Exports a table of documents and a table of queries."""

    name = "pgvector"
    title = "PostgreSQL with pgvector"
    documents_file = "documents.tsv"
    accepts = frozenset({SPARSE, DENSE, SHIPPED})
    query_vectors_in = "The table of queries (`queries.tsv`)"
    limits = Limits(max_id_bytes=2600, max_weights=16_000, max_dim=16_000, forbidden=re.compile("\x00"))

    _max_words = 0  # of a document

    def __init__(self, source: ModelVectors, index: str, max_weights: int | None = None) -> None:
        """Name the table and its columns."""
        super().__init__(source, index, max_weights)
        self.table = f'"{index}"'
        self.id_column, self.vector_column = "doc", "vector"
        self.shown_columns = ", title"

    @property
    def vector_type(self) -> str:
        """The type of the column of vectors."""
        return f"vector({self.source.dim})" if self.source.dense else f"sparsevec({N_TERM_IDS})"

    def scripts(self) -> Scripts:
        """Return the scripts for the table that holds the documents."""
        return OwnTable(self.index, self.vector_type)

    def write_schema(self, folder: Path) -> None:
        """Write the scripts that load, roll back and remove, and an optional approximate index."""
        scripts = self.scripts()
        write_file(folder / "schema.sql", scripts.schema())
        write_file(folder / "load.sql", self._load_script(scripts))
        write_file(folder / "rollback.sql", scripts.rollback(self.version))
        write_file(folder / "remove.sql", scripts.remove())
        write_file(folder / "index.sql", self._index())
        if not self.source.dense:
            write_term_ids(folder, self.tokens, self._dimensions)

    def _load_script(self, scripts: Scripts) -> str:
        return scripts.load(self.version, self.base_version, str(self.source.model), self.n_documents)

    def doc_rows(self, block: DocBlock) -> Strings:
        """Return lines in the text format of COPY."""
        self._max_words = max(self._max_words, int(block.vectors.row_nnz().max()))
        doc, title = escape(block.packed_ids, COPY), escape(block.packed_titles, COPY)
        return concatenate(doc, "\t", title, "\t", *self._literals(block.vectors), "\n")

    def write_queries(self, folder: Path, queries: Sequence[str]) -> None:
        """Write the rows of the table of queries."""
        rows = (
            concatenate(escape(Strings.from_list(texts), COPY), "\t", *self._literals(vectors), "\n")
            for texts, vectors in self.query_blocks(queries)
            if texts
        )
        write_rows(folder / "queries.tsv", rows)

    def write_deletions(self, folder: Path, docs: Sequence[str], queries: Sequence[str]) -> None:
        """Write ids and queries in the text format of COPY."""
        for name, gone in (("docs", docs), ("queries", queries)):
            rows = concatenate(escape(Strings.from_list(gone), COPY), "\n")
            write_rows(folder / f"deleted-{name}.tsv", [rows])

    def column_hashes(self) -> NDArray[np.uint64]:
        """Return a hash of each dimension."""
        if self.source.dense:
            return super().column_hashes()
        return hash_numbers(self.source.term_ids())

    def write_sample(self, folder: Path, sample: SampleQuery) -> None:
        """Write the query; `<#>` is the negative inner product."""
        product = f"{self.vector_column} <#> '{self.format_query_vectors(sample.vector)[0]}'"
        sql = f"""SELECT {self.id_column} AS doc, -({product}) AS score{self.shown_columns}
FROM {self.table}
WHERE {product} < 0
ORDER BY {product}, {self.id_column}
LIMIT 10;
"""
        write_file(folder / "sample.sql", sql)
        samples = [found for found in self.samples if found.results]
        names = {"type": self.vector_type, "table": self.table, "version": self.version}
        names |= {"id": self.id_column, "vector": self.vector_column}
        vectors = [self.format_query_vectors(found.vector)[0] for found in samples]
        write_check(folder, samples, vectors, names, own=self.existing is None)

    def readme(self) -> str:
        """Return the psql commands."""
        subquery = f"SELECT vector FROM {self.index}_queries WHERE query = '…'"
        words = "" if self.source.dense else _WORDS
        whole = f"""`load.sql` makes the tables `{self.index}` and `{self.index}_queries` equal to this
export in one transaction. Documents that it does not have are removed."""
        increment = self.increment_note()
        return f"""
Run these commands in this folder, with the URL of your database as `$DB`:

    psql $DB -f load.sql
    psql $DB -f check.sql
    psql $DB -f sample.sql

{increment or whole}
It can run again. If it fails, psql exits with a status other than zero and nothing has changed.
`check.sql` asks sample queries and compares the results with those of coclick; it fails if they differ.
`{self.index}_versions` shows the current version and the one before. The next export, or the next
increment, is loaded in the same way.

    psql $DB -f rollback.sql     # back to the version that was loaded before this one
    psql $DB -f remove.sql       # remove the tables

The search is exact and scans the whole table. `psql $DB -f index.sql` creates an HNSW index, which is fast
and approximate (`SET hnsw.ef_search = 200` raises the recall). PostgreSQL uses the index only if `ORDER BY`
does not contain `doc`. To search for a query of the log, use `ORDER BY vector <#> ({subquery})`.{words}
"""

    def increment_note(self) -> str:
        """Return what `load.sql` of an increment does; empty for a whole export."""
        if self.base_version is None:
            return ""
        return f"""`load.sql` adds, changes and removes documents and queries in one transaction. It is
refused if another version than `{self.base_version}` is loaded."""

    @cached_property
    def _dimensions(self) -> Strings:
        """The dimension of each token; dimensions are numbered from 1."""
        return Strings.from_list(map(str, (self.source.term_ids() + 1).tolist()))

    @cached_property
    def _packed_keys(self) -> Strings:
        """The dimension of each token, as in SQL literals."""
        return concatenate(self._dimensions, ":")

    def _literals(self, vectors: Csr) -> tuple[str, Strings, str]:
        """Return vectors as SQL literals: `{1:0.5,3:0.2}/5` or `[0.5,0,0.2]`, in three columns."""
        if self.source.dense:
            return "[", format_rows(vectors), "]"
        return "{", format_rows(vectors, self._packed_keys), f"}}/{N_TERM_IDS}"

    def format_query_vectors(self, vectors: Csr) -> list[str]:
        """Return vectors as SQL literals."""
        return concatenate(*self._literals(vectors)).to_list()

    def _index(self) -> str:
        dim, vector = self.source.dim, self.vector_column
        create = f'CREATE INDEX IF NOT EXISTS "{self.index}_hnsw" ON {self.table} USING hnsw'
        if not self.source.dense:
            if self._max_words > _HNSW_MAX_WORDS:
                return (
                    f"-- HNSW indexes at most {_HNSW_MAX_WORDS:,} words of a document; "
                    f"one has {self._max_words:,}.\n"
                    f"-- Export with --max-weights {_HNSW_MAX_WORDS} to create an index.\n"
                )
            return f"{create} ({vector} sparsevec_ip_ops);\n"
        if dim <= _HNSW_MAX_DIM:
            return f"{create} ({vector} vector_ip_ops);\n"
        if dim <= _HNSW_MAX_HALF_DIM:
            half = f"halfvec({dim})"
            return (
                f"-- Search with: ORDER BY {vector}::{half} <#> '…'::{half}\n"
                f"{create} (({vector}::{half}) halfvec_ip_ops);\n"
            )
        return f"-- HNSW indexes at most {_HNSW_MAX_HALF_DIM:,} dimensions; the vectors have {dim:,}.\n"


EXPORTER = PgVector
