"""Orders of systems as tables of papers have them: read, cut to what is at hand, held against measurements.

    {rmls, pls} > {svdfeature, rw+bm25} > bm25

`a > b`: the mean of a is higher. `a ≥ b`: it is not lower. `a ≈ b`: the difference is within chance, or below
0.01. Between groups the relation is that of every member of one to every member of the other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from coclick.evaluation.significance import t_test

RELATIONS = ">≥≈"  # the strictest first
LEVEL = 0.05  # p-values below it are beyond chance
NEARLY = 0.01  # differences below it are next to nothing
_ROUNDING = 1e-9

Values = NDArray[np.float64]  # one a query, or a single one where a table has nothing to average


@dataclass(frozen=True)
class Order:
    """Groups of systems, best first, and how each group relates to the next."""

    groups: tuple[tuple[str, ...], ...]
    relations: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Order:
        """Read an order such as `"{a, b} > c ≈ d"`."""
        first, *rest = re.split(f"([{RELATIONS}])", text)
        order = cls(tuple(_group(part) for part in (first, *rest[1::2])), tuple(rest[::2]))
        if not order.relations or len({*order.names}) < len(order.names):
            raise ValueError(f"an order is of two names or more, each of them once: {text!r}")
        return order

    @property
    def names(self) -> list[str]:
        """All systems, in the expected order."""
        return [name for group in self.groups for name in group]

    def only(self, names: Collection[str]) -> Order:
        """What the order says about some of the systems; from a ≥ b > c follows a > c."""
        groups: list[tuple[str, ...]] = []
        relations: list[str] = []
        since_last = ""
        for i, group in enumerate(self.groups):
            since_last += self.relations[i - 1] if i else ""
            if kept := tuple(name for name in group if name in names):
                if groups:
                    relations.append(min(since_last, key=RELATIONS.index))
                groups.append(kept)
                since_last = ""
        return Order(tuple(groups), tuple(relations))

    def pairs(self) -> Iterator[tuple[str, str, str]]:
        """(name, relation, name) for all members of neighbouring groups."""
        for (left, right), relation in zip(pairwise(self.groups), self.relations, strict=True):
            yield from ((a, relation, b) for a in left for b in right)

    def __str__(self) -> str:
        texts = [group[0] if len(group) == 1 else "{" + ", ".join(group) + "}" for group in self.groups]
        return texts[0] + "".join(f" {r} {text}" for r, text in zip(self.relations, texts[1:], strict=True))


@dataclass(frozen=True)
class Verdict:
    """One expected relation, and what was measured of it."""

    a: str
    relation: str
    b: str
    difference: float  # of the means, a − b
    p: float | None  # of the paired t-test; None where there is a single value

    @property
    def beyond_chance(self) -> bool:
        """Would the difference be surprising if both were equally good?"""
        return self.p is not None and self.p < LEVEL

    @property
    def holds(self) -> bool:
        """Is it as expected?"""
        if self.relation == ">":
            return self.difference > _ROUNDING
        if self.relation == "≥":
            return self.difference >= -_ROUNDING
        within_chance = self.p is not None and not self.beyond_chance
        return within_chance or abs(self.difference) < NEARLY


def judge(order: Order, values: Mapping[str, Values]) -> list[Verdict]:
    """Every expected relation with what was measured; all systems have values for the same queries."""
    verdicts = []
    for a, relation, b in order.pairs():
        differences = values[a] - values[b]
        p = t_test(differences) if len(differences) > 1 else None
        verdicts.append(Verdict(a, relation, b, float(differences.mean()), p))
    return verdicts


def _group(text: str) -> tuple[str, ...]:
    inside = text.strip()
    if inside.startswith("{") and inside.endswith("}"):
        inside = inside[1:-1]
    names = tuple(name.strip() for name in inside.split(","))
    if not all(re.fullmatch(r"[^\s{}]+", name) for name in names):
        raise ValueError(f"cannot read the group {text.strip()!r}: write a name, or several in braces")
    return names
