"""Solr: words with payloads, summed by `payload_score`.

From the reference guide of Solr 9 ("Other parsers: payload score", "JSON query DSL", "Filters: delimited
payload"): a token `word|0.5` has a float32 payload; `{!payload_score}` scores
by the payload alone; a token ends at white space and has at most 256 characters; an id, like any Lucene term,
has at most 32,766 bytes. White space, | and % in words are percent-encoded.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from coclick.arrays.strings import Strings
from coclick.exporters.base import Exporter
from coclick.exporters.formatting import percent_encode
from coclick.exporters.limits import DocBlock, Limits
from coclick.exporters.model_vectors import SHIPPED, SPARSE
from coclick.exporters.packed_rows import JSON, concatenate, escape, format_rows
from coclick.exporters.program_files import write_program, write_sample_requests
from coclick.exporters.sample_queries import SampleQuery
from coclick.storage.directories import write_json

NOT_RUN = """The requests follow the reference guide of Solr 9. They were **not run against a real server of
Solr**, only against a test server that answers in the documented form: try them on a test server first."""


_COPIED = """ The documents that did not change are read from the collection of version
   `{base}`, and sent to the new one."""


class Solr(Exporter):
    """Exports a collection whose field `words` has payloads."""

    name = "solr"
    title = "Solr"
    accepts = frozenset({SPARSE, SHIPPED})
    field = "words"  # that has the vector
    limits = Limits(max_id_bytes=32_766, max_token_bytes=240)
    part_size = 8 << 20
    token_note = "In words, `|`, `%` and white space are percent-encoded: `%7C`, `%25`, `%20`."

    def encode_tokens(self, tokens: Sequence[str]) -> list[str]:
        """Encode white space and |, which separate tokens and payloads."""
        return percent_encode(tokens, r"\s|")

    def write_schema(self, folder: Path) -> None:
        """Write the requests of the schema API."""
        words = {"name": "words", "type": "coclick_words", "stored": True, "multiValued": False}
        title = {"name": "title", "type": "text_general", "stored": True, "multiValued": False}
        types = [words_type("coclick_words")]
        write_json(folder / "schema.json", {"add-field-type": types, "add-field": [words, title]})
        settings = {
            "alias": self.index,
            "index": f"{self.index}-{self.version}",
            "base": self.base_version and f"{self.index}-{self.base_version}",
            "shards": 1,
            "documents": self.n_documents,
            "version": self.version,
        }
        write_program(folder, self.title, "solr_alias", ("solr",), settings)

    @cached_property
    def prefixes(self) -> Strings:
        """Words and the character before their payload."""
        return Strings.from_list(f"{token}|" for token in self.tokens)

    def doc_rows(self, block: DocBlock) -> Strings:
        """Return one line per document."""
        doc, title = (escape(texts, JSON) for texts in (block.packed_ids, block.packed_titles))
        words = escape(format_rows(block.vectors, self.prefixes, separator=" "), JSON)
        return concatenate('{"id":"', doc, '","title":"', title, '","words":"', words, '"}\n')

    def vector_query(self, words: dict[str, float]) -> dict[str, Any]:
        """Return a boolean query that sums over words."""
        payload = {"f": self.field, "func": "sum"}
        should = [
            {"boost": {"b": weight, "query": {"payload_score": {**payload, "query": word}}}}
            for word, weight in words.items()
        ]
        return {"bool": {"should": should}}

    def search(self, query: dict[str, Any]) -> dict[str, Any]:
        """Return the body of a search request."""
        return {"query": query, "fields": "id,title,score", "limit": 10}

    def sample_request(self, sample: SampleQuery) -> dict[str, Any]:
        """Return the body of a search request."""
        return self.search(self.vector_query(self.sample_vector(sample)))

    def write_sample(self, folder: Path, sample: SampleQuery) -> None:
        """Write the body of a search request, and those of the queries that `check` asks."""
        write_json(folder / "sample.json", self.sample_request(sample))
        write_sample_requests(folder, self, self.sample_request)

    def readme(self) -> str:
        """Return the curl commands."""
        return f"""
{NOT_RUN}

1. You need Python 3.10 or later, and Solr in cloud mode. Run these commands in this folder:

       URL=http://localhost:8983/solr
       python3 run.py $URL load
       python3 run.py $URL check

   If security is enabled, set the header of your requests first: `export AUTHORIZATION='Basic …'`. For a
   certificate of your own, set `SSL_CERT_FILE`. `settings.json` has the number of shards.

2. `load` creates the collection `{self.index}-{self.version}` with a copy of the default configuration, fills
   it, compares the number of documents, and only then lets the alias `{self.index}` point to it, in one step:
   searches see the old version or the new one. The version before stays, as `{self.index}-previous`. If Solr
   refuses documents, `load` says which and why, exits with status 1, and the alias does not change. It can be
   interrupted and run again.{_COPIED.format(base=self.base_version) if self.base_version else ""}

3. `check` asks the queries of `sample-queries.ndjson` and compares the results with those of coclick. By
   hand:

       curl $URL/{self.index}/query -H 'Content-Type: application/json' -d @sample.json

4. Load the next export of the same `--name` in the same way.

       python3 run.py $URL rollback     # the alias back to the version that was loaded before this one
       python3 run.py $URL prune        # delete the versions that are neither current nor the one before
       python3 run.py $URL remove       # delete all versions

Without cloud mode there are no aliases: create a core, send `schema.json` to `/schema` and the parts to
`/update/json/docs`, or add the words to a core that you have (`--into`).
"""


def words_type(name: str) -> dict[str, Any]:
    """Return a field type of words with payloads."""
    whitespace = {"tokenizer": {"name": "whitespace"}}
    payloads = {**whitespace, "filters": [{"name": "delimitedPayload", "encoder": "float"}]}
    analyzers = {"indexAnalyzer": payloads, "queryAnalyzer": whitespace}
    return {"name": name, "class": "solr.TextField", **analyzers}


EXPORTER = Solr
