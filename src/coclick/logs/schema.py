"""Names of log columns and user actions: which names a file may use, and which field or action they mean."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from coclick.errors import UserError

FORMATS = ("clicks", "events", "ubi")

# Field → accepted column names, the canonical one first. Case, spaces and hyphens are ignored.
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
SKIPPED = ("", "_", "-")  # names in --columns for a column to skip

# Action → accepted names. Rows with any other action are ignored: neither impressions nor clicks.
ACTIONS: dict[str, tuple[str, ...]] = {
    "impression": ("impression", "impressions", "item_impression", "product_impression", "shown", "view"),
    "click": ("click", "clicks", "clicked", "item_click", "product_click", "result_click", "doc_click"),
    "cart": ("cart", "add_to_cart", "addtocart", "cart_add", "add_to_basket"),
    "purchase": ("purchase", "purchased", "buy", "order"),
}
DEFAULT_WEIGHTS = {"click": 1.0}


def canonical_name(name: str) -> str:
    """Return a column or action name in the form in which names are compared."""
    return re.sub(r"[\s\-]+", "_", name.strip().lower())


def find_field(name: str, table: Mapping[str, tuple[str, ...]] = LOG_COLUMNS) -> str | None:
    """Return the field that a column of this name holds, or None."""
    return next((field for field, names in table.items() if canonical_name(name) in names), None)


def match_columns(
    columns: Sequence[str], table: Mapping[str, tuple[str, ...]] = LOG_COLUMNS
) -> dict[str, int]:
    """Map each field to the index of its column. Names listed earlier in the table win."""
    names = [canonical_name(name) for name in columns]
    found = {}
    for field, aliases in table.items():
        match = next((alias for alias in aliases if alias in names), None)
        if match:
            found[field] = names.index(match)
    return found


def match_given_columns(given: Sequence[str], columns: Sequence[str], where: str) -> dict[str, int]:
    """Map fields to columns by the names given with --columns, in the order of the file's columns."""
    if len(given) > len(columns):
        raise UserError(
            f"--columns has {len(given)} names, but the file has {len(columns)} columns",
            where=where,
            hint=f"name at most these columns: {', '.join(columns)}",
        )
    found: dict[str, int] = {}
    for index, name in enumerate(given):
        if name.strip() in SKIPPED:
            continue
        field = find_field(name)
        if field is None or field in found:
            problem = "is unknown" if field is None else f"repeats the field {field!r}"
            raise UserError(
                f"the column name {name!r} in --columns {problem}",
                hint=f"choose from {', '.join(LOG_COLUMNS)}; write _ for a column to skip",
            )
        found[field] = index
    return found


_MAX_ACTIONS = 100  # action codes are stored as TINYINT


@dataclass(frozen=True)
class Action:
    """An action that counts as a click, with its weight and the names that logs use for it."""

    name: str
    weight: float
    names: tuple[str, ...]


def weighted_actions(weights: Mapping[str, float] | None) -> list[Action]:
    """Return what counts as a click. A key of `ACTIONS` matches all its names, others just themselves."""
    weights = {canonical_name(name): weight for name, weight in (weights or DEFAULT_WEIGHTS).items()}
    for name, weight in weights.items():
        if not (isinstance(weight, int | float) and math.isfinite(weight) and weight > 0):
            raise UserError(f"the weight of the action {name!r} must be a positive number, not {weight!r}")
        if name in ACTIONS["impression"]:
            raise UserError(f"{name!r} is an impression and cannot count as a click")
    if len(weights) > _MAX_ACTIONS:
        raise UserError(f"--actions names {len(weights)} actions", hint=f"name at most {_MAX_ACTIONS}")
    custom = {name for name in weights if name not in ACTIONS}
    return [
        Action(
            name, float(weight), tuple(n for n in ACTIONS.get(name, (name,)) if n == name or n not in custom)
        )
        for name, weight in sorted(weights.items())
    ]


def action_codes(names: Iterable[str], actions: Sequence[Action]) -> dict[str, int]:
    """Map names in the log to codes: 0 for an impression, i for the i-th action. Other names are left out."""
    codes = {name: code for code, action in enumerate(actions, 1) for name in action.names}
    codes |= dict.fromkeys(ACTIONS["impression"], 0)
    return {name: codes[canonical_name(name)] for name in names if canonical_name(name) in codes}
