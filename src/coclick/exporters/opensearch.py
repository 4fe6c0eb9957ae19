"""OpenSearch: a `rank_features` field, searched by `neural_sparse` queries with raw tokens.

From the documentation of OpenSearch 3.2 ("Neural sparse search using raw vectors", "Rank field types"):
values are positive and have nine significant bits; names have no dots. A query weight is the weight of
Lucene's linear feature query, which must be above 0 and at most 64. An id has at most 512 bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from coclick.exporters.bulk_api import BulkApiExporter
from coclick.exporters.limits import Weights
from coclick.storage.directories import write_json

FIELD_TYPE = {"type": "rank_features"}
_MAX_QUERY_WEIGHT = np.float32(64)


class OpenSearch(BulkApiExporter):
    """Exports an index; searching needs the neural-search plugin, which standard distributions include."""

    name = "opensearch"
    title = "OpenSearch"

    def round_query_weights(self, weights: Weights) -> Weights:
        """Clip to the maximum that Lucene allows."""
        return np.minimum(weights, _MAX_QUERY_WEIGHT)

    def write_schema(self, folder: Path) -> None:
        """Write the mapping."""
        write_json(folder / "index.json", self.mapping(FIELD_TYPE))
        self.write_run(folder)

    def vector_query(self, words: dict[str, float]) -> dict[str, Any]:
        """Return a query with raw tokens, which needs no deployed model."""
        return {"neural_sparse": {self.field: {"query_tokens": words}}}

    def readme(self) -> str:
        """Return the curl commands."""
        return f"""{self.commands()}
`neural_sparse` accepts `query_tokens` since version 2.14. Without the neural-search plugin, use a `bool`
query with `should` clauses: `{{"rank_feature": {{"field": "words.WORD", "linear": {{}}, "boost": WEIGHT}}}}`.
"""


EXPORTER = OpenSearch
