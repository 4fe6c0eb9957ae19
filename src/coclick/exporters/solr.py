"""Solr: words with payloads, summed by `payload_score`; and synonyms with boosts for a field of your own.

From the reference guide of Solr 9 ("Other parsers: payload score", "JSON query DSL", "Filters: delimited
payload, delimited boost, synonym graph"): a token `word|0.5` carries a float32 payload; `{!payload_score}`
scores by it alone; a token ends at white space and has up to 256 characters; an id, as any term of Lucene,
has up to 32,766 bytes. White space, | and % in words are written as in URLs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coclick.exporters.engine import Engine
from coclick.exporters.folder import write_json
from coclick.exporters.limits import Block, Limits
from coclick.exporters.lines import numbers, pairs, quoted, write_parts
from coclick.exporters.sample import Sample
from coclick.exporters.tokens import escaped
from coclick.storage.directories import write_file

_SYNONYMS = 10  # of a word
_PLAIN = re.compile(r"[^\s,|\\=>#]+")  # what needs no escape in a file of synonyms


class Solr(Engine):
    """A collection with a field of payloads."""

    name = "solr"
    title = "Solr"
    limits = Limits(id_bytes=32_766, token_bytes=240)
    token_note = "In words, `|`, `%` and white space are written as in URLs: `%7C`, `%25`, `%20`."

    def written(self, tokens: Sequence[str]) -> list[str]:
        """As tokens that end at white space, and weights that begin with |."""
        return escaped(tokens, r"\s|")

    def write_schema(self, folder: Path) -> None:
        """For the schema API."""
        whitespace = {"tokenizer": {"name": "whitespace"}}
        payloads = {**whitespace, "filters": [{"name": "delimitedPayload", "encoder": "float"}]}
        kind = {"name": "coclick_words", "class": "solr.TextField", "indexAnalyzer": payloads}
        words = {"name": "words", "type": "coclick_words", "indexed": True, "stored": False}
        title = {"name": "title", "type": "text_general", "stored": True, "multiValued": False}
        write_json(
            folder / "schema.json",
            {"add-field-type": {**kind, "queryAnalyzer": whitespace}, "add-field": [words, title]},
        )
        write_json(folder / "synonyms-field.json", _synonyms_field())

    def write_documents(self, folder: Path, blocks: Iterator[Block]) -> None:
        """One a line."""
        keys = [f"{token}|" for token in self.tokens]

        def pieces() -> Iterator[str]:
            for block in blocks:
                words = quoted(pairs(block.vectors, keys, numbers(block.vectors.data), " "))
                rows = zip(quoted(block.ids), quoted(block.titles), words, strict=True)
                yield "".join(f'{{"id":{doc},"title":{title},"words":{row}}}\n' for doc, title, row in rows)

        write_parts(folder, "documents-{:05}.ndjson", pieces())

    def write_queries(self, folder: Path, queries: Sequence[str]) -> None:
        """Beside the vectors, those of single words as synonyms."""
        super().write_queries(folder, queries)
        single = [query for query in queries if _PLAIN.fullmatch(query)]
        write_file(folder / "coclick-synonyms.txt", self._synonyms(single))

    def write_sample(self, folder: Path, sample: Sample) -> None:
        """A sum over words."""
        should = [
            {"boost": {"b": weight, "query": {"payload_score": {"f": "words", "func": "sum", "query": word}}}}
            for word, weight in self.query_vector(sample).items()
        ]
        write_json(
            folder / "sample.json",
            {"query": {"bool": {"should": should}}, "fields": "id,title,score", "limit": 10},
        )

    def readme(self) -> str:
        """With curl."""
        return f"""
In this folder, with Solr running and a collection made by `bin/solr create -c {self.index}`:

    URL=http://localhost:8983/solr/{self.index} JSON='Content-Type: application/json'
    curl $URL/schema -H "$JSON" -d @schema.json
    for part in documents-*.ndjson; do
        curl "$URL/update/json/docs?commit=true" -H "$JSON" --data-binary @$part; done
    curl $URL/query -H "$JSON" -d @sample.json

`coclick-synonyms.txt` has what queries of a single word stand for, with boosts, for text fields that you have
already: put it into the collection's configuration and add the field type of `synonyms-field.json`. That is
a rough substitute: it expands each word by itself.
"""

    def _synonyms(self, queries: Sequence[str]) -> Iterator[str]:
        """`hotel => hotel|1,lodging|0.4`, relative to the heaviest word."""
        for texts, vectors in self.query_blocks(queries):
            for i, text in enumerate(texts):
                terms, weights = vectors.row(i)
                order = np.argsort(-weights, kind="stable")[:_SYNONYMS]
                shares = numbers(weights[order] / weights[order[0]])
                words = [self.content.tokens[term] for term in terms[order].tolist()]
                known = [f"{w}|{s}" for w, s in zip(words, shares, strict=True) if _PLAIN.fullmatch(w)]
                if known:
                    yield f"{text} => {','.join(known)}\n"


def _synonyms_field() -> dict[str, Any]:
    """A text field whose queries are expanded, each synonym with its boost."""
    tokenizer, lower = {"name": "whitespace"}, {"name": "lowercase"}
    synonyms = {"name": "synonymGraph", "synonyms": "coclick-synonyms.txt", "expand": "true"}
    return {
        "add-field-type": {
            "name": "text_coclick",
            "class": "solr.TextField",
            "indexAnalyzer": {"tokenizer": tokenizer, "filters": [lower]},
            "queryAnalyzer": {
                "tokenizer": tokenizer,
                "filters": [lower, synonyms, {"name": "delimitedBoost"}],
            },
        }
    }


ENGINE = Solr
