"""What the columns of a log and the actions of its users are called: the one place that knows."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from coclick.errors import UserError

FORMATS = ("clicks", "events", "ubi")

# Field → the column names that stand for it, the first one being its own. Case, spaces and hyphens in a
# name do not matter.
LOG_COLUMNS: dict[str, tuple[str, ...]] = {
    "query": ("query", "q", "query_text", "search_query", "user_query", "search_term", "term", "keyword"),
    "doc": (
        *("doc", "doc_id", "docid", "docno", "document", "document_id", "item", "item_id", "product"),
        *("product_id", "asin", "sku", "object_id", "result", "url"),
    ),
    "clicks": ("clicks", "click_count", "n_clicks", "num_clicks", "count"),
    "impressions": ("impressions", "impression_count", "n_impressions", "shown", "views"),
    "users": ("users", "user_count", "n_users", "distinct_users"),
    "timestamp": ("timestamp", "@timestamp", "time", "ts", "datetime", "event_time", "date"),
    "user": ("user", "user_id", "userid", "client_id", "visitor", "visitor_id", "session", "session_id"),
    "action": ("action", "action_name", "event", "event_type", "event_name"),
    "position": ("position", "pos", "rank", "ordinal"),
}
DOC_COLUMNS: dict[str, tuple[str, ...]] = {
    "doc": (*LOG_COLUMNS["doc"][:-1], "id", "_id"),
    "title": ("title", "name", "doc_title", "product_title"),
}
VIEW_COLUMNS: dict[str, tuple[str, ...]] = {
    "query": LOG_COLUMNS["query"],
    "doc": (*LOG_COLUMNS["doc"], "id", "_id"),
    "feature": ("feature", "feature_name", "tag", "category", "term", "word", "token", "name", "key"),
    "value": ("value", "weight", "score", "count", "n", "tf"),
}
FIELDS = {
    "clicks": ("query", "doc", "clicks", "impressions", "users"),
    "events": ("query", "doc", "timestamp", "user", "action", "position"),
    "view": ("query", "doc", "feature", "value"),  # either query or doc
}
REQUIRED = {"clicks": ("query", "doc", "clicks"), "events": ("query", "doc")}
SKIP = ("", "_", "-")  # in --columns: a column that nobody needs

# Action → the names under which logs record it. Whatever has another name is neither shown nor clicked.
ACTIONS: dict[str, tuple[str, ...]] = {
    "impression": ("impression", "impressions", "item_impression", "product_impression", "shown", "view"),
    "click": ("click", "clicks", "clicked", "item_click", "product_click", "result_click", "doc_click"),
    "cart": ("cart", "add_to_cart", "addtocart", "cart_add", "add_to_basket"),
    "purchase": ("purchase", "purchased", "buy", "order"),
}
DEFAULT_WEIGHTS = {"click": 1.0}  # only clicks count, unless the user says otherwise


def canonical_name(name: str) -> str:
    """A column's or action's name as it is compared."""
    return re.sub(r"[\s\-]+", "_", name.strip().lower())


def find_field(name: str, table: Mapping[str, tuple[str, ...]] = LOG_COLUMNS) -> str | None:
    """The field that a column of this name holds."""
    return next((field for field, names in table.items() if canonical_name(name) in names), None)


def match_columns(
    columns: Sequence[str], table: Mapping[str, tuple[str, ...]] = LOG_COLUMNS
) -> dict[str, int]:
    """Field → which column holds it; where several could, the name that comes first in the table."""
    names = [canonical_name(name) for name in columns]
    found = {}
    for field, aliases in table.items():
        match = next((alias for alias in aliases if alias in names), None)
        if match:
            found[field] = names.index(match)
    return found


def match_given_columns(given: Sequence[str], columns: Sequence[str], where: str) -> dict[str, int]:
    """The same for names that the user gave, in the order of the file's columns."""
    if len(given) > len(columns):
        raise UserError(
            f"{len(given)} column names are given, the file has {len(columns)} columns",
            where=where,
            hint=f"its columns are: {', '.join(columns)}",
        )
    found: dict[str, int] = {}
    for place, name in enumerate(given):
        if name.strip() in SKIP:
            continue
        field = find_field(name)
        if field is None or field in found:
            problem = "is not a column that a log can have" if field is None else "is given twice"
            raise UserError(
                f"the column name {name!r} {problem}",
                hint=f"choose from {', '.join(LOG_COLUMNS)}; write _ for a column to leave out",
            )
        found[field] = place
    return found


_MAX_ACTIONS = 100  # their codes are TINYINTs


@dataclass(frozen=True)
class Action:
    """An action that counts as a click: its weight, and the names under which the log has it."""

    name: str
    weight: float
    names: tuple[str, ...]


def weighted_actions(weights: Mapping[str, float] | None) -> list[Action]:
    """What counts as a click. An action of `ACTIONS` stands for all its names, any other for itself."""
    weights = {canonical_name(name): weight for name, weight in (weights or DEFAULT_WEIGHTS).items()}
    for name, weight in weights.items():
        if not (isinstance(weight, int | float) and math.isfinite(weight) and weight > 0):
            raise UserError(f"the weight of the action {name!r} must be a positive number, not {weight!r}")
        if name in ACTIONS["impression"]:
            raise UserError(f"{name!r} is an impression: it cannot count as a click")
    if len(weights) > _MAX_ACTIONS:
        raise UserError(f"{len(weights)} actions are too many", hint=f"name {_MAX_ACTIONS} at most")
    own = {name for name in weights if name not in ACTIONS}
    return [
        Action(name, float(weight), _without(ACTIONS[name], own) if name in ACTIONS else (name,))
        for name, weight in sorted(weights.items())
    ]


def action_codes(names: Iterable[str], actions: Sequence[Action]) -> dict[str, int]:
    """Name in the log → 0 for an impression, i for the i-th action that counts as a click; others not."""
    codes = {name: code for code, action in enumerate(actions, 1) for name in action.names}
    codes |= dict.fromkeys(ACTIONS["impression"], 0)
    return {name: codes[canonical_name(name)] for name in names if canonical_name(name) in codes}


def _without(names: Iterable[str], taken: set[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in taken)
