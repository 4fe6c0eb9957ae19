"""`ArrayTable`: a table of a graph, with one array per column."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Self

from coclick.errors import ArtefactError
from coclick.storage.artefact import Artefact, ArtefactWriter
from coclick.storage.manifest import MANIFEST


class ArrayTable:
    """A table with one array per column, stored as `<table>.<column>`; a missing optional column is None."""

    table: str

    @classmethod
    def read(cls, source: Artefact) -> Self | None:
        """Read the table of an artefact; None if it has none."""
        columns = {column.name: column.default for column in fields(cls)}  # type: ignore[arg-type]
        arrays = {name: f"{cls.table}.{name}" for name in columns if f"{cls.table}.{name}" in source}
        if not arrays:
            return None
        for name, default in columns.items():
            if default is MISSING and name not in arrays:
                what = f"the table {cls.table!r} has no {name}"
                raise ArtefactError(what, where=str(source.path / MANIFEST))
        return cls(**{name: source.array(array) for name, array in arrays.items()})

    def write(self, out: ArtefactWriter) -> None:
        """Write the columns into an artefact."""
        for column in fields(self):  # type: ignore[arg-type]
            values = getattr(self, column.name)
            if values is not None:
                out.array(f"{self.table}.{column.name}", values)
