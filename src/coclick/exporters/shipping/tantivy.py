"""tantivy: an index of queries beside that of documents, and a program that asks both."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from coclick.exporters.shipping.client_files import query_payloads, write_client
from coclick.exporters.shipping.form import ShippedModel
from coclick.exporters.shipping.readme import increment_note
from coclick.exporters.shipping.versions import add_search_version
from coclick.exporters.tantivy import BITS, MAX_LEVEL, Tantivy
from coclick.storage.directories import write_file


def write_search(exporter: Tantivy, shipped: ShippedModel, folder: Path, queries: int | None) -> None:
    """Write the queries with a term for each bit of their weights, and the program."""
    unit = float(shipped.neighbours.index_.vectors.data.max(initial=0) or 1.0) / MAX_LEVEL
    settings = {"bits": BITS, "words_unit": exporter.score_unit, "units_unit": unit}
    search = write_client(exporter, shipped, folder, "ask_tantivy", settings)
    write_file(search / "queries.ndjson", _lines(exporter, shipped, queries, unit))
    add_search_version(folder)


def commands(exporter: Tantivy) -> str:
    """Return the commands of the README."""
    return f"""Run these commands in this folder; `~/tantivy` is the folder for all versions of the indexes:

    pip install tantivy
    python3 run.py ~/tantivy load
    python3 run.py ~/tantivy check
    python3 ~/tantivy/current/search/ask.py "xbox"

`load` builds the index of documents and that of queries, and then lets the link `~/tantivy/current` point to
them, at once. It can be interrupted and run again, and a second run changes nothing.
{increment_note(exporter)}
`search/ask.py` and `search/answer.py` show how to ask in Rust: two indexes, and some arithmetic.

    python3 run.py ~/tantivy rollback     # to the version that was loaded before this one
    python3 run.py ~/tantivy remove       # delete all versions"""


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
