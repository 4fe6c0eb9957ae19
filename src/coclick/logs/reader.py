"""Read the files of a log or view as one relation of typed fields, and collect the rejected rows.

Parquet files are queried in place, column by column, as often as needed. Text files are parsed once, into a
temporary Parquet file. Only if rows were rejected, the files are read again in order, to find their lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from threading import Event

from coclick.logs import aggregation_sql, text_sql, ubi
from coclick.logs.detect_format import FileFields
from coclick.logs.duckdb_session import DuckDBSession, literal, paths_sql
from coclick.logs.files import LogFile
from coclick.logs.schema import SEARCH, Action
from coclick.logs.typed_fields import BLANK_QUERY, Column, typed, typed_columns
from coclick.logs.validation import classify_actions, most_common_actions


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
    """

    db: DuckDBSession
    format: str
    fields: set[str]
    actions: Sequence[Action]
    relation: str = ""
    n_rows: int = 0  # valid or not
    n_ignored: int = 0  # valid rows that are not counted: other actions, query records of a UBI export
    has_searches: bool = False  # rows without a document that say what was searched
    other_actions: dict[str, int] = field(default_factory=dict)  # the most common ignored actions
    _action_code: str = "1"  # SQL
    _groups: list[_Group] = field(default_factory=list)

    @property
    def has_events(self) -> bool:
        """Whether rows are events, each with an action."""
        return self.format in ("events", "ubi")

    @property
    def names(self) -> list[str]:
        """The columns of the relation, without `error` and `action_code`."""
        return typed_columns(self.format, self.fields)

    def open(self, found: Sequence[FileFields]) -> None:
        """Parse text files into Parquet, and define the relation over all files."""
        if self.format == "ubi":
            self._open_ubi([file for file, _ in found])
        else:
            groups: dict[object, tuple[list[LogFile], dict[str, int]]] = {}
            for file, columns in found:
                groups.setdefault(file.shape, ([], columns))[0].append(file)
            parts = [self._open_group(group, columns) for group, columns in groups.values()]
            self.relation = " UNION ALL ".join(parts)
        if self.has_events:
            self._assign_action_codes()
            self.relation = f"SELECT *, {self._action_code}::TINYINT AS action_code FROM ({self.relation})"
        self.n_rows += self.db.fetch_value(f"SELECT count(*) FROM ({self.relation})")
        self.n_rows += self.db.fetch_value(f"SELECT count(*) FROM ({self._unreadable()})")

    def _open_group(self, files: list[LogFile], columns: dict[str, int]) -> str:
        wanted = {name: index for name, index in columns.items() if name in self.fields}
        if files[0].kind == "parquet":
            return self._open_parquet(files, wanted)
        if files[0].kind == "ndjson":
            keys = [text_sql.json_pointer(files[0].columns[index]) for index in wanted.values()]
            column = {name: Column(f"cell[{number}]") for number, name in enumerate(wanted, 1)}
        else:
            keys = []
            column = {name: Column(f"cell[{index + 1}]") for name, index in wanted.items()}

        def typed_lines(lines: str) -> str:
            cells = text_sql.cells(files[0], lines, keys)
            return typed(self.format, column, text_sql.reject_nested(cells, keys) if keys else cells)

        for name in {"doc", "user", "feature"} & column.keys():
            column[name] = Column(f"trim({column[name].sql})")
        group = _Group(files, typed_lines)
        return self._stage(group, text_sql.lines(files))

    def _open_parquet(self, files: list[LogFile], wanted: dict[str, int]) -> str:
        names, types = files[0].columns, files[0].types
        column = {name: Column(f"c{index}", types[index]) for name, index in wanted.items()}
        chosen = ", ".join(f'"{_quoted(names[i])}" AS c{i}' for i in wanted.values())
        raw = ", ".join(f'{literal(names[i])}, "{_quoted(names[i])}"' for i in wanted.values())

        def numbered(file: LogFile) -> str:
            return f"""SELECT {chosen}, NULL::VARCHAR AS parse_error, {literal(file.path)} AS file,
                file_row_number + 1 AS line, json_object({raw})::VARCHAR AS raw
                FROM read_parquet({paths_sql([file.path])}, file_row_number = true)"""

        self._groups.append(_Group(files, partial(typed, self.format, column), numbered))
        paths = paths_sql([file.path for file in files])
        source = f"SELECT {chosen}, NULL::VARCHAR AS parse_error FROM read_parquet({paths})"
        return f"SELECT {', '.join(self.names)}, error FROM ({typed(self.format, column, source)})"

    def _open_ubi(self, files: list[LogFile]) -> None:
        lines = ubi.all_lines(files)
        ubi.create_queries(self.db, files[0], lines)
        self.db.execute("DROP TABLE IF EXISTS reject_errors; DROP TABLE IF EXISTS reject_scans")
        records = "SELECT coalesce(sum(records), 0)::BIGINT FROM ubi_query"
        self.n_ignored = self.n_rows = self.db.fetch_value(records)
        group = _Group(files, lambda lines: typed(self.format, ubi.COLUMNS, ubi.events(files[0], lines)))
        self.relation = self._stage(group, lines)

    def _assign_action_codes(self) -> None:
        """Assign codes to impressions and the actions that count as clicks; count the other actions."""
        if "action" not in self.fields:
            return
        counts = dict(
            self.db.fetchall(f"""SELECT action, count(*) FROM ({self.relation}) WHERE action IS NOT NULL
                GROUP BY action ORDER BY 2 DESC, 1""")
        )
        codes, others = classify_actions(counts, self.actions)
        self.has_searches = SEARCH in codes.values()
        cases = " ".join(f"WHEN {literal(name)} THEN {code}" for name, code in codes.items())
        self._action_code = f"CASE action {cases} ELSE NULL END" if cases else "NULL"
        self.other_actions = most_common_actions(others)
        self.n_ignored += sum(others.values())

    def _stage(self, group: _Group, lines: str) -> str:
        """Parse text files into a Parquet file. Meanwhile scan them for long lines, which DuckDB may drop."""
        self._groups.append(group)
        path = self.db.temp_path("parquet")
        chosen = f"SELECT {', '.join(self.names)}, error FROM ({group.typed(lines)})"
        stop = Event()
        with ThreadPoolExecutor(1) as pool:
            checks = [pool.submit(text_sql.save_too_long, self.db, file, stop) for file in group.files]
            try:
                self.db.execute(f"COPY ({chosen}) TO {literal(path)} (FORMAT parquet)")
                for check in checks:
                    check.result()
            finally:
                stop.set()
        text_sql.save_unreadable(self.db)
        return f"SELECT * FROM read_parquet({literal(path)})"

    def _unreadable(self) -> str:
        paths = [literal(file.path) for group in self._groups for file in group.files]
        return f"SELECT file, line, '', reason, raw FROM unreadable WHERE file IN ({', '.join(paths)})"

    def save_rejects(self) -> None:
        """Fill the table `reject` (file, line, field, reason, raw), reading the files again in order.

        Needs the table `spelling`, whose id is null for queries that are blank after normalisation.
        """
        blank = "query IN (SELECT raw FROM spelling WHERE id IS NULL)" if "query" in self.fields else "false"
        self.db.execute(f"INSERT INTO reject {self._unreadable()}")
        self.db.preserve_order(True)
        for group in self._groups:
            for file in group.files:
                self.db.execute(f"""
                    INSERT INTO reject
                    SELECT file, line, split_part(error, '|', 1), split_part(error, '|', 2), raw
                    FROM (
                        SELECT * REPLACE (
                            CASE WHEN error IS NULL AND {blank} THEN '{BLANK_QUERY}' ELSE error END AS error
                        ), {self._action_code} AS action_code
                        FROM ({group.typed(group.numbered(file))}))
                    WHERE {aggregation_sql.is_rejected("action" in self.fields)}""")
        self.db.preserve_order(False)


def _quoted(name: str) -> str:
    return name.replace('"', '""')
