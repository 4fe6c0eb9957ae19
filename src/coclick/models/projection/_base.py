"""`ProjectionModel`: what follows, for search, similar, expand, explain, add, from linear maps of features.

Queries have sparse features x and documents y (`feature_set`); maps P and R take them into one space of
`dim` dimensions. A score is the dot product of the embedded, or their cosine,

    score(q, d) = xᵀ P Rᵀ y = Σ_f Σ_g x_f y_g (P_f · R_g)

and so a sum over the features f of the query and g of the document, which is its exact explanation. Negative
scores count as nothing found. A subclass learns the maps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr, vstack
from coclick.arrays.strings import Strings
from coclick.errors import UserError
from coclick.features.feature_set import FeatureSet, reads_texts, requires_texts
from coclick.features.views import FeatureMatrices, TextOptions
from coclick.graph.click_graph import ClickGraph
from coclick.index.ann import ApproximateIndex
from coclick.index.dense import DenseIndex
from coclick.models.base import DocMask, TextModel, TopK
from coclick.models.projection.click_evidence import Associations, effective_rank
from coclick.models.projection.linear_map import LinearMap
from coclick.models.spec import Range
from coclick.progress import Progress
from coclick.results import ClickEvidence, Contribution, Explanation, top_rows
from coclick.text.query import Query

Floats = NDArray[np.float32]

OF_TEXTS = frozenset({"unseen_queries", "unseen_docs", "add", "expand"})  # what takes a view of texts
_WORDS = 20  # of an expansion
_WITH_CLICKS = 10  # features of a document for which the clicks are shown, for each feature of the query
MIN_NORM = 1e-5  # of the map's longest row: an image that is shorter is rounding, and counts as zero


@dataclass
class _Parameters(TextModel):
    """What all of these models can be told."""

    dim: Annotated[int, Range(1)] = 100
    fields: str = "all"  # of documents: "all", or names joined with +
    language: str = "english"
    stem: bool = True
    remove_stop_words: bool = True  # true: leave them out
    seed: Annotated[int, Range(0)] = 0
    index: Literal["exact", "approximate"] = "exact"


class ProjectionModel(_Parameters):
    """A model whose queries and documents are dense embeddings of their features."""

    evidence_names = ("coverage", "support")

    capabilities = frozenset(
        {"unseen_queries", "unseen_docs", "similar", "expand", "explain", "add", "export"}
    )
    cosine: ClassVar[bool] = False  # whether scores are cosines of embedded, or dot products

    features_: FeatureSet
    query_features_: Csr  # of all queries of the graph
    doc_features_: Csr
    query_map_: LinearMap
    doc_map_: LinearMap
    query_index_: DenseIndex
    doc_index_: DenseIndex
    approximate_: ApproximateIndex | None = None  # of the same documents

    def configure_views(self, views: str) -> None:
        """Set what a model with these views requires and can do; called when its parameters are known."""
        if not reads_texts(views):
            self.capabilities -= OF_TEXTS
        self.requires = ("texts",) if requires_texts(views) else ()

    # -- for the models to call while they learn ---------------------------------------------------------

    def featurise(
        self,
        graph: ClickGraph,
        views: str,
        progress: Progress,
        *,
        joined: bool = True,
        one_idf: bool = False,
        max_terms: int | None = None,
    ) -> FeatureMatrices:
        """Learn the features of both sides."""
        options = TextOptions(self._analyzer, self.fields, one_idf=one_idf, max_terms=max_terms)
        with progress("features"):
            self.features_, rows = FeatureSet.fit(graph, views, options, joined=joined)
        self.query_features_, self.doc_features_ = rows
        return rows

    def build_embeddings(self, query_map: LinearMap, doc_map: LinearMap, progress: Progress) -> None:
        """Take the maps that were learned, and make the images of everything in the graph."""
        self.query_map_, self.doc_map_ = query_map, doc_map
        with progress("images"):
            self.query_index_ = DenseIndex.build(self.embed_query_features(self.query_features_))
            self.doc_index_ = DenseIndex.build(self.embed_doc_features(self.doc_features_))
        self.approximate_ = None
        if self.index == "approximate":
            with progress("approximate index"):
                self.approximate_, found = ApproximateIndex.build(self.doc_index_, self.query_index_.vectors)
            self.stats_["approximate"] = found
        self._associations = None

    def note(self, sentence: str) -> None:
        """Something about the training that the user should know."""
        self.stats_.setdefault("notes", []).append(sentence)

    def spectrum(self, values: NDArray[np.float64]) -> None:
        """Report the singular values that were found, and whether they are fewer than was wanted."""
        self.clipped(len(values))
        self.stats_["singular_values"] = values.tolist()
        self.stats_["effective_rank"] = effective_rank(values)

    def clipped(self, found: int, of: str = "") -> None:
        """Say so if there are fewer dimensions than were wanted."""
        if found < self.dim:
            used = "1 dimension is" if found == 1 else f"{found} dimensions are"
            self.note(f"dim={self.dim} is more than the data{of} has: {used} used")

    def edge_weights(self, graph: ClickGraph) -> Csr | None:
        """The weights of clicked pairs in what the maps were fitted to; None if clicks had no part in it."""
        return None

    # -- images ----------------------------------------------------------------------------------------

    def embed_query_features(self, features: Csr) -> Floats:
        """The images of rows of query features."""
        return _images(self.query_map_, features, self.cosine)

    def embed_doc_features(self, features: Csr) -> Floats:
        """The images of rows of document features."""
        return _images(self.doc_map_, features, self.cosine)

    def embed_queries(self, queries: str | Sequence[str]) -> Floats:
        """Return one dense vector per query."""
        return self._embed_queries(self._queries(queries))

    def embed_docs(self, docs: str | Sequence[str]) -> Floats:
        """Return the vectors of documents, given by id."""
        vectors: Floats = self.doc_index_.vectors[
            self.rows_of_docs([docs] if isinstance(docs, str) else docs)
        ]
        return vectors

    def _embed_queries(self, queries: Sequence[Query]) -> Floats:
        """Those of the graph from the index, others from their texts."""
        rows = np.array([query.row for query in queries], np.int32)
        embedded = np.empty((len(rows), self.query_index_.vectors.shape[1]), np.float32)
        known = rows >= 0
        embedded[known] = self.query_index_.vectors[rows[known]]
        unknown = [query.text for query in queries if query.row < 0]
        if unknown:
            embedded[~known] = self.embed_query_features(
                self.features_.transform_queries(unknown, self.graph_)
            )
        return embedded

    def compared(self, embedded: Floats) -> Floats:
        """Return what of embeddings of one side says whether they are alike: by default all of it."""
        return embedded

    # -- what follows ----------------------------------------------------------------------------------

    def _score(self, query: Query, docs: NDArray[np.int32]) -> Floats:
        """Dot products."""
        return self.doc_index_.score(self._embed_queries([query])[0], docs)

    def _score_texts(self, query: Query, texts: Mapping[str, Strings]) -> Floats:
        """The same with images that are made of the texts."""
        return self.weigh_features(query, self.features_.transform_docs(texts, self.graph_))

    def _search(self, queries: Sequence[Query], k: int, mask: DocMask) -> TopK:
        """Through the index; documents are filtered by the exact one only."""
        embedded = self._embed_queries(queries)
        if self.approximate_ is not None and mask is None:
            return self.approximate_.search(embedded, k, self.doc_index_)
        return self.doc_index_.search(embedded, k, mask)

    def _similar_queries(self, queries: Sequence[Query], k: int) -> TopK:
        """By the embeddings of queries alone."""
        return self.query_index_.search(self.compared(self._embed_queries(queries)), k)

    def _similar_docs(self, docs: NDArray[np.int32], k: int) -> TopK:
        """By the embeddings of documents alone."""
        return self.doc_index_.search(self.compared(self.doc_index_.vectors[docs]), k)

    def _evidence(self, query: Query) -> dict[str, float]:
        """The query's clicks or, where it has none, how much of its text is known."""
        if support := self._support(query):
            return {"support": support}
        return {"coverage": self.features_.coverage(query.text) or 0.0}

    def _expand(self, query: Query) -> list[tuple[str, float]]:
        """The words that a document should have: what each would add to its score, the most first."""
        found = self.features_.words()
        if found is None:
            raise UserError(f"{self} cannot expand queries: it has no view of words", hint="views=words+…")
        view, first = found
        words = np.arange(len(view.terms) + 1)
        columns = np.arange(first, first + len(view.terms), dtype=np.int32)
        each = Csr(words, columns, np.ones(len(columns), np.float32), self.doc_features_.columns)
        terms, weights = top_rows(self.weigh_features(query, each), _WORDS)
        return [(view.display_terms[term], float(w)) for term, w in zip(terms.tolist(), weights, strict=True)]

    def weigh_features(self, query: Query, rows: Csr) -> Floats:
        """The scores of rows of document features for a normalised query."""
        return DenseIndex.build(self.embed_doc_features(rows)).score_all(self._embed_queries([query])[0])

    def _explain(self, query: Query, doc: int, clicks: int | None) -> Explanation:
        """What each feature of the query adds together with each feature of the document."""
        asked = self.features_of(query)
        held = self.doc_features_.take_checked(np.array([doc]), "the features of documents")
        score = float(self._score(query, np.array([doc], np.int32))[0])
        parts = self.parts(asked, held, clicks)
        parts.sort(key=lambda part: -part.value)
        total = sum(part.value for part in parts)
        if score == 0 and total:
            parts.append(Contribution("not found", "below zero, or no more than rounding: nothing", -total))
        return Explanation(query.text, self.graph_.docs[doc], score, parts)

    def features_of(self, query: Query) -> Csr:
        """The features, one row, of a normalised query; if it is not in the graph, of its text."""
        if query.row >= 0:
            return self.query_features_.take_checked(np.array([query.row]), "the features of queries")
        return self.features_.transform_queries([query.text], self.graph_)

    def parts(self, asked: Csr, held: Csr, clicks: int | None) -> list[Contribution]:
        """The summands of a score, by the features of the query."""
        values = self.products(asked, held)
        adding = np.flatnonzero(values.any(axis=1)).tolist()  # features of different views may never meet
        return [self._part(f, asked, held, values[f], clicks) for f in adding]

    def products(self, asked: Csr, held: Csr) -> NDArray[np.float64]:
        """The summands of the dot product of two images: features of the query × features of the document."""
        left = _weighted_rows(self.query_map_, asked)
        right = _weighted_rows(self.doc_map_, held)
        if self.cosine:
            left, right = (side / max(float(np.linalg.norm(side.sum(0))), 1e-30) for side in (left, right))
        return left @ right.T

    def _count_unreachable(self, added: int) -> int:
        """Those without features that the maps know."""
        vectors = self.doc_index_.vectors
        return int((~vectors[len(vectors) - added :].any(axis=1)).sum())

    def _add(self, texts: Mapping[str, Strings]) -> None:
        """New documents get images from their texts."""
        features = self.features_.transform_docs(texts, self.graph_)
        embedded = self.embed_doc_features(features)
        self.doc_features_ = vstack(self.doc_features_, features)
        self.doc_index_ = DenseIndex.build(np.concatenate([self.doc_index_.vectors, embedded]))
        if self.approximate_ is not None:
            self.approximate_ = self.approximate_.extended(embedded)
        self._associations = None

    # -- inside ----------------------------------------------------------------------------------------

    _associations: Associations | None = None  # made when an explanation first needs them

    def _part(
        self, f: int, asked: Csr, held: Csr, values: NDArray[np.float64], clicks: int | None
    ) -> Contribution:
        """A feature of the query with the features of the document that add to it or take from it."""
        query_feature = int(asked.indices[f])
        inner = []
        order = np.argsort(-np.abs(values), kind="stable")[: np.count_nonzero(values)]
        for place, g in enumerate(order):
            doc_feature = int(held.indices[g])
            view, label = self.features_.doc_label(doc_feature, self.graph_)
            shown = place < _WITH_CLICKS
            behind = self._behind(query_feature, doc_feature, clicks) if shown else ClickEvidence([], 0)
            inner.append(Contribution(f"document {view}", label, float(values[g]), *behind))
        view, label = self.features_.query_label(query_feature, self.graph_)
        return Contribution(f"query {view}", label, float(values.sum()), parts=inner)

    def _behind(self, query_feature: int, doc_feature: int, clicks: int | None) -> ClickEvidence:
        if self._associations is None:
            edges = self.edge_weights(self.graph_)
            if edges is None:
                return ClickEvidence([], 0)
            features = self.query_features_, self.doc_features_
            self._associations = Associations(self.graph_, edges, *features)
        return self._associations.behind(query_feature, doc_feature, clicks)


def _weighted_rows(mapping: LinearMap, features: Csr) -> NDArray[np.float64]:
    """For each feature of the only row its weight times its row of the map."""
    count = features.nnz
    each = Csr(np.arange(count + 1), features.indices, np.ones(count, np.float32), features.columns)
    return mapping.apply(each).astype(np.float64) * features.data[:, None]


def _images(mapping: LinearMap, features: Csr, cosine: bool) -> Floats:
    """Rows of features in the space of the map, of unit length if wanted; faint ones are zero."""
    embedded = mapping.apply(features)
    lengths = np.sqrt(np.einsum("ij,ij->i", embedded, embedded, dtype=np.float64))
    embedded[lengths <= MIN_NORM * mapping.longest] = 0
    if cosine:
        embedded /= np.maximum(lengths, 1e-30)[:, None].astype(np.float32)
    return embedded


@dataclass
class TitleProjection(ProjectionModel):
    """What the projections of paper 001 share (§4, §5.3).

    Queries and titles over one vocabulary of whole words, one map for both sides, and cosines of embeddings.
    """

    requires = ("texts",)
    cosine = True

    fields: str = "title"
    stem: bool = False
    remove_stop_words: bool = False
    max_vocabulary: Annotated[int, Range(1)] = 40_000  # of the commonest words
