"""The fix that would help a failing query: a rule that its log supports, or a document that is missing.

The rules are those of `coclick rules` and the corrections those of `coclick suggest`, with their evidence. In
order of preference:

    spelling    a mined correction of a word, or the correction of a search box
    synonym     a mined synonym of a word, or a rewrite of the whole query
    delete      a word that people leave out themselves
    pin         nearly all clicks are on one document
    missing     nothing was clicked under this or a similar wording: no document, or none that is found
    review      there are clicks, but no rule: compare rankings
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from coclick.errors import UserError
from coclick.failing.reformulations import FollowUp
from coclick.failing.search_counts import SearchCounts
from coclick.graph.click_graph import ClickGraph
from coclick.progress import Progress, quiet
from coclick.rules import find_rules
from coclick.rules.applying import phrases_in
from coclick.rules.rule import FOLLOW_UPS, Rule
from coclick.suggestions.suggestions import Suggestions
from coclick.text.query import Query

RULES_COMMAND = "coclick rules GRAPH --to FORMAT -o FILE --review review.tsv"
SUGGESTIONS_COMMAND = "coclick suggest build GRAPH -o DIR"
_WHOLE = ("rewrite", "pin")  # kinds of rules for a whole query
_FIX_OF = {
    "correction": "spelling",
    "synonym": "synonym",
    "rewrite": "synonym",
    "delete": "delete",
    "pin": "pin",
}
_MIN_SIMILARITY = 0.75  # of a query that shows that there are documents
_MIN_SUCCESS = 0.3  # share of its searches that have a click

Fix = dict[str, Any]


class Fixes:
    """Proposes fixes for the queries of a graph."""

    def __init__(self, graph: ClickGraph, counts: SearchCounts, progress: Progress = quiet) -> None:
        self.graph, self.counts = graph, counts
        self._inside: dict[str, list[Rule]] = defaultdict(list)
        self._whole: dict[str, list[Rule]] = defaultdict(list)
        for rule in find_rules(graph, replay=False, progress=progress):
            if rule.kind in _FIX_OF:
                (self._whole if rule.kind in _WHOLE else self._inside)[rule.left].append(rule)
        self._suggestions: Suggestions | None = None
        with suppress(UserError):  # no query may be suggested
            self._suggestions = Suggestions.build(graph, progress=progress)

    def propose(
        self, query: int, next_queries: Sequence[FollowUp], similar: Sequence[tuple[str, float]]
    ) -> Fix:
        """Return the fix for a query: its kind, a sentence, what it changes, and the command that ships it.

        Parameters: `query`, its row; `next_queries`, what people searched next; `similar` queries with
        similarities from 0 to 1.
        """
        text = self.graph.queries[query]
        rules = self._rules(text)
        spelling = next((rule for rule in rules if rule.kind == "correction"), None)
        if spelling is None and self._suggestions and (correction := self._suggestions.correct(text)):
            reason = f"did-you-mean corrects it with a confidence of {correction.confidence:.2f}"
            return _fix("spelling", text, correction.query, reason=reason, command=SUGGESTIONS_COMMAND)
        if rules:
            return _from_rule(rules[0])
        if self.graph.clicks.row(query)[1].sum() > 0:
            reason = "it has clicks, but they support no rule: compare rankings with coclick evaluate"
            return _fix("review", text, reason=reason)
        if other := next(self._better(next_queries, similar), None):
            reason = f"“{other}” is clicked, but too few people say so for a rule"
            return _fix("review", text, reason=reason)
        return _fix("missing", text, reason="nothing was clicked under this or a similar wording")

    def _rules(self, text: str) -> list[Rule]:
        """The rules that apply to a query, in the order of preference, those with more evidence first."""
        words = Query(text, -1).tokens
        plain = " ".join(words)
        found = [rule for phrase in phrases_in(words, self._inside.keys()) for rule in self._inside[phrase]]
        found = [rule for rule in found if rule.kind != "delete" or rule.left != plain]
        found += [rule for whole in dict.fromkeys((text, plain)) for rule in self._whole.get(whole, ())]
        order = list(_FIX_OF.values())
        return sorted(found, key=lambda rule: (order.index(_FIX_OF[rule.kind]), -rule.share * rule.clicks))

    def _better(
        self, next_queries: Sequence[FollowUp], similar: Sequence[tuple[str, float]]
    ) -> Iterator[str]:
        """Other wordings that are clicked."""
        others = [one.query for one in next_queries if one.related]
        others += [other for other, similarity in similar if similarity >= _MIN_SIMILARITY]
        for other in others:
            row = self.graph.queries.id(other)
            if len(self.graph.clicks.row(row)[0]) and self.counts.success(row) >= _MIN_SUCCESS:
                yield other


def _from_rule(rule: Rule) -> Fix:
    is_pin = rule.kind == "pin"
    return _fix(
        _FIX_OF[rule.kind],
        rule.left,
        "" if is_pin else rule.right,
        doc=rule.right if is_pin else "",
        title=rule.title,
        reason=_evidence(rule),
        rule=rule.id,
        command=RULES_COMMAND,
    )


def _evidence(rule: Rule) -> str:
    """Return the evidence of a rule as a sentence."""
    what = "searches that went on" if rule.evidence == FOLLOW_UPS else "clicks"
    low, high = rule.interval
    return f"{rule.share:.0%} of {rule.clicks:g} {what} support it (95 % interval {low:.0%} to {high:.0%})"


def _fix(kind: str, query: str, to: str = "", **others: str) -> Fix:
    """A fix as plain values; `rule` is the id of the rule, which the review file has too."""
    fix: Fix = {"kind": kind, "from": query, "to": to, "doc": "", "title": "", "reason": "", "rule": ""}
    fix |= {"command": "", **others}
    return fix | {"sentence": describe_fix(fix)}


def describe_fix(fix: Fix) -> str:
    """Return a fix as one sentence."""
    if fix["kind"] in ("spelling", "synonym"):
        return f"{fix['kind']}: {fix['from']} → {fix['to']}"
    if fix["kind"] == "delete":
        return f"leave out: {fix['from']}"
    if fix["kind"] == "pin":
        return f"pin {fix['doc']} for {fix['from']}" + (f" ({fix['title']})" if fix["title"] else "")
    return "missing document" if fix["kind"] == "missing" else "review the ranking"
