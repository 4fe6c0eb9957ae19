"""The version of what is written to a folder: the same content has the same version."""

from __future__ import annotations

import hashlib
from pathlib import Path


def folder_version(folder: Path) -> str:
    """Return a short digest of the files of a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            digest.update(path.name.encode() + hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:12]
