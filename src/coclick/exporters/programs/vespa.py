"""Documents and searches of Vespa, through /document/v1 and /search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from urllib.parse import quote, urlencode

from coclick.exporters.programs.engine import Engine, EngineError, stop
from coclick.exporters.programs.samples import Hit

CONNECTIONS = 16
BLOCK = 1000  # documents visited, or sent between two lines of the report
MAX_REFUSED = 20  # after which a load stops

Write = tuple[str, str, str, dict[str, Any]]  # id in the export, method, path, body


@dataclass
class VespaLoad:
    """Sends documents over several connections, and keeps what became of them."""

    engine: Engine
    sent: int = 0
    refused: list[str] = field(default_factory=list)  # sentences

    def send(self, writes: Iterable[Write], report: Callable[[str], None] = lambda text: None) -> None:
        """Send all writes."""
        writes = iter(writes)
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            while block := list(islice(writes, BLOCK)):
                refused = [reason for reason in pool.map(self._send_one, block) if reason]
                self.refused += refused
                self.sent += len(block) - len(refused)
                report(f"{self.sent:,} sent")
                if len(self.refused) >= MAX_REFUSED:
                    self.stop_if_refused("There may be more.")

    def _send_one(self, write: Write) -> str | None:
        """Send a document; return why it is refused, if it is."""
        doc, method, path, body = write
        try:
            self.engine.ask(method, path, body)
        except EngineError as error:
            if error.status != 400:
                raise
            return f"{doc!r:.200}: {error.reason}"
        return None

    def stop_if_refused(self, consequence: str) -> None:
        """Stop if Vespa refused documents, with the first reason."""
        if self.refused:
            stop(
                f"Vespa refused {len(self.refused):,} documents, the first: {self.refused[0]}. "
                f"{consequence} Mend the cause and run load again."
            )


def document_path(document_id: str) -> str:
    """Return the path of `id:NAMESPACE:TYPE:MODIFIER:NAME`, where the modifier is mostly empty."""
    _, namespace, kind, modifier, name = document_id.split(":", 4)
    within = "docid"
    if modifier:
        key, _, value = modifier.partition("=")
        within = f"{'number' if key == 'n' else 'group'}/{quote(value, safe='')}"
    return f"/document/v1/{quote(namespace, safe='')}/{kind}/{within}/{quote(name, safe='')}"


def local_id(document_id: str) -> str:
    """Return the part of a document id that the user chose."""
    return document_id.split(":", 4)[4]


def visit(engine: Engine, namespace: str, kind: str, fields: Iterable[str], selection: str) -> Iterator[Any]:
    """Yield the documents of a selection, with some of their fields."""
    parameters = {
        "fieldSet": f"{kind}:{','.join(fields)}",
        "selection": selection,
        "wantedDocumentCount": BLOCK,
    }
    while True:
        answer = engine.ask("GET", f"/document/v1/{namespace}/{kind}/docid?{urlencode(parameters)}")
        for document in answer.get("documents", []):
            yield {"fields": {}} | document
        if "continuation" not in answer:
            return
        parameters["continuation"] = answer["continuation"]


def delete_where(engine: Engine, namespace: str, kind: str, cluster: str, selection: str) -> int:
    """Delete the documents of a selection; return their number."""
    parameters, deleted = {"selection": selection, "cluster": cluster}, 0
    while True:
        answer = engine.ask("DELETE", f"/document/v1/{namespace}/{kind}/docid?{urlencode(parameters)}")
        deleted += answer.get("documentCount", 0)
        if "continuation" not in answer:
            return deleted
        parameters["continuation"] = answer["continuation"]


def ask_search(engine: Engine, request: dict[str, Any]) -> dict[str, Any]:
    """Search; stop if Vespa reports an error in the answer."""
    root: dict[str, Any] = engine.ask("POST", "/search/", request)["root"]
    if errors := root.get("errors"):
        stop(f"Vespa answers: {errors[0].get('message') or errors[0].get('summary')}")
    return root


def search(engine: Engine, id_field: str, request: dict[str, Any]) -> list[Hit]:
    """Return the documents and scores that a search finds."""
    hits = ask_search(engine, request).get("children", [])
    return [(_doc_of(hit["fields"], id_field), hit["relevance"]) for hit in hits]


def _doc_of(fields: dict[str, Any], id_field: str) -> str:
    value = str(fields.get(id_field, ""))
    return local_id(value) if id_field == "documentid" and value else value
