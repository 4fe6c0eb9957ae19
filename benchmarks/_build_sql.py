"""Hand-tuned DuckDB SQL that builds the tables of a graph, and a comparison of its result with a graph.

It writes every table of the graph for such a log as Parquet, complete and in the graph's order. Strings
become integers once, sessions come from the half hours in which a user was active, and distinct users from
grouping twice. It validates no row, uses `lower` as normalisation (equivalent for this log), and neither
syncs nor digests its files.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from coclick.graph.click_graph import ClickGraph
from coclick.storage.array_files import read_strings

Columns = dict[str, Any]  # arrays by name

_TABLES = """
    CREATE TABLE typed AS SELECT query AS raw, lower(query) AS text, count(*) AS n
        FROM '{log}' GROUP BY query;
    CREATE TABLE query AS SELECT (row_number() OVER (ORDER BY text) - 1)::INTEGER AS q, text
        FROM (SELECT DISTINCT text FROM typed);
    CREATE TABLE spelling AS SELECT raw, text, n, q FROM typed JOIN query USING (text);
    CREATE TABLE doc AS SELECT (row_number() OVER (ORDER BY doc) - 1)::INTEGER AS d, doc
        FROM (SELECT DISTINCT doc FROM '{log}');
    CREATE TABLE user_id AS SELECT (row_number() OVER () - 1)::INTEGER AS u, "user" AS name
        FROM (SELECT DISTINCT "user" FROM '{log}');
    CREATE TABLE event AS SELECT u, epoch_us(timestamp) AS t, q, d, action = 'click' AS c, position AS p
        FROM '{log}' log JOIN spelling ON query = raw JOIN doc USING (doc) JOIN user_id ON name = "user";
    CREATE TABLE session_slot AS
        SELECT u, b, (sum(starts) OVER (ORDER BY u, b ROWS UNBOUNDED PRECEDING))::INTEGER AS s
        FROM (SELECT u, b, CASE WHEN first - lag(last) OVER (PARTITION BY u ORDER BY b) <= 1800000000
                  THEN 0 ELSE 1 END AS starts
              FROM (SELECT u, (t // 1800000000)::INTEGER AS b, min(t) AS first, max(t) AS last
                    FROM event GROUP BY ALL));
    CREATE TABLE page AS
        SELECT s, q, d, (min(b) // 48)::INTEGER AS day, min(p) AS p, count_if(c)::INTEGER AS c
        FROM event JOIN session_slot ON event.u = session_slot.u
            AND (event.t // 1800000000)::INTEGER = session_slot.b
        GROUP BY s, q, d;
    CREATE TABLE click AS SELECT page.*, u, alone::INTEGER AS navigational
        FROM page JOIN (SELECT s, min(u) AS u FROM session_slot GROUP BY s) USING (s)
            JOIN (SELECT s, sum(c) = 1 AS alone FROM page WHERE c > 0 GROUP BY s) USING (s)
        WHERE c > 0;
    CREATE TABLE place AS SELECT q, d, day, p, count(*)::INTEGER AS n FROM page GROUP BY ALL;
    CREATE TABLE clicked AS
        SELECT q, d, day, sum(c)::INTEGER AS clicks, sum(navigational)::INTEGER AS navigational,
            count(*)::INTEGER AS users
        FROM (SELECT q, d, day, u, sum(c) AS c, sum(navigational) AS navigational FROM click GROUP BY ALL)
        GROUP BY ALL;
    CREATE TABLE edge AS
        SELECT q, d, sum(c)::INTEGER AS clicks, sum(navigational)::INTEGER AS navigational,
            count(*)::INTEGER AS users
        FROM (SELECT q, d, u, sum(c) AS c, sum(navigational) AS navigational FROM click GROUP BY ALL)
        GROUP BY ALL;
    COPY (FROM place ORDER BY q, d, day, p) TO '{out}/position.parquet';
    COPY (SELECT q, d, day, clicks, shown, users, navigational
        FROM (SELECT q, d, day, sum(n)::INTEGER AS shown FROM place GROUP BY ALL)
            LEFT JOIN clicked USING (q, d, day)
        ORDER BY q, d, day) TO '{out}/daily.parquet';
    COPY (SELECT q, d, shown, users, navigational
        FROM (SELECT q, d, sum(n)::INTEGER AS shown FROM place GROUP BY ALL) LEFT JOIN edge USING (q, d)
        ORDER BY q, d) TO '{out}/pairs.parquet';
    COPY (SELECT q, d, clicks FROM edge ORDER BY q, d) TO '{out}/clicks.parquet';
    COPY (SELECT d, q, clicks FROM edge ORDER BY d, q) TO '{out}/clicks_by_doc.parquet';
    COPY (SELECT click.q, click.d AS clicked, passed.d AS skipped, count(*)::INTEGER AS n
        FROM (FROM page WHERE c = 0) passed JOIN click
            ON passed.s = click.s AND passed.q = click.q AND passed.p < click.p
        GROUP BY ALL ORDER BY ALL) TO '{out}/skips.parquet';
    COPY (SELECT text FROM query ORDER BY q) TO '{out}/queries.parquet';
    COPY (SELECT doc FROM doc ORDER BY d) TO '{out}/docs.parquet';
    COPY (SELECT q, raw, n FROM spelling WHERE raw <> text ORDER BY q, raw) TO '{out}/variants.parquet'"""


def make_tables(log: Path, out: Path, threads: int, memory: str) -> None:
    """Run the SQL on a log; `out` is an existing directory."""
    connection = duckdb.connect(
        config={
            "threads": threads,
            "memory_limit": memory,
            "temp_directory": f"{out}/spill",
            "preserve_insertion_order": False,
        }
    )
    connection.execute(_TABLES.format(log=log, out=out))


def compare(graph: ClickGraph, tables: Path) -> dict[str, int]:
    """Raise unless every table equals the graph value by value; return the number of rows by table."""
    connection, rows = duckdb.connect(), {}
    for table, columns in _tables_of(graph):
        for name, ours in columns.items():
            select = f"SELECT {name} AS theirs FROM '{tables}/{table}.parquet'"
            theirs = np.ma.filled(connection.execute(select).fetchnumpy()["theirs"], 0)
            if not np.array_equal(ours, theirs):
                raise AssertionError(f"the graph and the SQL differ in {table}, column {name}")
            rows[table] = len(theirs)
    return rows


def _tables_of(graph: ClickGraph) -> Iterator[tuple[str, Columns]]:
    """The graph as tables like those of the SQL: names and columns."""
    pairs, daily, skips, stored = graph.pairs, graph.daily, graph.skips, graph.artefact
    assert pairs is not None and daily is not None and skips is not None and stored is not None
    yield "queries", {"text": np.array(list(graph.queries), object)}
    yield "docs", {"doc": np.array(list(graph.docs), object)}
    spellings = np.array(list(read_strings(stored, "variants.text")), object)
    counts: Columns = {"q": stored.array("variants.query"), "n": stored.array("variants.count")}
    yield "variants", counts | {"raw": spellings}
    for name, row, column, matrix in (
        ("clicks", "q", "d", graph.clicks),
        ("clicks_by_doc", "d", "q", graph.clicks_by_doc),
    ):
        yield name, {row: _rows(matrix.indptr), column: matrix.indices, "clicks": matrix.data}
    pair: Columns = {"q": _rows(pairs.indptr), "d": pairs.docs}
    counts = {"shown": pairs.impressions, "users": pairs.users, "navigational": pairs.navigational}
    yield "pairs", pair | counts
    of_day = _rows(daily.indptr)
    day = {name: values[of_day] for name, values in pair.items()} | {"day": daily.day}
    counts = {"clicks": daily.clicks, "shown": daily.impressions}
    yield "daily", day | counts | {"users": daily.users, "navigational": daily.navigational}
    assert daily.position_indptr is not None
    of_position = _rows(daily.position_indptr)
    position = {name: values[of_position] for name, values in day.items()}
    yield "position", position | {"p": daily.position, "n": daily.shown}
    skipped = {"clicked": skips.clicked, "skipped": skips.skipped, "n": skips.count}
    yield "skips", {"q": _rows(skips.indptr)} | skipped


def _rows(indptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """The row of each entry."""
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
