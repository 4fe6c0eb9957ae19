"""`build`: check the options, then read log files and DOCS, aggregate them, and write a click graph."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Literal

from coclick.errors import UserError, check_path
from coclick.graph.click_graph import ClickGraph
from coclick.jit.threads import check_threads
from coclick.jit.threads import threads as all_threads
from coclick.logs import (
    validation,
)
from coclick.logs.bots import Policy, check_policy
from coclick.logs.build_steps import BuildSteps
from coclick.logs.database import DatabaseQuery, without_password
from coclick.logs.detect_format import GivenColumns, detect_format, named_encoding
from coclick.logs.duckdb_session import DuckDBSession, parse_memory
from coclick.logs.duplicates import Duplicates, check_duplicates
from coclick.logs.intake import Intake
from coclick.logs.privacy import Privacy
from coclick.logs.reader import LogReader
from coclick.logs.rejects import (
    publish_rejects,
)
from coclick.logs.schema import action_names, weighted_actions
from coclick.logs.time_options import TimeOptions
from coclick.storage.artefact import writing
from coclick.storage.directories import check_output
from coclick.text.languages import named_language

REJECTS = "rejects.parquet"


def build(
    sources: Any = None,
    docs: Any = None,
    out: str | Path | None = None,
    *,
    like: str | Path = "auto",
    columns: GivenColumns = None,
    header: Literal["auto", "yes", "no"] = "auto",
    min_clicks: float = 1,
    min_users: int = 1,
    actions: Mapping[str, float | str] | None = None,
    time_format: str | None = None,
    timezone: str | None = None,
    since: str | date | None = None,
    until: str | date | None = None,
    half_life: str | timedelta | None = None,
    scrub: str | None = None,
    hash_users: bool = False,
    key_file: str | Path | None = None,
    encoding: str | None = None,
    database: str | None = None,
    sql: str | None = None,
    docs_sql: str | None = None,
    bots: Policy = "flag",
    duplicates: Duplicates = "count",
    memory: str = "4GB",
    threads: int | None = None,
    max_rejected: float = validation.MAX_REJECTED,
    language: str | None = None,
    force: bool = False,
    progress: Callable[[str], None] | None = None,
) -> ClickGraph:
    """Build a click graph from a log and write it to the directory `out`.

    Parameters:

    - `sources`: files or patterns (TSV, CSV, Parquet or JSON, compressed or not), `-` for standard input,
      URLs, or tables in memory: pandas and polars frames, Arrow tables, anything with the Arrow PyCapsule
      interface; one or a list.
    - `docs`: documents with an id and text fields, as a file, a table, a mapping from id to title or to
      fields; a list of them; or None.
    - `out`: the directory of the graph; `force` replaces a graph that is there.
    - `like`: the format of the log: `clicks` (query, doc, clicks[, impressions, users]), `events` (query,
      doc[, timestamp, user, session, action, position …]; without `action` every row is a click), one of
      `coclick.logs.format_names()`, or a TOML file of your own. `auto` decides by the columns.
    - `columns`: the column of each field, such as `{"doc": "sku"}`; or a list of fields in the order of the
      columns, for files without a header.
    - `header`: whether the first line of a text file is a header; `auto` looks at its cells.
    - `actions`: the actions that count as clicks, with weights, such as `{"click": 1, "cart": 3}`. By default
      only clicks count. `"dwell>30s": 3` lets a click with a dwell time above 30 seconds count 3 instead.
      `"impression"` or `"ignore"` in place of a weight says what an action is. What a `view` is depends on
      the log: see docs/logs.md.
    - `min_clicks`, `min_users`: pairs with fewer clicks, or clicked by fewer users, do not become edges. With
      a threshold above 1, queries without any edge are left out. In a log of events `min_clicks` counts
      actions regardless of their weights. What fewer than `min_users` users saw, clicked or typed is not
      stored anywhere: see docs/privacy.md.
    - `scrub`: `"pii"` removes e-mail addresses, phone, card, account and id numbers, other long numbers and
      URLs with parameters from queries.
    - `hash_users`: replace user ids by keyed digests wherever they are shown. The key is in `key_file`, or is
      made once in the user's configuration directory.
    - `time_format`: how times are written: a format of `strptime` such as `"%d/%m/%Y %H:%M"`, `"day-first"`
      or `"month-first"` for dates such as 03/04/2011, or the unit of numbers (`"s"`, `"ms"`, `"us"`, `"ns"`,
      `"excel"`).
      By default all usual forms are read, and the dates of the log decide between day and month.
    - `timezone`: the IANA zone of times that name none, such as `"Europe/Berlin"`; by default UTC.
    - `since`, `until`: count only events from `since` on and before `until`: days or times, in `timezone`.
    - `half_life`: clicks count half after this time, such as `"60d"`, `"12h"` or `"4w"`, by their age in days
      before the last day of the log. `min_clicks` counts them in full.
    - `encoding`: of text files, such as `latin-1` or `utf-16`; by default it is guessed for each file.
    - `max_rejected`: the build stops, and writes nothing, if a larger share of the rows is rejected.
    - `database`, `sql`, `docs_sql`: read the log, the documents or both with SQL queries, not from files. The
      database is an address `postgresql://…` or an SQLite or DuckDB file; needs `coclick[database]`.
    - `language` of the texts, by code or name, such as `de` or `german`: models take it as their default.
      Without it, it is guessed.
    - `duplicates`: events with the same id count once. Without ids, `"drop"` counts rows once that are equal
      in all fields; by default they are only reported.
    - `bots`: what to do with users that are probably programs: "flag" lists them in the statistics, "drop"
      removes their events too, "keep" does not look for them. It needs users and times.
    - `memory`: memory limit for the whole process; `threads`: how many, by default all cores.
    - `progress`: a function that is called with a line about each step.

    Returns the graph, opened. Invalid rows are counted in its statistics and stored in `rejects.parquet` in
    `out`.
    """
    out = check_path(out, "out")
    if threads is not None:
        check_threads(threads)
    if progress is not None and not callable(progress):
        raise UserError(
            f"progress must be a function that takes a line, not {progress!r}", hint="progress=print"
        )
    if isinstance(columns, str):
        raise UserError(
            f"columns must be a list of names, not the text {columns!r}",
            hint=f"columns={[name.strip() for name in columns.split(',')]}",
        )
    started = time.monotonic()
    validation.check_arguments(min_clicks, min_users, max_rejected)
    check_duplicates(duplicates)
    weighted_actions(actions)  # wrong weights are an error before any file is opened
    times = TimeOptions(time_format, timezone, since, until, half_life)
    options = Privacy.from_options(scrub, min_users, hash_users, key_file)
    check_output(out, force, "graph")
    size, target = parse_memory(memory), out.resolve()
    encoding = encoding or named_encoding(like)
    named = None if language is None else named_language(language)
    spill = target.parent / f".{target.name}.building"
    with (
        writing(target, force=force) as writer,
        DuckDBSession(spill, size, threads or all_threads()) as db,
        Intake(db, encoding, progress) as intake,
    ):
        files, doc_files = intake.open_all(sources, docs, DatabaseQuery(database, sql, docs_sql))
        format, found, fields = detect_format(files, like, columns, header)
        format = format.with_roles(actions)
        weighted = weighted_actions(actions, action_names(format.actions))
        validation.check_fields(fields, min_users, actions)
        times.check_fields(fields)
        times = times.with_defaults(format.time_format, format.timezone)
        check_policy(bots, format.rows == "events", fields)
        options.check_fields(fields)
        log = LogReader(db, format, fields, weighted, options.hides_rows, times.format, times.span)
        run = BuildSteps(db, writer, log, intake, files, doc_files, options, progress)
        if database is not None:
            run.stats["database"] = without_password(str(database))
        run.describe(found)
        run.read(found)
        run.aggregate(bots, duplicates)
        validation.check_rejected(run.stats, max_rejected, run.locate_first_reject)
        run.choose_edges(min_clicks, times.half_life_days)
        run.write(named)
        db.close()  # while the files are synced
        run.stats["seconds"] = round(time.monotonic() - started, 2)
        writer.commit("graph", stats=run.stats)
        publish_rejects(writer, "rejects", REJECTS)
    return ClickGraph.open(out)
