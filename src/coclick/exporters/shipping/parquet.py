"""Parquet: the queries of the log with rankings, units and clicks, and a program that asks the files.

search/queries-00000.parquet …   query, docs, scores, units, unit_weights, clicked, weights
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb

from coclick.exporters.parquet import Parquet
from coclick.exporters.shipping.client_files import query_payloads, write_client
from coclick.exporters.shipping.form import ShippedModel
from coclick.exporters.shipping.readme import increment_note
from coclick.exporters.shipping.versions import add_search_version
from coclick.storage.directories import write_file

_TYPES = {
    "query": "VARCHAR",
    "docs": "VARCHAR[]",
    "scores": "FLOAT[]",
    "clicked": "VARCHAR[]",
    "weights": "FLOAT[]",
    "units": "VARCHAR[]",
    "unit_weights": "FLOAT[]",
}


def write_search(exporter: Parquet, shipped: ShippedModel, folder: Path, queries: int | None) -> None:
    """Write the queries and the program."""
    search = write_client(exporter, shipped, folder, "ask_parquet", {})
    columns = ", ".join(f"'{name}': '{kind}'" for name, kind in _TYPES.items())
    with tempfile.TemporaryDirectory(dir=search, prefix=".rows-") as work:
        lines = Path(work, "rows.ndjson")
        write_file(lines, _lines(exporter, shipped, queries))
        source, target = (str(path).replace("'", "''") for path in (lines, search / "queries-00000.parquet"))
        with duckdb.connect(config={"preserve_insertion_order": True}) as connection:
            options = (
                f"format = 'newline_delimited', columns = {{{columns}}}, maximum_object_size = 268435456"
            )
            connection.execute(
                f"COPY (SELECT * FROM read_json('{source}', {options})) "
                f"TO '{target}' (FORMAT parquet, COMPRESSION zstd)"
            )
    add_search_version(folder)


def commands(exporter: Parquet) -> str:
    """Return the commands of the README."""
    return f"""Run these commands in this folder; `~/parquet` is the folder for all versions of the files:

    pip install duckdb
    python3 run.py ~/parquet load
    python3 run.py ~/parquet check
    python3 ~/parquet/current/search/ask.py "xbox"

`load` copies documents and queries, and then lets the link `~/parquet/current` point to them, at once. It can
be interrupted and run again, and a second run changes nothing.
{increment_note(exporter)}
`search/answer.py` has the arithmetic, to load the files into another engine.

    python3 run.py ~/parquet rollback     # to the version that was loaded before this one
    python3 run.py ~/parquet remove       # delete all versions"""


def _lines(exporter: Parquet, shipped: ShippedModel, limit: int | None) -> Iterator[str]:
    names = shipped.vocabulary.units
    for block in shipped.known_queries(limit):
        for i, row in enumerate(query_payloads(exporter, shipped, block)):
            columns, weights = block.vectors.row(i)
            units = [names[column] for column in columns.tolist()]
            row |= {"units": units, "unit_weights": [float(f"{value:.9g}") for value in weights.tolist()]}
            yield json.dumps(row, ensure_ascii=False) + "\n"
