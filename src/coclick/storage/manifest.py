"""`manifest.json`: what an artefact is and which files it has. Nothing is believed before it is checked."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from coclick._version import __version__
from coclick.errors import ArtefactError, UserError

FORMAT = 1
MANIFEST = "manifest.json"
DTYPES = {"|u1", "<u2", "<i2", "<u4", "<i4", "<i8", "<f4", "<f8"}
ARRAY_NAME = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*")
_PLAIN_NAME = r"[a-z0-9_.]+-[0-9a-f]{16}\.(npy|parquet)"
_TABLE_NAME = r"[a-z0-9_]+-[0-9a-f]{16}"  # the directory in which Spark writes a table
FILE_NAME = re.compile(rf"{_PLAIN_NAME}|{_TABLE_NAME}/part-[0-9]+-[0-9a-z.-]+\.parquet")
OWN_NAME = re.compile(rf"{_PLAIN_NAME}|{_TABLE_NAME}")  # of what an artefact's directory holds


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of the artefact in a directory, checked; raises where there is none or it is no use."""
    source = path / MANIFEST
    if not path.is_dir():
        state = "is not a directory" if path.exists() else "does not exist"
        raise UserError(
            f"no graph or model here: it {state}",
            where=str(path),
            hint="coclick build makes a graph, coclick train makes a model of it",
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
    if isinstance(manifest, dict) and isinstance(found := manifest.get("format"), int) and found > FORMAT:
        raise ArtefactError(
            f"made by a newer coclick ({manifest.get('coclick')}): format {found}, "
            f"this one ({__version__}) reads {FORMAT}",
            where=str(source),
            hint="pip install --upgrade coclick",
        )
    if problem := _problem(manifest):
        raise ArtefactError(f"the manifest is not one of coclick's: {problem}", where=str(source))
    return manifest


def a_kind(kind: str) -> str:
    """A kind of artefact in a sentence: a graph, a model, an export."""
    return f"an {kind}" if kind[:1] in "aeiou" else f"a {kind}"


def _problem(manifest: Any) -> str | None:
    if not isinstance(manifest, dict) or not isinstance(manifest.get("kind"), str):
        return "no kind"
    if manifest.get("format") != FORMAT:
        return f"format {manifest.get('format')!r}, this version reads {FORMAT}"
    files = manifest.get("files")
    if not isinstance(files, dict):
        return "no files"
    for name in ("stats", "build"):  # which not every kind has
        if not isinstance(manifest.get(name, {}), dict):
            return f"no {name}"
    for name, entry in files.items():
        if not ARRAY_NAME.fullmatch(name) or not isinstance(entry, dict):
            return f"the name {name!r}"
        if not isinstance(entry.get("file"), str) or not FILE_NAME.fullmatch(entry["file"]):
            return f"the file name of {name!r}"
        if not isinstance(entry.get("bytes"), int) or not isinstance(entry.get("digest"), str):
            return f"size or digest of {name!r}"
        if "dtype" in entry or entry["file"].endswith(".npy"):
            shape = entry.get("shape")
            if entry.get("dtype") not in DTYPES:
                return f"the type of {name!r}"
            if not isinstance(shape, list) or not all(isinstance(n, int) and n >= 0 for n in shape):
                return f"the shape of {name!r}"
    return None
