"""A user's own view of queries and documents: features with names and weights, kept with the graph.

Tags of documents, categories of queries, whatever has ids and weights. A view has both sides, since a
bilinear model learns from a click how the features of its query go with those of its document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings, Vocab
from coclick.errors import UserError
from coclick.storage.array_files import read_csr, read_strings, write_csr, write_strings
from coclick.storage.artefact import Artefact, ArtefactWriter
from coclick.text.analyzer import normalise_batch

if TYPE_CHECKING:
    import scipy.sparse

    Rows = tuple[Sequence[str], scipy.sparse.sparray | scipy.sparse.spmatrix]  # ids, and a row for each

BUILT_IN = ("words", "chars", "clicks", "ids")  # views that are made of the graph itself
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_EXAMPLES = 3


@dataclass(frozen=True)
class View:
    """Sparse features, not negative; a row for each query and each document of the graph, perhaps empty."""

    queries: Csr
    docs: Csr
    query_features: Strings  # names of the columns
    doc_features: Strings

    @classmethod
    def read(cls, source: Artefact, name: str, queries: int, docs: int) -> View:
        """The view stored under its name, for so many queries and documents."""
        prefix = f"view.{name}"
        query_features = read_strings(source, f"{prefix}.query_features")
        doc_features = read_strings(source, f"{prefix}.doc_features")
        return cls(
            read_csr(source, f"{prefix}.queries", queries, len(query_features)),
            read_csr(source, f"{prefix}.docs", docs, len(doc_features)),
            query_features,
            doc_features,
        )

    def write(self, out: ArtefactWriter, name: str) -> None:
        """Store under a name."""
        write_csr(out, f"view.{name}.queries", self.queries)
        write_csr(out, f"view.{name}.docs", self.docs)
        write_strings(out, f"view.{name}.query_features", self.query_features)
        write_strings(out, f"view.{name}.doc_features", self.doc_features)

    def take_queries(self, rows: NDArray[np.integer]) -> View:
        """The view of a graph that has only these queries."""
        return replace(self, queries=self.queries.take(rows))

    def figures(self) -> dict[str, int]:
        """How many queries and documents have features, and how many there are of these."""
        return {
            "queries": int(np.count_nonzero(self.queries.row_nnz())),
            "docs": int(np.count_nonzero(self.docs.row_nnz())),
            "query_features": len(self.query_features),
            "doc_features": len(self.doc_features),
            "entries": self.queries.nnz + self.docs.nnz,
        }


def view_names(files: Iterable[str]) -> list[str]:
    """The views whose arrays are among these."""
    ending = ".queries.indptr"
    return sorted(
        name.removeprefix("view.").removesuffix(ending)
        for name in files
        if name.startswith("view.") and name.endswith(ending)
    )


def check_name(name: str, fields: Iterable[str]) -> None:
    """A view's name stands in specifications (`views=words+tags`), beside the documents' fields, and in
    names of files."""
    if name in (*BUILT_IN, *fields):
        raise UserError(
            f"a view cannot be called {name!r}: coclick makes one of that name", hint="choose another name"
        )
    if not _NAME.fullmatch(name):
        raise UserError(
            f"a view cannot be called {name!r}", hint="use small letters, digits and _, a letter first"
        )


def placed(rows: Rows, names: Sequence[str] | None, known: Vocab, side: str) -> tuple[Csr, Strings, int]:
    """One side of a view in the order of the graph: its rows, its features, and how many ids are unknown.

    Ids that the graph does not have are left out; rows of one id are added up.
    """
    ids, matrix = list(rows[0]), Csr.from_scipy(rows[1])
    if len(ids) != matrix.rows:
        raise UserError(f"the {side} have {len(ids):,} ids, but the matrix has {matrix.rows:,} rows")
    features = [str(column) for column in range(matrix.columns)] if names is None else list(names)
    if len(features) != matrix.columns or len(set(features)) != len(features):
        raise UserError(
            f"the features of the {side} need {matrix.columns:,} distinct names, one for each column"
        )
    if not np.all(np.isfinite(matrix.data)) or np.any(matrix.data < 0):
        raise UserError(f"a value of the {side} is negative or not a finite number")
    row = known.lookup(normalise_batch(ids) if side == "queries" else ids)
    of_entry = np.repeat(row, matrix.row_nnz())
    entered = (of_entry >= 0) & (matrix.data > 0)
    if not entered.any():
        raise nothing_matches(side, ids, known)
    shape = len(known), matrix.columns
    found = Csr.from_triples(of_entry[entered], matrix.indices[entered], matrix.data[entered], shape)
    return found, Strings.from_list(features), int(np.count_nonzero(row < 0))


def nothing_matches(side: str, ids: Sequence[str], known: Vocab, where: str | None = None) -> UserError:
    """No row of a view belongs to the graph: most likely its ids are spelt otherwise."""
    given, there = (
        ", ".join(map(repr, some[:_EXAMPLES])) or "none" for some in (ids, known.to_list(0, _EXAMPLES))
    )
    return UserError(
        f"no {side} of the graph have any feature in this view",
        where=where,
        hint=f"compare the ids: the view has {given}; the graph has {there}",
    )


def merged(
    parts: Sequence[tuple[Mapping[str, View], NDArray[np.int32], NDArray[np.int32]]], queries: int, docs: int
) -> dict[str, View]:
    """The views of several graphs under the row numbers of their merger, given for each graph.

    Where two graphs have features of one query or document in a view, those of the first one count.
    """
    found = {}
    for name in sorted({name for views, _, _ in parts for name in views}):
        there = [(views[name], query, doc) for views, query, doc in parts if name in views]
        query_side = [(view.queries, view.query_features, query) for view, query, _ in there]
        doc_side = [(view.docs, view.doc_features, doc) for view, _, doc in there]
        query_rows, query_features = _merged_side(query_side, queries)
        doc_rows, doc_features = _merged_side(doc_side, docs)
        found[name] = View(query_rows, doc_rows, query_features, doc_features)
    return found


def _merged_side(parts: Sequence[tuple[Csr, Strings, NDArray[np.int32]]], rows: int) -> tuple[Csr, Strings]:
    features = Vocab.from_list(name for _, names, _ in parts for name in names)
    taken = np.zeros(rows, bool)
    triples: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []
    for matrix, names, new_row in parts:
        row = np.repeat(new_row, matrix.row_nnz())
        free = ~taken[row]
        column = features.lookup(names.to_list())[matrix.indices]
        triples.append((row[free], column[free], matrix.data[free]))
        taken[row] = True
    row, column, value = (np.concatenate(part) for part in zip(*triples, strict=True))
    return Csr.from_triples(row, column, value, (rows, len(features))), features
