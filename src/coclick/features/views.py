"""Feature views: one kind of features each, as sparse rows of unit length for queries and documents.

A view is fitted to a graph, and may also have features for texts that are not in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings, Vocab
from coclick.graph.click_graph import ClickGraph
from coclick.storage.layout import Shape
from coclick.storage.state import stored
from coclick.text.analyzer import Analyzer, Tokens
from coclick.text.ngrams import CharUnits, Incidence, character_sequences
from coclick.text.term_matrix import (
    TermMatrix,
    choose_fields,
    count_terms,
    each_text,
    inverse_frequency,
    joined_fields,
    short_field,
    tf_idf,
    unit_rows,
)

MAX_CHARS = 200_000  # character n-grams of a view: a map of 600 dimensions has 480 MB for them
Texts = Mapping[str, Strings]  # of documents, by field
Widths = tuple[int | None, int | None]
Scale = Callable[[NDArray[np.float32]], NDArray[np.float32]]
# views of clicks: ours, that of Wu, Li & Xu 2013, and that of Wu, Lu & Li 2013
CLICK_SCALES: dict[str, Scale] = {"clicks": np.log1p, "log_clicks": np.log, "raw_clicks": np.asarray}


@dataclass(frozen=True)
class TextOptions:
    """How texts become features."""

    analyzer: Analyzer
    fields: str = "all"
    tf: str = "log"
    one_idf: bool = False  # of queries and documents together; else one per side (Wu, Li & Xu 2013)
    max_terms: int | None = None  # keep only the most frequent


class FeatureMatrices(NamedTuple):
    """The features of all queries and all documents of a graph."""

    queries: Csr
    docs: Csr


class FeatureView(Protocol):
    """One kind of features, fitted to a graph."""

    @property
    def name(self) -> str:
        """The name of the view in model specifications."""

    @property
    def widths(self) -> Widths:
        """The number of features of queries and of documents; None: as many as the graph has queries."""

    def transform_queries(self, queries: Sequence[str], graph: ClickGraph) -> Csr:
        """Return the features of normalised queries that are not in the graph."""

    def transform_docs(self, texts: Texts, graph: ClickGraph) -> Csr:
        """Return the features of documents that are not in the graph, from their text fields."""

    def query_label(self, column: int, graph: ClickGraph) -> str:
        """Return a readable name of a query feature."""

    def doc_label(self, column: int, graph: ClickGraph) -> str:
        """Return a readable name of a document feature."""

    def coverage(self, query: str) -> float | None:
        """Return the share of the query that this view knows, 0 … 1; None if it does not read texts."""


@stored
@dataclass(frozen=True)
class TextView:
    """Words by TF-IDF, over one vocabulary for both sides."""

    name: str
    fields: list[str]
    analyzer: Analyzer
    tf: str
    terms: Annotated[Vocab, Shape("terms")]
    display_terms: Annotated[Strings, Shape("terms")]
    query_idf: Annotated[NDArray[np.float32], Shape("terms")]
    doc_idf: Annotated[NDArray[np.float32], Shape("terms")]

    @classmethod
    def fit(cls, name: str, graph: ClickGraph, options: TextOptions) -> tuple[TextView, FeatureMatrices]:
        """Count the words of queries and documents, and weigh them by TF-IDF."""
        fields = choose_fields(graph.texts, options.fields if name == "words" else name)
        words = TermMatrix.fit_collection(graph.queries, graph.texts, fields, options.analyzer)
        words = words.most_frequent(options.max_terms)
        counts = words.counts()
        queries, docs = _split_rows(counts, len(graph.queries))
        shared_idf = inverse_frequency(counts) if options.one_idf else None
        query_idf, doc_idf = (
            inverse_frequency(side) if shared_idf is None else shared_idf for side in (queries, docs)
        )
        text = options.analyzer, options.tf, words.terms, words.display_terms
        view = cls(name, fields, *text, query_idf, doc_idf)
        return view, FeatureMatrices(
            tf_idf(queries, query_idf, options.tf), tf_idf(docs, doc_idf, options.tf)
        )

    @property
    def widths(self) -> Widths:
        """The number of words, on both sides."""
        return len(self.terms), len(self.terms)

    def transform_queries(self, queries: Sequence[str], graph: ClickGraph) -> Csr:
        """Use the words that are known."""
        tokens = self.analyzer.lookup_terms(queries, self.terms)
        return tf_idf(count_terms(tokens, len(self.terms)), self.query_idf, self.tf)

    def transform_docs(self, texts: Texts, graph: ClickGraph) -> Csr:
        """Use the words that are known."""
        tokens = self.analyzer.lookup_terms(_joined(texts, self.fields), self.terms)
        return tf_idf(count_terms(tokens, len(self.terms)), self.doc_idf, self.tf)

    def query_label(self, column: int, graph: ClickGraph) -> str:
        """Return the word in its most frequent form."""
        return self.display_terms[column]

    doc_label = query_label

    def coverage(self, query: str) -> float:
        """Return the share of words that are known."""
        terms = self.analyzer.lookup_terms([query], self.terms).terms
        return float(np.mean(terms >= 0)) if len(terms) else 0.0


@stored
@dataclass(frozen=True)
class CharView:
    """Character n-grams by IDF: for misspelt, inflected and run-together words."""

    name: str
    fields: list[str]
    units: Annotated[CharUnits, Shape("units")]
    query_idf: Annotated[NDArray[np.float32], Shape("units")]
    doc_idf: Annotated[NDArray[np.float32], Shape("units")]

    @classmethod
    def fit(cls, name: str, graph: ClickGraph, options: TextOptions) -> tuple[CharView, FeatureMatrices]:
        """Extract the n-grams that at least two texts contain, at most the `MAX_CHARS` most frequent.

        With `fields=all` documents are read by their titles: the n-grams of long texts take most of the time
        of a training and add little.
        """
        named = options.fields if options.fields != "all" else short_field(graph.texts)
        fields = choose_fields(graph.texts, named)
        texts = chain(each_text(graph.queries), joined_fields(graph.texts, fields))
        held = _frequent_chars(character_sequences(texts))
        assert isinstance(held.table, CharUnits)
        queries, docs = _split_rows(_indicators(held), len(graph.queries))
        view = cls(name, fields, held.table, inverse_frequency(queries), inverse_frequency(docs))
        return view, FeatureMatrices(
            tf_idf(queries, view.query_idf, "count"), tf_idf(docs, view.doc_idf, "count")
        )

    @property
    def widths(self) -> Widths:
        """The number of n-grams, on both sides."""
        return len(self.units), len(self.units)

    def transform_queries(self, queries: Sequence[str], graph: ClickGraph) -> Csr:
        """Use the n-grams that are known."""
        incidence = self.units.incidence(character_sequences(queries))
        return tf_idf(_indicators(incidence), self.query_idf, "count")

    def transform_docs(self, texts: Texts, graph: ClickGraph) -> Csr:
        """Use the n-grams that are known."""
        sequences = character_sequences(_joined(texts, self.fields))
        return tf_idf(_indicators(self.units.incidence(sequences)), self.doc_idf, "count")

    def query_label(self, column: int, graph: ClickGraph) -> str:
        """Return the n-gram between tildes."""
        return self.units.labels(np.array([column]), Strings.from_list([]))[0]

    doc_label = query_label

    def coverage(self, query: str) -> float:
        """Return the share of n-grams that are known."""
        sequences = character_sequences([query])
        every = CharUnits.extract(sequences, 1)
        return len(self.units.incidence(sequences).units) / max(len(every.units), 1)


class GraphOnlyView:
    """Base of views that have features only for queries and documents of the graph."""

    def transform_queries(self, queries: Sequence[str], graph: ClickGraph) -> Csr:
        """Return empty rows."""
        return Csr.empty(len(queries), self.columns(graph)[0])

    def transform_docs(self, texts: Texts, graph: ClickGraph) -> Csr:
        """Return empty rows."""
        return Csr.empty(len(next(iter(texts.values()))), self.columns(graph)[1])

    @property
    def widths(self) -> Widths:
        """The number of features of queries and of documents; None: as many as the graph has queries."""
        raise NotImplementedError  # abstract

    def columns(self, graph: ClickGraph) -> tuple[int, int]:
        """Return the number of columns of queries and of documents."""
        queries, docs = (len(graph.queries) if width is None else width for width in self.widths)
        return queries, docs

    def coverage(self, query: str) -> None:
        """Return None: this view does not read texts."""
        return


@stored
@dataclass(frozen=True)
class ClickView(GraphOnlyView):
    """Clicks: a query by its documents, a document by its queries; the name says on which scale."""

    name: str
    docs: int  # at training time: documents added later have no column

    @classmethod
    def fit(cls, name: str, graph: ClickGraph) -> tuple[ClickView, FeatureMatrices]:
        """Take the clicks on the scale of the view."""
        scale = CLICK_SCALES[name]
        sides = (edges.with_data(scale(edges.data)) for edges in (graph.clicks, graph.clicks_by_doc))
        sides = (side.positive() for side in sides)  # ln 1 = 0
        return cls(name, len(graph.docs)), FeatureMatrices(*map(unit_rows, sides))

    @property
    def widths(self) -> Widths:
        """The number of documents and of queries, which are each other's columns."""
        return self.docs, None

    def query_label(self, column: int, graph: ClickGraph) -> str:
        """Return the document."""
        return graph.docs[column]

    def doc_label(self, column: int, graph: ClickGraph) -> str:
        """Return the query."""
        return graph.queries[column]


@stored
@dataclass(frozen=True)
class IdView(GraphOnlyView):
    """One column for each query and each document: a bilinear model of these is LSI."""

    name: str
    docs: int

    @classmethod
    def fit(cls, name: str, graph: ClickGraph) -> tuple[IdView, FeatureMatrices]:
        """Take identity matrices."""
        return cls(name, len(graph.docs)), FeatureMatrices(
            *(_identity(len(v)) for v in (graph.queries, graph.docs))
        )

    @property
    def widths(self) -> Widths:
        """The number of queries and of documents."""
        return None, self.docs

    def query_label(self, column: int, graph: ClickGraph) -> str:
        """Return the query."""
        return graph.queries[column]

    def doc_label(self, column: int, graph: ClickGraph) -> str:
        """Return the document."""
        return graph.docs[column]


@stored
@dataclass(frozen=True)
class UserFeatureView(GraphOnlyView):
    """The features of a user view of the graph: see `coclick.graph.user_views`."""

    name: str
    query_features: Annotated[Strings, Shape("query_features")]
    doc_features: Annotated[Strings, Shape("doc_features")]

    @classmethod
    def fit(cls, name: str, graph: ClickGraph) -> tuple[UserFeatureView, FeatureMatrices]:
        """Take the features of the graph, with rows of unit length."""
        view = graph.views[name]
        rows = FeatureMatrices(unit_rows(view.queries), unit_rows(view.docs))
        return cls(name, view.query_features, view.doc_features), rows

    def transform_features(self, docs: Sequence[Mapping[str, float]]) -> Csr:
        """Return the rows of documents that are given by their features; unknown features are ignored."""
        column = {name: i for i, name in enumerate(self.doc_features)}
        known = [
            (row, column[name], value)
            for row, features in enumerate(docs)
            for name, value in features.items()
            if name in column
        ]
        rows, columns, values = zip(*known, strict=True) if known else ((), (), ())
        triples = np.array(rows, np.int32), np.array(columns, np.int32), np.array(values, np.float32)
        return unit_rows(Csr.from_triples(*triples, (len(docs), len(self.doc_features))))

    @property
    def widths(self) -> Widths:
        """The number of features."""
        return len(self.query_features), len(self.doc_features)

    def query_label(self, column: int, graph: ClickGraph) -> str:
        """Return the name of the feature."""
        return self.query_features[column]

    def doc_label(self, column: int, graph: ClickGraph) -> str:
        """Return the name of the feature."""
        return self.doc_features[column]


def _joined(texts: Texts, fields: list[str]) -> list[str]:
    """The text of the given fields of each document; missing fields are empty."""
    rows = len(next(iter(texts.values())))
    blank = Strings.from_list([""] * rows)
    return list(joined_fields({name: texts.get(name) or blank for name in fields}, fields))


def _frequent_chars(sequences: Tokens) -> Incidence:
    """The character n-grams of texts; if there are more than `MAX_CHARS`, those of enough texts."""
    held = CharUnits.extract(sequences)
    if len(held.table) <= MAX_CHARS:
        return held
    texts = np.bincount(held.units, minlength=len(held.table))
    most = np.partition(texts, len(texts) - MAX_CHARS)[len(texts) - MAX_CHARS]  # of these, ties are left out
    return CharUnits.extract(sequences, int(most) + 1)


def _split_rows(rows: Csr, at: int) -> tuple[Csr, Csr]:
    return rows.row_slice(0, at), rows.row_slice(at, rows.rows)


def _indicators(held: Incidence) -> Csr:
    return Csr(held.indptr, held.units, np.ones(len(held.units), np.float32), len(held.table))


def _identity(size: int) -> Csr:
    return Csr(np.arange(size + 1), np.arange(size, dtype=np.int32), np.ones(size, np.float32), size)
