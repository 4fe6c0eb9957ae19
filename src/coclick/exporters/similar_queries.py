"""Write the similar queries of many queries to a file, as TSV, NDJSON or Parquet.

One row for each query and similar query, best first, with columns query, rank, similar and score: those of
`Run.to_pandas()`; and the clicks of the similar query. Similarities are damped: `models.shared_evidence`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from coclick.exporters.result_files import check_result_file, write_rows
from coclick.models.base import Model
from coclick.progress import Progress, quiet

_COLUMNS = {"query": "VARCHAR", "rank": "INTEGER", "similar": "VARCHAR", "score": "FLOAT", "clicks": "FLOAT"}
_BLOCK = 4096  # queries whose results are in memory at a time

Row = tuple[str, int, str, float, float]


def write_similar_queries(
    model: Model,
    path: str | Path,
    queries: Sequence[str] | None = None,
    k: int = 10,
    *,
    force: bool = False,
    progress: Progress = quiet,
) -> dict[str, Any]:
    """Write the k most similar queries of each query to a file.

    Parameters: `model`; `path`, whose suffix chooses the format; `queries`, texts, None for all queries of
    the log; `k`; `force` replaces an existing file. Returns the number of queries, of those with similar
    queries, and of rows.
    """
    path = Path(path)
    check_result_file(path, "similar queries", force=force)
    texts = model.trained_on.queries.to_list() if queries is None else list(queries)
    stats = {"queries": len(texts), "with_similar": 0, "rows": 0}
    write_rows(path, _COLUMNS, _rows(model, texts, k, stats, progress))
    return stats


def _rows(model: Model, texts: list[str], k: int, stats: dict[str, int], progress: Progress) -> Iterator[Row]:
    """Yield all rows, and count them in `stats`."""
    with progress("similar queries", len(texts)) as done:
        for first in range(0, len(texts), _BLOCK):
            block = texts[first : first + _BLOCK]
            found = model.similar_queries(block, k, damped=True)
            for i, query in enumerate(block):
                similar = found.hits(i)
                clicks = model.trained_on.clicks.take(found.rows[i][: len(similar)]).row_sums().tolist()
                stats["with_similar"] += bool(similar)
                stats["rows"] += len(similar)
                for rank, (other, score) in enumerate(similar):
                    yield query, rank + 1, other, score, clicks[rank]
            done(len(block))
