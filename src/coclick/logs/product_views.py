"""Decide what a `view` is: an impression in a list of results, a click, or a page that was opened.

Logs use the word for all of them. The shape of the log decides: whether views have positions, whether there
are clicks beside them, and whether many views share a query, user and time, as the results of a page do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coclick.graph.columns import canonical_name

_MIN_PER_CLICK = 3  # views for each click, so that they may be results that were shown
_MIN_PER_PAGE = 2  # views with the same query, user and time, on average


@dataclass(frozen=True)
class ViewShape:
    """Counts of the valid views of a log: all, those with a position, and (query, user, time) groups."""

    views: int = 0
    with_position: int = 0
    pages: int | None = None  # None without times


def shape_sql(rows: str, names: Sequence[str], fields: set[str]) -> str:
    """Return the query for the three counts over typed rows. Both engines run it."""
    quoted = ", ".join("'" + name.replace("'", "''") + "'" for name in names)
    position = "count(position)" if "position" in fields else "0"
    views = f"FROM {rows} WHERE error IS NULL AND action IN ({quoted})"
    if "timestamp" not in fields:
        return f"SELECT count(*), {position}, NULL {views}"
    key = "query, usr, ts" if "user" in fields else "query, ts"
    pages = f"SELECT count(*) AS n, {position} AS n_positions {views} GROUP BY {key}"
    return f"SELECT coalesce(sum(n), 0), coalesce(sum(n_positions), 0), count(*) FROM ({pages}) AS pages"


def undecided_views(
    counts: Mapping[str, int], codes: Mapping[str, int], known: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return the names in the log that mean a view and that the user did not decide."""
    return [name for name in counts if name not in codes and canonical_name(name) in known["view"]]


def decide_views(
    names: Sequence[str], shape: ViewShape, n_clicks: int, clicks_count: bool
) -> tuple[str, str]:
    """Return "impression", "click" or "ignore" for the views of a log, and a sentence that says so.

    `n_clicks` is the number of clicks in the log; `clicks_count` says whether clicks count at all.
    """
    shown = " and ".join(map(repr, names))
    name = canonical_name(names[0])
    is_page = shape.pages is not None and shape.views >= _MIN_PER_PAGE * max(shape.pages, 1)
    if 2 * shape.with_position > shape.views:
        role, why = "impression", "an impression, because it has positions"
    elif not n_clicks and clicks_count:
        role, why = "click", "a click, because the log has no clicks"
    elif n_clicks and is_page and shape.views >= _MIN_PER_CLICK * n_clicks:
        role, why = "impression", "an impression, because many have the same query, user and time"
    else:
        role, why = "ignore", "a page that was opened and does not count"
    others = {"impression": "impression", "click": "1", "ignore": "ignore"}
    choices = " or ".join(f"{name}={value}" for other, value in others.items() if other != role)
    return role, f"{shown} is {why} (--actions {choices} if it is not)"
