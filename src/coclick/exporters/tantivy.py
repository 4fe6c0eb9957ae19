"""tantivy: weights as terms, rounded to twelve bits.

tantivy scores by BM25 and has neither payloads nor feature fields. But a sum of constant scores is a dot
product if weights are written in binary. A document has the term `word/b` if bit b of the word's weight is
set; the query has a clause for each bit of each of its words, with the word's weight times 2ᵇ as its score:

    Σ_word q_word Σ_b 2ᵇ [bit b of d_word is set] = Σ_word q_word d_word

Weights are multiples of the largest weight divided by 4095. A term has at most 65,530 bytes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from coclick.arrays.strings import Strings
from coclick.exporters.base import Exporter
from coclick.exporters.formatting import json_strings
from coclick.exporters.limits import DocBlock, Limits, Weights
from coclick.exporters.model_vectors import SHIPPED, SPARSE, ModelVectors
from coclick.exporters.packed_rows import JSON, concatenate, escape, format_bits
from coclick.exporters.program_files import write_program, write_sample_requests
from coclick.exporters.sample_queries import SampleQuery
from coclick.storage.directories import write_file, write_json

BITS = 12
MAX_LEVEL = (1 << BITS) - 1
_SUFFIXES = Strings.from_list(f'/{bit}"' for bit in range(BITS))  # of quoted terms

_SEARCH = '''"""Search for a query of queries.ndjson, or a vector as JSON: python search.py INDEX QUERY."""

import json
import sys
from pathlib import Path

import tantivy

BITS, UNIT = __BITS__, __UNIT__  # bits of document weights; value of the lowest bit


def vector(query, index):
    """Return words with weights, from JSON or from queries.ndjson in the folder of the index."""
    if query.startswith("{"):
        return json.loads(query)
    with open(Path(index) / "queries.ndjson", encoding="utf-8") as lines:
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
    for score, doc, title in search(tantivy.Index.open(sys.argv[1]), vector(sys.argv[2], sys.argv[1])):
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
        self._prefixes = Strings.from_list(token[:-1] for token in json_strings(self.tokens))

    def keep_score_unit(self, unit: float) -> None:
        """Take the unit of the base if weights have about the same range: fewer documents change then."""
        levels = self.source.max_weight() / unit
        if MAX_LEVEL / 2 < levels <= MAX_LEVEL:
            self.score_unit = unit

    def round_weights(self, weights: Weights) -> Weights:
        """Return multiples of the lowest bit."""
        return np.rint(weights / self.score_unit).astype(np.float32)

    def write_schema(self, folder: Path) -> None:
        """Write the program that builds the index, and one that searches."""
        settings = {
            "version": self.version,
            "base_version": self.base_version,
            "documents": self.n_documents,
        }
        program = "tantivy_versions"
        write_program(folder, self.title, program, ("folder_versions",), settings, program)
        script = _SEARCH.replace("__BITS__", str(BITS)).replace("__UNIT__", repr(self.score_unit))
        write_file(folder / "search.py", script)

    def doc_rows(self, block: DocBlock) -> Strings:
        """Return one line per document."""
        doc, title = (escape(texts, JSON) for texts in (block.packed_ids, block.packed_titles))
        words = format_bits(block.vectors, self._prefixes, _SUFFIXES)
        return concatenate('{"doc":"', doc, '","title":"', title, '","words":[', words, "]}\n")

    def write_sample(self, folder: Path, sample: SampleQuery) -> None:
        """Write the words and weights, and the queries of `check`."""
        write_json(folder / "sample.json", self.sample_vector(sample))
        write_sample_requests(folder, self, self.sample_vector)

    def readme(self) -> str:
        """Return the Python commands."""
        increment = (
            ""
            if self.base_version is None
            else (
                f"\n   This increment is refused if another version than `{self.base_version}` is loaded. It "
                "starts from hard\n   links to the files of that version."
            )
        )
        return f"""
1. Run these commands in this folder; `~/tantivy` is the folder for all versions of the index:

       pip install tantivy
       python3 run.py ~/tantivy load
       python3 run.py ~/tantivy check

2. `load` builds the index `~/tantivy/versions/{self.version}` and then lets the link
   `~/tantivy/current` point to it, at once. It can be interrupted and run again, and a second run changes
   nothing. Programs that have the index open keep the version that they opened.{increment}

3. `check` asks the queries of `sample-queries.ndjson` and compares the results with those of coclick.
   By hand:

       python3 search.py ~/tantivy/current "$(cat sample.json)"

   `search.py` is short. It also shows how to build the query in Rust.

4. Load the next export, or the next increment, in the same way. The way back:

       python3 run.py ~/tantivy rollback     # to the version that was loaded before this one
       python3 run.py ~/tantivy remove       # delete all versions
"""


EXPORTER = Tantivy
