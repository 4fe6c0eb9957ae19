"""`ApproximateIndex`: an HNSW graph (by usearch) that proposes candidates without reading every vector.

Candidates are scored exactly, so scores equal those of the exact index; only a document may be missed now
and then. Training measures how often. The index pays off where there are so many documents that reading all
of their vectors for each query is too slow.

The graph is never stored. usearch trusts the file it opens: one that points outside its own nodes crashes the
process. A digest in the manifest would not help, because a forged graph can come with a forged digest. So the
first search after a model was opened checks the vectors and builds the graph from them; other searches wait
for it. That takes about 20 seconds of processor time for 100,000 vectors of 100 dimensions, spread over all
threads.

The graph holds a second copy of the vectors, in 16 bits. Several threads insert the vectors in no fixed
order, so two builds may miss different documents; with one thread they are the same.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.errors import ArtefactError, UserError
from coclick.index.dense import DenseIndex
from coclick.jit.threads import threads
from coclick.results import padded, top_rows
from coclick.storage.state import stored

Floats = NDArray[np.float32]

_CONNECTIVITY = 32  # twice usearch's default: the same recall in less than half the time
_EXPANSIONS = (64, 128, 256, 512)  # candidates that a search keeps; the first with enough recall is used
_MIN_RECALL = 0.95  # among the first _DEPTH results
_SAMPLE = 500  # queries on which recall is measured
_DEPTH = 10
_OVERSAMPLING = 2  # candidates per result, because 16 bits cannot separate all of them
_BUILDING = threading.Lock()


@stored
@dataclass
class ApproximateIndex:
    """How many candidates a search keeps, and the graph once it has been built."""

    expansion: int

    def __post_init__(self) -> None:
        self._graph: Any = None  # not a field: fields are stored

    @classmethod
    def build(cls, exact: DenseIndex, queries: Floats) -> tuple[ApproximateIndex, dict[str, Any]]:
        """Index the rows of `exact`; also return the recall on a sample of `queries`.

        The expansion is the smallest that reaches a recall of 0.95, or the largest.
        """
        sample = queries[np.any(queries != 0, axis=1)]
        sample = sample[np.linspace(0, len(sample) - 1, min(len(sample), _SAMPLE)).astype(np.int64)]
        best = exact.search(sample, min(_DEPTH, len(exact.vectors)))[1]
        index = cls(_EXPANSIONS[0])
        index._graph_of(exact)
        for expansion in _EXPANSIONS:
            index.expansion = expansion
            recall = _recall(index.search(sample, best.shape[1], exact)[1], best)
            if recall >= _MIN_RECALL:
                break
        return index, {"recall@10": recall, "expansion": expansion, "queries": len(sample)}

    def search(self, queries: Floats, k: int, exact: DenseIndex) -> tuple[NDArray[np.int32], Floats]:
        """Return nearly the k best rows of `exact` for each query, with exact scores; −1 pads short lists."""
        found, scores = padded(len(queries), k)
        if not len(queries):
            return found, scores
        graph = self._graph_of(exact)
        answer = graph.search(queries, min(_OVERSAMPLING * k, len(exact.vectors)), threads=threads())
        is_single = len(queries) == 1  # usearch drops the first axis for a single query
        keys = answer.keys[None] if is_single else answer.keys
        counts = [len(answer.keys)] if is_single else answer.counts
        for i, count in enumerate(counts):
            rows = np.sort(keys[i, :count]).astype(np.int32)
            best, values = top_rows(exact.score(queries[i], rows), k)
            found[i, : len(best)], scores[i, : len(best)] = rows[best], values
        return found, scores

    def extended(self, vectors: Floats) -> ApproximateIndex:
        """Return an index with more rows after the present ones."""
        larger = ApproximateIndex(self.expansion)
        if self._graph is not None:
            larger._graph = _add_rows(self._graph.copy(), vectors)
        return larger

    def find_defect(self) -> str | None:
        """Return what is wrong with the stored state, or None."""
        if not isinstance(self.expansion, int) or not 0 < self.expansion <= _EXPANSIONS[-1]:
            return f"the expansion must be a number from 1 to {_EXPANSIONS[-1]}"
        return None

    def _graph_of(self, exact: DenseIndex) -> Any:
        """The graph of these vectors, built if there is none yet."""
        with _BUILDING:
            if self._graph is None or len(self._graph) != len(exact.vectors):
                if problem := self.find_defect() or exact.find_defect():
                    what = f"the approximate index is damaged: {problem}"
                    raise ArtefactError(what, hint="train the model again")
                options = {"metric": "ip", "dtype": "bf16", "connectivity": _CONNECTIVITY}
                empty = _usearch().Index(ndim=exact.vectors.shape[1], **options)
                self._graph = _add_rows(empty, exact.vectors)
            self._graph.expansion_search = self.expansion
            return self._graph


def _add_rows(graph: Any, vectors: Floats) -> Any:
    first = len(graph)
    graph.add(np.arange(first, first + len(vectors)), vectors, threads=threads())
    return graph


def _recall(found: Floats, best: Floats) -> float:
    """The share of the best results that was found; compared by score, so any of equal documents counts."""
    wanted = (best > 0).sum(1)
    last = np.take_along_axis(best, np.maximum(wanted - 1, 0)[:, None], 1)
    hits = ((found >= last) & (found > 0)).sum(1)
    return float(hits.sum() / wanted.sum()) if wanted.any() else 1.0


def _usearch() -> Any:
    try:
        import usearch.index
    except ImportError:
        raise UserError("index=approximate needs usearch", hint='pip install "coclick[ann]"') from None
    return usearch.index
