"""User actions in logs, and columns named with --columns: which names mean which action or field."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from coclick.errors import UserError
from coclick.graph.columns import CLICK_ACTIONS, LOG_COLUMNS, canonical_name, find_field

SKIPPED = ("", "_", "-")  # names in --columns for a column to skip

# Action → accepted names. Rows with any other action are ignored: no searches, impressions or clicks.
ACTIONS: dict[str, tuple[str, ...]] = {
    "search": ("search", "searched", "site_search", "view_search_results", "products_searched"),
    "impression": ("impression", "impressions", "item_impression", "product_impression", "shown"),
    "view": (  # see `logs.product_views`
        *("view", "viewed", "view_item", "item_view", "product_view", "product_viewed", "detail_view"),
        "product_detail_view",
    ),
    "click": CLICK_ACTIONS,
    "cart": (
        *("cart", "add_to_cart", "addtocart", "added_to_cart", "cart_add", "add_to_basket"),
        "product_added",
    ),
    "purchase": (
        *("purchase", "purchased", "buy", "order", "transaction", "order_completed"),
        "checkout_completed",
    ),
}
DEFAULT_WEIGHTS = {"click": 1.0}
ROLES = ("impression", "ignore")  # what an action may be given as, in place of a weight
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


def match_named_columns(
    given: Mapping[str, str], columns: Sequence[str], where: str, has_paths: bool
) -> dict[str, int] | None:
    """Map fields to the columns given by name; None if `has_paths` and one may be a path, not a column."""
    found: dict[str, int] = {}
    names = [canonical_name(column) for column in columns]
    for field, column in given.items():
        if field not in LOG_COLUMNS:
            near = difflib.get_close_matches(field, list(LOG_COLUMNS), 1)
            hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(LOG_COLUMNS)}"
            raise UserError(f"the field {field!r} in --columns is unknown", hint=hint)
        if column in columns:
            found[field] = list(columns).index(column)
        elif canonical_name(column) in names:
            found[field] = names.index(canonical_name(column))
        elif has_paths:
            return None
        else:
            near = difflib.get_close_matches(column, list(columns), 3, 0.4) or list(columns[:20])
            raise UserError(
                f"the column {column!r} in --columns is not in the file",
                where=where,
                hint=f"the nearest are {', '.join(map(repr, near))}",
            )
        if list(found.values()).count(found[field]) > 1:
            raise UserError(f"--columns gives the column {column!r} to two fields")
    return found


_DWELL = re.compile(r"\s*dwell\s*>\s*(\d+(?:\.\d+)?)\s*(ms|s|m|)\s*")
_MAX_ACTIONS = 100  # action codes are stored as TINYINT


MIN_WEIGHT, MAX_WEIGHT = 1e-6, 1e6  # of an action: products with counts stay exact enough in float32


@dataclass(frozen=True)
class Action:
    """An action that counts as a click, with its weight and the names that logs use for it."""

    name: str
    weight: float
    names: tuple[str, ...]
    min_dwell: float | None = None  # a click with a longer dwell, in seconds, counts as this action instead


def action_names(more: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return `ACTIONS` with more names, which mean nothing else then."""
    added = {canonical_name(name) for names in more.values() for name in names}
    return {
        action: (*(name for name in names if name not in added), *map(canonical_name, more.get(action, ())))
        for action, names in ACTIONS.items()
    }


def with_roles(
    more: Mapping[str, Sequence[str]], given: Mapping[str, float | str] | None
) -> dict[str, tuple[str, ...]]:
    """Return the names that a format adds to `ACTIONS`, changed by what the user says: view=impression."""
    changed = {action: tuple(map(canonical_name, names)) for action, names in more.items()}
    roles = given.items() if isinstance(given, Mapping) else ()
    for name, role in ((canonical_name(str(name)), role) for name, role in roles if role in ROLES):
        names = action_names(changed).get(name, (name,))
        changed = {
            action: tuple(one for one in others if one not in names) for action, others in changed.items()
        }
        changed[str(role)] = (*changed.get(str(role), ()), *names)
    return changed


def weighted_actions(
    weights: Mapping[str, float | str] | None, known: Mapping[str, tuple[str, ...]] = ACTIONS
) -> list[Action]:
    """Return what counts as a click. A key of `known` matches all its names, others just themselves."""
    if weights is not None and not isinstance(weights, Mapping):
        raise UserError(
            f"actions must be a mapping from action to weight, not {weights!r:.50}",
            hint='for example {"click": 1, "cart": 3}',
        )
    given = {name: weight for name, weight in (weights or {}).items() if weight not in ROLES}
    given = given or dict(DEFAULT_WEIGHTS)
    dwell = {name: seconds for name in given if (seconds := dwell_seconds(name)) is not None}
    if dwell and len(dwell) == len(given):
        raise UserError(
            f"{next(iter(dwell))!r} gives long clicks another weight, but no action counts as a click",
            where="--actions",
            hint="name the clicks too: click=1,dwell>30s=3",
        )
    names = {name: f"dwell>{dwell[name]:g}s" if name in dwell else canonical_name(name) for name in given}
    weighted: dict[str, float] = {}
    for name, weight in ((names[name], weight) for name, weight in given.items()):
        if not (isinstance(weight, int | float) and math.isfinite(weight) and weight > 0):
            raise UserError(
                f"the weight of the action {name!r} must be a positive number, not {weight!r}",
                hint=f"or say what it is: {name}=impression or {name}=ignore",
            )
        if not MIN_WEIGHT <= weight <= MAX_WEIGHT:
            allowed = f"from {MIN_WEIGHT:g} to {MAX_WEIGHT:g}"
            raise UserError(
                f"the weight of the action {name!r} must be {allowed}, not {weight:g}",
                hint="only the ratios of weights matter: click=1,purchase=10",
            )
        weighted[name] = weight
        for kind, article in (("impression", "an"), ("search", "a")):
            if name in known[kind]:
                raise UserError(f"{name!r} is {article} {kind} and cannot count as a click")
    if len(weighted) > _MAX_ACTIONS:
        raise UserError(f"--actions names {len(weighted)} actions", hint=f"name at most {_MAX_ACTIONS}")
    thresholds = {names[name]: seconds for name, seconds in dwell.items()}
    custom = {name for name in weighted if name not in known and name not in thresholds}
    actions = []
    for name, value in sorted(weighted.items()):
        if name in thresholds:
            actions.append(Action(name, float(value), (), thresholds[name]))
            continue
        others = tuple(other for other in known.get(name, (name,)) if other == name or other not in custom)
        actions.append(Action(name, float(value), others))
    return actions


def dwell_seconds(name: str) -> float | None:
    """Return the seconds of `dwell>30s` (or `ms`, `m`), or None for the name of an action."""
    if not re.match(r"\s*dwell\s*[<>=]", name, re.IGNORECASE):
        return None
    match = _DWELL.fullmatch(name.lower())
    if not match:
        raise UserError(
            f"cannot read {name!r}",
            where="--actions",
            hint="write the least dwell time like dwell>30s, with ms, s or m",
        )
    return float(match[1]) * {"ms": 0.001, "m": 60.0}.get(match[2], 1.0)


def click_codes(actions: Sequence[Action]) -> list[int]:
    """Return the codes of proper clicks: carts and purchases only follow clicks. If none is, of all actions.

    Long clicks (`dwell>30s`) are left out.
    """
    codes = {code: action for code, action in enumerate(actions, 1) if action.min_dwell is None}
    clicks = set(ACTIONS["click"])
    return [code for code, a in codes.items() if a.name == "click" or set(a.names) & clicks] or [*codes]


def long_click_codes(actions: Sequence[Action]) -> dict[int, float]:
    """Return the codes of long clicks with their thresholds in seconds, the highest first."""
    found = {code: a.min_dwell for code, a in enumerate(actions, 1) if a.min_dwell is not None}
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def with_dwell(code: str, actions: Sequence[Action]) -> str:
    """Return the SQL for an action's code, given that of its name: a long click has another one."""
    clicks = ", ".join(map(str, click_codes(actions)))
    cases = [
        f"WHEN {code} IN ({clicks}) AND dwell > {seconds!r} THEN {long}"
        for long, seconds in long_click_codes(actions).items()
    ]
    return f"CASE {' '.join(cases)} ELSE {code} END" if cases else code


def action_codes(
    names: Iterable[str], actions: Sequence[Action], known: Mapping[str, tuple[str, ...]] = ACTIONS
) -> dict[str, int]:
    """Map names in the log to codes; names of other actions are left out."""
    codes = {name: code for code, action in enumerate(actions, 1) for name in action.names}
    codes |= dict.fromkeys(known["impression"], IMPRESSION) | dict.fromkeys(known["search"], SEARCH)
    return {name: codes[canonical_name(name)] for name in names if canonical_name(name) in codes}
