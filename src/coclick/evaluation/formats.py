"""Judgment files as rows of (query, document, grade): TREC, TSV, Quepid's CSV, OpenSearch's JSON.

Nothing is judged here: rows come out as they stand in the file, each with the place where it stands.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from coclick.errors import UserError

_QUERY = ("query", "query text", "query_text", "keywords", "q")
_DOC = ("docid", "doc id", "doc_id", "doc", "document", "document id", "document_id", "id")
_GRADE = ("rating", "grade", "relevance", "judgment", "judgement", "label", "score")


WORDS = {"perfect": 4, "excellent": 3, "good": 2, "fair": 1, "bad": 0}


class Row(NamedTuple):
    """One judgment as it stands in a file; `query` is an id, or the text where `by_text` says so."""

    where: str
    query: str
    doc: str
    grade: str


class Rows(NamedTuple):
    """All rows of a file, and whether they name queries by their texts."""

    rows: list[Row]
    by_text: bool


def read_rows(path: str | Path, queries_given: bool) -> Rows:
    """Read a file of judgments; with a file of queries its first column holds their ids, else their texts."""
    text = read_text(path)
    if text.lstrip()[:1] in ("{", "["):
        return Rows(list(_opensearch(text, path)), True)
    name = str(path).removesuffix(".gz").lower()
    head = text.split("\n", 1)[0]
    if name.endswith(".csv") or ("," in head and "\t" not in head and _column(_cells(head), _GRADE) >= 0):
        return Rows(list(_quepid(text, path)), True)
    return Rows(list(_columns(text, path)), not queries_given)


def read_text(path: str | Path) -> str:
    """A text file, gzipped or not, with or without a byte order mark."""
    opener = gzip.open if str(path).endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as stream:
            return stream.read()
    except FileNotFoundError:
        raise UserError("there is no such file", where=str(path)) from None
    except (OSError, EOFError) as error:
        raise UserError(f"cannot be read: {error}", where=str(path)) from None
    except UnicodeDecodeError as error:
        raise UserError(f"not UTF-8: {error.reason}", where=str(path)) from None


def lines(text: str, path: str | Path) -> Iterator[tuple[str, str]]:
    """(where, line) for all lines that are not blank."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"{path}, line {number}", line.rstrip("\r")


def _columns(text: str, path: str | Path) -> Iterator[Row]:
    """TREC's four columns, or three: query, document, grade. A first line without a grade is a header."""
    for where, line in lines(text, path):
        cells = line.split("\t") if "\t" in line else line.split()
        if len(cells) < 3:
            raise UserError(
                "a judgment needs three columns or TREC's four",
                where=where,
                hint="id<TAB>doc<TAB>grade or, without a file of queries, text<TAB>doc<TAB>grade",
            )
        query, doc, grade = (cells[0], cells[2], cells[3]) if _is_trec(cells) else cells[:3]
        if where.endswith("line 1") and not (is_number(grade) or grade.strip().lower() in WORDS):
            continue
        yield Row(where, query, doc, grade)


def is_number(text: str) -> bool:
    """Can it be read as a number?"""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_trec(cells: list[str]) -> bool:
    """Four columns with a number at the end; three columns may be followed by others, as by a split."""
    return len(cells) == 4 and is_number(cells[3])


def _quepid(text: str, path: str | Path) -> Iterator[Row]:
    """A CSV with a header, as Quepid exports it; documents without a rating are not judged."""
    reader = csv.reader(text.splitlines())
    head = next(reader, [])
    places = [_column(head, names) for names in (_QUERY, _DOC, _GRADE)]
    if min(places) < 0:
        raise UserError(
            "the header names no query, document or rating",
            where=f"{path}, line 1",
            hint=f"columns like query,docid,rating; here are {', '.join(head)}",
        )
    for cells in reader:
        if len(cells) <= max(places):
            if any(cells):
                raise UserError("fewer cells than the header", where=f"{path}, line {reader.line_num}")
            continue
        query, doc, grade = (cells[place] for place in places)
        if grade.strip():
            yield Row(f"{path}, line {reader.line_num}", query, doc, grade)


def _opensearch(text: str, path: str | Path) -> Iterator[Row]:
    """A judgment list of the Search Relevance Workbench, alone or inside a search response."""
    try:
        content = json.loads(text)
    except ValueError as error:
        raise UserError(f"not JSON: {error}", where=str(path)) from None
    for ratings in _find(content, "judgmentRatings"):
        for entry in ratings if isinstance(ratings, list) else []:
            for rating in entry.get("ratings", []):
                where = f"{path}, query {entry.get('query')!r}"
                try:
                    yield Row(where, str(entry["query"]), str(rating["docId"]), str(rating["rating"]))
                except (KeyError, TypeError):
                    raise UserError("a rating lacks docId or rating", where=where) from None


def _find(content: Any, key: str) -> Iterator[Any]:
    """Every value of that key, however deep."""
    if isinstance(content, dict):
        if key in content:
            yield content[key]
        for value in content.values():
            yield from _find(value, key)
    elif isinstance(content, list):
        for value in content:
            yield from _find(value, key)


def _cells(line: str) -> list[str]:
    return next(csv.reader([line]), [])


def _column(head: list[str], names: tuple[str, ...]) -> int:
    """The place of the first column that has one of the names."""
    plain = [name.strip().lower() for name in head]
    return next((plain.index(name) for name in names if name in plain), -1)
