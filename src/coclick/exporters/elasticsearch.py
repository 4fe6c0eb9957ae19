"""Elasticsearch: a `sparse_vector` field, or `rank_features` before version 8.15.

From the reference of Elasticsearch 9.1: weights of both types are positive, with nine significant bits; names
have no dots; pruning of tokens is on by default (8.19, 9.1) and is turned off here, as it would change
scores; an id has up to 512 bytes. Both types take the same documents.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coclick.exporters.bulk import BulkEngine
from coclick.exporters.folder import write_json
from coclick.exporters.sample import Sample


class Elasticsearch(BulkEngine):
    """An index, with a second mapping and query for old versions."""

    name = "elasticsearch"
    title = "Elasticsearch"

    def write_schema(self, folder: Path) -> None:
        """One of them is chosen when the index is made."""
        unpruned = {"type": "sparse_vector", "index_options": {"prune": False}}
        write_json(folder / "index.json", self.mapping(unpruned))
        write_json(folder / "index-rank-features.json", self.mapping({"type": "rank_features"}))

    def write_sample(self, folder: Path, sample: Sample) -> None:
        """In both forms."""
        words: dict[str, float] = self.query_vector(sample)
        sparse = {"sparse_vector": {"field": "words", "query_vector": words, "prune": False}}
        features: list[dict[str, Any]] = [
            {"rank_feature": {"field": f"words.{word}", "linear": {}, "boost": weight}}
            for word, weight in words.items()
        ]
        write_json(folder / "sample.json", self.search(sparse))
        write_json(folder / "sample-rank-features.json", self.search({"bool": {"should": features}}))

    def readme(self) -> str:
        """For both."""
        return f"""{self.commands()}
`index.json` is for versions from 8.19 and 9.1. Before, leave `index_options` out: nothing is pruned there.
Before 8.15, and wherever `sparse_vector` is not at hand, take `index-rank-features.json` and
`sample-rank-features.json` instead: the documents are the same.
"""


ENGINE = Elasticsearch
