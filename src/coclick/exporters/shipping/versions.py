"""The version of what is written to a folder: the same content has the same version."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from coclick.storage.directories import write_json


def add_search_version(folder: Path) -> None:
    """Add the version of the folder `search` to the settings of the program that loads an export."""
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    write_json(folder / "settings.json", settings | {"search_version": folder_version(folder / "search")})


def folder_version(folder: Path) -> str:
    """Return a short digest of the files of a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            digest.update(path.name.encode() + hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:12]
