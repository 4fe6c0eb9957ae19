"""Solr: words with payloads, summed by `payload_score`; and boosted synonyms for an existing text field.

From the reference guide of Solr 9 ("Other parsers: payload score", "JSON query DSL", "Filters: delimited
payload, delimited boost, synonym graph"): a token `word|0.5` has a float32 payload; `{!payload_score}` scores
by the payload alone; a token ends at white space and has at most 256 characters; an id, like any Lucene term,
has at most 32,766 bytes. White space, | and % in words are percent-encoded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from coclick.exporters.base import Exporter
from coclick.exporters.formatting import format_floats, join_pairs, json_strings, percent_encode
from coclick.exporters.limits import DocBlock, Limits
from coclick.exporters.program_files import write_program, write_sample_requests
from coclick.exporters.sample_queries import SampleQuery
from coclick.storage.directories import write_file, write_json

NOT_RUN = """The requests follow the reference guide of Solr 9. They were **not run against a real server of
Solr**, only against a test server that answers in the documented form: try them on a test server first."""
_MAX_SYNONYMS = 10  # of a word
_PLAIN = re.compile(r"[^\s,|\\=>#]+")  # needs no escaping in a synonyms file


class Solr(Exporter):
    """Exports a collection whose field `words` has payloads."""

    name = "solr"
    title = "Solr"
    field = "words"  # that has the vector
    limits = Limits(max_id_bytes=32_766, max_token_bytes=240)
    part_size = 8 << 20
    token_note = "In words, `|`, `%` and white space are percent-encoded: `%7C`, `%25`, `%20`."

    def encode_tokens(self, tokens: Sequence[str]) -> list[str]:
        """Encode white space and |, which separate tokens and payloads."""
        return percent_encode(tokens, r"\s|")

    def write_schema(self, folder: Path) -> None:
        """Write the requests of the schema API."""
        words = {"name": "words", "type": "coclick_words", "indexed": True, "stored": False}
        title = {"name": "title", "type": "text_general", "stored": True, "multiValued": False}
        types = [words_type("coclick_words")]
        write_json(folder / "schema.json", {"add-field-type": types, "add-field": [words, title]})
        write_json(folder / "synonyms-field.json", _synonyms_field())
        settings = {
            "alias": self.index,
            "index": f"{self.index}-{self.version}",
            "shards": 1,
            "documents": self.n_documents,
            "version": self.version,
        }
        write_program(folder, self.title, "solr_alias", ("solr",), settings)

    @cached_property
    def _prefixes(self) -> list[str]:
        return [f"{token}|" for token in self.tokens]

    def doc_texts(self, block: DocBlock) -> Iterator[str]:
        """Yield one line per document."""
        words = join_pairs(block.vectors, self._prefixes, format_floats(block.vectors.data), " ")
        for doc, title, row in block.rows(json_strings(words)):
            yield f'{{"id":{doc},"title":{title},"words":{row}}}\n'

    def write_queries(self, folder: Path, queries: Sequence[str]) -> None:
        """Write the query vectors, and those of one-word queries as synonyms."""
        super().write_queries(folder, queries)
        single = [query for query in queries if _PLAIN.fullmatch(query)]
        write_file(folder / "coclick-synonyms.txt", self._synonyms(single))

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
   interrupted and run again.

3. `check` asks the queries of `sample-queries.ndjson` and compares the results with those of coclick. By
   hand:

       curl $URL/{self.index}/query -H 'Content-Type: application/json' -d @sample.json

4. Load the next export of the same `--name` in the same way.

       python3 run.py $URL rollback     # the alias back to the version that was loaded before this one
       python3 run.py $URL prune        # delete the versions that are neither current nor the one before
       python3 run.py $URL remove       # delete all versions

Without cloud mode there are no aliases: create a core, send `schema.json` to `/schema` and the parts to
`/update/json/docs`, or add the words to a core that you have (`--into`).

`coclick-synonyms.txt` expands one-word queries to boosted synonyms, for text fields that you already have. To
use it, copy it to the collection's configuration and add the field type of `synonyms-field.json`. It is only
an approximation of the model, because it expands each word separately.
"""

    def _synonyms(self, queries: Sequence[str]) -> Iterator[str]:
        """Yield lines such as `hotel => hotel|1,lodging|0.4`; boosts are relative to the largest weight."""
        for texts, vectors in self.query_blocks(queries):
            for i, text in enumerate(texts):
                terms, weights = vectors.row(i)
                order = np.argsort(-weights, kind="stable")[:_MAX_SYNONYMS]
                shares = format_floats(weights[order] / weights[order[0]])
                words = [self.source.tokens[term] for term in terms[order].tolist()]
                known = [f"{w}|{s}" for w, s in zip(words, shares, strict=True) if _PLAIN.fullmatch(w)]
                if known:
                    yield f"{text} => {','.join(known)}\n"


def words_type(name: str) -> dict[str, Any]:
    """Return a field type of words with payloads."""
    whitespace = {"tokenizer": {"name": "whitespace"}}
    payloads = {**whitespace, "filters": [{"name": "delimitedPayload", "encoder": "float"}]}
    analyzers = {"indexAnalyzer": payloads, "queryAnalyzer": whitespace}
    return {"name": name, "class": "solr.TextField", **analyzers}


def _synonyms_field() -> dict[str, Any]:
    """A text field type that expands queries with boosted synonyms."""
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


EXPORTER = Solr
