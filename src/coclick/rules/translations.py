"""Synonyms from clicks: words of queries that stand for other words of clicked titles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from coclick.rules.growing import Link
from coclick.rules.linking import find_links
from coclick.rules.rule import Rule, with_evidence
from coclick.rules.spelling import is_other_number, is_respelling
from coclick.rules.unmatched import Unmatched, unmatched_words
from coclick.rules.words import Bools, LogWords, Phrase

_MIN_QUERIES = 2.5  # effective number of queries behind a synonym,
_MIN_ALONE = 0.5  # or share of its clicks for queries without another unexplained word
_MAX_EXPLAINED = 0.5  # of a phrase's clicks by longer phrases

Spelling = tuple[Phrase, Phrase]  # wrong, right


def find_translations(words: LogWords, min_clicks: float, known: Iterable[Spelling] = ()) -> list[Rule]:
    """Return synonyms, corrections and rewrites that clicks on titles teach; the caller checks shares.

    What `known` corrections explain is not explained again.
    """
    left, right = unmatched_words(words)
    for wrong, spelt in known:
        pairs = words.queries.contain(wrong)[words.query_of]
        left.explain(wrong, pairs)
        right.explain(spelt, pairs)
    rules: list[Rule] = []
    longer: dict[int, list[Phrase]] = defaultdict(list)  # linked phrases of several words, by word
    for link in find_links(words, left, right, min_clicks):
        rule = _rule(words, link, left, longer)
        for stem in link.left if len(link.left) > 1 else ():
            longer[stem].append(link.left)
        if rule is not None and rule.clicks >= min_clicks:
            rules.append(rule)
    return rules


def _rule(
    words: LogWords, link: Link, unmatched: Unmatched, longer: Mapping[int, list[Phrase]]
) -> Rule | None:
    """Return a link as a rule: of the clicks of queries with `left`, the share on titles with `right`."""
    has_left = words.queries.contain(link.left) & ~words.queries.contain(link.right)
    asked = has_left[words.query_of]
    reached = asked & words.titles.contain(link.right)[words.doc_of]
    left = words.display(words.queries, words.query_clicks, link.left)
    right = words.display(words.titles, words.doc_clicks, link.right)
    if not words.has_content(link.left) or not words.has_content(link.right) or is_other_number(left, right):
        return None
    if _is_leftover(words, link, asked, longer):
        return None
    successes, clicks = words.clicks[reached].sum(), words.clicks[asked].sum()
    if is_respelling(left, right):
        return with_evidence("correction", left, right, successes, clicks)
    supporting = np.bincount(words.query_of[reached], words.clicks[reached], len(words.queries))
    queries = np.flatnonzero(supporting)
    effective = supporting.sum() ** 2 / max((supporting**2).sum(), 1e-300)
    content = unmatched.pairs[words.is_content[unmatched.stems]]
    alone = np.bincount(content, minlength=len(asked)) <= words.is_content[list(set(link.left))].sum()
    # Alone, no other word could be the reason.
    share_alone = words.clicks[reached & alone].sum() / max(successes, 1e-300)
    if len(queries) > 1 and (share_alone >= _MIN_ALONE or effective >= _MIN_QUERIES):
        return with_evidence("synonym", left, right, successes, clicks)
    if len(queries) and len(words.queries.text(int(supporting.argmax()))) == len(link.left):
        return with_evidence("rewrite", left, right, successes, clicks)
    return None


def _is_leftover(words: LogWords, link: Link, asked: Bools, longer: Mapping[int, list[Phrase]]) -> bool:
    """Whether links of longer phrases explain most of the phrase: "high" after "high blood pressure"."""
    explained = np.zeros(len(asked), np.bool_)
    for phrase in longer.get(link.left[0], ()):
        if set(link.left) < set(phrase):
            explained |= words.queries.contain(phrase)[words.query_of]
    return bool(words.clicks[asked & explained].sum() > _MAX_EXPLAINED * words.clicks[asked].sum())
