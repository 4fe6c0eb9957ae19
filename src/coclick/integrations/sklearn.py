"""Models as scikit-learn estimators (`pip install "coclick[sklearn]"`), from pairs and their clicks.

ranker = ClickRanker("vpcg", docs=titles).fit(pairs, clicks)
ranker.predict([("ny hotels", "d1"), …])       # scores, as a feature or for a ranking
QueryVectors("vpcg").fit(pairs, clicks).transform(["ny hotels", …])   # a row a query
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import train
from coclick.models.sparse_vectors import VectorModel
from coclick.text.normalise import normalise

try:
    from sklearn.base import BaseEstimator, TransformerMixin
except ModuleNotFoundError as missing:
    raise UserError(f"this needs {missing.name}", hint='pip install "coclick[sklearn]"') from None

Pairs = Sequence[tuple[str, str]]


class _FromClicks(BaseEstimator):
    """Trains a model on pairs (query, document) with their clicks."""

    def __init__(self, spec: str = "vpcg", docs: Mapping[str, str | Mapping[str, str]] | None = None) -> None:
        self.spec = spec
        self.docs = docs  # titles, or fields, of documents

    def fit(self, X: Pairs, y: Sequence[float] | None = None) -> Self:
        """X: pairs, a list, an array or a data frame of two columns; y: their clicks, 1 each if left out."""
        pairs = _pairs(X)
        clicks = [1.0] * len(pairs) if y is None else [float(one) for one in y]
        if len(clicks) != len(pairs):
            raise UserError(f"{len(pairs)} pairs but {len(clicks)} clicks")
        rows = [(query, doc, count) for (query, doc), count in zip(pairs, clicks, strict=True)]
        self.model_ = train(self.spec, ClickGraph.from_clicks(rows, self.docs))
        return self


class ClickRanker(_FromClicks):
    """Scores pairs of query and document."""

    def predict(self, X: Pairs) -> NDArray[np.float32]:
        """The score of each pair; 0 for a document that is not known."""
        pairs = _pairs(X)
        places: dict[str, list[int]] = {}
        for place, (query, _) in enumerate(pairs):
            places.setdefault(query, []).append(place)
        scores = np.zeros(len(pairs), np.float32)
        found = self.model_.score(list(places), [[pairs[i][1] for i in of] for of in places.values()])
        for of, values in zip(places.values(), found, strict=True):
            scores[of] = values
        return scores


class QueryVectors(TransformerMixin, _FromClicks):
    """Turns queries into the vectors that clicks have taught: sparse rows of words, or dense ones."""

    def transform(self, X: Sequence[str]) -> Any:
        """A matrix with a row for each query."""
        if not hasattr(self.model_, "embed_queries"):
            raise UserError(f"{self.spec} has no vectors")
        found = self.model_.embed_queries([normalise(str(query)) for query in X])
        return found.to_scipy() if hasattr(found, "to_scipy") else found

    def fit_transform(self, X: Pairs, y: Sequence[float] | None = None, **_: Any) -> Any:
        """Learn from pairs, and return the vectors of their queries."""
        return self.fit(X, y).transform([query for query, _ in _pairs(X)])

    def get_feature_names_out(self, _: Any = None) -> NDArray[np.object_]:
        """The words of sparse vectors."""
        if not isinstance(self.model_, VectorModel):
            raise UserError(f"the dimensions of {self.spec} have no names")
        return np.array(self.model_.display_terms_.to_list(), dtype=object)


def _pairs(X: Any) -> list[tuple[str, str]]:
    rows = X.to_numpy().tolist() if hasattr(X, "to_numpy") else [list(row) for row in X]
    if any(len(row) != 2 for row in rows):
        raise UserError("pairs must have two columns, query and document")
    return [(str(query), str(doc)) for query, doc in rows]
