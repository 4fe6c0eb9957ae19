"""`ApproximateIndex`: a graph of near vectors (HNSW, by usearch) that finds candidates without reading all.

What it finds is scored exactly, so scores are those of the exact index, and only a document may be missed now
and then. How often, is measured at training. It pays where documents are so many that reading all of their
vectors for each query is too slow.

usearch does not survive a graph that leads outside its own nodes, so one that was opened is looked through
before it is used for the first time.

The graph holds the vectors a second time, in 16 bits. Several threads build it in an order of their own, so
two trainings may miss different documents; with one thread they are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.errors import ArtefactError, UserError
from coclick.index.dense import DenseIndex
from coclick.index.usearch_format import is_sound
from coclick.jit.threads import threads
from coclick.results import padded, top_rows
from coclick.storage.state import stored

Floats = NDArray[np.float32]

_NEIGHBOURS = 32  # of each vector, twice usearch's own: the same recall in less than half the time
_EXPANSIONS = (64, 128, 256, 512)  # how many candidates a search keeps; the first that finds enough is taken
_ENOUGH = 0.95  # recall among the first ten
_SAMPLE = 500  # queries that it is measured on
_DEPTH = 10
_SPARE = 2  # times as many candidates as results: 16 bits do not tell all of them apart


@stored
@dataclass(frozen=True)
class ApproximateIndex:
    """The graph as usearch writes it, and how far a search looks."""

    data: NDArray[np.uint8]
    expansion: int

    @classmethod
    def build(cls, exact: DenseIndex, queries: Floats) -> tuple[ApproximateIndex, dict[str, Any]]:
        """Index the same rows; look as far as a sample of the queries needs. Also returns what they found."""
        empty = _usearch().Index(
            ndim=exact.vectors.shape[1], metric="ip", dtype="bf16", connectivity=_NEIGHBOURS
        )
        data = _with_rows(empty, exact.vectors)
        asked = queries[np.any(queries != 0, axis=1)]
        asked = asked[np.linspace(0, len(asked) - 1, min(len(asked), _SAMPLE)).astype(np.int64)]
        best = exact.search(asked, min(_DEPTH, len(exact.vectors)))[1]
        for expansion in _EXPANSIONS:
            index = cls(data, expansion)
            found = _recall(index.search(asked, best.shape[1], exact)[1], best)
            if found >= _ENOUGH:
                break
        return index, {"recall@10": found, "expansion": expansion, "queries": len(asked)}

    def search(self, queries: Floats, k: int, exact: DenseIndex) -> tuple[NDArray[np.int32], Floats]:
        """For each query nearly the k best rows of the exact index, with exact scores; −1 where no more."""
        found, scores = padded(len(queries), k)
        if not len(queries):
            return found, scores
        if self._graph.ndim != exact.vectors.shape[1] or len(self._graph) != len(exact.vectors):
            raise ArtefactError(
                "the approximate index belongs to other vectors", hint="train the model again"
            )
        answer = self._graph.search(queries, min(_SPARE * k, len(exact.vectors)), threads=threads())
        alone = len(queries) == 1  # one query has an answer of another shape
        keys = answer.keys[None] if alone else answer.keys
        counts = [len(answer.keys)] if alone else answer.counts
        for i, count in enumerate(counts):
            rows = np.sort(keys[i, :count]).astype(np.int32)
            best, values = top_rows(exact.score(queries[i], rows), k)
            found[i, : len(best)], scores[i, : len(best)] = rows[best], values
        return found, scores

    def extended(self, vectors: Floats) -> ApproximateIndex:
        """With more rows behind the others."""
        self._check()
        return ApproximateIndex(_with_rows(_usearch().Index.restore(self.data), vectors), self.expansion)

    @cached_property
    def _graph(self) -> Any:
        self._check()
        graph = _usearch().Index.restore(self.data, view=True)  # reads the mapped file where it lies
        graph.expansion_search = self.expansion
        return graph

    def find_defect(self) -> str | None:
        """What usearch would not survive."""
        if not isinstance(self.expansion, int) or not 0 < self.expansion <= _EXPANSIONS[-1]:
            return "the expansion is none of ours"
        return None if is_sound(self.data, _NEIGHBOURS) else "not a graph that can be searched"

    def _check(self) -> None:
        if problem := self.find_defect():
            raise ArtefactError(f"the approximate index is damaged: {problem}", hint="train the model again")


def _with_rows(graph: Any, vectors: Floats) -> NDArray[np.uint8]:
    first = len(graph)
    graph.add(np.arange(first, first + len(vectors)), vectors, threads=threads())
    return np.frombuffer(graph.save(), np.uint8)


def _recall(found: Floats, best: Floats) -> float:
    """The share of the best that was found: by scores, so that of equals any will do."""
    wanted = (best > 0).sum(1)
    last = np.take_along_axis(best, np.maximum(wanted - 1, 0)[:, None], 1)
    there = ((found >= last) & (found > 0)).sum(1)
    return float(there.sum() / wanted.sum()) if wanted.any() else 1.0


def _usearch() -> Any:
    try:
        import usearch.index
    except ImportError:
        raise UserError("index=approximate needs usearch", hint='pip install "coclick[ann]"') from None
    return usearch.index
