"""Solr: words with payloads, summed by `payload_score`.

From the reference guide of Solr 9 ("Other parsers: payload score", "JSON query DSL", "Filters: delimited
payload"): a token `word|0.5` has a float32 payload; `{!payload_score}` scores
by the payload alone; a token ends at white space and has at most 256 characters; an id, like any Lucene term,
has at most 32,766 bytes. White space, | and % in words are percent-encoded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from coclick.exporters.base import Exporter
from coclick.exporters.formatting import format_floats, join_pairs, json_strings, percent_encode
from coclick.exporters.limits import DocBlock, Limits
from coclick.exporters.sample_queries import SampleQuery
from coclick.storage.directories import write_json


class Solr(Exporter):
    """Exports a collection whose field `words` has payloads."""

    name = "solr"
    title = "Solr"
    limits = Limits(max_id_bytes=32_766, max_token_bytes=240)
    token_note = "In words, `|`, `%` and white space are percent-encoded: `%7C`, `%25`, `%20`."

    def encode_tokens(self, tokens: Sequence[str]) -> list[str]:
        """Encode white space and |, which separate tokens and payloads."""
        return percent_encode(tokens, r"\s|")

    def write_schema(self, folder: Path) -> None:
        """Write the requests of the schema API."""
        whitespace = {"tokenizer": {"name": "whitespace"}}
        payloads = {**whitespace, "filters": [{"name": "delimitedPayload", "encoder": "float"}]}
        kind = {"name": "coclick_words", "class": "solr.TextField", "indexAnalyzer": payloads}
        words = {"name": "words", "type": "coclick_words", "indexed": True, "stored": False}
        title = {"name": "title", "type": "text_general", "stored": True, "multiValued": False}
        write_json(
            folder / "schema.json",
            {"add-field-type": {**kind, "queryAnalyzer": whitespace}, "add-field": [words, title]},
        )

    @cached_property
    def _prefixes(self) -> list[str]:
        return [f"{token}|" for token in self.tokens]

    def doc_texts(self, block: DocBlock) -> Iterator[str]:
        """Yield one line per document."""
        words = join_pairs(block.vectors, self._prefixes, format_floats(block.vectors.data), " ")
        for doc, title, row in block.rows(json_strings(words)):
            yield f'{{"id":{doc},"title":{title},"words":{row}}}\n'

    def write_sample(self, folder: Path, sample: SampleQuery) -> None:
        """Write a boolean query that sums over words."""
        should = [
            {"boost": {"b": weight, "query": {"payload_score": {"f": "words", "func": "sum", "query": word}}}}
            for word, weight in self.sample_vector(sample).items()
        ]
        write_json(
            folder / "sample.json",
            {"query": {"bool": {"should": should}}, "fields": "id,title,score", "limit": 10},
        )

    def readme(self) -> str:
        """Return the curl commands."""
        return f"""
Start Solr, create a collection with `bin/solr create -c {self.index}`, and run these commands in this folder:

    URL=http://localhost:8983/solr/{self.index} JSON='Content-Type: application/json'
    curl $URL/schema -H "$JSON" -d @schema.json
    for part in documents-*.ndjson; do
        curl "$URL/update/json/docs?commit=true" -H "$JSON" --data-binary @$part; done
    curl $URL/query -H "$JSON" -d @sample.json
"""


EXPORTER = Solr
