"""All rows of a log as one relation of typed fields, and the table of those that were rejected.

Parquet is read where it lies, column by column, as often as needed. Text is parsed once, into a temporary
Parquet file. Only when something was rejected are the files read again, in order, to say where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event

from coclick.logs import aggregation_sql, text_sql, ubi
from coclick.logs.detect_format import FileFields
from coclick.logs.duckdb_session import DuckDBSession, literal, paths_sql
from coclick.logs.files import LogFile
from coclick.logs.schema import Action
from coclick.logs.typed_fields import BLANK_QUERY, Column, typed, typed_columns
from coclick.logs.validation import classify_actions, most_common_actions


@dataclass(frozen=True)
class _Group:
    """Files that are read alike: `typed` makes a relation of fields from lines (or Parquet rows), and
    `numbered` gives the lines of one file with their numbers."""

    files: list[LogFile]
    typed: Callable[[str], str]
    numbered: Callable[[LogFile], str] = text_sql.numbered_lines


@dataclass
class LogReader:
    """The rows of a log or of a view. `relation` has the columns of `names`, and `error` for what is wrong.

    Event logs have `action_code`, the action's code: rows without one are neither shown nor clicked, nor rejected.
    """

    db: DuckDBSession
    format: str
    fields: set[str]
    actions: Sequence[Action]
    relation: str = ""
    n_rows: int = 0  # rows, right or not
    n_ignored: int = (
        0  # right rows that are neither shown nor clicked: other actions, queries of a UBI export
    )
    other_actions: dict[str, int] = field(default_factory=dict)  # the commonest of those
    _act: str = "1"
    _groups: list[_Group] = field(default_factory=list)

    @property
    def has_events(self) -> bool:
        """Whether rows are events, each with an action."""
        return self.format in ("events", "ubi")

    @property
    def names(self) -> list[str]:
        """The columns of the relation."""
        return typed_columns(self.format, self.fields)

    def open(self, found: Sequence[FileFields]) -> None:
        """Read text files into Parquet, and make the relation over everything."""
        if self.format == "ubi":
            self._open_ubi([file for file, _ in found])
        else:
            groups: dict[object, tuple[list[LogFile], dict[str, int]]] = {}
            for file, place in found:
                groups.setdefault(file.shape, ([], place))[0].append(file)
            parts = [self._open_group(group, place) for group, place in groups.values()]
            self.relation = " UNION ALL ".join(parts)
        if self.has_events:
            self._assign_action_codes()
            self.relation = f"SELECT *, {self._act}::TINYINT AS action_code FROM ({self.relation})"
        self.n_rows += self.db.fetch_value(f"SELECT count(*) FROM ({self.relation})")
        self.n_rows += self.db.fetch_value(f"SELECT count(*) FROM ({self._unreadable()})")

    def _open_group(self, files: list[LogFile], place: dict[str, int]) -> str:
        wanted = {name: index for name, index in place.items() if name in self.fields}
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
            return self._typed(column, text_sql.reject_nested(cells, keys) if keys else cells)

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

        self._groups.append(_Group(files, lambda source: self._typed(column, source), numbered))
        paths = paths_sql([file.path for file in files])
        source = f"SELECT {chosen}, NULL::VARCHAR AS parse_error FROM read_parquet({paths})"
        return f"SELECT {', '.join(self.names)}, error FROM ({self._typed(column, source)})"

    def _open_ubi(self, files: list[LogFile]) -> None:
        lines = ubi.all_lines(files)
        ubi.create_queries(self.db, files[0], lines)
        self.db.execute("DROP TABLE IF EXISTS reject_errors; DROP TABLE IF EXISTS reject_scans")
        self.n_ignored = self.n_rows = self.db.fetch_value(
            "SELECT coalesce(sum(records), 0)::BIGINT FROM ubi_query"
        )
        group = _Group(files, lambda lines: self._typed(ubi.COLUMNS, ubi.events(files[0], lines)))
        self.relation = self._stage(group, lines)

    def _typed(self, column: dict[str, Column], source: str) -> str:
        return typed(self.format, column, source)

    def _assign_action_codes(self) -> None:
        """Give the actions that matter their codes, and count the others."""
        if "action" not in self.fields:
            return
        counts = dict(
            self.db.fetchall(f"""SELECT action, count(*) FROM ({self.relation}) WHERE action IS NOT NULL
                GROUP BY action ORDER BY 2 DESC, 1""")
        )
        codes, others = classify_actions(counts, self.actions)
        cases = " ".join(f"WHEN {literal(name)} THEN {code}" for name, code in codes.items())
        self._act = f"CASE action {cases} ELSE NULL END" if cases else "NULL"
        self.other_actions = most_common_actions(others)
        self.n_ignored += sum(others.values())

    def _stage(self, group: _Group, lines: str) -> str:
        """Parse text files into a Parquet file, reading meanwhile what DuckDB does not tell of them."""
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

        Needs the table `spelling`, which knows the queries that normalisation leaves nothing of.
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
                        ), {self._act} AS action_code
                        FROM ({group.typed(group.numbered(file))}))
                    WHERE {aggregation_sql.is_rejected("action" in self.fields)}""")
        self.db.preserve_order(False)


def _quoted(name: str) -> str:
    return name.replace('"', '""')
