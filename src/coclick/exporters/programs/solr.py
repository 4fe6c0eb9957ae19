"""Updates, schemas and searches of Solr."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from coclick.exporters.programs.engine import Engine, EngineError, stop
from coclick.exporters.programs.samples import Hit

PAGE = 500  # documents read at a time
MAX_REFUSED = 20  # after which a load stops

Update = tuple[str, str]  # id in the export, document as JSON


@dataclass
class SolrLoad:
    """Sends documents, and keeps what became of them."""

    engine: Engine
    collection: str
    sent: int = 0
    missing: list[str] = field(default_factory=list)  # ids that the collection does not have
    refused: list[str] = field(default_factory=list)  # sentences

    def send(self, updates: list[Update]) -> None:
        """Send documents in one request; if Solr refuses it, in halves, until the reason is found."""
        if not updates:
            return
        body = f"[{','.join(text for _, text in updates)}]".encode()
        try:
            self.engine.ask("POST", f"/{self.collection}/update", body)
            self.sent += len(updates)
        except EngineError as error:
            if error.status not in (400, 409):
                raise
            if len(updates) > 1:
                half = len(updates) // 2
                self.send(updates[:half])
                self.send(updates[half:])
            elif error.status == 409:  # deleted since it was looked up
                self.missing.append(updates[0][0])
            else:
                self.refused.append(f"{updates[0][0]!r:.200}: {error.reason}")
        if len(self.refused) >= MAX_REFUSED:
            self.stop_if_refused("There may be more.")

    def report(self) -> str:
        """Return the counts so far."""
        counts = {"sent": self.sent, "missing": len(self.missing), "refused": len(self.refused)}
        return ", ".join(f"{count:,} {what}" for what, count in counts.items() if count) or "no documents"

    def stop_if_refused(self, consequence: str) -> None:
        """Stop if Solr refused documents, with the first reason."""
        if self.refused:
            stop(
                f"Solr refused {len(self.refused):,} documents, the first: {self.refused[0]}. "
                f"{consequence} Mend the cause and run load again."
            )


def commit(engine: Engine, collection: str) -> None:
    """Make all updates visible."""
    engine.ask("POST", f"/{collection}/update", {"commit": {}})


def ask_collections(engine: Engine, action: str, **parameters: Any) -> dict[str, Any]:
    """Send a request of the collections API."""
    query = urlencode({"action": action, **parameters})
    answer: dict[str, Any] = engine.ask("GET", f"/admin/collections?{query}")
    return answer


def read_schema(engine: Engine, collection: str) -> dict[str, Any]:
    """Return the schema."""
    schema: dict[str, Any] = engine.ask("GET", f"/{collection}/schema")["schema"]
    return schema


def add_to_schema(engine: Engine, collection: str, wanted: dict[str, list[dict[str, Any]]]) -> None:
    """Add the field types and fields that the schema does not have; stop if one has another type."""
    schema = read_schema(engine, collection)
    types = {kind["name"] for kind in schema["fieldTypes"]}
    fields = {field["name"]: field["type"] for field in schema["fields"]}
    for wanted_field in wanted["add-field"]:
        name, kind = wanted_field["name"], wanted_field["type"]
        if fields.get(name, kind) != kind:
            stop(
                f"the field {name} of {collection} has the type {fields[name]}, and the export needs {kind}: "
                "export with another --name, which names the fields"
            )
    commands = {
        "add-field-type": [kind for kind in wanted["add-field-type"] if kind["name"] not in types],
        "add-field": [new for new in wanted["add-field"] if new["name"] not in fields],
    }
    commands = {name: values for name, values in commands.items() if values}
    if commands:
        answer = engine.ask("POST", f"/{collection}/schema", commands)
        if errors := answer.get("errors"):  # of old versions, with status 200
            stop(f"Solr refused to change the schema: {json.dumps(errors)[:500]}")


def search(engine: Engine, collection: str, id_field: str, request: dict[str, Any]) -> list[Hit]:
    """Return the documents and scores that a search finds."""
    docs = engine.ask("POST", f"/{collection}/query", request)["response"]["docs"]
    return [(first(doc.get(id_field, "")), doc["score"]) for doc in docs]


def count_docs(engine: Engine, collection: str) -> int:
    """Return the number of documents."""
    request = {"query": "*:*", "limit": 0}
    return int(engine.ask("POST", f"/{collection}/query", request)["response"]["numFound"])


def pages(
    engine: Engine, collection: str, key: str, request: dict[str, Any]
) -> Iterator[list[dict[str, Any]]]:
    """Yield all documents that a query finds, in pages, by the cursor of Solr."""
    mark = "*"
    while True:
        paging = {"limit": PAGE, "sort": f"{key} asc", "params": {"cursorMark": mark}}
        answer = engine.ask("POST", f"/{collection}/query", request | paging)
        if docs := answer["response"]["docs"]:
            yield docs
        if answer["nextCursorMark"] == mark:
            return
        mark = answer["nextCursorMark"]


def first(value: Any) -> str:
    """Return the text of a field, or of the first of its values."""
    return str(value[0] if isinstance(value, list) else value)
