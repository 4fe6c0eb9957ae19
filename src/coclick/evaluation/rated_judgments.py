"""Grades that people give by hand, kept as a file of judgments that `evaluate`, `compare` and `ltr` read.

After a header, the file has a line `query<TAB>document<TAB>grade` for each pair. Every change replaces the
file at once, under a lock that several processes share.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coclick.errors import UserError
from coclick.evaluation.judgment_files import GRADE_NAMES, lines, read_text
from coclick.storage.directories import check_file, write_file
from coclick.storage.file_lock import try_lock
from coclick.text.normalise import normalise

HIGHEST_GRADE = max(GRADE_NAMES.values())
_HEADER = "query\tdoc\tgrade"
_SECONDS = 5.0  # to wait for another process that writes

Grades = dict[str, dict[str, int]]


class RatedJudgments:
    """A file of grades, by normalised query and document; it need not exist yet."""

    def __init__(self, path: Path) -> None:
        check_file(path, force=True)
        self.path = path
        self._cached: tuple[tuple[int, int], Grades] | None = None  # with the version of the file
        self.grades()

    def grades(self) -> Grades:
        """Return all grades; the file is read again when it has changed."""
        try:
            stat = self.path.stat()
        except FileNotFoundError:
            return {}
        version = stat.st_mtime_ns, stat.st_ino
        if self._cached is None or self._cached[0] != version:
            self._cached = version, _read(self.path)
        return self._cached[1]

    def of_query(self, query: str) -> dict[str, int]:
        """Return the grades of a query's documents."""
        return self.grades().get(normalise(query), {})

    def rate(self, query: str, doc: str, grade: int | None) -> None:
        """Write the grade of a document for a query, or remove it if `grade` is None."""
        text = normalise(query)
        if not text:
            raise UserError("an empty query cannot be rated")
        if not doc or any(mark in doc for mark in "\t\r\n") or not _is_text(text + doc):
            raise UserError(
                f"the document {doc!r:.100} cannot be rated: its id does not fit a line of a file"
            )
        if grade is not None and not 0 <= grade <= HIGHEST_GRADE:
            raise UserError(f"the grade must be from 0 to {HIGHEST_GRADE}, not {grade}")
        with self._locked():
            grades = {known: dict(found) for known, found in self.grades().items()}
            found = grades.setdefault(text, {})
            if grade is None:
                found.pop(doc, None)
            else:
                found[doc] = grade
            write_file(self.path, _lines(grades))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the directory of the file against other processes and threads."""
        until = time.monotonic() + _SECONDS
        lock = os.open(self.path.absolute().parent, os.O_RDONLY)
        try:
            while not try_lock(lock):
                if time.monotonic() > until:
                    raise UserError("another process is writing here; try again", where=str(self.path))
                time.sleep(0.01)
            yield
        finally:
            os.close(lock)


def _read(path: Path) -> Grades:
    grades: Grades = {}
    for where, line in lines(read_text(path), path):
        if line == _HEADER:
            continue
        query, *rest = line.split("\t")
        if len(rest) != 2 or not rest[1].isdecimal():
            raise UserError(
                "ratings are added to lines of the form query<TAB>doc<TAB>grade, which this is not",
                where=where,
                hint="give a new file; `evaluate` takes one file at a time",
            )
        grades.setdefault(normalise(query), {})[rest[0]] = int(rest[1])
    return grades


def _lines(grades: Grades) -> Iterator[str]:
    yield f"{_HEADER}\n"
    for query, found in grades.items():
        for doc, grade in found.items():
            yield f"{query}\t{doc}\t{grade}\n"


def _is_text(text: str) -> bool:
    """Whether a text can be written as UTF-8: it has no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
