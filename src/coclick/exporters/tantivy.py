"""tantivy: weights as terms, rounded to twelve bits.

tantivy scores by BM25 and has neither payloads nor feature fields. But a sum of constant scores is a dot
product if weights are written in binary. A document has the term `word/b` if bit b of the word's weight is
set; the query has a clause for each bit of each of its words, with the word's weight times 2ᵇ as its score:

    Σ_word q_word Σ_b 2ᵇ [bit b of d_word is set] = Σ_word q_word d_word

Weights are multiples of the largest weight divided by 4095. A term has at most 65,530 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from coclick.arrays.csr import Csr
from coclick.exporters.base import Exporter
from coclick.exporters.formatting import join_pairs, json_strings
from coclick.exporters.limits import DocBlock, Limits, Weights
from coclick.exporters.model_vectors import SHIPPED, SPARSE, ModelVectors
from coclick.exporters.sample_queries import SampleQuery
from coclick.storage.directories import write_file, write_json

BITS = 12
MAX_LEVEL = (1 << BITS) - 1
_SUFFIXES = [f'/{bit}"' for bit in range(BITS)]  # of quoted terms

_LOAD = '''"""Create a tantivy index from documents.ndjson: python load.py INDEX (pip install tantivy)."""

import json
import sys
from pathlib import Path

import tantivy

if len(sys.argv) != 2:
    sys.exit(__doc__)
here, target = Path(__file__).parent, Path(sys.argv[1])
if target.exists():
    sys.exit(f"{target} exists already: remove it, or choose another path")
target.mkdir(parents=True)
schema = tantivy.SchemaBuilder()
schema.add_text_field("doc", stored=True, tokenizer_name="raw", index_option="basic")
schema.add_text_field("title", stored=True)
schema.add_text_field("words", tokenizer_name="raw", index_option="basic")
index = tantivy.Index(schema.build(), path=str(target))
writer = index.writer()
with open(here / "documents.ndjson", encoding="utf-8") as lines:
    for line in lines:
        writer.add_document(tantivy.Document(**json.loads(line)))
writer.commit()
writer.wait_merging_threads()
'''

_SEARCH = '''"""Search for a query of queries.ndjson, or a vector as JSON: python search.py INDEX QUERY."""

import json
import sys
from pathlib import Path

import tantivy

BITS, UNIT = __BITS__, __UNIT__  # bits of document weights; value of the lowest bit


def vector(query):
    """Return words with weights, from JSON or from queries.ndjson."""
    if query.startswith("{"):
        return json.loads(query)
    with open(Path(__file__).parent / "queries.ndjson", encoding="utf-8") as lines:
        for line in lines:
            if (found := json.loads(line))["query"] == query:
                return found["vector"]
    sys.exit(f"{query!r} is not in queries.ndjson: give its words and weights as a JSON object")


def search(index, words, k=10):
    """Return (score, document, title), best first."""
    clauses = []
    for word, weight in words.items():
        for bit in range(BITS):
            term = tantivy.Query.term_query(index.schema, "words", f"{word}/{bit}", "basic")
            scored = tantivy.Query.const_score_query(term, weight * UNIT * 2**bit)
            clauses.append((tantivy.Occur.Should, scored))
    searcher = index.searcher()
    hits = searcher.search(tantivy.Query.boolean_query(clauses), k).hits
    found = [(score, searcher.doc(address)) for score, address in hits]
    return [(score, doc["doc"][0], doc["title"][0]) for score, doc in found]


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for score, doc, title in search(tantivy.Index.open(sys.argv[1]), vector(sys.argv[2])):
        print(f"{score:.6f}\\t{doc}\\t{title}")
'''


class Tantivy(Exporter):
    """Exports documents with one term per bit, and two scripts."""

    name = "tantivy"
    title = "tantivy"
    documents_file = "documents.ndjson"
    accepts = frozenset({SPARSE, SHIPPED})
    limits = Limits(max_id_bytes=65_530, max_token_bytes=65_500)

    def __init__(self, source: ModelVectors, index: str, max_weights: int | None = None) -> None:
        """Set the value of the lowest bit."""
        super().__init__(source, index, max_weights)
        self.score_unit = (source.max_weight() or 1.0) / MAX_LEVEL
        self._prefixes = [token[:-1] for token in json_strings(self.tokens)]

    def round_weights(self, weights: Weights) -> Weights:
        """Return multiples of the lowest bit."""
        return np.rint(weights / self.score_unit).astype(np.float32)

    def write_schema(self, folder: Path) -> None:
        """Write both scripts; `load.py` contains the schema."""
        write_file(folder / "load.py", _LOAD)
        script = _SEARCH.replace("__BITS__", str(BITS)).replace("__UNIT__", repr(self.score_unit))
        write_file(folder / "search.py", script)

    def doc_texts(self, block: DocBlock) -> Iterator[str]:
        """Yield one line per document."""
        for doc, title, words in block.rows(self._bits(block.vectors)):
            yield f'{{"doc":{doc},"title":{title},"words":[{words}]}}\n'

    def write_sample(self, folder: Path, sample: SampleQuery) -> None:
        """Write the words and weights."""
        write_json(folder / "sample.json", self.sample_vector(sample))

    def readme(self) -> str:
        """Return the Python commands."""
        return """
Run these commands in this folder; `~/tantivy` is the index to create:

    pip install tantivy
    python load.py ~/tantivy
    python search.py ~/tantivy "$(cat sample.json)"

`search.py` is short. It also shows how to build the query in Rust.
"""

    def _bits(self, vectors: Csr) -> list[str]:
        """The quoted terms of the bits that are set, joined for each document."""
        values = vectors.data.astype(np.int64)
        entry, bit = np.nonzero(values[:, None] >> np.arange(BITS) & 1)
        ends = np.searchsorted(entry, vectors.indptr)
        set_bits = Csr(ends, vectors.indices[entry], vectors.data[entry], vectors.columns)
        return join_pairs(set_bits, self._prefixes, [_SUFFIXES[b] for b in bit.tolist()], ",")


EXPORTER = Tantivy
