"""Judged queries from files: what was asked, and how good each document is for it.

A queries file is `id<TAB>text`. Judgments are TREC's four columns (`id 0 doc grade`) or
`id<TAB>doc<TAB>grade`. A header line is recognised, not required; gzip is, too.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coclick.errors import UserError

_ID_NAMES = ("id", "qid", "query_id", "queryid", "topic", "topic_id")


@dataclass(frozen=True)
class Judgments:
    """Queries by id, and for each of them the grades of documents."""

    queries: dict[str, str]
    grades: dict[str, dict[str, int]]


def read_judgments(queries: str | Path, qrels: str | Path) -> Judgments:
    """Read both files and keep the judged queries; judgments that belong to no query are an error."""
    texts = read_queries(queries)
    grades = read_qrels(qrels)
    strangers = [query for query in grades if query not in texts]
    if len(strangers) == len(grades):
        raise UserError(
            f"none of the {len(grades):,} judged queries is in the queries file",
            where=str(qrels),
            hint=f"it judges {', '.join(strangers[:3])}; the queries are {', '.join(list(texts)[:3])}",
        )
    judged = {query: found for query, found in grades.items() if query in texts}
    return Judgments({query: texts[query] for query in judged}, judged)


def read_queries(path: str | Path) -> dict[str, str]:
    """id → text."""
    texts: dict[str, str] = {}
    for number, line in _lines(path):
        identity, tab, text = line.partition("\t")
        if not tab:
            raise UserError("a line without a tab", where=f"{path}, line {number}", hint="id<TAB>text")
        if number == 1 and identity.strip().lower().replace("-", "_") in _ID_NAMES:
            continue
        if texts.setdefault(identity, text.split("\t")[0]) != text.split("\t")[0]:
            raise UserError(
                f"the query id {identity!r} has two texts",
                where=f"{path}, line {number}",
                hint="id<TAB>text; judgments belong to --qrels",
            )
    if not texts:
        raise UserError("no queries here", where=str(path))
    return texts


def read_qrels(path: str | Path) -> dict[str, dict[str, int]]:
    """id → document → grade."""
    grades: dict[str, dict[str, int]] = {}
    for number, line in _lines(path):
        cells = line.split("\t") if "\t" in line else line.split()
        if len(cells) < 3:
            raise UserError(
                "a judgment needs three columns or TREC's four", where=f"{path}, line {number}",
                hint="id<TAB>doc<TAB>grade",
            )  # fmt: skip
        identity, doc, grade = (cells[0], cells[2], cells[3]) if _is_trec(cells) else cells[:3]
        try:
            value = int(float(grade))
        except (ValueError, OverflowError):
            if number == 1:
                continue  # a header
            raise UserError(f"the grade {grade!r} is not a number", where=f"{path}, line {number}") from None
        known = grades.setdefault(identity, {})
        if known.setdefault(doc, value) != value:
            raise UserError(
                f"{doc!r} has two grades for {identity!r}: {known[doc]} and {value}",
                where=f"{path}, line {number}",
            )
    if not grades:
        raise UserError("no judgments here", where=str(path))
    return grades


def _is_trec(cells: list[str]) -> bool:
    """Four columns with a number at the end; three columns may be followed by others, as by a split."""
    return len(cells) == 4 and cells[3].strip().lstrip("-").replace(".", "", 1).isdigit()


def _lines(path: str | Path) -> Iterator[tuple[int, str]]:
    opener = gzip.open if str(path).endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="\n") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
    except FileNotFoundError:
        raise UserError("there is no such file", where=str(path)) from None
    except (OSError, EOFError) as error:
        raise UserError(f"cannot be read: {error}", where=str(path)) from None
    except UnicodeDecodeError as error:
        raise UserError(f"not UTF-8: {error.reason}", where=str(path)) from None
