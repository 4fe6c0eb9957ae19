"""Reading a UBI log, one JSON record per line, compared with DuckDB's own JSON reader on the same file.

Ours is `LogReader.open`: records become typed and validated rows in a Parquet file, and the queries that
events are joined with are collected. Theirs writes what it reads to a Parquet file, unchecked and not
joined: with the columns that it finds by itself, as `read_json` does by default, or with the columns and
types that the format needs, given by hand. In one log each search lists the ten documents that were shown.
"""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

from benchmarks._row import make_row
from coclick.logs.detect_format import detect_format
from coclick.logs.duckdb_session import DuckDBSession, parse_memory
from coclick.logs.intake import Intake
from coclick.logs.reader import LogReader
from coclick.logs.rejects import create_reject_tables
from coclick.logs.schema import weighted_actions

SEARCHES = {"S": 100_000, "M": 400_000, "L": 2_000_000}
EVENTS = 5  # for each search
RUNS = 5
_COLUMNS = """{action_name: 'VARCHAR', query_id: 'VARCHAR', client_id: 'VARCHAR', session_id: 'VARCHAR',
    timestamp: 'TIMESTAMP', user_query: 'VARCHAR', query_response_hit_ids: 'VARCHAR[]',
    event_attributes: 'STRUCT(object STRUCT(object_id VARCHAR), position STRUCT(ordinal INTEGER))'}"""
PEERS = {"DuckDB read_json": "", "DuckDB read_json, columns given": f", columns = {_COLUMNS}"}


def rows(shape: str, threads: int) -> list[dict[str, Any]]:
    found = []
    with tempfile.TemporaryDirectory(prefix="coclick-bench-") as place:
        for lists in (True, False):
            log = Path(place) / "ubi.ndjson"
            n_records = write_log(log, SEARCHES[shape], lists)
            runs: dict[str, list[float]] = {}
            for _ in range(RUNS):
                seconds, n_read = _read(log, Path(place) / "building", threads)
                runs.setdefault("ours", []).append(seconds)
                for peer, options in PEERS.items():
                    seconds, theirs_read = _copy(log, Path(place) / "theirs.parquet", options, threads)
                    runs.setdefault(peer, []).append(seconds)
                    if not n_read == theirs_read == n_records:
                        raise AssertionError(f"{n_records} records; we read {n_read}, {peer} {theirs_read}")
            kind = "with" if lists else "without"
            megabytes = log.stat().st_size / 1e6
            found += [
                make_row(
                    name="json_log",
                    shape=shape,
                    params=f"UBI, {kind} lists of shown documents, {megabytes:.0f} MB, best of {RUNS}",
                    threads=threads,
                    peer=peer,
                    ours=min(runs["ours"]),
                    theirs=min(runs[peer]),
                    unit="s",
                    check=f"{n_records:,} records each",
                )
                for peer in PEERS
            ]
    return found


def write_log(path: Path, searches: int, lists: bool) -> int:
    """Write a log of searches, each followed by its events; return the number of records."""
    draw = random.Random(1)
    with path.open("w", encoding="utf-8") as out:
        for i in range(searches):
            ids = f'"query_id": "q{i}", "client_id": "c{i % 20_000}", "session_id": "s{i % 30_000}"'
            shown = ", ".join(f'"p{draw.randrange(20_000)}"' for _ in range(10))
            hits = f', "query_response_hit_ids": [{shown}]' if lists else ""
            text = f"word{draw.randrange(3000)} thing{draw.randrange(50)}"
            out.write(
                f'{{"application": "shop", {ids}, "user_query": "{text}", "query_attributes": {{}}, '
                f'"timestamp": "2024-12-10T00:01:29.378Z"{hits}}}\n'
            )
            for _ in range(EVENTS):
                action = draw.choice(("click", "impression", "scroll"))
                out.write(
                    f'{{"application": "shop", "action_name": "{action}", {ids}, '
                    '"timestamp": "2024-12-10T00:02:29.378Z", "message_type": "INFO", "message": "x", '
                    f'"event_attributes": {{"object": {{"object_id": "p{draw.randrange(20_000)}", '
                    '"object_id_field": "sku", "description": "some text here"}, '
                    f'"position": {{"ordinal": {draw.randrange(10)}}}, "browser": "Mozilla/5.0 (X11)"}}}}\n'
                )
    return searches * (1 + EVENTS)


def _read(log: Path, work: Path, threads: int) -> tuple[float, int]:
    """Return the seconds to read the log with our reader, and the number of records."""
    started = time.perf_counter()
    with DuckDBSession(work, parse_memory("4GB"), threads) as db, Intake(db) as intake:
        files = intake.open_log([str(log)])
        format, found, fields = detect_format(files, "auto", None)
        reader = LogReader(db, format, fields, weighted_actions(None))
        create_reject_tables(db)
        reader.open(found)
        return time.perf_counter() - started, reader.n_rows


def _copy(log: Path, out: Path, options: str, threads: int) -> tuple[float, int]:
    """Return the seconds to read the log with DuckDB into a Parquet file, and the number of records."""
    with duckdb.connect(config={"threads": threads}) as db:
        started = time.perf_counter()
        db.execute(f"""
            COPY (FROM read_json('{log}', format = 'newline_delimited' {options}))
            TO '{out}' (FORMAT parquet)""")
        seconds = time.perf_counter() - started
        count = db.execute(f"SELECT count(*) FROM '{out}'").fetchone()
    assert count is not None
    return seconds, count[0]
