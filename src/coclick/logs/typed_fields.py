"""SQL expressions that convert columns to typed fields and validate them.

Columns of strings or Parquet types go in; typed fields and `error` come out. `error` is null for a valid row,
else "field|reason" for the first error. The input column `parse_error` is the same for lines that could not
be split.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coclick.graph.columns import FIELDS
from coclick.logs.aggregation_sql import MICRO
from coclick.logs.schema import ACTIONS
from coclick.logs.times import TimeFormat

NO_FLAG = "clicked|is not 0 or 1; a column of counts is named with --columns clicks=NAME"
BLANK_QUERY = "query|is blank once normalised"  # detected after normalisation, not here
BLANK_SCRUBBED = "query|is blank once scrubbed"
NO_QUERY = " without a query"  # appended to the action of a search
_MAX_VALUE = 10**12
_MAX_POSITION = 10**9  # leaves room in int32 to add 1 if the log counts from 0


@dataclass(frozen=True)
class Column:
    """The SQL expression that reads a field, and its DuckDB type."""

    sql: str
    type: str = "VARCHAR"

    @property
    def missing(self) -> str:
        """The condition that the value is missing."""
        return f"coalesce(trim({self.sql}), '') = ''" if self.type == "VARCHAR" else f"{self.sql} IS NULL"

    def text(self) -> str:
        """Return the value as text; null if empty or not valid UTF-8."""
        if self.type == "BLOB":
            return f"nullif(TRY(decode({self.sql})), '')"
        if self.type in ("DOUBLE", "FLOAT"):  # whole numbers beside missing ones: 17 is no id 17.0
            return f"nullif(regexp_replace(CAST({self.sql} AS VARCHAR), '\\.0$', ''), 'nan')"
        return f"nullif({self.sql if self.type == 'VARCHAR' else f'CAST({self.sql} AS VARCHAR)'}, '')"

    def number(self) -> str:
        """Return the value as a DOUBLE; null if it is not a number."""
        return f"TRY_CAST({self.sql} AS DOUBLE)"


_DEFAULT_TIMES = TimeFormat()


def typed(
    rows: str,
    column: Mapping[str, Column],
    source: str,
    times: TimeFormat = _DEFAULT_TIMES,
    joined: bool = False,
    searches: Sequence[str] = ACTIONS["search"],
) -> str:
    """Return a relation that adds the typed fields and `error` to the rows of a log or view.

    If `joined`, an event may take its query, user and time from another record, so they are checked later.
    `searches` are the names of actions that mean a search.
    """
    if rows == "events":
        if "timestamp" in column:  # apart, because the other fields refer to it several times
            time = column["timestamp"]
            source = f"SELECT *, {times.microseconds(time.sql, time.type)} AS ts FROM ({source})"
        return f"SELECT *, {event_fields(column, times, joined, searches)} FROM ({source})"
    fields = {"clicks": click_fields, "view": view_fields}[rows]
    return f"SELECT *, {fields(column)} FROM ({source})"


def typed_columns(rows: str, fields: set[str]) -> list[str]:
    """Return the column names of the typed fields of a log or view."""
    if rows != "events":
        return [name for name in FIELDS[rows] if name in fields]
    optional = {"action": "action", "user": "usr", "timestamp": "ts", "position": "position"}
    optional |= {name: name for name in ("session", "event_id", "dwell", "results", "query_id")}
    return ["query", "doc", *(optional[name] for name in optional if name in fields)]


def click_fields(column: Mapping[str, Column]) -> str:
    """Return the select list of a log of clicks: query, doc, clicks (in 1e-6), impressions, users, error."""
    counts = [field for field in ("clicks", "impressions", "users") if field in column]
    checks = []
    for field in counts:
        value = f"{field}_given"
        if field == "clicks":
            checks.append(f"WHEN {column[field].missing} THEN 'clicks|is missing'")
        checks += [
            f"WHEN {value} IS NULL AND NOT ({column[field].missing}) THEN '{field}|is not a number'",
            f"WHEN isnan({value}) OR isinf({value}) THEN '{field}|is not a finite number'",
            f"WHEN {value} < 0 THEN '{field}|is negative'",
            f"WHEN {value} > {_MAX_VALUE} THEN '{field}|is too large'",
        ]
    shown = "coalesce(impressions_given, 0)" if "impressions" in column else "0"
    checks.append(f"WHEN round(clicks_given * {MICRO}) = 0 AND {shown} = 0 THEN 'clicks|is zero'")
    scales = {"clicks": MICRO, "impressions": 1, "users": 1}
    fields = [f"{column[field].text()} AS {field}" for field in ("query", "doc")]
    fields += [f"{column[field].number()} AS {field}_given" for field in counts]
    fields.append(_error([_MISSING, *checks]))
    for field in counts:
        whole = f"round(coalesce({field}_given, 0) * {scales[field]})::BIGINT"
        fields.append(f"CASE WHEN error IS NULL THEN {whole} END AS {field}")
    return ", ".join(fields)


def event_fields(
    column: Mapping[str, Column], times: TimeFormat, joined: bool, searches: Sequence[str]
) -> str:
    """Return the select list of an event log: query, doc, the optional fields, error, given `ts`.

    If `times` is undecided, `date_text` is the text of a date: `times.resolve` adds its `ts` and `error`.

    `action` is null only if it is missing or the row could not be split into columns. A search needs no
    document; one without a query is renamed, so that it is ignored like other actions.
    """
    texts = [name for name in ("query", "doc", "session", "event_id", "query_id") if name in column]
    fields, checks = [f"{column[name].text()} AS {name}" for name in texts], []
    no_doc = "doc IS NULL"
    if "action" in column:
        given = column["action"].text()
        named = given if joined else searches_without_query(given, searches)
        fields.append(f"CASE WHEN parse_error IS NULL THEN {named} END AS action")
        if "clicked" in column:
            checks.append(f"WHEN action IS NULL AND NOT ({column['clicked'].missing}) THEN '{NO_FLAG}'")
            checks.append("WHEN action IS NULL THEN 'clicked|is missing'")
        checks.append("WHEN action IS NULL THEN 'action|is missing'")
        no_doc = f"doc IS NULL AND NOT ({is_search('action', searches)})"
    checks += [] if joined else [MISSING_QUERY]
    checks.append(f"WHEN {no_doc} THEN 'doc|is missing'")
    if "user" in column:
        fields.append(f"{column['user'].text()} AS usr")
    if "timestamp" in column:
        time = column["timestamp"]
        if times.undecided:
            fields.append(f"{times.date_text(time.sql, time.type)} AS date_text")
        checks += [] if joined else [f"WHEN {time.missing} THEN '{NO_TIME}'"]
        checks += times.error(time.sql, time.type, f"NOT ({time.missing})" if joined else "")
    if "position" in column:
        fields.append(f"TRY_CAST({column['position'].sql} AS INTEGER) AS position")
        checks += _position_checks(column["position"])
    for name in ("dwell", "results"):
        if name in column:
            fields.append(f"{column[name].number()} AS {name}")
            checks.append(
                f"""WHEN NOT ({column[name].missing})
                    AND ({name} IS NULL OR NOT isfinite({name}) OR {name} < 0)
                    THEN '{name}|is not a number from 0 up'"""
            )
    return ", ".join([*fields, _error(checks)])


def _position_checks(position: Column) -> list[str]:
    """The checks of a position; one of a whole number in a Parquet file needs no parsing."""
    not_whole = "THEN 'position|is not a whole number from 0 up'"
    if position.type == "INTEGER":
        return [f"WHEN position > {_MAX_POSITION} THEN 'position|is too large' WHEN position < 0 {not_whole}"]
    given = position.number()
    return [
        f"WHEN isfinite({given}) AND {given} > {_MAX_POSITION} THEN 'position|is too large'",
        f"""WHEN NOT ({position.missing}) AND (position IS NULL OR position < 0 OR position <> {given})
            {not_whole}""",
    ]


def view_fields(column: Mapping[str, Column]) -> str:
    """Return the select list of one side of a view: query or doc, feature, value (default 1), error."""
    key = "query" if "query" in column else "doc"
    checks = [f"WHEN {name} IS NULL THEN '{name}|is missing'" for name in (key, "feature")]
    value = "1::DOUBLE"
    if "value" in column:
        value = column["value"].number()
        checks += [
            f"WHEN {column['value'].missing} THEN 'value|is missing'",
            "WHEN value IS NULL THEN 'value|is not a number'",
            "WHEN isnan(value) OR isinf(value) THEN 'value|is not a finite number'",
            "WHEN value < 0 THEN 'value|is negative'",
            f"WHEN value < 1.0 / {_MAX_VALUE} THEN 'value|is zero'",
            f"WHEN value > {_MAX_VALUE} THEN 'value|is too large'",
        ]
    fields = [f"{column[field].text()} AS {field}" for field in (key, "feature")]
    return ", ".join([*fields, f"{value} AS value", _error(checks)])


def action_of_flag(clicked: Column) -> Column:
    """Return the action of a column that says whether a result was clicked: a click, or only shown."""
    given = f"lower(trim({clicked.text()}))"
    return Column(f"""CASE WHEN {given} IN ('1', '1.0', 'true', 't', 'yes', 'y') THEN 'click'
        WHEN {given} IN ('0', '0.0', 'false', 'f', 'no', 'n') THEN 'impression' END""")


def searches_without_query(action: str, searches: Sequence[str]) -> str:
    """Return the name of an action; that of a search without a query says so, and matches no action."""
    if not searches:
        return action
    search = f"query IS NULL AND {is_search(action, searches)}"
    return f"CASE WHEN {search} THEN {action} || '{NO_QUERY}' ELSE {action} END"


def is_search(action: str, searches: Sequence[str]) -> str:
    """Return the condition that the name of an action means a search.

    It is no IN, because DuckDB plans that as a join, and computes it even if nobody reads the result.
    """
    if not searches:
        return "false"
    names = "|".join(re.escape(name).replace("_", r"[\s_-]+") for name in searches)
    return f"regexp_full_match(trim({action}), '{names}', 'i')"


def _error(checks: Sequence[str]) -> str:
    """The column `error`: that of the line or, if it could be split, of the first check that fails."""
    return f"CASE WHEN parse_error IS NOT NULL THEN parse_error {' '.join(checks)} END AS error"


MISSING_QUERY = "WHEN query IS NULL THEN 'query|is missing'"
NO_TIME = "timestamp|is missing"
MISSING_TIME = f"WHEN ts IS NULL THEN '{NO_TIME}'"
_MISSING = f"{MISSING_QUERY} WHEN doc IS NULL THEN 'doc|is missing'"
