"""Documents added after training: check them, and extend the graph by them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings, columns_of
from coclick.errors import UserError, counted
from coclick.graph.click_graph import ClickGraph
from coclick.graph.tables import check_docs
from coclick.text.term_matrix import short_field

ViewFeatures = Mapping[str, Mapping[str, Mapping[str, float]]]  # by user view and document
RowsByView = Mapping[str, Sequence[Mapping[str, float]]]  # by user view, one row for each document
_MIN_VALUE, _MAX_VALUE = 1e-12, 1e12  # of a feature, as in files


def check_view_features(given: ViewFeatures, used: Collection[str]) -> ViewFeatures:
    """Raise unless the features are those of user views that the model uses, with positive values."""
    for view, by_doc in given.items():
        if view not in used:
            known = f"its user views are {', '.join(sorted(used))}" if used else "it uses no user view"
            raise UserError(f"the model uses no user view {view!r}", hint=known)
        for doc, features in by_doc.items():
            for name, value in features.items():
                if not (isinstance(value, int | float) and _MIN_VALUE <= value <= _MAX_VALUE):
                    raise UserError(
                        f"the feature {name!r} of {doc!r} in the view {view!r} cannot be {value!r}",
                        hint=f"use a number above zero, from {_MIN_VALUE:g} to {_MAX_VALUE:g}",
                    )
    return given


def group_by_view(given: Sequence[Mapping[str, Mapping[str, float]]], docs: Sequence[str]) -> ViewFeatures:
    """Return features that are given for each document, by user view, as features by user view."""
    if len(given) != len(docs):
        raise UserError(f"{counted(len(docs), 'document')}, but features of {len(given):,}")
    views = sorted({view for by_view in given for view in by_view})
    return {
        view: {doc: by_view[view] for doc, by_view in zip(docs, given, strict=True) if view in by_view}
        for view in views
    }


def feature_rows(given: ViewFeatures, docs: Sequence[str]) -> RowsByView:
    """Return the features of these documents, in this order; those of other documents are left out."""
    return {view: [by_doc.get(doc, {}) for doc in docs] for view, by_doc in given.items()}


@dataclass(frozen=True)
class AddedDocuments:
    """New documents, and the graph extended by them; they have no clicks in it."""

    names: list[str]
    texts: Mapping[str, Strings]  # by field
    graph: ClickGraph

    @classmethod
    def from_mapping(cls, docs: Mapping[str, str | Mapping[str, str]], graph: ClickGraph) -> AddedDocuments:
        """Take a mapping from id to text fields, or to the short field alone: see `short_field`.

        Raises if the graph has one of the documents already.
        """
        names = list(check_docs(docs))
        known = graph.docs.lookup(names) >= 0
        if known.any():
            count, example = int(known.sum()), names[int(np.flatnonzero(known)[0])]
            raise UserError(
                f"{count:,} of {len(names):,} documents are in the model already, such as {example!r}",
                hint="train again to change known documents",
            )
        short = short_field(graph.texts)
        texts = columns_of(list(docs.values()), short)
        return cls(names, texts, _with_docs(graph, names, texts, {short, *graph.texts}))


def _with_docs(
    graph: ClickGraph, names: list[str], texts: Mapping[str, Strings], fields: Iterable[str]
) -> ClickGraph:
    """Return the graph with more documents, none of them clicked."""
    clicks = Csr(
        graph.clicks.indptr, graph.clicks.indices, graph.clicks.data, graph.clicks.columns + len(names)
    )
    blank, old_blank = (Strings.from_list([""] * count) for count in (len(names), len(graph.docs)))
    columns = {
        name: graph.texts.get(name, old_blank).concatenate(texts.get(name, blank)) for name in sorted(fields)
    }
    return ClickGraph(graph.queries, graph.docs.extend(names), clicks, columns, stats=graph.stats)
