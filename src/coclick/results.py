"""What models return: `Run`, ranked rows with their scores, and `Explanation`, why a score is what it is.

An explanation is a tree whose values add up, with the clicks that taught it.

At every level the parts' values add up to their parent's. `clicks` are the edges of the click graph behind
a part, or the largest of them, and `edges` is how many there are; `share` is an edge's fraction of that part,
and over all edges the shares sum to one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.strings import Vocab


@dataclass(frozen=True)
class Click:
    """One edge of the click graph and its share of what it helps to explain."""

    query: str
    doc: str
    clicks: float
    share: float


class ClickEvidence(NamedTuple):
    """The edges behind something: the largest of them, and how many there are."""

    clicks: list[Click]
    edges: int


@dataclass(frozen=True)
class Contribution:
    """One summand of its parent's value."""

    kind: str
    label: str
    value: float
    clicks: list[Click] = field(default_factory=list)
    edges: int = 0
    parts: list[Contribution] = field(default_factory=list)


@dataclass(frozen=True)
class Word:
    """One word that query and document share, with the clicks behind its weight on either side."""

    word: str
    query_weight: float
    doc_weight: float
    contribution: float
    clicks: list[Click]
    edges: int
    query_clicks: list[Click]
    query_edges: int


@dataclass(frozen=True)
class Explanation:
    """The whole answer; `words` for models whose vectors are made of words."""

    query: str
    doc: str
    score: float
    parts: list[Contribution]
    words: list[Word] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, in the shape that `coclick explain --json` prints."""
        answer = _plain(self)
        if self.words is None:
            del answer["words"]
        return answer


def _plain(value: Any) -> Any:
    """Like `dataclasses.asdict`, without its deep copies."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
    return value


@dataclass(frozen=True)
class Run:
    """For each query its best rows, best first: `rows[i, j]` is −1 where there are no more."""

    rows: NDArray[np.int32]
    scores: NDArray[np.float32]
    names: Vocab

    def __len__(self) -> int:
        return len(self.rows)

    def hits(self, query: int = 0) -> list[tuple[str, float]]:
        """One query's results as (name, score)."""
        found = self.rows[query] >= 0
        rows, scores = self.rows[query][found].tolist(), self.scores[query][found].tolist()
        return [(self.names[row], score) for row, score in zip(rows, scores, strict=True)]


def top_rows(scores: NDArray[np.float32], k: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The k best rows above zero by score, then by row; for scores that are at hand for every row."""
    candidates = np.flatnonzero(scores > 0)
    if len(candidates) > k > 0:
        kth = np.partition(scores[candidates], len(candidates) - k)[len(candidates) - k]
        candidates = candidates[scores[candidates] >= kth]
    best = candidates[np.lexsort((candidates, -scores[candidates]))][:k]
    return best.astype(np.int32), scores[best]


def without_itself(
    rows: NDArray[np.int32], scores: NDArray[np.float32], own: NDArray[np.int32], k: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """k of k + 1 neighbours that were found for each row `own`, without that row; −1 is no row."""
    itself = rows == own[:, None]
    itself &= own[:, None] >= 0
    order = np.argsort(itself, axis=1, kind="stable")
    rows = np.take_along_axis(np.where(itself, -1, rows), order, 1).astype(np.int32)
    scores = np.take_along_axis(np.where(itself, 0, scores), order, 1).astype(np.float32)
    return rows[:, :k], scores[:, :k]


def padded(queries: int, k: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Empty results, to be filled."""
    return np.full((queries, k), -1, np.int32), np.zeros((queries, k), np.float32)
