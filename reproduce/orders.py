"""Orders of systems from the papers' tables: parse, restrict to available systems, compare with measurements.

    {rmls, pls} > {svdfeature, rw+bm25} > bm25

`a > b`: the mean of a is higher. `a ≥ b`: it is not lower. `a ≈ b`: the difference is not significant, or
below 0.01. A relation between groups holds for every pair of members.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from coclick.evaluation.significance import sign_test, t_test

RELATIONS = ">≥≈"  # the strictest first
NEGLIGIBLE = 0.01  # differences below it count as equal
_ROUNDING = 1e-9

Values = NDArray[np.float64]  # one per query, or a single value


@dataclass(frozen=True)
class Order:
    """Groups of systems, best first, and the relation of each group to the next."""

    groups: tuple[tuple[str, ...], ...]
    relations: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Order:
        """Parse an order such as `"{a, b} > c ≈ d"`."""
        first, *rest = re.split(f"([{RELATIONS}])", text)
        order = cls(tuple(_group(part) for part in (first, *rest[1::2])), tuple(rest[::2]))
        if not order.relations or len({*order.names}) < len(order.names):
            raise ValueError(f"an order needs two or more distinct names: {text!r}")
        return order

    @property
    def names(self) -> list[str]:
        """All systems, in the expected order."""
        return [name for group in self.groups for name in group]

    def restricted_to(self, names: Collection[str]) -> Order:
        """Return the order restricted to some systems; a ≥ b > c implies a > c."""
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
        """Yield (name, relation, name) for all members of neighbouring groups."""
        for (left, right), relation in zip(pairwise(self.groups), self.relations, strict=True):
            yield from ((a, relation, b) for a in left for b in right)

    def __str__(self) -> str:
        texts = [group[0] if len(group) == 1 else "{" + ", ".join(group) + "}" for group in self.groups]
        return texts[0] + "".join(f" {r} {text}" for r, text in zip(self.relations, texts[1:], strict=True))


@dataclass(frozen=True)
class Verdict:
    """One expected relation and its measurement."""

    a: str
    relation: str
    b: str
    difference: float  # of the means, a − b
    p: float | None  # of the paper's test; None for single values
    level: float = 0.05

    @property
    def significant(self) -> bool:
        """Whether the difference is significant."""
        return self.p is not None and self.p < self.level

    @property
    def holds(self) -> bool:
        """Whether the relation is as expected."""
        if self.relation == ">":
            return self.difference > _ROUNDING
        if self.relation == "≥":
            return self.difference >= -_ROUNDING
        insignificant = self.p is not None and not self.significant
        return insignificant or abs(self.difference) < NEGLIGIBLE


def judge(order: Order, values: Mapping[str, Values], test: str = "t", level: float = 0.05) -> list[Verdict]:
    """Compare every expected relation with the values; all systems have the same queries.

    `test` is `t` or `sign`, the paired test of the paper, and p-values below `level` are significant.
    """
    verdicts = []
    for a, relation, b in order.pairs():
        differences = values[a] - values[b]
        p = _p_value(differences, test) if len(differences) > 1 else None
        verdicts.append(Verdict(a, relation, b, float(differences.mean()), p, level))
    return verdicts


def chance(order: Order) -> float:
    """Return the probability that systems in a random order satisfy all relations but `≈`.

    It is the share of permutations that are linear extensions of the relations, counted by sets of systems
    from the best down; `≥` counts as `>`, and `≈` always holds.
    """
    above: dict[str, set[str]] = {name: set() for name in order.names}
    for a, relation, b in order.pairs():
        if relation != "≈":
            above[b].add(a)
    extensions = {frozenset[str](): 1}
    for _ in order.names:
        larger: dict[frozenset[str], int] = {}
        for done, count in extensions.items():
            for name in order.names:
                if name not in done and above[name] <= done:
                    larger[done | {name}] = larger.get(done | {name}, 0) + count
        extensions = larger
    return sum(extensions.values()) / math.factorial(len(order.names))


def _p_value(differences: Values, test: str) -> float:
    if test == "t":
        return t_test(differences)
    won, lost = int((differences > _ROUNDING).sum()), int((differences < -_ROUNDING).sum())
    return sign_test(won, lost)


def _group(text: str) -> tuple[str, ...]:
    inside = text.strip()
    if inside.startswith("{") and inside.endswith("}"):
        inside = inside[1:-1]
    names = tuple(name.strip() for name in inside.split(","))
    if not all(re.fullmatch(r"[^\s{}]+", name) for name in names):
        raise ValueError(f"cannot parse the group {text.strip()!r}: write a name, or several in braces")
    return names
