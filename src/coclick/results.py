"""The results of models: `Run`, ranked rows with scores, and `Explanation`, the parts of a score.

An explanation is a tree: at every level the values of the parts add up to the value of their parent. `clicks`
are the edges of the click graph that a part comes from, or the largest of them; `edges` is their number;
`share` is the fraction of the part that comes from an edge, and the shares of all edges sum to one.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.strings import Strings
from coclick.errors import UserError, counted


@dataclass(frozen=True)
class Click:
    """One edge of the click graph and its share of a contribution."""

    query: str
    doc: str
    clicks: float
    share: float


class ClickEvidence(NamedTuple):
    """The edges that a contribution comes from: the largest of them, and their number."""

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
    """A word that query and document share, with the clicks that its weight on each side comes from."""

    word: str
    query_weight: float
    doc_weight: float
    contribution: float
    clicks: list[Click]
    edges: int
    query_clicks: list[Click]
    query_edges: int


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why a document has its score for a query: contributions that add up to it.

    `words` are set for models whose vectors are made of words. In a notebook it is drawn as a tree.
    """

    query: str
    doc: str
    score: float
    parts: list[Contribution]
    words: list[Word] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, in the shape that `coclick explain --json` prints."""
        answer: dict[str, Any] = _plain(self)
        if self.words is None:
            del answer["words"]
        return answer

    def __repr__(self) -> str:
        best = ", ".join(f"{part.label} {part.value:.3g}" for part in self.parts[:3])
        parts = f" = {best}, …" if best else ""
        return f"<Explanation of {self.query!r} → {self.doc}: {self.score:.4g}{parts}>"

    def _repr_html_(self) -> str:
        """Draw the contributions as a tree with bars, for notebooks, without scripts or style sheets."""
        widest = max((abs(part.value) for part in self.parts), default=0.0) or 1.0
        words: Sequence[Word | None] = self.words or [None] * len(self.parts)
        rows = "".join(
            _html_part(part, widest, opened=i < 3, word=word)
            for i, (part, word) in enumerate(zip(self.parts, words, strict=True))
        )
        return (
            '<div style="font-family:sans-serif;font-size:13px;max-width:48em">'
            f"<b>{escape(self.query)}</b> → <b>{escape(self.doc)}</b>: {self.score:.4g}{rows}</div>"
        )


def _html_part(part: Contribution, widest: float, opened: bool, word: Word | None = None) -> str:
    width = 100 * min(abs(part.value) / widest, 1.0)
    colour = "#4c78a8" if part.value >= 0 else "#e45756"
    head = (
        f'<span style="display:inline-block;width:8em;height:.7em;margin-right:.5em;background:#8882">'
        f'<span style="display:block;height:100%;width:{width:.1f}%;background:{colour}"></span></span>'
        f"{part.value:+.4g} <b>{escape(part.label)}</b> <small>{escape(part.kind)}</small>"
    )
    inner = "".join(_html_part(one, widest, opened=False) for one in part.parts)
    if word:
        head += f" = {word.query_weight:.3g} × {word.doc_weight:.3g}"
        inner = (
            _html_clicks(word.query_clicks, word.query_edges, "weight in the query, learned from")
            + _html_clicks(part.clicks, part.edges, "weight in the document, learned from")
            + inner
        )
    else:
        inner += _html_clicks(part.clicks, part.edges)
    if not inner:
        return f'<div style="margin-left:1.1em">{head}</div>'
    state = " open" if opened else ""
    return f'<details style="margin-left:1em"{state}><summary>{head}</summary>{inner}</details>'


def _html_clicks(clicks: list[Click], edges: int, title: str = "") -> str:
    """A list of clicked pairs under a title, or nothing if there are none."""
    if not clicks:
        return ""
    rows = "".join(
        f"<li>{escape(click.query)} → {escape(click.doc)}: "
        f"{'1 click' if click.clicks == 1 else f'{click.clicks:g} clicks'}, {click.share:.0%}</li>"
        for click in clicks
    )
    if edges > len(clicks):
        more = edges - len(clicks)
        rows += f"<li>… {counted(more, 'more clicked pair')}</li>"
    head = f'<div style="margin-left:1.1em"><small>{title}</small></div>' if title else ""
    return f'{head}<ul style="margin:.2em 0 .4em 1em">{rows}</ul>'


def _plain(value: Any) -> Any:
    """Like `dataclasses.asdict`, without its deep copies."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
    return value


@dataclass(frozen=True, repr=False)
class Run:
    """Ranked results with their scores, for one query or several.

    `rows[i, j]` is the j-th best row for query i, −1 where there are no more; `names` gives rows their ids.
    Iterating yields `(id, score)` pairs if one query was given as a text, and lists of such pairs if a list
    of queries was given.
    """

    rows: NDArray[np.int32]
    scores: NDArray[np.float32]
    names: Strings
    queries: tuple[str, ...] = ()
    single: bool = False  # one query was given as a text, not a list
    columns: tuple[str, str] = ("query", "doc")  # of the query and of its results, in `to_dict`

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.hits())

    @overload
    def hits(self) -> list[Any]: ...
    @overload
    def hits(self, query: int) -> list[tuple[str, float]]: ...
    def hits(self, query: int | None = None) -> list[Any]:
        """Return results as `(id, score)` pairs, best first.

        Parameters: `query`, the number of one query; without it, the pairs of the only query if one was
        given as a text, else a list of pairs for each query.
        """
        if query is None:
            return self.hits(0) if self.single else [self.hits(i) for i in range(len(self))]
        if not isinstance(query, int | np.integer) or not -len(self) <= query < len(self):
            raise UserError(f"no query {query!r}: the run has {len(self)}, numbered from 0")
        found = self.rows[query] >= 0
        rows, scores = self.rows[query][found].tolist(), self.scores[query][found].tolist()
        return [(self.names[row], score) for row, score in zip(rows, scores, strict=True)]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the results as columns: what was asked, rank from 1, what was found, score."""
        rows = [
            (self.queries[i] if self.queries else i, rank, name, score)
            for i in range(len(self))
            for rank, (name, score) in enumerate(self.hits(i), 1)
        ]
        query, result = self.columns
        names = (query, "rank", result, "score")
        return {name: [row[column] for row in rows] for column, name in enumerate(names)}

    def to_pandas(self) -> Any:
        """Return the results as a pandas DataFrame, one row per result."""
        return _optional("pandas").DataFrame(self.to_dict())

    def to_polars(self) -> Any:
        """Return the results as a polars DataFrame, one row per result."""
        return _optional("polars").DataFrame(self.to_dict())

    def to_arrow(self) -> Any:
        """Return the results as an Arrow table, one row per result."""
        return _optional("pyarrow").table(self.to_dict())

    def __repr__(self) -> str:
        n, k = self.rows.shape
        queries = f"{self.queries[0]!r}" if n == 1 and self.queries else counted(n, "query")
        best = ", ".join(f"{name} {score:.3g}" for name, score in (self.hits(0)[:3] if n else []))
        return f"<Run of {queries}, k={k}{f': {best}, …' if best else ''}>"


def _optional(library: str) -> Any:
    try:
        return importlib.import_module(library)
    except ImportError:
        raise UserError(f"this needs {library}", hint=f"pip install {library}") from None


def top_rows(scores: NDArray[np.float32], k: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return the k best rows with scores above zero, by score and then by row."""
    candidates = np.flatnonzero(scores > 0)
    if len(candidates) > k > 0:
        kth = np.partition(scores[candidates], len(candidates) - k)[len(candidates) - k]
        candidates = candidates[scores[candidates] >= kth]
    best = candidates[np.lexsort((candidates, -scores[candidates]))][:k]
    return best.astype(np.int32), scores[best]


def without_itself(
    rows: NDArray[np.int32], scores: NDArray[np.float32], own: NDArray[np.int32], k: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Remove the row `own` of each line from k + 1 results and keep k of them; −1 means no row."""
    itself = rows == own[:, None]
    itself &= own[:, None] >= 0
    order = np.argsort(itself, axis=1, kind="stable")
    rows = np.take_along_axis(np.where(itself, -1, rows), order, 1).astype(np.int32)
    scores = np.take_along_axis(np.where(itself, 0, scores), order, 1).astype(np.float32)
    return rows[:, :k], scores[:, :k]


def padded(queries: int, k: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return empty results for `queries` lines: rows of −1 and scores of 0."""
    return np.full((queries, k), -1, np.int32), np.zeros((queries, k), np.float32)
