"""Features: queries and documents as sparse rows, made of one or several views of them.

    words     the words of the query, and of the document's fields, by TF-IDF
    chars     the character n-grams of the same texts, by IDF
    clicks    ln(1 + clicks): a query by the documents clicked for it, a document by its queries
    ids       a column for each query and each document of the graph
    title …   words, of that field of the documents alone
    <name>    a view of the user's own, that was added to the graph under this name

Every view has rows of unit length. Views stand side by side in one space of columns for queries and one for
documents; where a model joins them into one, the whole row has unit length. What is not in the graph has the
features of its text alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate

import numpy as np

from coclick.arrays.csr import Csr, hstack
from coclick.errors import UserError
from coclick.features.views import (
    CharView,
    ClickView,
    IdView,
    Sides,
    TextOptions,
    Texts,
    TextView,
    UserView,
    View,
)
from coclick.graph.click_graph import ClickGraph
from coclick.graph.user_views import BUILT_IN
from coclick.storage.state import stored
from coclick.text.term_matrix import unit_rows


@stored
@dataclass(frozen=True)
class Features:
    """The views of a model, side by side."""

    views: list[View]
    joined: bool  # whether the row of all views together has unit length
    query_ends: list[int]  # behind the last column of each view
    doc_ends: list[int]

    @classmethod
    def fit(
        cls, graph: ClickGraph, names: str, options: TextOptions, *, joined: bool = True
    ) -> tuple[Features, Sides]:
        """The views that are named, joined by +, and the features of all that is in the graph."""
        views, sides = [], []
        for name in _distinct(names):
            view, rows = _learn_view(name, graph, options)
            for side, matrix in (("query", rows.queries), ("document", rows.docs)):
                if not matrix.nnz:
                    raise UserError(
                        f"the view {name!r} has nothing for any {side}", hint=_instead(view, side)
                    )
            views.append(view)
            sides.append(rows)
        ends = [list(accumulate(matrix.columns for matrix in side)) for side in zip(*sides, strict=True)]
        features = cls(views, joined, *ends)
        return features, Sides(*(features._join(list(side)) for side in zip(*sides, strict=True)))

    def of_queries(self, queries: Sequence[str], graph: ClickGraph) -> Csr:
        """The features of normalised queries that are not in the graph."""
        return self._join([view.of_queries(queries, graph) for view in self.views])

    def of_docs(self, texts: Texts, graph: ClickGraph) -> Csr:
        """The features of documents that are not in the graph."""
        return self._join([view.of_docs(texts, graph) for view in self.views])

    def query_label(self, column: int, graph: ClickGraph) -> tuple[str, str]:
        """The view that a column of the queries' features belongs to, and what it stands for."""
        view, place = _place(self.query_ends, column)
        return self.views[view].name, self.views[view].query_label(place, graph)

    def doc_label(self, column: int, graph: ClickGraph) -> tuple[str, str]:
        """The view that a column of the documents' features belongs to, and what it stands for."""
        view, place = _place(self.doc_ends, column)
        return self.views[view].name, self.views[view].doc_label(place, graph)

    def coverage(self, query: str) -> float | None:
        """How much of a query is known, by the view that knows most; None if no view looks at texts."""
        known = [share for view in self.views if (share := view.coverage(query)) is not None]
        return max(known, default=None)

    def words(self) -> tuple[TextView, int] | None:
        """The first view of words, and its first column among the documents' features."""
        for i, view in enumerate(self.views):
            if isinstance(view, TextView):
                return view, ([0, *self.doc_ends])[i]
        return None

    def _join(self, rows: list[Csr]) -> Csr:
        if len(rows) == 1:
            return rows[0]
        joined = reduce(hstack, rows)
        return unit_rows(joined) if self.joined else joined


def reads_texts(names: str) -> bool:
    """Whether any of the named views has something for texts that are not in the graph."""
    return any(name not in ("clicks", "ids") for name in _distinct(names))


def requires_texts(names: str) -> bool:
    """Whether any of the named views needs documents with texts, whatever views the graph has."""
    return any(name in ("words", "chars") for name in _distinct(names))


def _distinct(names: str) -> list[str]:
    wanted = [name.strip() for name in names.split("+")]
    if len(set(wanted)) < len(wanted) or not all(wanted):
        raise UserError(f"cannot read the views {names!r}", hint="name each once: views=words+clicks")
    return wanted


def _learn_view(name: str, graph: ClickGraph, options: TextOptions) -> tuple[View, Sides]:
    if name == "words" or name in graph.texts:
        return TextView.fit(name, graph, options)
    if name == "chars":
        return CharView.fit(name, graph, options)
    if name == "clicks":
        return ClickView.fit(name, graph)
    if name == "ids":
        return IdView.fit(name, graph)
    if name in graph.views:
        return UserView.fit(name, graph)
    known = ", ".join([*BUILT_IN, *graph.texts, *graph.views])
    raise UserError(f"there is no view {name!r}", hint=f"the views of this graph are {known}")


def _instead(empty: View, side: str) -> str:
    """What to do about a view that has nothing for queries, or for documents."""
    if isinstance(empty, TextView | CharView) and side == "document":
        return "build with documents that have texts, or name other fields"
    if isinstance(empty, TextView):
        return "remove_stop_words=false counts every word"
    return "leave it out of views="


def _place(ends: list[int], column: int) -> tuple[int, int]:
    """The view that a column belongs to, and which of its columns that is."""
    view = int(np.searchsorted(ends, column, side="right"))
    return view, column - ([0, *ends])[view]
