"""`BulkApiExporter`: the base of Elasticsearch and OpenSearch, which share the bulk API and `FeatureField`.

Both store weights in Lucene's `FeatureField`: positive normal float32 numbers, truncated to nine significant
bits. The export rounds weights to nine bits first, which halves the error. A dot in a feature name would
address a sub-field, so it is percent-encoded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coclick.exporters.base import Exporter
from coclick.exporters.formatting import format_floats, join_pairs, percent_encode
from coclick.exporters.limits import DocBlock, Limits, Weights
from coclick.exporters.sample_queries import SampleQuery
from coclick.storage.directories import write_json

_DROPPED_BITS = 15  # of the 24 significant bits of a float32


class BulkApiExporter(Exporter):
    """Exports to an index with the fields `doc`, `title` and `words`."""

    limits = Limits(max_id_bytes=512, max_token_bytes=32_766)
    field = "words"  # that has the vector
    token_note = "In words, `.` is encoded as `%2E` and `%` as `%25`: `3.5mm` becomes `3%2E5mm`."

    def encode_tokens(self, tokens: Sequence[str]) -> list[str]:
        """Encode dots."""
        return percent_encode(tokens, ".")

    def round_weights(self, weights: Weights) -> Weights:
        """Round to nine significant bits."""
        return round_to_nine_bits(weights)

    def vector_query(self, words: dict[str, float]) -> dict[str, Any]:
        """Return the query whose score is the dot product."""
        raise NotImplementedError  # abstract

    def doc_texts(self, block: DocBlock) -> Iterator[str]:
        """Yield two lines per document."""
        words = join_pairs(block.vectors, self.keys, format_floats(block.vectors.data), ",")
        for doc, title, row in block.rows(words):
            yield f'{{"index":{{"_id":{doc}}}}}\n{{"doc":{doc},"title":{title},"words":{{{row}}}}}\n'

    def mapping(self, words: dict[str, Any]) -> dict[str, Any]:
        """Return the mapping, given the type of the field `words`."""
        return {
            "mappings": {
                "dynamic": "strict",
                "properties": {"doc": {"type": "keyword"}, "title": {"type": "text"}, "words": words},
            }
        }

    def search(self, query: dict[str, Any]) -> dict[str, Any]:
        """Return the body of a search request."""
        return {"size": 10, "_source": ["doc", "title"], "query": query}

    def write_sample(self, folder: Path, sample: SampleQuery) -> None:
        """Write the body of a search request."""
        write_json(folder / "sample.json", self.search(self.vector_query(self.sample_vector(sample))))

    def commands(self) -> str:
        """Return the curl commands that load the export and run the sample query."""
        return f"""
Run these commands in this folder:

    URL=http://localhost:9200/{self.index} JSON='Content-Type: application/json'
    curl -X PUT $URL -H "$JSON" -d @index.json
    for part in documents-*.ndjson; do
        curl -X POST "$URL/_bulk?refresh=true&filter_path=errors" -H "$JSON" --data-binary @$part; done
    curl -X POST $URL/_search -H "$JSON" -d @sample.json

Each bulk request should return `{{"errors":false}}`. If security is enabled, use https:// in the URL and add
`-k -u USER` to curl.
"""


def round_to_nine_bits(weights: Weights) -> Weights:
    """Round float32 numbers to nine significant bits."""
    half = np.uint32(1 << (_DROPPED_BITS - 1))
    bits = np.ascontiguousarray(weights, np.float32).view(np.uint32)
    return ((bits + half) >> _DROPPED_BITS << _DROPPED_BITS).astype(np.uint32).view(np.float32)
