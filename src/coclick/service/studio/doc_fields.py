"""The fields of documents, which a graph has and a saved model does not, and pictures that fields name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from coclick.graph.click_graph import ClickGraph

MAX_FIELDS = 12
MAX_LENGTH = 300  # characters of a field
_URL = re.compile(r"https?://[^\s\"'<>]+", re.IGNORECASE)
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|webp|avif|svg)(?:[?#].*)?$", re.IGNORECASE)
_PICTURE_FIELD = re.compile(r"image|img|picture|photo|thumb", re.IGNORECASE)


class DocFields:
    """The fields of a graph's documents; nothing without a graph."""

    def __init__(self, graph: str | None, images: bool) -> None:
        self._graph = ClickGraph.open(Path(graph)) if graph else None
        self._images = images

    @property
    def graph(self) -> ClickGraph | None:
        """The graph, if there is one."""
        return self._graph

    def of(self, doc: str) -> dict[str, Any]:
        """Return `fields`, pairs of name and text without the title, and `image`, the URL of a picture."""
        row = self._graph.docs.id(doc) if self._graph else -1
        if self._graph is None or row < 0:
            return {"fields": [], "image": None}
        texts = {name: column[row] for name, column in self._graph.texts.items() if name != "title"}
        given = {name: text for name, text in texts.items() if text}
        image = next((name for name, text in given.items() if _is_picture(name, text)), None)
        url = given.pop(image) if image and self._images else None
        shown = [[name, _short(text)] for name, text in given.items()]
        return {"fields": shown[:MAX_FIELDS], "image": url}


def _is_picture(name: str, text: str) -> bool:
    if not _URL.fullmatch(text):
        return False
    return bool(_PICTURE.search(text) or _PICTURE_FIELD.search(name))


def _short(text: str) -> str:
    return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 1] + "…"
