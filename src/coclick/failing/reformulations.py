"""Next queries of a session that say the same in other words, and typing errors."""

from __future__ import annotations

import re
from typing import NamedTuple

from coclick.graph.click_graph import ClickGraph
from coclick.rules.spelling import edit_distance

_COMMON_MOVE = 0.2  # share of what followed a query; people change to the same other topic rarely
_MIN_MOVES = 3
_DIGITS = re.compile(r"\d+")


class FollowUp(NamedTuple):
    """A query that came next."""

    row: int
    query: str
    searches: int
    users: int
    related: bool  # a reformulation, not another topic


def follow_ups(graph: ClickGraph, query: int) -> list[FollowUp]:
    """Return the queries that came next after a query, the most frequent first."""
    table = graph.followups
    if table is None:
        return []
    rows = slice(table.indptr[query], table.indptr[query + 1])
    columns = zip(
        table.next[rows].tolist(), table.count[rows].tolist(), table.users[rows].tolist(), strict=True
    )
    text, followed = graph.queries[query], int(table.count[rows].sum())
    found = []
    for row, count, users in columns:
        other = graph.queries[row]
        common = count >= _MIN_MOVES and count >= _COMMON_MOVE * followed
        found.append(FollowUp(row, other, count, users, common or is_rewording(text, other)))
    return sorted(found, key=lambda one: (-one.searches, one.query))


def is_rewording(query: str, other: str) -> bool:
    """Return whether two queries share a word, or one is a misspelling of the other."""
    return bool(set(query.split()) & set(other.split())) or is_typo(query, other)


def is_typo(query: str, other: str) -> bool:
    """Return whether two queries differ by one or two letters, other than a plural s, and not in digits."""
    if _singular(query) == _singular(other) or _DIGITS.findall(query) != _DIGITS.findall(other):
        return False
    limit = 0 if len(query) < 4 else 1 if len(query) < 8 else 2
    return limit > 0 and edit_distance(query, other, limit) <= limit


def _singular(query: str) -> list[str]:
    return [word.removesuffix("s") for word in query.split()]
