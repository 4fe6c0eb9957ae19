"""A log format: which column, JSON path or SQL expression holds which field. Formats are TOML files.

The formats of the package are in `logs/formats`; `--like FILE.toml` reads one of the user's.
`docs/formats.md` describes the form.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import duckdb

from coclick.errors import UserError
from coclick.graph.columns import FIELDS
from coclick.logs.schema import ACTIONS, with_roles

PLAIN = ("clicks", "events")  # recognised by names of columns, without a file
QUERY_ID, COUNT = "query_id", "count"  # fields of formats only: id of the search, repetitions of the event
_EVENT_FIELDS = (*FIELDS["events"], QUERY_ID, COUNT)
_SEGMENT = re.compile(r'(?P<key>"[^"]*"|[^.\[\]"]+)(?P<list>\[(?P<match>[^\]=]+=[^\]]*)?\])?(?:\.|$)')
# What an expression may consist of: no subqueries, so no tables and no files.
_EXPRESSIONS = {"CASE", "CAST", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT", "BETWEEN"}
_EXPRESSIONS |= {"FUNCTION", "LAMBDA", "OPERATOR"}


@dataclass(frozen=True)
class Segment:
    """A step of a path: a key, then perhaps every element of a list, or the element where `key = value`."""

    key: str
    every: bool = False
    match: tuple[str, str] | None = None


@dataclass(frozen=True)
class Source:
    """Where a field comes from: the path of a column or JSON key, or an SQL expression over them."""

    path: tuple[Segment, ...] = ()
    sql: str = ""

    @property
    def is_list(self) -> bool:
        """Whether the path leads to several values."""
        return any(segment.every for segment in self.path)

    @property
    def names(self) -> tuple[str, ...]:
        """The top-level columns or keys that it reads."""
        return (self.path[0].key,) if self.path else column_names(self.sql)


@dataclass(frozen=True)
class Format:
    """How the records of a log are read. Of several sources of a field the first with a value is used."""

    name: str
    title: str = ""
    rows: str = "events"  # or clicks; or view, for features of queries or documents
    fields: Mapping[str, tuple[Source, ...]] = field(default_factory=dict)
    shown: tuple[Source, ...] = ()  # the documents that a search showed, in order
    join: Literal["", "query_id", "session"] = ""  # how an event without a query finds its search
    first_position: int | None = None  # 0 or 1; None: decided by the smallest one in the log
    actions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # names beside those of `ACTIONS`
    recognise: tuple[str, ...] = ()  # the columns or paths that a log of this format has
    columns: tuple[tuple[str, ...], ...] = ()  # of files without a header
    encoding: str | None = None
    time_format: str | None = None
    timezone: str | None = None

    @property
    def has_lists(self) -> bool:
        """Whether one record may hold several events."""
        return bool(self.shown) or self.repeats_events

    @property
    def repeats_events(self) -> bool:
        """Whether one record may hold several events beside what it showed."""
        return COUNT in self.fields or any(source.is_list for source in self.fields.get("doc", ()))

    def with_columns(self, given: Mapping[str, str]) -> Format:
        """Return the format with some fields from other columns or paths."""
        for name in given:
            if name not in _fields_of(self.rows):
                raise _unknown(f"the field {name!r} in --columns", name, _fields_of(self.rows))
        sources = {name: (Source(parse_path(path)),) for name, path in given.items()}
        return replace(self, fields={**self.fields, **sources})

    def with_roles(self, given: Mapping[str, float | str] | None) -> Format:
        """Return the format with actions that the user says are impressions, or to be ignored."""
        return replace(self, actions=with_roles(self.actions, given))


VIEW = Format("view", rows="view")


def format_names() -> list[str]:
    """Return the names of the formats that the package knows by a file."""
    files = resources.files("coclick.logs").joinpath("formats").iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


@cache
def known_formats() -> tuple[Format, ...]:
    """Return the formats of the package."""
    return tuple(load_format(name) for name in format_names())


def load_format(like: str | Path) -> Format:
    """Read a format by its name, or from a TOML file."""
    name = str(like)
    if name.endswith(".toml"):
        path = Path(name)
        try:
            return parse_format(path.stem, path.read_text(encoding="utf-8"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            hint = f"name a TOML file or one of {', '.join(format_names())}"
            raise UserError(f"the format cannot be read: {reason}", where=str(path), hint=hint) from None
    names = format_names()
    if name not in names:
        raise _unknown(f"the log format {name!r}", name, ["auto", *PLAIN, *names], "or name a file: my.toml")
    text = resources.files("coclick.logs").joinpath("formats", f"{name}.toml").read_text(encoding="utf-8")
    return parse_format(name, text, f"{name}.toml")


def parse_format(name: str, text: str, where: str) -> Format:
    """Return the format that a TOML text describes. `where` names the file in errors."""
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        hint = 'texts are in quotes, on one line: query = "search_term"'
        raise UserError(f"the format is not valid TOML: {error}", where=where, hint=hint) from None
    return _Parser(text, where).format(name, given)


@dataclass(frozen=True)
class _Parser:
    """Turns the tables of a TOML file into a format; errors name the line."""

    text: str
    where: str

    def format(self, name: str, given: Mapping[str, Any]) -> Format:
        """Return the format."""
        self._check_keys(given, _KEYS, "")
        rows = self._one_of(given, "rows", PLAIN, "events")
        if not isinstance(given.get("fields"), dict):
            raise UserError("the format has no table [fields]", where=self.where, hint='query = "…"')
        fields = {}
        for key, value in given["fields"].items():
            if key not in _fields_of(rows):
                raise self._error(_unknown(f"the field {key!r}", key, _fields_of(rows)), key, "fields")
            fields[key] = self._sources(value, key, "fields")
        required = {"query", "doc"} if rows == "events" else {"query", "doc", "clicks"}
        if missing := sorted(required - fields.keys()):
            raise UserError(
                f"the format has no field {missing[0]!r}",
                where=self.where,
                hint=f"a log of {rows} needs {', '.join(sorted(required))}",
            )
        join = self._one_of(given, "join", ("query_id", "session"), "")
        if (
            needed := {"query_id": {QUERY_ID}, "session": {"user", "timestamp"}}.get(join, set())
            - fields.keys()
        ):
            problem = UserError(f'join = "{join}" needs the field {min(needed)!r}')
            raise self._error(problem, "join", "")
        return Format(
            name,
            title=self._text(given, "title") or name,
            rows=rows,
            fields=fields,
            shown=self._sources(given["shown"], "shown", "") if "shown" in given else (),
            join=join,  # type: ignore[arg-type]
            first_position=self._first_position(given),
            actions=self._actions(given.get("actions", {})),
            recognise=self._names(given, "recognise"),
            columns=self._columns(given.get("columns", [])),
            **{key: self._text(given, key) for key in ("encoding", "time_format", "timezone")},
        )

    def _sources(self, value: Any, key: str, table: str) -> tuple[Source, ...]:
        """A path, {sql = "…"}, or a list of these."""
        sources = []
        for one in value if isinstance(value, list) else [value]:
            try:
                if isinstance(one, str):
                    sources.append(Source(parse_path(one)))
                elif isinstance(one, dict) and one.keys() == {"sql"} and isinstance(one["sql"], str):
                    column_names(one["sql"])
                    sources.append(Source(sql=one["sql"]))
                else:
                    raise UserError(f'{key!r} must be a path, {{sql = "…"}}, or a list of these')
            except UserError as error:
                raise self._error(error, key, table) from None
        return tuple(sources)

    def _first_position(self, given: Mapping[str, Any]) -> int | None:
        value = given.get("first_position")
        if value is not None and value not in (0, 1):
            raise self._error(UserError("first_position must be 0 or 1"), "first_position", "")
        return value

    def _actions(self, given: Any) -> dict[str, tuple[str, ...]]:
        if not isinstance(given, dict):
            raise self._error(UserError("actions must be a table: [actions]"), "actions", "")
        for action in given:
            if action not in (*ACTIONS, "ignore"):
                problem = _unknown(f"the action {action!r}", action, [*ACTIONS, "ignore"])
                raise self._error(problem, action, "actions")
        return {action: self._names(given, action, "actions") for action in given}

    def _columns(self, given: Any) -> tuple[tuple[str, ...], ...]:
        """The names of columns; a list of lists for files of several widths."""
        lists = given if given and isinstance(given, list) and isinstance(given[0], list) else [given]
        return tuple(self._names({"columns": names}, "columns") for names in lists if names)

    def _names(self, given: Mapping[str, Any], key: str, table: str = "") -> tuple[str, ...]:
        value = given.get(key, [])
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise self._error(UserError(f'{key} must be a list of names: ["…", "…"]'), key, table)
        return tuple(value)

    def _text(self, given: Mapping[str, Any], key: str) -> str | None:
        value = given.get(key)
        if value is not None and not isinstance(value, str):
            raise self._error(UserError(f"{key} must be a text"), key, "")
        return value

    def _one_of(self, given: Mapping[str, Any], key: str, values: Sequence[str], default: str) -> str:
        value = given.get(key, default)
        if value != default and value not in values:
            raise self._error(UserError(f"{key} must be one of {', '.join(values)}"), key, "")
        return str(value)

    def _check_keys(self, given: Mapping[str, Any], known: Sequence[str], table: str) -> None:
        for key in given:
            if key not in known:
                raise self._error(_unknown(f"the key {key!r}", key, known), key, table)

    def _error(self, error: UserError, key: str, table: str) -> UserError:
        """The error, with the line of a key."""
        inside = ""
        for number, line in enumerate(self.text.splitlines(), 1):
            if header := re.fullmatch(r"\s*\[([^\[\]]+)\]\s*(#.*)?", line):
                inside = header[1].strip()
                if inside == key and not table:
                    return UserError(error.what, where=f"{self.where}, line {number}", hint=error.hint)
            elif inside == table and re.match(rf'\s*"?{re.escape(key)}"?\s*[=.]', line):
                return UserError(error.what, where=f"{self.where}, line {number}", hint=error.hint)
        return UserError(error.what, where=self.where, hint=error.hint)


_KEYS = (
    *("title", "rows", "fields", "shown", "join", "first_position", "actions", "recognise", "columns"),
    *("encoding", "time_format", "timezone"),
)


def parse_path(text: str) -> tuple[Segment, ...]:
    """Return the steps of a path such as `event.items[].id` or `params[key=term].value`."""
    segments: list[Segment] = []
    at = 0
    while at < len(text) or not segments:
        step = _SEGMENT.match(text, at)
        if step is None:
            hint = 'write it like event.object.id, items[].id, params[key=term].value or "a.b".c'
            raise UserError(f"{text!r} is not a path", hint=hint)
        match = step["match"]
        pair = None if match is None else (match.partition("=")[0], match.partition("=")[2])
        segments.append(Segment(step["key"].strip('"'), bool(step["list"]) and pair is None, pair))
        at = step.end()
    if sum(segment.every for segment in segments) > 1:
        raise UserError(f"{text!r} has two lists", hint="a path may have one []")
    return tuple(segments)


def rename_columns(sql: str, names: Mapping[str, str]) -> str:
    """Return an SQL expression with other names for the columns that it reads."""
    tree, bound = _parse_sql(sql), set(column_names(sql))
    for expression in _expressions(tree):
        name = ".".join(expression.get("column_names", ()))
        if expression["class"] == "COLUMN_REF" and name in bound:
            expression["column_names"] = [names[name]]
    [(text,)] = duckdb.execute("SELECT json_deserialize_sql(?::JSON)", [json.dumps(tree)]).fetchall()
    return str(text).removeprefix("SELECT ").removesuffix(";")


def _parse_sql(sql: str) -> dict[str, Any]:
    """An expression as DuckDB parses it."""
    [(text,)] = duckdb.execute("SELECT json_serialize_sql(?)", [f"SELECT {sql}"]).fetchall()
    tree: dict[str, Any] = json.loads(text)
    if tree.get("error"):
        raise UserError(f"the SQL expression {sql!r} has an error: {tree['error_message']}")
    return tree


@cache
def column_names(sql: str) -> tuple[str, ...]:
    """Return the columns that an SQL expression reads; raise if it is more than an expression."""
    tree = _parse_sql(sql)
    node = tree["statements"][0]["node"] if len(tree["statements"]) == 1 else {}
    more = node.get("where_clause") or node.get("modifiers") or node.get("group_expressions")
    if len(node.get("select_list", ())) != 1 or node.get("from_table", {}).get("type") != "EMPTY" or more:
        raise UserError(f"{sql!r} is not one SQL expression", hint='such as sql = "lower(query)"')
    found: dict[str, None] = {}
    bound: set[str] = set()  # parameters of lambdas
    for expression in _expressions(node["select_list"]):
        if expression["class"] not in _EXPRESSIONS:
            kind = expression["class"].lower()
            raise UserError(f"the SQL expression {sql!r} may not contain a {kind}", hint="use functions only")
        if expression["class"] == "LAMBDA":
            names = (one for one in _expressions(expression["lhs"]) if one["class"] == "COLUMN_REF")
            bound |= {".".join(name["column_names"]) for name in names}
        if expression["class"] == "COLUMN_REF":
            found[".".join(expression["column_names"])] = None
    return tuple(name for name in found if name not in bound)


def _expressions(tree: Any) -> Iterator[dict[str, Any]]:
    """All expressions of a serialised statement."""
    if isinstance(tree, dict):
        if "class" in tree:
            yield tree
        for value in tree.values():
            yield from _expressions(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _expressions(value)


def _fields_of(rows: str) -> tuple[str, ...]:
    return FIELDS["clicks"] if rows == "clicks" else _EVENT_FIELDS


def _unknown(what: str, name: str, known: Sequence[str] | Mapping[str, Any], more: str = "") -> UserError:
    """The error for an unknown name, with the nearest known one."""
    near = difflib.get_close_matches(name, list(known), 1)
    hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(known)}"
    return UserError(f"{what} is unknown", hint=f"{hint} {more}".strip())
