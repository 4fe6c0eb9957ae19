"""Solr: a collection of queries beside that of documents, and a program that asks both.

The collection of queries has an alias and versions of its own, and is loaded by the same program as
documents. The units of a query are tokens with payloads, as the words of documents are; its ranking and its
clicks are a stored string of JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from coclick.exporters.formatting import write_parts
from coclick.exporters.program_files import write_program
from coclick.exporters.shipping.ask_solr import encode, fits, query_id
from coclick.exporters.shipping.client_files import query_payloads, write_client
from coclick.exporters.shipping.form import ShippedModel
from coclick.exporters.shipping.versions import folder_version
from coclick.exporters.solr import NOT_RUN, Solr, words_type
from coclick.storage.directories import write_json

_PART_SIZE = 8 << 20  # characters


def write_search(exporter: Solr, shipped: ShippedModel, folder: Path, queries: int | None) -> None:
    """Write the collection of queries with the program that loads it, and the program that asks."""
    existing = exporter.existing
    settings = {
        "documents": exporter.index if existing is None else existing.name,
        "id_field": "id" if existing is None else existing.id_field,
        "field": exporter.field,
        "queries": f"{exporter.index}_queries",
    }
    search = write_client(exporter, shipped, folder, "ask_solr", settings)
    write_parts(search, "documents-{:05}.ndjson", _lines(exporter, shipped, queries), _PART_SIZE)
    units = {"name": "units", "type": "coclick_words", "indexed": True, "stored": False}
    single = {"indexed": False, "stored": True, "docValues": False, "multiValued": False}
    fields = [units, {"name": "stored", "type": "string", **single}]
    schema = {"add-field-type": [words_type("coclick_words")], "add-field": fields}
    write_json(search / "schema.json", schema)
    alias, version = settings["queries"], folder_version(search)
    loading = {
        "alias": alias,
        "index": f"{alias}-{version}",
        "shards": 1,
        "documents": len(shipped.known_rows(queries)),
        "version": version,
        "base": None,
    }
    write_program(search, exporter.title, "solr_alias", ("solr",), loading)


def commands(exporter: Solr) -> str:
    """Return the commands of the README."""
    return f"""{NOT_RUN}

Run these commands in this folder, with the URL of Solr in cloud mode and Python 3.10 or later:

    URL=http://localhost:8983/solr
    python3 run.py $URL load               # the documents
    python3 search/run.py $URL load        # the queries, as {exporter.index}_queries
    python3 search/run.py $URL check       # compares the rankings of sample queries with those of coclick
    python3 search/ask.py $URL "xbox"

Both loads can run again, and both go back with `rollback` and are removed with `remove`. `search/ask.py`
sends one request for a query of the log, and up to four for any other; `search/answer.py` has the arithmetic,
to write it in another language."""


def _lines(exporter: Solr, shipped: ShippedModel, limit: int | None) -> Iterator[str]:
    names = [encode(unit) if fits(unit) else None for unit in shipped.vocabulary.units]
    for block in shipped.known_queries(limit):
        for i, row in enumerate(query_payloads(exporter, shipped, block)):
            pairs = zip(*(values.tolist() for values in block.vectors.row(i)), strict=True)
            tokens = [f"{names[column]}|{weight:.9g}" for column, weight in pairs if names[column]]
            stored = json.dumps(row, ensure_ascii=False)
            line = {"id": query_id(row["query"]), "units": " ".join(tokens), "stored": stored}
            yield json.dumps(line, ensure_ascii=False) + "\n"
