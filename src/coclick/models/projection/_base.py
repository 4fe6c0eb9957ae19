"""`ProjectionModel`: embeddings by linear maps of features, with search, similar, expand, explain and add.

Queries have sparse features x and documents y (`coclick.features`). The maps P and R embed them in one space
of `dim` dimensions. A score is the dot product of two embeddings, or their cosine,

    score(q, d) = xᵀ P Rᵀ y = Σ_f Σ_g x_f y_g (P_f · R_g)

which is a sum over the features f of the query and g of the document: its exact explanation. Documents with
negative scores are not found. A subclass learns the maps.
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
from coclick.features.feature_set import FeatureSet, may_read_texts, requires_texts
from coclick.features.views import ClickView, FeatureMatrices, IdView, TextOptions
from coclick.graph.added_documents import RowsByView
from coclick.graph.click_graph import ClickGraph
from coclick.index.ann import ApproximateIndex
from coclick.index.dense import DenseIndex
from coclick.models.base import DocMask, TopK
from coclick.models.document_expansion import ExpansionWords, top_of_dense
from coclick.models.projection.click_evidence import FeaturePairEvidence, effective_rank
from coclick.models.projection.linear_map import LinearMap
from coclick.models.spec import Range
from coclick.models.text_model import TextModel
from coclick.progress import Progress
from coclick.results import ClickEvidence, Contribution, Explanation, top_rows
from coclick.storage.layout import Shape
from coclick.text.analyzer import Tokenizer
from coclick.text.query import Query

Floats = NDArray[np.float32]

TEXT_CAPABILITIES = frozenset(  # of views of texts only
    {"unseen_queries", "unseen_docs", "add", "expand", "expand_docs"}
)
_EXPANSION_WORDS = 20
_WITH_CLICKS = 10  # document features per query feature whose clicks an explanation shows
MIN_NORM = 1e-5  # relative to the longest row of the map: shorter embeddings are rounding errors, set to zero


@dataclass
class _ProjectionParameters(TextModel):
    """The parameters of all projections."""

    dim: Annotated[int, Range(1)] = 100
    fields: str = "all"  # of documents: "all", or names joined with +
    language: str = "auto"
    stem: bool = True
    remove_stop_words: bool = True
    tokenizer: Tokenizer = "pieces"
    seed: Annotated[int, Range(0)] = 0
    index: Literal["exact", "approximate"] = "exact"


class ProjectionModel(_ProjectionParameters):
    """A model whose queries and documents are dense embeddings of their features."""

    evidence_names = ("coverage", "support")
    scans_docs = True  # in its exact index

    capabilities = frozenset(
        {"unseen_queries", "unseen_docs", "similar", "expand", "expand_docs", "explain", "add", "export"}
    )
    cosine: ClassVar[bool] = False  # whether scores are cosines instead of dot products

    features_: Annotated[FeatureSet, Shape("query_features", "doc_features", "queries")]
    query_features_: Annotated[Csr, Shape("queries", "query_features")]  # of all queries of the graph
    doc_features_: Annotated[Csr, Shape("docs", "doc_features")]
    query_map_: Annotated[LinearMap, Shape("query_features", "dim")]
    doc_map_: Annotated[LinearMap, Shape("doc_features", "dim")]
    query_index_: Annotated[DenseIndex, Shape("queries", "dim")]
    doc_index_: Annotated[DenseIndex, Shape("docs", "dim")]
    approximate_: ApproximateIndex | None = None  # of the same embeddings as `doc_index_`

    def _configure_views(self, views: str) -> None:
        """Set the requirements and capabilities of a model with these views; called by `__post_init__`."""
        if not may_read_texts(views):
            self.capabilities -= TEXT_CAPABILITIES
        self.requires = ("texts",) if requires_texts(views) else ()

    def _find_defect(self) -> str | None:
        """Return whether a view has features of documents that the graph does not have."""
        views = (view for view in self.features_.views if isinstance(view, ClickView | IdView))
        docs = max((view.docs for view in views), default=0)
        return "its features are not those of its documents" if docs > len(self.graph_.docs) else None

    def _update_capabilities(self) -> None:
        """Keep what the views can do: texts need a view of texts, `expand` one of words."""
        able = type(self).capabilities
        if not self.features_.reads_texts():
            able -= TEXT_CAPABILITIES
            if self.user_views:
                able |= type(self).capabilities & {"add"}  # with features of that view
        elif self.features_.words() is None:
            able -= {"expand"}
        self.capabilities = able

    @property
    def user_views(self) -> frozenset[str]:
        """The user views that this model uses."""
        return self.features_.user_views()

    # -- for `_fit` of subclasses ----------------------------------------------------------------------

    def _build_features(
        self,
        graph: ClickGraph,
        views: str,
        progress: Progress,
        *,
        joined: bool = True,
        one_idf: bool = False,
        max_terms: int | None = None,
    ) -> FeatureMatrices:
        """Learn the features of both sides and return their rows."""
        options = TextOptions(self._analyzer, self.fields, one_idf=one_idf, max_terms=max_terms)
        with progress("features"):
            self.features_, rows = FeatureSet.fit(graph, views, options, joined=joined)
        self.query_features_, self.doc_features_ = rows
        return rows

    def _build_embeddings(self, query_map: LinearMap, doc_map: LinearMap, progress: Progress) -> None:
        """Set the learned maps and embed all queries and documents of the graph."""
        self.query_map_, self.doc_map_ = query_map, doc_map
        with progress("embeddings"):
            self.query_index_ = DenseIndex.build(self._embed_query_features(self.query_features_))
            self.doc_index_ = DenseIndex.build(self._embed_doc_features(self.doc_features_))
        self.approximate_ = None
        if self.index == "approximate":
            with progress("approximate index"):
                self.approximate_, found = ApproximateIndex.build(self.doc_index_, self.query_index_.vectors)
            self.stats_["approximate"] = found
        self._pair_evidence = None

    def _add_note(self, sentence: str) -> None:
        """Add a sentence about the training for the user to `stats_`."""
        self.stats_.setdefault("notes", []).append(sentence)

    def _record_singular_values(self, values: NDArray[np.float64]) -> None:
        """Record singular values and effective rank, and note if there are fewer than `dim`."""
        self._note_missing_dims(len(values))
        self.stats_["singular_values"] = values.tolist()
        self.stats_["effective_rank"] = effective_rank(values)

    def _note_missing_dims(self, found: int, view: str = "") -> None:
        """Note if the data has fewer dimensions than `dim`."""
        if found < self.dim:
            used = "1 dimension is" if found == 1 else f"{found} dimensions are"
            self._add_note(f"dim={self.dim} is more than the data{view} has: {used} used")

    def _edge_weights(self, graph: ClickGraph) -> Csr | None:
        """Return the weights of clicked pairs that the maps were fitted to; None if clicks were not used."""
        return None

    # -- embeddings ------------------------------------------------------------------------------------

    def _embed_query_features(self, features: Csr) -> Floats:
        """Return the embeddings of rows of query features."""
        return _embed(self.query_map_, features, self.cosine)

    def _embed_doc_features(self, features: Csr) -> Floats:
        """Return the embeddings of rows of document features."""
        return _embed(self.doc_map_, features, self.cosine)

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
        """Return embeddings: of seen queries from the index, of others from their texts."""
        rows = np.array([query.row for query in queries], np.int32)
        embedded = np.empty((len(rows), self.query_index_.vectors.shape[1]), np.float32)
        known = rows >= 0
        embedded[known] = self.query_index_.vectors[rows[known]]
        unknown = [query.text for query in queries if query.row < 0]
        if unknown:
            embedded[~known] = self._embed_query_features(
                self.features_.transform_queries(unknown, self.graph_)
            )
        return embedded

    def _without_biases(self, embedded: Floats) -> Floats:
        """Return the embeddings without columns that are only biases; by default there are none."""
        return embedded

    # -- implemented with the embeddings ---------------------------------------------------------------

    def _score(self, query: Query, docs: NDArray[np.int32]) -> Floats:
        """Return dot products or cosines."""
        return self.doc_index_.score(self._embed_queries([query])[0], docs)

    def _score_all_of(self, queries: Sequence[Query]) -> Floats:
        """Embed all queries at once, then score them one by one."""
        return np.stack([self.doc_index_.score_all(embedded) for embedded in self._embed_queries(queries)])

    def _score_texts(self, query: Query, texts: Mapping[str, Strings]) -> Floats:
        """Score the embeddings of the texts."""
        if not self.features_.reads_texts():
            raise UserError(
                f"{self} has no view of texts", hint="add the documents with features of its view"
            )
        return self._score_features(query, self.features_.transform_docs(texts, self.graph_))

    def _score_texts_with_features(
        self, query: Query, texts: Mapping[str, Strings], features: RowsByView
    ) -> Floats:
        """Score the embeddings of the texts and of features of user views."""
        return self._score_features(query, self.features_.transform_docs(texts, self.graph_, features))

    def _search(self, queries: Sequence[Query], k: int, mask: DocMask) -> TopK:
        """Search the index; only the exact index can filter documents."""
        embedded = self._embed_queries(queries)
        if self.approximate_ is not None and mask is None:
            return self.approximate_.search(embedded, k, self.doc_index_)
        return self.doc_index_.search(embedded, k, mask)

    def _similar_queries(self, queries: Sequence[Query], k: int) -> TopK:
        """Search by the embeddings of queries."""
        return self.query_index_.search(self._without_biases(self._embed_queries(queries)), k)

    def _similar_docs(self, docs: NDArray[np.int32], k: int) -> TopK:
        """Search by the embeddings of documents."""
        return self.doc_index_.search(self._without_biases(self.doc_index_.vectors[docs]), k)

    def _evidence(self, query: Query) -> dict[str, float]:
        """Rate the clicks of the query or, without clicks, the share of its text that is known."""
        if support := self._support(query):
            return {"support": support}
        return {"coverage": self._known_text(query)}

    def _known_text(self, query: Query) -> float:
        """Return the share of words or n-grams that are known, of the view that knows most."""
        return self.features_.coverage(query.text) or 0.0

    def _expand(self, query: Query) -> list[tuple[str, float]]:
        """List the words that add most to the score of a document."""
        found = self.features_.words()
        assert found is not None, "capabilities say whether there is a view of words"
        view, first = found
        words = np.arange(len(view.terms) + 1)
        columns = np.arange(first, first + len(view.terms), dtype=np.int32)
        each = Csr(words, columns, np.ones(len(columns), np.float32), self.doc_features_.columns)
        terms, weights = top_rows(self._score_features(query, each), _EXPANSION_WORDS)
        return [(view.display_terms[term], float(w)) for term, w in zip(terms.tolist(), weights, strict=True)]

    @property
    def _expansion_words(self) -> ExpansionWords:
        """The words of the first view of words."""
        found = self.features_.words()
        if found is None:
            raise UserError(f"{self} cannot expand documents: it has no view of words", hint="views=words+…")
        return ExpansionWords(found[0].analyzer, found[0].terms, found[0].display_terms)

    def _expand_docs(self, docs: NDArray[np.int32], excluded: Csr, k: int) -> TopK:
        """Find the words that score highest as queries."""
        found = self.features_.words()
        assert found is not None  # because there are `_expansion_words`
        terms, view = len(found[0].terms), [one is found[0] for one in self.features_.views].index(True)
        first = ([0, *self.features_.query_ends])[view]
        columns = np.arange(first, first + terms, dtype=np.int32)
        each = Csr(np.arange(terms + 1), columns, np.ones(terms, np.float32), self.query_features_.columns)
        words = self._without_biases(self._embed_query_features(each))

        def weigh(some: NDArray[np.int32]) -> Floats:
            found: Floats = self.doc_index_.vectors[some] @ words.T
            found[found < MIN_NORM * found.max(axis=1, keepdims=True)] = 0  # rounding errors
            return found

        return top_of_dense(docs, terms, weigh, excluded, k)

    def _score_features(self, query: Query, rows: Csr) -> Floats:
        """Return the scores of rows of document features for a query."""
        return DenseIndex.build(self._embed_doc_features(rows)).score_all(self._embed_queries([query])[0])

    def _explain(self, query: Query, doc: int, clicks: int | None) -> Explanation:
        """List the products of each feature of the query with each feature of the document."""
        query_row = self._query_features(query)
        doc_row = self.doc_features_.take_checked(np.array([doc]), "the features of documents")
        score = float(self._score(query, np.array([doc], np.int32))[0])
        parts = self._contributions(query_row, doc_row, clicks)
        parts.sort(key=lambda part: -part.value)
        total = sum(part.value for part in parts)
        if score == 0 and total:
            parts.append(Contribution("not found", "the sum is negative or a rounding error", -total))
        return Explanation(query.text, self.graph_.docs[doc], score, parts)

    def _query_features(self, query: Query) -> Csr:
        """Return the features of a query as one row: of a seen query from the graph, else from its text."""
        if query.row >= 0:
            return self.query_features_.take_checked(np.array([query.row]), "the features of queries")
        return self.features_.transform_queries([query.text], self.graph_)

    def _contributions(self, query_row: Csr, doc_row: Csr, clicks: int | None) -> list[Contribution]:
        """Return the summands of a score, grouped by the features of the query."""
        values = self._feature_products(query_row, doc_row)
        nonzero = np.flatnonzero(values.any(axis=1)).tolist()
        return [self._explain_feature(f, query_row, doc_row, values[f], clicks) for f in nonzero]

    def _feature_products(self, query_row: Csr, doc_row: Csr) -> NDArray[np.float64]:
        """Return the summands of the dot product: features of the query × features of the document."""
        left = _weighted_rows(self.query_map_, query_row)
        right = _weighted_rows(self.doc_map_, doc_row)
        if self.cosine:
            left, right = (side / max(float(np.linalg.norm(side.sum(0))), 1e-30) for side in (left, right))
        return left @ right.T

    def _count_unreachable(self, added: int) -> int:
        """Count documents without known features."""
        vectors = self.doc_index_.vectors
        return int((~vectors[len(vectors) - added :].any(axis=1)).sum())

    def _add(self, texts: Mapping[str, Strings]) -> None:
        """Append the embeddings of the texts."""
        self._add_features(self.features_.transform_docs(texts, self.graph_))

    def _add_with_features(self, texts: Mapping[str, Strings], features: RowsByView) -> None:
        """Append the embeddings of the texts and of features of user views."""
        self._add_features(self.features_.transform_docs(texts, self.graph_, features))

    def _add_features(self, features: Csr) -> None:
        embedded = self._embed_doc_features(features)
        self.doc_features_ = vstack(self.doc_features_, features)
        self.doc_index_ = DenseIndex.build(np.concatenate([self.doc_index_.vectors, embedded]))
        if self.approximate_ is not None:
            self.approximate_ = self.approximate_.extended(embedded)
        self._pair_evidence = None

    # -- inside ----------------------------------------------------------------------------------------

    _pair_evidence: FeaturePairEvidence | None = None  # created by the first explanation

    def _explain_feature(
        self, f: int, query_row: Csr, doc_row: Csr, values: NDArray[np.float64], clicks: int | None
    ) -> Contribution:
        """The contribution of a query feature, split by the features of the document."""
        query_feature = int(query_row.indices[f])
        inner = []
        order = np.argsort(-np.abs(values), kind="stable")[: np.count_nonzero(values)]
        for place, g in enumerate(order):
            doc_feature = int(doc_row.indices[g])
            view, label = self.features_.doc_label(doc_feature, self.graph_)
            shown = place < _WITH_CLICKS
            evidence = (
                self._click_evidence(query_feature, doc_feature, clicks) if shown else ClickEvidence([], 0)
            )
            inner.append(Contribution(f"document {view}", label, float(values[g]), *evidence))
        view, label = self.features_.query_label(query_feature, self.graph_)
        return Contribution(f"query {view}", label, float(values.sum()), parts=inner)

    def _click_evidence(self, query_feature: int, doc_feature: int, clicks: int | None) -> ClickEvidence:
        if self._pair_evidence is None:
            edges = self._edge_weights(self.graph_)
            if edges is None:
                return ClickEvidence([], 0)
            features = self.query_features_, self.doc_features_
            self._pair_evidence = FeaturePairEvidence(self.graph_, edges, *features)
        return self._pair_evidence.clicks(query_feature, doc_feature, clicks)


def _weighted_rows(mapping: LinearMap, features: Csr) -> NDArray[np.float64]:
    """For each feature of the only row, its weight times its row of the map."""
    count = features.nnz
    each = Csr(np.arange(count + 1), features.indices, np.ones(count, np.float32), features.columns)
    return mapping.apply(each).astype(np.float64) * features.data[:, None]


def _embed(mapping: LinearMap, features: Csr, cosine: bool) -> Floats:
    """The embeddings of rows of features, of unit length if `cosine`; very short ones are set to zero."""
    embedded = mapping.apply(features)
    lengths = np.sqrt(np.einsum("ij,ij->i", embedded, embedded, dtype=np.float64))
    embedded[lengths <= MIN_NORM * mapping.longest] = 0
    if cosine:
        embedded /= np.maximum(lengths, 1e-30)[:, None].astype(np.float32)
    return embedded
