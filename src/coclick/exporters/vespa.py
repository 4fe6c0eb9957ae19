"""Vespa: a weighted set of words with integer weights, searched by `wand`.

From the documentation of Vespa 8 ("Multivalue query operators", "Query language reference", "Schema
reference"): weights of weighted sets and of `wand` are 32-bit integers; `wand` finds the documents with the
largest dot product, which `rawScore` returns. Texts have no control characters except tab and line breaks.
Document weights are multiplied by a power of ten that gives the largest seven digits, query weights by 10⁶.
The rank profile divides by both, so `relevance` equals the score of coclick.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from coclick.arrays.csr import Csr
from coclick.exporters.base import Exporter
from coclick.exporters.formatting import format_integers, join_pairs
from coclick.exporters.limits import DocBlock, Limits, Weights
from coclick.exporters.model_vectors import ModelVectors
from coclick.exporters.sample_queries import SampleQuery
from coclick.storage.directories import write_file, write_json

_DIGITS = 7
_QUERY_SCALE = 1_000_000
_MAX_INT = (1 << 31) - 1
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufdd0-\ufdef\ufffe\uffff]")

_SERVICES = """<?xml version="1.0" encoding="utf-8" ?>
<services version="1.0">
    <container id="default" version="1.0">
        <search />
        <document-api />
    </container>
    <content id="{name}" version="1.0">
        <min-redundancy>1</min-redundancy>
        <documents>
            <document type="{name}" mode="index" />
        </documents>
        <nodes>
            <node distribution-key="0" hostalias="node1" />
        </nodes>
    </content>
</services>
"""

_SCHEMA = """schema {name} {{
    document {name} {{
        field doc type string {{
            indexing: summary | attribute
        }}
        field title type string {{
            indexing: summary | index
        }}
        field words type weightedset<string> {{
            indexing: attribute
            attribute: fast-search
            match: cased
            dictionary {{
                hash
                cased
            }}
        }}
    }}
    rank-profile words {{
        first-phase {{
            expression: rawScore(words) / {scale:.1f}
        }}
    }}
}}
"""


class Vespa(Exporter):
    """Exports an application package with one schema, and the documents to feed."""

    name = "vespa"
    title = "Vespa"
    documents_file = "documents.jsonl"
    limits = Limits(max_id_bytes=65_000, max_token_bytes=65_000, forbidden=_FORBIDDEN)
    token_note = (
        f"Vespa needs integer weights. Those in `queries.ndjson` are multiplied by {_QUERY_SCALE:,} and "
        "rounded;\ndo the same with the vectors of other queries."
    )

    def __init__(self, source: ModelVectors, index: str, max_weights: int | None = None) -> None:
        """Choose the scale of document weights."""
        super().__init__(source, index, max_weights)
        largest = source.max_weight() or 1.0
        self.scale = 10.0 ** max(_DIGITS - 1 - math.floor(math.log10(largest)), 0)
        self.score_unit = 1 / (self.scale * _QUERY_SCALE)

    def round_weights(self, weights: Weights) -> Weights:
        """Scale to whole numbers; float32 is exact up to 16 million."""
        return np.rint(weights * self.scale).astype(np.float32)

    def round_query_weights(self, weights: Weights) -> Weights:
        """Scale to whole numbers."""
        whole = np.rint(weights.astype(np.float64) * _QUERY_SCALE)  # float32 cannot represent 2³¹ − 1
        return np.minimum(whole, _MAX_INT)

    def write_schema(self, folder: Path) -> None:
        """Write the application package for `vespa deploy`."""
        schemas = folder / "application" / "schemas"
        schemas.mkdir(parents=True)
        scale = self.scale * _QUERY_SCALE
        write_file(schemas / f"{self.index}.sd", _SCHEMA.format(name=self.index, scale=scale))
        write_file(folder / "application" / "services.xml", _SERVICES.format(name=self.index))

    def doc_texts(self, block: DocBlock) -> Iterator[str]:
        """Yield one line per document."""
        words = join_pairs(block.vectors, self.keys, format_integers(block.vectors.data), ",")
        for doc, title, row in block.rows(words):
            put = f'"id:{self.index}:{self.index}::{doc[1:]}'
            yield f'{{"put":{put},"fields":{{"doc":{doc},"title":{title},"words":{{{row}}}}}}}\n'

    def format_query_vectors(self, vectors: Csr) -> list[str]:
        """Return vectors with integer weights."""
        weights = format_integers(self.round_query_weights(vectors.data))
        return [f"{{{row}}}" for row in join_pairs(vectors, self.keys, weights, ",")]

    def write_sample(self, folder: Path, sample: SampleQuery) -> None:
        """Write the body of a search request."""
        words = json.dumps(self.sample_vector(sample), ensure_ascii=False)
        yql = f"select doc, title from {self.index} where ({{targetHits: 10}}wand(words, {words}))"
        write_json(folder / "sample.json", {"yql": yql, "hits": 10, "ranking": "words"})

    def readme(self) -> str:
        """Return the commands of the Vespa CLI."""
        return """
Start Vespa (see https://docs.vespa.ai) and run these commands in this folder:

    vespa deploy --wait 300 application
    vespa feed documents.jsonl
    curl http://localhost:8080/search/ -H 'Content-Type: application/json' -d @sample.json

`relevance` in the response is the score.
"""


EXPORTER = Vespa
