"""`manifest.json`: what an artefact is and which files it has. Everything in it is checked before use."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from coclick._version import __version__
from coclick.errors import ArtefactError, UserError

FORMAT = 2  # raise it when older artefacts can no longer be read
MANIFEST = "manifest.json"
DTYPES = {"|u1", "<u2", "<i2", "<u4", "<i4", "<i8", "<f4", "<f8"}
ARRAY_NAME = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*")
_PLAIN_NAME = r"[a-z0-9_.]+-[0-9a-f]{16}\.(npy|parquet)"
_TABLE_NAME = r"[a-z0-9_]+-[0-9a-f]{16}"  # a directory of Parquet files that Spark wrote
FILE_NAME = re.compile(rf"{_PLAIN_NAME}|{_TABLE_NAME}/part-[0-9]+-[0-9a-z.-]+\.parquet")
ENTRY_NAME = re.compile(rf"{_PLAIN_NAME}|{_TABLE_NAME}")  # files and directories of an artefact


def read_manifest(path: Path, *, allow_older: bool = False) -> dict[str, Any]:
    """Return the checked manifest of the artefact in a directory.

    Raises if there is none, if it is invalid, or if its format is newer than this version reads, or older.
    `allow_older` is for writers that replace the artefact.
    """
    source = path / MANIFEST
    if not path.is_dir():
        raise UserError(
            "no graph or model here: it is not a directory" if path.exists() else "no such directory",
            where=str(path),
            hint="coclick build makes a graph, coclick train makes a model from it",
        )
    try:
        manifest = json.loads(source.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(
            "no graph or model here: it has no manifest.json",
            where=str(path),
            hint="if a build or a training was interrupted, run it again",
        ) from None
    except (ValueError, RecursionError, OSError) as error:
        raise ArtefactError(f"the manifest cannot be read: {error}", where=str(source)) from None
    check_format(manifest, str(source), allow_older=allow_older)
    if problem := _find_defect(manifest):
        raise ArtefactError(f"the manifest is not a coclick manifest: {problem}", where=str(source))
    return manifest


def check_format(manifest: Any, where: str, *, allow_older: bool = False) -> None:
    """Raise if a manifest has a newer or, unless allowed, an older format than this version reads."""
    if not isinstance(manifest, dict) or not isinstance(found := manifest.get("format"), int):
        raise ArtefactError("the manifest is not a coclick manifest: no format", where=where)
    if found > FORMAT:
        raise ArtefactError(
            f"made by a newer coclick ({manifest.get('coclick')}): format {found}, "
            f"this one ({__version__}) reads {FORMAT}",
            where=where,
            hint="pip install --upgrade coclick",
        )
    if found < FORMAT and not allow_older:
        kind = str(manifest.get("kind"))
        verb = {"graph": "build", "model": "train", "export": "export"}.get(kind, "make")
        raise ArtefactError(
            f"an older coclick ({manifest.get('coclick')}) made this {kind}: {verb} it again", where=where
        )


def with_article(kind: str) -> str:
    """Return the kind of an artefact with its article: a graph, a model, an export."""
    return f"an {kind}" if kind[:1] in "aeiou" else f"a {kind}"


def _find_defect(manifest: dict[str, Any]) -> str | None:
    if not isinstance(manifest.get("kind"), str):
        return "no kind"
    files = manifest.get("files")
    if not isinstance(files, dict):
        return "no files"
    for name in ("stats", "build"):  # optional
        if not isinstance(manifest.get(name, {}), dict):
            return f"{name!r} is not an object"
    for name, entry in files.items():
        if not ARRAY_NAME.fullmatch(name) or not isinstance(entry, dict):
            return f"invalid name {name!r}"
        if not isinstance(entry.get("file"), str) or not FILE_NAME.fullmatch(entry["file"]):
            return f"invalid file name of {name!r}"
        if not isinstance(entry.get("bytes"), int) or not isinstance(entry.get("digest"), str):
            return f"invalid size or digest of {name!r}"
        if "dtype" in entry or entry["file"].endswith(".npy"):
            shape = entry.get("shape")
            if entry.get("dtype") not in DTYPES:
                return f"invalid type of {name!r}"
            if not isinstance(shape, list) or not all(isinstance(n, int) and n >= 0 for n in shape):
                return f"invalid shape of {name!r}"
    return None
