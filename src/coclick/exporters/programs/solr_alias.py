"""Solr, own collections: one for each version, and an alias that is swapped.

The alias NAME has the current version, NAME-previous the one before. `CREATEALIAS` replaces an alias at once
("Alias management"). Searches use the alias and never see a part of a version. Needs SolrCloud.

An increment also makes a new collection: documents that did not change are read from that of the base.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from coclick.exporters.programs.engine import Engine, EngineError, Settings, read_json, read_lines, stop
from coclick.exporters.programs.samples import (
    check_rankings,
    check_samples,
    is_search_folder,
    read_deletions,
)
from coclick.exporters.programs.solr import (
    SolrLoad,
    add_to_schema,
    ask_collections,
    commit,
    count_docs,
    pages,
    search,
)


def load(engine: Engine, folder: Path, settings: Settings) -> None:
    """Fill the collection of this version, then let the alias point to it."""
    alias, collection = settings["alias"], settings["index"]
    collections = ask_collections(engine, "LIST")["collections"]
    if alias in collections:
        stop(
            f"{alias} is a collection, not an alias: delete it if an earlier export made it, "
            "or export with another --name"
        )
    if settings["base"] and _aliases(engine).get(alias) == collection:
        print(f"{alias} is this version already: {collection}")
        return
    if settings["base"] and settings["base"] not in collections:
        stop(
            f"this folder has only the changes since {settings['base']}, which Solr does not have: load that "
            "version first, or export without --changes-from"
        )
    if collection not in collections:
        ask_collections(engine, "CREATE", name=collection, numShards=settings["shards"])
    add_to_schema(engine, collection, read_json(folder / "schema.json"))
    load = SolrLoad(engine, collection)
    if settings["base"]:
        _copy(load, settings["base"], folder)
    for part in sorted(folder.glob("documents-*.ndjson")):
        load.send([(json.loads(line)["id"], line) for line in read_lines(part)])
        print(f"{part.name}: {load.report()}", flush=True)
    load.stop_if_refused(f"The alias {alias} has not changed.")
    commit(engine, collection)
    count = count_docs(engine, collection)
    if count != settings["documents"]:
        stop(
            f"{collection} has {count:,} documents instead of {settings['documents']:,}, and the alias has "
            f"not changed: delete the collection {collection} and run load again"
        )
    current = _aliases(engine).get(alias)
    if current == collection:
        print(f"{alias} is this version already: {collection}")
        return
    if current is not None:
        ask_collections(engine, "CREATEALIAS", name=_previous(alias), collections=current)
    ask_collections(engine, "CREATEALIAS", name=alias, collections=collection)
    print(f"{alias} is now {collection}" + (f"; before, it was {current}" if current else ""))


def _copy(load: SolrLoad, base: str, folder: Path) -> None:
    """Send the documents of the base that the increment neither changes nor deletes."""
    replaced = {*read_deletions(folder)}
    for part in folder.glob("documents-*.ndjson"):
        replaced.update(json.loads(line)["id"] for line in read_lines(part))
    request = {"query": "*:*", "fields": ["id", "title", "words"]}
    for rows in pages(load.engine, base, "id", request):
        if any("words" not in row for row in rows):
            stop(
                f"the documents of {base} cannot be read, because an earlier release of coclick loaded them: "
                "export without --changes-from"
            )
        kept = [row for row in rows if row["id"] not in replaced]
        load.send([(row["id"], json.dumps(row, ensure_ascii=False)) for row in kept])
    print(f"documents of {base}, copied: {load.sent:,}", flush=True)


def check(engine: Engine, folder: Path, settings: Settings) -> None:
    """Ask the sample queries and compare the results with those of coclick."""
    if is_search_folder(folder):
        check_rankings(folder, engine)
        return
    check_samples(folder, lambda request: search(engine, settings["alias"], "id", request))


def rollback(engine: Engine, folder: Path, settings: Settings) -> None:
    """Let the alias point to the version before; do nothing if this version is not the current one."""
    alias, collection = settings["alias"], settings["index"]
    aliases = _aliases(engine)
    if aliases.get(alias) != collection:
        print(f"{collection} is not the current version of {alias}: nothing to do")
        return
    before = aliases.get(_previous(alias))
    if before in (None, collection):
        stop(f"no version before {collection} is kept: load the folder of an older export instead")
    ask_collections(engine, "CREATEALIAS", name=alias, collections=before)
    ask_collections(engine, "DELETEALIAS", name=_previous(alias))
    print(f"{alias} is now {before} again")


def prune(engine: Engine, folder: Path, settings: Settings) -> None:
    """Delete the collections of versions that are neither the current one nor the one before."""
    _delete(engine, settings["alias"])


def remove(engine: Engine, folder: Path, settings: Settings) -> None:
    """Delete the aliases and all versions."""
    alias = settings["alias"]
    for name in {alias, _previous(alias)} & _aliases(engine).keys():
        ask_collections(engine, "DELETEALIAS", name=name)
    _delete(engine, alias)


def _delete(engine: Engine, alias: str) -> None:
    """Delete collections that exports made and no alias names: their name and schema say so."""
    ours = re.compile(rf"{re.escape(alias)}-[0-9a-f]{{12}}")
    used = {name for names in _aliases(engine).values() for name in names.split(",")}
    for name in ask_collections(engine, "LIST")["collections"]:
        if ours.fullmatch(name) and name not in used and _made_here(engine, name):
            ask_collections(engine, "DELETE", name=name)
            print(f"deleted {name}")


def _made_here(engine: Engine, collection: str) -> bool:
    try:
        engine.ask("GET", f"/{collection}/schema/fieldtypes/coclick_words")
    except EngineError as error:
        if error.status == 404:
            return False
        raise
    return True


def _previous(alias: str) -> str:
    return f"{alias}-previous"


def _aliases(engine: Engine) -> dict[str, str]:
    """Return the collections of each alias, with commas between them."""
    return dict(ask_collections(engine, "LISTALIASES").get("aliases") or {})


COMMANDS = {"load": load, "check": check, "rollback": rollback, "prune": prune, "remove": remove}
