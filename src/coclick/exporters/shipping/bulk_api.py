"""Elasticsearch and OpenSearch: an index of queries beside that of documents, and a program that asks both.

The index of queries has an alias and versions of its own, and is loaded by the same program as documents. A
ranking is found by the id of its document, which is a hash of the query. `pinned` queries are not used: they
need a license in Elasticsearch, do not exist in OpenSearch, and take no scores.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coclick.exporters.bulk_api import NOT_RUN, BulkApiExporter, round_to_nine_bits
from coclick.exporters.formatting import format_floats, join_pairs, json_strings, write_parts
from coclick.exporters.program_files import write_program
from coclick.exporters.shipping.ask_bulk_api import encode, query_id
from coclick.exporters.shipping.client_files import query_payloads, write_client
from coclick.exporters.shipping.form import ShippedModel
from coclick.exporters.shipping.versions import folder_version
from coclick.storage.directories import write_json

_PART_SIZE = 8 << 20  # characters


def write_search(
    exporter: BulkApiExporter,
    shipped: ShippedModel,
    folder: Path,
    queries: int | None,
    field_type: dict[str, Any],
    query: str,
) -> None:
    """Write the index of queries with the program that loads it, and the program that asks.

    Parameters: as of the other engines; `field_type` of the vectors; `query`, the name of the query that is
    their dot product.
    """
    existing = exporter.existing
    settings = {
        "documents": exporter.index if existing is None else existing.name,
        "id_field": "_id" if existing is None else existing.id_field,
        "field": exporter.field,
        "queries": f"{exporter.index}_queries",
        "query": query,
    }
    search = write_client(exporter, shipped, folder, "ask_bulk_api", settings)
    write_parts(search, "documents-{:05}.ndjson", _actions(exporter, shipped, queries), _PART_SIZE)
    version = folder_version(search)
    stored = {"type": "object", "enabled": False}
    meta = {"coclick": {"version": version, "model": str(shipped.model)}}
    mapping = {"dynamic": "strict", "_meta": meta, "properties": {"units": field_type, "stored": stored}}
    write_json(search / "index.json", {"mappings": mapping})
    alias = settings["queries"]
    loading = {
        "alias": alias,
        "index": f"{alias}-{version}",
        "base": None,
        "documents": len(shipped.known_rows(queries)),
        "version": version,
    }
    write_program(search, exporter.title, "bulk_api_alias", ("bulk_api",), loading)


def commands(exporter: BulkApiExporter) -> str:
    """Return the commands of the README."""
    return f"""{NOT_RUN.format(title=exporter.title)}

Run these commands in this folder, with the URL of the cluster and Python 3.10 or later:

    URL=http://localhost:9200
    python3 run.py $URL load               # the documents
    python3 search/run.py $URL load        # the queries, as {exporter.index}_queries
    python3 search/run.py $URL check       # compares the rankings of sample queries with those of coclick
    python3 search/ask.py $URL "xbox"

Both loads can run again, and both go back with `rollback` and are removed with `remove`. `search/ask.py`
sends one request for a query of the log, and up to four for any other; `search/answer.py` has the arithmetic,
to write it in another language."""


def _actions(exporter: BulkApiExporter, shipped: ShippedModel, limit: int | None) -> Iterator[str]:
    keys = [f"{name}:" for name in json_strings(map(encode, shipped.vocabulary.units))]
    for block in shipped.known_queries(limit):
        weights = format_floats(round_to_nine_bits(block.vectors.data))
        units = join_pairs(block.vectors, keys, weights, ",")
        for row, vector in zip(query_payloads(exporter, shipped, block), units, strict=True):
            action = f'{{"index":{{"_id":"{query_id(row["query"])}"}}}}'
            yield f'{action}\n{{"units":{{{vector}}},"stored":{json.dumps(row, ensure_ascii=False)}}}\n'
