"""Synonyms from clicks: words of queries that stand for other words of clicked titles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from coclick.rules.growing import Link
from coclick.rules.linking import find_links
from coclick.rules.rule import Rule, wilson_interval, with_evidence
from coclick.rules.spelling import is_other_number, is_respelling
from coclick.rules.unmatched import unmatched_words
from coclick.rules.words import Ints, LogWords, Phrase

_MIN_QUERIES = 2.5  # effective number of queries behind a synonym,
_MIN_ALONE = 0.5  # or share of its clicks for queries without another unexplained word
_MAX_EXPLAINED = 0.5  # of a phrase's clicks by longer phrases

Spelling = tuple[Phrase, Phrase]  # wrong, right


def find_translations(
    words: LogWords, min_clicks: float, min_share: float, known: Iterable[Spelling] = ()
) -> list[Rule]:
    """Return synonyms, corrections and rewrites that clicks on titles teach.

    What `known` corrections explain is not explained again.
    """
    left, right = unmatched_words(words)
    for wrong, spelt in known:
        pairs = words.pairs_of_queries(words.queries.rows_with(wrong))
        left.explain(wrong, pairs)
        right.explain(spelt, pairs)
    n_content = np.bincount(left.pairs[words.is_content[left.stems]], minlength=len(words.clicks))
    rules: list[Rule] = []
    longer: dict[int, list[Phrase]] = defaultdict(list)  # linked phrases of several words, by word
    for link in find_links(words, left, right, min_clicks):
        rule = _rule(words, link, n_content, longer, min_clicks, min_share)
        for stem in link.left if len(link.left) > 1 else ():
            longer[stem].append(link.left)
        if rule is not None:
            rules.append(rule)
    return rules


def _rule(
    words: LogWords,
    link: Link,
    n_content: Ints,
    longer: Mapping[int, list[Phrase]],
    min_clicks: float,
    min_share: float,
) -> Rule | None:
    """Return a link as a rule: of the clicks of queries with `left`, the share on titles with `right`.

    `n_content` has the number of content words of each clicked pair's query that its title lacks.
    """
    rows = words.queries.rows_with(link.left)
    rows = rows[~words.queries.have(rows, link.right)]
    asked = words.pairs_of_queries(rows)
    reached = asked[words.titles.have(words.doc_of[asked], link.right)]
    successes, clicks = words.clicks[reached].sum(), words.clicks[asked].sum()
    if clicks < min_clicks or wilson_interval(successes, clicks)[0] < min_share:
        return None
    if not words.has_content(link.left) or not words.has_content(link.right):
        return None
    left = words.display(words.queries, words.query_clicks, link.left)
    right = words.display(words.titles, words.doc_clicks, link.right)
    if is_other_number(left, right) or _is_leftover(words, link, asked, longer):
        return None
    if is_respelling(left, right):
        return with_evidence("correction", left, right, successes, clicks)
    queries, place = np.unique(words.query_of[reached], return_inverse=True)
    supporting = np.bincount(place, words.clicks[reached], len(queries))
    effective = supporting.sum() ** 2 / max((supporting**2).sum(), 1e-300)
    alone = n_content[reached] <= words.is_content[list(set(link.left))].sum()
    # Alone, no other word could be the reason.
    share_alone = words.clicks[reached[alone]].sum() / max(successes, 1e-300)
    if len(queries) > 1 and (share_alone >= _MIN_ALONE or effective >= _MIN_QUERIES):
        return with_evidence("synonym", left, right, successes, clicks)
    if len(queries) and len(words.queries.text(int(queries[supporting.argmax()]))) == len(link.left):
        return with_evidence("rewrite", left, right, successes, clicks)
    return None


def _is_leftover(words: LogWords, link: Link, asked: Ints, longer: Mapping[int, list[Phrase]]) -> bool:
    """Whether links of longer phrases explain most of the phrase: "high" after "high blood pressure"."""
    explained = np.zeros(len(asked), np.bool_)
    for phrase in longer.get(link.left[0], ()):
        if set(link.left) < set(phrase):
            explained |= words.queries.have(words.query_of[asked], phrase)
    return bool(words.clicks[asked[explained]].sum() > _MAX_EXPLAINED * words.clicks[asked].sum())
