"""User actions in logs, and columns named with --columns: which names mean which action or field."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from coclick.errors import UserError
from coclick.graph.columns import CLICK_ACTIONS, LOG_COLUMNS, canonical_name, find_field

FORMATS = ("clicks", "events", "ubi")

SKIPPED = ("", "_", "-")  # names in --columns for a column to skip

# Action → accepted names. Rows with any other action are ignored: no searches, impressions or clicks.
ACTIONS: dict[str, tuple[str, ...]] = {
    "search": ("search", "searched", "site_search", "view_search_results", "products_searched"),
    "impression": ("impression", "impressions", "item_impression", "product_impression", "shown", "view"),
    "click": CLICK_ACTIONS,
    "cart": ("cart", "add_to_cart", "addtocart", "cart_add", "add_to_basket"),
    "purchase": ("purchase", "purchased", "buy", "order"),
}
DEFAULT_WEIGHTS = {"click": 1.0}
SEARCH, IMPRESSION = -1, 0  # codes; the i-th action that counts as a click has code i


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
    if weights is not None and not isinstance(weights, Mapping):
        raise UserError(
            f"actions must be a mapping from action to weight, not {weights!r:.50}",
            hint='for example {"click": 1, "cart": 3}',
        )
    weights = {canonical_name(name): weight for name, weight in (weights or DEFAULT_WEIGHTS).items()}
    for name, weight in weights.items():
        if not (isinstance(weight, int | float) and math.isfinite(weight) and weight > 0):
            raise UserError(f"the weight of the action {name!r} must be a positive number, not {weight!r}")
        for kind, article in (("impression", "an"), ("search", "a")):
            if name in ACTIONS[kind]:
                raise UserError(f"{name!r} is {article} {kind} and cannot count as a click")
    if len(weights) > _MAX_ACTIONS:
        raise UserError(f"--actions names {len(weights)} actions", hint=f"name at most {_MAX_ACTIONS}")
    custom = {name for name in weights if name not in ACTIONS}
    actions = []
    for name, weight in sorted(weights.items()):
        names = tuple(other for other in ACTIONS.get(name, (name,)) if other == name or other not in custom)
        actions.append(Action(name, float(weight), names))
    return actions


def action_codes(names: Iterable[str], actions: Sequence[Action]) -> dict[str, int]:
    """Map names in the log to codes; names of other actions are left out."""
    codes = {name: code for code, action in enumerate(actions, 1) for name in action.names}
    codes |= dict.fromkeys(ACTIONS["impression"], IMPRESSION) | dict.fromkeys(ACTIONS["search"], SEARCH)
    return {name: codes[canonical_name(name)] for name in names if canonical_name(name) in codes}
