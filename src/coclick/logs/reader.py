"""Read the files of a log or view as one relation of typed fields, and collect the rejected rows.

Parquet files are queried in place, column by column, as often as needed. Text files are parsed once, into a
table or a temporary Parquet file. Only if rows were rejected, the files are read again in order, to find
their lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Event

import duckdb

from coclick.logs import aggregation_sql, join_sql, text_sql
from coclick.logs.detect_format import FileFields
from coclick.logs.duckdb_session import DuckDBSession, literal, paths_sql
from coclick.logs.files import LogFile
from coclick.logs.format import Format
from coclick.logs.product_views import ViewShape, shape_sql
from coclick.logs.record_sql import RecordFields, with_shown
from coclick.logs.schema import SEARCH, Action, action_names, with_dwell
from coclick.logs.time_options import check_outside
from coclick.logs.times import COUNT_ORDERS, TimeFormat, TimeSpan, decide_order
from coclick.logs.typed_fields import BLANK_QUERY, BLANK_SCRUBBED, is_search, typed, typed_columns
from coclick.logs.validation import classify_actions, most_common_actions

_TABLE_SHARE = 8  # texts up to this part of the memory limit are parsed into a table


@dataclass(frozen=True)
class _Group:
    """Files that are read by the same SQL.

    `typed` turns a relation of lines (or Parquet rows) into one of typed fields; `numbered` returns the
    relation of one file's lines with their numbers.
    """

    files: list[LogFile]
    typed: Callable[[str], str]
    numbered: Callable[[LogFile], str] = text_sql.numbered_lines


@dataclass
class LogReader:
    """Reads the rows of a log or view. `relation` has the columns `names`, and `error` for invalid rows.

    In event logs it also has `action_code`. Rows without a code are ignored: not counted and not rejected.
    If a record may hold several events, `part` numbers them; the record is counted at part 0.
    """

    db: DuckDBSession
    format: Format
    fields: set[str]
    actions: Sequence[Action]
    hides_rows: bool = False  # whether rejected rows are stored without their raw lines
    times: TimeFormat = field(default_factory=TimeFormat)
    span: TimeSpan = field(default_factory=TimeSpan)
    relation: str = ""
    n_rows: int = 0  # valid or not
    n_ignored: int = 0  # valid rows that are not counted: other actions, events outside the span
    n_outside: int = 0  # of these, outside the span
    has_searches: bool = False  # rows without a document that say what was searched
    other_actions: dict[str, int] = field(default_factory=dict)  # the most common ignored actions
    assumed: list[str] = field(default_factory=list)  # sentences about what the log does not say
    _action_code: str = "1"  # SQL
    _groups: list[_Group] = field(default_factory=list)
    _order_is_known: bool = False  # of day and month

    @property
    def has_events(self) -> bool:
        """Whether rows are events, each with an action."""
        return self.format.rows == "events"

    @property
    def names(self) -> list[str]:
        """The columns of the relation, without `error` and `action_code`."""
        parts = ["part", "listed"] if self.format.has_lists else []
        return [*typed_columns(self.format.rows, self.fields), *parts]

    @property
    def _record_names(self) -> list[str]:
        """The columns that are read from the files, before lists of shown documents become rows."""
        parts = ["part", "listed"] if self.format.repeats_events else []
        parts += ["shown_docs"] if self._keeps_shown else []
        undecided = self.times.undecided and "timestamp" in self.fields and not self._order_is_known
        return [
            *typed_columns(self.format.rows, self.fields),
            *parts,
            *(["date_text"] if undecided else []),
        ]

    @property
    def _keeps_shown(self) -> bool:
        return self.format.has_lists and not self.format.repeats_events

    @property
    def is_record(self) -> str:
        """The condition that a row of the relation stands for its record: true for one of its events."""
        return "part = 0" if self.format.has_lists else "true"

    def open(self, found: Sequence[FileFields]) -> None:
        """Parse text files into Parquet, and define the relation over all files."""
        self.assumed += dict.fromkeys(file.assumed for file, _ in found if file.assumed)
        groups: dict[object, tuple[list[LogFile], RecordFields]] = {}
        for file, fields in found:
            groups.setdefault(file.shape, ([], fields))[0].append(file)
        self.relation = " UNION ALL ".join(self._open_group(*group) for group in groups.values())
        if "date_text" in self._record_names:
            self._decide_order()
        if self.format.join:
            self.db.execute(join_sql.logged_queries(self.format, self.relation, self.fields, self._searches))
        if self._keeps_shown:
            self.relation = with_shown(self.relation, typed_columns(self.format.rows, self.fields))
        if self.format.join:
            self.relation = self._joined(self.relation)
        if self.format.shown and "position" in self.fields:
            self.relation = self._count_positions_from_one(self.relation)
        if self.has_events:
            self._assign_action_codes()
            self._leave_out_span()
            self.relation = f"SELECT *, {self._action_code}::TINYINT AS action_code FROM ({self.relation})"
        self.n_rows += self.db.fetch_value(f"SELECT count(*) FROM ({self.relation}) WHERE {self.is_record}")
        self.n_rows += self.db.fetch_value(f"SELECT count(*) FROM ({self._unreadable()})")

    @property
    def _searches(self) -> tuple[str, ...]:
        return action_names(self.format.actions)["search"]

    def _open_group(self, files: list[LogFile], fields: RecordFields) -> str:
        searches = self._searches
        if files[0].kind == "parquet" and not self._has_searches(files, fields):
            searches = ()

        def typed_rows(rows: str) -> str:
            source = fields.expand(rows)
            return typed(
                self.format.rows,
                fields.columns,
                source,
                self.times,
                joined=bool(self.format.join),
                searches=searches,
            )

        if files[0].kind == "parquet":
            return self._open_parquet(files, fields, typed_rows)

        def typed_lines(lines: str) -> str:
            cells = text_sql.cells(files[0], lines, fields.keys)
            nested = fields.keys and not self.format.fields  # fields of plain logs are single values
            return typed_rows(text_sql.reject_nested(cells, fields.keys) if nested else cells)

        return self._stage(_Group(files, typed_lines), text_sql.lines(files))

    def _open_parquet(
        self, files: list[LogFile], fields: RecordFields, typed_rows: Callable[[str], str]
    ) -> str:
        names = {index: files[0].columns[index] for index in fields.used}
        chosen = ", ".join(f'"{_quoted(name)}" AS c{index}' for index, name in names.items())
        raw = ", ".join(f'{literal(name)}, "{_quoted(name)}"' for name in names.values())

        def numbered(file: LogFile) -> str:
            return f"""SELECT {chosen}, NULL::VARCHAR AS parse_error, {literal(file.path)} AS file,
                file_row_number + 1 AS line, json_object({raw})::VARCHAR AS raw
                FROM read_parquet({paths_sql([file.path])}, file_row_number = true)"""

        self._groups.append(_Group(files, typed_rows, numbered))
        source = f"SELECT {chosen}, NULL::VARCHAR AS parse_error FROM read_parquet({_paths(files)})"
        return f"SELECT {', '.join(self._record_names)}, error FROM ({typed_rows(source)})"

    def _has_searches(self, files: list[LogFile], fields: RecordFields) -> bool:
        """Whether an action of Parquet files means a search. Most logs have none, and need no such checks."""
        if fields.items or fields.aliases or fields.columns.get("action") is None:
            return True
        chosen = ", ".join(f'"{_quoted(files[0].columns[index])}" AS c{index}' for index in fields.used)
        action = fields.columns["action"].text()
        rows = f"SELECT {action} AS name FROM (SELECT {chosen} FROM read_parquet({_paths(files)}))"
        names = f"SELECT name, count(*) FROM ({rows}) GROUP BY name"  # DISTINCT takes several times as long
        found = f"SELECT count(*) FROM ({names}) WHERE {is_search('name', self._searches)}"
        return self.db.fetch_value(found) > 0

    def _joined(self, rows: str) -> str:
        """Rows of a format with a join: events with the query that they belong to."""
        return join_sql.with_queries(self.format, rows, self.fields, self._searches)

    def _count_positions_from_one(self, rows: str) -> str:
        """Lists of shown documents count from 1; so must the positions of events."""
        lowest = self.db.fetch_value(f"SELECT min(position) FROM ({rows}) WHERE NOT listed AND error IS NULL")
        if lowest != 0:
            return rows
        return f"SELECT * REPLACE (position + CAST(NOT listed AS INTEGER) AS position) FROM ({rows})"

    def _decide_order(self) -> None:
        """Decide whether dates begin with the day or the month, from all dates of the log."""
        order = decide_order(*self.db.fetchall(COUNT_ORDERS.format(source=self.relation))[0])
        self._order_is_known = True
        if order is None:
            self.relation = f"SELECT * EXCLUDE (date_text) FROM ({self.relation})"
            return
        self.times = replace(self.times, order=order)
        self.relation = self.times.resolve(self.relation)

    def _leave_out_span(self) -> None:
        """Ignore events outside the span, and count them."""
        if self.span.is_open:
            return
        counts = self.db.fetchall(f"""SELECT {", ".join(self.span.counts)} FROM ({self.relation})
            WHERE error IS NULL AND {self._action_code} IS NOT NULL AND {self.is_record}""")
        self.n_outside = check_outside(*counts[0])
        self.n_ignored += self.n_outside
        inside = self._action_code
        self._action_code = f"CASE WHEN error IS NULL AND {self.span.outside} THEN NULL ELSE {inside} END"

    def _assign_action_codes(self) -> None:
        """Assign codes to impressions and the actions that count as clicks; count the other actions."""
        if "action" not in self.fields:
            self._action_code = with_dwell(self._action_code, self.actions)
            return
        known = action_names(self.format.actions)
        rows, records = self._count_actions()
        codes, others, assumed = classify_actions(rows, self.actions, known, self._count_views)
        self.assumed += assumed
        others = {name: records[name] for name in others}
        self.has_searches = SEARCH in codes.values()
        cases = " ".join(f"WHEN {literal(name)} THEN {code}" for name, code in codes.items())
        self._action_code = f"CASE action {cases} ELSE NULL END" if cases else "NULL"
        self._action_code = with_dwell(f"({self._action_code})", self.actions)
        self.other_actions = most_common_actions(others)
        self.n_ignored += sum(others.values())

    def _count_actions(self) -> tuple[dict[str, int], dict[str, int]]:
        """The rows and the records of each action, the most frequent first."""
        counts = self.db.fetchall(f"""
            SELECT action, count(*), count(nullif({self.is_record}, false)) FROM ({self.relation})
            WHERE action IS NOT NULL GROUP BY action ORDER BY 2 DESC, 1""")
        return {name: rows for name, rows, _ in counts}, {name: records for name, _, records in counts}

    def _count_views(self, names: Sequence[str]) -> ViewShape:
        """The shape of the actions with these names."""
        sql = shape_sql(f"({self.relation})", names, self.fields)
        return ViewShape(*self.db.fetchall(sql)[0])

    def _stage(self, group: _Group, lines: str) -> str:
        """Parse text files into a table, or a Parquet file if they are large: it takes less memory.

        Meanwhile scan them for long lines, which DuckDB may drop.
        """
        self._groups.append(group)
        chosen = f"SELECT {', '.join(self._record_names)}, error FROM ({group.typed(lines)})"
        if sum(file.text_bytes for file in group.files) < self.db.memory // _TABLE_SHARE:
            staged = self.db.temp_table()
            statement = f"CREATE TABLE {staged} AS {chosen}"
        else:
            path = literal(self.db.temp_path("parquet"))
            staged, statement = f"read_parquet({path})", f"COPY ({chosen}) TO {path} (FORMAT parquet)"
        stop = Event()

        def stop_reading(check: Future[None]) -> None:
            if not check.cancelled() and check.exception() is not None:
                self.db.interrupt()

        with ThreadPoolExecutor(1) as pool:
            checks = [pool.submit(text_sql.save_too_long, self.db, file, stop) for file in group.files]
            for check in checks:  # a file that expands without end would be read to its end
                check.add_done_callback(stop_reading)
            try:
                with suppress(duckdb.InterruptException):
                    self.db.execute(statement)
                for check in checks:
                    check.result()
            finally:
                stop.set()
        text_sql.save_unreadable(self.db)
        return f"SELECT * FROM {staged}"

    def _unreadable(self) -> str:
        paths = [literal(file.path) for group in self._groups for file in group.files]
        raw = "''" if self.hides_rows else "raw"
        return f"SELECT file, line, '', reason, {raw} FROM unreadable WHERE file IN ({', '.join(paths)})"

    def save_rejects(self) -> None:
        """Fill the table `reject` (file, line, field, reason, raw), reading the files again in order.

        Needs the table `spelling`, whose id is null for queries that are blank after normalisation. With
        `hides_rows`, `raw` is empty, and the ids of the query and document are added as `q` and `d`.
        """
        raw, joins = "raw", ""
        is_record = "part = 0" if self.format.repeats_events else "true"
        self.db.execute(f"INSERT INTO reject {self._unreadable()}")
        if self.hides_rows:
            self.db.execute(
                "ALTER TABLE reject ADD COLUMN q INTEGER; ALTER TABLE reject ADD COLUMN d INTEGER"
            )
            raw = "'', spelling.id, doc.id"
            joins = "LEFT JOIN spelling ON spelling.raw = r.query LEFT JOIN doc ON doc.name = r.doc"
        self.db.preserve_order(True)
        for rows in self._numbered_rows():
            rows = self._joined(rows) if self.format.join else rows
            self.db.execute(f"""
                INSERT INTO reject
                SELECT file, line, split_part(error, '|', 1), split_part(error, '|', 2), {raw}
                FROM (
                    SELECT * REPLACE ({self._final_error()} AS error), {self._action_code} AS action_code
                    FROM ({rows})) r {joins}
                WHERE {is_record} AND {aggregation_sql.is_rejected("action" in self.fields)}""")
        self.db.preserve_order(False)

    def _final_error(self) -> str:
        """The error of a row, also if its query is blank once normalised or scrubbed."""
        if "query" not in self.fields:
            return "error"
        blank = "query IN (SELECT raw FROM spelling WHERE id IS NULL AND scrubbed {} 0)"
        return f"""CASE WHEN error IS NOT NULL THEN error WHEN {blank.format("=")} THEN '{BLANK_QUERY}'
            WHEN {blank.format(">")} THEN '{BLANK_SCRUBBED}' END"""

    def _numbered_rows(self) -> Iterator[str]:
        """Relations of typed rows with file, line and raw text: each file, or all if joined by time."""
        names = ", ".join([*self._record_names, "error", "file", "line", "raw"])
        parts = [
            f"SELECT {names} FROM ({group.typed(group.numbered(file))})"
            for group in self._groups
            for file in group.files
        ]
        yield from [" UNION ALL ".join(parts)] if self.format.join == "session" else parts


def _paths(files: Sequence[LogFile]) -> str:
    return paths_sql([file.path for file in files])


def _quoted(name: str) -> str:
    return name.replace('"', '""')
