"""Write the learned words of documents to a file: a field for a search engine.

One row for each document and word, heaviest first, with columns doc, word and weight, as TSV, NDJSON or
Parquet. Join the words of a document and index them as a field beside its title.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from coclick.errors import UserError
from coclick.models.base import Model
from coclick.models.document_expansion import DOCS_PER_BLOCK
from coclick.progress import Progress, quiet
from coclick.storage.directories import check_file, write_file

FORMATS = (".tsv", ".ndjson", ".jsonl", ".parquet")

Row = tuple[str, str, float]  # document, word, weight


def write_learned_words(
    model: Model,
    path: str | Path,
    docs: Sequence[str] | None = None,
    k: int = 10,
    *,
    new: bool = True,
    force: bool = False,
    progress: Progress = quiet,
) -> dict[str, Any]:
    """Write the k heaviest learned words of documents to a file.

    Parameters: `model`; `path`, whose suffix chooses the format; `docs`, ids, None for all documents; `k` and
    `new` as in `Model.expand_docs`; `force` replaces an existing file. Returns the number of documents, of
    those with words, and of rows.
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise UserError(
            f"cannot write learned words as {path.suffix or path.name!r}", hint=f"use {', '.join(FORMATS)}"
        )
    check_file(path, force=force)
    ids = model.trained_on.docs.to_list() if docs is None else list(docs)
    stats = {"documents": len(ids), "with_words": 0, "rows": 0}
    rows = _rows(model, ids, k, new, stats, progress)
    if path.suffix == ".parquet":
        _write_parquet(path, rows)
    elif path.suffix == ".tsv":
        write_file(path, _tsv_lines(rows))
    else:
        write_file(path, _json_lines(rows))
    return stats


def _rows(
    model: Model, ids: list[str], k: int, new: bool, stats: dict[str, int], progress: Progress
) -> Iterator[Row]:
    """Yield all rows, and count them in `stats`."""
    with progress("learned words", len(ids)) as done:
        for first in range(0, len(ids), DOCS_PER_BLOCK):
            block = ids[first : first + DOCS_PER_BLOCK]
            for doc, words in zip(block, model.expand_docs(block, k, new=new), strict=True):
                stats["with_words"] += bool(words)
                stats["rows"] += len(words)
                for word, weight in words:
                    yield doc, word, weight
            done(len(block))


def _tsv_lines(rows: Iterator[Row]) -> Iterator[str]:
    yield "doc\tword\tweight\n"
    for doc, word, weight in rows:
        if any(character in doc for character in "\t\n\r"):
            raise UserError(f"the id {doc!r} contains a tab or a line break", hint="write NDJSON or Parquet")
        yield f"{doc}\t{word}\t{weight:.6g}\n"


def _json_lines(rows: Iterator[Row]) -> Iterator[str]:
    for doc, word, weight in rows:
        yield (
            json.dumps({"doc": doc, "word": word, "weight": float(f"{weight:.6g}")}, ensure_ascii=False)
            + "\n"
        )


def _write_parquet(path: Path, rows: Iterator[Row]) -> None:
    """Write NDJSON first, which DuckDB converts in bounded memory."""
    import duckdb

    with tempfile.TemporaryDirectory(dir=path.absolute().parent, prefix=".words-") as folder:
        lines, table = Path(folder) / "words.ndjson", Path(folder) / "words.parquet"
        write_file(lines, _json_lines(rows))
        options = "format = 'newline_delimited', columns = {doc: 'VARCHAR', word: 'VARCHAR', weight: 'FLOAT'}"
        source, target = (str(name).replace("'", "''") for name in (lines, table))
        with duckdb.connect(config={"preserve_insertion_order": True}) as connection:
            connection.execute(
                f"COPY (SELECT * FROM read_json('{source}', {options})) "
                f"TO '{target}' (FORMAT parquet, COMPRESSION zstd)"
            )
        table.replace(path)
