"""tantivy: weighted words without a field for weights, exact to twelve bits.

tantivy scores by BM25 and has no payloads or features. But a sum of constant scores is a dot product if
weights are written in bits: a document has the term `word/b` where bit b of its weight is set, and the query
asks for each bit of each of its words, for the word's weight times 2ᵇ,

    Σ_word q_word Σ_b 2ᵇ [bit b of d_word is set] = Σ_word q_word d_word

Weights are multiples of the largest divided by 4095. A term of tantivy has up to 65,530 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from coclick.arrays.csr import Csr
from coclick.exporters.content import Content
from coclick.exporters.engine import Engine
from coclick.exporters.folder import write_json, write_text
from coclick.exporters.limits import Block, Limits, Weights
from coclick.exporters.lines import pairs, quoted
from coclick.exporters.sample import Sample
from coclick.storage.directories import write_file

_BITS = 12
_MOST = (1 << _BITS) - 1
_ENDS = [f'/{bit}"' for bit in range(_BITS)]  # of quoted terms

_LOAD = '''"""Make a tantivy index of documents.ndjson: python load.py INDEX (needs: pip install tantivy)."""

import json
import sys
from pathlib import Path

import tantivy

if len(sys.argv) != 2:
    sys.exit(__doc__)
here, target = Path(__file__).parent, Path(sys.argv[1])
if target.exists():
    sys.exit(f"{target} exists already: remove it, or name another")
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

_SEARCH = '''"""Ask the index, with a query of queries.ndjson or with words: python search.py INDEX QUERY."""

import json
import sys
from pathlib import Path

import tantivy

BITS, UNIT = __BITS__, __UNIT__  # of weights of documents, and what the lowest bit is worth


def vector(asked):
    """Words with weights: given, or those of a query of the log."""
    if asked.startswith("{"):
        return json.loads(asked)
    with open(Path(__file__).parent / "queries.ndjson", encoding="utf-8") as lines:
        for line in lines:
            if (found := json.loads(line))["query"] == asked:
                return found["vector"]
    sys.exit(f"{asked!r} is not in queries.ndjson: give its words as JSON, a weight for each")


def search(index, words, k=10):
    """(score, document, title), the best first."""
    asked = []
    for word, weight in words.items():
        for bit in range(BITS):
            term = tantivy.Query.term_query(index.schema, "words", f"{word}/{bit}", "basic")
            worth = tantivy.Query.const_score_query(term, weight * UNIT * 2**bit)
            asked.append((tantivy.Occur.Should, worth))
    searcher = index.searcher()
    hits = searcher.search(tantivy.Query.boolean_query(asked), k).hits
    found = [(score, searcher.doc(address)) for score, address in hits]
    return [(score, doc["doc"][0], doc["title"][0]) for score, doc in found]


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for score, doc, title in search(tantivy.Index.open(sys.argv[1]), vector(sys.argv[2])):
        print(f"{score:.6f}\\t{doc}\\t{title}")
'''


class Tantivy(Engine):
    """Documents with the bits of their words, and two scripts."""

    name = "tantivy"
    title = "tantivy"
    limits = Limits(id_bytes=65_530, token_bytes=65_500)

    def __init__(self, content: Content, index: str, max_weights: int | None = None) -> None:
        """With the worth of the lowest bit."""
        super().__init__(content, index, max_weights)
        self.unit = (content.largest() or 1.0) / _MOST
        self._starts = [token[:-1] for token in quoted(self.tokens)]

    def stored(self, weights: Weights) -> Weights:
        """In multiples of the lowest bit."""
        return np.rint(weights / self.unit).astype(np.float32)

    def write_schema(self, folder: Path) -> None:
        """Which is in the script that loads."""
        write_text(folder / "load.py", _LOAD)
        worth = {"__BITS__": str(_BITS), "__UNIT__": repr(self.unit)}
        text = _SEARCH
        for name, value in worth.items():
            text = text.replace(name, value)
        write_text(folder / "search.py", text)

    def write_documents(self, folder: Path, blocks: Iterator[Block]) -> None:
        """One a line."""

        def lines() -> Iterator[str]:
            for block in blocks:
                rows = zip(quoted(block.ids), quoted(block.titles), self._bits(block.vectors), strict=True)
                for doc, title, words in rows:
                    yield f'{{"doc":{doc},"title":{title},"words":[{words}]}}\n'

        write_file(folder / "documents.ndjson", lines())

    def write_sample(self, folder: Path, sample: Sample) -> None:
        """Its words."""
        write_json(folder / "sample.json", self.query_vector(sample))

    def readme(self) -> str:
        """With Python."""
        return """
In this folder, where `~/tantivy` is the index to be made:

    pip install tantivy
    python load.py ~/tantivy
    python search.py ~/tantivy "$(cat sample.json)"

`search.py` is short: it shows the query to build in Rust, too.
"""

    def _bits(self, vectors: Csr) -> list[str]:
        """For each document the quoted terms of the bits that are set."""
        values = vectors.data.astype(np.int64)
        entry, bit = np.nonzero(values[:, None] >> np.arange(_BITS) & 1)
        ends = np.searchsorted(entry, vectors.indptr)
        of_bits = Csr(ends, vectors.indices[entry], vectors.data[entry], vectors.columns)
        return pairs(of_bits, self._starts, [_ENDS[b] for b in bit.tolist()], ",")


ENGINE = Tantivy
