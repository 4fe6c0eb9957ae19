"""What a build refuses, and what it says then: on plain values, so that every engine refuses the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from coclick.errors import UserError
from coclick.logs.schema import ACTIONS, Action, action_codes

_MAX_ACTIONS = 20


def check_arguments(format: str, formats: Sequence[str], min_clicks: float, min_users: int) -> None:
    """What needs no look at the log."""
    if format not in ("auto", *formats):
        raise UserError(f"there is no format {format!r}", hint=f"choose auto, {', '.join(formats)}")
    if not (math.isfinite(min_clicks) and min_clicks >= 0 and min_users >= 1):
        raise UserError("min-clicks must be 0 or more, and min-users 1 or more")


def check_fields(fields: set[str], min_users: int, actions: Mapping[str, float] | None) -> None:
    """What needs columns that the log may not have."""
    if min_users > 1 and not fields & {"user", "users"}:
        raise UserError("min-users needs a log that tells the users", hint="leave --min-users out")
    if actions is not None and "action" not in fields:
        raise UserError("--actions needs a log of events with a column for the action")


def classify_actions(
    counts: Mapping[str, int], actions: Sequence[Action]
) -> tuple[dict[str, int], dict[str, int]]:
    """Of the names in a log, and how often each occurs: codes of those that matter, and the other names with
    their counts. An action of the user's own that never occurs is most likely misspelt."""
    codes = action_codes(counts, actions)
    others = {name: count for name, count in counts.items() if name not in codes}
    for code, action in enumerate(actions, 1):
        if code not in codes.values() and action.name not in ACTIONS:
            there = ", ".join(most_common_actions(others)) or "none but those that count"
            raise UserError(f"the log has no action {action.name!r}", hint=f"its other actions: {there}")
    return codes, others


def most_common_actions(counts: Mapping[str, int]) -> dict[str, int]:
    """The actions that people are told of; counts have the commonest first."""
    return dict(list(counts.items())[:_MAX_ACTIONS])


def no_edges_error(
    figures: Mapping[str, Any], below: int, locate_first_reject: Callable[[str], str] | None = None
) -> UserError:
    """No edge at all: why? `below` were clicked, and `first_rejected` knows where a reason stands."""
    if below:
        return UserError(
            f"no pair passes the thresholds: {below:,} were clicked, none often enough",
            hint="lower --min-clicks or --min-users",
        )
    if not figures["rows"]:
        return UserError("the log is empty", where=", ".join(figures.get("files", ())[:3]))
    what = f"no click in the log: {figures['rows']:,} rows were read"
    if not figures["rejected"]:
        others = ", ".join(figures.get("other_actions", ())) or "impressions only"
        return UserError(what, hint=f"say with --actions what counts as a click; the log has {others}")
    reason, count = next(iter(figures["rejected"].items()))
    return UserError(
        f"{what}, {sum(figures['rejected'].values()):,} rejected; commonest reason: {reason} ({count:,})",
        where=locate_first_reject(reason) if locate_first_reject else None,
    )


def no_overlap_error(log: Sequence[str], documents: Sequence[str], where: str | None = None) -> UserError:
    """A log of which no document is in DOCS belongs to something else, or spells its ids otherwise."""
    examples = [", ".join(map(repr, names)) for names in (log, documents)]
    return UserError(
        "none of the log's documents is among the documents",
        where=where,
        hint=f"compare the ids: the log has {examples[0]}; the documents have {examples[1]}",
    )
