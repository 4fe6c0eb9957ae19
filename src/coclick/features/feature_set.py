"""Feature sets: queries and documents as sparse rows, from one or several views.

    words     the words of the query, and of the document's fields, by TF-IDF
    chars     the character n-grams of the same texts, by IDF
    clicks    ln(1 + clicks): a query by its clicked documents, a document by its queries
    log_clicks, raw_clicks    the same with ln clicks, and with clicks as they are
    ids       a column for each query and each document of the graph
    title …   words of this document field only
    <name>    a user view that was added to the graph under this name

Every view has rows of unit length. The columns of the views are concatenated, for queries and for documents;
where a model treats them as one view, the whole row gets unit length. Queries and documents that are not in
the graph only have features of their text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate, pairwise
from typing import ClassVar

import numpy as np

from coclick.arrays.csr import Csr, hstack
from coclick.errors import UserError
from coclick.features.views import (
    CLICK_SCALES,
    CharView,
    ClickView,
    FeatureMatrices,
    FeatureView,
    GraphOnlyView,
    IdView,
    TextOptions,
    Texts,
    TextView,
    UserFeatureView,
)
from coclick.graph.click_graph import ClickGraph
from coclick.graph.user_views import BUILT_IN
from coclick.storage.state import stored
from coclick.text.term_matrix import unit_rows

AnyView = TextView | CharView | ClickView | IdView | UserFeatureView


@stored
@dataclass(frozen=True)
class FeatureSet:
    """The feature views of a model, with their columns concatenated."""

    dimensions: ClassVar = ("query_features", "doc_features", "queries")
    views: list[AnyView]
    joined: bool  # whether the whole row has unit length, not only the row of each view
    query_ends: list[int]  # the end of each view's columns
    doc_ends: list[int]

    def sizes(self) -> dict[str, int]:
        """Return the number of columns of both sides, and of queries where they are columns."""
        found = {"query_features": sum(self.query_ends[-1:]), "doc_features": sum(self.doc_ends[-1:])}
        widths = (
            last - first
            for ends, kind in ((self.query_ends, IdView), (self.doc_ends, ClickView))
            for view, (first, last) in zip(self.views, pairwise([0, *ends]), strict=False)
            if isinstance(view, kind)
        )
        if of_queries := {*widths}:
            found["queries"] = of_queries.pop() if len(of_queries) == 1 else -1
        return found

    def find_defect(self) -> str | None:
        """Return whether the columns of a view do not end where its features do."""
        for side, ends in enumerate((self.query_ends, self.doc_ends)):
            widths = [last - first for first, last in pairwise([0, *ends])]
            expected = [view.widths[side] for view in self.views]
            fit = len(widths) == len(expected) > 0 and all(
                wanted in (None, width) for wanted, width in zip(expected, widths, strict=True)
            )
            if not fit or min(widths) < 0:
                return "the columns of its views do not fit together"
        return None

    @classmethod
    def fit(
        cls, graph: ClickGraph, names: str, options: TextOptions, *, joined: bool = True
    ) -> tuple[FeatureSet, FeatureMatrices]:
        """Fit the named views (`"words+clicks"`); also return the features of the whole graph."""
        views, sides = [], []
        for name in _distinct(names):
            view, rows = _fit_view(name, graph, options)
            for side, matrix in (("query", rows.queries), ("document", rows.docs)):
                if not matrix.nnz:
                    raise UserError(
                        f"the view {name!r} is empty for every {side}", hint=_empty_view_hint(view, side)
                    )
            views.append(view)
            sides.append(rows)
        ends = [list(accumulate(matrix.columns for matrix in side)) for side in zip(*sides, strict=True)]
        features = cls(views, joined, *ends)
        return features, FeatureMatrices(*(features._join(list(side)) for side in zip(*sides, strict=True)))

    def transform_queries(self, queries: Sequence[str], graph: ClickGraph) -> Csr:
        """Return the features of normalised queries that are not in the graph."""
        return self._join([view.transform_queries(queries, graph) for view in self.views])

    def transform_docs(
        self, texts: Texts, graph: ClickGraph, given: Mapping[str, Sequence[Mapping[str, float]]] = {}
    ) -> Csr:
        """Return the features of documents that are not in the graph.

        They are computed from their text fields and, for user views, from the features `given` by view.
        """
        return self._join(
            [
                view.transform_features(given[view.name])
                if isinstance(view, UserFeatureView) and view.name in given
                else view.transform_docs(texts, graph)
                for view in self.views
            ]
        )

    def query_label(self, column: int, graph: ClickGraph) -> tuple[str, str]:
        """Return the view of a query feature, and the label of the feature."""
        view, position = _locate(self.query_ends, column)
        return self.views[view].name, self.views[view].query_label(position, graph)

    def doc_label(self, column: int, graph: ClickGraph) -> tuple[str, str]:
        """Return the view of a document feature, and the label of the feature."""
        view, position = _locate(self.doc_ends, column)
        return self.views[view].name, self.views[view].doc_label(position, graph)

    def coverage(self, query: str) -> float | None:
        """Return the largest coverage of a query among the views; None if no view reads texts."""
        known = [share for view in self.views if (share := view.coverage(query)) is not None]
        return max(known, default=None)

    def reads_texts(self) -> bool:
        """Return whether texts that are not in the graph have features."""
        return any(not isinstance(view, GraphOnlyView) for view in self.views)

    def user_views(self) -> frozenset[str]:
        """Return the names of the user views."""
        return frozenset(view.name for view in self.views if isinstance(view, UserFeatureView))

    def words(self) -> tuple[TextView, int] | None:
        """Return the first view of words, and its first column among the document features."""
        for i, view in enumerate(self.views):
            if isinstance(view, TextView):
                return view, ([0, *self.doc_ends])[i]
        return None

    def _join(self, rows: list[Csr]) -> Csr:
        if len(rows) == 1:
            return rows[0]
        joined = reduce(hstack, rows)
        return unit_rows(joined) if self.joined else joined


def may_read_texts(names: str) -> bool:
    """Return whether any of the named views may have features for texts that are not in the graph.

    A name that is not built in is a text field or a user view: only a graph tells.
    """
    return any(name not in (*CLICK_SCALES, "ids") for name in _distinct(names))


def requires_texts(names: str) -> bool:
    """Return whether any of the named views always requires documents with texts."""
    return any(name in ("words", "chars") for name in _distinct(names))


def _distinct(names: str) -> list[str]:
    wanted = [name.strip() for name in names.split("+")]
    if len(set(wanted)) < len(wanted) or not all(wanted):
        raise UserError(f"cannot read the views {names!r}", hint="name each once: views=words+clicks")
    return wanted


def _fit_view(name: str, graph: ClickGraph, options: TextOptions) -> tuple[AnyView, FeatureMatrices]:
    if name == "words" or name in graph.texts:
        return TextView.fit(name, graph, options)
    if name == "chars":
        return CharView.fit(name, graph, options)
    if name in CLICK_SCALES:
        return ClickView.fit(name, graph)
    if name == "ids":
        return IdView.fit(name, graph)
    if name in graph.views:
        return UserFeatureView.fit(name, graph)
    known = ", ".join([*BUILT_IN, *graph.texts, *graph.views])
    raise UserError(f"there is no view {name!r}", hint=f"the views of this graph are {known}")


def _empty_view_hint(empty: FeatureView, side: str) -> str:
    """Advise what to do about a view without features for one side."""
    if isinstance(empty, TextView | CharView) and side == "document":
        return "build the graph with document texts, or choose other fields"
    if isinstance(empty, TextView):
        return "set remove_stop_words=false to keep all words"
    return "remove it from views="


def _locate(ends: list[int], column: int) -> tuple[int, int]:
    """Return the view that a column belongs to, and its position within the view."""
    view = int(np.searchsorted(ends, column, side="right"))
    return view, column - ([0, *ends])[view]
