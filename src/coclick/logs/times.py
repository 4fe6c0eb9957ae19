"""SQL that reads the times of a log, in any of the usual forms, as microseconds since 1970 in UTC.

    2011-09-14 12:46, 2011-09-14T12:46:01.5+02:00        ISO 8601, also with / or . between the numbers
    1316004360, 1316004360123, 20110914, 20110914124600  seconds to nanoseconds by size; 8 or 14 digits
    14/09/2011 12:46, 09/14/11 1:05 PM, 14.09.2011       day or month first: the values of the log decide
    14 Sep 2011, Sep 14, 2011 @ 12:46:00.000             with the English name of the month
    10/Oct/2000:13:55:36 -0700, /Date(1358066400000)/    Apache, JSON of .NET

The first two are tried first: one cast for ISO 8601, so that the other forms cost nothing where they do not
occur. Of the third, the column `date_text` keeps the text until `decide_order` has seen all of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from coclick.errors import UserError, counted

UTC = "UTC"
UNITS = {"s": "1e6", "ms": "1e3", "us": "1", "ns": "1e-3"}  # microseconds of one unit
EXCEL = "excel"  # the numbers that spreadsheets have for times
_EXCEL_1970 = 25569
_YEAR_2200 = 7_258_118_400_000_000  # in microseconds
_MAX_CONTRADICTIONS = 0.01  # share of dates that may contradict the order of the others; they are rejected

_NUMBER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL.*")
_ZONED = re.compile(r"TIMESTAMP WITH TIME ZONE|TIMESTAMPTZ")
_TIME = re.compile(r"TIMESTAMP.*|DATE")

_ZONE = r"(Z|z|(?:GMT|UTC)?[+-]\d{2}(?::?\d{2})?|[A-Za-z][A-Za-z_/]+)"
_CLOCK = (
    r"(?:[T ,@:]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(?:([AaPp])\.?[Mm]\.?)?\s*"
    + _ZONE
    + "?)?"
)
_CLOCK_NAMES = ("hour", "minute", "second", "fraction", "half", "zone")
_YEAR = r"(?:(\d{4})|(\d{2}))"
_MONTH = (
    r"((?i:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?))"
)
_WEEKDAY = r"(?:(?i:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+)?"
_SHORT_YEAR = r"^\d{1,2}-\d{1,2}-\d{2}(\D|$)"  # year, month, day as well as day, month, year


@dataclass(frozen=True)
class _Form:
    """A way to write times: a pattern with the names of its groups; `left` and `right` are day and month."""

    pattern: str
    names: tuple[str, ...]

    @property
    def sql(self) -> str:
        """The whole pattern as SQL."""
        return rf"'^\[?{self.pattern}{_CLOCK}(?:\s*\([A-Za-z ]+\))?\]?$'"


# Two digits of a year need / or . because 11-09-14 may as well begin with the year.
_DATE = _Form(r"(\d{1,2})[/.-](\d{1,2})(?:[/.-](\d{4})|[/.](\d{2}))", ("left", "right", "year", "short_year"))
_NAMED = [
    _Form(
        rf"{_WEEKDAY}(\d{{1,2}})[-/\s.]+{_MONTH}[-/\s.,]+{_YEAR}", ("day", "month_name", "year", "short_year")
    ),
    _Form(
        rf"{_WEEKDAY}{_MONTH}[\s.]+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})", ("month_name", "day", "year")
    ),
]
_YEAR_FIRST = _Form(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})", ("year", "month", "day"))
_COMPACT = r"'^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})?(?:[.,]\d+)?(Z|[+-]\d{2}(?::?\d{2})?)?$'"
_DOT_NET = r"'^/Date\((-?\d{1,15})([+-]\d{4})?\)/$'"
_FORMS = (_YEAR_FIRST, _DATE, *_NAMED)


@dataclass(frozen=True)
class TimeFormat:
    """How a column of times is read; `time_options` makes it from the user's options."""

    pattern: str | None = None  # for strptime; no other form is read
    unit: str | None = None  # of numbers: s, ms, us, ns or excel
    order: str | None = None  # of dates such as 03/04/2011: "day" or "month" first; None if undecided
    zone: str = UTC  # of times without a zone

    @property
    def undecided(self) -> bool:
        """Whether the values have to decide if day or month comes first."""
        return self.pattern is None and self.order is None and self.unit is None

    @property
    def option(self) -> str | None:
        """The value of --time-format that reads times like this."""
        return self.pattern or self.unit or (f"{self.order}-first" if self.order else None)

    def microseconds(self, value: str, type: str) -> str:
        """Return the SQL of a value of this DuckDB type as microseconds; null if it is not a time."""
        if _ZONED.fullmatch(type):
            return f"CASE WHEN isfinite({value}) THEN epoch_us({value}) END"
        if _TIME.fullmatch(type):
            return f"CASE WHEN isfinite({value}) THEN {self._in_zone(value)} END"
        text = _text(value, type)
        if self.pattern is not None:
            parsed = f"try_strptime({text}, {_quoted(self.pattern)})"
            return f"epoch_us({parsed})" if re.search("%[zZ]", self.pattern) else self._in_zone(parsed)
        if _NUMBER.fullmatch(type) or self.unit:
            return self._number(value)
        iso = self._iso(value if type == "VARCHAR" else text)  # trimmed, if need be, by the slower way
        other = f"coalesce({self._number(text)}, {self._other(text)}, {iso})"
        return f"CASE WHEN {iso} >= 0 THEN {iso} ELSE {other} END"

    def date_text(self, value: str, type: str) -> str:
        """Return the SQL of the text of a date whose order is undecided; null for other values."""
        if _TIME.fullmatch(type) or _NUMBER.fullmatch(type) or not self.undecided:
            return "NULL::VARCHAR"
        text = _text(value, type)
        return f"CASE WHEN coalesce(ts, -1) < 0 AND regexp_matches({text}, {_DATE.sql}) THEN {text} END"

    def error(self, value: str, type: str, given: str = "") -> list[str]:
        """Return the cases of an SQL CASE that say why `ts`, read from a value, is not a time of a log.

        With the condition `given`, other values are no errors.
        """
        text = _text(value, type)
        short_year = f"regexp_matches({text}, '{_SHORT_YEAR}')"  # ISO 8601 of the first century
        read = "date_text IS NULL AND " if self.undecided else ""
        read += f"{given} AND " if given else ""
        return [
            f"WHEN {read}(ts IS NULL OR (ts < 0 AND {short_year})) THEN {self._reason(text)}",
            f"WHEN {read}ts NOT BETWEEN 0 AND {_YEAR_2200} THEN 'timestamp|is not between 1970 and 2200'",
        ]

    def resolve(self, relation: str) -> str:
        """Return a relation with `ts` and `error` of the dates in its column `date_text`, and without it."""
        read = self.microseconds("date_text", "VARCHAR")
        return f"""SELECT * EXCLUDE (date_text) REPLACE (
            CASE WHEN error IS NOT NULL OR date_text IS NULL THEN error
                {" ".join(self.error("date_text", "VARCHAR"))} END AS error)
            FROM (SELECT * REPLACE (CASE WHEN date_text IS NULL THEN ts ELSE {read} END AS ts)
                  FROM ({relation}))"""

    def _in_zone(self, timestamp: str) -> str:
        """Microseconds of a TIMESTAMP or DATE of the zone.

        An hour that clocks repeat counts as the second one; an hour that they skip, as if not yet skipped.
        """
        if self.zone == UTC:
            return f"epoch_us({timestamp})"
        return f"epoch_us(timezone({_quoted(self.zone)}, CAST({timestamp} AS TIMESTAMP)))"

    def _iso(self, text: str) -> str:
        zoned = f"TRY_CAST({text} AS TIMESTAMPTZ)"
        instant = f"CASE WHEN isfinite({zoned}) THEN epoch_us({zoned}) END"
        if self.zone == UTC:
            return instant
        local = f"TRY_CAST({text} AS TIMESTAMP)"
        has_zone = rf"regexp_matches({text}, ':\d{{2}}(?:\.\d+)?\s*{_ZONE}$')"
        return f"""CASE WHEN {has_zone} THEN {instant}
            WHEN isfinite({local}) THEN {self._in_zone(local)} END"""

    def _number(self, value: str) -> str:
        number = f"TRY_CAST({value} AS DOUBLE)"
        if self.unit == EXCEL:  # days since 1899-12-30, by the clock on the wall
            milliseconds = f"TRY_CAST(round(({number} - {_EXCEL_1970}) * 86400000) AS BIGINT)"
            return self._in_zone(f"make_timestamp({milliseconds} * 1000)")
        if self.unit:
            return f"TRY_CAST({number} * {UNITS[self.unit]} AS BIGINT)"
        scale = f"""CASE WHEN {number} < 1e11 THEN 1e6 WHEN {number} < 1e14 THEN 1e3
            WHEN {number} < 1e17 THEN 1 ELSE 1e-3 END"""
        digits = f"CAST(TRY_CAST({number} AS BIGINT) AS VARCHAR)"
        written = [
            f"WHEN {number} BETWEEN {low} AND {high} THEN {self._in_zone(f'try_strptime({digits}, {form})')}"
            for low, high, form in (
                (19700101, 21991231, "'%Y%m%d'"),
                (19700101000000, 21991231235959, "'%Y%m%d%H%M%S'"),
            )
        ]
        return f"coalesce(CASE {' '.join(written)} END, TRY_CAST({number} * {scale} AS BIGINT))"

    def _other(self, text: str) -> str:
        """Microseconds of a text that is neither ISO 8601 nor a number."""
        day, month = ("left", "right") if self.order == "day" else ("right", "left")
        date = f"CASE WHEN regexp_matches({text}, {_DATE.sql}) THEN {self._form(text, _DATE, day, month)}"
        if self.order is None:
            date = "CASE"
        named = [
            f"WHEN regexp_matches({text}, {form.sql}) THEN {self._form(text, form)}"
            for form in (_YEAR_FIRST, *_NAMED)
        ]
        iso = rf"regexp_replace({text}, {_COMPACT}, '\1-\2-\3 \4:\5:\6\7')"
        iso = rf"regexp_replace({iso}, ':(Z|[+-]|$)', ':00\1')"
        compact = f"WHEN regexp_matches({text}, {_COMPACT}) THEN {self._iso(iso)}"
        dot_net = f"""WHEN regexp_matches({text}, {_DOT_NET})
            THEN TRY_CAST(regexp_extract({text}, {_DOT_NET}, 1) AS BIGINT) * 1000"""
        return " ".join([date, *named, compact, dot_net, "END"])

    def _form(self, text: str, form: _Form, day: str = "day", month: str = "month") -> str:
        """Microseconds of a text in a form, put together as ISO 8601. The lambda names the parts."""
        names = [*form.names, *_CLOCK_NAMES]
        year, named = "p.year", "month_name" in names
        if "short_year" in names:
            year = """CASE WHEN p.year <> '' THEN p.year
                WHEN p.short_year >= '70' THEN '19' || p.short_year ELSE '20' || p.short_year END"""
        number = f"list_position({_MONTH_LIST}, lower(left(p.month_name, 3)))" if named else f"p.{month}"
        iso = f"(({year}) || '-' || {number} || '-' || p.{day} || {_CLOCK_SQL})"
        zoned = f"epoch_us(TRY_CAST({iso} || {_ZONE_SQL} AS TIMESTAMPTZ))"
        parts = f"regexp_extract({text}, {form.sql}, [{', '.join(map(_quoted, names))}])"
        local = self._in_zone(f"TRY_CAST({iso} AS TIMESTAMP)")
        return f"list_transform([{parts}], lambda p: CASE WHEN p.zone = '' THEN {local} ELSE {zoned} END)[1]"

    def _reason(self, text: str) -> str:
        """What is wrong with a text that could not be read, as SQL."""
        if self.pattern is not None:
            return "'timestamp|is not in the form of --time-format'"
        if self.unit:
            return "'timestamp|is not a number, which --time-format asks for'"
        numbers = [rf"TRY_CAST(regexp_extract({text}, '{p}', 1) AS INTEGER)" for p in (_FIRST, _SECOND)]
        wrong, other = (numbers[1], "month") if self.order == "day" else (numbers[0], "day")
        date = f"regexp_matches({text}, {_DATE.sql})"
        contradicts = f"WHEN {date} AND {wrong} > 12 AND least({', '.join(numbers)}) <= 12 THEN"
        forms = " OR ".join(f"regexp_matches({text}, {form.sql})" for form in _FORMS)
        return rf"""CASE
            {contradicts} 'timestamp|is a date with the {other} first, unlike most dates of the log'
            WHEN {forms} THEN 'timestamp|is a date or time that does not exist, or of an unknown zone'
            WHEN regexp_matches({text}, '{_SHORT_YEAR}')
            THEN 'timestamp|has a year of two digits between hyphens; name the form with --time-format'
            WHEN regexp_matches({text}, '^\d{{1,2}}:\d{{2}}')
            THEN '{_NO_TIME} but a clock time without a date{_FORM_LIST}'
            WHEN NOT regexp_matches({text}, '\d') THEN '{_NO_TIME} but a text without digits{_FORM_LIST}'
            ELSE '{_NO_TIME} in a known form{_FORM_LIST}' END"""


_NO_TIME = "timestamp|is not a time"
_FORM_LIST = "; accepted are ISO 8601, 14/09/2011, 14 Sep 2011, 1316004360, or what --time-format says"
_MONTH_LIST = "['jan','feb','mar','apr','may','jun','jul','aug','sep','oct','nov','dec']"
_NOON = "CASE WHEN lower(p.half) = 'p' THEN 12 ELSE 0 END"
_HOUR = f"""CASE WHEN p.half = '' THEN p.hour WHEN TRY_CAST(p.hour AS INTEGER) BETWEEN 1 AND 12
    THEN CAST(TRY_CAST(p.hour AS INTEGER) % 12 + {_NOON} AS VARCHAR) END"""
_CLOCK_SQL = f"""CASE WHEN p.hour = '' THEN '' ELSE ' ' || ({_HOUR}) || ':' || p.minute
    || ':' || CASE WHEN p.second = '' THEN '00' ELSE p.second END
    || CASE WHEN p.fraction = '' THEN '' ELSE '.' || p.fraction END END"""
_ZONE_SQL = r"""CASE WHEN regexp_matches(p.zone, '^([+-]|[Zz]$)') THEN upper(p.zone)
    ELSE regexp_replace(' ' || p.zone, '^ (GMT|UTC)([+-])', '\2') END"""
_FIRST, _SECOND = "^[^0-9]*([0-9]+)", "^[^0-9]*[0-9]+[^0-9]+([0-9]+)"

# Counts what `decide_order` needs, in DuckDB as in Spark.
COUNT_ORDERS = f"""
    SELECT count(*), count_if(first > 12 AND second <= 12), count_if(second > 12 AND first <= 12),
        min(shown), max(shown), reverse(min(reverse(shown)))
    FROM (SELECT *, CASE WHEN first <> second THEN date_text END AS shown FROM (
          SELECT date_text, CAST(regexp_extract(date_text, '{_FIRST}', 1) AS INTEGER) AS first,
              CAST(regexp_extract(date_text, '{_SECOND}', 1) AS INTEGER) AS second
          FROM ({{source}}) AS source WHERE date_text IS NOT NULL) AS numbers) AS dates"""


@dataclass(frozen=True)
class TimeSpan:
    """The events that count: from `since` on and before `until`, in microseconds; None is open."""

    since: int | None = None
    until: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether all events count."""
        return self.since is None and self.until is None

    @property
    def outside(self) -> str:
        """The SQL condition that an event does not count."""
        limits = {"ts < ": self.since, "ts >= ": self.until}
        tests = [f"{test}{time}" for test, time in limits.items() if time is not None]
        return f"({' OR '.join(tests)})"

    @property
    def counts(self) -> list[str]:
        """The SQL of the number of events, of those outside, and of the first and last time."""
        return ["count(*)", f"count_if({self.outside})", "min(ts)", "max(ts)"]


def decide_order(n: int, day_first: int, month_first: int, *examples: str | None) -> str | None:
    """Return which of day and month comes first, or None if there is no such date; raise if it is open.

    The arguments are the result of `COUNT_ORDERS`: how many dates there are, how many can only be read with
    the day or the month first, and three of the dates (null if both readings of all are the same).
    """
    if not n:
        return None
    few = min(day_first, month_first)
    if few > _MAX_CONTRADICTIONS * max(day_first, month_first):
        raise UserError(
            f"some dates of the log have the day first ({counted(day_first, 'row')}), others the month "
            f"({counted(month_first, 'row')})",
            hint="build from files with the same form of dates, or choose with --time-format day-first or "
            "month-first: dates in the other order are then rejected",
        )
    values = [value for value in dict.fromkeys(examples) if value is not None]
    if values and day_first == month_first:
        raise UserError(
            f"nothing tells if the dates of the log have the day or the month first: {_readings(values)}",
            hint="--time-format day-first or --time-format month-first (in Python: time_format=…)",
        )
    return "month" if month_first > day_first else "day"


def _readings(values: list[str]) -> str:
    """Show values in both readings."""
    shown = []
    for value in values:
        first, second, year = re.findall(r"\d+", value)[:3]
        year = year if len(year) == 4 else ("19" if year >= "70" else "20") + year
        day_first, month_first = (
            f"{year}-{int(b):02}-{int(a):02}" for a, b in ((first, second), (second, first))
        )
        shown.append(f"{value!r} is {day_first} or {month_first}")
    return "; ".join(shown)


def _text(value: str, type: str) -> str:
    if type == "BLOB":
        return f"trim(TRY(decode({value})))"
    return f"trim({value})" if type == "VARCHAR" else f"CAST({value} AS VARCHAR)"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
