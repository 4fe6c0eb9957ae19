"""pgvector: `sparsevec` for words and `vector` for images, loaded with COPY.

Limits (README of pgvector 0.8): a sparsevec has up to 10⁹ dimensions, counted from 1, of which 16,000 are not
zero, or 1,000 under an HNSW index; a vector has up to 16,000, or 2,000 under one, beyond which halfvec (half
precision) is indexed up to 4,000. PostgreSQL's texts hold no NUL, and its B-trees no key beyond 2,704 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from coclick.arrays.csr import Csr
from coclick.exporters.content import Content
from coclick.exporters.engine import Engine
from coclick.exporters.folder import write_text
from coclick.exporters.limits import Block, Limits
from coclick.exporters.lines import joined, numbers, pairs, write_terms
from coclick.exporters.sample import Sample
from coclick.storage.directories import write_file
from coclick.text.term_ids import N_TERM_IDS

_INDEXED_WORDS, _INDEXED, _INDEXED_HALF = 1000, 2000, 4000
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}  # of COPY, the backslash first
_WORDS = """
`terms.tsv` has the dimension of each word: `number` in what `coclick vectors` prints, plus one.
"""


class PgVector(Engine):
    """A table of documents and one of queries."""

    name = "pgvector"
    title = "PostgreSQL with pgvector"
    takes_images = True
    queries_are = "The table of queries"
    limits = Limits(id_bytes=2600, weights=16_000, columns=16_000, unwritable=re.compile("\x00"))

    def __init__(self, content: Content, index: str, max_weights: int | None = None) -> None:
        """With numbers for words."""
        super().__init__(content, index, max_weights)
        self.ids = content.numbers()
        self._keys = [f"{number + 1}:" for number in self.ids.tolist()]
        self._longest = 0

    @property
    def _type(self) -> str:
        return f"vector({self.content.columns})" if self.content.dense else f"sparsevec({N_TERM_IDS})"

    def write_schema(self, folder: Path) -> None:
        """Tables, and an index for those who want it: it is approximate."""
        name = self.index
        write_text(
            folder / "schema.sql",
            f"""CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE {name} (doc text PRIMARY KEY, title text NOT NULL, vector {self._type} NOT NULL);
CREATE TABLE {name}_queries (query text NOT NULL, vector {self._type} NOT NULL);
""",
        )
        write_text(
            folder / "load.sql",
            f"""\\copy {name} FROM 'documents.tsv'
\\copy {name}_queries FROM 'queries.tsv'
ANALYZE {name};
""",
        )
        write_text(folder / "index.sql", self._index())
        if not self.content.dense:
            write_terms(folder, self.tokens, self.ids + 1)

    def write_documents(self, folder: Path, blocks: Iterator[Block]) -> None:
        """Lines as COPY reads them."""

        def lines() -> Iterator[str]:
            for block in blocks:
                self._longest = max(self._longest, int(block.vectors.row_nnz().max()))
                texts = _escaped(block.ids), _escaped(block.titles)
                for doc, title, vector in zip(*texts, self._literals(block.vectors), strict=True):
                    yield f"{doc}\t{title}\t{vector}\n"

        write_file(folder / "documents.tsv", lines())

    def write_queries(self, folder: Path, queries: Sequence[str]) -> None:
        """For the table of queries."""

        def lines() -> Iterator[str]:
            for texts, vectors in self.query_blocks(queries):
                for text, vector in zip(_escaped(texts), self._literals(vectors), strict=True):
                    yield f"{text}\t{vector}\n"

        write_file(folder / "queries.tsv", lines())

    def write_sample(self, folder: Path, sample: Sample) -> None:
        """Exact without the index, approximate with it. <#> is the negative inner product."""
        vector = self._literals(sample.vector)[0]
        write_text(
            folder / "sample.sql",
            f"""SELECT doc, -(vector <#> '{vector}') AS score, title
FROM {self.index}
WHERE vector <#> '{vector}' < 0
ORDER BY vector <#> '{vector}', doc
LIMIT 10;
""",
        )

    def readme(self) -> str:
        """With psql."""
        asked = f"SELECT vector FROM {self.index}_queries WHERE query = '…'"
        words = "" if self.content.dense else _WORDS
        return f"""
In this folder, with the address of your database in place of `$DB`:

    psql $DB -f schema.sql
    psql $DB -f load.sql
    psql $DB -f sample.sql

This is exact: it reads the whole table. `psql $DB -f index.sql` makes an HNSW index, which is fast and
approximate (`SET hnsw.ef_search = 200` finds more); leave `doc` out of `ORDER BY` then, or it is not used.
A query of the log is asked with `ORDER BY vector <#> ({asked})`.{words}
"""

    def _literals(self, vectors: Csr) -> list[str]:
        """`{1:0.5,3:0.2}/5` or `[0.5,0,0.2]`."""
        if self.content.dense:
            return [f"[{row}]" for row in joined(vectors, numbers(vectors.data), ",")]
        return [f"{{{row}}}/{N_TERM_IDS}" for row in pairs(vectors, self._keys, numbers(vectors.data), ",")]

    def _index(self) -> str:
        name, dim = self.index, self.content.columns
        if not self.content.dense:
            if self._longest > _INDEXED_WORDS:
                return (
                    f"-- HNSW takes {_INDEXED_WORDS:,} words of a document, and one has {self._longest:,}.\n"
                    f"-- Export again with --most-weights {_INDEXED_WORDS} for an index.\n"
                )
            return f"CREATE INDEX ON {name} USING hnsw (vector sparsevec_ip_ops);\n"
        if dim <= _INDEXED:
            return f"CREATE INDEX ON {name} USING hnsw (vector vector_ip_ops);\n"
        if dim <= _INDEXED_HALF:
            half = f"halfvec({dim})"
            return (
                f"-- Ask with: ORDER BY vector::{half} <#> '…'::{half}\n"
                f"CREATE INDEX ON {name} USING hnsw ((vector::{half}) halfvec_ip_ops);\n"
            )
        return f"-- HNSW takes up to {_INDEXED_HALF:,} dimensions, and there are {dim:,}.\n"


def _escaped(texts: list[str]) -> list[str]:
    """Texts for COPY, all at once, which is fast; none has a NUL."""
    if not texts:
        return []
    whole = "\x00".join(texts)
    for character, written in _ESCAPES.items():
        whole = whole.replace(character, written)
    return whole.split("\x00")


ENGINE = PgVector
