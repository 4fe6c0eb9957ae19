"""`ShippedModel`: a model of any kind in a form that a search engine can hold.

1. For every query of the log that has clicks: the documents as the model ranks them. This is exact.
2. For all other queries two signals, which engines can compute from the text of the query: the clicks of the
   queries of the log with the most similar wording (`neighbours`), and the words that the query shares with
   documents (`bm25`). How they are added up is learned from held-out clicks (`calibration`).

So what is lost is the difference between the model and these two signals, for queries without clicks.
`measure` measures it. `answer` is the program that answers a query from this; it is copied into exports.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.exporters.model_vectors import ModelVectors
from coclick.exporters.shipping.answer import Recipe
from coclick.exporters.shipping.vocabulary import Vocabulary
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model
from coclick.models.click_graph.neighbours import Neighbours
from coclick.models.combination._base import Combination
from coclick.models.combination.calibration import Calibration
from coclick.models.registry import create
from coclick.models.sparse_vectors import SparseVectorModel
from coclick.progress import Progress, quiet

N_RANKED = 50  # documents that are stored for a query
_DEPTH = 200  # documents that are matched by words
_SIGNALS = "backoff(neighbours + bm25)"
_WITHOUT_TEXTS = "vpcg(units=none)"  # its vectors are stored, but not searched by words of the query
_PLAIN_MAPS = ([[1.0], [10.0]], [[1.0], [1.0]])  # where there are too few clicks to learn from: usual scores
_BLOCK = 1024  # queries


class KnownQueries(NamedTuple):
    """Some queries of the log with their rankings, text vectors and clicks; of rows padded with −1."""

    texts: list[str]
    docs: NDArray[np.int32]
    scores: NDArray[np.float32]
    vectors: Csr  # columns are units of the vocabulary
    clicks: Csr  # log(1 + clicks) by document


@dataclass(frozen=True)
class ShippedModel:
    """A model, the models of the two signals, and how the signals are added up."""

    model: Model
    neighbours: Neighbours
    words: SparseVectorModel
    calibration: Calibration

    @classmethod
    def from_model(cls, model: Model, progress: Progress = quiet) -> ShippedModel:
        """Learn what a model needs to be shipped, from the graph that it was trained on."""
        graph = model.trained_on
        if "texts" not in graph.provides:
            neighbours, words = create("neighbours").fit(graph), create(_WITHOUT_TEXTS).fit(graph, progress)
            calibration = _plain_calibration(0.0)
        else:
            signals = create(_SIGNALS).fit(graph, progress)
            assert isinstance(signals, Combination)
            neighbours, words = signals.parts_
            calibration = signals.calibration_ or _plain_calibration(1.0)
        assert isinstance(neighbours, Neighbours) and isinstance(words, SparseVectorModel)
        return cls(model, neighbours, words, calibration)

    @property
    def graph(self) -> ClickGraph:
        """The graph that the model was trained on."""
        return self.model.trained_on

    @property
    def doc_vectors(self) -> ModelVectors:
        """The documents with their words, which are exported like those of any model with vectors."""
        return ModelVectors.from_model(self.words)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The tokens and units from which vectors of queries are made."""
        return Vocabulary.collect(self.neighbours.similarity_, self.words, self.graph)

    def known_rows(self, limit: int | None = None) -> NDArray[np.intp]:
        """Return the rows of queries with clicks, most clicked first."""
        clicks = self.graph.clicks
        rows = np.flatnonzero(clicks.row_nnz())
        return rows[np.argsort(-clicks.row_sums()[rows], kind="stable")][:limit]

    def known_queries(self, limit: int | None = None) -> Iterator[KnownQueries]:
        """Yield the queries with clicks in blocks, most clicked first."""
        rows, clicks = self.known_rows(limit), self.graph.clicks
        vectors = self.neighbours.index_.vectors
        for first in range(0, len(rows), _BLOCK):
            block = rows[first : first + _BLOCK]
            texts = [self.graph.queries[row] for row in block.tolist()]
            run = self.model.search(texts, min(N_RANKED, len(self.graph.docs)))
            borrowed = clicks.take(block)
            yield KnownQueries(
                texts,
                run.rows,
                run.scores,
                vectors.take(np.searchsorted(self.neighbours.clicked_, block)),
                borrowed.with_data(np.log1p(borrowed.data)),
            )

    def settings(self) -> dict[str, Any]:
        """Return the numbers of the recipe."""
        similarity, learned = self.neighbours.similarity_, self.calibration
        maps = [
            [list(point) for point in zip(*both, strict=True)]
            for both in zip(learned.knots, learned.heights, strict=True)
        ]
        return {
            "min_n": self.neighbours.min_n,
            "max_n": self.neighbours.max_n,
            "word_weight": similarity.word_weight,
            "unknown_idf": float(np.log1p(similarity.n_texts)),
            "power": self.neighbours.power,
            "n_neighbours": self.neighbours.n_neighbours,
            "depth": _DEPTH,
            "maps": maps,
            "weights": learned.weights[0],  # of queries without clicks; by document without and with clicks
            "base": learned.base[0],
        }

    def clicked_docs(self) -> list[str]:
        """Return the documents that have clicks."""
        rows = np.flatnonzero(self.graph.clicks_by_doc.row_nnz())
        return self.graph.docs.take(rows.astype(np.int32)).to_list()

    def recipe(self) -> Recipe:
        """Return the recipe as a program reads it from the folder."""
        known = self.vocabulary
        words = {term: self.words.display_terms_[row] for term, row in known.doc_terms.items()}
        return Recipe(self.settings(), known.tokens, known.idf, words, self.clicked_docs())


def _plain_calibration(word_weight: float) -> Calibration:
    weights = [[1.0, word_weight]] * 2
    return Calibration(*_PLAIN_MAPS, [weights] * 2, [[0.0] * 2] * 2)
