"""What the formats share: rules grouped by their left side, and what a format cannot express."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from coclick.rules.rule import Rule

T = TypeVar("T")


@dataclass
class Rendered:
    """The texts to write, one per file, and the rules that are not in them, by reason."""

    parts: list[str]
    written: int
    left_out: Counter[str] = field(default_factory=Counter)


def group_by_left(rules: Iterable[Rule]) -> dict[str, list[Rule]]:
    """Return the rules of each left side, in their order."""
    groups: dict[str, list[Rule]] = {}
    for rule in rules:
        groups.setdefault(rule.left, []).append(rule)
    return groups


def right_sides(left: str, rules: Iterable[Rule]) -> list[str]:
    """Return what an engine should search for instead of `left`: itself too, unless it is only corrected."""
    rules = list(rules)
    rights = list(dict.fromkeys(rule.right for rule in rules))
    return rights if all(rule.kind == "correction" for rule in rules) else [left, *rights]


def keep_kinds(rules: Iterable[Rule], kinds: Sequence[str], left_out: Counter[str]) -> list[Rule]:
    """Return the rules of some kinds, and count the others."""
    kept = []
    for rule in rules:
        if rule.kind in kinds:
            kept.append(rule)
        else:
            left_out[f"{rule.kind}: this format has none"] += 1
    return kept


def split(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """Split into parts of at most `size`; one empty part if there is nothing."""
    return [items[first : first + size] for first in range(0, len(items), size)] or [[]]
