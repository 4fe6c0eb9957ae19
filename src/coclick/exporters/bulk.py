"""`BulkEngine`: what Elasticsearch and OpenSearch have in common: the bulk API, and Lucene's features.

Both keep the weights of words as Lucene's `FeatureField` does: positive normal float32 numbers of which nine
significant bits are kept. They cut the rest off; weights are rounded to nine bits here, which halves the
error and leaves nothing to cut. A dot in a name would mean a field inside a field, so it is written %2E.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coclick.exporters.engine import Engine
from coclick.exporters.limits import Block, Limits, Weights
from coclick.exporters.lines import numbers, pairs, quoted, write_parts
from coclick.exporters.tokens import escaped

_DROPPED_BITS = 15  # of the 24 significant bits of a float32


class BulkEngine(Engine):
    """An index with the fields `doc`, `title` and `words`."""

    limits = Limits(id_bytes=512, token_bytes=32_766)
    token_note = "In the names of words `.` is written `%2E` and `%` is `%25`: `3.5mm` is `3%2E5mm`."

    def written(self, tokens: Sequence[str]) -> list[str]:
        """Without dots."""
        return escaped(tokens, ".")

    def stored(self, weights: Weights) -> Weights:
        """To the nearest number of nine significant bits."""
        return nine_bits(weights)

    def write_documents(self, folder: Path, blocks: Iterator[Block]) -> None:
        """Two lines a document, in files that are small enough for one request."""

        def pieces() -> Iterator[str]:
            for block in blocks:
                ids, titles = quoted(block.ids), quoted(block.titles)
                words = pairs(block.vectors, self.keys, numbers(block.vectors.data), ",")
                yield "".join(
                    f'{{"index":{{"_id":{doc}}}}}\n{{"doc":{doc},"title":{title},"words":{{{row}}}}}\n'
                    for doc, title, row in zip(ids, titles, words, strict=True)
                )

        write_parts(folder, "documents-{:05}.ndjson", pieces())

    def mapping(self, words: dict[str, Any]) -> dict[str, Any]:
        """An index whose field of words is of that type."""
        return {
            "mappings": {
                "dynamic": "strict",
                "properties": {"doc": {"type": "keyword"}, "title": {"type": "text"}, "words": words},
            }
        }

    def search(self, query: dict[str, Any]) -> dict[str, Any]:
        """The body of a search."""
        return {"size": 10, "_source": ["doc", "title"], "query": query}

    def commands(self) -> str:
        """To load and to ask, with curl."""
        return f"""
In this folder:

    URL=http://localhost:9200/{self.index} JSON='Content-Type: application/json'
    curl -X PUT $URL -H "$JSON" -d @index.json
    for part in documents-*.ndjson; do
        curl -X POST "$URL/_bulk?refresh=true&filter_path=errors" -H "$JSON" --data-binary @$part; done
    curl -X POST $URL/_search -H "$JSON" -d @sample.json

Every part should answer `{{"errors":false}}`. Where security is on, the address begins with https:// and curl
wants `-k -u USER`.
"""


def nine_bits(weights: Weights) -> Weights:
    """To the nearest number of nine significant bits."""
    half = np.uint32(1 << (_DROPPED_BITS - 1))
    bits = np.ascontiguousarray(weights, np.float32).view(np.uint32)
    return ((bits + half) >> _DROPPED_BITS << _DROPPED_BITS).astype(np.uint32).view(np.float32)
