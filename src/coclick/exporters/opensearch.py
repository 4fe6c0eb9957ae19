"""OpenSearch: a `rank_features` field, asked with the tokens of a `neural_sparse` query.

From the documentation of OpenSearch 3.2 ("Neural sparse search using raw vectors", "Rank field types"):
values are positive, with nine significant bits; names have no dots. A query's weight is that of Lucene's
linear feature query, which is above 0 and at most 64; an id has up to 512 bytes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from coclick.exporters.bulk import BulkEngine
from coclick.exporters.folder import write_json
from coclick.exporters.limits import Weights
from coclick.exporters.sample import Sample

_MOST = np.float32(64)


class OpenSearch(BulkEngine):
    """An index; the neural-search plugin, which the usual distributions carry, is needed to ask."""

    name = "opensearch"
    title = "OpenSearch"

    def asked(self, weights: Weights) -> Weights:
        """At most what Lucene takes."""
        return np.minimum(weights, _MOST)

    def write_schema(self, folder: Path) -> None:
        """The index."""
        write_json(folder / "index.json", self.mapping({"type": "rank_features"}))

    def write_sample(self, folder: Path, sample: Sample) -> None:
        """With tokens, so that no model has to be deployed."""
        query = {"neural_sparse": {"words": {"query_tokens": self.query_vector(sample)}}}
        write_json(folder / "sample.json", self.search(query))

    def readme(self) -> str:
        """With curl."""
        return f"""{self.commands()}
`neural_sparse` takes tokens from version 2.14. Without the plugin, ask a `bool` query whose `should` has
`{{"rank_feature": {{"field": "words.WORD", "linear": {{}}, "boost": WEIGHT}}}}` for each word.
"""


ENGINE = OpenSearch
