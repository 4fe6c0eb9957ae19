"""The fix that would help a failing query: a spelling, a synonym, a pin, or a document that is missing.

A better wording is a query that people typed next, or one that the model finds similar, and that is clicked
more often. In order of preference:

    spelling    a better wording differs by a typing error
    synonym     people searched on with a better wording: its words for those of the query
    pin         most clicks are on one document, or the better wording only adds words: its document
    synonym     a similar query is clicked
    missing     nothing was clicked under any wording: no document for this, or none that is found
    review      there are clicks, on several documents: compare rankings

Where corrections (`coclick.suggestions`) or mined rules (`coclick.rules`) know better, people decide on them
there: these fixes are proposals for a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from coclick.failing.reformulations import FollowUp, is_typo
from coclick.failing.search_counts import SearchCounts
from coclick.graph.click_graph import ClickGraph

_MIN_SIMILARITY = 0.75  # of a query that nobody typed next
_MIN_MOVES = 2  # searches that went on to a better wording
_MIN_SUCCESS = 0.3  # share of the searches of a better wording that have a click
_MIN_CLICKS = 2.0  # of a better wording
_PIN_SHARE, _PIN_CLICKS = 0.5, 3.0

Fix = dict[str, Any]


class Wording(NamedTuple):
    """Another query for the same, which is clicked more often, and how it was found."""

    row: int
    query: str
    evidence: str
    typed_next: bool


@dataclass(frozen=True)
class Fixes:
    """Proposes fixes for the queries of a graph."""

    graph: ClickGraph
    counts: SearchCounts

    def propose(
        self, query: int, next_queries: Sequence[FollowUp], similar: Sequence[tuple[str, float]]
    ) -> Fix:
        """Return the fix for a query: its kind, a sentence, and what it changes.

        Parameters: `query`, its row; `next_queries`, what people searched next; `similar` queries with
        similarities from 0 to 1.
        """
        text = self.graph.queries[query]
        wordings = list(self._wordings(query, next_queries, similar))
        if correct := next((one for one in wordings if self._corrects(query, one)), None):
            return _replace("spelling", text, correct)
        typed = next((one for one in wordings if one.typed_next), None)
        if typed:
            return self._reword(text, typed)
        if pin := self._pin(query):
            return pin
        if wordings:
            return self._reword(text, wordings[0])
        if self.graph.clicks.row(query)[1].sum() > 0:
            reason = "its clicks are on several documents: compare rankings with coclick evaluate"
            return {"kind": "review", "from": text, "to": "", "doc": "", "title": "", "reason": reason}
        reason = "nothing was clicked under this or a similar wording"
        return {"kind": "missing", "from": text, "to": "", "doc": "", "title": "", "reason": reason}

    def _wordings(
        self, query: int, next_queries: Sequence[FollowUp], similar: Sequence[tuple[str, float]]
    ) -> Iterator[Wording]:
        searches = int(self.counts.searches[query])
        for one in next_queries:
            if one.related and one.searches >= _MIN_MOVES and self._is_better(query, one.row):
                of = f"{one.searches:,} of {searches:,} searches went on to it"
                yield Wording(one.row, one.query, of + self._success(one.row), True)
        for other, similarity in similar:
            row = self.graph.queries.id(other)
            if similarity >= _MIN_SIMILARITY and self._is_better(query, row):
                yield Wording(row, other, f"similarity {similarity:.2f}{self._success(row)}", False)

    def _corrects(self, query: int, better: Wording) -> bool:
        """Whether a wording corrects a typing error, which is less frequent than what it stands for."""
        frequent = self.counts.searches[better.row] >= self.counts.searches[query]
        return bool(frequent) and is_typo(self.graph.queries[query], better.query)

    def _is_better(self, query: int, other: int) -> bool:
        clicks = float(self.graph.clicks.row(other)[1].sum())
        success = self.counts.success(other)
        return clicks >= _MIN_CLICKS and success >= _MIN_SUCCESS and success >= self.counts.success(query)

    def _success(self, query: int) -> str:
        if self.counts.unit != "searches":
            return ", and it is clicked"
        return f", and {self.counts.success(query):.0%} of its searches have a click"

    def _reword(self, text: str, better: Wording) -> Fix:
        """A synonym; if the better wording only adds words, a pin of its most clicked document."""
        if set(text.split()) < set(better.query.split()):
            doc = self._most_clicked(better.row)[0]
            reason = f"the document clicked most for “{better.query}”: {better.evidence}"
            return self._pinned(text, doc, reason)
        return _replace("synonym", text, better)

    def _pin(self, query: int) -> Fix | None:
        clicks = self.graph.clicks.row(query)[1]
        if not len(clicks):
            return None
        doc, most = self._most_clicked(query)
        if most < _PIN_CLICKS or most < _PIN_SHARE * float(clicks.sum()):
            return None
        reason = f"{most:g} of its {float(clicks.sum()):g} clicks are on this document"
        return self._pinned(self.graph.queries[query], doc, reason)

    def _most_clicked(self, query: int) -> tuple[int, float]:
        docs, clicks = self.graph.clicks.row(query)
        best = int(np.argmax(clicks))
        return int(docs[best]), float(clicks[best])

    def _pinned(self, text: str, doc: int, reason: str) -> Fix:
        name, title = self.graph.docs[doc], self.graph.title(doc)
        return {"kind": "pin", "from": text, "to": "", "doc": name, "title": title, "reason": reason}


def _replace(kind: str, text: str, better: Wording) -> Fix:
    """Replace the words that only the query has by those that only the better wording has."""
    own, other = text.split(), better.query.split()
    wrong = " ".join(word for word in own if word not in other)
    right = " ".join(word for word in other if word not in own)
    whole = not wrong or not right or kind == "spelling"
    return {
        "kind": kind,
        "from": text if whole else wrong,
        "to": better.query if whole else right,
        "doc": "",
        "title": "",
        "reason": f"“{better.query}”: {better.evidence}",
    }


def describe_fix(fix: Fix) -> str:
    """Return a fix as one sentence."""
    if fix["kind"] in ("spelling", "synonym"):
        return f"{fix['kind']}: {fix['from']} → {fix['to']}"
    if fix["kind"] == "pin":
        return f"pin {fix['doc']} for {fix['from']}" + (f" ({fix['title']})" if fix["title"] else "")
    return "missing document" if fix["kind"] == "missing" else "review the ranking"
