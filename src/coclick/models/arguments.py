"""Check the arguments of the public methods of models: texts, ids and documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from coclick.errors import UserError
from coclick.graph.tables import is_table


def documents_from(given: Any) -> Mapping[str, str | Mapping[str, str]]:
    """Documents as a mapping, from a mapping, a table or a file."""
    if isinstance(given, Mapping):
        return given
    if not isinstance(given, str | Path) and not is_table(given):
        raise UserError(
            f"docs must be a mapping from id to text, a table or a file, not {given!r:.50}",
            hint='for example {"n1": "New York hotels"}',
        )
    from coclick.logs.documents import read_docs

    return read_docs(given).docs


def texts_of(given: str | Iterable[str], what: str) -> list[str]:
    """One text or several as a list; raise for anything else."""
    if isinstance(given, str):
        return [given]
    if not isinstance(given, list | tuple):
        _check_no_table(given, what)
    try:
        texts = list(given)
    except TypeError:
        texts = [given]  # type: ignore[list-item]
    for text in texts:
        if not isinstance(text, str):
            raise UserError(f"{what} must be a text, not {text!r}")
    return texts


def _check_no_table(given: Any, what: str) -> None:
    """Raise for values that can be iterated, but not over their texts: column names, keys, bytes."""
    if isinstance(given, bytes | bytearray | Mapping) or any(
        hasattr(type(given), name) for name in ("columns", "column_names")
    ):
        names, column = ("queries", "query") if what == "a query" else ("document ids", "doc")
        is_bytes = isinstance(given, bytes | bytearray)
        raise UserError(
            f"{names} must be a string or a list of strings, not {type(given).__name__}",
            hint="decode it: text.decode()" if is_bytes else f'pass one column: frame["{column}"]',
        )
