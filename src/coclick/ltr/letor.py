"""LETOR text, the format of RankLib, LightGBM and XGBoost: one line per document, grouped by query.

    # feature 1: bm25 score
    2 qid:1 1:0.5 2:0.1 # doc<TAB>query

Numbers have enough digits to read back the same float32. A feature that is not listed is 0; a missing
value is NaN.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError

_MAX_FEATURES = 100_000
_MAX_GRADE = 1000
_HEADER = re.compile(r"#\s*feature (\d+): (.*)")


@dataclass(frozen=True)
class Letor:
    """Feature rows with grades, grouped by query."""

    names: list[str]
    features: NDArray[np.float32]
    grades: NDArray[np.int32]
    sizes: NDArray[np.int32]  # rows of each query
    queries: list[str]  # one per query
    docs: list[str]  # one per row

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file."""
        for number, name in enumerate(self.names, 1):
            yield f"# feature {number}: {name}"
        query_of_row = np.repeat(np.arange(len(self.sizes)), self.sizes).tolist()
        for query_number, grade, doc, row in zip(
            query_of_row, self.grades.tolist(), self.docs, self.features, strict=True
        ):
            values = " ".join(f"{i}:{_number(value)}" for i, value in enumerate(row, 1))
            query = self.queries[query_number]
            if re.search(r"[\t\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", doc + query):
                raise UserError(f"LETOR cannot store tabs or line breaks, as in {doc!r}, {query!r}")
            yield f"{grade} qid:{query_number + 1} {values} # {doc}\t{query}"


def read_letor(path: str | Path) -> Letor:
    """Read a file; documents and queries are empty if the comments do not name them."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"the file cannot be read: {error}", where=str(path)) from None
    return parse_letor(text.split("\n"), str(path))


def parse_letor(lines: Iterable[str], where: str = "LETOR") -> Letor:
    """Parse LETOR lines of coclick and other tools, the inverse of `Letor.lines`."""
    names: dict[int, str] = {}
    rows: list[dict[int, np.float32]] = []
    grades, docs, queries, sizes = [], [], [], []
    last: str | None = None
    seen: set[str] = set()
    for number, line in enumerate(lines, 1):
        if header := _HEADER.match(line):
            names[_feature(header[1], f"{where}, line {number}")] = header[2]
            continue
        data, _, comment = line.partition("#")
        if not data.strip():
            continue
        grade, qid, row = _row(data, f"{where}, line {number}")
        doc, _, query = comment.strip(" \n").partition("\t")
        if qid != last:
            if qid in seen:
                raise UserError(f"the rows of {qid} are not together", where=f"{where}, line {number}")
            seen.add(qid)
            queries.append(query)
            sizes.append(0)
            last = qid
        sizes[-1] += 1
        grades.append(grade)
        docs.append(doc)
        rows.append(row)
    if not rows:
        raise UserError("the file has no feature rows", where=where)
    width = max(max(max(row, default=0) for row in rows), max(names, default=0))
    features = np.zeros((len(rows), width), np.float32)
    for i, row in enumerate(rows):
        features[i, np.array([*row], np.int64) - 1] = list(row.values())
    return Letor(
        [names.get(i, f"feature {i}") for i in range(1, width + 1)],
        features,
        np.array(grades, np.int32),
        np.array(sizes, np.int32),
        queries,
        docs,
    )


def _row(data: str, where: str) -> tuple[int, str, dict[int, np.float32]]:
    grade, *rest = data.split()
    try:
        if not rest or not rest[0].startswith("qid:"):
            raise ValueError("no qid")
        values = {}
        for item in rest[1:]:
            text, _, value = item.partition(":")
            feature = _feature(text, where)
            if feature in values:
                raise ValueError(f"the feature {feature} occurs twice")
            values[feature] = np.float32(value)
        if not abs(float(grade)) <= _MAX_GRADE:
            raise ValueError(f"the grade {grade} is too large")
        return int(float(grade)), rest[0], values
    except ValueError as error:
        raise UserError(f"not a LETOR line: {error}", where=where, hint="2 qid:1 1:0.5 2:0.1 # doc") from None


def _feature(text: str, where: str) -> int:
    """The number of a feature. Each is a column of the table, so a single large one would need all memory."""
    if not text.isascii() or not text.isdigit() or len(text) > 6 or not 1 <= int(text) <= _MAX_FEATURES:
        what = f"not a LETOR line: the feature {text[:20]!r} is not a number from 1 to {_MAX_FEATURES:,}"
        raise UserError(what, where=where, hint="2 qid:1 1:0.5 2:0.1 # doc")
    return int(text)


def _number(value: np.float32) -> str:
    return "NaN" if np.isnan(value) else str(value)
