"""Training examples for learning to rank, by cross-fitting.

Features come from models (the parts) that were not trained on the clicks of the labels. The queries with
clicks are divided into folds by a hash of their text. For each fold, the parts are trained on the graph
without the fold's queries. So the features of an example are those of an unseen query.

A document that was never shown has no clicks, but may be relevant. So in each fold, random documents lose
their clicks: the same share as has none in the log, at most half. And only documents with impressions or
clicks in the log count as not relevant. This way the trees see relevant documents without clicks.

A log with days also gives examples by time: the parts are trained on the earlier days, and the labels are the
clicks of the days after them. They are what the model will be used for, queries seen and unseen of the coming
days, and the only examples in which recent clicks are known: those of a fold's queries were counted on the
same days as their labels. New documents come with the days, so clicks are hidden only in thin logs, where
most documents have none.

In a log with impressions, most negative examples are documents that were shown for the query. Others were not
shown because the engine ranks them low: with many of them, the trees learn to rank as the engine does. That
predicts later clicks, so in examples by time this holds for thin logs only.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError
from coclick.evaluation.holdout import grades_from_clicks
from coclick.evaluation.judgments import Judgments
from coclick.graph.click_graph import ClickGraph
from coclick.graph.split import remove_doc_interactions, remove_queries
from coclick.ltr._feature_kernels import describe
from coclick.ltr.features import OF_PARTS, QuerySignals, RankingFeatures
from coclick.models.base import Model
from coclick.models.registry import create
from coclick.progress import Progress, quiet
from coclick.results import top_rows
from coclick.text.normalise import normalise
from coclick.text.query import Query

MAX_HIDDEN_SHARE = 0.5  # of the documents that lose their clicks in a fold
THIN_LOG = 0.5  # share of documents without clicks above which a log is thin
LATER_SHARE = 0.2  # of the days, whose clicks are the labels of examples by time
TIME_STEP = 0.1  # of the days, by which each time fold ends earlier than the one before
N_TIME_FOLDS = 2

BY_CHANCE = 4  # one negative example of so many may be a document that was not shown for the query
POOL = 2.5  # size of the sample for negative examples, in negative examples

DocGrades = dict[int, int]  # document → grade


@dataclass(frozen=True)
class Sampling:
    """How examples are sampled."""

    n_folds: int = 5
    max_queries: int = 1500  # of the folds, and of the time folds together
    max_negatives: int = 40  # per query, of the candidates without a grade: see `_choose_negatives`
    seed: int = 0


def shown_docs(graph: ClickGraph, query: Query) -> NDArray[np.int32] | None:
    """Return what was shown or clicked for a query; None where the graph does not know that."""
    pairs, row = graph.pairs, graph.queries.id(query.text)
    if pairs is None or pairs.impressions is None or row < 0:
        return None
    return pairs.docs[pairs.indptr[row] : pairs.indptr[row + 1]]


@dataclass(frozen=True)
class GivenCandidates:
    """The candidates of re-ranking: what the engine has shown for a query, else the best of one part."""

    graph: ClickGraph
    part: int
    depth: int

    def of(self, query: Query, signals: QuerySignals) -> NDArray[np.int32]:
        """Return the candidates of a query."""
        shown, row = shown_docs(self.graph, query), self.graph.queries.id(query.text)
        if shown is not None and len(shown) > len(self.graph.clicks.row(row)[0]):
            return shown
        return top_rows(signals.scores[self.part], self.depth)[0]


@dataclass(frozen=True)
class Examples:
    """Feature rows with grades, grouped by query."""

    features: NDArray[np.float32]
    grades: NDArray[np.int32]
    docs: NDArray[np.int32]
    queries: list[str]
    sizes: NDArray[np.int32]  # rows of each query

    def only(self, wanted: NDArray[np.bool_]) -> Examples:
        """Return the examples of the marked queries."""
        rows = np.repeat(wanted, self.sizes)
        queries = [query for query, kept in zip(self.queries, wanted.tolist(), strict=True) if kept]
        return Examples(self.features[rows], self.grades[rows], self.docs[rows], queries, self.sizes[wanted])

    @staticmethod
    def join(several: Sequence[Examples]) -> Examples:
        """Concatenate examples."""
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
    parts: Sequence[Model],
    features: RankingFeatures,
    sampling: Sampling,
    progress: Progress = quiet,
    given: GivenCandidates | None = None,
    known: Examples | None = None,
) -> Examples:
    """Return examples whose grades are judgments or, without any, the clicks of the graph.

    `known` are those of `first_fold`, if it was called before.
    """
    labels = _clicked_labels(graph, sampling) if judgments is None else judged_labels(graph, judgments)
    log = graph if judgments is None and given is None else None
    several = [*_by_fold(graph, labels, parts, features, sampling, progress, given, known, log)]
    if judgments is None and "days" in graph.provides:
        several += _by_time(graph, parts, features, sampling, progress, given)
    if not several:
        raise UserError(
            "the graph has too few queries for learning to rank", hint="it needs some in at least two folds"
        )
    return Examples.join(several)


def first_fold(
    graph: ClickGraph, parts: Sequence[Model], features: RankingFeatures, sampling: Sampling
) -> Examples | None:
    """Return the examples of the first fold, graded by clicks; None if there are none."""
    labels = _clicked_labels(graph, sampling)
    of_folds = _by_fold(graph, labels, parts, features, sampling, quiet, log=graph)
    return next(of_folds, None)


def judged_labels(graph: ClickGraph, judgments: Judgments) -> dict[str, DocGrades]:
    """Return the grades of the documents in the graph, by normalised query."""
    labels: dict[str, DocGrades] = {}
    for query, text in judgments.queries.items():
        found = judgments.grades[query]
        rows = graph.docs.lookup(list(found)).tolist()
        grades = {row: grade for row, grade in zip(rows, found.values(), strict=True) if row >= 0}
        labels.setdefault(normalise(text), {}).update(grades)
    return labels


def examples(
    parts: Sequence[Model],
    features: RankingFeatures,
    labels: dict[str, DocGrades],
    sampling: Sampling | None = None,
    may_be_negative: NDArray[np.bool_] | None = None,
    given: GivenCandidates | None = None,
    log: ClickGraph | None = None,
) -> Examples:
    """Return examples for graded queries from trained parts: all graded documents and some other candidates.

    `may_be_negative` marks the documents that count as not relevant if they have no grade; by default, all.
    `given` are the candidates; by default, those that the parts find. Where `log` has impressions, most
    negative examples are documents that it shows for the query.
    """
    rows, grades, docs, sizes = [], [], [], []
    queries = Query.list_of(list(labels), parts[0].graph_.queries)
    several = features.signals_of(parts, queries)
    for query, graded, signals in zip(queries, labels.values(), several, strict=True):
        known = np.array(sorted(graded), np.int32)
        others = np.setdiff1d(signals.candidates if given is None else given.of(query, signals), known)
        if may_be_negative is not None:
            others = others[may_be_negative[others]]
        shown = shown_docs(log, query) if log is not None else None
        if sampling and shown is not None:
            others = _shown_negatives(query, others, shown, sampling)
        elif sampling and len(others) > sampling.max_negatives:
            others = _choose_negatives(query, others, signals, sampling)
        chosen = np.concatenate([known, others]).astype(np.int32)
        rows.append(features.features(signals, chosen))
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


def _choose_negatives(
    query: Query, others: NDArray[np.int32], signals: QuerySignals, sampling: Sampling
) -> NDArray[np.int32]:
    """Half of them those of a random sample that any part ranks highest, the others by chance.

    Taking the highest of all candidates instead is worse: many of those are relevant, but were not clicked.
    """
    random = np.random.default_rng(_hash(query.text, sampling.seed))  # not by other queries
    size = min(int(POOL * sampling.max_negatives), len(others))
    pool = random.choice(others, size, replace=False)  # in random order
    of_parts = np.empty((size, len(OF_PARTS) * len(signals.scores)), np.float32)
    describe(np.ascontiguousarray(signals.scores[:, pool]), signals.best, of_parts)
    ranks = of_parts[:, OF_PARTS.index("rank") :: len(OF_PARTS)].max(axis=1)
    highest = np.argsort(-ranks, kind="stable")[: sampling.max_negatives // 2]
    by_chance = np.delete(pool, highest)[: sampling.max_negatives - len(highest)]
    return np.sort(np.concatenate([pool[highest], by_chance]))


def _shown_negatives(
    query: Query, others: NDArray[np.int32], shown: NDArray[np.int32], sampling: Sampling
) -> NDArray[np.int32]:
    """Documents that were shown for the query without a click, and a few others by chance.

    The others were not shown because the engine ranks them low. With many of them, the trees would learn to
    rank as the engine does; with none, they would not know documents that are far from the query.
    """
    random = np.random.default_rng(_hash(query.text, sampling.seed))  # not by other queries
    few = sampling.max_negatives // BY_CHANCE
    was_shown = np.isin(others, shown)
    own = random.permutation(others[was_shown])[: sampling.max_negatives - few]
    return np.sort(np.concatenate([own, random.permutation(others[~was_shown])[:few]]))


def fold_of(query: str, sampling: Sampling) -> int:
    """Return the fold of a query, which does not depend on the other queries."""
    return _hash(query, sampling.seed) % sampling.n_folds


def _by_fold(
    graph: ClickGraph,
    labels: dict[str, DocGrades],
    parts: Sequence[Model],
    features: RankingFeatures,
    sampling: Sampling,
    progress: Progress,
    given: GivenCandidates | None = None,
    known: Examples | None = None,
    log: ClickGraph | None = None,
) -> Iterator[Examples]:
    """Examples of each fold, from parts trained without its queries."""
    folds = np.array([fold_of(query, sampling) for query in labels])
    texts = np.array(list(labels), object)
    with progress("cross-fitting", len(texts)) as done:
        for fold in range(sampling.n_folds):
            queries = texts[folds == fold].tolist()
            if fold == 0 and known is not None:
                yield known
                done(len(queries))
                continue
            held = np.zeros(len(graph.queries), bool)
            rows = graph.queries.lookup(queries)
            held[rows[rows >= 0]] = True
            rest = remove_doc_interactions(remove_queries(graph, held), _hidden_docs(graph, sampling, fold))
            if not queries or not rest.clicks.nnz:
                continue
            fold_labels = {query: labels[query] for query in queries}
            of_fold = features.on(rest, recent=False)
            yield examples(_fit(parts, rest), of_fold, fold_labels, sampling, exposed(graph), given, log)
            done(len(queries))


def _by_time(
    graph: ClickGraph,
    parts: Sequence[Model],
    features: RankingFeatures,
    sampling: Sampling,
    progress: Progress,
    given: GivenCandidates | None,
) -> Iterator[Examples]:
    """Examples of each time fold: parts trained on the earlier days, grades from the days after them."""
    sampling = replace(sampling, max_queries=max(sampling.max_queries // N_TIME_FOLDS, 1))
    for fold in range(N_TIME_FOLDS):
        known = graph.split("time", TIME_STEP * fold).train if fold else graph
        earlier, later = known.split("time", LATER_SHARE / (1 - TIME_STEP * fold))
        rows = _sample_rows(np.flatnonzero(later.row_nnz()), sampling)
        rest = remove_queries(earlier, earlier.clicks.row_nnz() == 0)
        rest = remove_doc_interactions(rest, _hidden_docs(graph, sampling, sampling.n_folds + fold, THIN_LOG))
        if not len(rows) or not rest.clicks.nnz:
            continue
        labels = {graph.queries[row]: _grades(*later.row(row)) for row in rows.tolist()}
        with progress("later days", len(rows)) as done:
            of_fold = features.on(rest, recent=True)
            log = graph if given is None and is_thin(graph) else None
            yield examples(_fit(parts, rest), of_fold, labels, sampling, exposed(graph), given, log)
            done(len(rows))


def _fit(parts: Sequence[Model], graph: ClickGraph) -> list[Model]:
    """Train new parts on another graph; those that learn from texts only are used as they are."""
    trained = []
    for part in parts:
        if part.uses_clicks:
            trained.append(create(str(part)).fit(graph))
        else:
            trained.append(copy.copy(part))
            trained[-1].graph_ = graph
    return trained


def exposed(graph: ClickGraph) -> NDArray[np.bool_]:
    """Mark the documents with impressions or clicks: only those can be known not to be relevant."""
    shown = graph.clicks_by_doc.row_nnz() > 0
    if graph.pairs is not None:
        shown[graph.pairs.docs] = True
    return shown


def is_thin(graph: ClickGraph) -> bool:
    """Whether most documents have no clicks."""
    return float((graph.clicks_by_doc.row_nnz() == 0).mean()) > THIN_LOG


def _hidden_docs(graph: ClickGraph, sampling: Sampling, fold: int, usual: float = 0.0) -> NDArray[np.bool_]:
    """The documents that lose their clicks in a fold; `usual` is a share without clicks that hides none."""
    without = float((graph.clicks_by_doc.row_nnz() == 0).mean())
    share = min(max(without - usual, 0) / (1 - usual), MAX_HIDDEN_SHARE)
    return np.random.default_rng([sampling.seed, fold]).random(len(graph.docs)) < share


def _clicked_labels(graph: ClickGraph, sampling: Sampling) -> dict[str, DocGrades]:
    rows = _sample_rows(np.flatnonzero(graph.clicks.row_nnz()), sampling)
    return {graph.queries[row]: _grades(*graph.clicks.row(row)) for row in rows.tolist()}


def _grades(docs: NDArray[np.int32], clicks: NDArray[np.float32]) -> DocGrades:
    return dict(zip(docs.tolist(), grades_from_clicks(clicks).tolist(), strict=True))


def _sample_rows(rows: NDArray[np.intp], sampling: Sampling) -> NDArray[np.intp]:
    """Sample at most `max_queries` rows, in the order of the graph."""
    if len(rows) <= sampling.max_queries:
        return rows
    return np.sort(np.random.default_rng(sampling.seed).choice(rows, sampling.max_queries, replace=False))


def _hash(query: str, seed: int) -> int:
    digest = hashlib.blake2b(f"{seed} {query}".encode("utf-8", "replace"), digest_size=8)
    return int.from_bytes(digest.digest(), "big")
