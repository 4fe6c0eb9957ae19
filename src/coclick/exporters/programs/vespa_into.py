"""Vespa, a document type that exists: partial updates add fields to its documents.

Vespa has no scripts, so all documents of the type are visited, and the values before are sent back with the
update. Visiting also tells which ids exist: a partial update of a document that does not exist does nothing.

Vespa has no place for the version of all documents. So an increment sets the version of each, and sends words
only to those that it changes; the others have `=` in front of the version before, which is for the way back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from coclick.exporters.programs.engine import Engine, EngineError, Settings, stop
from coclick.exporters.programs.samples import check_samples, read_deletions, write_missing_ids
from coclick.exporters.programs.vespa import VespaLoad, Write, document_path, local_id, search, visit

NOTHING = "none"  # the version before the first
SAME = "="  # in front of a version before with the same words

Document = dict[str, Any]  # id and fields


def load(engine: Engine, folder: Path, settings: Settings) -> None:
    """Set the fields in all documents of the export."""
    export = _Updates(folder / "updates.jsonl")
    load, this, base = VespaLoad(engine), settings["version"], settings["base"]
    if base:
        _check_base(engine, settings)
    deleted = {*read_deletions(folder)}
    found: set[str] = set()
    unchanged, vanished = 0, list[Write]()

    def update(document: Document) -> Write | None:
        nonlocal unchanged
        doc, version = _doc_of(document, settings), document["fields"].get(settings["version_field"])
        found.add(doc)
        if version == this:
            unchanged += doc in export
            return None
        if doc in export:
            return _replacement(document, doc, export.words(doc), settings)
        if base and version is not None and doc not in deleted:
            return _same_words(document, doc, settings)
        if version is not None:
            vanished.append(_replacement(document, doc, None, settings))
        return None

    _change_all(engine, settings, "true", update, load)
    missing = [doc for doc in export if doc not in found]
    write_missing_ids(folder, missing)
    load.stop_if_refused("Documents that are done are left alone.")
    if missing and len(missing) == len(export) and not base:
        stop(
            f"none of the {len(missing):,} ids is in {settings['type']} as {settings['id_field']}: export "
            "with --id and the field that has the ids of the click log, and --into NAMESPACE.TYPE"
        )
    print(f"{load.sent:,} updated, {unchanged:,} unchanged")
    load.send(vanished)
    load.stop_if_refused("The others are done.")
    print(f"documents of an earlier version only, which lost their words: {len(vanished):,}")
    if missing:
        print(f"ids that {settings['type']} does not have: {len(missing):,}; missing-ids.txt lists them")
    print(f"version {this} is loaded")


def check(engine: Engine, folder: Path, settings: Settings) -> None:
    """Ask the sample queries and compare the results with those of coclick."""
    check_samples(folder, lambda request: search(engine, settings["id_field"], request))


def rollback(engine: Engine, folder: Path, settings: Settings) -> None:
    """Go back to the version before; do nothing if this version is not loaded."""
    version, previous = settings["version_field"], settings["previous_version_field"]

    def restore(document: Document) -> Write | None:
        fields = document["fields"]
        old = fields.get(previous)
        if fields.get(version) != settings["version"] or old is None:
            return None
        values = {
            version: None if old == NOTHING else old.removeprefix(SAME),
            settings["previous_words_field"]: None,
            previous: None,
        }
        if not old.startswith(SAME):
            values[settings["words_field"]] = fields.get(settings["previous_words_field"])
        return _update(document, local_id(document["id"]), values)

    load = VespaLoad(engine)
    _change_all(engine, settings, f'{settings["type"]}.{version} == "{settings["version"]}"', restore, load)
    load.stop_if_refused("The others are done.")
    print(f"documents changed back from version {settings['version']}: {load.sent:,}")


def remove(engine: Engine, folder: Path, settings: Settings) -> None:
    """Remove the values of the fields from all documents."""
    nothing = dict.fromkeys(_fields(settings))

    def clear(document: Document) -> Write | None:
        loaded = any(document["fields"].get(name) is not None for name in nothing)
        return _update(document, local_id(document["id"]), nothing) if loaded else None

    load = VespaLoad(engine)
    _change_all(engine, settings, "true", clear, load)
    load.stop_if_refused("The others are done.")
    print(f"documents of {settings['type']} that lost the fields: {load.sent:,}")


def _check_base(engine: Engine, settings: Settings) -> None:
    """Stop if documents have another version than the one that an increment changes."""
    base, this, found = settings["base"], settings["version"], set[str]()

    def note_version(document: Document) -> None:
        found.add(document["fields"].get(settings["version_field"], NOTHING))

    _change_all(engine, settings, "true", note_version, VespaLoad(engine))
    found.discard(NOTHING)
    if not found or found - {base, this}:
        has = ", ".join(sorted(found - {this})) or NOTHING
        stop(
            f"{settings['type']} has version {has}, and this folder has only the changes since {base}: load "
            "that version first, or export without --changes-from"
        )


class _Updates:
    """The words of documents, read from the file when they are needed."""

    def __init__(self, path: Path) -> None:
        self._file, self._places = path.open("rb"), dict[str, int]()
        place = 0
        for line in self._file:
            self._places[json.loads(line)["id"]] = place
            place += len(line)

    def __contains__(self, doc: str) -> bool:
        return doc in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def words(self, doc: str) -> Any:
        """Return the words of a document."""
        self._file.seek(self._places[doc])
        return json.loads(self._file.readline())["words"]


def _fields(settings: Settings) -> list[str]:
    return [settings[name] for name in settings if name.endswith("_field") and name != "id_field"]


def _doc_of(document: Document, settings: Settings) -> str:
    if settings["id_field"] == "documentid":
        return local_id(document["id"])
    return str(document["fields"].get(settings["id_field"], ""))


def _same_words(document: Document, doc: str, settings: Settings) -> Write:
    """Return the update to this version of a document whose words stay."""
    before = document["fields"][settings["version_field"]]
    values = {
        settings["version_field"]: settings["version"],
        settings["previous_words_field"]: None,
        settings["previous_version_field"]: f"{SAME}{before}",
    }
    return _update(document, doc, values)


def _replacement(document: Document, doc: str, words: Any, settings: Settings) -> Write:
    """Return the update to this version, which keeps the values before."""
    fields = document["fields"]
    values = {
        settings["words_field"]: words,
        settings["version_field"]: settings["version"],
        settings["previous_words_field"]: fields.get(settings["words_field"]),
        settings["previous_version_field"]: fields.get(settings["version_field"], NOTHING),
    }
    return _update(document, doc, values)


def _update(document: Document, doc: str, values: dict[str, Any]) -> Write:
    """Return a partial update; None clears a field."""
    fields = {name: {"assign": value} for name, value in values.items()}
    return doc, "PUT", document_path(document["id"]), {"fields": fields}


def _change_all(
    engine: Engine,
    settings: Settings,
    selection: str,
    change: Callable[[Document], Write | None],
    load: VespaLoad,
) -> None:
    """Visit the documents of a selection and send the update of each, if there is one."""
    kind, id_field = settings["type"], settings["id_field"]
    fields = _fields(settings) + ([] if id_field == "documentid" else [id_field])
    try:
        documents = visit(engine, settings["namespace"], kind, fields, selection)
        writes = (write for document in documents if (write := change(document)) is not None)
        load.send(writes, lambda text: print(text, flush=True))
    except EngineError as error:
        if error.status != 400:
            raise
        stop(
            f"Vespa cannot read the fields of {kind} ({error.reason}): add the fields of fields.sd to the "
            "schema, deploy it, and run this again"
        )


COMMANDS = {"load": load, "check": check, "rollback": rollback, "remove": remove}
