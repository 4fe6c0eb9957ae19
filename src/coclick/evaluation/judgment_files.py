"""Readers of judgment files: TREC qrels, TSV, Quepid's CSV, OpenSearch's JSON.

They return rows of (query, document, grade) as written in the file, each with its line for error messages.
"""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from coclick.errors import UserError
from coclick.graph.tables import table_columns

_QUERY = ("query", "query text", "query_text", "keywords", "q")
_QUERY_ID = ("query_id", "query id", "queryid", "qid", "topic")
_DOC = ("docid", "doc id", "doc_id", "doc", "document", "document id", "document_id", "id")
_GRADE = ("rating", "grade", "relevance", "judgment", "judgement", "label", "score")


GRADE_NAMES = {"perfect": 4, "excellent": 3, "good": 2, "fair": 1, "bad": 0}


class JudgmentRow(NamedTuple):
    """One judgment as written in the file; `query` is an id, or a text if `JudgmentRows.by_text` is true."""

    where: str
    query: str
    doc: str
    grade: str


class JudgmentRows(NamedTuple):
    """All rows of a file, and whether they name queries by text."""

    rows: list[JudgmentRow]
    by_text: bool


def read_rows(path: str | Path, queries_given: bool) -> JudgmentRows:
    """Read a file of judgments; its first column holds ids if `queries_given`, else the texts of queries."""
    text = read_text(path)
    if text.lstrip()[:1] in ("{", "["):
        return JudgmentRows(list(_opensearch(text, path)), True)
    name = str(path).removesuffix(".gz").lower()
    head = text.split("\n", 1)[0]
    if name.endswith(".csv") or ("," in head and "\t" not in head and _column(_cells(head), _GRADE) >= 0):
        return JudgmentRows(list(_quepid(text, path)), True)
    return JudgmentRows(list(_columns(text, path)), not queries_given)


def read_text(path: str | Path) -> str:
    """Read a text file, gzipped or not, with or without a byte order mark."""
    opener = gzip.open if str(path).endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as stream:
            return stream.read()
    except FileNotFoundError:
        raise UserError("no such file", where=str(path)) from None
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"the file cannot be read: {error}", where=str(path)) from None
    except UnicodeDecodeError as error:
        raise UserError(f"the file is not UTF-8: {error.reason}", where=str(path)) from None


def lines(text: str, path: str | Path) -> Iterator[tuple[str, str]]:
    """Yield (where, line) for all lines that are not blank."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"{path}, line {number}", line.rstrip("\r")


def _columns(text: str, path: str | Path) -> Iterator[JudgmentRow]:
    """Read TREC's four columns, or three: query, document, grade. A first line without grade is a header."""
    for where, line in lines(text, path):
        cells = line.split("\t") if "\t" in line else line.split()
        if len(cells) < 3:
            raise UserError(
                "a judgment needs three columns, or four as in TREC qrels",
                where=where,
                hint="id<TAB>doc<TAB>grade, or text<TAB>doc<TAB>grade without a file of queries",
            )
        query, doc, grade = (cells[0], cells[2], cells[3]) if _is_trec(cells) else cells[:3]
        if where.endswith("line 1") and not (is_number(grade) or grade.strip().lower() in GRADE_NAMES):
            continue
        yield JudgmentRow(where, query, doc, grade)


def is_number(text: str) -> bool:
    """Return whether the text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_trec(cells: list[str]) -> bool:
    """Four columns with a number at the end; three columns may be followed by others, such as a split."""
    return len(cells) == 4 and is_number(cells[3])


def _quepid(text: str, path: str | Path) -> Iterator[JudgmentRow]:
    """Read a CSV with a header, as Quepid exports it; documents without a rating are not judged."""
    reader = csv.reader(text.splitlines())
    rows = _csv_rows(reader, path)
    head = next(rows, [])
    positions = [_column(head, names) for names in (_QUERY, _DOC, _GRADE)]
    if min(positions) < 0:
        raise UserError(
            "the header must name the query, the document and the rating",
            where=f"{path}, line 1",
            hint=f"expected columns such as query,docid,rating; found {', '.join(head)}",
        )
    for cells in rows:
        if len(cells) <= max(positions):
            if any(cells):
                raise UserError(
                    "the line has fewer cells than the header", where=f"{path}, line {reader.line_num}"
                )
            continue
        query, doc, grade = (cells[position] for position in positions)
        if grade.strip():
            yield JudgmentRow(f"{path}, line {reader.line_num}", query, doc, grade)


def _csv_rows(reader: Any, path: str | Path) -> Iterator[list[str]]:
    """Yield the rows of a CSV file; an error names the line."""
    try:
        yield from reader
    except csv.Error as error:
        raise UserError(f"the line is not CSV: {error}", where=f"{path}, line {reader.line_num}") from None


def _opensearch(text: str, path: str | Path) -> Iterator[JudgmentRow]:
    """Read a judgment list of the Search Relevance Workbench, alone or inside a search response."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"the file is not JSON: {error}", where=str(path)) from None
    for ratings in _find(content, "judgmentRatings"):
        for entry in ratings if isinstance(ratings, list) else []:
            where = f"{path}, query {entry['query']!r}" if _has(entry, "query") else str(path)
            given = entry.get("ratings", []) if isinstance(entry, dict) else None
            if not isinstance(given, list) or not _has(entry, "query"):
                raise UserError("judgmentRatings must have query and a list of ratings", where=where)
            for rating in given:
                if not _has(rating, "docId") or not _has(rating, "rating"):
                    raise UserError("a rating lacks docId or rating", where=where)
                yield JudgmentRow(where, str(entry["query"]), str(rating["docId"]), str(rating["rating"]))


def _has(entry: Any, key: str) -> bool:
    return isinstance(entry, dict) and key in entry


def _find(content: Any, key: str) -> Iterator[Any]:
    """All values of a key, at any depth, in the order of the file."""
    waiting = [content]  # not recursive: files may be nested deeply
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if key in value:
                yield value[key]
            waiting += reversed(value.values())
        elif isinstance(value, list):
            waiting += reversed(value)


def table_rows(table: Any, queries_given: bool) -> list[JudgmentRow]:
    """Return the rows of a table with columns query, doc and grade."""
    columns = table_columns(table)
    head = list(columns)
    names = (*_QUERY_ID, *_QUERY) if queries_given else (*_QUERY, *_QUERY_ID)
    positions = [_column(head, wanted) for wanted in (names, _DOC, _GRADE)]
    if min(positions) < 0:
        raise UserError(
            "a table of judgments needs columns for the query, the document and the grade",
            where=f"qrels, whose columns are {', '.join(map(repr, head[:20]))}",
            hint="call them query, doc and grade",
        )
    values = zip(*(columns[head[position]] for position in positions), strict=True)
    return [
        JudgmentRow(f"qrels, row {row}", str(query), str(doc), str(grade))
        for row, (query, doc, grade) in enumerate(values, 1)
    ]


def mapping_rows(qrels: Any) -> list[JudgmentRow]:
    """Return the rows of a mapping {query: {document: grade}}."""
    hint = "for example {'ny hotels': {'d1': 2}}"
    if not isinstance(qrels, Mapping):
        what = "a file, a table or a mapping from query to grades"
        raise UserError(f"qrels must be {what}, not {qrels!r:.50}", hint=hint)
    rows = []
    for query, found in qrels.items():
        if not isinstance(query, str) or not isinstance(found, Mapping):
            raise UserError(
                f"the judgments of {query!r} must be a mapping from document to grade, not {found!r:.50}",
                hint=hint,
            )
        for doc, grade in found.items():
            rows.append(JudgmentRow(f"qrels[{query!r}][{doc!r}]", query, doc, str(grade)))
    return rows


def _cells(line: str) -> list[str]:
    try:
        return next(csv.reader([line]), [])
    except csv.Error:  # then it is no CSV
        return []


def _column(head: list[str], names: tuple[str, ...]) -> int:
    """The position of the first column that has one of the names, or −1."""
    plain = [name.strip().lower() for name in head]
    return next((plain.index(name) for name in names if name in plain), -1)
