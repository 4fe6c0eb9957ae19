"""Elasticsearch: a `sparse_vector` field, or `rank_features` before version 8.15.

From the reference of Elasticsearch 9.1: weights of both types are positive and have nine significant bits;
names have no dots; token pruning is on by default (8.19, 9.1) and is disabled here because it changes scores;
an id has at most 512 bytes. Both types accept the same documents.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coclick.exporters.bulk_api import BulkApiExporter
from coclick.exporters.sample_queries import SampleQuery
from coclick.storage.directories import write_json

FIELD_TYPE: dict[str, Any] = {"type": "sparse_vector", "index_options": {"prune": False}}
OLD_FIELD_TYPE: dict[str, Any] = {"type": "rank_features"}


class Elasticsearch(BulkApiExporter):
    """Exports an index, with a second mapping and sample query for old versions."""

    name = "elasticsearch"
    title = "Elasticsearch"

    def write_schema(self, folder: Path) -> None:
        """Write both mappings; the user picks one."""
        write_json(folder / "index.json", self.mapping(FIELD_TYPE))
        write_json(folder / "index-rank-features.json", self.mapping(OLD_FIELD_TYPE))
        self.write_run(folder)

    def vector_query(self, words: dict[str, float]) -> dict[str, Any]:
        """Return a query that is not pruned."""
        return {"sparse_vector": {"field": self.field, "query_vector": words, "prune": False}}

    def write_sample(self, folder: Path, sample: SampleQuery) -> None:
        """Write the query for both field types."""
        super().write_sample(folder, sample)
        words: dict[str, float] = self.sample_vector(sample)
        features: list[dict[str, Any]] = [
            {"rank_feature": {"field": f"{self.field}.{word}", "linear": {}, "boost": weight}}
            for word, weight in words.items()
        ]
        write_json(folder / "sample-rank-features.json", self.search({"bool": {"should": features}}))

    def readme(self) -> str:
        """Return the commands, and which file is for which version."""
        return f"""{self.commands()}
`index.json` is for 8.19, 9.1 and later. For 8.15 to 8.18 and 9.0, remove `index_options` from it: these
versions do not prune. For versions before 8.15, or where `sparse_vector` is not available, use
`index-rank-features.json` and `sample-rank-features.json` with the same documents: copy the first over
`index.json` before `load`; `check` needs `sparse_vector` queries.
"""


EXPORTER = Elasticsearch
