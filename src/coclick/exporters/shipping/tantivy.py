"""tantivy: an index of queries beside that of documents, and a program that asks both."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from coclick.errors import UserError
from coclick.exporters.shipping.client_files import query_payloads, write_client
from coclick.exporters.shipping.form import ShippedModel
from coclick.exporters.tantivy import BITS, MAX_LEVEL, Tantivy
from coclick.storage.directories import write_file


def write_search(exporter: Tantivy, shipped: ShippedModel, folder: Path, queries: int | None) -> None:
    """Write the queries with a term for each bit of their weights, and the program."""
    if exporter.base_version is not None:
        raise UserError(
            "--changes-from works only with vectors in tantivy", hint="export the whole model without it"
        )
    unit = float(shipped.neighbours.index_.vectors.data.max(initial=0) or 1.0) / MAX_LEVEL
    settings = {"bits": BITS, "words_unit": exporter.score_unit, "units_unit": unit}
    search = write_client(exporter, shipped, folder, "ask_tantivy", settings)
    write_file(search / "queries.ndjson", _lines(exporter, shipped, queries, unit))


def commands(exporter: Tantivy) -> str:
    """Return the commands of the README."""
    return """Run these commands in this folder; `~/tantivy-1` is the folder of the new indexes:

    pip install tantivy
    python search/ask.py ~/tantivy-1 load
    python search/ask.py ~/tantivy-1 "xbox"

`search/ask.py` and `search/answer.py` show how to ask in Rust: two indexes, and some arithmetic. Load the
next export into another folder, and switch the path when it is there; to go back, switch it again."""


def _lines(exporter: Tantivy, shipped: ShippedModel, limit: int | None, unit: float) -> Iterator[str]:
    names = shipped.vocabulary.units
    for block in shipped.known_queries(limit):
        levels = np.rint(block.vectors.data / unit).astype(np.int64)
        for i, row in enumerate(query_payloads(exporter, shipped, block)):
            entries = slice(*block.vectors.indptr[i : i + 2].tolist())
            terms = [
                f"{names[column]}/{bit}"
                for column, level in zip(
                    block.vectors.indices[entries].tolist(), levels[entries].tolist(), strict=True
                )
                for bit in range(BITS)
                if level >> bit & 1
            ]
            yield json.dumps(row | {"units": terms}, ensure_ascii=False) + "\n"
