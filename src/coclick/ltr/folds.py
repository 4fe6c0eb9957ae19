"""Examples to learn ranking from: features made by models that have not seen the clicks that make the labels.

Cross-fitting. The queries with clicks are cut into folds by a hash of their text. For each fold the parts are
trained on the graph without the fold's queries, which they have never heard of, as at search time they have
never heard of a new query; so the features of an example are those of an unseen query.

What was never shown was never clicked: where many documents have no clicks, that must not be taken for a
verdict. So in each fold as large a share of the other documents (at most half) loses its clicks as has none
in the log, and only documents that the log has shown or seen clicked count as not relevant: the trees see
documents without clicks that are as good as others.

A log with days teaches about seen queries, too: parts that know the earlier days, labels from the clicks of
the later ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError
from coclick.evaluation.holdout import grades_from_clicks
from coclick.evaluation.judgments import Judgments
from coclick.graph.click_graph import ClickGraph
from coclick.graph.split import forget_docs, forget_queries
from coclick.ltr.features import FeatureSet
from coclick.models.base import Model, create
from coclick.progress import Progress, quiet
from coclick.text.analyzer import normalise
from coclick.text.query import Query

MOST_HIDDEN = 0.5  # of the documents with clicks, in a fold
LATER = 0.2  # of the days whose clicks are labels of seen queries

Grades = dict[int, int]  # document → grade


@dataclass(frozen=True)
class Sampling:
    """How examples are chosen."""

    folds: int = 5
    queries: int = 3000  # at most, of each portion
    negatives: int = 100  # a query, at most, drawn from the candidates that have no grade
    seed: int = 0


@dataclass(frozen=True)
class Examples:
    """Rows of features with grades, query by query."""

    features: NDArray[np.float32]
    grades: NDArray[np.int32]
    docs: NDArray[np.int32]
    queries: list[str]
    sizes: NDArray[np.int32]  # rows of each query

    def only(self, wanted: NDArray[np.bool_]) -> Examples:
        """Those of the marked queries."""
        rows = np.repeat(wanted, self.sizes)
        queries = [query for query, kept in zip(self.queries, wanted.tolist(), strict=True) if kept]
        return Examples(self.features[rows], self.grades[rows], self.docs[rows], queries, self.sizes[wanted])

    @staticmethod
    def join(several: Sequence[Examples]) -> Examples:
        """One behind the other."""
        return Examples(
            np.concatenate([one.features for one in several]),
            np.concatenate([one.grades for one in several]),
            np.concatenate([one.docs for one in several]),
            [query for one in several for query in one.queries],
            np.concatenate([one.sizes for one in several]),
        )


def cross_fitted(
    graph: ClickGraph,
    judgments: Judgments | None,
    parts: Sequence[str],
    features: FeatureSet,
    sampling: Sampling,
    progress: Progress = quiet,
) -> Examples:
    """Examples whose grades are judgments or, without any, the graph's own clicks."""
    if judgments is not None:
        labels = judged_labels(graph, judgments)
    else:
        rows = _choose(np.flatnonzero(graph.clicks.row_nnz()), sampling)
        labels = {graph.queries[row]: _grades(*graph.clicks.row(row)) for row in rows.tolist()}
    several = [*_by_fold(graph, labels, parts, features, sampling, progress)]
    if judgments is None and "days" in graph.provides:
        several += _later_days(graph, parts, features, sampling, progress)
    if not several:
        raise UserError("there are too few queries to learn ranking from", hint="two at the very least")
    return Examples.join(several)


def judged_labels(graph: ClickGraph, judgments: Judgments) -> dict[str, Grades]:
    """The grades of each query's documents that the graph knows."""
    labels: dict[str, Grades] = {}
    for query, text in judgments.queries.items():
        found = judgments.grades[query]
        rows = graph.docs.lookup(list(found)).tolist()
        grades = {row: grade for row, grade in zip(rows, found.values(), strict=True) if row >= 0}
        labels.setdefault(normalise(text), {}).update(grades)
    return labels


def examples(
    parts: Sequence[Model],
    features: FeatureSet,
    labels: dict[str, Grades],
    sampling: Sampling | None = None,
    may_be_bad: NDArray[np.bool_] | None = None,
) -> Examples:
    """What trained parts say of graded queries: all graded documents and some of the other candidates.

    `may_be_bad` marks the documents that count as not relevant where they have no grade; by default, all.
    """
    rows, grades, docs, sizes = [], [], [], []
    queries = Query.list_of(list(labels), parts[0].graph_.queries)
    for query, graded in zip(queries, labels.values(), strict=True):
        signals = features.signals(parts, query)
        known = np.array(sorted(graded), np.int32)
        others = np.setdiff1d(signals.candidates, known)
        if may_be_bad is not None:
            others = others[may_be_bad[others]]
        if sampling and len(others) > sampling.negatives:
            others = np.sort(_random(query.text, sampling).choice(others, sampling.negatives, replace=False))
        chosen = np.concatenate([known, others]).astype(np.int32)
        rows.append(features.features(parts, signals, chosen))
        grades.append([graded.get(doc, 0) for doc in chosen.tolist()])
        docs.append(chosen)
        sizes.append(len(chosen))
    return Examples(
        np.concatenate(rows),
        np.concatenate(grades).astype(np.int32),
        np.concatenate(docs),
        list(labels),
        np.array(sizes, np.int32),
    )


def fold_of(query: str, sampling: Sampling) -> int:
    """The fold that a query belongs to, whatever else the graph holds."""
    return _hash(query, sampling.seed) % sampling.folds


def _by_fold(
    graph: ClickGraph,
    labels: dict[str, Grades],
    parts: Sequence[str],
    features: FeatureSet,
    sampling: Sampling,
    progress: Progress,
) -> Iterator[Examples]:
    """Fold by fold: parts that know nothing of its queries, and what they say about them."""
    folds = np.array([fold_of(query, sampling) for query in labels])
    texts = np.array(list(labels), object)
    with progress("cross-fitting", len(texts)) as done:
        for fold in range(sampling.folds):
            queries = texts[folds == fold].tolist()
            held = np.zeros(len(graph.queries), bool)
            rows = graph.queries.lookup(queries)
            held[rows[rows >= 0]] = True
            rest = forget_docs(forget_queries(graph, held), _hidden(graph, sampling, fold))
            if not queries or not rest.clicks.nnz:
                continue
            trained = [create(part).fit(rest) for part in parts]
            asked = {query: labels[query] for query in queries}
            yield examples(trained, features, asked, sampling, exposed(graph))
            done(len(queries))


def _later_days(
    graph: ClickGraph, parts: Sequence[str], features: FeatureSet, sampling: Sampling, progress: Progress
) -> Iterator[Examples]:
    """Seen queries: parts that know the earlier days, grades from the later ones."""
    earlier, later = graph.split("time", LATER)
    rows = _choose(np.flatnonzero(later.row_nnz()), sampling)
    if not len(rows) or not earlier.clicks.nnz:
        return
    labels = {graph.queries[row]: _grades(*later.row(row)) for row in rows.tolist()}
    earlier = forget_queries(earlier, earlier.clicks.row_nnz() == 0)
    with progress("seen queries"):
        earlier = forget_docs(earlier, _hidden(graph, sampling, sampling.folds))
        trained = [create(part).fit(earlier) for part in parts]
        yield examples(trained, features, labels, sampling, exposed(graph))


def exposed(graph: ClickGraph) -> NDArray[np.bool_]:
    """The documents that the log has shown, or seen clicked: only those can be known not to be relevant."""
    shown = graph.clicks_by_doc.row_nnz() > 0
    if graph.pairs is not None:
        shown[graph.pairs.docs] = True
    return shown


def _hidden(graph: ClickGraph, sampling: Sampling, fold: int) -> NDArray[np.bool_]:
    """The documents whose clicks the parts of a fold are not shown."""
    share = min(float((graph.clicks_by_doc.row_nnz() == 0).mean()), MOST_HIDDEN)
    return np.random.default_rng([sampling.seed, fold]).random(len(graph.docs)) < share


def _grades(docs: NDArray[np.int32], clicks: NDArray[np.float32]) -> Grades:
    return dict(zip(docs.tolist(), grades_from_clicks(clicks).tolist(), strict=True))


def _choose(rows: NDArray[np.intp], sampling: Sampling) -> NDArray[np.intp]:
    """At most so many queries, in the order of the graph."""
    if len(rows) <= sampling.queries:
        return rows
    return np.sort(np.random.default_rng(sampling.seed).choice(rows, sampling.queries, replace=False))


def _random(query: str, sampling: Sampling) -> np.random.Generator:
    """A query's own chance: its examples do not depend on which other queries there are."""
    return np.random.default_rng(_hash(query, sampling.seed))


def _hash(query: str, seed: int) -> int:
    digest = hashlib.blake2b(f"{seed} {query}".encode("utf-8", "replace"), digest_size=8)
    return int.from_bytes(digest.digest(), "big")
