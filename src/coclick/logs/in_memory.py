"""Write tables and mappings in memory to temporary files, which are then read like any file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from coclick.errors import UserError
from coclick.graph.tables import is_table, write_parquet


def as_list(sources: Any) -> list[Any]:
    """Return the paths and tables of a log as a list; raise for anything else."""
    given = [sources] if isinstance(sources, str | Path) or is_table(sources) else sources
    if not isinstance(given, Iterable) or isinstance(given, bytes | Mapping):
        raise UserError(
            f"a log cannot be {sources!r:.50}",
            hint="give a path, a pandas or polars frame or an Arrow table, or a list of them",
        )
    return [_checked(source) for source in given]


def docs_as_list(docs: Any) -> list[Any]:
    """Return the paths, tables and mappings of documents as a list; raise for anything else."""
    if docs is None:
        return []
    if isinstance(docs, list | tuple):
        return [source if isinstance(source, Mapping) else _checked(source) for source in docs]
    return [docs if isinstance(docs, Mapping) else _checked(docs)]


def _checked(source: Any) -> Any:
    if not isinstance(source, str | Path) and not is_table(source):
        raise UserError(
            f"a log or a file of documents cannot be {type(source).__name__}",
            hint="give a path, a pandas or polars frame or an Arrow table; documents also as {id: title}",
        )
    return source


def write_table(source: Any, path: Path) -> Path:
    """Write a table as Parquet, or a mapping of documents as lines of JSON, and return the path."""
    if isinstance(source, Mapping):
        return _write_mapping(source, path.with_suffix(".ndjson"))
    write_parquet(source, path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


def _write_mapping(docs: Mapping[str, str | Mapping[str, str]], path: Path) -> Path:
    """Write documents, given by title or by fields."""
    with path.open("w", encoding="utf-8", errors="replace") as stream:
        for doc, text in docs.items():
            fields = {"title": text} if isinstance(text, str) else text
            if not isinstance(fields, Mapping):
                raise UserError(f"the document {doc!r} must be given by its title or by a mapping of fields")
            stream.write(json.dumps({**fields, "doc": doc}, ensure_ascii=False) + "\n")
    return path
