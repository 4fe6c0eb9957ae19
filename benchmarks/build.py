"""Building a graph from Parquet events, beside plain SQL on DuckDB that makes the same tables.

The SQL is the best we could write by hand: strings become integers once, sessions are found from the half
hours in which a user was active, distinct users by grouping twice. It neither checks its rows nor sorts its
result, has no Unicode normal form but `lower`, and writes Parquet. Both get the same threads and memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

EVENTS = {"S": 1_000_000, "M": 10_000_000, "L": 50_000_000}
MEMORY = "4GB"

_MAKE = """
    SET threads = {threads}; SET memory_limit = '4GB'; SET preserve_insertion_order = false;
    CREATE MACRO pick(a, b) AS (hash(a::BIGINT * 1000003 + b) >> 1)::BIGINT;
    CREATE MACRO draw(a, b) AS pick(a, b) / 9223372036854775808.0;
    COPY (
        WITH search AS (
            SELECT i, (draw(i, 1) * {users})::BIGINT AS person,
                (draw(i, 2) ** 3 * {queries})::BIGINT AS wanted
            FROM range({searches}) t(i)
        ), page AS (
            SELECT i, 'user-' || person AS "user", wanted, concat_ws(' ', 'w' || pick(wanted, 5) % 20000,
                    CASE WHEN pick(wanted, 6) % 3 > 0 THEN 'term' || pick(wanted, 7) % 50000 END,
                    CASE WHEN pick(wanted, 8) % 2 > 0 THEN 'x' || pick(wanted, 9) % 100000 END,
                    'q' || wanted) AS words,
                1704067200 + pick(person * 7 + pick(i, 3) % 5, 11) % 2592000 + pick(i, 4) % 600 AS second
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

_PEER = """
    CREATE TABLE query AS SELECT row_number() OVER () - 1 AS q, text
        FROM (SELECT DISTINCT lower(query) AS text FROM '{log}');
    CREATE TABLE spelling AS SELECT raw, q::INTEGER AS q
        FROM (SELECT DISTINCT query AS raw FROM '{log}') JOIN query ON text = lower(raw);
    CREATE TABLE doc AS SELECT (row_number() OVER () - 1)::INTEGER AS d, doc
        FROM (SELECT DISTINCT doc FROM '{log}');
    CREATE TABLE person AS SELECT (row_number() OVER () - 1)::INTEGER AS u, "user" AS name
        FROM (SELECT DISTINCT "user" FROM '{log}');
    CREATE TABLE event AS SELECT u, epoch_us(timestamp) AS t, q, d, action = 'click' AS c, position AS p
        FROM '{log}' log JOIN spelling ON query = raw JOIN doc USING (doc) JOIN person ON name = "user";
    CREATE TABLE stretch AS
        SELECT u, b, (sum(starts) OVER (ORDER BY u, b ROWS UNBOUNDED PRECEDING))::INTEGER AS s
        FROM (SELECT u, b, CASE WHEN first - lag(last) OVER (PARTITION BY u ORDER BY b) <= 1800000000
                  THEN 0 ELSE 1 END AS starts
              FROM (SELECT u, (t // 1800000000)::INTEGER AS b, min(t) AS first, max(t) AS last
                    FROM event GROUP BY ALL));
    CREATE TABLE page AS
        SELECT s, q, d, (min(b) // 48)::INTEGER AS day, min(p) AS p, count_if(c)::INTEGER AS c
        FROM event JOIN stretch ON event.u = stretch.u AND (event.t // 1800000000)::INTEGER = stretch.b
        GROUP BY s, q, d;
    CREATE TABLE click AS SELECT page.*, u, alone::INTEGER AS navigational
        FROM page JOIN (SELECT s, min(u) AS u FROM stretch GROUP BY s) USING (s)
            JOIN (SELECT s, sum(c) = 1 AS alone FROM page WHERE c > 0 GROUP BY s) USING (s)
        WHERE c > 0;
    COPY (SELECT q, d, day, sum(c) AS c, sum(navigational) AS navigational, count(*) AS users
        FROM (SELECT q, d, day, u, sum(c) AS c, sum(navigational) AS navigational FROM click GROUP BY ALL)
        GROUP BY ALL) TO '{out}/clicked.parquet';
    COPY (SELECT q, d, sum(c) AS clicks, count(*) AS users
        FROM (SELECT q, d, u, sum(c) AS c FROM click GROUP BY ALL) GROUP BY ALL) TO '{out}/edge.parquet';
    COPY (SELECT q, d, day, p, count(*) AS n FROM page GROUP BY ALL) TO '{out}/shown.parquet';
    COPY (SELECT click.q, click.d AS clicked, passed.d AS skipped, count(*) AS n
        FROM (FROM page WHERE c = 0) passed JOIN click
            ON passed.s = click.s AND passed.q = click.q AND passed.p < click.p
        GROUP BY ALL) TO '{out}/skip.parquet';
    COPY query TO '{out}/query.parquet'; COPY doc TO '{out}/doc.parquet'"""


def rows(shape: str, threads: int) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="coclick-bench-") as place:
        log = Path(place) / "events.parquet"
        _run("make", log, shape, threads)
        ours = _run("ours", log, Path(place) / "graph", threads)
        theirs = _run("theirs", log, Path(place) / "tables", threads)
    print(ours, theirs, file=sys.stderr)
    same = all(ours[key] == theirs[key] for key in ("edges", "clicks", "shown", "skips"))
    if not same:
        raise AssertionError(f"the results differ: {ours} and {theirs}")
    return [
        {
            "name": "build",
            "shape": shape,
            "params": f"{EVENTS[shape]:,} events, {MEMORY}; peak memory {ours['peak']:.2f} GB,"
            f" theirs {theirs['peak']:.2f}",
            "threads": threads,
            "peer": "DuckDB SQL",
            "ours": ours["seconds"],
            "theirs": theirs["seconds"],
            "ratio": theirs["seconds"] / ours["seconds"],
            "unit": "s",
            "check": f"both found {ours['edges']:,} edges with {ours['clicks']:,} clicks,"
            f" {ours['shown']:,} pages shown, {ours['skips']:,} skips",
        }
    ]


def _run(what: str, *arguments: object) -> dict[str, Any]:
    """Each side in a process of its own, so that its peak memory is its own."""
    command = [sys.executable, "-m", "benchmarks.build", what, *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def _make(path: str, shape: str, threads: str) -> dict[str, Any]:
    import duckdb

    searches = EVENTS[shape] // 11  # ten impressions and about one click each
    sizes = {"searches": searches, "users": searches // 12, "queries": searches // 4, "docs": searches // 6}
    duckdb.execute(_MAKE.format(path=path, threads=threads, **sizes))
    return {}


def _ours(log: str, out: str, threads: str) -> dict[str, Any]:
    from coclick.logs import build

    graph = build([log], None, out, memory=MEMORY, threads=int(threads))
    assert graph.pairs is not None and graph.pairs.impressions is not None and graph.skips is not None
    return {
        "seconds": graph.figures["seconds"],
        "edges": graph.clicks.nnz,
        "clicks": int(graph.clicks.data.sum(dtype=float)),
        "shown": int(graph.pairs.impressions.sum(dtype=int)),
        "skips": int(graph.skips.count.sum(dtype=int)),
    }


def _theirs(log: str, out: str, threads: str) -> dict[str, Any]:
    import time

    import duckdb

    Path(out).mkdir()
    started = time.perf_counter()
    connection = duckdb.connect(
        config={
            "threads": int(threads),
            "memory_limit": "3GB",  # of DuckDB alone, so that the process stays inside 4 GB as well
            "temp_directory": f"{out}/spill",
            "preserve_insertion_order": False,
        }
    )
    connection.execute(_PEER.format(log=log, out=out))
    seconds = time.perf_counter() - started
    counts = connection.execute(f"""
        SELECT (SELECT count(*) FROM '{out}/edge.parquet'),
            (SELECT sum(clicks)::BIGINT FROM '{out}/edge.parquet'),
            (SELECT sum(n)::BIGINT FROM '{out}/shown.parquet'),
            (SELECT sum(n)::BIGINT FROM '{out}/skip.parquet')
        """).fetchall()[0]
    return {"seconds": seconds, **dict(zip(("edges", "clicks", "shown", "skips"), counts, strict=True))}


if __name__ == "__main__":
    import resource

    result = {"make": _make, "ours": _ours, "theirs": _theirs}[sys.argv[1]](*sys.argv[2:])
    usage = resource.getrusage(resource.RUSAGE_SELF)
    result |= {"peak": usage.ru_maxrss / 1e6, "cpu": usage.ru_utime + usage.ru_stime}
    print(json.dumps(result))
