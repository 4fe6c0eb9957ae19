"""Tables of an aggregated log: rows (query, doc, clicks[, impressions, users]) added up by pair."""

from __future__ import annotations

from coclick.logs.aggregation_sql import pair_sums
from coclick.logs.duckdb_session import Workspace
from coclick.logs.reader import Rows


def aggregate(work: Workspace, rows: Rows) -> int:
    """Make the table `pair` (q, d, clicks, impressions, users) and return how many rows went into it."""
    work.run(f"""
        CREATE TABLE pair AS
        SELECT spelling.id AS q, doc.id AS d, {pair_sums(rows.fields)}, count(*) AS n
        FROM ({rows.relation}) r
            JOIN spelling ON spelling.raw = r.query JOIN doc ON doc.name = r.doc
        WHERE bad IS NULL AND spelling.id IS NOT NULL
        GROUP BY q, d ORDER BY q, d""")
    return work.value("SELECT coalesce(sum(n), 0)::BIGINT FROM pair")
