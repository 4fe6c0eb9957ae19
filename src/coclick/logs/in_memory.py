"""Tables and mappings in memory as temporary files, which `build` and `read_docs` read like any file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from coclick.errors import CoclickError, UserError
from coclick.graph.tables import is_table, write_parquet


@contextmanager
def as_files(sources: Any, docs: Any) -> Iterator[tuple[list[str | Path], str | Path | None]]:
    """Write tables to temporary files and yield the paths of all sources and of the documents.

    In errors the temporary files are called "the table of clicks" and "the table of documents".
    """
    given = [sources] if isinstance(sources, str | Path) or is_table(sources) else sources
    if not isinstance(given, Iterable) or isinstance(given, bytes | Mapping):
        raise UserError(
            f"a log cannot be {sources!r:.50}",
            hint="give a path, a pandas or polars frame or an Arrow table, or a list of them",
        )
    given = list(given)
    if wrong := [source for source in given if not isinstance(source, str | Path) and not is_table(source)]:
        raise _kind_error(wrong[0])
    if not any(map(is_table, given)) and (docs is None or isinstance(docs, str | Path)):
        yield given, docs
        return
    with TemporaryDirectory(prefix="coclick-") as directory:
        labels: dict[str, str] = {}

        def new_file(label: str) -> Path:
            path = Path(directory).resolve() / f"table-{len(labels)}.parquet"
            labels[str(path)] = labels[str(path.with_suffix(".ndjson"))] = label
            return path

        try:
            paths = [_write(source, new_file("the table of clicks")) for source in given]
            yield paths, None if docs is None else _write(docs, new_file("the table of documents"))
        except CoclickError as error:
            for path, label in labels.items():
                for name in ("what", "where", "hint"):
                    setattr(error, name, (getattr(error, name) or "").replace(path, label) or None)
            raise


def _write(source: Any, path: Path) -> str | Path:
    """Write a table or mapping to `path` and return it; a path is returned as it is."""
    if isinstance(source, str | Path):
        return source
    if isinstance(source, Mapping):
        return _write_mapping(source, path)
    if not is_table(source):
        raise _kind_error(source)
    write_parquet(source, path)
    return path


def _kind_error(source: Any) -> UserError:
    return UserError(
        f"a log or a file of documents cannot be {type(source).__name__}",
        hint="give a path, a pandas or polars frame or an Arrow table; documents also as {id: title}",
    )


def _write_mapping(docs: Mapping[str, str | Mapping[str, str]], path: Path) -> Path:
    """Write documents, given by title or by fields, as lines of JSON."""
    lines = path.with_suffix(".ndjson")
    with lines.open("w", encoding="utf-8", errors="replace") as stream:
        for doc, text in docs.items():
            fields = {"title": text} if isinstance(text, str) else text
            if not isinstance(fields, Mapping):
                raise UserError(f"the document {doc!r} must be given by its title or by a mapping of fields")
            stream.write(json.dumps({**fields, "doc": doc}, ensure_ascii=False) + "\n")
    return lines
