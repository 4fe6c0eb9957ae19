"""Judged queries: what was asked, and how good each document is for it.

A queries file is `id<TAB>text`; judgments in any form that `evaluation.formats` reads. Grades are whole
numbers from 0; "Perfect … Bad" are 4 … 0; a list of fractions between 0 and 1 is stretched to 0 … 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from coclick.errors import UserError
from coclick.evaluation.formats import WORDS, Row, is_number, lines, read_rows, read_text

HIGHEST = 1000
_ID_NAMES = ("id", "qid", "query_id", "queryid", "topic", "topic_id")


@dataclass(frozen=True)
class Judgments:
    """Queries by id, and for each of them the grades of documents."""

    queries: dict[str, str]
    grades: dict[str, dict[str, int]]
    unknown: tuple[str, ...] = ()  # judged queries that are not among the queries, and left out

    def only(self, queries: set[str]) -> Judgments:
        """The same, of some queries."""
        return Judgments(
            {query: text for query, text in self.queries.items() if query in queries},
            {query: found for query, found in self.grades.items() if query in queries},
        )

    def lacks_zeros(self) -> bool:
        """Are nearly all judged documents relevant? Then their order among each other says little."""
        with_zero = sum(any(grade == 0 for grade in found.values()) for found in self.grades.values())
        return with_zero < 0.1 * len(self.grades)


def read_judgments(queries: str | Path | None, qrels: str | Path) -> Judgments:
    """Read both files and keep the judged queries; judgments that belong to no query are an error.

    Without a file of queries the judgments name them by their texts.
    """
    found = read_rows(qrels, queries is not None)
    grades = _grades(found.rows, qrels)
    if queries is None or found.by_text:
        texts = {query: query for query in grades}
    else:
        texts = read_queries(queries)
    strangers = [query for query in grades if query not in texts]
    if len(strangers) == len(grades):
        raise UserError(
            f"none of the {len(grades):,} judged queries is in the queries file",
            where=str(qrels),
            hint=f"it judges {', '.join(strangers[:3])}; the queries are {', '.join(list(texts)[:3])}",
        )
    judged = {query: found for query, found in grades.items() if query in texts}
    return Judgments({query: texts[query] for query in judged}, judged, tuple(strangers))


def read_queries(path: str | Path) -> dict[str, str]:
    """id → text."""
    texts: dict[str, str] = {}
    for number, (where, line) in enumerate(lines(read_text(path), path)):
        identity, tab, text = line.partition("\t")
        if not tab:
            raise UserError("a line without a tab", where=where, hint="id<TAB>text")
        if number == 0 and identity.strip().lower().replace("-", "_") in _ID_NAMES:
            continue
        if texts.setdefault(identity, text.split("\t")[0]) != text.split("\t")[0]:
            raise UserError(
                f"the query id {identity!r} has two texts",
                where=where,
                hint="id<TAB>text; judgments belong to --qrels",
            )
    if not texts:
        raise UserError("no queries here", where=str(path))
    return texts


def read_qrels(path: str | Path) -> dict[str, dict[str, int]]:
    """id → document → grade."""
    return _grades(read_rows(path, True).rows, path)


def _grades(rows: list[Row], path: str | Path) -> dict[str, dict[str, int]]:
    values = [_number(row) for row in rows]
    fractions = any(not value.is_integer() for value in values) and max(values) <= 1
    grades: dict[str, dict[str, int]] = {}
    for row, value in zip(rows, values, strict=True):
        grade = math.floor((4 * value if fractions else value) + 0.5)
        known = grades.setdefault(row.query, {})
        if known.setdefault(row.doc, grade) != grade:
            raise UserError(
                f"{row.doc!r} has two grades for {row.query!r}: {known[row.doc]} and {grade}", where=row.where
            )
    if not grades:
        raise UserError("no judgments here", where=str(path))
    return grades


def _number(row: Row) -> float:
    text = row.grade.strip()
    if text.lower() in WORDS:
        return float(WORDS[text.lower()])
    if not is_number(text):
        raise UserError(
            f"the grade {text!r} is not a number",
            where=row.where,
            hint=f"whole numbers from 0, or {', '.join(WORDS)}",
        )
    value = float(text)
    if not 0 <= value <= HIGHEST:
        raise UserError(
            f"the grade {text} is out of range",
            where=row.where,
            hint=f"grades are 0 (not relevant) to {HIGHEST}; write 0 for junk",
        )
    return value
