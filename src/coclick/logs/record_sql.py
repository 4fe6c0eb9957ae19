"""SQL that reads the fields of a format from the records of a file.

Sources of fields (columns, JSON paths, SQL expressions) and a file go in. Out come the cells to read from
each record, a `Column` for each field, and for formats with lists the relation with one row for each event.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from coclick.errors import UserError
from coclick.graph.columns import canonical_name, list_columns
from coclick.logs.duckdb_session import literal
from coclick.logs.files import LogFile
from coclick.logs.format import COUNT, Format, Segment, Source, rename_columns
from coclick.logs.typed_fields import Column, action_of_flag

_NEEDED = ("query", "doc", "query_id", "action")  # looked for even if the first records lack them
_MAX_COUNT = 10_000  # events that one record may stand for
LISTED = "impression"  # the action of documents in a list of shown results
_CELL = re.compile(r"\bcell\[(\d+)\]")
_IDS = ("doc", "user", "session", "event_id", "query_id", "feature")


@dataclass
class RecordFields:
    """What is read from the records of files of one shape."""

    keys: list[str] = field(default_factory=list)  # JSON pointers of the cells; only for NDJSON
    columns: dict[str, Column] = field(default_factory=dict)  # of fields
    items: str = ""  # SQL list of the events of a record, for formats with lists
    shown: str = ""  # SQL list of the documents that were shown, if nothing else is a list
    too_many: str = ""  # condition that a record stands for too many events
    aliases: str = ""  # select list of what SQL expressions read
    split: str = ""  # select list of cells as columns: repeated for each event, they are cheaper than a list
    used: list[int] = field(default_factory=list)  # columns of a table that are read
    sources: dict[str, list[str]] = field(default_factory=dict)  # field → columns or paths, for reports

    def expand(self, cells: str) -> str:
        """Return a relation with a row for each event: `item`, `part`, its number from 0, and `listed`.

        If records hold only the list of what was shown, it stays a list: `shown_docs`.
        """
        if self.aliases:
            cells = f"SELECT *, {self.aliases} FROM ({cells})"
        if self.shown:
            return f"SELECT *, {self.shown} AS shown_docs FROM ({cells})"
        if not self.items:
            return cells
        if self.too_many:
            error = f"CASE WHEN {self.too_many} THEN '{COUNT}|is above {_MAX_COUNT:,}' END"
            cells = f"SELECT * REPLACE (coalesce(parse_error, {error}) AS parse_error) FROM ({cells})"
        return f"""
            SELECT * EXCLUDE (items), item.action IS NOT NULL AS listed
            FROM (SELECT *, unnest(items) AS item, generate_subscripts(items, 1) - 1 AS part
                  FROM (SELECT * {self.split}, {self.items} AS items FROM ({cells})))"""

    def complete(self, fields: set[str]) -> None:
        """Add the fields that other files of the log have, as missing values; sessions stand in for users."""
        if "user" in fields and "user" not in self.columns and "session" in self.columns:
            self.columns["user"] = self.columns["session"]
        for name in fields - self.columns.keys():
            self.columns[name] = Column("NULL::VARCHAR")


def plain_fields(file: LogFile, fields: Mapping[str, int]) -> RecordFields:
    """Return how fields are read that are columns, or top-level keys of NDJSON, of a file."""
    cells = _Cells(file)
    columns = {name: _trimmed(name, cells.column(index), file) for name, index in fields.items()}
    if "clicked" in columns:
        columns["action"] = action_of_flag(columns["clicked"])
    sources = {name: [file.columns[index]] for name, index in fields.items()}
    return RecordFields(cells.keys, columns, used=cells.used, sources=sources)


def format_fields(format: Format, file: LogFile) -> RecordFields:
    """Return how the fields of a format are read from a file. Fields that the file lacks are left out."""
    cells = _Cells(file)
    found = RecordFields(cells.keys, used=cells.used)
    lists: dict[str, str] = {}
    for name, sources in format.fields.items():
        is_needed = name in _NEEDED and file.kind == "ndjson"
        is_needed |= name == "position" and bool(format.shown) and file.kind == "ndjson"
        readable = [source for source in sources if is_needed or cells.has(source)]
        found.sources[name] = [text for source in readable for text in cells.names(source)]
        if any(source.is_list for source in readable):
            lists[name] = _first_list(cells, readable)
        elif readable:
            columns = [_trimmed(name, cells.read(source), file) for source in readable]
            found.columns[name] = _first_of(columns)
    if format.first_position == 0 and "position" in found.columns:
        given = found.columns["position"].text()
        counted = f"coalesce(CAST(TRY_CAST({given} AS BIGINT) + 1 AS VARCHAR), {given})"
        found.columns["position"] = Column(counted)
    shown = [source for source in format.shown if file.kind == "ndjson" or cells.has(source)]
    found.sources["shown"] = [text for source in shown for text in cells.names(source)]
    if format.has_lists and not format.repeats_events:
        doc = found.columns["doc"].text() if "doc" in found.columns else "NULL"
        _keep_shown(found, doc, _first_list(cells, shown) if shown else "[]::VARCHAR[]")
    elif lists or format.has_lists:
        _expand_lists(found, lists, _first_list(cells, shown) if shown else "[]::VARCHAR[]")
    if found.items and cells.keys:
        split = (f"cell[{number}] AS cell_{number}" for number in range(1, len(cells.keys) + 1))
        found.split = f"EXCLUDE (cell), {', '.join(split)}"
        for name, column in found.columns.items():
            found.columns[name] = replace(column, sql=_CELL.sub(r"cell_\1", column.sql))
    found.aliases = ", ".join(f"{value} AS {alias}" for alias, value in cells.aliases.values())
    return found


def missing_source_error(format: Format, name: str, file: LogFile) -> UserError:
    """Return the error for a file without any of the columns that hold a field."""
    wanted = [column for source in format.fields.get(name, ()) for column in source.names]
    near = [close for column in wanted for close in difflib.get_close_matches(column, file.columns, 2, 0.5)]
    return UserError(
        f"no column for {name!r}: the format {format.name!r} reads it from {' or '.join(map(repr, wanted))}",
        where=f"{file.path}, whose columns are {list_columns(file.columns)}",
        hint=f"name the column: --columns {name}={near[0] if near else 'NAME'}",
    )


def _trimmed(name: str, column: Column, file: LogFile) -> Column:
    """A column of a text file without surrounding blanks, if it is an id."""
    is_id = name in _IDS and file.kind != "parquet"
    return replace(column, sql=f"trim({column.sql})") if is_id else column


def _first_of(columns: Sequence[Column]) -> Column:
    """The first value that is not missing. One column alone keeps its type."""
    if len(columns) == 1:
        return columns[0]
    return Column(f"coalesce({', '.join(column.text() for column in columns)})")


def _first_list(cells: _Cells, sources: Sequence[Source]) -> str:
    """The first list that has elements; empty if there is none. Most records have none: they are cheap."""
    lists = [cells.read_list(source) for source in sources]
    first = ", ".join(f"nullif({one}, []::VARCHAR[])" for one in lists)
    some = " OR ".join(f"{cells.base(source)} IS NOT NULL" for source in sources)
    return f"CASE WHEN {some} THEN coalesce({first}, []::VARCHAR[]) ELSE []::VARCHAR[] END"


def _expand_lists(found: RecordFields, lists: Mapping[str, str], shown: str) -> None:
    """Define the items of a record: the event itself, or one for each document; then documents shown."""
    columns = found.columns
    own = {name: columns[name].text() if name in columns else "NULL" for name in ("doc", "position")}
    if "position" not in columns and "position" not in lists and "doc" in columns:
        own["position"] = f"CAST(list_position({shown}, {own['doc']}) AS VARCHAR)"
    nothing = f"[{_item('NULL', 'NULL', 'NULL')}]"
    has_doc = "lambda item: coalesce(trim(item.doc), '') <> ''"
    events = f"[{_item(own['doc'], own['position'], 'NULL')}]"
    if "doc" in lists:
        place = f"{lists['position']}[i]" if "position" in lists else own["position"]
        each = f"list_transform({lists['doc']}, lambda d, i: {_item('d', place, 'NULL')})"
        each = f"list_filter({each}, {has_doc})"
        events = f"CASE WHEN len({each}) > 0 THEN {each} ELSE {nothing} END"
    if COUNT in columns:
        count = columns.pop(COUNT).text()
        times = f"CAST(least(greatest(coalesce(TRY_CAST({count} AS BIGINT), 1), 1), {_MAX_COUNT}) AS INTEGER)"
        events = f"flatten(list_transform(range({times}), lambda n: {events}))"
        found.too_many = f"TRY_CAST({count} AS DOUBLE) > {_MAX_COUNT}"
    seen = f"list_transform({shown}, lambda d, i: {_item('d', 'CAST(i AS VARCHAR)', literal(LISTED))})"
    seen = f"list_filter({seen}, {has_doc})"
    found.items = f"CASE WHEN parse_error IS NULL THEN {events} || {seen} ELSE {nothing} END"
    own_action = _name_parts(columns)
    columns["doc"], columns["position"] = Column("trim(item.doc)"), Column("item.position")
    columns["action"] = Column(f"coalesce(item.action, {own_action})")


def _keep_shown(found: RecordFields, doc: str, shown: str) -> None:
    """Leave the list of shown documents to `with_shown`, which has fewer columns to repeat."""
    found.shown = f"CASE WHEN parse_error IS NULL THEN {shown} END"
    found.columns.setdefault("action", Column("'click'"))
    found.columns.setdefault("position", Column(f"CAST(list_position(shown_docs, {doc}) AS VARCHAR)"))


def with_shown(rows: str, names: Sequence[str]) -> str:
    """Return typed rows and, after them, an impression for each document of `shown_docs`."""
    own = {name: name for name in names}
    of_list = own | {"doc": "trim(shown_doc)", "action": literal(LISTED), "position": "part", "dwell": "NULL"}
    of_list |= {"event_id": "event_id || ':' || CAST(part AS VARCHAR)", "results": "NULL"}
    chosen = [", ".join(f"{values[name]} AS {name}" for name in names) for values in (own, of_list)]
    return f"""
        SELECT {chosen[0]}, 0 AS part, false AS listed, error FROM ({rows}) UNION ALL
        SELECT {chosen[1]}, part, true AS listed, error
        FROM (SELECT *, unnest(shown_docs) AS shown_doc,
                CAST(generate_subscripts(shown_docs, 1) AS INTEGER) AS part
              FROM ({rows}) WHERE error IS NULL AND len(shown_docs) > 0)
        WHERE trim(shown_doc) <> ''"""


def _name_parts(columns: dict[str, Column]) -> str:
    """Give each event of a record an id of its own; return the action of the record itself."""
    if "event_id" in columns:
        columns["event_id"] = Column(f"{columns['event_id'].text()} || ':' || CAST(part AS VARCHAR)")
    return columns["action"].text() if "action" in columns else "'click'"


def _item(doc: str, position: str, action: str) -> str:
    values = {"doc": doc, "position": position, "action": action}
    return "{" + ", ".join(f"'{name}': CAST({sql} AS VARCHAR)" for name, sql in values.items()) + "}"


@dataclass
class _Cells:
    """The cells of a file's records: columns of tables, or values at JSON pointers."""

    file: LogFile
    keys: list[str] = field(default_factory=list)
    used: list[int] = field(default_factory=list)
    aliases: dict[str, tuple[str, str]] = field(default_factory=dict)  # of names in expressions, with SQL

    def column(self, index: int) -> Column:
        """The column of a table, or a top-level key of NDJSON, by its place."""
        if self.file.kind == "ndjson":
            return Column(self._pointer(self.file.columns[index]))
        if index not in self.used:
            self.used.append(index)
        if self.file.kind == "parquet":
            return Column(f"c{index}", self.file.types[index])
        return Column(f"cell[{index + 1}]")

    def has(self, source: Source) -> bool:
        """Whether the file has the columns of a source, or its first records the path."""
        if self.file.kind != "ndjson":
            return all(self._index(name) is not None for name in source.names)
        dotted = ".".join(segment.key for segment in source.path)
        return (dotted or source.names[0]) in self.file.paths

    def names(self, source: Source) -> list[str]:
        """The columns or paths of a source, as the file writes them."""
        if self.file.kind != "ndjson":
            return [self.file.columns[i] for name in source.names if (i := self._index(name)) is not None]
        if source.sql:
            return list(source.names)
        steps = (step.key + "[]" * _is_list(step) for step in source.path)
        return [".".join(steps)]

    def read(self, source: Source) -> Column:
        """The single value of a source."""
        if source.sql:
            return Column(self._expression(source.sql))
        cell, rest = self._base(source.path)
        return Column(_value(cell, rest)) if rest else cell

    def base(self, source: Source) -> str:
        """The cell that a source reads; its own value if it is an expression."""
        return self.read(source).sql if source.sql else self._base(source.path)[0].sql

    def read_list(self, source: Source) -> str:
        """The values of a source as a list of texts; null if it is missing."""
        if source.sql:
            return f"CAST({self._expression(source.sql)} AS VARCHAR[])"
        if not source.is_list:
            value = self.read(source).text()
            return f"CASE WHEN {value} IS NOT NULL THEN [{value}] END"
        cell, rest = self._base(source.path)
        text = _json_text(cell)
        _, *after = rest
        path = "$[*]" + "".join(_step(segment.key) for segment in after)
        return f"TRY(json_extract_string({text}, {literal(path)}))"

    def _base(self, path: Sequence[Segment]) -> tuple[Column, list[Segment]]:
        """The cell that a path begins with, and the steps inside it. The first of them may be a list."""
        if self.file.kind != "ndjson":
            index = self._index(path[0].key)
            assert index is not None
            return self.column(index), [*([path[0]] if _is_list(path[0]) else []), *path[1:]]
        plain = next((i + 1 for i, step in enumerate(path) if _is_list(step)), len(path))
        keys = [step.key for step in path[:plain]]
        joined = ".".join(keys)
        if joined in self.file.columns:  # a key with dots
            keys = [joined]
        return Column(self._pointer(*keys)), [
            *([path[plain - 1]] if _is_list(path[plain - 1]) else []),
            *path[plain:],
        ]

    def _expression(self, sql: str) -> str:
        """An expression over columns or keys. They get aliases, so that no name means something else."""
        for name in Source(sql=sql).names:
            if name not in self.aliases:
                value = self.read(Source((Segment(name),))).text()
                self.aliases[name] = (f"source_{len(self.aliases)}", value)
        return f"({rename_columns(sql, {name: alias for name, (alias, _) in self.aliases.items()})})"

    def _index(self, name: str) -> int | None:
        columns = list(self.file.columns)
        if name in columns:
            return columns.index(name)
        same = [canonical_name(column) for column in columns]
        return same.index(canonical_name(name)) if canonical_name(name) in same else None

    def _pointer(self, *keys: str) -> str:
        """The cell at some keys of a record."""
        pointer = "".join(f"/{_escaped(key)}" for key in keys)
        if pointer not in self.keys:
            self.keys.append(pointer)
        return f"cell[{self.keys.index(pointer) + 1}]"


def _is_list(segment: Segment) -> bool:
    return segment.every or segment.match is not None


def _json_text(cell: Column) -> str:
    """A cell as JSON: texts hold JSON already."""
    return cell.sql if cell.type == "VARCHAR" else f"CAST(to_json({cell.sql}) AS VARCHAR)"


def _value(cell: Column, steps: Sequence[Segment]) -> str:
    """The text at some steps inside a cell of JSON; null if it is missing or not JSON."""
    text, first = _json_text(cell), steps[0]
    if first.match:
        key, wanted = first.match
        same = f"json_extract_string(element, {literal('$' + _step(key))}) = {literal(wanted)}"
        elements = f"TRY(json_extract({text}, '$[*]'))"
        text, steps = f"list_filter({elements}, lambda element: {same})[1]", steps[1:]
    path = "$" + "".join(_step(segment.key) for segment in steps)
    return f"TRY(json_extract_string({text}, {literal(path)}))"


def _step(key: str) -> str:
    return '."' + key.replace('"', '\\"') + '"'


def _escaped(key: str) -> str:
    """A key in a JSON pointer. Unlike in a JSON path, `*` is an ordinary character there."""
    return key.replace("~", "~0").replace("/", "~1")
