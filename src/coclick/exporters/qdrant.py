"""Qdrant: sparse vectors for words, dense ones for images.

Limits (documentation of Qdrant 1.16, "Vectors" and "Points"): indices of a sparse vector are distinct
unsigned 32-bit integers; ids of points are 64-bit integers or UUIDs, so a point's is made of the document's
id and the payload has the id itself; a dense vector has up to 65,536 dimensions; a request has up to 32 MB.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coclick.arrays.csr import Csr
from coclick.exporters.content import Content
from coclick.exporters.engine import Engine
from coclick.exporters.folder import write_json
from coclick.exporters.limits import Block, Limits
from coclick.exporters.lines import joined, numbers, quoted, whole_numbers, write_terms
from coclick.exporters.sample import Sample
from coclick.exporters.tokens import by_number
from coclick.storage.directories import write_file

_REQUEST = 4 << 20  # characters
_IMAGES = "The sample query asks for an exact search; without `params` it is approximate, and faster."
_WORDS = """Search of sparse vectors is exact. `terms.tsv` says which number stands for which word; so does
`number` in what `coclick vectors` prints."""


class Qdrant(Engine):
    """A collection of points with one vector, called `words` or `image`."""

    name = "qdrant"
    title = "Qdrant"
    takes_images = True
    limits = Limits(columns=65_536)

    def __init__(self, content: Content, index: str, max_weights: int | None = None) -> None:
        """With numbers for words."""
        super().__init__(content, index, max_weights)
        self.ids = content.numbers()
        self._vector = "image" if content.dense else "words"

    def write_schema(self, folder: Path) -> None:
        """What the collection is made of."""
        image = {"image": {"size": self.content.columns, "distance": "Dot"}}
        words: dict[str, Any] = {"vectors": {}, "sparse_vectors": {"words": {}}}
        write_json(folder / "collection.json", {"vectors": image} if self.content.dense else words)
        if not self.content.dense:
            write_terms(folder, self.tokens, self.ids)

    def write_documents(self, folder: Path, blocks: Iterator[Block]) -> None:
        """One request a line."""

        def points() -> Iterator[str]:
            for block in blocks:
                vectors = self.query_vectors(block.vectors)
                names = zip(quoted(block.ids), quoted(block.titles), strict=True)
                for doc, (name, title), vector in zip(block.ids, names, vectors, strict=True):
                    yield (
                        f'{{"id":"{point_id(doc)}","payload":{{"doc":{name},"title":{title}}},'
                        f'"vector":{{"{self._vector}":{vector}}}}}'
                    )

        write_file(folder / "points.ndjson", _requests(points()))

    def query_vectors(self, vectors: Csr) -> list[str]:
        """`{"indices": […], "values": […]}`, or a list."""
        if self.content.dense:
            return super().query_vectors(vectors)
        found, vectors = by_number(vectors, self.ids)
        indices = joined(vectors, whole_numbers(found), ",")
        values = joined(vectors, numbers(vectors.data), ",")
        return [f'{{"indices":[{i}],"values":[{v}]}}' for i, v in zip(indices, values, strict=True)]

    def write_sample(self, folder: Path, sample: Sample) -> None:
        """The body of a search."""
        query = {"query": self.query_vector(sample), "using": self._vector, "limit": 10, "with_payload": True}
        exact = {"params": {"exact": True}} if self.content.dense else {}  # sparse search always is
        write_json(folder / "sample.json", query | exact)

    def readme(self) -> str:
        """With curl."""
        return f"""
In this folder:

    URL=http://localhost:6333/collections/{self.index} JSON='Content-Type: application/json'
    curl -X PUT $URL -H "$JSON" -d @collection.json
    while read -r points; do curl -X PUT $URL/points -H "$JSON" -d @- <<< "$points"; done < points.ndjson
    curl -X POST $URL/points/query -H "$JSON" -d @sample.json

A point's id is the MD5 of the document's id, as a UUID: to load an export again replaces its documents.
{_IMAGES if self.content.dense else _WORDS}
"""


def point_id(doc: str) -> str:
    """The same for the same document in every export: the MD5 of its id, which is as long as a UUID."""
    digest = hashlib.md5(doc.encode(), usedforsecurity=False).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:]}"


def _requests(points: Iterator[str]) -> Iterator[str]:
    """Points put together to requests of a few megabytes."""
    gathered: list[str] = []
    size = 0
    for point in points:
        gathered.append(point)
        size += len(point)
        if size >= _REQUEST:
            yield f'{{"points":[{",".join(gathered)}]}}\n'
            gathered, size = [], 0
    if gathered:
        yield f'{{"points":[{",".join(gathered)}]}}\n'


ENGINE = Qdrant
