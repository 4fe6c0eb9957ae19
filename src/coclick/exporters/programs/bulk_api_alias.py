"""Elasticsearch and OpenSearch, own indexes: one for each version, and an alias that is swapped.

The alias NAME has the current version, NAME-previous the one before. Both change in one request, which the
engine applies at once ("Aliases API"). Searches use the alias and never see a part of a version.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from coclick.exporters.programs.bulk_api import Action, BulkLoad, read_actions, run_task, search
from coclick.exporters.programs.engine import Engine, EngineError, Settings, read_json, stop
from coclick.exporters.programs.samples import (
    check_rankings,
    check_samples,
    is_search_folder,
    read_deletions,
)


def load(engine: Engine, folder: Path, settings: Settings) -> None:
    """Fill the index of this version, then let the alias point to it."""
    alias, index = settings["alias"], settings["index"]
    current = _indexes_of(engine, alias)
    if not current and _exists(engine, alias):
        stop(
            f"{alias} is an index, not an alias: delete it if an earlier export made it "
            "(DELETE /NAME), or export with another --name"
        )
    if settings["base"] and current == [index]:
        print(f"{alias} is this version already: {index}")
        return
    if not _exists(engine, index):
        engine.ask("PUT", f"/{index}", read_json(folder / "index.json"))
    if settings["base"]:
        _copy(engine, settings["base"], index)
    load = BulkLoad(engine, index)
    for part in sorted(folder.glob("documents-*.ndjson")):
        load.send([Action(doc, "index", {"_id": doc}, body) for doc, body in read_actions(part, "index")])
        print(f"{part.name}: {load.report()}", flush=True)
    load.send([Action(doc, "delete", {"_id": doc}) for doc in read_deletions(folder)])
    load.stop_if_refused(f"The alias {alias} has not changed.")
    engine.ask("POST", f"/{index}/_refresh")
    count = engine.ask("GET", f"/{index}/_count")["count"]
    if count != settings["documents"]:
        stop(
            f"{index} has {count:,} documents instead of {settings['documents']:,}, and the alias has not "
            f"changed: delete the index (DELETE /{index}) and run load again"
        )
    if current == [index]:
        print(f"{alias} is this version already: {index}")
        return
    previous = _previous(alias)
    actions = [_remove(name, previous) for name in _indexes_of(engine, previous) if current]
    actions += [_remove(name, alias) for name in current] + [_add(name, previous) for name in current]
    engine.ask("POST", "/_aliases", {"actions": [*actions, _add(index, alias)]})
    print(f"{alias} is now {index}" + (f"; before, it was {', '.join(current)}" if current else ""))


def check(engine: Engine, folder: Path, settings: Settings) -> None:
    """Ask the sample queries and compare the results with those of coclick."""
    if is_search_folder(folder):
        check_rankings(folder, engine)
        return
    check_samples(folder, lambda request: search(engine, settings["alias"], "_id", request))


def rollback(engine: Engine, folder: Path, settings: Settings) -> None:
    """Let the alias point to the version before; do nothing if this version is not the current one."""
    alias, index = settings["alias"], settings["index"]
    if _indexes_of(engine, alias) != [index]:
        print(f"{index} is not the current version of {alias}: nothing to do")
        return
    before = _indexes_of(engine, _previous(alias))
    if not before:
        stop(f"no version before {index} is kept: load the folder of an older export instead")
    removed = [_remove(name, _previous(alias)) for name in before]
    actions = [_remove(index, alias), *removed, *(_add(name, alias) for name in before)]
    engine.ask("POST", "/_aliases", {"actions": actions})
    print(f"{alias} is now {', '.join(before)} again")


def prune(engine: Engine, folder: Path, settings: Settings) -> None:
    """Delete the indexes of versions that are neither the current one nor the one before."""
    _delete(engine, settings["alias"], in_use=False)


def remove(engine: Engine, folder: Path, settings: Settings) -> None:
    """Delete all versions, and the aliases with them."""
    _delete(engine, settings["alias"], in_use=True)


def _copy(engine: Engine, base: str, index: str) -> None:
    """Copy the documents of the version that an increment changes."""
    if not _exists(engine, base):
        stop(
            f"this folder has only the changes since {base}, which the engine does not have: load that "
            "version first, or export without --changes-from"
        )
    copied = run_task(engine, "/_reindex", {"source": {"index": base}, "dest": {"index": index}})
    print(f"documents of {base}, copied: {copied['total']:,}", flush=True)
    engine.ask("POST", f"/{index}/_refresh")


def _delete(engine: Engine, alias: str, *, in_use: bool) -> None:
    """Delete indexes that exports made: their name and `_meta` say so."""
    ours = re.compile(rf"{re.escape(alias)}-[0-9a-f]{{12}}")
    for name, index in engine.ask("GET", f"/{alias}-*").items():
        made_here = "coclick" in index.get("mappings", {}).get("_meta", {})
        if ours.fullmatch(name) and made_here and (in_use or not index.get("aliases")):
            engine.ask("DELETE", f"/{name}")
            print(f"deleted {name}")


def _previous(alias: str) -> str:
    return f"{alias}-previous"


def _indexes_of(engine: Engine, alias: str) -> list[str]:
    try:
        return sorted(engine.ask("GET", f"/_alias/{alias}"))
    except EngineError as error:
        if error.status == 404:
            return []
        raise


def _exists(engine: Engine, index: str) -> bool:
    try:
        engine.ask("GET", f"/{index}")
    except EngineError as error:
        if error.status == 404:
            return False
        raise
    return True


def _add(index: str, alias: str) -> dict[str, Any]:
    return {"add": {"index": index, "alias": alias}}


def _remove(index: str, alias: str) -> dict[str, Any]:
    return {"remove": {"index": index, "alias": alias}}


COMMANDS = {"load": load, "check": check, "rollback": rollback, "prune": prune, "remove": remove}
