"""Recognise a JSON text that is one value, and not one record after the other: where are its records?

`{"total": 2, "data": [{…}, {…}]}` and `{"result": {"items": [{…}]}}` hold one array of records. Objects of
columns and arrays of arrays have no records: what to do is said. An object with the names of fields is a
record, whatever arrays it has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from coclick.errors import UserError
from coclick.graph.columns import match_columns

_DEPTH = 2  # keys that lead to an array, at most
_SPACE = re.compile(r"[ \t\r\n\ufeff]*")
_COMMA = re.compile(r"[ \t\r\n,]*")
_NO_VALUE = re.compile(r'[{\[]|""')  # of a field
_RECORDS = re.compile(r"\[\s*\{")
_ROWS = re.compile(r'[\s\ufeff]*\[\s*\[\s*["\d-]')
_MANY = 1 << 20  # characters: a value that is not closed within as many is one large value
_OF_RECORDS = ("id", "_id", "_source", "title", "name")  # keys that an object around records does not have
_ONE_ALONE = ("query", "doc")  # fields that only a record has; of others, two
_OTHERS = ("timestamp", "user", "session", "action", "position", "event_id")
_decode = json.JSONDecoder().raw_decode


def path_to_records(text: str, name: str) -> tuple[str, ...] | None:
    """Return the keys that lead to the only array of records in an object; None for any other text.

    `text` is the text of the file `name`, or its first part. Raises for texts without objects as records,
    and if there are several arrays of them.
    """
    if _ROWS.match(text):
        raise UserError(
            "the JSON rows are arrays of values, without names",
            where=name,
            hint='write objects, {"query": …, "doc": …}; or a table: python -c "import csv, json, sys; '
            f"csv.writer(sys.stdout).writerows(json.load(open('{name}')))\" > log.csv",
        )
    start = _end(_SPACE, text, 0)
    if not text.startswith("{", start) or not _is_one_value(text, start):
        return None
    if _are_columns(text, start):
        keys = [key for key, _ in _members(text, start)]
        raise UserError(
            f"the JSON is one object of columns ({', '.join(keys[:4])}), not of records",
            where=name,
            hint=f"write one object per record; in pandas: pd.read_json({name!r})"
            ".to_json('log.ndjson', orient='records', lines=True)",
        )
    found = list(_arrays(text, start, ()))
    if len(found) > 1:
        named = [repr(".".join(path)) for path in found]
        one = f"jq '.{'.'.join(found[0])}[]' {name} > records.json"
        raise UserError(
            f"the JSON object has several arrays of records: {', '.join(named[:8])}",
            where=name,
            hint=f"write the one that is meant to a file of its own, such as {one}",
        )
    return found[0] if found else None


def _is_one_value(text: str, start: int) -> bool:
    """Whether the value that begins here is all of the text, or longer than it."""
    try:
        _, end = _decode(text, start)
    except json.JSONDecodeError as error:
        return error.pos > min(_MANY, len(text) - 16) or error.msg.startswith("Unterminated string")
    except (ValueError, RecursionError):
        return False
    return _end(_SPACE, text, end) == len(text)


def _arrays(text: str, start: int, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The paths to arrays of records, up to two keys deep; none if the object here is a record itself."""
    members = dict(_members(text, start))
    if not _is_record([key for key, at in members.items() if not _NO_VALUE.match(text, at)]):
        for key, at in members.items():
            if _RECORDS.match(text, at):
                yield (*path, key)
            elif text.startswith("{", at) and len(path) + 1 < _DEPTH:
                yield from _arrays(text, at, (*path, key))


def _is_record(keys: list[str]) -> bool:
    fields = match_columns(keys)
    return (
        any(name in keys for name in _OF_RECORDS)
        or any(name in fields for name in _ONE_ALONE)
        or sum(name in fields for name in _OTHERS) > 1
    )


def _are_columns(text: str, start: int) -> bool:
    """Whether the object has two or more arrays of values as long as each other, with names of fields."""
    try:
        value, _ = _decode(text, start)
    except (ValueError, RecursionError):
        return False
    arrays = {key: one for key, one in value.items() if isinstance(one, list) and one}
    plain = all(not isinstance(cell, dict | list) for one in arrays.values() for cell in one[:10])
    return len(arrays) > 1 and plain and len(set(map(len, arrays.values()))) == 1 and _is_record([*arrays])


def _members(text: str, start: int) -> Iterator[tuple[str, int]]:
    """The keys of the object that begins here, with the place of each value; until the text ends."""
    at = start + 1
    while True:
        try:
            key, at = _decode(text, _end(_COMMA, text, at))
            at = _end(_SPACE, text, at)
            if not isinstance(key, str) or not text.startswith(":", at):
                return
            at = _end(_SPACE, text, at + 1)
            yield key, at
            _, at = _decode(text, at)
        except (ValueError, RecursionError):
            return


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """The end of a pattern that matches everywhere."""
    match = pattern.match(text, at)
    return at if match is None else match.end()
