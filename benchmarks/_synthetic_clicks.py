"""Write a synthetic click log and document table of any size, block by block from arrays.

It creates no Python object per query or document, so the log can be as large as training supports.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks._shapes import WordRows, shaped_graph, text_rows
from benchmarks._spark_propagation import row_numbers
from coclick.arrays.csr import Csr

_EDGES_PER_BATCH = 2_000_000
_DOCS_PER_BATCH = 500_000


def write_click_log(queries: int, docs: int, edges: int, place: Path) -> None:
    """Write `clicks.parquet` (query, doc, clicks) and `docs.parquet` (doc, title), with pseudo-words."""
    drawn = shaped_graph(queries, docs, edges)
    _write_docs(_Texts(drawn.title_words), place / "docs.parquet")
    _write_clicks(_Texts(drawn.query_words, numbered=True), drawn.clicks, place / "clicks.parquet")


class _Texts:
    """Rows of words as text. With `numbered`, repeated texts get their row number as an extra word."""

    def __init__(self, rows: WordRows, *, numbered: bool = False) -> None:
        self._letters, self._offsets = text_rows(rows)
        self._repeated = _is_repeated(rows) if numbered else np.zeros(len(self), bool)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def take(self, first: int, last: int) -> pa.Array:
        """Return the texts of a range of rows."""
        offsets = self._offsets[first : last + 1]
        letters = self._letters[offsets[0] : offsets[-1]]
        buffers = [None, pa.py_buffer((offsets - offsets[0]).astype(np.int32)), pa.py_buffer(letters)]
        texts = pa.Array.from_buffers(pa.string(), last - first, buffers)
        repeated = self._repeated[first:last]
        if not repeated.any():
            return texts
        numbers = pa.array(np.arange(first, last)).cast(pa.string())
        return pc.if_else(pa.array(repeated), pc.binary_join_element_wise(texts, numbers, " "), texts)


def _is_repeated(rows: WordRows) -> NDArray[np.bool_]:
    """Whether an earlier row has the same words in the same order; compares random hashes of the texts."""
    at = np.arange(len(rows.words)) - np.repeat(rows.indptr[:-1], np.diff(rows.indptr))
    words = int(rows.words.max(initial=0)) + 1
    random = np.random.default_rng(0).integers(0, 2**64, words, np.uint64)
    places = np.random.default_rng(1).integers(0, 2**64, int(at.max(initial=0)) + 1, np.uint64) | np.uint64(1)
    sums = np.add.reduceat(random[rows.words] * places[at], rows.indptr[:-1])
    again = np.ones(len(sums), bool)
    again[np.unique(sums, return_index=True)[1]] = False
    return again


def _write_docs(titles: _Texts, path: Path) -> None:
    schema = pa.schema({"doc": pa.string(), "title": pa.string()})
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, len(titles), _DOCS_PER_BATCH):
            last = min(first + _DOCS_PER_BATCH, len(titles))
            names = _names(np.arange(first, last))
            writer.write_batch(pa.record_batch([names, titles.take(first, last)], schema=schema))


def _write_clicks(queries: _Texts, clicks: Csr, path: Path) -> None:
    schema = pa.schema({"query": pa.string(), "doc": pa.string(), "clicks": pa.float32()})
    rows = row_numbers(clicks)
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, clicks.nnz, _EDGES_PER_BATCH):
            block = slice(first, first + _EDGES_PER_BATCH)
            row = rows[block]
            texts = queries.take(int(row[0]), int(row[-1]) + 1).take(pa.array(row - row[0]))
            columns = [texts, _names(clicks.indices[block]), pa.array(clicks.data[block])]
            writer.write_batch(pa.record_batch(columns, schema=schema))


def _names(docs: NDArray[np.integer]) -> pa.Array:
    """Names such as d000000042, which sort by number."""
    digits = pc.utf8_lpad(pa.array(docs).cast(pa.string()), 9, "0")
    return pc.binary_join_element_wise("d", digits, "")
