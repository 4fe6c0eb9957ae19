"""Qdrant: a collection of queries beside that of documents, and a program that asks both."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from coclick.exporters.program_files import write_program
from coclick.exporters.qdrant import Qdrant
from coclick.exporters.shipping.client_files import query_payloads, write_client
from coclick.exporters.shipping.form import ShippedModel
from coclick.exporters.shipping.versions import folder_version
from coclick.storage.directories import write_file, write_json

_BATCH = 200  # points of a request


def write_search(exporter: Qdrant, shipped: ShippedModel, folder: Path, queries: int | None) -> None:
    """Write the points of queries, the number of each unit and word, and the program."""
    existing = exporter.existing
    settings = {
        "documents": exporter.index if existing is None else existing.name,
        "id_field": "doc" if existing is None else existing.id_field,
        "field": exporter.vector_name,
        "queries": f"{exporter.index}_queries",
    }
    search = write_client(exporter, shipped, folder, "ask_qdrant", settings)
    units = zip(shipped.vocabulary.units, shipped.vocabulary.numbers().tolist(), strict=True)
    words = zip(exporter.tokens, exporter.source.term_ids().tolist(), strict=True)
    named = chain(((f"unit {unit}", n) for unit, n in units), ((f"word {word}", n) for word, n in words))
    write_file(search / "numbers.ndjson", (_line(pair) for pair in named))
    requests = ({"points": points} for points in _batches(exporter, shipped, queries))
    write_file(search / "points.ndjson", map(_line, requests))
    write_json(search / "collection.json", {"vectors": {}, "sparse_vectors": {"units": {}}})
    loading = {
        "alias": settings["queries"],
        "version": folder_version(search),
        "base_version": None,
        "documents": len(shipped.known_rows(queries)),
        "keyword_fields": ["query"],
    }
    program, connection = "qdrant_alias", "qdrant_connection"
    write_program(search, exporter.title, program, (connection,), loading, connection)


def commands(exporter: Qdrant) -> str:
    """Return the commands of the README."""
    return f"""Run these commands in this folder, with the URL of Qdrant:

    URL=http://localhost:6333
    pip install qdrant-client
    python3 run.py $URL load               # the documents
    python3 search/run.py $URL load        # the queries, as {exporter.index}_queries
    python3 search/run.py $URL check       # compares the rankings of sample queries with those of coclick
    python3 search/ask.py $URL "xbox"

Both loads can run again, and both go back with `rollback` and are removed with `remove`. `vectors.md` has
more on the documents. `search/answer.py` has the arithmetic, to write it in another language."""


def _batches(exporter: Qdrant, shipped: ShippedModel, limit: int | None) -> Iterator[list[dict[str, Any]]]:
    numbers = shipped.vocabulary.numbers()
    for block in shipped.known_queries(limit):
        points = []
        for i, payload in enumerate(query_payloads(exporter, shipped, block)):
            columns, weights = block.vectors.row(i)
            order = np.argsort(numbers[columns])
            vector = {
                "indices": numbers[columns][order].tolist(),
                "values": [float(f"{weight:.9g}") for weight in weights[order].tolist()],
            }
            points.append(
                {"id": _point_id(payload["query"]), "payload": payload, "vector": {"units": vector}}
            )
        for first in range(0, len(points), _BATCH):
            yield points[first : first + _BATCH]


def _point_id(query: str) -> str:
    """The id of a query: its MD5 hash as a UUID."""
    return str(uuid.UUID(hashlib.md5(query.encode(), usedforsecurity=False).hexdigest()))


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"
