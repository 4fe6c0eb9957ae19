"""The connection to Qdrant, and what its programs share: points, versions, the way back.

The collection NAME_state has one point without a vector, whose payload says what is loaded:

    version, collection                      the current version and the collection that has it
    previous_version, previous_collection    the version before
    undo                                     a collection with the points that the current version changed
    loading, loading_undo                    an interrupted load that changes a collection in place

Needs qdrant-client 1.16 or later.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from coclick.exporters.programs.engine import Settings, run_command, stop

BATCH = 500  # points read or deleted at a time
TIMEOUT = 600  # seconds
ABSENT = {"absent": True}  # payload of a point of an undo collection: the point did not exist
_STATE_POINT = 1

State = dict[str, Any]


def main(commands: Mapping[str, Callable[..., None]], folder: Path, arguments: list[str]) -> None:
    """Run `run.py URL COMMAND`."""
    if len(arguments) != 2 or arguments[1] not in commands:
        names = "".join(f"\n    {name:10}{command.__doc__}" for name, command in commands.items())
        stop(
            f"usage: python3 run.py URL COMMAND, with the URL of Qdrant and one of{names}\n"
            "The variable QDRANT_API_KEY, if set, is sent as key. Instead of a URL, the path of a local "
            "database of qdrant-client can be given."
        )
    try:
        from qdrant_client.http.exceptions import ApiException
    except ImportError:
        stop("qdrant-client is missing: run `pip install qdrant-client`")
    client = connect(arguments[0])
    try:
        run_command(commands, arguments[1], client, folder)
    except (ApiException, ValueError, RuntimeError) as error:
        stop(f"Qdrant answers: {str(error).strip()}")
    finally:
        client.close()


def connect(address: str) -> Any:
    """Return a client for a URL, or for the folder of a local database."""
    from qdrant_client import QdrantClient

    if address.startswith("http"):
        return QdrantClient(url=address, api_key=os.environ.get("QDRANT_API_KEY"), timeout=TIMEOUT)
    return QdrantClient(path=address)


def point_id(doc: str) -> str:
    """Return the MD5 hash of a document id as a UUID, which is the same in every export."""
    digest = hashlib.md5(doc.encode(), usedforsecurity=False).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:]}"


def read_ndjson(path: Path) -> Iterator[Any]:
    """Yield the values of a file, one line at a time."""
    with path.open(encoding="utf-8", newline="\n") as lines:
        yield from map(json.loads, lines)


def batches(items: Iterable[Any], size: int = BATCH) -> Iterator[list[Any]]:
    """Yield lists of at most `size` items."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def to_vector(vector: Any) -> Any:
    """Return a vector of a file as the client takes it."""
    from qdrant_client import models

    return models.SparseVector(**vector) if isinstance(vector, dict) else vector


def create_collection(client: Any, name: str, vectors: dict[str, Any]) -> None:
    """Create a collection with the vectors of `collection.json`, unless it exists."""
    from qdrant_client import models

    if client.collection_exists(name):
        return
    dense = {key: models.VectorParams(**of) for key, of in vectors.get("vectors", {}).items()}
    sparse = {key: models.SparseVectorParams(**of) for key, of in vectors.get("sparse_vectors", {}).items()}
    client.create_collection(name, vectors_config=dense, sparse_vectors_config=sparse or None)


def search(client: Any, collection: str, request: dict[str, Any], id_field: str) -> list[tuple[str, float]]:
    """Send a sample request; return documents with scores, those with positive scores only."""
    from qdrant_client import models

    found = client.query_points(
        collection,
        query=to_vector(request["query"]),
        using=request["using"],
        limit=request["limit"],
        with_payload=True,
        search_params=models.SearchParams(**request["params"]) if "params" in request else None,
    ).points
    return [
        (str(point.id if id_field == "_id" else point.payload[id_field]), point.score)
        for point in found
        if point.score > 0
    ]


def read_state(client: Any, name: str) -> State:
    """Return what is loaded; empty if nothing is."""
    if not client.collection_exists(f"{name}_state"):
        return {}
    found = client.retrieve(f"{name}_state", [_STATE_POINT])
    return dict(found[0].payload or {}) if found else {}


def write_state(client: Any, name: str, state: State) -> None:
    """Store what is loaded: the step that makes a load or rollback complete."""
    from qdrant_client import models

    create_collection(client, f"{name}_state", {"sparse_vectors": {"none": {}}})
    known = {key: value for key, value in state.items() if value is not None}
    point = models.PointStruct(id=_STATE_POINT, vector={}, payload=known)
    client.upsert(f"{name}_state", [point], wait=True)


def stop_if_interrupted(state: State, version: str) -> None:
    """Stop if the load of another version has not ended."""
    if state.get("loading") not in (None, version):
        stop(
            f"the load of version {state['loading']} was interrupted: run load or rollback in its folder "
            "first"
        )


def stop_if_other_base(state: State, settings: Settings) -> None:
    """Stop if an increment does not belong to the version that is loaded."""
    found = state.get("version", "none")
    if state.get("loading") != settings["version"] and found != settings["base_version"]:
        stop(
            f"this increment changes version {settings['base_version']}, but the loaded version is {found}: "
            "load the increments in between, or a whole export"
        )


def delete_unused(client: Any, name: str, state: State) -> None:
    """Delete the collections of versions that are neither current nor the one before."""
    ours = re.compile(rf"{re.escape(name)}_(undo_)?[0-9a-f]{{12}}(_2)?")
    kept = {value for key, value in state.items() if not key.endswith("version")}
    for collection in client.get_collections().collections:
        if ours.fullmatch(collection.name) and collection.name not in kept:
            client.delete_collection(collection.name)
            print(f"deleted {collection.name}")
