"""Vespa: a type of queries beside that of documents, and a program that asks both.

The queries of all versions are side by side, as documents are, and are loaded by the same program. The
program that asks names the version of its own folder, because its tables belong to that version.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coclick.exporters.program_files import write_program
from coclick.exporters.shipping.ask_vespa import FORBIDDEN, SCALE, query_id
from coclick.exporters.shipping.client_files import query_payloads, write_client
from coclick.exporters.shipping.form import ShippedModel
from coclick.exporters.shipping.versions import folder_version
from coclick.exporters.vespa import NOT_RUN, WORDS_FIELD, Vespa, services
from coclick.exporters.vespa_into import VespaInto
from coclick.storage.directories import write_file, write_json

_SCHEMA = """schema {name} {{
    document {name} {{
        field doc type string {{
            indexing: summary | attribute
        }}
        field stored type string {{
            indexing: summary
        }}
        field version type string {{
            indexing: attribute
            attribute: fast-search
            rank: filter
        }}
{units}    }}
    rank-profile units {{
        first-phase {{
            expression: rawScore(units) / {divisor:.1f}
        }}
    }}
}}
"""


def write_search(exporter: Vespa, shipped: ShippedModel, folder: Path, queries: int | None) -> None:
    """Write the schema and the documents of queries, and the programs that load and ask."""
    kind = f"{exporter.index}_queries"
    settings = _document_settings(exporter) | {
        "field": exporter.field,
        "divisor": exporter.score_divisor,
        "queries": kind,
    }
    search = write_client(exporter, shipped, folder, "ask_vespa", settings)
    write_file(search / "documents.jsonl", _lines(exporter, shipped, kind, queries))
    units = WORDS_FIELD.format(name="units")
    schema = _SCHEMA.format(name=kind, units=units, divisor=float(SCALE * SCALE))
    own = exporter.existing is None
    write_file(folder / ("application/schemas" if own else "schemas") / f"{kind}.sd", schema)
    if own:
        write_file(folder / "application" / "services.xml", services(exporter.index, kind))
    version = folder_version(search)
    write_json(search / "ask.json", settings | {"queries_version": version})
    loading = {
        "type": kind,
        "cluster": exporter.index if own else None,
        "documents": len(shipped.known_rows(queries)),
        "version": version,
        "base": None,
    }
    write_program(search, exporter.title, "vespa_versions", ("vespa",), loading)


def _document_settings(exporter: Vespa) -> dict[str, Any]:
    """Where the documents are."""
    if isinstance(exporter, VespaInto):
        return {
            "documents": exporter.type,
            "namespace": exporter.namespace,
            "id_field": exporter.existing.id_field,
            "version": None,
            "ranking": f"{exporter.index}_words",
        }
    return {
        "documents": exporter.index,
        "namespace": exporter.index,
        "id_field": "doc",
        "version": exporter.version,
        "ranking": "words",
    }


def commands(exporter: Vespa) -> str:
    """Return the commands of the README."""
    kind = f"{exporter.index}_queries"
    deploy = "\n    vespa deploy --wait 300 application    # the types of documents and queries"
    note = ""
    if isinstance(exporter, VespaInto):
        deploy = "\n    cp -r schemas MY_APPLICATION/ && vespa deploy --wait 300 MY_APPLICATION"
        note = f"""
Add the fields as `vectors.md` says, and `<document type="{kind}" mode="index" />` to `documents` of the
content cluster in your `services.xml`, before you deploy. For `prune` and `remove` of queries, enter the name
of that cluster in `search/settings.json`. A field with ids that is not the document id must be an attribute.
"""
    return f"""{NOT_RUN}
{note}
Run these commands in this folder, with the URL of a container and Python 3.10 or later:

    URL=http://localhost:8080{deploy}
    python3 run.py $URL load               # the documents
    python3 search/run.py $URL load        # the queries, as {kind}
    python3 search/run.py $URL check       # compares the rankings of sample queries with those of coclick
    python3 search/ask.py $URL "xbox"

Both loads can run again. `search/ask.py` asks for the version of its own folder: to go back, ask with the
program of the older folder, whose queries are still there. `search/ask.py` sends one request for a query of
the log, and a few for any other; `search/answer.py` has the arithmetic, to write it in another language."""


def _lines(exporter: Vespa, shipped: ShippedModel, kind: str, limit: int | None) -> Iterator[str]:
    names = [None if FORBIDDEN.search(unit) else unit for unit in shipped.vocabulary.units]
    for block in shipped.known_queries(limit):
        for i, row in enumerate(query_payloads(exporter, shipped, block)):
            pairs = zip(*(values.tolist() for values in block.vectors.row(i)), strict=True)
            whole = {names[column]: round(weight * SCALE) for column, weight in pairs}
            units = {unit: weight for unit, weight in whole.items() if unit is not None and weight}
            doc = query_id(row["query"])
            fields = {"doc": doc, "units": units, "stored": json.dumps(row)}  # ASCII: no forbidden characters
            put = {"put": f"id:{kind}:{kind}::{doc}", "fields": fields}
            yield json.dumps(put, ensure_ascii=False) + "\n"
