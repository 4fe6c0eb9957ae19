"""`vpcg`: vector propagation on the click graph (Jiang et al. 2016).

Vectors of words are propagated along clicks. From the query side (§2, Eq. 1–2), with C the clicks and Q⁰ the
words of queries as unit vectors,

    Dⁿ = norm(top_K(Cᵀ Qⁿ⁻¹))        Qⁿ = norm(top_K(C Dⁿ))

and from the document side (Eq. 3–4) with the roles exchanged. top_K keeps the K = `max_terms` largest entries
of a row, norm scales it to unit length; scores are cosines. Queries and documents without clicks get vectors
from their units (§3, `coclick.models.propagation.units`).

One iteration is the default: propagation is a power iteration, and on dense graphs more iterations make all
vectors of a connected component the same. `iterations=validate` chooses the number on held-out clicks,
`converge` stops when iterations change little. `stats_["rounds"]` has the cosine to the previous one and that
of random pairs.

With `start=query` (the default) "texts" are the queries and "others" the documents; with `start=doc`, "texts"
are the documents and "others" the queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr, fill_rows
from coclick.arrays.strings import Strings
from coclick.graph.click_graph import ClickGraph
from coclick.index.sparse import VectorIndex
from coclick.kernels.packed import MAX_ENTRIES
from coclick.models.presets import Preset
from coclick.models.propagation.iterations import Propagation, choose_iterations, initial_vectors
from coclick.models.propagation.units import (
    TextSplitter,
    UnitEncoder,
    UnitTrainingData,
    UnitVectors,
    Weighting,
    learn_units,
)
from coclick.models.provenance import PropagatedProvenance, Provenance, Side
from coclick.models.registry import register
from coclick.models.sparse_vectors import SparseVectorModel
from coclick.models.spec import Range
from coclick.progress import Progress
from coclick.storage.layout import Shape
from coclick.text.analyzer import Tokenizer
from coclick.text.query import Query
from coclick.text.term_matrix import TermMatrix, choose_fields, inverse_frequency, short_field, titles


@register
@dataclass
class VPCG(SparseVectorModel):
    """Propagated word vectors, and generated ones for queries and documents without clicks."""

    name = "vpcg"
    summary = "word vectors propagated along clicks, generated from n-grams where there are no clicks"
    relative_cost = 3.0
    evidence_names = ("coverage", "support")
    capabilities = SparseVectorModel.capabilities | {
        "unseen_queries",
        "unseen_docs",
        "similar",
        "add",
        "expand_docs",
    }
    presets = {
        "paper": Preset(
            "Jiang et al. 2016",
            max_terms=(20, "§4.2: K = 20"),
            weight=("clicks", "§2.1: the number of co-clicks"),
            iterations=("converge", "§2.2: repeated until convergence"),
            units=("words", "§3.1: unigrams, bigrams and trigrams of words"),
            unit_weights=("least_squares", "Eq. 7 has no prior, and weights may be negative"),
            own_weight=(0.0, "Eq. 8: unit vectors alone"),
            min_texts=(1, "§3.1: all units, however rare"),
            stem=(False, "Table 3 has both hotel and hotels"),
            remove_stop_words=(False, "Table 3 has what and to"),
            tokenizer=("words", "words are not split into pieces"),
        )
    }

    start: Literal["query", "doc"] = "query"
    max_terms: Annotated[int, Range(1, MAX_ENTRIES)] = 20
    weight: Literal["clicks", "log1p"] = "clicks"
    iterations: Annotated[int | Literal["converge", "validate"], Range(1)] = 1
    units: Literal["words", "chars", "words+chars", "none"] = "words+chars"
    unit_weights: Weighting = "regression"
    rho: Annotated[float, Range(0)] = 100.0  # strength of the prior of unit weights, their idf
    own_weight: Annotated[float, Range(0)] = 1.0  # of own words in generated vectors
    min_texts: Annotated[int, Range(1)] = 2  # a unit must occur in this many texts
    fields: str = "all"  # of documents: "all", or names joined with +
    language: str = "auto"
    stem: bool = True
    remove_stop_words: bool = False
    tokenizer: Tokenizer = "pieces"
    seed: Annotated[int, Range(0)] = 0

    idf_: Annotated[NDArray[np.float32], Shape("terms")] = field(init=False)
    previous_vectors_: Annotated[Csr, Shape("previous", "terms")] = field(init=False)
    units_: Annotated[UnitVectors | None, Shape("texts", "terms")] = field(init=False)

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Propagate vectors, learn units, generate missing vectors, and index them."""
        queries, docs = self._propagate(graph, progress)
        with progress("vectors without clicks"):
            queries = self._unit_encoder.fill(queries, graph.clicks, graph.queries)
            docs = self._unit_encoder.fill(docs, graph.clicks_by_doc, titles(graph.texts))
        with progress("index"):
            self.doc_index_ = VectorIndex.build(docs)
            self.query_index_ = VectorIndex.build(queries)

    def _propagate(self, graph: ClickGraph, progress: Progress) -> tuple[Csr, Csr]:
        """The vectors of queries and documents with clicks; also learns units."""
        with progress("words"):
            if self.start == "query":
                words = TermMatrix.fit(graph.queries, self._analyzer)
            else:
                fields = choose_fields(graph.texts, self.fields)
                words = TermMatrix.fit_collection(None, graph.texts, fields, self._analyzer)
            words = words.sorted_by_hash()  # ties are pruned by number
            start = initial_vectors(words.counts())
        self.idf_ = inverse_frequency(start)
        self.terms_, self.display_terms_ = words.terms, words.display_terms
        iterations = self.iterations
        if iterations == "validate":
            chosen = choose_iterations(self._propagation, graph, start, self._by_side, self.seed, progress)
            iterations, self.stats_["validation"] = chosen
        propagation = self._propagation(graph)
        vectors, self.stats_["rounds"] = propagation.run(start, iterations, progress)
        self.previous_vectors_ = vectors.previous
        data = UnitTrainingData(propagation, vectors, self.min_texts, self.unit_weights, self.rho)
        short, known = (graph.queries, words.tokens) if self.start == "query" else (titles(graph.texts), None)
        learned = learn_units(self.units, short, self._splitter, data, progress, known)
        self.units_, self.stats_["units"] = learned
        return self._by_side(vectors.texts, vectors.others)

    def _embed_queries(self, queries: Sequence[Query]) -> Csr:
        """Return vectors: of seen queries from the index, of others from their units."""
        assert self.query_index_ is not None
        rows = np.array([query.row for query in queries], np.int32)
        unknown = [query.text for query in queries if query.row < 0]
        known = self.query_index_.vectors.take(rows)
        return fill_rows(rows >= 0, known, self._unit_encoder.encode(unknown)) if unknown else known

    def _embed_docs(self, texts: Mapping[str, Strings]) -> Csr:
        """Return vectors from the units of the titles or, without titles, of the first field."""
        return self._unit_encoder.encode(texts[short_field(self.graph_.texts)].to_list())

    def _query_provenance(self, query: Query) -> Provenance:
        """Return the clicks of the query, or those of its units."""
        if query.row >= 0 and len(self.graph_.clicks.row(query.row)[0]):
            return PropagatedProvenance(self._side(is_query=True), query.row)
        side = self._side(self.start == "query")
        return self._unit_encoder.provenance(side, query.text, self.display_terms_)

    def _doc_provenance(self, doc: int) -> Provenance:
        """Return the clicks of the document, or those of the units of its title."""
        if len(self.graph_.clicks_by_doc.row(doc)[0]):
            return PropagatedProvenance(self._side(is_query=False), doc)
        texts = titles(self.graph_.texts)
        title = texts[doc] if texts else ""
        return self._unit_encoder.provenance(self._side(self.start == "query"), title, self.display_terms_)

    def _evidence(self, query: Query) -> dict[str, float]:
        """Rate the clicks of the query or, without clicks, the share of its words that are in units."""
        if support := self._support(query):
            return {"support": support}
        return {"coverage": self._known_text(query)}

    def _known_text(self, query: Query) -> float:
        """Return the share of words that are in units."""
        return self._unit_encoder.coverage(query.text)

    def _evidence_of(self, queries: Sequence[Query]) -> list[dict[str, float]]:
        """Rate the evidence of many queries, whose words are looked up at once."""
        support = [self._support(query) for query in queries]
        unknown = [query.text for query, own in zip(queries, support, strict=True) if not own]
        coverage = iter(self._unit_encoder.coverages(unknown))
        return [{"support": own} if own else {"coverage": next(coverage)} for own in support]

    # -- inside ----------------------------------------------------------------------------------------

    @property
    def _dimensions(self) -> Mapping[str, str]:
        """The texts are queries or documents."""
        return {"texts": "queries" if self.start == "query" else "docs"}

    @property
    def _unit_encoder(self) -> UnitEncoder:
        return UnitEncoder(self.units_, self._splitter, self.max_terms)

    @property
    def _splitter(self) -> TextSplitter:
        return TextSplitter(self._analyzer, self.terms_, self.idf_, self.own_weight)

    def _by_side(self, texts: Csr, others: Csr) -> tuple[Csr, Csr]:
        """Queries first, documents second."""
        return (texts, others) if self.start == "query" else (others, texts)

    def _weight_clicks(self, clicks: NDArray[np.float32]) -> NDArray[np.float32]:
        return clicks if self.weight == "clicks" else np.log1p(clicks)

    def _propagation(self, graph: ClickGraph) -> Propagation:
        edges = graph.clicks if self.start == "query" else graph.clicks_by_doc
        return Propagation(edges.with_data(self._weight_clicks(edges.data)), self.max_terms)

    def _side(self, is_query: bool) -> Side:
        """The input of the last half-step towards queries or documents: the right sides of Eq. 1–4."""
        assert self.query_index_ is not None
        edges = self.graph_.clicks if is_query else self.graph_.clicks_by_doc
        final = self.doc_index_.vectors if is_query else self.query_index_.vectors
        is_text_side = is_query == (self.start == "query")  # updated last, from final vectors
        previous = final if is_text_side else self.previous_vectors_
        return Side(self.graph_, is_query, edges, self._weight_clicks, previous)
