"""Vespa: a weighted set of words with integer weights, searched by `wand`.

From the documentation of Vespa 8 ("Multivalue query operators", "Query language reference", "Schema
reference"): weights of weighted sets and of `wand` are 32-bit integers; `wand` finds the documents with the
largest dot product, which `rawScore` returns. Texts have no control characters except tab and line breaks.
Weights of documents and queries are multiplied by 10⁶. The rank profile divides by both, so `relevance`
equals the score of coclick.

Requests name the document type in `model.restrict` ("Query API reference"), because a content cluster may
have several, and the names of sources are those of clusters.

The documents of all versions are side by side, because Vespa has no aliases. The query profile of the
application package has the current version ("Query profiles"), and `vespa deploy` changes it at once.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings
from coclick.exporters.base import Exporter
from coclick.exporters.formatting import format_integers, join_pairs
from coclick.exporters.limits import DocBlock, Limits, Weights
from coclick.exporters.model_vectors import SHIPPED, SPARSE, ModelVectors
from coclick.exporters.packed_rows import JSON, concatenate, escape, format_rows
from coclick.exporters.program_files import write_program, write_sample_requests
from coclick.exporters.sample_queries import SampleQuery
from coclick.storage.directories import write_file, write_json

_SCALE = 1_000_000  # of weights, unless there are weights above 2,147
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
{types}        </documents>
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
        field version type string {{
            indexing: attribute
            attribute: fast-search
            rank: filter
        }}
{words}    }}
    rank-profile words {{
        first-phase {{
            expression: rawScore(words) / {scale:.1f}
        }}
    }}
}}
"""

WORDS_FIELD = """        field {name} type weightedset<string> {{
            indexing: attribute
            attribute: fast-search
            match: cased
            dictionary {{
                hash
                cased
            }}
        }}
"""

_QUERY_PROFILE = """<query-profile id="{name}">
    <field name="{name}_version">{version}</field>
</query-profile>
"""

NOT_RUN = """The files follow the documentation of Vespa 8. They were **not run on a real Vespa**, only
against a test server that answers in the documented form: try them on a test instance first."""


_COPIED = """ Documents that did not change are read from version `{base}`, and sent with
   the new version."""


class Vespa(Exporter):
    """Exports an application package with one schema, and the documents to feed."""

    name = "vespa"
    title = "Vespa"
    accepts = frozenset({SPARSE, SHIPPED})
    documents_file = "documents.jsonl"
    field = "words"  # that has the vector
    limits = Limits(max_id_bytes=65_000, max_token_bytes=65_000, forbidden=_FORBIDDEN)
    token_note = (
        f"Vespa needs integer weights. Those in `queries.ndjson` are multiplied by {_SCALE:,} and "
        "rounded;\ndo the same with the vectors of other queries."
    )

    def __init__(self, source: ModelVectors, index: str, max_weights: int | None = None) -> None:
        """Choose the scale of document weights."""
        super().__init__(source, index, max_weights)
        largest = source.max_weight() or 1.0
        self.scale = min(float(_SCALE), 10.0 ** math.floor(math.log10(_MAX_INT / largest)))
        self.score_divisor = self.scale * _SCALE
        self.score_unit = 1 / self.score_divisor

    def round_weights(self, weights: Weights) -> Weights:
        """Scale to whole numbers; float32 is exact up to 16 million."""
        return np.rint(weights * self.scale).astype(np.float32)

    def round_query_weights(self, weights: Weights) -> Weights:
        """Scale to whole numbers."""
        whole = np.rint(weights.astype(np.float64) * _SCALE)  # float32 cannot represent 2³¹ − 1
        return np.minimum(whole, _MAX_INT)

    def write_schema(self, folder: Path) -> None:
        """Write the application package for `vespa deploy`."""
        schemas = folder / "application" / "schemas"
        schemas.mkdir(parents=True)
        words = WORDS_FIELD.format(name="words")
        schema = _SCHEMA.format(name=self.index, words=words, scale=self.score_divisor)
        write_file(schemas / f"{self.index}.sd", schema)
        write_file(folder / "application" / "services.xml", services(self.index))
        profiles = folder / "application" / "search" / "query-profiles"
        profiles.mkdir(parents=True)
        profile = _QUERY_PROFILE.format(name=self.index, version=self.version)
        write_file(profiles / f"{self.index}.xml", profile)
        settings = {
            "type": self.index,
            "cluster": self.index,
            "documents": self.n_documents,
            "version": self.version,
            "base": self.base_version,
        }
        write_program(folder, self.title, "vespa_versions", ("vespa",), settings)

    def doc_rows(self, block: DocBlock) -> Strings:
        """Return one line per document; weights are whole numbers of at most seven digits."""
        doc, title = (escape(texts, JSON) for texts in (block.packed_ids, block.packed_titles))
        put = f'{{"put":"id:{self.index}:{self.index}::', doc, '","fields":{"doc":"', doc
        words = format_rows(block.vectors, self.packed_keys)
        return concatenate(*put, '","title":"', title, '","words":{', words, "}}}\n")

    def format_query_vectors(self, vectors: Csr) -> list[str]:
        """Return vectors with integer weights."""
        weights = format_integers(self.round_query_weights(vectors.data))
        return [f"{{{row}}}" for row in join_pairs(vectors, self.keys, weights, ",")]

    def wand(self, words: dict[str, int], hits: int = 10) -> str:
        """Return the condition of a search."""
        return f"({{targetHits: {hits}}}wand({self.field}, {json.dumps(words, ensure_ascii=False)}))"

    def sample_request(self, sample: SampleQuery) -> dict[str, Any]:
        """Return the body of a search request."""
        current = f"version contains @{self.index}_version"
        wand = self.wand(self.sample_vector(sample))
        yql = f"select doc, title from sources * where {current} and {wand}"
        return {
            "yql": yql,
            "model.restrict": self.index,
            "queryProfile": self.index,
            "hits": 10,
            "ranking": "words",
        }

    def write_sample(self, folder: Path, sample: SampleQuery) -> None:
        """Write the body of a search request, and those of the queries that `check` asks."""
        write_json(folder / "sample.json", self.sample_request(sample))
        write_sample_requests(folder, self, self.sample_request)

    def readme(self) -> str:
        """Return the commands."""
        return f"""
{NOT_RUN}

1. You need the Vespa CLI and Python 3.10 or later. Only for the first export of this `--name`, deploy the
   schema (see https://docs.vespa.ai to start Vespa). In this folder:

       vespa deploy --wait 300 application

2. Send the documents, then let queries use them:

       URL=http://localhost:8080
       python3 run.py $URL load
       vespa deploy --wait 300 application
       python3 run.py $URL check

   `load` adds the documents of version `{self.version}` beside those of other versions, and compares their
   number; `vespa deploy` changes the version in the query profile `{self.index}`, at once. If Vespa refuses
   documents, `load` says which and why, and exits with status 1: then do not deploy. It can be interrupted
   and run again.{_COPIED.format(base=self.base_version) if self.base_version else ""}
   For a token, set the header of your requests: `export AUTHORIZATION='Bearer …'`.

3. `check` asks the queries of `sample-queries.ndjson` and compares the results with those of coclick. By
   hand (`relevance` in the response is the score):

       curl $URL/search/ -H 'Content-Type: application/json' -d @sample.json

4. Load the next export of the same `--name` with step 2. To go back, deploy the application of the older
   folder: its documents are still there. When you do not need them any more:

       python3 run.py $URL prune      # delete the documents of all versions but this one
       python3 run.py $URL remove     # delete all documents
"""


def services(name: str, *others: str) -> str:
    """Return `services.xml` with a document type of the same name as the content cluster, and others."""
    types = [f'            <document type="{kind}" mode="index" />\n' for kind in (name, *others)]
    return _SERVICES.format(name=name, types="".join(types))


EXPORTER = Vespa
