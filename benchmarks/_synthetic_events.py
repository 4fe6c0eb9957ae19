"""Generate an event log of any size in SQL: searches with ten results and about one click each."""

from __future__ import annotations

from pathlib import Path

import duckdb

EVENTS = {"S": 1_000_000, "M": 10_000_000, "L": 50_000_000}

_LOG = """
    SET threads = {threads}; SET memory_limit = '4GB'; SET preserve_insertion_order = false;
    CREATE MACRO pick(a, b) AS (hash(a::BIGINT * 1000003 + b) >> 1)::BIGINT;
    CREATE MACRO draw(a, b) AS pick(a, b) / 9223372036854775808.0;
    COPY (
        WITH search AS (
            SELECT i, (draw(i, 1) * {users})::BIGINT AS user_number,
                (draw(i, 2) ** 3 * {queries})::BIGINT AS wanted
            FROM range({searches}) t(i)
        ), page AS (
            SELECT i, 'user-' || user_number AS "user", wanted, concat_ws(' ', 'w' || pick(wanted, 5) % 20000,
                    CASE WHEN pick(wanted, 6) % 3 > 0 THEN 'term' || pick(wanted, 7) % 50000 END,
                    CASE WHEN pick(wanted, 8) % 2 > 0 THEN 'x' || pick(wanted, 9) % 100000 END,
                    'q' || wanted) AS words,
                1704067200 + pick(user_number * 7 + pick(i, 3) % 5, 11) % 2592000 + pick(i, 4) % 600 AS second
            FROM search
        ), result AS (
            SELECT i, "user", second, position::INTEGER AS position,
                CASE WHEN pick(i, 13) % 12 = 0 THEN upper(words) ELSE words END AS query,
                draw(wanted * 31 + position + pick(i, position + 20) % 3, 14) ** 2 * {docs} AS doc
            FROM page, range(1, 11) r(position)
        )
        SELECT make_timestamp(second * 1000000) AS timestamp, "user", query, 'doc-' || doc::BIGINT AS doc,
            'impression' AS action, position
        FROM result UNION ALL
        SELECT make_timestamp((second + 5 + pick(i, position) % 100) * 1000000), "user", query,
            'doc-' || doc::BIGINT, 'click', position
        FROM result WHERE draw(i * 16 + position, 17) < 0.35 / position
    ) TO '{path}' (FORMAT parquet)"""


def write_events(path: Path, shape: str, threads: int) -> None:
    """Write the log of a shape as Parquet."""
    searches = EVENTS[shape] // 11  # ten impressions and about one click each
    sizes = {"searches": searches, "users": searches // 12, "queries": searches // 4, "docs": searches // 6}
    duckdb.connect().execute(_LOG.format(path=path, threads=threads, **sizes))
