"""Write the learned words of documents to a file: a field for a search engine.

One row for each document and word, heaviest first, with columns doc, word and weight, as TSV, NDJSON or
Parquet. Join the words of a document and index them as a field beside its title.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from coclick.exporters.result_files import check_result_file, write_rows
from coclick.models.base import Model
from coclick.models.document_expansion import DOCS_PER_BLOCK
from coclick.progress import Progress, quiet

_COLUMNS = {"doc": "VARCHAR", "word": "VARCHAR", "weight": "FLOAT"}

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
    check_result_file(path, "learned words", force=force)
    ids = model.trained_on.docs.to_list() if docs is None else list(docs)
    stats = {"documents": len(ids), "with_words": 0, "rows": 0}
    write_rows(path, _COLUMNS, _rows(model, ids, k, new, stats, progress))
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
