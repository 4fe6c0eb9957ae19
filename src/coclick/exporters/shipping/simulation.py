"""`InMemory`: what an engine looks up, from the arrays of the export, to measure what the export loses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from coclick.arrays.csr import Csr
from coclick.exporters.shipping.answer import Similar, answer
from coclick.exporters.shipping.form import ShippedModel


class InMemory:
    """Rankings, query vectors and documents of a shipped model."""

    def __init__(self, shipped: ShippedModel, queries: int | None = None) -> None:
        """Hold the given number of known queries, all of them by default."""
        self.shipped = shipped
        self.recipe = shipped.recipe()
        self._words = {name: row for row, name in enumerate(shipped.words.display_terms_.to_list())}
        self._rankings = {
            text: _hits(shipped, rows, scores)
            for block in shipped.known_queries(queries)
            for text, rows, scores in zip(block.texts, block.docs, block.scores, strict=True)
        }

    def rank(self, query: str, k: int = 10) -> list[tuple[str, float]]:
        """Return the k best documents for a query, as an engine would."""
        return answer(self, self.recipe, query, k)

    def ranking(self, query: str) -> Sequence[tuple[str, float]]:
        """Return the stored ranking."""
        return self._rankings.get(query, [])

    def similar_queries(self, vector: Mapping[str, float], n: int) -> Iterator[Similar]:
        """Search the index of the queries with clicks."""
        model, graph = self.shipped.neighbours, self.shipped.graph
        columns = {self.shipped.vocabulary.columns[unit]: weight for unit, weight in vector.items()}
        row = _row(columns, model.index_.vectors.columns)
        found, similarities = model.index_.search(row, min(n, len(model.clicked_)))
        for place, similarity in zip(found[0].tolist(), similarities[0].tolist(), strict=True):
            if place >= 0:
                docs, clicks = graph.clicks.row(int(model.clicked_[place]))
                yield Similar(
                    similarity, [graph.docs[doc] for doc in docs.tolist()], np.log1p(clicks).tolist()
                )

    def match_documents(self, words: Mapping[str, float], n: int, docs: Sequence[str]) -> Mapping[str, float]:
        """Search the index of documents."""
        graph, index = self.shipped.graph, self.shipped.words.doc_index_
        row = _row({self._words[word]: weight for word, weight in words.items()}, len(self._words))
        found, scores = index.search(row, min(n, len(graph.docs)))
        best = found[0] >= 0
        rows = np.concatenate([found[0][best], graph.docs.lookup(docs)]).astype(np.int32)
        values = np.concatenate([scores[0][best], index.score(row, rows[best.sum() :])])
        return {graph.docs[row]: score for row, score in zip(rows.tolist(), values.tolist(), strict=True)}


def _hits(shipped: ShippedModel, rows: np.ndarray, scores: np.ndarray) -> list[tuple[str, float]]:
    known = rows >= 0
    docs = [shipped.graph.docs[row] for row in rows[known].tolist()]
    return list(zip(docs, scores[known].tolist(), strict=True))


def _row(weights: Mapping[int, float], columns: int) -> Csr:
    indices = np.array(sorted(weights), np.int32)
    data = np.array([weights[column] for column in indices.tolist()], np.float32)
    return Csr(np.array([0, len(indices)]), indices, data, columns)
