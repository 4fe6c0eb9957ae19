"""The static files of the studio."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

_TYPES = {".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".svg": "image/svg+xml"}


class File:
    """A file of the package, read once; browsers revalidate their copy by its ETag."""

    def __init__(self, name: str, content: bytes) -> None:
        self._content = content
        self._headers = {
            "Content-Type": f"{_TYPES[Path(name).suffix]}; charset=utf-8",
            "Cache-Control": "no-cache",
            "ETag": f'"{hashlib.sha256(content).hexdigest()[:16]}"',
        }

    def response(self, request: Request) -> Response:
        """Return the content, or 304 if it has not changed."""
        if request.headers.get("If-None-Match") == self._headers["ETag"]:
            return Response(status_code=304, headers=self._headers)
        return Response(self._content, headers=self._headers)

    def not_found(self) -> Response:
        """Return the content as the answer to an address that does not exist."""
        return Response(self._content, 404, {"Content-Type": self._headers["Content-Type"]})


def read_files() -> dict[str, File]:
    """Read all static files by path: those of the studio, and those of the report for the leaderboard."""
    result = {}
    for prefix, package in (("", "coclick.service.studio"), ("report/", "coclick.evaluation")):
        for source in (files(package) / "page").iterdir():
            if Path(source.name).suffix in _TYPES:
                result[prefix + source.name] = File(source.name, source.read_bytes())
    return result
