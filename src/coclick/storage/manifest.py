"""`manifest.json`: what an artefact is and which files it has. Everything in it is checked before use."""

from __future__ import annotations

import hashlib
import json
import math
import re
from pathlib import Path
from typing import Any

from coclick._version import __version__
from coclick.errors import ArtefactError, UserError
from coclick.storage.plain_files import open_plain

FORMAT = 2  # raise it when older artefacts can no longer be read
MANIFEST = "manifest.json"
MAX_BYTES = 1 << 25  # of a manifest; one with 10,000 files has about 3 MB
MAX_VALUES = 2_000_000  # lists, objects and their entries, each of which takes memory
MAX_DEPTH = 100  # of lists and objects in each other; those of a sum of models have about 10
MAX_DIMENSIONS = 4
DTYPES = {"|u1", "<u2", "<i2", "<u4", "<i4", "<i8", "<f4", "<f8"}
ARRAY_NAME = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*")
_PLAIN_NAME = r"[a-z0-9_.]+-[0-9a-f]{16}\.(npy|parquet)"
_TABLE_NAME = r"[a-z0-9_]+-[0-9a-f]{16}"  # a directory of Parquet files that Spark wrote
FILE_NAME = re.compile(rf"{_PLAIN_NAME}|{_TABLE_NAME}/part-[0-9]+-[0-9a-z.-]+\.parquet")
ENTRY_NAME = re.compile(rf"{_PLAIN_NAME}|{_TABLE_NAME}")  # files and directories of an artefact


class BrokenManifestError(ArtefactError):
    """A manifest that cannot be used: truncated, edited by hand, or not a regular file."""


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
        with open_plain(path, MANIFEST) as stream:
            manifest = parse_manifest(stream.read(MAX_BYTES + 1), str(source))
    except FileNotFoundError:
        raise UserError(
            "no graph or model here: it has no manifest.json",
            where=str(path),
            hint="if a build or a training was interrupted, run it again",
        ) from None
    except BrokenManifestError:
        raise
    except (OSError, ArtefactError) as error:
        what = error.what if isinstance(error, ArtefactError) else str(error)
        raise BrokenManifestError(f"the manifest cannot be read: {what}", where=str(source)) from None
    check_format(manifest, str(source), allow_older=allow_older)
    if problem := _find_defect(manifest):
        raise BrokenManifestError(f"the manifest is not a coclick manifest: {problem}", where=str(source))
    return manifest


def parse_manifest(content: bytes, where: str) -> Any:
    """Check the size of a manifest and parse it; the JSON parser has no limits."""
    if len(content) > MAX_BYTES:
        raise BrokenManifestError(f"the manifest has more than {MAX_BYTES:,} bytes", where=where)
    if sum(content.count(mark) for mark in b"[{,") > MAX_VALUES:
        raise BrokenManifestError(f"the manifest has more than {MAX_VALUES:,} values", where=where)
    too_deep = BrokenManifestError(f"the manifest is nested more than {MAX_DEPTH} levels deep", where=where)
    try:
        manifest = json.loads(content.decode())
    except RecursionError:  # at a depth that depends on the caller's
        raise too_deep from None
    except ValueError as error:
        raise BrokenManifestError(f"the manifest cannot be read: {error}", where=where) from None
    if _is_deep(manifest):
        raise too_deep
    return manifest


def _is_deep(value: Any) -> bool:
    """Return whether a value is nested too deep for functions that call themselves for each level."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [one for one in level if isinstance(one, dict | list)]
        if not level:
            return False
        level = [part for one in level for part in (one.values() if isinstance(one, dict) else one)]
    return True


def check_format(manifest: Any, where: str, *, allow_older: bool = False) -> None:
    """Raise if a manifest has a newer or, unless allowed, an older format than this version reads."""
    if not isinstance(manifest, dict) or not isinstance(found := manifest.get("format"), int):
        raise BrokenManifestError("the manifest is not a coclick manifest: no format", where=where)
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


def with_digest(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest with a digest of everything in it, by which `coclick verify` notices edits."""
    return manifest | {"digest": digest_of(manifest)}


def digest_of(manifest: dict[str, Any]) -> str:
    """Return the digest of a manifest, without the one that it has."""
    rest = json.loads(json.dumps({key: value for key, value in manifest.items() if key != "digest"}))
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


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
        if not _is_size(entry.get("bytes")) or not isinstance(entry.get("digest"), str):
            return f"invalid size or digest of {name!r}"
        if "dtype" in entry or entry["file"].endswith(".npy"):
            shape, dtype = entry.get("shape"), entry.get("dtype")
            if not isinstance(dtype, str) or dtype not in DTYPES:
                return f"invalid type of {name!r}"
            if not isinstance(shape, list) or len(shape) > MAX_DIMENSIONS or not all(map(_is_size, shape)):
                return f"invalid shape of {name!r}"
            if math.prod(shape) * int(dtype[-1]) > entry["bytes"]:
                return f"{name!r} is larger than its file"
    return None


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 62
