"""Qdrant: a collection of sparse or dense vectors.

Limits (documentation of Qdrant 1.16, "Vectors" and "Points"): indices of a sparse vector are distinct
unsigned 32-bit integers. The id of a point is a 64-bit integer or a UUID, so it is a hash of the document id,
which is stored in the payload. A dense vector has at most 65,536 dimensions, a request at most 32 MB.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings
from coclick.exporters.base import Exporter
from coclick.exporters.limits import DocBlock, Limits
from coclick.exporters.model_vectors import DENSE, SHIPPED, SPARSE
from coclick.exporters.packed_rows import (
    JSON,
    concatenate,
    cut_rows,
    escape,
    format_rows,
    hash_numbers,
    write_term_ids,
)
from coclick.exporters.program_files import write_program, write_sample_requests
from coclick.exporters.sample_queries import SampleQuery
from coclick.storage.directories import write_file, write_json

_REQUEST_SIZE = 4 << 20  # bytes
_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)
_DASHES = np.array([8, 13, 18, 23])  # in a UUID
_DENSE_NOTE = "The sample query runs an exact search. Without `params` it is approximate and faster."
_SPARSE_NOTE = """Qdrant's search of sparse vectors is exact. `terms.tsv` has the index of each word: the
`number` that `coclick vectors` prints."""


class Qdrant(Exporter):
    """Exports a collection of points with one vector, named `words` or `embedding`."""

    name = "qdrant"
    title = "Qdrant"
    accepts = frozenset({SPARSE, DENSE, SHIPPED})
    limits = Limits(max_dim=65_536)
    list_name = "points"  # of the documents in a line of `points.ndjson`

    @property
    def vector_name(self) -> str:
        """The name of the vector in the collection."""
        return "embedding" if self.source.dense else "words"

    def write_schema(self, folder: Path) -> None:
        """Write the definition of the collection, and the program that loads it."""
        if self.source.dense:
            dense = {self.vector_name: {"size": self.source.dim, "distance": "Dot"}}
            write_json(folder / "collection.json", {"vectors": dense})
        else:
            sparse: dict[str, Any] = {self.vector_name: {}}
            write_json(folder / "collection.json", {"vectors": {}, "sparse_vectors": sparse})
            write_term_ids(folder, self.tokens, self._indices)
        self.write_programs(folder)

    def write_programs(self, folder: Path) -> None:
        """Write the program that loads the collection."""
        settings = {"alias": self.index, **self.version_settings()}
        write_program(
            folder, self.title, "qdrant_alias", ("qdrant_connection",), settings, "qdrant_connection"
        )

    def version_settings(self) -> dict[str, Any]:
        """Return the versions and the number of documents, for `settings.json`."""
        return {
            "version": self.version,
            "base_version": self.base_version,
            "documents": self.n_documents,
        }

    def write_documents(self, folder: Path, blocks: Iterator[DocBlock]) -> None:
        """Write one request per line."""
        write_file(folder / "points.ndjson", self._requests(map(self.doc_rows, blocks)))

    def _requests(self, blocks: Iterator[Strings]) -> Iterator[str | memoryview]:
        for block in blocks:
            for rows in cut_rows(block, _REQUEST_SIZE):
                yield f'{{"{self.list_name}":['
                yield rows[:-1]  # without the last comma
                yield "]}\n"

    def doc_rows(self, block: DocBlock) -> Strings:
        """Return one point per document, and a comma."""
        doc, title = (escape(texts, JSON) for texts in (block.packed_ids, block.packed_titles))
        start = ('{"id":"', point_ids(block.packed_ids), '","payload":{"doc":"', doc, '","title":"', title)
        return concatenate(
            *start, f'"}},"vector":{{"{self.vector_name}":', *self.vector_columns(block.vectors), "}},"
        )

    def column_hashes(self) -> NDArray[np.uint64]:
        """Return a hash of each index."""
        return super().column_hashes() if self.source.dense else hash_numbers(self.source.term_ids())

    @cached_property
    def _indices(self) -> Strings:
        return Strings.from_list(map(str, self.source.term_ids().tolist()))

    def vector_columns(self, vectors: Csr) -> tuple[str | Strings, ...]:
        """Return `{"indices":[…],"values":[…]}` for sparse vectors, a list for dense ones, in columns."""
        if self.source.dense:
            return "[", format_rows(vectors), "]"
        indices = format_rows(vectors, self._indices, values=False)
        return '{"indices":[', indices, '],"values":[', format_rows(vectors), "]}"

    def format_query_vectors(self, vectors: Csr) -> list[str]:
        """Return the vectors of queries in the same form."""
        return concatenate(*self.vector_columns(vectors)).to_list()

    def write_sample(self, folder: Path, sample: SampleQuery) -> None:
        """Write the body of a search request, and those that `check` sends."""
        write_json(folder / "sample.json", self._request(sample))
        write_sample_requests(folder, self, self._request)

    def _request(self, sample: SampleQuery) -> dict[str, Any]:
        query = {"query": self.sample_vector(sample), "using": self.vector_name}
        query |= {"limit": 10, "with_payload": True}
        return query | ({"params": {"exact": True}} if self.source.dense else {})  # sparse is always exact

    def readme(self) -> str:
        """Return the commands."""
        whole = f"""`load` fills the collection `{self.index}_{self.version}` and then lets the alias
   `{self.index}` point to it, at once: searches of `{self.index}` see one version or the other."""
        increment = f"""`load` changes the points of the current collection of the alias `{self.index}`. It is
   refused if another version than `{self.base_version}` is loaded. Until it ends, searches see some of the
   changes."""
        return f"""
1. Run these commands in this folder, with the URL of Qdrant:

       pip install qdrant-client
       python3 run.py http://localhost:6333 load
       python3 run.py http://localhost:6333 check

   With an API key, run `export QDRANT_API_KEY=…` first.

2. {increment if self.base_version else whole}
   It can be interrupted and run again, and a second run changes nothing.

3. `check` asks the queries of `sample-queries.ndjson` and compares the results with those of coclick.
   By hand:

       curl -X POST http://localhost:6333/collections/{self.index}/points/query \\
           -H 'Content-Type: application/json' -d @sample.json

4. Load the next export, or the next increment, in the same way. The way back:

       python3 run.py http://localhost:6333 rollback     # to the version that was loaded before this one
       python3 run.py http://localhost:6333 remove       # delete all versions

The id of a point is the MD5 hash of the document id, as a UUID.
{_DENSE_NOTE if self.source.dense else _SPARSE_NOTE}
"""


def point_ids(docs: Strings) -> Strings:
    """Return the MD5 hash of each document id as a UUID, which is the same in every export."""
    data, ends = docs.data.tobytes(), docs.offsets.tolist()
    digests = (
        hashlib.md5(data[a:b], usedforsecurity=False).digest()
        for a, b in zip(ends[:-1], ends[1:], strict=True)
    )
    found = np.frombuffer(b"".join(digests), np.uint8)
    letters = np.stack([_HEX[found >> 4], _HEX[found & 15]], axis=1).reshape(len(docs), 32)
    uuids = np.full((len(docs), 36), ord("-"), np.uint8)
    uuids[:, np.delete(np.arange(36), _DASHES)] = letters
    return Strings(np.arange(len(docs) + 1) * 36, uuids.ravel())


EXPORTER = Qdrant
