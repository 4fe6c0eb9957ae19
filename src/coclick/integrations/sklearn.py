"""Models as scikit-learn estimators (`pip install "coclick[sklearn]"`), trained on pairs with clicks.

ranker = ClickRanker("vpcg", docs=titles).fit(pairs, clicks)
ranker.predict([("ny hotels", "d1"), …])       # scores of pairs
QueryVectors("vpcg").fit(pairs, clicks).transform(["ny hotels", …])   # one row per query
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.models.sparse_vectors import SparseVectorModel
from coclick.models.training import train
from coclick.text.normalise import normalise

try:
    from sklearn.base import BaseEstimator, TransformerMixin
except ModuleNotFoundError as missing:
    raise UserError(
        f"coclick.integrations.sklearn needs {missing.name}", hint='pip install "coclick[sklearn]"'
    ) from None

Pairs = Sequence[tuple[str, str]]


class _FromClicks(BaseEstimator):
    """Base class: trains a model on (query, document) pairs with their clicks."""

    def __init__(self, spec: str = "vpcg", docs: Mapping[str, str | Mapping[str, str]] | None = None) -> None:
        self.spec = spec
        self.docs = docs  # titles or fields of documents

    def fit(self, X: Pairs, y: Sequence[float] | None = None) -> Self:
        """Train the model.

        Parameters:
            X: (query, document) pairs: a list, an array or a data frame with two columns.
            y: the clicks of each pair; 1 each by default.
        """
        pairs = _pairs(X)
        clicks = [1.0] * len(pairs) if y is None else [float(one) for one in y]
        if len(clicks) != len(pairs):
            raise UserError(f"{len(pairs)} pairs but {len(clicks)} clicks")
        rows = [(query, doc, count) for (query, doc), count in zip(pairs, clicks, strict=True)]
        self.model_ = train(self.spec, ClickGraph.from_clicks(rows, self.docs))
        return self


class ClickRanker(_FromClicks):
    """Scores (query, document) pairs."""

    def predict(self, X: Pairs) -> NDArray[np.float32]:
        """Return the score of each pair; 0 for an unknown document."""
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
    """Transforms queries to the vectors of the model, sparse or dense."""

    def transform(self, X: Sequence[str]) -> Any:
        """Return a matrix with one row per query."""
        if not hasattr(self.model_, "embed_queries"):
            raise UserError(f"{self.spec} has no vectors")
        found = self.model_.embed_queries([normalise(str(query)) for query in X])
        return found.to_scipy() if hasattr(found, "to_scipy") else found

    def fit_transform(self, X: Pairs, y: Sequence[float] | None = None, **_: Any) -> Any:
        """Train on pairs and return the vectors of their queries."""
        return self.fit(X, y).transform([query for query, _ in _pairs(X)])

    def get_feature_names_out(self, _: Any = None) -> NDArray[np.object_]:
        """Return the words of sparse vectors."""
        if not isinstance(self.model_, SparseVectorModel):
            raise UserError(f"the dimensions of {self.spec} have no names")
        return np.array(self.model_.display_terms_.to_list(), dtype=object)


def _pairs(X: Any) -> list[tuple[str, str]]:
    rows = X.to_numpy().tolist() if hasattr(X, "to_numpy") else [list(row) for row in X]
    if any(len(row) != 2 for row in rows):
        raise UserError("pairs must have two columns, query and document")
    return [(str(query), str(doc)) for query, doc in rows]
