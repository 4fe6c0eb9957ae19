"""`BulkApiExporter`: the base of Elasticsearch and OpenSearch, which share the bulk API and `FeatureField`.

Both store weights in Lucene's `FeatureField`: positive normal float32 numbers, truncated to nine significant
bits. The export rounds weights to nine bits first, which halves the error. A dot in a feature name would
address a sub-field, so it is percent-encoded.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coclick.arrays.strings import Strings
from coclick.exporters.base import Exporter
from coclick.exporters.formatting import percent_encode
from coclick.exporters.limits import DocBlock, Limits, Weights
from coclick.exporters.model_vectors import SHIPPED, SPARSE
from coclick.exporters.packed_rows import JSON, concatenate, escape, format_rows
from coclick.exporters.program_files import write_program, write_sample_requests
from coclick.exporters.sample_queries import SampleQuery
from coclick.storage.directories import write_json

_DROPPED_BITS = 15  # of the 24 significant bits of a float32
NOT_RUN = """The requests follow the documentation of {title}. They were **not run against a real server of
{title}**, only against a test server that answers in the documented form: try them on a test cluster
first."""


class BulkApiExporter(Exporter):
    """Exports an index with the fields `doc`, `title` and `words`, and a program that loads it."""

    accepts = frozenset({SPARSE, SHIPPED})
    limits = Limits(max_id_bytes=512, max_token_bytes=32_766)
    part_size = 8 << 20  # below the limit of 10 MB of small clusters
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

    def doc_rows(self, block: DocBlock) -> Strings:
        """Return two lines per document."""
        doc, title = (escape(texts, JSON) for texts in (block.packed_ids, block.packed_titles))
        words = format_rows(block.vectors, self.packed_keys)
        action = '{"index":{"_id":"', doc, '"}}\n'
        return concatenate(*action, '{"doc":"', doc, '","title":"', title, '","words":{', words, "}}\n")

    def mapping(self, words: dict[str, Any]) -> dict[str, Any]:
        """Return the mapping, given the type of the field `words`."""
        return {
            "mappings": {
                "dynamic": "strict",
                "_meta": {"coclick": {"version": self.version, "model": str(self.source.model)}},
                "properties": {"doc": {"type": "keyword"}, "title": {"type": "text"}, "words": words},
            }
        }

    def write_run(self, folder: Path) -> None:
        """Write the program that loads an index for each version and swaps the alias."""
        settings = {
            "alias": self.index,
            "index": f"{self.index}-{self.version}",
            "base": self.base_version and f"{self.index}-{self.base_version}",
            "documents": self.n_documents,
            "version": self.version,
        }
        write_program(folder, self.title, "bulk_api_alias", ("bulk_api",), settings)

    def search(self, query: dict[str, Any]) -> dict[str, Any]:
        """Return the body of a search request."""
        return {"size": 10, "_source": ["doc", "title"], "query": query}

    def write_sample(self, folder: Path, sample: SampleQuery) -> None:
        """Write the body of a search request, and those of the queries that `check` asks."""
        write_json(folder / "sample.json", self.sample_request(sample))
        write_sample_requests(folder, self, self.sample_request)

    def sample_request(self, sample: SampleQuery) -> dict[str, Any]:
        """Return the body of a search request."""
        return self.search(self.vector_query(self.sample_vector(sample)))

    def commands(self) -> str:
        """Return the commands that load the export and run the sample query."""
        return f"""
{NOT_RUN.format(title=self.title)}

1. You need Python 3.10 or later. Run these commands in this folder, with the URL of the cluster:

       URL=http://localhost:9200
       python3 run.py $URL load
       python3 run.py $URL check

   If security is enabled, set the header of your requests first: `export AUTHORIZATION='ApiKey …'`. For a
   certificate of your own, set `SSL_CERT_FILE`.

2. `load` creates the index `{self.index}-{self.version}`, fills it, compares the number of
   documents, and only then lets the alias `{self.index}` point to it, in one step: searches see the old
   version or the new one. The version before stays, as `{self.index}-previous`. If the engine refuses
   documents, `load` says which and why, exits with status 1, and the alias does not change. It can be
   interrupted and run again.

3. `check` asks the queries of `sample-queries.ndjson` and compares the results with those of coclick. By
   hand:

       curl -X POST $URL/{self.index}/_search -H 'Content-Type: application/json' -d @sample.json

4. Load the next export of the same `--name` in the same way.

       python3 run.py $URL rollback     # the alias back to the version that was loaded before this one
       python3 run.py $URL prune        # delete the versions that are neither current nor the one before
       python3 run.py $URL remove       # delete all versions
"""


def round_to_nine_bits(weights: Weights) -> Weights:
    """Round float32 numbers to nine significant bits."""
    half = np.uint32(1 << (_DROPPED_BITS - 1))
    bits = np.ascontiguousarray(weights, np.float32).view(np.uint32)
    return ((bits + half) >> _DROPPED_BITS << _DROPPED_BITS).astype(np.uint32).view(np.float32)
