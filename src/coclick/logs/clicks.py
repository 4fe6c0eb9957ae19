"""Tables of an aggregated log: rows (query, doc, clicks[, impressions, users]) added up by pair."""

from __future__ import annotations

from coclick.logs.fields import MICRO
from coclick.logs.rows import Rows
from coclick.logs.workspace import Workspace


def aggregate(work: Workspace, rows: Rows) -> int:
    """Make the table `pair` (q, d, clicks, impressions, users) and return how many rows went into it."""
    counts = [name for name in ("impressions", "users") if name in rows.fields]
    sums = "".join(f", sum({name})::BIGINT AS {name}" for name in counts)
    work.run(f"""
        CREATE TABLE pair AS
        SELECT spelling.id AS q, doc.id AS d, sum(clicks)::DOUBLE / {MICRO} AS clicks {sums}, count(*) AS n
        FROM ({rows.relation}) r
            JOIN spelling ON spelling.raw = r.query JOIN doc ON doc.name = r.doc
        WHERE bad IS NULL AND spelling.id IS NOT NULL
        GROUP BY q, d ORDER BY q, d""")
    return work.value("SELECT coalesce(sum(n), 0)::BIGINT FROM pair")
