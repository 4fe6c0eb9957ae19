"""Solr, a collection that exists: atomic updates add fields to its documents.

Solr has no scripts, so the values before are read and sent back with the update. An atomic update writes the
whole document anew from what is stored ("Partial document updates"): fields that are neither stored nor have
docValues would be lost, so `load` looks for them first. `_version_` 1 means that the document must exist.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coclick.exporters.programs.engine import Engine, Settings, read_json, read_lines, stop
from coclick.exporters.programs.samples import check_samples, read_deletions, write_missing_ids
from coclick.exporters.programs.solr import (
    PAGE,
    SolrLoad,
    Update,
    add_to_schema,
    commit,
    first,
    pages,
    read_schema,
    search,
)

MAX_HITS = 10_000
SEPARATOR = "\x1f"  # of ids in a query; an id that has it is not found
NOTHING = "none"  # the version before the first

Row = dict[str, Any]


def load(engine: Engine, folder: Path, settings: Settings) -> None:
    """Add the fields and set them in all documents of the export."""
    collection, this = settings["index"], settings["version"]
    schema = read_schema(engine, collection)
    key = schema["uniqueKey"]
    _check_stored(engine, collection, schema)
    if settings["base"]:
        _check_base(engine, settings)
    add_to_schema(engine, collection, read_json(folder / "schema.json"))
    commit(engine, collection)
    _record_start(engine, settings)
    load, unchanged = SolrLoad(engine, collection), 0
    for part in sorted(folder.glob("updates-*.ndjson")):
        lines = [json.loads(line) for line in read_lines(part)]
        words = {line["id"]: line["words"] for line in lines}
        unchanged += _send_words(load, settings, key, words)
        print(f"{part.name}: {load.report()}, {unchanged:,} unchanged", flush=True)
    write_missing_ids(folder, load.missing)
    load.stop_if_refused("Documents that are done are left alone.")
    if load.missing and not load.sent + unchanged:
        stop(
            f"none of the {len(load.missing):,} ids is in {collection} as {settings['id_field']}: "
            "export with --id and the field that has the ids of the click log"
        )
    commit(engine, collection)
    vanished = _clear_vanished(engine, folder, settings, key)
    print(f"documents of an earlier version only, which lost their words: {vanished:,}")
    if load.missing:
        print(f"ids that {collection} does not have: {len(load.missing):,}; missing-ids.txt lists them")
    _record(engine, settings, this)
    print(f"version {this} is loaded")


def check(engine: Engine, folder: Path, settings: Settings) -> None:
    """Ask the sample queries and compare the results with those of coclick."""
    collection, id_field = settings["index"], settings["id_field"]
    check_samples(folder, lambda request: search(engine, collection, id_field, request))


def rollback(engine: Engine, folder: Path, settings: Settings) -> None:
    """Go back to the version before; do nothing if this version is not loaded."""
    version, previous = settings["version_field"], settings["previous_version_field"]
    key = _prepared(engine, settings)

    def restored(row: Row) -> Update:
        old = row.get(previous)
        values = {
            settings["words_field"]: row.get(settings["previous_words_field"]),
            version: None if old == NOTHING else old,
            settings["previous_words_field"]: None,
            previous: None,
        }
        return _update(key, row, first(row[key]), values)

    loaded = [f"{version}:{settings['version']}", f"{previous}:*"]
    changed = _update_all(engine, settings, key, loaded, restored)
    _record(engine, settings, None)
    print(f"documents changed back from version {settings['version']}: {changed:,}")


def remove(engine: Engine, folder: Path, settings: Settings) -> None:
    """Remove the values of the fields from all documents."""
    key = _prepared(engine, settings)
    fields = [settings[name] for name in settings if name.endswith("_field") and name != "id_field"]
    nothing = dict.fromkeys(fields)
    loaded = [f"{settings['version_field']}:*"]
    changed = _update_all(
        engine, settings, key, loaded, lambda row: _update(key, row, first(row[key]), nothing)
    )
    _write_versions(engine, settings, {})
    print(f"documents of {settings['index']} that lost the fields: {changed:,}")


def _prepared(engine: Engine, settings: Settings) -> str:
    """Make earlier updates visible; return the unique key."""
    commit(engine, settings["index"])
    return str(read_schema(engine, settings["index"])["uniqueKey"])


def _send_words(load: SolrLoad, settings: Settings, key: str, words: Mapping[str, str | None]) -> int:
    """Set the words of documents, None to remove them; return how many have this version already."""
    unchanged, docs = 0, list(words)
    for start in range(0, len(docs), PAGE):
        asked = docs[start : start + PAGE]
        rows = _find_rows(load.engine, settings, key, asked)
        load.missing += [doc for doc in asked if doc not in rows]
        updates = []
        for doc, found in rows.items():
            changed = [row for row in found if row.get(settings["version_field"]) != settings["version"]]
            unchanged += len(found) - len(changed)
            updates += [_replacement(settings, key, row, doc, words[doc]) for row in changed]
        load.send(updates)
    return unchanged


def _clear_vanished(engine: Engine, folder: Path, settings: Settings, key: str) -> int:
    """Remove the words of documents that the export does not have; return their number."""
    version = settings["version_field"]
    if not settings["base"]:
        others = [f"{version}:*", f"-{version}:{settings['version']}"]
        return _update_all(
            engine,
            settings,
            key,
            others,
            lambda row: _replacement(settings, key, row, first(row[key]), None),
        )
    load = SolrLoad(engine, settings["index"])
    _send_words(load, settings, key, dict.fromkeys(read_deletions(folder)))
    load.stop_if_refused("Documents that are done are left alone.")
    commit(engine, settings["index"])
    return load.sent


def _recorded(engine: Engine, settings: Settings) -> dict[str, str]:
    """Return the versions that are kept as request parameters ("Request parameters API")."""
    answer = engine.ask("GET", f"/{settings['index']}/config/params/{settings['versions']}")
    found = answer.get("response", {}).get("params", {}).get(settings["versions"], {})
    return {name: found[name] for name in ("version", "previous", "loading") if name in found}


def _write_versions(engine: Engine, settings: Settings, versions: dict[str, str]) -> None:
    body = {"set": {settings["versions"]: versions}}
    engine.ask("POST", f"/{settings['index']}/config/params", body)


def _record_start(engine: Engine, settings: Settings) -> None:
    """Keep the version that is being loaded, in case that it is interrupted."""
    found = _recorded(engine, settings)
    if found.get("version") != settings["version"]:
        _write_versions(engine, settings, found | {"loading": settings["version"]})


def _record(engine: Engine, settings: Settings, version: str | None) -> None:
    """Keep the version that is loaded; None goes back to the one before."""
    found = _recorded(engine, settings)
    loaded = found.get("version", NOTHING)
    if version is not None and loaded != version:
        _write_versions(engine, settings, {"version": version, "previous": loaded})
    elif version is None and loaded == settings["version"]:
        _write_versions(engine, settings, {"version": found.get("previous", NOTHING)})
    elif version is None and found.get("loading") == settings["version"]:
        _write_versions(engine, settings, {name: found[name] for name in found if name != "loading"})


def _check_base(engine: Engine, settings: Settings) -> None:
    """Stop if the version that an increment changes is not loaded, or if another load was interrupted."""
    base, this, found = settings["base"], settings["version"], _recorded(engine, settings)
    loaded, loading = found.get("version", NOTHING), found.get("loading", this)
    if loaded not in (base, this) or loading != this:
        has = f"version {loaded}" if loading == this else f"a part of version {loading}"
        stop(
            f"{settings['index']} has {has}, and this folder has only the changes since {base}: "
            "load that version first, or export without --changes-from"
        )


def _replacement(settings: Settings, key: str, row: Row, doc: str, words: str | None) -> Update:
    """Return the update to this version, which keeps the values before."""
    values = {
        settings["words_field"]: words,
        settings["version_field"]: settings["version"],
        settings["previous_words_field"]: row.get(settings["words_field"]),
        settings["previous_version_field"]: row.get(settings["version_field"], NOTHING),
    }
    return _update(key, row, doc, values)


def _update(key: str, row: Row, doc: str, values: dict[str, str | None]) -> Update:
    """Return an atomic update of a document; None removes a field."""
    change: dict[str, Any] = {name: {"set": value} for name, value in values.items()}
    return doc, json.dumps({key: row[key], **change, "_version_": 1})


def _update_all(engine: Engine, settings: Settings, key: str, filters: list[str], update: Any) -> int:
    """Update all documents that pass the filters; return their number."""
    collection = settings["index"]
    fields = [key, *(settings[name] for name in settings if name.endswith("_field"))]
    load = SolrLoad(engine, collection)
    request = {"query": "*:*", "filter": filters, "fields": fields}
    for rows in pages(engine, collection, key, request):
        load.send([update(row) for row in rows])
    load.stop_if_refused("The others are done.")
    commit(engine, collection)
    return load.sent


def _find_rows(engine: Engine, settings: Settings, key: str, docs: list[str]) -> dict[str, list[Row]]:
    """Return the documents of the collection that have each id."""
    id_field = settings["id_field"]
    wanted = [doc for doc in docs if SEPARATOR not in doc]
    if not wanted:
        return {}
    terms = {"f": id_field, "separator": SEPARATOR, "query": SEPARATOR.join(wanted)}
    fields = [key, id_field, settings["words_field"], settings["version_field"]]
    request = {"query": {"terms": terms}, "fields": fields, "limit": MAX_HITS}
    hits = engine.ask("POST", f"/{settings['index']}/query", request)["response"]["docs"]
    if len(hits) == MAX_HITS and len(wanted) > 1:  # there may be more
        half = len(wanted) // 2
        parts = [_find_rows(engine, settings, key, part) for part in (wanted[:half], wanted[half:])]
        return parts[0] | parts[1]
    rows: dict[str, list[Row]] = {}
    asked = set(wanted)
    for row in hits:
        doc = first(row.get(id_field, ""))
        if doc in asked:
            rows.setdefault(doc, []).append(row)
    return rows


def _check_stored(engine: Engine, collection: str, schema: dict[str, Any]) -> None:
    """Stop if documents have fields that an atomic update would lose."""
    copies = {copy["dest"] for copy in schema.get("copyFields", [])}
    fields = engine.ask("GET", f"/{collection}/admin/luke?numTerms=0")["fields"]
    lost = [
        name
        for name, found in fields.items()
        if not re.search("[SD]", found.get("schema", "S"))  # flags of the schema: stored, docValues
        and name not in copies
        and found.get("dynamicBase") not in copies
        and not re.fullmatch("_.*_", name)  # of Solr itself
    ]
    if lost:
        stop(
            f"an update would lose {', '.join(sorted(lost)[:5])} of {collection}: atomic updates need fields "
            "that are stored or have docValues. Change the schema and index again, or export without --into"
        )


COMMANDS = {"load": load, "check": check, "rollback": rollback, "remove": remove}
