"""`Rule`: something to tell a search engine about queries, with the clicks that support it."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

KINDS = ("synonym", "correction", "rewrite", "delete", "pin", "exclude")
CLICKS, FOLLOW_UPS = "clicks", "follow-ups"  # where the evidence of a rule is from
_Z = 1.96  # of a 95 % interval


class Effect(NamedTuple):
    """What a rule changes on held-out clicks: mean nDCG@10 of BM25 over the queries that it applies to."""

    before: float
    after: float
    queries: int

    @property
    def change(self) -> float:
        """The gain in nDCG@10; negative where the rule does harm."""
        return self.after - self.before


@dataclass(frozen=True)
class Rule:
    """A rule and its evidence.

    - `synonym`: a query with `left` also searches for `right`.
    - `correction`: a query with `left` searches for `right` instead.
    - `rewrite`: a query that is `left`, and has no other words, also searches for `right`.
    - `delete`: a query with `left` and other words searches for these only; `right` is empty.
    - `pin`: a query that is `left` has the document `right` first.
    - `exclude`: a query that is `left` does not have the document `right`.
    """

    kind: str
    left: str
    right: str
    clicks: float  # of the queries that the rule applies to; of follow-ups, the searches that went on
    share: float  # of these that support the rule: clicks on documents that `right` leads to, or moves to it
    interval: tuple[float, float]  # Wilson's, of the share, at 95 %
    title: str = ""  # of the document
    effect: Effect | None = None  # None: not measured
    evidence: str = CLICKS

    @cached_property
    def id(self) -> str:
        """A digest of the rule's text: the same rule has the same id in every run."""
        text = "\t".join((self.kind, self.left, self.right))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as plain values."""
        effect = None if self.effect is None else {**self.effect._asdict(), "change": self.effect.change}
        return {
            "id": self.id,
            "kind": self.kind,
            "left": self.left,
            "right": self.right,
            "title": self.title,
            "evidence": self.evidence,
            "clicks": self.clicks,
            "share": self.share,
            "interval": list(self.interval),
            "effect": effect,
        }


def with_evidence(
    kind: str,
    left: str,
    right: str,
    successes: float,
    clicks: float,
    title: str = "",
    evidence: str = CLICKS,
) -> Rule:
    """Return a rule that `successes` of `clicks` support."""
    successes, clicks = float(successes), float(clicks)  # plain numbers also where sums of arrays are given
    interval = wilson_interval(successes, clicks)
    share = successes / clicks if clicks else 0.0
    return Rule(kind, left, right, clicks, share, interval, title, evidence=evidence)


def wilson_interval(successes: float, trials: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a proportion; (0, 1) without trials."""
    if trials <= 0:
        return 0.0, 1.0
    rate, spread = successes / trials, _Z * _Z / trials
    middle = rate + spread / 2
    half = _Z * math.sqrt(max(rate * (1 - rate) / trials + spread / (4 * trials), 0.0))
    return max((middle - half) / (1 + spread), 0.0), min((middle + half) / (1 + spread), 1.0)
