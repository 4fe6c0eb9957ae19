"""Bulk requests and searches of Elasticsearch and OpenSearch."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coclick.exporters.programs.engine import (
    BUSY,
    MAX_TRIES,
    Engine,
    EngineError,
    read_json,
    read_lines,
    stop,
)
from coclick.exporters.programs.samples import Hit


@dataclass
class Action:
    """Lines of a bulk request: what to do with which document, and the document or update."""

    doc: str  # id in the export
    kind: str  # index, update or delete
    target: dict[str, Any]
    body: str | None = None

    def lines(self) -> str:
        """Return the lines; a deletion has only one."""
        action = json.dumps({self.kind: self.target})
        return f"{action}\n" if self.body is None else f"{action}\n{self.body}\n"


@dataclass
class BulkLoad:
    """Sends actions in bulk requests, and keeps what became of them."""

    engine: Engine
    index: str
    counts: Counter[str] = field(default_factory=Counter)  # updated, unchanged, created
    missing: list[str] = field(default_factory=list)  # ids that the index does not have
    refused: list[str] = field(default_factory=list)  # sentences

    def send(self, actions: list[Action]) -> None:
        """Send actions; those that the engine is too busy for are sent again."""
        for attempt in range(MAX_TRIES):
            if not actions:
                return
            if attempt:
                self.engine.wait(attempt - 1)
            text = "".join(action.lines() for action in actions)
            items = self.engine.ask("POST", f"/{self.index}/_bulk", text)["items"]
            last = attempt + 1 == MAX_TRIES
            actions = [
                action
                for action, item in zip(actions, items, strict=True)
                if self._count(action, item[action.kind]) and not self._give_up(action, item, last)
            ]

    def _count(self, action: Action, item: dict[str, Any]) -> bool:
        """Count what became of an action; return whether it has to be sent again."""
        status, error = item["status"], item.get("error", {})
        if status < 300 or item.get("result") == "not_found":  # deleted already
            self.counts["unchanged" if item.get("result") == "noop" else item.get("result", "done")] += 1
        elif error.get("type") == "document_missing_exception":
            self.missing.append(action.doc)
        elif status in BUSY:
            return True
        else:
            self.refused.append(f"{action.doc!r:.200}: {_full_reason(error) or status}")
        return False

    def _give_up(self, action: Action, item: dict[str, Any], last: bool) -> bool:
        if last:
            self.refused.append(f"{action.doc!r:.200}: the engine stays busy: {item[action.kind]['status']}")
        return last

    def report(self) -> str:
        """Return the counts so far."""
        counts = self.counts + Counter(missing=len(self.missing), refused=len(self.refused))
        return ", ".join(f"{count:,} {what}" for what, count in counts.items()) or "no documents"

    def stop_if_refused(self, consequence: str) -> None:
        """Stop if the engine refused documents, with the first reason."""
        if self.refused:
            stop(
                f"the engine refused {len(self.refused):,} documents, the first: {self.refused[0]}. "
                f"{consequence} Mend the cause and run load again."
            )


def _full_reason(error: dict[str, Any]) -> str:
    """Return the reason, with that of its cause: "failed to parse" alone does not help."""
    cause = error.get("caused_by", {}).get("reason")
    return str(error.get("reason", "")) + (f" ({cause})" if cause else "")


def read_actions(path: Path, kind: str) -> list[tuple[str, str]]:
    """Read pairs of document id and body from a part of the export."""
    lines = read_lines(path)
    pairs = zip(lines[::2], lines[1::2], strict=True)
    return [(json.loads(action)[kind]["_id"], body) for action, body in pairs]


def run_task(engine: Engine, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Start a long task (reindex, update by query) and wait for its end; stop if documents fail."""
    task = engine.ask("POST", f"{path}{'&' if '?' in path else '?'}wait_for_completion=false", body)["task"]
    attempt = 0
    while not (status := engine.ask("GET", f"/_tasks/{task}")).get("completed"):
        engine.wait(min(attempt, 4))
        attempt += 1
    if error := status.get("error"):
        stop(f"the engine could not finish: {_full_reason(error)}. Run this again.")
    response: dict[str, Any] = status["response"]
    if failures := response.get("failures"):
        reason = failures[0].get("cause", {}).get("reason", json.dumps(failures[0]))
        stop(f"the engine refused {len(failures):,} documents, the first: {reason}. Run this again.")
    return response


def search(engine: Engine, index: str, id_field: str, request: dict[str, Any]) -> list[Hit]:
    """Return the documents and scores that a search finds."""
    hits = engine.ask("POST", f"/{index}/_search", request)["hits"]["hits"]
    return [(doc_id(hit, id_field), hit["_score"]) for hit in hits]


def doc_id(hit: dict[str, Any], id_field: str) -> str:
    """Return the id of a hit, from `_id` or a field."""
    if id_field == "_id":
        return str(hit["_id"])
    return str(hit.get("fields", {}).get(id_field, [""])[0])


def put_all(engine: Engine, folder: Path, names: Iterable[tuple[str, str]]) -> None:
    """Store the files that exist: pairs of file name and path of the engine."""
    for name, path in names:
        if (folder / name).exists():
            engine.ask("PUT", path, read_json(folder / name))


def delete_all(engine: Engine, paths: Iterable[str]) -> None:
    """Delete what was stored; what is not there is fine."""
    for path in paths:
        try:
            engine.ask("DELETE", path)
        except EngineError as error:
            if error.status != 404:
                raise
