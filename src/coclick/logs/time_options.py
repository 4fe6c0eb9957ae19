"""Read the options that concern times: --time-format, --timezone, --since, --until, --half-life."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from difflib import get_close_matches
from typing import Any, Self

import duckdb

from coclick.errors import UserError, counted
from coclick.logs.times import EXCEL, UNITS, TimeFormat, TimeSpan

_ORDERS = {"day-first": "day", "month-first": "month"}
_DIRECTIVES = "aAbBcdfgGhHIjmMnpSTuUVwWxXyYzZ%"  # that DuckDB reads
_INSTEAD = {"D": "%m/%d/%y", "F": "%Y-%m-%d", "R": "%H:%M", "r": "%I:%M:%S %p", "e": "%d", "k": "%H",
            "l": "%I", "P": "%p", "L": "%g", "N": "%n", "i": "%M"}  # fmt: skip
_JAVA = {"yyyy": "%Y", "yy": "%y", "MMM": "%b", "MM": "%m", "dd": "%d", "HH": "%H", "hh": "%I", "mm": "%M",
         "ss": "%S", "SSS": "%g", "d": "%d", "a": "%p", "Z": "%z"}  # fmt: skip
_HALF_LIFE = {"h": 1 / 24, "d": 1.0, "w": 7.0}


@dataclass(frozen=True)
class TimeOptions:
    """The options that concern times, as the user gave them; creating them raises if one of them is wrong."""

    time_format: Any = None
    timezone: Any = None
    since: Any = None
    until: Any = None
    half_life: Any = None
    format: TimeFormat = field(init=False)
    span: TimeSpan = field(init=False)
    half_life_days: float | None = field(init=False)

    def __post_init__(self) -> None:
        """Read the options."""
        format = parse_time_format(self.time_format, self.timezone)
        limits = ((self.since, "--since"), (self.until, "--until"))
        span = TimeSpan(*(parse_time(given, name, format.zone) for given, name in limits))
        if span.since is not None and span.until is not None and span.since >= span.until:
            hint = "events from --since on and before --until are read"
            raise UserError("--since is not before --until", hint=hint)
        object.__setattr__(self, "format", format)
        object.__setattr__(self, "span", span)
        object.__setattr__(self, "half_life_days", parse_half_life(self.half_life))

    def with_defaults(self, time_format: str | None, timezone: str | None) -> Self:
        """Return the options, with those of the log's format where the user gave none."""
        return replace(self, time_format=self.time_format or time_format, timezone=self.timezone or timezone)

    def check_fields(self, fields: Iterable[str]) -> None:
        """Raise if an option needs times and the log has none."""
        needed = {"--since or --until": not self.span.is_open, "--half-life": self.half_life is not None}
        needed["--time-format"] = self.format.option is not None
        if "timestamp" not in fields:
            for option, given in needed.items():
                if given:
                    raise UserError(
                        f"{option} needs a log of events with a column for the time",
                        hint="name the column with --columns (in Python: columns=…), or leave the option out",
                    )


def time_stats(times: TimeFormat, span: TimeSpan, outside: int) -> dict[str, Any]:
    """Return what the statistics of a graph keep of how times were read and how many were left out."""
    found: dict[str, Any] = {"timezone": times.zone}
    if times.option:
        found["time_format"] = times.option
    if not span.is_open:
        limits = {"since": span.since, "until": span.until}
        found |= {name: as_iso(time) for name, time in limits.items() if time is not None}
        found["outside_span"] = outside
    return found


def check_outside(total: int, outside: int, first: int, last: int) -> int:
    """Return the number of events outside the span; raise if these are all."""
    if total and outside == total:
        raise UserError(
            f"all {counted(total, 'event')} are outside --since and --until",
            hint=f"the log has events from {as_iso(first)} to {as_iso(last)}",
        )
    return outside


def as_iso(time: int | None) -> str | None:
    """Return microseconds since 1970 as ISO 8601."""
    return None if time is None else (_START + timedelta(microseconds=time)).isoformat()


_START = datetime(1970, 1, 1, tzinfo=UTC)


def parse_time_format(given: Any, timezone: Any = None) -> TimeFormat:
    """Return how to read times, given --time-format and --timezone; raise if one of them is wrong."""
    zone = TimeFormat().zone if timezone is None else check_timezone(timezone)
    if given is None:
        return TimeFormat(zone=zone)
    if not isinstance(given, str) or not given.strip():
        raise UserError(f"--time-format must be a text, not {given!r}", hint=_EXAMPLES)
    if given in _ORDERS:
        return TimeFormat(order=_ORDERS[given], zone=zone)
    if given in UNITS or given == EXCEL:
        return TimeFormat(unit=given, zone=zone)
    _check_pattern(given)
    return TimeFormat(pattern=given, zone=zone)


_EXAMPLES = (
    "for example '%d/%m/%Y %H:%M' or '%m/%d/%Y %I:%M %p' (the directives of strptime), day-first, "
    "month-first, or the unit of numbers: s, ms, us, ns, excel"
)


def _check_pattern(pattern: str) -> None:
    directives = re.findall(r"%(-?.?)", pattern, re.DOTALL)
    if not directives:
        java = re.sub("|".join(_JAVA), lambda match: _JAVA[match[0]], pattern)
        hint = f"--time-format '{java}'" if re.search("%[Yy]", java) else _EXAMPLES
        raise UserError(f"--time-format {pattern!r} has no directive such as %Y", hint=hint)
    for directive in directives:
        letter = directive.lstrip("-")
        if letter == "s":
            raise UserError(
                "--time-format %s is not needed", hint="seconds since 1970 are read without a format"
            )
        if letter not in _DIRECTIVES or not letter:
            instead = _INSTEAD.get(letter)
            raise UserError(
                f"--time-format {pattern!r}: the directive '%{directive}' is unknown",
                hint=f"write {instead} instead" if instead else _EXAMPLES,
            )
    letters = {directive.lstrip("-") for directive in directives}
    if "I" in letters and "p" not in letters:
        raise UserError(
            f"--time-format {pattern!r} has %I, a 12-hour clock, but no %p", hint="add %p, or write %H"
        )
    complete = letters & set("cx") or ({"G", "V", "u"} <= letters) or (
        letters & set("yY") and ("j" in letters or (letters & set("bBhm") and "d" in letters))
    )  # fmt: skip
    if not complete:
        raise UserError(
            f"--time-format {pattern!r} has no complete date", hint="it needs a year, a month and a day"
        )
    try:
        _evaluate(f"SELECT try_strptime('', {_quoted(pattern)})")
    except duckdb.Error as error:
        raise UserError(f"--time-format {pattern!r} cannot be used: {error}", hint=_EXAMPLES) from None


def check_timezone(given: Any) -> str:
    """Return the name of a time zone as DuckDB spells it; raise if there is none."""
    names = [row[0] for row in _evaluate("SELECT name FROM pg_timezone_names()")]
    known = {name.lower(): name for name in names}
    if not isinstance(given, str) or given.lower() not in known:
        wanted = str(given).lower().replace(" ", "_")
        cities = {name.rsplit("/")[-1].lower(): name for name in names}
        near = [known.get(name) or cities[name] for name in get_close_matches(wanted, {**known, **cities}, 3)]
        hint = f"did you mean {', '.join(dict.fromkeys(near))}?" if near else "for example Europe/Berlin"
        raise UserError(f"--timezone {given!r} is not the name of a time zone", hint=hint)
    return known[given.lower()]


def parse_time(given: Any, option: str, zone: str) -> int | None:
    """Return a day or time of an option in microseconds since 1970; a day means its beginning in `zone`."""
    if given is None:
        return None
    text = given.isoformat() if isinstance(given, date | datetime) else given
    if isinstance(text, str) and re.match(r"\d{4}-\d{2}-\d{2}", text):
        sql = TimeFormat(order="day", zone=zone).microseconds(_quoted(text), "VARCHAR")
        found = _evaluate(f"SELECT {sql}")[0][0]
        if found is not None:
            return int(found)
    raise UserError(
        f"{option} {given!r} is not a day or time", hint="write it like 2026-05-01 or 2026-05-01T08:00+02:00"
    )


def parse_half_life(given: Any) -> float | None:
    """Return a half-life such as "60d", "12h" or "4w" in days."""
    if given is None:
        return None
    if isinstance(given, timedelta):
        days = given / timedelta(days=1)
    else:
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([hdw])\s*", str(given).lower())
        days = float(match[1]) * _HALF_LIFE[match[2]] if match else 0
    if not 1e-3 < days < 1e6:
        raise UserError(f"--half-life {given!r} is not a time span", hint="write it like 60d, 12h or 4w")
    return days


def _evaluate(sql: str) -> list[Any]:
    with duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false"}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        return connection.execute(sql).fetchall()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
