"""Views: one kind of features each, as sparse rows of unit length for queries and for documents.

A view is learned from a graph, for which it has rows; it may have rows for texts that are not in it, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings, Vocab
from coclick.graph.click_graph import ClickGraph
from coclick.storage.state import stored
from coclick.text.analyzer import Analyzer
from coclick.text.ngrams import CharUnits, Incidence, character_sequences
from coclick.text.term_matrix import (
    TermMatrix,
    choose_fields,
    count_terms,
    each_text,
    inverse_frequency,
    joined_fields,
    tf_idf,
    unit_rows,
)

Texts = Mapping[str, Strings]  # of documents, by field


@dataclass(frozen=True)
class TextOptions:
    """How texts become features."""

    analyzer: Analyzer
    fields: str = "all"
    tf: str = "log"
    one_idf: bool = False  # of queries and documents together; else each side has its own, as in paper 000
    max_terms: int | None = None  # only the commonest


class Sides(NamedTuple):
    """The feature rows of all queries and of all documents of a graph."""

    queries: Csr
    docs: Csr


class View(Protocol):
    """One kind of features, as learned from a graph."""

    @property
    def name(self) -> str:
        """What the user calls it."""

    def of_queries(self, queries: Sequence[str], graph: ClickGraph) -> Csr:
        """Rows for normalised queries that are not in the graph."""

    def of_docs(self, texts: Texts, graph: ClickGraph) -> Csr:
        """Rows for documents that are not in the graph, from their fields."""

    def query_label(self, column: int, graph: ClickGraph) -> str:
        """A column of the queries' features, for people."""

    def doc_label(self, column: int, graph: ClickGraph) -> str:
        """A column of the documents' features, for people."""

    def coverage(self, query: str) -> float | None:
        """How much of the query this view knows, 0 … 1; None if it does not look at texts."""


@stored
@dataclass(frozen=True)
class TextView:
    """Words by TF-IDF, over one vocabulary for both sides."""

    name: str
    fields: list[str]
    analyzer: Analyzer
    tf: str
    terms: Vocab
    surfaces: Strings
    query_idf: NDArray[np.float32]
    doc_idf: NDArray[np.float32]

    @classmethod
    def fit(cls, name: str, graph: ClickGraph, options: TextOptions) -> tuple[TextView, Sides]:
        """Count the words of both sides and weigh them."""
        fields = choose_fields(graph.texts, options.fields if name == "words" else name)
        texts = chain(each_text(graph.queries), joined_fields(graph.texts, fields))
        words = TermMatrix.fit(texts, options.analyzer).commonest(options.max_terms)
        counts = words.counts()
        queries, docs = _cut(counts, len(graph.queries))
        together = inverse_frequency(counts) if options.one_idf else None
        query_idf, doc_idf = (
            inverse_frequency(side) if together is None else together for side in (queries, docs)
        )
        text = options.analyzer, options.tf, words.terms, words.surfaces
        view = cls(name, fields, *text, query_idf, doc_idf)
        return view, Sides(tf_idf(queries, query_idf, options.tf), tf_idf(docs, doc_idf, options.tf))

    def of_queries(self, queries: Sequence[str], graph: ClickGraph) -> Csr:
        """From the words that are known."""
        tokens = self.analyzer.look_up(queries, self.terms)
        return tf_idf(count_terms(tokens, len(self.terms)), self.query_idf, self.tf)

    def of_docs(self, texts: Texts, graph: ClickGraph) -> Csr:
        """From the words that are known."""
        tokens = self.analyzer.look_up(_joined(texts, self.fields), self.terms)
        return tf_idf(count_terms(tokens, len(self.terms)), self.doc_idf, self.tf)

    def query_label(self, column: int, graph: ClickGraph) -> str:
        """The word in its commonest form."""
        return self.surfaces[column]

    doc_label = query_label

    def coverage(self, query: str) -> float:
        """The share of its words that are known."""
        terms = self.analyzer.look_up([query], self.terms).terms
        return float(np.mean(terms >= 0)) if len(terms) else 0.0


@stored
@dataclass(frozen=True)
class CharView:
    """Character n-grams by IDF: for misspelt, inflected and run-together words."""

    name: str
    fields: list[str]
    units: CharUnits
    query_idf: NDArray[np.float32]
    doc_idf: NDArray[np.float32]

    @classmethod
    def fit(cls, name: str, graph: ClickGraph, options: TextOptions) -> tuple[CharView, Sides]:
        """The n-grams that at least two texts hold."""
        fields = choose_fields(graph.texts, options.fields)
        texts = chain(each_text(graph.queries), joined_fields(graph.texts, fields))
        held = CharUnits.extract(character_sequences(texts))
        assert isinstance(held.table, CharUnits)
        queries, docs = _cut(_ones(held), len(graph.queries))
        view = cls(name, fields, held.table, inverse_frequency(queries), inverse_frequency(docs))
        return view, Sides(tf_idf(queries, view.query_idf, "count"), tf_idf(docs, view.doc_idf, "count"))

    def of_queries(self, queries: Sequence[str], graph: ClickGraph) -> Csr:
        """From the n-grams that are known."""
        return tf_idf(_ones(self.units.incidence(character_sequences(queries))), self.query_idf, "count")

    def of_docs(self, texts: Texts, graph: ClickGraph) -> Csr:
        """From the n-grams that are known."""
        sequences = character_sequences(_joined(texts, self.fields))
        return tf_idf(_ones(self.units.incidence(sequences)), self.doc_idf, "count")

    def query_label(self, column: int, graph: ClickGraph) -> str:
        """The n-gram between tildes."""
        return self.units.labels(np.array([column]), Strings.from_list([]))[0]

    doc_label = query_label

    def coverage(self, query: str) -> float:
        """The share of its n-grams that are known."""
        sequences = character_sequences([query])
        every = CharUnits.extract(sequences, 1)
        return len(self.units.incidence(sequences).units) / max(len(every.units), 1)


class _NoTexts:
    """What views have in common that know only what is in the graph."""

    def of_queries(self, queries: Sequence[str], graph: ClickGraph) -> Csr:
        """Nothing."""
        return Csr.empty(len(queries), self.columns(graph)[0])

    def of_docs(self, texts: Texts, graph: ClickGraph) -> Csr:
        """Nothing."""
        return Csr.empty(len(next(iter(texts.values()))), self.columns(graph)[1])

    def columns(self, graph: ClickGraph) -> tuple[int, int]:
        """Of queries and of documents."""
        raise NotImplementedError  # abstract

    def coverage(self, query: str) -> None:
        """Texts do not matter."""
        return


@stored
@dataclass(frozen=True)
class ClickView(_NoTexts):
    """Who was clicked together: a query by its documents, a document by its queries."""

    name: str
    docs: int  # when the model was trained: documents that came later have no column

    @classmethod
    def fit(cls, name: str, graph: ClickGraph) -> tuple[ClickView, Sides]:
        """Logarithmic clicks."""
        sides = (edges.with_data(np.log1p(edges.data)) for edges in (graph.clicks, graph.clicks_by_doc))
        return cls(name, len(graph.docs)), Sides(*map(unit_rows, sides))

    def columns(self, graph: ClickGraph) -> tuple[int, int]:
        """Queries have a column for each document, documents one for each query."""
        return self.docs, len(graph.queries)

    def query_label(self, column: int, graph: ClickGraph) -> str:
        """The document."""
        return graph.docs[column]

    def doc_label(self, column: int, graph: ClickGraph) -> str:
        """The query."""
        return graph.queries[column]


@stored
@dataclass(frozen=True)
class IdView(_NoTexts):
    """Every query and every document stands for itself: a bilinear model of these is LSI."""

    name: str
    docs: int

    @classmethod
    def fit(cls, name: str, graph: ClickGraph) -> tuple[IdView, Sides]:
        """Ones on the diagonal."""
        return cls(name, len(graph.docs)), Sides(*(_identity(len(v)) for v in (graph.queries, graph.docs)))

    def columns(self, graph: ClickGraph) -> tuple[int, int]:
        """One each."""
        return len(graph.queries), self.docs

    def query_label(self, column: int, graph: ClickGraph) -> str:
        """The query."""
        return graph.queries[column]

    def doc_label(self, column: int, graph: ClickGraph) -> str:
        """The document."""
        return graph.docs[column]


@stored
@dataclass(frozen=True)
class UserView(_NoTexts):
    """Features that the user has given to the graph, with their names."""

    name: str
    query_features: Strings
    doc_features: Strings

    @classmethod
    def fit(cls, name: str, graph: ClickGraph) -> tuple[UserView, Sides]:
        """As they are in the graph, with rows of unit length."""
        given = graph.views[name]
        rows = Sides(unit_rows(given.queries), unit_rows(given.docs))
        return cls(name, given.query_features, given.doc_features), rows

    def columns(self, graph: ClickGraph) -> tuple[int, int]:
        """One a feature."""
        return len(self.query_features), len(self.doc_features)

    def query_label(self, column: int, graph: ClickGraph) -> str:
        """Its name."""
        return self.query_features[column]

    def doc_label(self, column: int, graph: ClickGraph) -> str:
        """Its name."""
        return self.doc_features[column]


def _joined(texts: Texts, fields: list[str]) -> list[str]:
    """For each document the wanted fields, one behind the other; what is missing is empty."""
    rows = len(next(iter(texts.values())))
    blank = Strings.from_list([""] * rows)
    found: Iterator[str] = joined_fields({name: texts.get(name) or blank for name in fields}, fields)
    return list(found)


def _cut(rows: Csr, at: int) -> tuple[Csr, Csr]:
    """The rows before and from a place on."""
    return rows.row_slice(0, at), rows.row_slice(at, rows.rows)


def _ones(held: Incidence) -> Csr:
    return Csr(held.indptr, held.units, np.ones(len(held.units), np.float32), len(held.table))


def _identity(size: int) -> Csr:
    return Csr(np.arange(size + 1), np.arange(size, dtype=np.int32), np.ones(size, np.float32), size)
