"""Find the rules that a log supports."""

from __future__ import annotations

import numpy as np

from coclick.graph.click_graph import ClickGraph
from coclick.rules.applying import phrases_in
from coclick.rules.corrections import find_corrections
from coclick.rules.excludes import find_excludes
from coclick.rules.follow_ups import find_in_follow_ups
from coclick.rules.pins import find_pins
from coclick.rules.rewrites import find_rewrites
from coclick.rules.rule import KINDS, Rule
from coclick.rules.translations import find_translations
from coclick.rules.words import LogWords, is_spaced

CORRECTION_FACTOR = 5  # corrections need a fifth of the clicks, because the letters agree already

FOLLOW_UP_FACTOR = 2  # rules from follow-ups need half, because people typed both wordings


def mine(graph: ClickGraph, min_clicks: float, min_share: float) -> list[Rule]:
    """Return the rules of a graph, without their effect, by kind and clicks.

    Synonyms and rewrites need `min_clicks` clicks and a share whose interval begins at `min_share` or above.
    """
    found = find_pins(graph, min_clicks) + find_excludes(graph, min_clicks)
    if is_spaced(graph):
        found += _from_words(graph, min_clicks, min_share)
    unique = {rule.id: rule for rule in found}
    order = {kind: place for place, kind in enumerate(KINDS)}
    return sorted(unique.values(), key=lambda rule: (order[rule.kind], -rule.clicks, rule.left, rule.right))


def _from_words(graph: ClickGraph, min_clicks: float, min_share: float) -> list[Rule]:
    words = LogWords.from_graph(graph)
    if not len(words.clicks):
        return []
    corrections = find_corrections(words, min_clicks / CORRECTION_FACTOR)
    spellings = [(found.left, found.right) for found in corrections]
    rules = [found.rule for found in corrections]
    corrected = {rule.left for rule in rules}
    translations = find_translations(words, min_clicks, min_share, spellings)
    rules += [rule for rule in translations if rule.left not in corrected]
    known = {rule.left for rule in rules}  # clicks are the better evidence
    moves = find_in_follow_ups(graph, words, min_clicks / FOLLOW_UP_FACTOR)
    rules += [rule for rule in moves if rule.left not in known]
    covered = np.zeros(len(words.queries), np.bool_)
    lefts = {rule.left for rule in rules if rule.kind != "delete"}
    for row in np.flatnonzero(words.query_clicks >= min_clicks).tolist():
        covered[row] = any(True for _ in phrases_in(words.query_words(row), lefts))
    rewrites = find_rewrites(graph, words, min_clicks, covered)
    return rules + [rule for rule in rewrites if rule.interval[0] >= min_share]
