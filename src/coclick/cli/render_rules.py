"""Print rules and what became of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coclick.cli.terminal import console, print_table
from coclick.errors import counted
from coclick.rules.rule import KINDS, Rule

_SHOWN = 5  # rules of each kind


def rules(found: Sequence[Rule], stats: Mapping[str, Any]) -> None:
    """Print the first rules of each kind, and the statistics."""
    rows = []
    for kind in KINDS:
        rows += [_row(rule) for rule in found if rule.kind == kind][:_SHOWN]
    if rows:
        columns = ["", "left", "right", "evidence", "share", "interval", "nDCG@10", "queries"]
        print_table("", columns, rows)
    total = sum(stats["found"].values())
    kinds = ", ".join(counted(number, kind) for kind, number in stats["found"].items() if number)
    out = console()
    out.print(f"found {counted(total, 'rule')}" + (f": {kinds}" if kinds else ""), soft_wrap=True)
    if "decisions" in stats:
        decisions = ", ".join(f"{number:,} {name}" for name, number in stats["decisions"].items())
        out.print(f"review: {decisions}", soft_wrap=True)
    elif stats["unhelpful"]:
        out.print(f"left out, no help on held-out clicks: {stats['unhelpful']:,}", soft_wrap=True)
    for reason, number in stats["left_out"].items():
        out.print(f"left out, {reason}: {number:,}", markup=False, soft_wrap=True)
    files = ", ".join(stats["files"])
    out.print(f"wrote {counted(stats['written'], 'rule')} to {files}", markup=False, soft_wrap=True)


def _row(rule: Rule) -> list[Any]:
    right = f"{rule.right} {rule.title}".strip()
    effect = rule.effect
    return [
        rule.kind,
        rule.left,
        right,
        f"{rule.clicks:g} {rule.evidence}",
        f"{rule.share:.2f}",
        f"{rule.interval[0]:.2f} to {rule.interval[1]:.2f}",
        "" if effect is None else f"{effect.before:.2f} → {effect.after:.2f}",
        "" if effect is None else str(effect.queries),
    ]
