"""Elasticsearch and OpenSearch, an index that exists: scripted updates add fields to its documents."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from coclick.exporters.programs.bulk_api import (
    Action,
    BulkLoad,
    delete_all,
    doc_id,
    put_all,
    read_actions,
    run_task,
    search,
)
from coclick.exporters.programs.engine import MAX_TRIES, Engine, Settings, read_json, stop
from coclick.exporters.programs.samples import check_samples, read_deletions, write_missing_ids

LOOKED_UP = 500  # ids at a time
MAX_HITS = 10_000  # of a search, the default of `index.max_result_window`
WHOLE_NUMBERS = ("long", "integer", "short", "byte", "unsigned_long")


def load(engine: Engine, folder: Path, settings: Settings) -> None:
    """Add the fields and set them in all documents of the export."""
    index, id_field = settings["index"], settings["id_field"]
    mapping = read_json(folder / "mapping.json")
    whole_numbers = _check_mapping(engine, index, mapping, id_field)
    if settings["base"]:
        _check_base(engine, settings)
    engine.ask("PUT", f"/{index}/_mapping", mapping)
    put_all(engine, folder, [("script.json", _stored(settings)["script.json"])])
    _record_start(engine, settings)
    load = BulkLoad(engine, index)
    for part in sorted(folder.glob("updates-*.ndjson")):
        _send_updates(load, read_actions(part, "update"), id_field, whole_numbers)
        print(f"{part.name}: {load.report()}", flush=True)
    write_missing_ids(folder, load.missing)
    load.stop_if_refused("Documents that are done are left alone.")
    if load.missing and not load.counts:
        stop(
            f"none of the {len(load.missing):,} ids is in {index} as {id_field}: "
            "export with --id and the field that has the ids of the click log"
        )
    engine.ask("POST", f"/{index}/_refresh")
    if settings["base"]:
        vanished = _remove_deleted(engine, folder, settings, whole_numbers)
    else:
        vanished = _update_by_query(engine, index, read_json(folder / "vanished.json"))
    print(f"documents of an earlier version only, which lost their words: {vanished:,}")
    if load.missing:
        print(f"ids that {index} does not have: {len(load.missing):,}; missing-ids.txt lists them")
    put_all(engine, folder, _stored(settings).items())
    _record(engine, settings, settings["version"])
    print(f"version {settings['version']} is loaded")


def check(engine: Engine, folder: Path, settings: Settings) -> None:
    """Ask the sample queries and compare the results with those of coclick."""
    index, id_field = settings["index"], settings["id_field"]
    check_samples(folder, lambda request: search(engine, index, id_field, request))


def rollback(engine: Engine, folder: Path, settings: Settings) -> None:
    """Go back to the version before; do nothing if this version is not loaded."""
    engine.ask("POST", f"/{settings['index']}/_refresh")
    changed = _update_by_query(engine, settings["index"], read_json(folder / "rollback.json"))
    _record(engine, settings, None)
    print(f"documents changed back from version {settings['version']}: {changed:,}")


def remove(engine: Engine, folder: Path, settings: Settings) -> None:
    """Remove the values of the fields from all documents, and what was stored."""
    engine.ask("POST", f"/{settings['index']}/_refresh")
    changed = _update_by_query(engine, settings["index"], read_json(folder / "remove.json"))
    print(f"documents of {settings['index']} that lost the fields: {changed:,}")
    for name, (meta, _) in _recorded(engine, settings).items():
        _write_versions(engine, settings, name, meta, {})
    delete_all(engine, [path for name, path in _stored(settings).items() if (folder / name).exists()])


def _stored(settings: Settings) -> dict[str, str]:
    """Return where the engine stores a file."""
    return {
        "script.json": f"/_scripts/{settings['script']}",
        "template.json": f"/_scripts/{settings['template']}",
        "pipeline.json": f"/_search/pipeline/{settings['pipeline']}",
    }


def _send_updates(load: BulkLoad, updates: list[tuple[str, str]], id_field: str, whole_numbers: bool) -> None:
    """Send updates to the documents that have their ids."""
    targets = {doc: [{"_id": doc}] for doc, _ in updates}
    if id_field != "_id":
        targets = _find_targets(load.engine, load.index, id_field, list(targets), whole_numbers)
        load.missing += [doc for doc, _ in updates if doc not in targets]
    load.send(
        [
            Action(doc, "update", target | {"retry_on_conflict": 3}, update)
            for doc, update in updates
            for target in targets.get(doc, [])
        ]
    )


def _remove_deleted(engine: Engine, folder: Path, settings: Settings, whole_numbers: bool) -> int:
    """Remove the words of documents that an increment deletes; those that are gone are fine."""
    update = json.dumps({"script": {"id": settings["script"], "params": {"words": None}}})
    load = BulkLoad(engine, settings["index"])
    deleted = [(doc, update) for doc in read_deletions(folder)]
    _send_updates(load, deleted, settings["id_field"], whole_numbers)
    load.stop_if_refused("Documents that are done are left alone.")
    return load.counts["updated"]


def _recorded(engine: Engine, settings: Settings) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Return `_meta` of each index, and in it the versions of this name."""
    mappings = engine.ask("GET", f"/{settings['index']}/_mapping")
    metas = {name: found.get("mappings", {}).get("_meta", {}) for name, found in mappings.items()}
    return {name: (meta, meta.get("coclick", {}).get(settings["name"], {})) for name, meta in metas.items()}


def _check_base(engine: Engine, settings: Settings) -> None:
    """Stop if the version that an increment changes is not loaded, or if another load was interrupted."""
    base, this = settings["base"], settings["version"]
    for name, (_, versions) in _recorded(engine, settings).items():
        loaded, loading = versions.get("version", "none"), versions.get("loading", this)
        if loaded not in (base, this) or loading != this:
            has = f"version {loaded}" if loading == this else f"a part of version {loading}"
            stop(
                f"{name} has {has}, and this folder has only the changes since {base}: "
                "load that version first, or export without --changes-from"
            )


def _record_start(engine: Engine, settings: Settings) -> None:
    """Keep the version that is being loaded, in case that it is interrupted."""
    for name, (meta, versions) in _recorded(engine, settings).items():
        if versions.get("version") != settings["version"]:
            _write_versions(engine, settings, name, meta, versions | {"loading": settings["version"]})


def _record(engine: Engine, settings: Settings, version: str | None) -> None:
    """Keep the version that is loaded in `_meta` of the mapping; None goes back to the one before."""
    for name, (meta, versions) in _recorded(engine, settings).items():
        loaded = versions.get("version")
        if version is not None and loaded != version:
            _write_versions(engine, settings, name, meta, {"version": version, "previous": loaded})
        elif version is None and loaded == settings["version"]:
            before = versions.get("previous")
            _write_versions(engine, settings, name, meta, {"version": before} if before else {})
        elif version is None and versions.get("loading") == settings["version"]:
            del versions["loading"]
            _write_versions(engine, settings, name, meta, versions)


def _write_versions(
    engine: Engine, settings: Settings, index: str, meta: dict[str, Any], versions: dict[str, Any]
) -> None:
    """Write the versions of this name; what else is in `_meta` stays."""
    ours = meta.get("coclick", {}) | {settings["name"]: versions}
    engine.ask("PUT", f"/{index}/_mapping", {"_meta": meta | {"coclick": ours}})


def _check_mapping(engine: Engine, index: str, mapping: dict[str, Any], id_field: str) -> bool:
    """Stop if a field has another type; return whether ids are whole numbers."""
    whole_numbers = False
    for name, found in engine.ask("GET", f"/{index}/_mapping").items():
        properties = found.get("mappings", {}).get("properties", {})
        for field, wanted in mapping["properties"].items():
            kind = properties.get(field, wanted).get("type", "object")
            if kind != wanted["type"]:
                stop(
                    f"the field {field} of {name} has the type {kind}, and the export needs "
                    f"{wanted['type']}: export with another --name, which names the fields"
                )
        id_type = _field_type(properties, id_field)
        whole_numbers |= id_type in WHOLE_NUMBERS
        if id_field != "_id" and id_type in (None, "text"):
            stop(
                f"ids cannot be looked up in {id_field} of {name}: "
                + ("there is no such field" if id_type is None else "it is of type text")
                + "; export with --id and a field of type keyword, such as sku or sku.keyword"
            )
    return whole_numbers


def _field_type(properties: dict[str, Any], path: str) -> str | None:
    """Return the type of a field, of an object's field (`a.b`) or of a sub-field (`sku.keyword`)."""
    first, _, rest = path.partition(".")
    found = properties.get(first)
    if found is None or not rest:
        return None if found is None else str(found.get("type", "object"))
    return _field_type(found.get("properties", {}) | found.get("fields", {}), rest)


def _find_targets(
    engine: Engine, index: str, id_field: str, docs: list[str], whole_numbers: bool
) -> dict[str, list[dict[str, Any]]]:
    """Return which documents of the index have each id in a field, as the targets of bulk actions."""
    if whole_numbers:  # the engine would refuse the whole search because of one other id
        docs = [doc for doc in docs if re.fullmatch("-?[0-9]{1,18}", doc)]
    targets: dict[str, list[dict[str, Any]]] = {}
    pending = [docs[first : first + LOOKED_UP] for first in range(0, len(docs), LOOKED_UP)]
    while pending:
        batch = pending.pop()
        terms = {"terms": {id_field: batch}}
        body = {"size": MAX_HITS, "_source": False, "fields": [id_field], "query": terms}
        hits = engine.ask("POST", f"/{index}/_search", body)["hits"]["hits"]
        if len(hits) == MAX_HITS and len(batch) > 1:  # there may be more
            pending += [batch[::2], batch[1::2]]
            continue
        for hit in hits:
            target = {"_index": hit["_index"], "_id": hit["_id"]}
            routing = {"routing": hit["_routing"]} if "_routing" in hit else {}
            targets.setdefault(doc_id(hit, id_field), []).append(target | routing)
    return targets


def _update_by_query(engine: Engine, index: str, body: dict[str, Any]) -> int:
    """Run an update until no document changed meanwhile; return the number of changed documents."""
    changed = 0
    for attempt in range(MAX_TRIES):
        path = f"/{index}/_update_by_query?conflicts=proceed&refresh=true"
        answer = run_task(engine, path, body)
        changed += answer.get("updated", 0)
        if not answer.get("version_conflicts"):
            return changed
        engine.wait(attempt)
    raise SystemExit("documents of the index keep changing: run this again when it is quiet")


COMMANDS = {"load": load, "check": check, "rollback": rollback, "remove": remove}
