"""`check`: build a graph of the first part of a log in a temporary directory, and say what is in it.

What `check` says is what `build` does, because it is a build: of a sample, with nothing kept.
"""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from coclick.errors import CoclickError, UserError
from coclick.graph.click_graph import ClickGraph
from coclick.jit.threads import threads as all_threads
from coclick.logs.column_use import ColumnUse, column_uses, sample_values
from coclick.logs.database import DatabaseQuery, without_password
from coclick.logs.detect_format import FileFields, GivenColumns, detect_format, named_encoding
from coclick.logs.duckdb_session import DuckDBSession, parse_memory
from coclick.logs.files import LogFile, with_header
from coclick.logs.guess_columns import guess_columns, guess_more, guess_places, has_known_words
from coclick.logs.header import is_header
from coclick.logs.in_memory import as_list, docs_as_list
from coclick.logs.intake import Intake
from coclick.logs.log_sample import LogSample
from coclick.logs.pipeline import build
from coclick.logs.record_sql import RecordFields
from coclick.logs.rejects import rejects
from coclick.logs.report import BuildReport, build_report
from coclick.logs.scrub import count_kinds, scrub_batch
from coclick.logs.validation import MAX_REJECTED, check_rejected
from coclick.storage.temporary import temporary_directory

_DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "vertical bar"}


@dataclass
class FileReport:
    """A file of the log, and what each of its columns is used as."""

    name: str
    kind: str
    encoding: str
    delimiter: str  # of text tables
    header: bool
    columns: list[ColumnUse]


@dataclass
class CheckReport:
    """What is in a log, how it would be read, what will go wrong, and the command to run."""

    format: str = ""
    files: list[FileReport] = field(default_factory=list)
    sampled: list[str] = field(default_factory=list)  # files of which only the first part was looked at
    guessed: dict[str, str] = field(default_factory=dict)  # column of each field, guessed
    report: BuildReport = field(default_factory=BuildReport)
    stats: dict[str, Any] = field(default_factory=dict)  # of the graph of the sample
    problem: str = ""  # why the log cannot be built as it is
    hint: str = ""
    command: str = ""  # to run next, unless there is a problem

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return asdict(self) | {"report": self.report.to_dict()}


def check(
    sources: Any = None,
    docs: Any = None,
    *,
    database: str | None = None,
    sql: str | None = None,
    docs_sql: str | None = None,
    max_rejected: float = MAX_REJECTED,
    like: str | Path = "auto",
    columns: GivenColumns = None,
    header: str = "auto",
    encoding: str | None = None,
    actions: Mapping[str, float] | None = None,
    memory: str = "4GB",
    **options: Any,
) -> CheckReport:
    """Look at a log without writing anything.

    The parameters are those of `coclick.build`; `options` are more of them. Of large files and of the result
    of a query only the first part is read. If the columns have unknown names, they are guessed.

    Returns a report whose `command` builds the graph; if the log cannot be built, `problem` says why.
    """
    reading = {"like": like, "header": header, "encoding": encoding, "actions": actions, "memory": memory}
    query = DatabaseQuery(database, sql, docs_sql)
    query.check(sources, docs)
    logs, described = [] if sources is None else as_list(sources), docs_as_list(docs)
    with temporary_directory() as directory:
        sample = LogSample.of(logs, directory)
        if database is not None:
            described = sample.read_database(query, memory) or described
        run = _Check(sample, described or None, reading | options, query, max_rejected)
        return run.report(logs, docs_as_list(docs), columns)


@dataclass
class _Check:
    sample: LogSample
    docs: list[Any] | None
    options: dict[str, Any]
    query: DatabaseQuery = field(default_factory=DatabaseQuery)
    max_rejected: float = MAX_REJECTED
    found: CheckReport = field(default_factory=CheckReport)

    def report(self, sources: list[Any], docs: list[Any], columns: GivenColumns) -> CheckReport:
        """Return the report of a sample, and the command for the sources."""
        self.found.sampled = list(self.sample.cut)
        try:
            columns = self._describe(columns)
            self._build(columns)
        except CoclickError as error:
            where = f" ({error.where})" if error.where else ""
            self.found.problem = self.sample.restore_names(f"{error.what}{where}")
            self.found.hint = self.sample.restore_names(error.hint or "")
            return self.found
        self.found.command = self._command(sources, docs, columns)
        return self.found

    def _describe(self, columns: GivenColumns) -> GivenColumns:
        """Describe the files; return the columns, guessed if the names are unknown."""
        directory = self.sample.directory / "duckdb"
        encoding = self.options["encoding"] or named_encoding(self.options["like"])
        with (
            DuckDBSession(directory, parse_memory(self.options["memory"]), all_threads()) as db,
            Intake(db, encoding) as intake,
        ):
            files = intake.open_log(self.sample.sources)
            try:
                format, found, _ = detect_format(files, self.options["like"], columns, self.options["header"])
            except UserError as error:
                columns = columns or (self._guess(files) if error.what.startswith("no column") else None)
                if not columns:
                    shown = [_with_likely_header(file) for file in files]
                    self.found.files = [self._file(file, RecordFields(), intake) for file in shown]
                    raise
                format, found, _ = detect_format(files, self.options["like"], columns, self.options["header"])
                self.found.guessed = _named(columns)
            else:
                if format.name == "events" and (more := self._guess_more(found, columns)):
                    columns = {**more, **_named(columns)}
                    like = self.options["like"] if "clicks" in more else format.name
                    format, found, _ = detect_format(files, like, columns, self.options["header"])
                    self.found.guessed = more
            self.found.format = format.title or format.name
            self.found.files = [self._file(file, record, intake) for file, record in found]
        return columns

    def _guess(self, files: Sequence[LogFile]) -> GivenColumns:
        """Columns of a log whose names are unknown; in order if its first line is no header."""
        filled = [file for file in files if not file.empty]
        if not filled or self.options["like"] != "auto":
            return None
        first, header = filled[0], self.options["header"]
        if first.kind in ("tsv", "csv"):
            if header == "no" or (header == "auto" and not has_header(first)):
                return guess_places(sample_values(with_header(first, False))) or None
            first = with_header(first, True)
        return guess_columns(sample_values(first)) or None

    def _guess_more(self, found: Sequence[FileFields], columns: GivenColumns) -> dict[str, str]:
        """Columns with unknown names of fields that an event log lacks, if all its files have them."""
        if isinstance(columns, Sequence) or self.options["like"] != "auto":
            return {}
        (file, record), *others = found
        known = {field: names[0] for field, names in record.sources.items() if names}
        more = guess_more(sample_values(file), known)
        return {
            field: name
            for field, name in more.items()
            if name in file.columns and all(name in other.columns for other, _ in others)
        }

    def _file(self, file: LogFile, record: RecordFields, intake: Intake) -> FileReport:
        is_table = file.kind in ("tsv", "csv")
        return FileReport(
            self.sample.restore_names(file.name),
            file.kind,
            intake.encodings.get(file.name, ""),
            _DELIMITERS.get(file.delimiter, file.delimiter) if is_table else "",
            file.header,
            column_uses(file, record),
        )

    def _build(self, columns: GivenColumns) -> None:
        graph = build(
            self.sample.sources,
            self.docs,
            self.sample.directory / "graph",
            columns=columns,
            max_rejected=1,
            **self.options,
        )
        self.found.stats = dict(graph.stats)
        self.found.report = build_report(graph.stats)
        if personal := _personal_data(list(graph.queries)):
            kinds = ", ".join(f"{kind} {count:,}" for kind, count in personal.items())
            self.found.report.warnings.append(f"queries with personal data: {kinds}; --scrub pii removes it")
        for lines in vars(self.found.report).values():
            lines[:] = map(self.sample.restore_names, lines)
        check_rejected(graph.stats, self.max_rejected, lambda reason: _first_reject(graph, reason))

    def _command(self, sources: list[Any], docs: list[Any], columns: GivenColumns) -> str:
        """The command that builds the graph, with the options that were given or guessed."""
        parts = ["coclick", "build", *(str(one) for one in sources if isinstance(one, str | Path))]
        for one in docs:
            parts += ["--docs", str(one)] if isinstance(one, str | Path) else []
        if self.query.database is not None:
            shown = without_password(str(self.query.database))
            queries = {"--database": shown, "--sql": self.query.sql, "--docs-sql": self.query.docs_sql}
            parts += [word for name, text in queries.items() if text is not None for word in (name, text)]
        if self.max_rejected != MAX_REJECTED:
            parts += ["--max-rejected", f"{self.max_rejected:.4%}"]
        if isinstance(columns, Mapping):
            parts += ["--columns", _as_csv([f"{name}={column}" for name, column in columns.items()])]
        elif columns:
            parts += ["--columns", ",".join(columns)]
        usual = {name: one.default for name, one in signature(build).parameters.items()}
        given = {name: value for name, value in self.options.items() if name not in ("actions", "memory")}
        for name, value in given.items():
            if value is not None and value != usual[name]:
                parts += [f"--{name.replace('_', '-')}", *([] if value is True else [_as_option(value)])]
        if actions := self.options["actions"]:
            parts += ["--actions", ",".join(f"{name}={weight}" for name, weight in actions.items())]
        return shlex.join([*parts, "-o", "graph"])


def _as_option(value: Any) -> str:
    """The value as the command line takes it."""
    if isinstance(value, timedelta):
        return f"{value / timedelta(hours=1):.12g}h"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _as_csv(cells: Sequence[str]) -> str:
    """The cells as a line of CSV."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()


def _named(columns: GivenColumns) -> dict[str, str]:
    """The columns of fields, given by name or in order."""
    if isinstance(columns, Mapping):
        return dict(columns)
    return {name: f"column {place}" for place, name in enumerate(columns or (), 1) if name != "_"}


def has_header(file: LogFile) -> bool:
    """Return whether line 1 of a table names columns: words for fields, or cells unlike the values."""
    rows = list(zip(*sample_values(with_header(file, True)).values(), strict=False))
    return has_known_words(file.columns) or bool(is_header(file.columns, rows))


def _with_likely_header(file: LogFile) -> LogFile:
    return with_header(file, file.kind in ("tsv", "csv") and has_header(file))


def _first_reject(graph: ClickGraph, reason: str) -> str:
    """The file, line and text of the first row that was rejected for a reason."""
    found = (row for row in rejects(graph) if f"{row[2]} {row[3]}".strip() == reason)
    file, line, *_, raw = next(found)
    return f"{file}, line {line}: {raw[:200]}"


def _personal_data(queries: Sequence[str]) -> dict[str, int]:
    """How many queries have personal data, by kind."""
    _, kinds = scrub_batch(queries)
    found, counts = np.unique(kinds[kinds > 0], return_counts=True)
    return count_kinds(dict(zip(found.tolist(), counts.tolist(), strict=True)))
