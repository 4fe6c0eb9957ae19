"""`ProjectionModel`: what follows, for search, similar, expand, explain, add, from linear maps of features.

Queries have sparse features x and documents y (`feature_set`); maps P and R take them into one space of
`dim` dimensions. A score is the dot product of the images, or their cosine,

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
from coclick.arrays.strings import Strings, Vocab
from coclick.features.feature_set import FeatureSet, reads_texts, requires_texts
from coclick.features.views import FeatureMatrices, TextOptions
from coclick.graph.click_graph import ClickGraph
from coclick.index.ann import ApproximateIndex
from coclick.index.dense import DenseIndex
from coclick.models.base import DocMask, Model, TopK, as_list
from coclick.models.projection.click_evidence import Associations, effective_rank
from coclick.models.projection.linear_map import LinearMap
from coclick.models.spec import Range
from coclick.progress import Progress
from coclick.results import ClickEvidence, Contribution, Explanation, Run, top_rows, without_itself
from coclick.text.analyzer import Analyzer, normalise

Floats = NDArray[np.float32]

_WORDS = 20  # of an expansion
_WITH_CLICKS = 10  # features of a document for which the clicks are shown, for each feature of the query
MIN_NORM = 1e-5  # of the map's longest row: an image that is shorter is rounding, and counts as zero


@dataclass
class _Parameters(Model):
    """What all of these models can be told."""

    dim: Annotated[int, Range(1)] = 100
    fields: str = "all"  # of documents: "all", or names joined with +
    language: str = "english"
    stem: bool = True
    remove_stop_words: bool = True  # true: leave them out
    seed: Annotated[int, Range(0)] = 0
    index: Literal["exact", "approximate"] = "exact"


class ProjectionModel(_Parameters):
    """A model whose queries and documents are dense images of their features."""

    unseen_queries = True
    unseen_docs = True
    can_similar = True
    can_expand = True
    can_explain = True
    can_add = True
    can_export = True
    cosine: ClassVar[bool] = False  # whether scores are cosines of images, or dot products

    features_: FeatureSet
    query_features_: Csr  # of all queries of the graph
    doc_features_: Csr
    query_map_: LinearMap
    doc_map_: LinearMap
    query_index_: DenseIndex
    doc_index_: DenseIndex
    approximate_: ApproximateIndex | None = None  # of the same documents

    def configure_views(self, views: str) -> None:
        """What a model that sees only these views needs and can do: called when its parameters are known."""
        self.unseen_queries = self.unseen_docs = self.can_add = self.can_expand = reads_texts(views)
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
        analyzer = Analyzer(self.language, self.stem, self.remove_stop_words)
        options = TextOptions(analyzer, self.fields, one_idf=one_idf, max_terms=max_terms)
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

    def embed_queries(self, queries: Sequence[str]) -> Floats:
        """The images of normalised queries; of those that are not in the graph, by their texts."""
        rows = self.graph_.queries.lookup(queries)
        images = np.empty((len(rows), self.query_index_.vectors.shape[1]), np.float32)
        known = rows >= 0
        images[known] = self.query_index_.vectors[rows[known]]
        unknown = [query for query, row in zip(queries, rows.tolist(), strict=True) if row < 0]
        if unknown:
            images[~known] = self.embed_query_features(self.features_.transform_queries(unknown, self.graph_))
        return images

    def embed_docs(self, texts: Mapping[str, Strings]) -> Floats:
        """The images of documents that are not in the graph, by their fields."""
        return self.embed_doc_features(self.features_.transform_docs(texts, self.graph_))

    def compared(self, images: Floats) -> Floats:
        """What of images, all of queries or all of documents, says whether they are alike: all of it."""
        return images

    # -- what follows ----------------------------------------------------------------------------------

    def _score(self, query: str, docs: NDArray[np.int32]) -> Floats:
        """Dot products."""
        return self.doc_index_.score(self.embed_queries([query])[0], docs)

    def _score_texts(self, query: str, texts: Mapping[str, Strings]) -> Floats:
        """The same with images that are made of the texts."""
        return self.weigh_features(query, self.features_.transform_docs(texts, self.graph_))

    def _search(self, queries: Sequence[str], k: int, allowed: DocMask) -> TopK:
        """Through the index; documents are filtered by the exact one only."""
        images = self.embed_queries(queries)
        if self.approximate_ is not None and allowed is None:
            return self.approximate_.search(images, k, self.doc_index_)
        return self.doc_index_.search(images, k, allowed)

    def similar_queries(self, queries: str | Sequence[str], k: int = 10) -> Run:
        """By the images of queries alone."""
        texts = [normalise(query) for query in as_list(queries)]
        k = self._clip(k, len(self.trained_on.queries))
        own = self.graph_.queries.lookup(texts)
        images = self.compared(self.embed_queries(texts))
        return _similar(self.query_index_, images, own, k, self.graph_.queries)

    def similar_docs(self, docs: str | Sequence[str], k: int = 10) -> Run:
        """By the images of documents alone."""
        rows = self.rows_of_docs(as_list(docs))
        k = self._clip(k, len(self.graph_.docs))
        images = self.compared(self.doc_index_.vectors[rows])
        return _similar(self.doc_index_, images, rows, k, self.graph_.docs)

    def evidence(self, query: str) -> dict[str, float]:
        """The query's clicks or, where it has none, how much of its text is known."""
        if support := self.graph_.support(query):
            return {"support": support}
        return {"coverage": self.features_.coverage(query) or 0.0}

    def expand(self, query: str) -> list[tuple[str, float]]:
        """The words that a document should have: what each would add to its score, the most first."""
        found = self.features_.words()
        if found is None:
            self._cannot("expand queries, as it has no words", "can_expand")
        view, first = found
        words = np.arange(len(view.terms) + 1)
        columns = np.arange(first, first + len(view.terms), dtype=np.int32)
        each = Csr(words, columns, np.ones(len(columns), np.float32), self.doc_features_.columns)
        terms, weights = top_rows(self.weigh_features(normalise(query), each), _WORDS)
        return [(view.display_terms[term], float(w)) for term, w in zip(terms.tolist(), weights, strict=True)]

    def weigh_features(self, query: str, rows: Csr) -> Floats:
        """The scores of rows of document features for a normalised query."""
        return DenseIndex.build(self.embed_doc_features(rows)).score_all(self.embed_queries([query])[0])

    def explain(self, query: str, doc: str, clicks: int | None = 10) -> Explanation:
        """What each feature of the query adds together with each feature of the document."""
        row, text = int(self.rows_of_docs([doc])[0]), normalise(query)
        asked = self.features_of(text)
        held = self.doc_features_.take_checked(np.array([row]), "the features of documents")
        score = float(self._score(text, np.array([row], np.int32))[0])
        parts = self.parts(asked, held, clicks)
        parts.sort(key=lambda part: -part.value)
        total = sum(part.value for part in parts)
        if score == 0 and total:
            parts.append(Contribution("not found", "below zero, or no more than rounding: nothing", -total))
        return Explanation(query, doc, score, parts)

    def features_of(self, query: str) -> Csr:
        """The features, one row, of a normalised query; if it is not in the graph, of its text."""
        known = self.graph_.queries.id(query)
        if known >= 0:
            return self.query_features_.take_checked(np.array([known]), "the features of queries")
        return self.features_.transform_queries([query], self.graph_)

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
        images = self.embed_doc_features(features)
        self.doc_features_ = vstack(self.doc_features_, features)
        self.doc_index_ = DenseIndex.build(np.concatenate([self.doc_index_.vectors, images]))
        if self.approximate_ is not None:
            self.approximate_ = self.approximate_.extended(images)
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
    images = mapping.apply(features)
    lengths = np.sqrt(np.einsum("ij,ij->i", images, images, dtype=np.float64))
    images[lengths <= MIN_NORM * mapping.longest] = 0
    if cosine:
        images /= np.maximum(lengths, 1e-30)[:, None].astype(np.float32)
    return images


def _similar(index: DenseIndex, images: Floats, own: NDArray[np.int32], k: int, names: Vocab) -> Run:
    """The nearest rows without the row itself, for which one more is fetched."""
    rows, scores = index.search(images, min(k + 1, len(names)))
    return Run(*without_itself(rows, scores, own, k), names)


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
