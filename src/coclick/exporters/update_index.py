"""Add the vectors of this folder to an index: python3 run.py URL load|check|rollback|remove.

Every command can run again. The header of requests is taken from the variable AUTHORIZATION, if it is set.
This file is part of coclick and is copied into exports; it uses only the standard library.
"""

from __future__ import annotations

import json
import os
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

MAX_TRIES = 6  # of what the engine refuses because it is busy
BUSY = (429, 502, 503)
BATCH = 500  # ids looked up at a time
TIMEOUT = 600  # seconds
TOLERANCE = 0.01  # of scores, relative


class Engine:
    """Sends requests to an index, and again when the engine is busy."""

    def __init__(self, url: str, index: str, pause: float = 1.0) -> None:
        """Remember the address; nothing is sent."""
        self.url, self.index, self.pause = url.rstrip("/"), index, pause

    def ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """Send a request to the cluster and return its answer; stop with a sentence if it fails."""
        for attempt in range(MAX_TRIES):
            try:
                with urllib.request.urlopen(self._request(method, path, body), timeout=TIMEOUT) as response:
                    answer: dict[str, Any] = json.load(response)
                    return answer
            except urllib.error.HTTPError as error:
                if error.code in BUSY and attempt + 1 < MAX_TRIES:
                    time.sleep(self.pause * 2**attempt)
                    continue
                sys.exit(f"{method} {path}: the engine answers {error.code}: {_reason(error.read())}")
            except (OSError, ValueError) as error:
                sys.exit(f"cannot ask {self.url}: {error}")
        raise AssertionError("unreachable")

    def ask_index(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """Send a request to the index."""
        return self.ask(method, f"/{self.index}/{path}", body)

    def _request(self, method: str, path: str, body: Any) -> urllib.request.Request:
        lines = isinstance(body, str)
        data = None if body is None else (body if lines else json.dumps(body)).encode()
        headers = {"Content-Type": "application/x-ndjson" if lines else "application/json"}
        if "AUTHORIZATION" in os.environ:
            headers["Authorization"] = os.environ["AUTHORIZATION"]
        return urllib.request.Request(self.url + path, data, headers, method=method)


def load(engine: Engine, folder: Path, settings: dict[str, Any]) -> None:
    """Add the fields and set them in all documents of the export."""
    mapping = _read(folder / "mapping.json")
    _check_mapping(engine, mapping, settings["field"])
    engine.ask_index("PUT", "_mapping", mapping)
    engine.ask("PUT", f"/_scripts/{settings['script']}", _read(folder / "script.json"))
    counts: Counter[str] = Counter()
    missing: list[str] = []
    refused: list[str] = []
    for part in sorted(folder.glob("updates-*.ndjson")):
        _load_part(engine, _updates(part), settings["id_field"], counts, missing, refused)
        print(f"{part.name}: {_shown(counts)}", flush=True)
    lines = "".join(json.dumps(doc, ensure_ascii=False) + "\n" for doc in missing)
    (folder / "missing-ids.txt").write_text(lines, encoding="utf-8")
    if refused:
        sys.exit(
            f"the engine refused {len(refused):,} documents, the first: {refused[0]}. "
            "Mend the cause and run load again: documents that are done are left alone."
        )
    if missing and not counts["updated"] + counts["unchanged"]:
        sys.exit(
            f"none of the {len(missing):,} ids is in {settings['index']} as {settings['id_field']}: "
            "export with --id and the field that has the ids of the click log"
        )
    engine.ask_index("POST", "_refresh")
    vanished = _update_by_query(engine, _read(folder / "vanished.json"))
    print(f"documents of an earlier version only: {vanished:,}")
    if missing:
        print(f"ids that {settings['index']} does not have: {len(missing):,}; missing-ids.txt lists them")
    if (folder / "pipeline.json").exists():
        pipeline = _read(folder / "pipeline.json")
        engine.ask("PUT", f"/_search/pipeline/{settings['pipeline']}", pipeline)
    if (folder / "template.json").exists():
        engine.ask("PUT", f"/_scripts/{settings['script']}_search", _read(folder / "template.json"))
    print(f"version {settings['version']} is loaded")


def check(engine: Engine, folder: Path, settings: dict[str, Any]) -> None:
    """Ask the sample query and compare scores with those of coclick."""
    expected = _read(folder / "expected.json")
    scores = {row["doc"]: row["score"] for row in expected["results"]}
    hits = engine.ask_index("POST", "_search", _read(folder / "sample.json"))["hits"]["hits"]
    compared = wrong = 0
    for hit in hits:
        doc, score = _doc_id(hit, settings["id_field"]), hit["_score"]
        ours = scores.get(doc)
        print(f"{doc}\t{score:.6g}\t{'not among the ten best' if ours is None else f'{ours:.6g}'}")
        if ours is not None:
            compared += 1
            wrong += abs(score - ours) > TOLERANCE * abs(ours)
    if wrong or not compared:
        sys.exit(f"of {compared} documents that both found, {wrong} have another score: run load again")
    print(f"{compared} of {len(scores)} expected documents were found with the expected scores")


def rollback(engine: Engine, folder: Path, settings: dict[str, Any]) -> None:
    """Go back to the version before; do nothing if this version is not loaded."""
    engine.ask_index("POST", "_refresh")
    changed = _update_by_query(engine, _read(folder / "rollback.json"))
    print(f"documents changed back from version {settings['version']}: {changed:,}")


def remove(engine: Engine, folder: Path, settings: dict[str, Any]) -> None:
    """Remove the values of the fields from all documents."""
    engine.ask_index("POST", "_refresh")
    changed = _update_by_query(engine, _read(folder / "remove.json"))
    print(f"documents of {settings['index']} that lost the fields: {changed:,}")


def _check_mapping(engine: Engine, mapping: dict[str, Any], field: str) -> None:
    wanted = mapping["properties"][field]["type"]
    for name, index in engine.ask_index("GET", "_mapping").items():
        found = index.get("mappings", {}).get("properties", {}).get(field)
        if found is not None and found.get("type", "object") != wanted:
            sys.exit(
                f"the field {field} of {name} has the type {found.get('type', 'object')}, and the export "
                f"needs {wanted}: export with another --name, which names the fields"
            )


def _updates(part: Path) -> list[tuple[str, str]]:
    """Read pairs of document id and update."""
    lines = part.read_text(encoding="utf-8").split("\n")[:-1]  # splitlines would split inside of texts
    pairs = zip(lines[::2], lines[1::2], strict=True)
    return [(json.loads(action)["update"]["_id"], update) for action, update in pairs]


def _load_part(
    engine: Engine,
    updates: list[tuple[str, str]],
    id_field: str,
    counts: Counter[str],
    missing: list[str],
    refused: list[str],
) -> None:
    pending = [(doc, key, update) for doc, update in updates for key in (doc,)]
    if id_field != "_id":
        keys = _find_keys(engine, [doc for doc, _ in updates], id_field)
        missing += [doc for doc, _ in updates if doc not in keys]
        pending = [(doc, key, update) for doc, update in updates for key in keys.get(doc, [])]
    for attempt in range(MAX_TRIES):
        if not pending:
            break
        if attempt:
            time.sleep(engine.pause * 2 ** (attempt - 1))
        busy = []
        actions = (f"{json.dumps({'update': {'_id': key}})}\n{update}\n" for _, key, update in pending)
        items = engine.ask_index("POST", "_bulk", "".join(actions))["items"]
        for (doc, key, update), item in zip(pending, items, strict=True):
            status, error = item["update"]["status"], item["update"].get("error", {})
            if status < 300:
                counts["unchanged" if item["update"].get("result") == "noop" else "updated"] += 1
            elif error.get("type") == "document_missing_exception":
                missing.append(doc)
            elif status in BUSY and attempt + 1 < MAX_TRIES:
                busy.append((doc, key, update))
            else:
                refused.append(f"{doc!r:.200}: {error.get('reason', status)}")
        pending = busy
    counts["missing"] = len(missing)
    counts["refused"] = len(refused)


def _find_keys(engine: Engine, docs: list[str], id_field: str) -> dict[str, list[str]]:
    """Return the `_id` of the documents that have each id in a field."""
    keys: dict[str, list[str]] = {}
    for first in range(0, len(docs), BATCH):
        terms = {"terms": {id_field: docs[first : first + BATCH]}}
        body = {"size": 10_000, "_source": False, "fields": [id_field], "query": terms}
        for hit in engine.ask_index("POST", "_search", body)["hits"]["hits"]:
            keys.setdefault(_doc_id(hit, id_field), []).append(hit["_id"])
    return keys


def _doc_id(hit: dict[str, Any], id_field: str) -> str:
    if id_field == "_id":
        return str(hit["_id"])
    return str(hit.get("fields", {}).get(id_field, [""])[0])


def _update_by_query(engine: Engine, body: dict[str, Any]) -> int:
    """Run an update until no document changed meanwhile; return the number of changed documents."""
    changed = 0
    for attempt in range(MAX_TRIES):
        answer = engine.ask_index("POST", "_update_by_query?conflicts=proceed&refresh=true", body)
        if failures := answer.get("failures"):
            reason = failures[0].get("cause", {}).get("reason", failures[0])
            sys.exit(f"the engine refused {len(failures):,} documents, the first: {reason}. Run this again.")
        changed += answer.get("updated", 0)
        if not answer.get("version_conflicts"):
            return changed
        time.sleep(engine.pause * 2**attempt)
    sys.exit("documents of the index keep changing: run this again when it is quiet")


def _reason(body: bytes) -> str:
    try:
        error = json.loads(body)["error"]
        return str(error["reason"] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError):
        return body[:300].decode(errors="replace")


def _shown(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in counts.items() if count) or "no documents"


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


COMMANDS = {"load": load, "check": check, "rollback": rollback, "remove": remove}


def main(arguments: list[str]) -> None:
    """Run one command on the index of `settings.json`."""
    if len(arguments) != 2 or arguments[1] not in COMMANDS or not arguments[0].startswith("http"):
        sys.exit(__doc__)
    folder = Path(__file__).resolve().parent
    settings = _read(folder / "settings.json")
    COMMANDS[arguments[1]](Engine(arguments[0], settings["index"]), folder, settings)


if __name__ == "__main__":
    main(sys.argv[1:])
