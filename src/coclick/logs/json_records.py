"""Split a JSON text into records, one per line, with bounded memory: arrays, pages of hits, indented objects.

A text is a sequence of values. An array, or an array of arrays, holds records; so does a page such as
`{"hits": {"hits": […]}}`. Everything else is a record. What is no JSON is written as it is, for the reader
to reject. A second file has for each record its line in the text and, if we know it, its defect.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO

_BLOCK = 1 << 20  # characters
_MAX_RECORD = 8_000_000  # bytes, the limit of a line
_MAX_KEPT = 10_000  # characters of a record that is rejected
_MAX_DEPTH = 2  # of arrays that hold records
CUT_OFF, TOO_DEEP = "the record is cut off at the end of the file", "is nested too deeply"
TOO_LONG, NO_RECORDS = "the record is too long", "an object without records"
ARRAY_CUT_OFF = "the array is cut off at the end of the file"

# Pages: the keys that lead to their array of records.
_PATHS = {("hits", "hits"), ("response", "docs")}
_ONLY_KEY = re.compile(r'\s*\{\s*"(events|records|rows|data|docs|results)"\s*:\s*\[\s*[{\]]')
_BLANK = re.compile(r"[ \t\r\n,\ufeff]*")
_SPACE = re.compile(r"[ \t\r\n]*")
_TOKEN = re.compile(r'"[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*+"|[{}\[\],\r\n"]')
_STRING_REST = re.compile(r'[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*+("?)')
_LINE_END = re.compile(r"[\r\n]")
_MAX_OPEN = 10_000
_OPENING = {"}": "{", "]": "["}
_BROKEN = object()
# Numbers stay text: Python refuses to convert very long ones.
_decode = json.JSONDecoder(parse_int=str, parse_float=str).raw_decode


def page_path(text: str) -> tuple[str, ...] | None:
    """Return the keys that lead to the records of a page, given the begin of a text; None for other texts."""
    if only := _ONLY_KEY.match(text):
        return (only[1],)
    for path in _PATHS:
        if _leads_to_array(text, path):
            return path
    return None


def _leads_to_array(text: str, path: tuple[str, ...]) -> bool:
    """Whether a text begins with an object in which `path` leads to an array."""
    at = _end(_SPACE, text, 0)
    if not path:
        return text.startswith("[", at)
    if not text.startswith("{", at):
        return False
    at += 1
    while True:
        try:
            key, at = _decode(text, _end(_BLANK, text, at))
            at = _end(_SPACE, text, at)
            if not isinstance(key, str) or not text.startswith(":", at):
                return False
            if key == path[0]:
                return _leads_to_array(text[at + 1 :], path[1:])
            _, at = _decode(text, _end(_SPACE, text, at + 1))
        except (ValueError, RecursionError):
            return False


def is_by_line(lines: list[str]) -> bool:
    """Return whether a JSON text has one record per line, given its first lines."""
    text = "\n".join(lines)
    if text.lstrip("\ufeff \t\r\n").startswith("[") or page_path(text):
        return False
    return any(_is_object(line) for line in lines)


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def split_records(
    stream: IO[bytes], path: tuple[str, ...] | None, out: Path, places: Path, max_bytes: int | None = None
) -> int:
    """Write the records of a UTF-8 text to `out`, their lines and defects to `places`; return their number.

    `path` leads to the records of a page, None if it has no pages. At most about `max_bytes` are written.
    """
    count = size = 0
    with out.open("wb") as records, places.open("w", encoding="utf-8") as found:
        for line, text, defect in _Splitter(stream, path or ()).records():
            whole = _LINE_END.sub(" ", text).encode("utf-8", "surrogateescape")
            if len(whole) >= _MAX_RECORD:
                whole, defect = _cut(text), TOO_LONG
            records.write(whole + b"\n")
            found.write(f"{line}\t{defect}\n")
            count, size = count + 1, size + len(whole)
            if max_bytes is not None and size >= max_bytes:
                break
    return count


def _cut(text: str) -> bytes:
    """The begin of a rejected record on one line. It is no valid JSON: its brackets are not closed."""
    return _LINE_END.sub(" ", text[:_MAX_KEPT]).encode("utf-8", "surrogateescape")


Record = tuple[int, str, str]  # line, text, defect


class _Splitter:
    """A text and the place in it, read block by block. `records` yields the records."""

    def __init__(self, stream: IO[bytes], path: tuple[str, ...]) -> None:
        self._source = io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", newline="")
        self._path = path
        self._text, self._at, self._line = "", 0, 1
        self._done = False  # all of the text was read
        self._is_cut_off = False

    def records(self) -> Iterator[Record]:
        """Yield the line, the text and the defect of each record."""
        try:
            while self._skip(_BLANK):
                if self._next == "[":
                    yield from self._array(1)
                elif self._next == "{" and self._path:
                    yield from self._page()
                elif self._next in "]}":
                    self._move(1)  # the rest of a broken record
                else:
                    yield self._record()
        finally:
            self._source.detach()

    def _array(self, depth: int) -> Iterator[Record]:
        self._move(1)
        while self._skip(_BLANK):
            if self._next == "]":
                self._move(1)
                return
            if self._next == "[" and depth < _MAX_DEPTH:
                yield from self._array(depth + 1)
            elif self._next == "}":
                self._move(1)  # the rest of a broken record
            else:
                yield self._record()
        if not self._is_cut_off:
            self._is_cut_off = True
            yield self._line, "[", ARRAY_CUT_OFF

    def _page(self) -> Iterator[Record]:
        line, start = self._line, self._text[self._at : self._at + _MAX_KEPT]
        found = yield from self._object(self._path)
        if not found:
            yield line, start, NO_RECORDS

    def _object(self, path: tuple[str, ...]) -> Generator[Record, None, bool]:
        """Walk along `path`, skip other keys, and return whether there was an array at its end."""
        found = False
        self._move(1)
        while self._skip(_BLANK):
            if self._next == "}":
                self._move(1)
                break
            key = self._value()
            if not isinstance(key, str) or not self._skip(_SPACE) or self._next != ":":
                if not self._done or self._at < len(self._text):
                    yield self._broken("")
                continue
            self._move(1)
            if not self._skip(_SPACE):
                break
            if key == path[0] and self._next == ("{" if path[1:] else "["):
                if path[1:]:
                    found |= yield from self._object(path[1:])
                else:
                    found = True
                    yield from self._array(1)
            elif self._value() is _BROKEN:
                yield self._broken("")
        return found

    def _record(self) -> Record:
        line = self._line
        end, defect = self._find_end()
        if end is None:
            return self._broken(defect)
        text = self._text[self._at : end]
        self._move(end - self._at)
        return line, text, ""

    def _value(self) -> object:
        """Read a value that is no record and return it. A broken one is not read."""
        end, _ = self._find_end()
        if end is None:
            return _BROKEN
        value, _ = _decode(self._text, self._at)
        self._move(end - self._at)
        return value

    def _find_end(self) -> tuple[int | None, str]:
        """Return the end of the value here, reading more text as needed; or None and the defect."""
        while True:
            try:
                _, end = _decode(self._text, self._at)
                if end < len(self._text) or self._done or self._text[end - 1] in '}]"':
                    return end, ""
            except json.JSONDecodeError as error:
                near_end = error.pos > len(self._text) - 16 or error.msg.startswith("Unterminated string")
                if self._done or not near_end:
                    return None, CUT_OFF if near_end else ""
            except RecursionError:
                return None, TOO_DEEP
            if len(self._text) - self._at > _MAX_RECORD:
                return None, TOO_LONG
            self._read(max(_BLOCK, len(self._text) - self._at))

    def _broken(self, defect: str) -> Record:
        """Skip a value that is no JSON, by its brackets; return its begin."""
        line, kept, brackets = self._line, "", _Brackets()
        while True:
            end = brackets.scan(self._text, self._at, self._done)
            kept += self._text[self._at : min(end, self._at + _MAX_KEPT - len(kept))]
            self._move(end - self._at)
            if brackets.closed:
                return line, kept, "" if defect == CUT_OFF else defect
            if self._done:
                self._is_cut_off = True
                return line, kept, defect or CUT_OFF
            self._read(_BLOCK)

    @property
    def _next(self) -> str:
        return self._text[self._at]

    def _skip(self, blank: re.Pattern[str]) -> bool:
        """Skip blanks; return whether there is more text."""
        while True:
            self._move(_end(blank, self._text, self._at) - self._at)
            if self._at < len(self._text):
                return True
            if self._done:
                return False
            self._read(_BLOCK)

    def _move(self, count: int) -> None:
        start, self._at = self._at, self._at + count
        find = self._text.count
        self._line += find("\n", start, self._at)
        if bare := find("\r", start, self._at):
            self._line += bare - find("\r\n", start, self._at)

    def _read(self, size: int) -> None:
        more = self._source.read(size)
        self._done = not more
        self._text, self._at = self._text[self._at :] + more, 0


class _Brackets:
    """Finds the end of a value that is no JSON, by its brackets and quotes alone.

    It ends where its brackets are closed, where one does not match, or where another record begins: at a `{`
    in place of a key, or at the begin of a line.
    """

    def __init__(self) -> None:
        self.closed = False
        self._open = bytearray()  # the brackets that are open, up to _MAX_OPEN
        self._deeper = 0  # how many more are open
        self._after_comma = False
        self._started = False
        self._in_string = False  # the last text ended within a string

    def scan(self, text: str, at: int, is_all: bool) -> int:
        """Return the end of the value or, if it goes on, of what was read; `is_all`: nothing will follow."""
        first = at
        if not is_all and (len(text) - len(text.rstrip("\\"))) % 2:
            text = text[:-1]  # do not split \\"
        if self._in_string and (rest := _STRING_REST.match(text, at)):
            at = rest.end()
            self._in_string = at == len(text) and not rest[1]
        for token in _TOKEN.finditer(text, at):
            sign, start = token[0], token.start()
            if sign == '"' and _end(_STRING_REST, text, start + 1) == len(text):
                self._in_string = self._started = True
                return len(text)
            if sign in "\r\n" and token.end() == len(text) and not is_all:
                return start
            began = self._started or start > first
            self._started = True
            if began and self._is_end(sign, text[token.end() : token.end() + 1]):
                self.closed = True
                return start
            if self._nest(sign):
                self.closed = True
                return token.end()
        self._started |= len(text) > first
        return len(text)

    def _is_end(self, sign: str, following: str) -> bool:
        """Whether the value ends before this sign."""
        if not self._open:
            return sign in "{}[],\r\n"
        if sign in "\r\n":
            return following == "{"
        if sign in "}]" and not self._deeper:
            return self._open[-1] != ord(_OPENING[sign])
        return sign == "{" and self._after_comma and not self._deeper and self._open[-1] == ord("{")

    def _nest(self, sign: str) -> bool:
        """Open or close a bracket; return whether it was the last."""
        self._after_comma = sign == "," or (self._after_comma and sign in "\r\n")
        if sign in "{[":
            if len(self._open) < _MAX_OPEN:
                self._open.append(ord(sign))
            else:
                self._deeper += 1
        elif sign in "}]" and self._deeper:
            self._deeper -= 1
        elif sign in "}]" and self._open:
            self._open.pop()
            return not self._open
        return not self._open and sign in "}]"


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """The end of a pattern that matches everywhere."""
    match = pattern.match(text, at)
    assert match is not None
    return match.end()
