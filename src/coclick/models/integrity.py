"""Check the content of opened artefacts: every index must stay within its array.

Opening an artefact checks only its manifest and sizes, which takes milliseconds. Training, adding documents
and `coclick verify` read everything anyway, so they check the content too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings
from coclick.errors import ArtefactError
from coclick.graph.click_graph import ClickGraph
from coclick.storage.artefact import Artefact


def out_of_bounds(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield (part, defect) for every index out of bounds and every value that is not a number."""
    if isinstance(value, Csr):
        if problem := value.find_defect():
            yield name, problem
    elif isinstance(value, Strings):
        if np.any(np.diff(value.offsets) < 0):
            yield name, "offsets fall"
    elif isinstance(value, ClickGraph):
        if problem := value.clicks.find_defect():
            yield "clicks", problem
            return  # to transpose them would write out of bounds
        yield from out_of_bounds("clicks_by_doc", value.clicks_by_doc)
        yield from out_of_bounds("queries", value.queries)
        yield from out_of_bounds("docs", value.docs)
        for field, texts in value.texts.items():
            yield from out_of_bounds(f"text.{field}", texts)
        for view, features in value.views.items():
            yield from out_of_bounds(f"view.{view}", features)
        yield from _history(value)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from out_of_bounds(f"{name}.{i}", item)
    elif hasattr(value, "parts_"):  # a combination: the state of its parts
        for part in value.parts_:
            yield from out_of_bounds(name, list(vars(part).values()))
    elif hasattr(value, "find_defect"):
        if problem := value.find_defect():
            yield name, problem
    elif hasattr(value, "__dataclass_fields__"):
        for part in value.__dataclass_fields__:
            yield from out_of_bounds(f"{name}.{part}", getattr(value, part))


def _history(graph: ClickGraph) -> Iterator[tuple[str, str]]:
    """The same for the tables of a log: row pointers, column lengths, rows of documents and queries."""
    queries, docs = len(graph.queries), len(graph.docs)
    pairs, daily, skips = graph.pairs, graph.daily, graph.skips
    if pairs is not None:
        of_pairs = pairs.impressions, pairs.users, pairs.sessions, pairs.navigational
        yield from _lists("pairs", pairs.indptr, queries, of_pairs, docs, pairs.docs)
    if pairs is not None and daily is not None:
        of_days = daily.impressions, daily.users, daily.sessions, daily.navigational
        yield from _lists("daily", daily.indptr, len(pairs.docs), (daily.day, daily.clicks, *of_days))
        if daily.position_indptr is not None:
            shown = daily.position, daily.shown
            yield from _lists("daily.position", daily.position_indptr, len(daily.day), shown)
    if skips is not None:
        yield from _lists("skips", skips.indptr, queries, (skips.count,), docs, skips.clicked, skips.skipped)
    if (found := graph.searches) is not None:
        of_searches = found.searches, found.without_clicks, found.day, found.without_results
        yield from _lists("searches", found.indptr, queries, of_searches)
    if (after := graph.followups) is not None:
        counts = after.count, after.users
        yield from _lists("followups", after.indptr, queries, counts, queries, after.next, what="query")


def _lists(
    name: str,
    indptr: NDArray[np.int64],
    rows: int,
    columns: Sequence[NDArray[Any] | None],
    size: int = 0,
    *named: NDArray[np.int32],
    what: str = "document",
) -> Iterator[tuple[str, str]]:
    """Check lists stored as columns, one per row of another table; `named` columns hold rows below `size`."""
    present = [column for column in (*columns, *named) if column is not None]
    if len(indptr) != rows + 1 or indptr[0] != 0 or np.any(np.diff(indptr) < 0):
        yield name, "row pointers do not match its rows"
    elif any(len(column) != indptr[-1] for column in present):
        yield name, "a column does not have as many entries as the row pointers say"
    elif any(len(column) and not (column.min() >= 0 and column.max() < size) for column in named):
        yield name, f"a {what} is out of bounds"


def check_bounds(values: Mapping[str, Any], source: Artefact) -> None:
    """Raise if a value that was opened from a file has an index out of bounds."""
    for name, value in values.items():
        for part, problem in out_of_bounds(name, value):
            raise ArtefactError(
                f"the {source.kind} is damaged: {part}: {problem}",
                where=str(source.path),
                hint="`coclick verify` names the file",
            )
