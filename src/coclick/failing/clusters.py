"""Clusters of failing queries that mean or look the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from coclick.arrays.strings import Strings
from coclick.index.sparse import VectorIndex
from coclick.models.base import Model
from coclick.models.click_graph.text_similarity import TextSimilarity
from coclick.progress import Progress, quiet
from coclick.text.analyzer import Analyzer

_MODEL_SIMILARITY = 0.7  # of the best similarity that the model has
_TEXT_SIMILARITY = 0.5
_DEPTH = 50  # similar queries of a query


def cluster_queries(queries: Sequence[str], model: Model, progress: Progress = quiet) -> list[list[int]]:
    """Return groups of similar queries, given in order of importance, as positions in the list.

    The most important query that is in no group starts one, and takes those that are similar to it: by the
    vectors of the model, damped, or by their letters and words.
    """
    similar = _by_text(queries)
    for query, others in _by_model(queries, model, progress).items():
        similar[query] |= others
    groups: list[list[int]] = []
    taken: set[int] = set()
    for query in range(len(queries)):
        if query not in taken:
            members = sorted({query} | (similar[query] - taken))
            taken.update(members)
            groups.append([query, *(member for member in members if member != query)])
    return groups


def _by_text(queries: Sequence[str]) -> defaultdict[int, set[int]]:
    texts = Strings.from_list(list(queries))
    _, vectors = TextSimilarity.fit(texts, Analyzer("english", True, False, "pieces"), (3, 4), 0.4)
    rows, scores = VectorIndex.build(vectors).search(vectors, min(_DEPTH, len(queries)))
    found: defaultdict[int, set[int]] = defaultdict(set)
    for query in range(len(queries)):
        near = rows[query][(rows[query] >= 0) & (scores[query] >= _TEXT_SIMILARITY)]
        found[query].update(near.tolist())
    return found


def _by_model(queries: Sequence[str], model: Model, progress: Progress) -> dict[int, set[int]]:
    places = dict(zip(model.trained_on.queries.lookup(queries).tolist(), range(len(queries)), strict=True))
    run = model.similar_queries(queries, _DEPTH, damped=True, progress=progress)
    best = max(1.0, float(run.scores.max(initial=0)))  # cosines; sums of models have larger similarities
    near = (run.rows >= 0) & (run.scores >= _MODEL_SIMILARITY * best)
    return {
        query: {places[row] for row in run.rows[query][near[query]].tolist() if row in places}
        for query in np.flatnonzero(near.any(axis=1)).tolist()
    }
