"""Vespa: a weighted set of words with integer weights, asked with `wand`.

From the documentation of Vespa 8 ("Multivalue query operators", "Query language reference", "Schema
reference"): weights of weighted sets and of `wand` are 32-bit integers, and `wand` finds the documents with
the largest dot product, which `rawScore` tells. Texts have no control characters but tab and the ends of
lines. Weights of documents are multiplied by a power of ten that makes the largest seven digits long, those
of queries by 10⁶; the rank profile divides by both, so that relevance is our score.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from coclick.arrays.csr import Csr
from coclick.exporters.content import Content
from coclick.exporters.engine import Engine
from coclick.exporters.folder import write_json, write_text
from coclick.exporters.limits import Block, Limits, Weights
from coclick.exporters.lines import pairs, quoted, whole_numbers
from coclick.exporters.sample import Sample
from coclick.storage.directories import write_file

_DIGITS = 7
_OF_QUERIES = 1_000_000
_MOST = (1 << 31) - 1

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


class Vespa(Engine):
    """An application package of one schema, and its documents."""

    name = "vespa"
    title = "Vespa"
    limits = Limits(
        id_bytes=65_000,
        token_bytes=65_000,
        unwritable=re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufdd0-\ufdef\ufffe\uffff]"),
    )
    token_note = f"Weights of queries are multiplied by {_OF_QUERIES:,} and rounded to whole numbers."

    def __init__(self, content: Content, index: str, max_weights: int | None = None) -> None:
        """With the scale of documents' weights."""
        super().__init__(content, index, max_weights)
        largest = content.largest() or 1.0
        self.scale = 10.0 ** max(_DIGITS - 1 - math.floor(math.log10(largest)), 0)
        self.unit = 1 / (self.scale * _OF_QUERIES)

    def stored(self, weights: Weights) -> Weights:
        """Whole numbers, which float32 holds up to 16 million."""
        return np.rint(weights * self.scale).astype(np.float32)

    def asked(self, weights: Weights) -> Weights:
        """Whole numbers, too."""
        return np.minimum(np.rint(weights.astype(np.float64) * _OF_QUERIES), _MOST)  # float32 has no 2³¹ − 1

    def write_schema(self, folder: Path) -> None:
        """What `vespa deploy` takes."""
        schemas = folder / "application" / "schemas"
        schemas.mkdir(parents=True)
        scale = self.scale * _OF_QUERIES
        write_text(schemas / f"{self.index}.sd", _SCHEMA.format(name=self.index, scale=scale))
        write_text(folder / "application" / "services.xml", _SERVICES.format(name=self.index))

    def write_documents(self, folder: Path, blocks: Iterator[Block]) -> None:
        """One a line."""
        head = f"id:{self.index}:{self.index}::"

        def lines() -> Iterator[str]:
            for block in blocks:
                words = pairs(block.vectors, self.keys, whole_numbers(block.vectors.data), ",")
                places = quoted(head + doc for doc in block.ids)
                rows = zip(places, quoted(block.ids), quoted(block.titles), words, strict=True)
                for place, doc, title, row in rows:
                    yield f'{{"put":{place},"fields":{{"doc":{doc},"title":{title},"words":{{{row}}}}}}}\n'

        write_file(folder / "documents.jsonl", lines())

    def query_vectors(self, vectors: Csr) -> list[str]:
        """With whole numbers."""
        weights = whole_numbers(self.asked(vectors.data))
        return [f"{{{row}}}" for row in pairs(vectors, self.keys, weights, ",")]

    def write_sample(self, folder: Path, sample: Sample) -> None:
        """The body of a search."""
        words = json.dumps(self.query_vector(sample), ensure_ascii=False)
        yql = f"select doc, title from {self.index} where ({{targetHits: 10}}wand(words, {words}))"
        write_json(folder / "sample.json", {"yql": yql, "hits": 10, "ranking": "words"})

    def readme(self) -> str:
        """With Vespa's command line."""
        return """
In this folder, with Vespa running (https://docs.vespa.ai says how):

    vespa deploy --wait 300 application
    vespa feed documents.jsonl
    curl http://localhost:8080/search/ -H 'Content-Type: application/json' -d @sample.json

`relevance` in the answer is the score.
"""


ENGINE = Vespa
