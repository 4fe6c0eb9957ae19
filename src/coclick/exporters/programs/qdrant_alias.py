"""Qdrant, collections of its own: one for each whole export, and an alias that is swapped.

The alias NAME has the current version. A whole export fills a new collection and then swaps the alias, which
Qdrant does at once. An increment changes the current collection in place: it first copies the points that it
will change to an undo collection. Every step can be repeated, so an interrupted command can run again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coclick.exporters.programs.engine import Settings, read_json, stop
from coclick.exporters.programs.qdrant_connection import (
    ABSENT,
    BATCH,
    State,
    batches,
    create_collection,
    delete_unused,
    point_id,
    read_ndjson,
    read_state,
    search,
    stop_if_interrupted,
    stop_if_other_base,
    to_vector,
    write_state,
)
from coclick.exporters.programs.samples import check_rankings, check_samples, is_search_folder


def load(client: Any, folder: Path, settings: Settings) -> None:
    """Make this version the current one."""
    name, version = settings["alias"], settings["version"]
    state = read_state(client, name)
    stop_if_interrupted(state, version)
    if name in {collection.name for collection in client.get_collections().collections}:
        stop(
            f"{name} is a collection, not an alias: delete it if an earlier export made it, or export with "
            "another --name"
        )
    if state.get("version") == version and not state.get("loading"):
        if _count(client, state["collection"]) == settings["documents"]:
            _swap_alias(client, name, state["collection"])
            print(f"version {version} is loaded already")
            return
        if settings.get("base_version"):
            stop(f"points of {state['collection']} are missing: load a whole export")
    if settings.get("base_version"):
        stop_if_other_base(state, settings)
        new = _load_increment(client, folder, settings, state)
    else:
        new = _load_whole(client, folder, settings, state)
    delete_unused(client, name, new)
    print(f"version {version} is loaded: {settings['documents']:,} documents")


def _load_whole(client: Any, folder: Path, settings: Settings, state: State) -> State:
    name, version = settings["alias"], settings["version"]
    collection = f"{name}_{version}"
    if collection in (state.get("collection"), state.get("previous_collection")):  # changed by an increment
        collection += "_2"
    create_collection(client, collection, read_json(folder / "collection.json"))
    for field in settings.get("keyword_fields", []):
        client.create_payload_index(collection, field, "keyword")
    _upsert_points(client, collection, folder)
    _stop_if_incomplete(client, collection, settings, "delete this collection and run load again")
    _swap_alias(client, name, collection)
    new = {
        "version": version,
        "collection": collection,
        "previous_version": state.get("version"),
        "previous_collection": state.get("collection"),
    }
    write_state(client, name, new)
    return new


def _load_increment(client: Any, folder: Path, settings: Settings, state: State) -> State:
    name, version, collection = settings["alias"], settings["version"], state["collection"]
    undo = f"{name}_undo_{version}"
    if state.get("loading") != version:
        client.delete_collection(undo)
        create_collection(client, undo, read_json(folder / "collection.json"))
        for ids in batches(_changed_ids(folder)):
            _copy_points(client, collection, undo, ids)
        write_state(client, name, state | {"loading": version, "loading_undo": undo})
    _upsert_points(client, collection, folder)
    for docs in batches(read_ndjson(folder / "deleted-docs.ndjson")):
        client.delete(collection, [point_id(doc) for doc in docs], wait=True)
    _stop_if_incomplete(client, collection, settings, "run rollback, and load a whole export")
    new = {
        "version": version,
        "collection": collection,
        "previous_version": settings["base_version"],
        "previous_collection": collection,
        "undo": undo,
    }
    write_state(client, name, new)
    return new


def check(client: Any, folder: Path, settings: Settings) -> None:
    """Ask the sample queries and compare the results with those of coclick."""
    if is_search_folder(folder):
        check_rankings(folder, client)
        return
    check_samples(folder, lambda request: search(client, settings["alias"], request, "doc"))


def rollback(client: Any, folder: Path, settings: Settings) -> None:
    """Go back to the version before; do nothing if this version is not the current one."""
    name, version = settings["alias"], settings["version"]
    state = read_state(client, name)
    if state.get("loading") == version:
        _restore(client, state["loading_undo"], state["collection"])
        new = {key: value for key, value in state.items() if not key.startswith("loading")}
    elif state.get("version") != version:
        if state.get("collection"):
            _swap_alias(client, name, state["collection"])
        print(f"version {version} is not loaded: there is nothing to roll back")
        return
    elif not state.get("previous_collection"):
        stop(f"no version before {version} is kept: load the folder of an older export instead")
    else:
        new = {"version": state["previous_version"], "collection": state["previous_collection"]}
        if state.get("undo"):
            _restore(client, state["undo"], state["collection"])
        _swap_alias(client, name, new["collection"])
    write_state(client, name, new)
    delete_unused(client, name, new)
    print(f"version {new['version']} is loaded again")


def remove(client: Any, folder: Path, settings: Settings) -> None:
    """Delete all versions and the alias."""
    name = settings["alias"]
    for alias in client.get_aliases().aliases:
        if alias.alias_name == name:
            _change_alias(client, name, None)
    delete_unused(client, name, {})
    client.delete_collection(f"{name}_state")
    print(f"{name} is removed")


def _count(client: Any, collection: str) -> int:
    exists = client.collection_exists(collection)
    return int(client.count(collection, exact=True).count) if exists else 0


def _stop_if_incomplete(client: Any, collection: str, settings: Settings, remedy: str) -> None:
    count = _count(client, collection)
    if count != settings["documents"]:
        stop(f"{collection} has {count:,} points instead of {settings['documents']:,}: {remedy}")


def _upsert_points(client: Any, collection: str, folder: Path) -> None:
    from qdrant_client import models

    for number, request in enumerate(read_ndjson(folder / "points.ndjson"), 1):
        points = [models.PointStruct(**point) for point in request["points"]]
        client.upsert(collection, points, wait=True)
        print(f"request {number}: {len(points):,} points", flush=True)


def _changed_ids(folder: Path) -> Iterator[str]:
    for request in read_ndjson(folder / "points.ndjson"):
        yield from (point["id"] for point in request["points"])
    yield from map(point_id, read_ndjson(folder / "deleted-docs.ndjson"))


def _copy_points(client: Any, source: str, target: str, ids: list[str]) -> None:
    """Copy points as they are; a point without a vector stands for one that does not exist."""
    from qdrant_client import models

    found = client.retrieve(source, ids, with_payload=True, with_vectors=True)
    known = {str(point.id) for point in found}
    points = [models.PointStruct(id=p.id, vector=p.vector, payload=p.payload) for p in found]
    points += [models.PointStruct(id=i, vector={}, payload=ABSENT) for i in ids if i not in known]
    client.upsert(target, points, wait=True)


def _restore(client: Any, undo: str, collection: str) -> None:
    from qdrant_client import models

    offset = None
    while True:
        found, offset = client.scroll(undo, limit=BATCH, offset=offset, with_payload=True, with_vectors=True)
        absent = [point.id for point in found if point.payload == ABSENT]
        points = [
            models.PointStruct(id=p.id, vector=_vectors(p.vector), payload=p.payload)
            for p in found
            if p.payload != ABSENT
        ]
        if absent:
            client.delete(collection, absent, wait=True)
        if points:
            client.upsert(collection, points, wait=True)
        if offset is None:
            return


def _vectors(found: Any) -> Any:
    return {name: to_vector(vector) for name, vector in found.items()}


def _swap_alias(client: Any, alias: str, collection: str) -> None:
    for known in client.get_aliases().aliases:
        if known.alias_name == alias and known.collection_name == collection:
            return
    _change_alias(client, alias, collection)


def _change_alias(client: Any, alias: str, collection: str | None) -> None:
    """Let an alias point to a collection, or to nothing, in one request."""
    from qdrant_client import models

    changes: list[Any] = []
    if any(known.alias_name == alias for known in client.get_aliases().aliases):
        changes.append(models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias)))
    if collection is not None:
        create = models.CreateAlias(alias_name=alias, collection_name=collection)
        changes.append(models.CreateAliasOperation(create_alias=create))
    client.update_collection_aliases(changes)


COMMANDS = {"load": load, "check": check, "rollback": rollback, "remove": remove}
