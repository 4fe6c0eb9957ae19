"""Relevance judgments: queries, and grades of documents for each of them.

A queries file has lines `id<TAB>text`; `evaluation.judgment_files` reads the formats of judgments. Grades are
integers from 0. "Perfect … Bad" are 4 … 0. If all grades are fractions between 0 and 1, they are scaled to
0 … 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coclick.errors import UserError
from coclick.evaluation.judgment_files import GRADE_NAMES, JudgmentRow, is_number, lines, read_rows, read_text

MAX_GRADE = 1000
_ID_NAMES = ("id", "qid", "query_id", "queryid", "topic", "topic_id")


@dataclass(frozen=True)
class Judgments:
    """The texts of judged queries by id, and the grades of their documents."""

    queries: dict[str, str]
    grades: dict[str, dict[str, int]]
    unknown: tuple[str, ...] = ()  # judged queries without a text, which are left out
    candidates: frozenset[str] | None = None  # if not all, those that were judged: others leave the rankings
    notes: tuple[str, ...] = ()  # what else a report must say, such as which queries are left out and why

    def only(self, queries: set[str]) -> Judgments:
        """Return the judgments of some queries."""
        return Judgments(
            {query: text for query, text in self.queries.items() if query in queries},
            {query: found for query, found in self.grades.items() if query in queries},
            candidates=self.candidates,
        )

    def among_candidates(self, ranking: Sequence[str]) -> list[str]:
        """Return a ranking without what was not judged at all."""
        return [name for name in ranking if self.candidates is None or name in self.candidates]

    @property
    def without_relevant(self) -> list[str]:
        """The queries without a relevant document: all their grades are 0, so every ranking measures 0."""
        return [query for query, found in self.grades.items() if not any(found.values())]

    def lacks_zeros(self) -> bool:
        """Return whether nearly all judged documents are relevant, so that re-ranking them says little."""
        with_zero = sum(any(grade == 0 for grade in found.values()) for found in self.grades.values())
        return with_zero < 0.1 * len(self.grades)


def read_judgments(queries: str | Path | Mapping[str, str] | None, qrels: str | Path) -> Judgments:
    """Read a file of judgments and the texts of its queries.

    Parameters:
        queries: a file `id<TAB>text` or a mapping {id: text}. Without it, `qrels` names queries by text.
        qrels: a file of judgments. Judged queries that are not among the queries are left out; it is an error
            if that leaves none.
    """
    found = read_rows(qrels, queries is not None)
    texts = None if found.by_text else read_queries(queries) if isinstance(queries, str | Path) else queries
    return match_queries(grades_of(found.rows, qrels), texts, str(qrels))


def match_queries(
    grades: dict[str, dict[str, int]], texts: Mapping[str, str] | None, where: str | None = None
) -> Judgments:
    """Join grades by query id with the texts of queries; without texts, the ids are the texts."""
    if texts is None:
        texts = {query: query for query in grades}
    unknown = [query for query in grades if query not in texts]
    if grades and len(unknown) == len(grades):
        raise UserError(
            f"none of the {len(grades):,} judged queries is among the queries",
            where=where,
            hint=f"judged are {', '.join(unknown[:3])}; the queries are {', '.join(list(texts)[:3])}",
        )
    judged = {query: found for query, found in grades.items() if query in texts}
    return Judgments({query: texts[query] for query in judged}, judged, tuple(unknown))


def read_queries(path: str | Path) -> dict[str, str]:
    """Read a file of queries; return the texts by id."""
    texts: dict[str, str] = {}
    for number, (where, line) in enumerate(lines(read_text(path), path)):
        identity, tab, text = line.partition("\t")
        if not tab:
            raise UserError("the line has no tab", where=where, hint="expected id<TAB>text")
        if number == 0 and identity.strip().lower().replace("-", "_") in _ID_NAMES:
            continue
        if texts.setdefault(identity, text.split("\t")[0]) != text.split("\t")[0]:
            raise UserError(
                f"the query id {identity!r} has two texts",
                where=where,
                hint="expected id<TAB>text; give judgments with --qrels",
            )
    if not texts:
        raise UserError("the file has no queries", where=str(path))
    return texts


def read_qrels(path: str | Path) -> dict[str, dict[str, int]]:
    """Read a file of judgments; return {query id: {document: grade}}."""
    return grades_of(read_rows(path, True).rows, path)


def grades_of(rows: list[JudgmentRow], path: str | Path) -> dict[str, dict[str, int]]:
    """Return the grades of rows, checked, as {query: {document: grade}}."""
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
        raise UserError("the file has no judgments", where=str(path))
    return grades


def _number(row: JudgmentRow) -> float:
    text = row.grade.strip()
    if text.lower() in GRADE_NAMES:
        return float(GRADE_NAMES[text.lower()])
    if not is_number(text):
        raise UserError(
            f"the grade {text!r} is not a number",
            where=row.where,
            hint=f"use integers from 0, or {', '.join(GRADE_NAMES)}",
        )
    value = float(text)
    if not 0 <= value <= MAX_GRADE:
        raise UserError(
            f"the grade {text} is out of range",
            where=row.where,
            hint=f"grades go from 0 (not relevant) to {MAX_GRADE}",
        )
    return value
