"""Spelling variants: the raw queries of the log that normalisation merged into one query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.strings import Strings
from coclick.graph.click_graph import ClickGraph
from coclick.logs.duckdb_session import DuckDBSession
from coclick.logs.write_arrays import ColumnStreams, IdMap, write_strings
from coclick.storage import array_files
from coclick.storage.artefact import ArtefactWriter
from coclick.storage.gate import Gate
from coclick.storage.layout import Index, Shape
from coclick.storage.parquet_tables import is_parquet, read_variants


def write_variants(db: DuckDBSession, out: ArtefactWriter, queries: IdMap) -> int:
    """Store the spellings that differ from their query, sorted by query and bytes; return their number.

    A scrubbed spelling is left out, because it differs by personal data.
    """
    db.execute("""
        CREATE TABLE variant AS
        SELECT row_number() OVER (ORDER BY q, raw) - 1 AS id, q, raw, n
        FROM (SELECT id AS q, raw, n FROM spelling JOIN query USING (id) WHERE raw <> text AND scrubbed = 0)
        ORDER BY id""")
    total = db.fetch_value("SELECT count(*) FROM variant")
    kept = np.zeros(total, bool)
    with ColumnStreams(out, "variants", ["query", "count"]) as streams:
        for block in db.blocks("variant", "id, q, n"):
            query = queries.new[block["q"]]
            kept[block["id"]] = query >= 0
            streams.append(query=query[query >= 0], count=block["n"][query >= 0])
    write_strings(db, out, "variants.text", "variant", "raw", IdMap.from_mask(kept))
    return int(kept.sum())


def copy_variants(graph: ClickGraph, out: ArtefactWriter) -> None:
    """Store the spelling variants of a graph built by Spark as arrays."""
    assert graph.artefact is not None
    found = read_variants(graph.artefact)
    out.array("variants.query", np.array([query for query, _, _ in found], np.int32))
    out.array("variants.count", np.array([count for _, _, count in found], np.int32))
    array_files.write_strings(out, "variants.text", Strings.from_list(raw for _, raw, _ in found))


def variants(graph: ClickGraph) -> list[tuple[str, str, int]]:
    """Return (query, spelling, rows) for every spelling in the log that differs from its normalised query.

    `rows` also counts rows that were rejected for other reasons.
    """
    source = graph.artefact
    if source is None:
        return []
    if is_parquet(source):
        ids, texts, counts = (
            zip(*read_variants(source), strict=True) if source.table("variants") else ((),) * 3
        )
        found = _Variants(np.array(ids, np.int32), np.array(counts, np.int32), Strings.from_list(texts))
    elif any(name.startswith("variants.") for name in source.files):
        spellings = array_files.read_strings(source, "variants.text")
        found = _Variants(source.array("variants.query"), source.array("variants.count"), spellings)
    else:
        return []
    declared = Annotated[_Variants, Shape("queries")]
    found = Gate(source).checked(declared, found, "variants", graph._scope)
    columns = found.query.tolist(), found.text, found.count.tolist()
    return [(graph.queries[query], raw, count) for query, raw, count in zip(*columns, strict=True)]


@dataclass(frozen=True)
class _Variants:
    """The stored columns."""

    dimensions: ClassVar = ("queries",)
    query: Annotated[NDArray[np.int32], Shape("rows"), Index("queries")]
    count: Annotated[NDArray[np.int32], Shape("rows")]
    text: Annotated[Strings, Shape("rows")]
