"""Why a document scored as it did: a tree whose values add up, with the clicks that taught it.

At every level the parts' values add up to their parent's. `clicks` are the edges of the click graph behind
a part, or the largest of them, and `edges` is how many there are; `share` is an edge's fraction of that part,
and over all edges the shares sum to one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple


@dataclass(frozen=True)
class Click:
    """One edge of the click graph and its share of what it helps to explain."""

    query: str
    doc: str
    clicks: float
    share: float


class Behind(NamedTuple):
    """The edges behind something: the largest of them, and how many there are."""

    clicks: list[Click]
    edges: int


@dataclass(frozen=True)
class Part:
    """One summand of its parent's value."""

    kind: str
    label: str
    value: float
    clicks: list[Click] = field(default_factory=list)
    edges: int = 0
    parts: list[Part] = field(default_factory=list)


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
    parts: list[Part]
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
