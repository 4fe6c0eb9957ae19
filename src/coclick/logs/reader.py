"""All rows of a log as one relation of typed fields, and the table of those that were rejected.

Parquet is read where it lies, column by column, as often as needed. Text is parsed once, into a temporary
Parquet file. Only when something was rejected are the files read again, in order, to say where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event

from coclick.logs import aggregation_sql as rules
from coclick.logs import text_sql as scans
from coclick.logs import ubi
from coclick.logs.detect_format import DetectedFormat
from coclick.logs.duckdb_session import Workspace, literal, paths_sql
from coclick.logs.files import LogFile
from coclick.logs.schema import Action
from coclick.logs.typed_fields import BLANK, Column, typed, typed_names
from coclick.logs.validation import commonest, tell_actions


@dataclass(frozen=True)
class _Group:
    """Files that are read alike: `typed` makes a relation of fields from lines (or Parquet rows), and
    `numbered` gives the lines of one file with their numbers."""

    files: list[LogFile]
    typed: Callable[[str], str]
    numbered: Callable[[LogFile], str] = scans.numbered_lines


@dataclass
class Rows:
    """The rows of a log or of a view. `relation` has the columns of `names`, and `bad` for what is wrong.

    Event logs have `act`, the action's code: rows without one are neither shown nor clicked, nor rejected.
    """

    work: Workspace
    format: str
    fields: set[str]
    actions: Sequence[Action]
    relation: str = ""
    read: int = 0  # rows, right or not
    aside: int = 0  # right rows that are neither shown nor clicked: other actions, queries of a UBI export
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
        return typed_names(self.format, self.fields)

    def open(self, found: Sequence[DetectedFormat]) -> None:
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
            self._tell_actions()
            self.relation = f"SELECT *, {self._act}::TINYINT AS act FROM ({self.relation})"
        self.read += self.work.value(f"SELECT count(*) FROM ({self.relation})")
        self.read += self.work.value(f"SELECT count(*) FROM ({self._unreadable()})")

    def _open_group(self, files: list[LogFile], place: dict[str, int]) -> str:
        wanted = {name: index for name, index in place.items() if name in self.fields}
        if files[0].kind == "parquet":
            return self._open_parquet(files, wanted)
        if files[0].kind == "ndjson":
            keys = [scans.json_path(files[0].columns[index]) for index in wanted.values()]
            column = {name: Column(f"cell[{number}]") for number, name in enumerate(wanted, 1)}
        else:
            keys = []
            column = {name: Column(f"cell[{index + 1}]") for name, index in wanted.items()}

        def typed_lines(lines: str) -> str:
            cells = scans.cells(files[0], lines, keys)
            return self._typed(column, scans.plain_values(cells, keys) if keys else cells)

        for name in {"doc", "user", "feature"} & column.keys():
            column[name] = Column(f"trim({column[name].sql})")
        group = _Group(files, typed_lines)
        return self._stage(group, scans.lines(files))

    def _open_parquet(self, files: list[LogFile], wanted: dict[str, int]) -> str:
        names, types = files[0].columns, files[0].types
        column = {name: Column(f"c{index}", types[index]) for name, index in wanted.items()}
        chosen = ", ".join(f'"{_quoted(names[i])}" AS c{i}' for i in wanted.values())
        raw = ", ".join(f'{literal(names[i])}, "{_quoted(names[i])}"' for i in wanted.values())

        def numbered(file: LogFile) -> str:
            return f"""SELECT {chosen}, NULL::VARCHAR AS problem, {literal(file.path)} AS file,
                file_row_number + 1 AS line, json_object({raw})::VARCHAR AS raw
                FROM read_parquet({paths_sql([file.path])}, file_row_number = true)"""

        self._groups.append(_Group(files, lambda source: self._typed(column, source), numbered))
        paths = paths_sql([file.path for file in files])
        source = f"SELECT {chosen}, NULL::VARCHAR AS problem FROM read_parquet({paths})"
        return f"SELECT {', '.join(self.names)}, bad FROM ({self._typed(column, source)})"

    def _open_ubi(self, files: list[LogFile]) -> None:
        lines = ubi.all_lines(files)
        ubi.create_queries(self.work, files[0], lines)
        self.work.run("DROP TABLE IF EXISTS reject_errors; DROP TABLE IF EXISTS reject_scans")
        self.aside = self.read = self.work.value("SELECT coalesce(sum(records), 0)::BIGINT FROM ubi_query")
        group = _Group(files, lambda lines: self._typed(ubi.COLUMNS, ubi.events(files[0], lines)))
        self.relation = self._stage(group, lines)

    def _typed(self, column: dict[str, Column], source: str) -> str:
        return typed(self.format, column, source)

    def _tell_actions(self) -> None:
        """Give the actions that matter their codes, and count the others."""
        if "action" not in self.fields:
            return
        counts = dict(
            self.work.rows(f"""SELECT action, count(*) FROM ({self.relation}) WHERE action IS NOT NULL
                GROUP BY action ORDER BY 2 DESC, 1""")
        )
        codes, others = tell_actions(counts, self.actions)
        cases = " ".join(f"WHEN {literal(name)} THEN {code}" for name, code in codes.items())
        self._act = f"CASE action {cases} ELSE NULL END" if cases else "NULL"
        self.other_actions = commonest(others)
        self.aside += sum(others.values())

    def _stage(self, group: _Group, lines: str) -> str:
        """Parse text files into a Parquet file, reading meanwhile what DuckDB does not tell of them."""
        self._groups.append(group)
        path = self.work.file("parquet")
        chosen = f"SELECT {', '.join(self.names)}, bad FROM ({group.typed(lines)})"
        stop = Event()
        with ThreadPoolExecutor(1) as pool:
            checks = [pool.submit(scans.save_too_long, self.work, file, stop) for file in group.files]
            try:
                self.work.run(f"COPY ({chosen}) TO {literal(path)} (FORMAT parquet)")
                for check in checks:
                    check.result()
            finally:
                stop.set()
        scans.save_unreadable(self.work)
        return f"SELECT * FROM read_parquet({literal(path)})"

    def _unreadable(self) -> str:
        paths = [literal(file.path) for group in self._groups for file in group.files]
        return f"SELECT file, line, '', reason, raw FROM unreadable WHERE file IN ({', '.join(paths)})"

    def save_rejects(self) -> None:
        """Fill the table `reject` (file, line, field, reason, raw), reading the files again in order.

        Needs the table `spelling`, which knows the queries that normalisation leaves nothing of.
        """
        blank = "query IN (SELECT raw FROM spelling WHERE id IS NULL)" if "query" in self.fields else "false"
        self.work.run(f"INSERT INTO reject {self._unreadable()}")
        self.work.keep_order(True)
        for group in self._groups:
            for file in group.files:
                self.work.run(f"""
                    INSERT INTO reject
                    SELECT file, line, split_part(bad, '|', 1), split_part(bad, '|', 2), raw
                    FROM (
                        SELECT * REPLACE (
                            CASE WHEN bad IS NULL AND {blank} THEN '{BLANK}' ELSE bad END AS bad
                        ), {self._act} AS act
                        FROM ({group.typed(group.numbered(file))}))
                    WHERE {rules.rejected("action" in self.fields)}""")
        self.work.keep_order(False)


def _quoted(name: str) -> str:
    return name.replace('"', '""')
