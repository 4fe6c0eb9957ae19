"""Qdrant: a collection of sparse or dense vectors.

Limits (documentation of Qdrant 1.16, "Vectors" and "Points"): indices of a sparse vector are distinct
unsigned 32-bit integers. The id of a point is a 64-bit integer or a UUID, so it is a hash of the document id,
which is stored in the payload. A dense vector has at most 65,536 dimensions, a request at most 32 MB.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from coclick.arrays.csr import Csr
from coclick.exporters.base import Exporter
from coclick.exporters.formatting import (
    format_floats,
    format_integers,
    join_entries,
    sort_by_term_id,
    write_term_ids,
)
from coclick.exporters.limits import DocBlock, Limits
from coclick.exporters.model_vectors import DENSE, SHIPPED, SPARSE
from coclick.exporters.sample_queries import SampleQuery
from coclick.storage.directories import write_file, write_json

_REQUEST_SIZE = 4 << 20  # characters
_DENSE_NOTE = "The sample query runs an exact search. Without `params` it is approximate and faster."
_SPARSE_NOTE = """Qdrant's search of sparse vectors is exact. `terms.tsv` has the index of each word: the
`number` that `coclick vectors` prints."""


class Qdrant(Exporter):
    """Exports a collection of points with one vector, named `words` or `embedding`."""

    name = "qdrant"
    title = "Qdrant"
    accepts = frozenset({SPARSE, DENSE, SHIPPED})
    limits = Limits(max_dim=65_536)

    @property
    def _vector(self) -> str:
        return "embedding" if self.source.dense else "words"

    def write_schema(self, folder: Path) -> None:
        """Write the definition of the collection."""
        if self.source.dense:
            dense = {"embedding": {"size": self.source.dim, "distance": "Dot"}}
            write_json(folder / "collection.json", {"vectors": dense})
        else:
            write_json(folder / "collection.json", {"vectors": {}, "sparse_vectors": {"words": {}}})
            write_term_ids(folder, self.tokens, self.source.term_ids())

    def write_documents(self, folder: Path, blocks: Iterator[DocBlock]) -> None:
        """Write one request per line."""
        points = chain.from_iterable(map(self.doc_texts, blocks))
        write_file(folder / "points.ndjson", _requests(points))

    def doc_texts(self, block: DocBlock) -> Iterator[str]:
        """Yield one point per document."""
        rows = block.rows(self.format_query_vectors(block.vectors))
        for doc, (name, title, vector) in zip(block.ids, rows, strict=True):
            payload = f'{{"doc":{name},"title":{title}}}'
            yield f'{{"id":"{point_id(doc)}","payload":{payload},"vector":{{"{self._vector}":{vector}}}}}'

    def format_query_vectors(self, vectors: Csr) -> list[str]:
        """Return `{"indices": […], "values": […]}` for sparse vectors, a list for dense ones."""
        if self.source.dense:
            return super().format_query_vectors(vectors)
        found, vectors = sort_by_term_id(vectors, self.source.term_ids())
        indices = join_entries(vectors, format_integers(found), ",")
        values = join_entries(vectors, format_floats(vectors.data), ",")
        return [f'{{"indices":[{i}],"values":[{v}]}}' for i, v in zip(indices, values, strict=True)]

    def write_sample(self, folder: Path, sample: SampleQuery) -> None:
        """Write the body of a search request."""
        query = {"query": self.sample_vector(sample), "using": self._vector}
        query |= {"limit": 10, "with_payload": True}
        exact = {"params": {"exact": True}} if self.source.dense else {}  # sparse search is always exact
        write_json(folder / "sample.json", query | exact)

    def readme(self) -> str:
        """Return the curl commands."""
        return f"""
Run these commands in this folder:

    URL=http://localhost:6333/collections/{self.index} JSON='Content-Type: application/json'
    curl -X PUT $URL -H "$JSON" -d @collection.json
    while read -r points; do curl -X PUT $URL/points -H "$JSON" -d @- <<< "$points"; done < points.ndjson
    curl -X POST $URL/points/query -H "$JSON" -d @sample.json

The id of a point is the MD5 hash of the document id, as a UUID. Loading an export again replaces documents.
{_DENSE_NOTE if self.source.dense else _SPARSE_NOTE}
"""


def point_id(doc: str) -> str:
    """Return the MD5 hash of a document id as a UUID, which is the same in every export."""
    digest = hashlib.md5(doc.encode(), usedforsecurity=False).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:]}"


def _requests(points: Iterator[str]) -> Iterator[str]:
    """Group points into requests of a few megabytes."""
    batch: list[str] = []
    size = 0
    for point in points:
        batch.append(point)
        size += len(point)
        if size >= _REQUEST_SIZE:
            yield f'{{"points":[{",".join(batch)}]}}\n'
            batch, size = [], 0
    if batch:
        yield f'{{"points":[{",".join(batch)}]}}\n'


EXPORTER = Qdrant
