"""Vespa, a document type of its own: the documents of all versions side by side.

Vespa has no aliases. A document's id begins with its version and its field `version` has it too. Queries
name a query profile of the application, which has the current version: `vespa deploy` changes it at once.

An increment also becomes a full version: documents that did not change are read from the base.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coclick.exporters.programs.engine import Engine, Settings, stop
from coclick.exporters.programs.samples import (
    check_rankings,
    check_samples,
    is_search_folder,
    read_deletions,
)
from coclick.exporters.programs.vespa import (
    VespaLoad,
    Write,
    ask_search,
    delete_where,
    document_path,
    search,
    visit,
)


def load(engine: Engine, folder: Path, settings: Settings) -> None:
    """Send the documents of this version; queries see them after `vespa deploy`."""
    kind, version = settings["type"], settings["version"]
    load = VespaLoad(engine)
    if settings["base"]:
        _copy(load, folder, settings)
    load.send(_writes(folder / "documents.jsonl", version), lambda text: print(text, flush=True))
    load.stop_if_refused("Queries have not changed.")
    yql = f'select * from sources * where version contains "{version}"'
    request = {"yql": yql, "model.restrict": kind, "hits": 0, "timeout": "60s"}
    count = ask_search(engine, request)["fields"]["totalCount"]
    if count != settings["documents"]:
        stop(
            f"version {version} has {count:,} documents instead of {settings['documents']:,}: run load again "
            "before you deploy"
        )
    print(f"version {version} is complete: deploy the application of this folder to use it")


def check(engine: Engine, folder: Path, settings: Settings) -> None:
    """Ask the sample queries and compare the results with those of coclick."""
    if is_search_folder(folder):
        check_rankings(folder, engine)
        return
    check_samples(folder, lambda request: search(engine, "doc", request))


def prune(engine: Engine, folder: Path, settings: Settings) -> None:
    """Delete the documents of all other versions."""
    kind, version = settings["type"], settings["version"]
    deleted = delete_where(engine, kind, kind, _cluster(settings), f'{kind}.version != "{version}"')
    print(f"documents of other versions, deleted: {deleted:,}")


def remove(engine: Engine, folder: Path, settings: Settings) -> None:
    """Delete the documents of all versions."""
    kind = settings["type"]
    deleted = delete_where(engine, kind, kind, _cluster(settings), kind)
    print(f"documents of all versions, deleted: {deleted:,}")


def _copy(load: VespaLoad, folder: Path, settings: Settings) -> None:
    """Send the documents of the base that the increment neither changes nor deletes, with its version."""
    kind, base, version = settings["type"], settings["base"], settings["version"]
    with (folder / "documents.jsonl").open(encoding="utf-8", newline="\n") as lines:
        replaced = {json.loads(line)["fields"]["doc"] for line in lines}
    replaced.update(read_deletions(folder))
    found = 0

    def copies() -> Iterator[Write]:
        nonlocal found
        fields = ("doc", "title", "words", "version")
        for document in visit(load.engine, kind, kind, fields, f'{kind}.version == "{base}"'):
            found += 1
            doc = document["fields"]["doc"]
            if doc not in replaced:
                path = document_path(f"id:{kind}:{kind}::{version}/{doc}")
                yield doc, "POST", path, {"fields": document["fields"] | {"version": version}}

    load.send(copies(), lambda text: print(text, flush=True))
    if not found:
        stop(
            f"this folder has only the changes since version {base}, which Vespa does not have: load that "
            "version first, or export without --changes-from"
        )


def _cluster(settings: Settings) -> str:
    """Return the content cluster that has the documents."""
    if settings["cluster"] is None:
        stop("which content cluster has the documents? Enter its id in settings.json, as cluster")
    return str(settings["cluster"])


def _writes(path: Path, version: str) -> Iterator[Write]:
    """Yield the documents with their version."""
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            put: dict[str, Any] = json.loads(line)
            doc = put["fields"]["doc"]
            head = put["put"].removesuffix(doc)
            path_ = document_path(f"{head}{version}/{doc}")
            yield doc, "POST", path_, {"fields": put["fields"] | {"version": version}}


COMMANDS = {"load": load, "check": check, "prune": prune, "remove": remove}
