"""User views: user-defined features of queries and documents, with names and weights, stored in the graph.

Examples are tags of documents and categories of queries. A view has features for both sides, because a
bilinear model learns from a click which query features go with which document features.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings, Vocab
from coclick.errors import UserError
from coclick.storage.array_files import read_csr, read_strings, write_csr, write_strings
from coclick.storage.artefact import Artefact, ArtefactWriter
from coclick.storage.layout import Shape
from coclick.text.normalise import normalise_batch

if TYPE_CHECKING:
    import scipy.sparse

    FeatureRows = tuple[Sequence[str], scipy.sparse.sparray | scipy.sparse.spmatrix]  # ids, a row for each

BUILT_IN = (
    "words",
    "chars",
    "clicks",
    "log_clicks",
    "raw_clicks",
    "ids",
)  # views that are computed from the graph
_MAX_VALUE = 1e12  # of a feature, as in files
_NAME = re.compile(r"[a-z][a-z0-9_]{0,99}")
_MAX_EXAMPLES = 3


@dataclass(frozen=True)
class UserView:
    """Non-negative sparse features: a row, possibly empty, for each query and each document of the graph."""

    dimensions: ClassVar = ("queries", "docs")
    queries: Annotated[Csr, Shape("queries", "query_features")]
    docs: Annotated[Csr, Shape("docs", "doc_features")]
    query_features: Annotated[Strings, Shape("query_features")]  # names of the columns
    doc_features: Annotated[Strings, Shape("doc_features")]

    @classmethod
    def read(cls, source: Artefact, name: str) -> UserView:
        """Read a view by its name."""
        prefix = f"view.{name}"
        query_features = read_strings(source, f"{prefix}.query_features")
        doc_features = read_strings(source, f"{prefix}.doc_features")
        return cls(
            read_csr(source, f"{prefix}.queries", len(query_features)),
            read_csr(source, f"{prefix}.docs", len(doc_features)),
            query_features,
            doc_features,
        )

    def write(self, out: ArtefactWriter, name: str) -> None:
        """Write the view under a name."""
        write_csr(out, f"view.{name}.queries", self.queries)
        write_csr(out, f"view.{name}.docs", self.docs)
        write_strings(out, f"view.{name}.query_features", self.query_features)
        write_strings(out, f"view.{name}.doc_features", self.doc_features)

    def take_queries(self, rows: NDArray[np.integer]) -> UserView:
        """Return the view of a graph that has only these queries."""
        return replace(self, queries=self.queries.take(rows))

    def stats(self) -> dict[str, int]:
        """Count the queries and documents with features, the features, and the entries."""
        return {
            "queries": int(np.count_nonzero(self.queries.row_nnz())),
            "docs": int(np.count_nonzero(self.docs.row_nnz())),
            "query_features": len(self.query_features),
            "doc_features": len(self.doc_features),
            "entries": self.queries.nnz + self.docs.nnz,
        }


def view_names(files: Iterable[str]) -> list[str]:
    """Return the names of the views whose arrays are among the files."""
    suffix = ".queries.indptr"
    return sorted(
        name.removeprefix("view.").removesuffix(suffix)
        for name in files
        if name.startswith("view.") and name.endswith(suffix)
    )


def check_view_name(name: str, fields: Iterable[str]) -> None:
    """Raise unless the name can be used in model specifications (`views=words+tags`) and file names.

    It must differ from the built-in views and from the text fields of the documents.
    """
    if name in (*BUILT_IN, *fields):
        raise UserError(
            f"a view cannot be called {name!r}: a built-in view or a text field has this name",
            hint="choose another name",
        )
    if not _NAME.fullmatch(name):
        raise UserError(
            f"a view cannot be called {name!r}", hint="use lower-case letters, digits and _, a letter first"
        )


def align_rows(
    rows: FeatureRows, names: Sequence[str] | None, known: Vocab, side: str
) -> tuple[Csr, Strings, int]:
    """Put one side of a view in the order of the graph.

    Returns its rows, its feature names, and the number of unknown ids, which are ignored. Rows with the same
    id are added up.
    """
    ids, matrix = list(rows[0]), Csr.from_scipy(rows[1])
    if len(ids) != matrix.rows:
        raise UserError(f"the {side} have {len(ids):,} ids, but the matrix has {matrix.rows:,} rows")
    features = [str(column) for column in range(matrix.columns)] if names is None else list(names)
    if len(features) != matrix.columns or len(set(features)) != len(features):
        raise UserError(
            f"the features of the {side} need {matrix.columns:,} distinct names, one for each column"
        )
    if not np.all((matrix.data >= 0) & (matrix.data <= _MAX_VALUE)):
        raise UserError(f"a value of the {side} is negative, not a number or above {_MAX_VALUE:g}")
    row = known.lookup(normalise_batch(ids) if side == "queries" else ids)
    row_of = np.repeat(row, matrix.row_nnz())
    kept = (row_of >= 0) & (matrix.data > 0)
    if not kept.any():
        raise no_match_error(side, ids, known)
    shape = len(known), matrix.columns
    aligned = Csr.from_triples(row_of[kept], matrix.indices[kept], matrix.data[kept], shape)
    return aligned, Strings.from_list(features), int(np.count_nonzero(row < 0))


def no_match_error(side: str, ids: Sequence[str], known: Vocab, where: str | None = None) -> UserError:
    """Return the error for a view without any id of the graph; it shows ids of both for comparison."""
    given, expected = (
        ", ".join(map(repr, some[:_MAX_EXAMPLES])) or "none"
        for some in (ids, known.to_list(0, _MAX_EXAMPLES))
    )
    return UserError(
        f"no {side} of the graph have any feature in this view",
        where=where,
        hint=f"compare the ids: the view has {given}; the graph has {expected}",
    )


def merge_views(
    parts: Sequence[tuple[Mapping[str, UserView], NDArray[np.int32], NDArray[np.int32]]],
    queries: int,
    docs: int,
) -> dict[str, UserView]:
    """Merge the views of several graphs.

    `parts` has for each graph its views and the new rows of its queries and documents. Where two graphs have
    features of the same query or document in a view, those of the first are used.
    """
    merged = {}
    for name in sorted({name for views, _, _ in parts for name in views}):
        present = [(views[name], query, doc) for views, query, doc in parts if name in views]
        query_side = [(view.queries, view.query_features, query) for view, query, _ in present]
        doc_side = [(view.docs, view.doc_features, doc) for view, _, doc in present]
        query_rows, query_features = _merge_side(query_side, queries)
        doc_rows, doc_features = _merge_side(doc_side, docs)
        merged[name] = UserView(query_rows, doc_rows, query_features, doc_features)
    return merged


def _merge_side(parts: Sequence[tuple[Csr, Strings, NDArray[np.int32]]], rows: int) -> tuple[Csr, Strings]:
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
