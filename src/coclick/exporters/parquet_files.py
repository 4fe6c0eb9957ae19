"""Write texts with their vectors to a Parquet file.

pyarrow, if it is installed, takes packed texts and sparse rows as they are. DuckDB is always there, but reads
no ragged arrays from Python: it gets joined texts and splits them, which takes ten times as long. The files
have the same content.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings
from coclick.exporters.formatting import format_floats, join_entries

_SEPARATOR = "\x1f"  # the tokenizer splits at it, so no word contains it
_ZSTD_LEVEL = 1  # pyarrow's default: 3 takes longer, and saves little


def write_table(
    path: Path, texts: Mapping[str, Strings], vectors: Csr | None = None, words: Strings | None = None
) -> None:
    """Write columns of texts; with vectors also lists.

    With `words`, which name the columns of the vectors, these are `words` and `weights` of the entries.
    Without, they are `vector`: all values of a row.
    """
    if importlib.util.find_spec("pyarrow"):
        _write_with_pyarrow(path, texts, vectors, words)
    else:
        _write_with_duckdb(path, texts, vectors, words)


def _write_with_pyarrow(
    path: Path, texts: Mapping[str, Strings], vectors: Csr | None, words: Strings | None
) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    columns = {name: _text_array(pa, column) for name, column in texts.items()}
    coded = []  # columns whose values are written once, and then numbered
    if vectors is not None:
        weights = pa.array(np.ascontiguousarray(vectors.data, np.float32))
        if words is not None:
            used = np.zeros(len(words), bool)
            used[vectors.indices] = True
            numbers = (np.cumsum(used) - 1).astype(np.int32)[vectors.indices]
            named = _text_array(pa, words.take(np.flatnonzero(used)))
            columns["words"] = _list_array(pa, vectors, pa.DictionaryArray.from_arrays(numbers, named))
            coded.append("words.list.element")
        columns["vector" if words is None else "weights"] = _list_array(pa, vectors, weights)
    pyarrow.parquet.write_table(
        pa.table(columns),
        path,
        compression="zstd",
        compression_level=_ZSTD_LEVEL,
        use_dictionary=coded,
        write_statistics=list(texts),
        store_schema=False,  # our arrays may be larger than 2 GB; readers need not use such types
    )


def _text_array(pa: Any, texts: Strings) -> Any:
    buffers = [None, pa.py_buffer(np.ascontiguousarray(texts.offsets)), pa.py_buffer(texts.data)]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers)


def _list_array(pa: Any, rows: Csr, entries: Any) -> Any:
    return pa.LargeListArray.from_arrays(pa.array(np.ascontiguousarray(rows.indptr, np.int64)), entries)


def _write_with_duckdb(
    path: Path, texts: Mapping[str, Strings], vectors: Csr | None, words: Strings | None
) -> None:
    import duckdb

    table = {name: column.to_list() for name, column in texts.items()}
    chosen = [f"{name}::VARCHAR AS {name}" for name in texts]  # an empty column has no type of its own
    if vectors is not None:
        name = "vector" if words is None else "weights"
        if words is not None:
            names = words.to_list()
            entries = [names[column] for column in vectors.indices.tolist()]
            table["words"] = join_entries(vectors, entries, _SEPARATOR)
            chosen.append("string_split(words, chr(31)) AS words")
        table[name] = join_entries(vectors, format_floats(vectors.data), _SEPARATOR)
        chosen.append(f"string_split({name}, chr(31))::FLOAT[] AS {name}")
    with duckdb.connect(config={"preserve_insertion_order": True}) as connection:
        connection.register("rows", {name: np.array(values, object) for name, values in table.items()})
        target = str(path).replace("'", "''")
        connection.execute(
            f"COPY (SELECT {', '.join(chosen)} FROM rows) TO '{target}' (FORMAT parquet, COMPRESSION zstd)"
        )
