"""Validate the arguments and the log of a build. Both engines, DuckDB and Spark, raise these errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from coclick.errors import UserError, counted
from coclick.graph.columns import canonical_name
from coclick.logs.product_views import ViewShape, decide_views, undecided_views
from coclick.logs.schema import ACTIONS, IMPRESSION, Action, action_codes, dwell_seconds

MAX_REJECTED = 0.5  # share of the rows; the default of --max-rejected
_MAX_LISTED = 20


def check_arguments(min_clicks: float, min_users: int, max_rejected: float = 1) -> None:
    """Check the arguments that do not depend on the log."""
    if not (_is_number(max_rejected, 0) and max_rejected <= 1):
        raise UserError("--max-rejected must be between 0% and 100%", hint="in Python: max_rejected=0.05")
    if not (_is_number(min_clicks, 0) and _is_number(min_users, 1)):
        raise UserError("--min-clicks must be 0 or more, and --min-users 1 or more",
                        hint="in Python: min_clicks and min_users, as numbers")  # fmt: skip


def _is_number(value: Any, low: float) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and value >= low


def check_fields(fields: set[str], min_users: int, actions: Mapping[str, float | str] | None) -> None:
    """Check that the log has the columns that the arguments need."""
    if min_users > 1 and not fields & {"user", "users"}:
        raise UserError(
            "--min-users needs a log with a column for the user",
            hint="leave --min-users (in Python: min_users) out",
        )
    dwell = [name for name in actions or () if dwell_seconds(name) is not None]
    if dwell and "dwell" not in fields:
        raise UserError(
            f"{dwell[0]!r} needs a log of events with a column for the dwell time",
            where="--actions",
            hint="name the column with --columns dwell=NAME, or leave it out",
        )
    others = {canonical_name(name) for name in actions or () if name not in dwell}
    if actions is not None and "action" not in fields and not (dwell and others == {"click"}):
        raise UserError("--actions needs a log of events with a column for the action", hint="leave it out")


def classify_actions(
    counts: Mapping[str, int],
    actions: Sequence[Action],
    known: Mapping[str, tuple[str, ...]],
    count_views: Callable[[Sequence[str]], ViewShape],
) -> tuple[dict[str, int], dict[str, int], list[str]]:
    """Return the codes of the actions that count, the counts of the others, and what was assumed.

    `counts` says how often each action occurs, `count_views` the shape of views, if it is needed. A custom
    action that never occurs is probably misspelt: raise.
    """
    codes = action_codes(counts, actions, known)
    assumed = []
    if views := undecided_views(counts, codes, known):
        n_clicks = sum(count for name, count in counts.items() if canonical_name(name) in known["click"])
        click = next((code for code, action in enumerate(actions, 1) if action.name == "click"), None)
        role, sentence = decide_views(views, count_views(views), n_clicks, click is not None)
        code = {"impression": IMPRESSION, "click": click}.get(role)
        codes |= {} if code is None else dict.fromkeys(views, code)
        assumed.append(sentence)
    others = {name: count for name, count in counts.items() if name not in codes}
    for code, action in enumerate(actions, 1):
        if code not in codes.values() and action.name not in ACTIONS and action.min_dwell is None:
            existing = ", ".join(most_common_actions(others)) or "none"
            raise UserError(
                f"the log has no action {action.name!r}",
                hint=f"check --actions; other actions in the log: {existing}",
            )
    return codes, others, assumed


def most_common_actions(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the first actions of `counts`, which are sorted by count, for reports."""
    return dict(list(counts.items())[:_MAX_LISTED])


def no_edges_error(
    stats: Mapping[str, Any], below: int, locate_first_reject: Callable[[str], str | None]
) -> UserError:
    """Return the error for a graph without edges, with its cause.

    `below` clicked pairs were below the thresholds. `locate_first_reject` finds an example of a reason.
    """
    if below:
        anonymous = stats.get("without_user", 0)
        note = f"; {counted(anonymous, 'event')} without a user count as no user" if anonymous else ""
        return UserError(
            f"all {below:,} clicked (query, document) pairs are below the thresholds",
            hint=f"lower --min-clicks or --min-users (in Python: min_clicks, min_users){note}",
        )
    if not stats["rows"]:
        return UserError("the log is empty", where=", ".join(stats.get("files", ())[:3]))
    what = f"the log has no valid click in {counted(stats['rows'], 'row')}"
    if not stats["rejected"]:
        others = "; ".join(
            [", ".join(stats.get("other_actions", ())) or "impressions only", *stats.get("assumed", ())]
        )
        return UserError(
            what,
            hint=f"name the actions that count with --actions (in Python: actions=…); the log has {others}",
        )
    reason, count = next(iter(stats["rejected"].items()))
    total = sum(stats["rejected"].values())
    were = "was" if total == 1 else "were"
    return UserError(
        f"{what}: {total:,} {were} rejected, most often because {reason} ({count:,})",
        where=locate_first_reject(reason),
        hint=_encoding_hint(stats, reason) or _remedy(reason),
    )


def _remedy(reason: str) -> str:
    """What to do if every row was rejected."""
    if reason == "query is missing":
        return "name its column (--columns query=NAME); if only searches have the query, give their file too"
    if reason == "doc is missing":
        return "name its column or path: --columns doc=NAME, or in the file of your own format"
    if reason.startswith("timestamp is not"):
        return "say how times are written, such as --time-format '%d.%m.%Y %H:%M', or name another column"
    return "look at the log with coclick check; --columns names the column of a field"


def _encoding_hint(stats: Mapping[str, Any], reason: str) -> str | None:
    """What to do if most rejected rows are not valid in the encoding of their file."""
    return (
        next(iter(stats.get("encoding_hints", {}).values()), None)
        if reason.startswith("not valid UTF")
        else None
    )


def only_bots_error(found: Mapping[str, Any]) -> UserError:
    """Return the error for a log without any user that is not a bot; `found` is the statistics of bots."""
    return UserError(
        f"all {counted(found['n_users'], 'user')} of the log look like bots, so nothing is left",
        hint=f"the first is {found['users'][0]}; keep them with --bots flag",
    )


def check_rejected(stats: Mapping[str, Any], limit: float, locate: Callable[[str], str | None]) -> None:
    """Raise if a larger share of the rows was rejected. `locate` finds an example of a reason."""
    lost, rows = sum(stats["rejected"].values()), stats["rows"]
    if not lost or lost <= limit * rows or lost == rows:  # a log without any valid row has its own error
        return
    reason, count = next(iter(stats["rejected"].items()))
    accepted = f"--max-rejected {min(1, lost / rows + 0.01):.0%}"
    remedy = _encoding_hint(stats, reason) or "look at the log with coclick check"
    raise UserError(
        f"{lost / rows:.0%} of the rows were rejected ({lost:,} of {rows:,}), "
        f"most often because {reason} ({count:,})",
        where=locate(reason),
        hint=f"{remedy}, or accept the loss: {accepted}",
    )


def no_overlap_error(
    log: Sequence[str], documents: Sequence[str], where: str | None = None, reason: str = ""
) -> UserError:
    """Return the error for a log that shares no document with DOCS, with the reason if it is known."""
    examples = [", ".join(map(repr, names)) for names in (log, documents)]
    return UserError(
        "the log and the documents have no document id in common",
        where=where,
        hint=f"write them alike: {reason}"
        if reason
        else f"compare the ids: the log has {examples[0]}; the documents have {examples[1]}",
    )
