"""Qdrant, in a collection that exists: adds a named vector to its points.

Since version 1.18, Qdrant adds vectors to collections that exist ("Create named vector" of its API). Since
1.10, its query API fuses the ranks of several vectors ("Hybrid queries").
"""

from __future__ import annotations

from pathlib import Path

from coclick.arrays.strings import Strings
from coclick.exporters.existing_index import MISSING_IDS, ExistingIndex
from coclick.exporters.limits import DocBlock
from coclick.exporters.model_vectors import ModelVectors
from coclick.exporters.packed_rows import JSON, concatenate, escape
from coclick.exporters.program_files import write_program
from coclick.exporters.qdrant import Qdrant
from coclick.exporters.sample_queries import SampleQuery
from coclick.storage.directories import write_file, write_json


class QdrantInto(Qdrant):
    """Exports a vector of each document, and the program that sets it."""

    stores_titles = False
    existing: ExistingIndex
    list_name = "docs"

    def __init__(
        self, source: ModelVectors, index: str, max_weights: int | None, existing: ExistingIndex
    ) -> None:
        """Remember the collection."""
        super().__init__(source, index, max_weights)
        self.existing = existing

    @property
    def vector_name(self) -> str:
        """The name of the added vector."""
        return f"{self.index}_{super().vector_name}"

    def write_programs(self, folder: Path) -> None:
        """Write the program that sets the vectors, and the file that lists missing ids."""
        settings = {
            "name": self.index,
            "collection": self.existing.name,
            "id_field": self.existing.id_field,
            "vector": self.vector_name,
            **self.version_settings(),
        }
        write_program(
            folder, self.title, "qdrant_into", ("qdrant_connection",), settings, "qdrant_connection"
        )
        write_file(folder / MISSING_IDS, "")

    def doc_rows(self, block: DocBlock) -> Strings:
        """Return the id and vector of each document, and a comma."""
        doc = escape(block.packed_ids, JSON)
        return concatenate('{"doc":"', doc, '","vector":', *self.vector_columns(block.vectors), "},")

    def write_sample(self, folder: Path, sample: SampleQuery) -> None:
        """Write the sample query, and one that fuses the ranks of two vectors."""
        super().write_sample(folder, sample)
        ours = {"query": self.sample_vector(sample), "using": self.vector_name, "limit": 100}
        yours = {"query": "YOUR QUERY", "using": "YOUR VECTOR", "limit": 100}
        fused = {"prefetch": [ours, yours], "query": {"fusion": "rrf"}, "limit": 10, "with_payload": True}
        write_json(folder / "rrf.json", fused)

    def readme(self) -> str:
        """Return the commands."""
        collection, field = self.existing.name, self.existing.id_field
        ids = "id" if field == "_id" else f"payload field `{field}`"
        index = (
            ""
            if field == "_id"
            else f"""
   Points are found by `{field}`. If it has no payload index, searching them takes long; this makes one:

       curl -X PUT http://localhost:6333/collections/{collection}/index \\
           -H 'Content-Type: application/json' -d '{{"field_name": "{field}", "field_schema": "keyword"}}'
"""
        )
        base = f"""
   This increment is refused if another version than `{self.base_version}` is loaded."""
        return f"""
1. You need Qdrant 1.18 or later. Run these commands in this folder, with its URL:

       pip install 'qdrant-client>=1.18'
       python3 run.py http://localhost:6333 load
       python3 run.py http://localhost:6333 check

   With an API key, run `export QDRANT_API_KEY=…` first.{index}
2. `load` adds the vector `{self.vector_name}` to `{collection}` and sets it in the points whose {ids}
   is a document id of this export. Nothing else changes. Ids that the collection does not have are counted,
   and listed in `{MISSING_IDS}`; if it has none of them, nothing is changed. Points that only an
   earlier version had lose the vector. There is no transaction: until it ends, some points have the new
   vector and some the old one. It can be interrupted and run again.{base if self.base_version else ""}

3. `check` asks the queries of `sample-queries.ndjson` and compares the results with those of coclick.

4. Load the next export, or the next increment, in the same way. The way back:

       python3 run.py http://localhost:6333 rollback     # to the version that was loaded before this one
       python3 run.py http://localhost:6333 remove       # delete the vector and what rollback needs

5. To search with a vector of your own as well, enter its name and that of the query in `rrf.json`:
   reciprocal rank fusion reads only the order of both lists, so it needs no weights.

       curl -X POST http://localhost:6333/collections/{collection}/points/query \\
           -H 'Content-Type: application/json' -d @rrf.json
"""


EXPORTER = QdrantInto
