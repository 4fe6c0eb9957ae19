"""Qdrant, in a collection that exists: adds a named vector to its points (Qdrant 1.18 or later).

Nothing else in the points changes. The vectors that a load will change are first copied to a collection
NAME_undo_VERSION, from which `rollback` restores them. Every step can be repeated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from coclick.exporters.programs.engine import Settings, read_json, stop
from coclick.exporters.programs.qdrant_connection import (
    ABSENT,
    BATCH,
    batches,
    create_collection,
    delete_unused,
    read_ndjson,
    read_state,
    search,
    stop_if_interrupted,
    stop_if_other_base,
    to_vector,
    write_state,
)
from coclick.exporters.programs.samples import check_samples, write_missing_ids


def load(client: Any, folder: Path, settings: Settings) -> None:
    """Add the vectors of this version to the points of the collection."""
    name, version, collection = settings["name"], settings["version"], settings["collection"]
    state = read_state(client, name)
    stop_if_interrupted(state, version)
    if state.get("collection", collection) != collection:
        stop(f"an export named {name} is loaded into {state['collection']}: export with another --name")
    if settings.get("base_version") and state.get("version") != version:
        stop_if_other_base(state, settings)
    _add_vector_name(client, collection, settings["vector"], read_json(folder / "collection.json"))
    if version not in (state.get("version"), state.get("loading")):
        undo = _save_undo(client, folder, settings)
        state |= {"collection": collection, "loading": version, "loading_undo": undo}
        write_state(client, name, state)
    updated, missing = _set_vectors(client, folder, settings)
    new = state
    if state.get("loading"):
        new = {
            "version": version,
            "collection": collection,
            "previous_version": state.get("version"),
            "undo": state["loading_undo"],
        }
        write_state(client, name, new)
        delete_unused(client, name, new)
    write_missing_ids(folder, missing)
    if missing:
        print(f"{len(missing):,} ids are not in {collection}; missing-ids.txt lists them")
    print(f"version {version} is loaded: {updated:,} points of {collection} were set")


def check(client: Any, folder: Path, settings: Settings) -> None:
    """Ask the sample queries and compare the results with those of coclick."""
    collection, id_field = settings["collection"], settings["id_field"]
    check_samples(folder, lambda request: search(client, collection, request, id_field))


def rollback(client: Any, folder: Path, settings: Settings) -> None:
    """Go back to the version before; do nothing if this version is not loaded."""
    name, version = settings["name"], settings["version"]
    state = read_state(client, name)
    if state.get("loading") == version:
        undo = state["loading_undo"]
        new = {key: value for key, value in state.items() if not key.startswith("loading")}
    elif state.get("version") != version:
        print(f"version {version} is not loaded: there is nothing to roll back")
        return
    elif not state.get("previous_version"):
        stop(f"no version before {version} is kept: remove takes all vectors away")
    else:
        undo = state["undo"]
        new = {"version": state["previous_version"], "collection": state["collection"]}
    _restore(client, undo, settings)
    write_state(client, name, new)
    delete_unused(client, name, new)
    print(f"version {new.get('version', 'none')} is loaded again")


def remove(client: Any, folder: Path, settings: Settings) -> None:
    """Delete the vector from the collection, and what rollback needs."""
    name, collection = settings["name"], settings["collection"]
    if settings["vector"] in _vector_names(client, collection):
        client.delete_vector_name(collection, settings["vector"])
    delete_unused(client, name, {})
    client.delete_collection(f"{name}_state")
    print(f"{collection} has no vector {settings['vector']} any more")


def _vector_names(client: Any, collection: str) -> dict[str, Any]:
    params = client.get_collection(collection).config.params
    dense = params.vectors if isinstance(params.vectors, dict) else {}
    return {**dense, **(params.sparse_vectors or {})}


def _add_vector_name(client: Any, collection: str, name: str, vectors: dict[str, Any]) -> None:
    """Add the vector; stop if the collection has another one of that name."""
    from qdrant_client import models

    if not client.collection_exists(collection):
        stop(f"there is no collection {collection}: check the URL, and the name given with --into")
    known = _vector_names(client, collection).get(name)
    size = vectors["vectors"][name]["size"] if vectors.get("vectors") else None
    if known is not None:
        if getattr(known, "size", None) != size:
            found = getattr(known, "size", None)
            kind = "sparse" if found is None else f"of {found} dimensions"
            stop(f"the vector {name} of {collection} is {kind}: export with another --name")
        return
    config: Any
    if size is None:
        config = models.SparseVectorNameConfig(sparse=models.SparseVectorConfig())
    else:
        dense = models.DenseVectorConfig(size=size, distance=models.Distance.DOT)
        config = models.DenseVectorNameConfig(dense=dense)
    client.create_vector_name(collection, name, config)


def _documents(folder: Path) -> Iterator[list[dict[str, Any]]]:
    for request in read_ndjson(folder / "points.ndjson"):
        yield from batches(request["docs"])


def _deleted(folder: Path) -> Iterator[list[str]]:
    path = folder / "deleted-docs.ndjson"
    if path.exists():
        yield from batches(read_ndjson(path))


def _find_points(client: Any, settings: Settings, docs: list[str]) -> dict[str, list[Any]]:
    """Return the points of each document id; ids may be numbers in the collection."""
    from qdrant_client import models

    field, collection = settings["id_field"], settings["collection"]
    found: dict[str, list[Any]] = {}
    if field == "_id":
        ids = [int(doc) if doc.isdecimal() else doc for doc in docs if doc.isdecimal() or _is_uuid(doc)]
        for point in client.retrieve(collection, ids, with_payload=False):
            found.setdefault(str(point.id), []).append(point.id)
        return found
    numbers = [int(doc) for doc in docs if doc.isascii() and doc.isdecimal() and len(doc) < 19]
    either: list[Any] = [models.FieldCondition(key=field, match=models.MatchAny(any=docs))]
    if numbers:
        either.append(models.FieldCondition(key=field, match=models.MatchAny(any=numbers)))
    offset, wanted = None, set(docs)
    while True:
        points, offset = client.scroll(
            collection,
            scroll_filter=models.Filter(should=either),
            limit=BATCH,
            offset=offset,
            with_payload=[field],
        )
        for point in points:
            doc = str((point.payload or {}).get(field))
            if doc in wanted:
                found.setdefault(doc, []).append(point.id)
        if offset is None:
            return found


def _is_uuid(text: str) -> bool:
    import uuid

    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False


def _scroll_vectors(client: Any, settings: Settings) -> Iterator[list[Any]]:
    """Yield the ids of the points that have the vector, in batches."""
    from qdrant_client import models

    having = models.Filter(must=[models.HasVectorCondition(has_vector=settings["vector"])])
    offset = None
    while True:
        points, offset = client.scroll(
            settings["collection"], scroll_filter=having, limit=BATCH, offset=offset, with_payload=False
        )
        yield [point.id for point in points]
        if offset is None:
            return


def _save_undo(client: Any, folder: Path, settings: Settings) -> str:
    """Copy the vectors that the load will change; stop if the collection has none of the documents."""
    undo = f"{settings['name']}_undo_{settings['version']}"
    client.delete_collection(undo)
    create_collection(client, undo, read_json(folder / "collection.json"))
    found_any = wanted = 0
    for docs in _documents(folder):
        found = _find_points(client, settings, [row["doc"] for row in docs])
        wanted, found_any = wanted + len(docs), found_any + len(found)
        _copy(client, settings, undo, [point for points in found.values() for point in points])
    if wanted and not found_any:
        client.delete_collection(undo)
        stop(
            f"none of the {wanted:,} document ids is in {settings['collection']} as {settings['id_field']}: "
            "export with --id and the field that has the ids of the click log"
        )
    if settings.get("base_version"):
        for gone in _deleted(folder):
            found = _find_points(client, settings, gone)
            _copy(client, settings, undo, [point for points in found.values() for point in points])
    else:
        for ids in _scroll_vectors(client, settings):
            _copy(client, settings, undo, ids)
    return undo


def _copy(client: Any, settings: Settings, undo: str, ids: Iterable[Any]) -> None:
    from qdrant_client import models

    vector = settings["vector"]
    for batch in batches(ids):
        points = []
        for point in client.retrieve(settings["collection"], batch, with_vectors=[vector]):
            held = (point.vector or {}).get(vector) if isinstance(point.vector, dict) else None
            known = {} if held is None else {vector: held}
            payload = ABSENT if held is None else {}
            points.append(models.PointStruct(id=point.id, vector=known, payload=payload))
        if points:
            client.upsert(undo, points, wait=True)


def _set_vectors(client: Any, folder: Path, settings: Settings) -> tuple[int, list[str]]:
    """Set the vectors of all documents and clear those that are gone; return the points set, missing ids."""
    from qdrant_client import models

    collection, vector = settings["collection"], settings["vector"]
    kept: set[Any] = set()
    missing: list[str] = []
    for docs in _documents(folder):
        found = _find_points(client, settings, [row["doc"] for row in docs])
        missing += [row["doc"] for row in docs if row["doc"] not in found]
        points = [
            models.PointVectors(id=point, vector={vector: to_vector(row["vector"])})
            for row in docs
            for point in found.get(row["doc"], [])
        ]
        kept.update(point.id for point in points)
        if points:
            client.update_vectors(collection, points, wait=True)
    if settings.get("base_version"):
        for gone in _deleted(folder):
            found = _find_points(client, settings, gone)
            _clear(client, settings, [point for points in found.values() for point in points])
    else:
        vanished = [i for ids in _scroll_vectors(client, settings) for i in ids if i not in kept]
        for batch in batches(vanished):
            _clear(client, settings, batch)
    return len(kept), missing


def _clear(client: Any, settings: Settings, ids: list[Any]) -> None:
    if ids:
        client.delete_vectors(settings["collection"], [settings["vector"]], ids, wait=True)


def _restore(client: Any, undo: str, settings: Settings) -> None:
    from qdrant_client import models

    vector, offset = settings["vector"], None
    while True:
        found, offset = client.scroll(undo, limit=BATCH, offset=offset, with_vectors=True)
        ids = [point.id for point in found]
        left = {point.id for point in client.retrieve(settings["collection"], ids, with_payload=False)}
        _clear(client, settings, [p.id for p in found if p.payload == ABSENT and p.id in left])
        points = [
            models.PointVectors(id=p.id, vector={vector: to_vector(p.vector[vector])})
            for p in found
            if p.payload != ABSENT and p.id in left
        ]
        if points:
            client.update_vectors(settings["collection"], points, wait=True)
        if offset is None:
            return


COMMANDS = {"load": load, "check": check, "rollback": rollback, "remove": remove}
