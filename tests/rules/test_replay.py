"""The effect of rules on held-out clicks, worked out by hand."""

import pytest

from coclick import ClickGraph, find_rules
from coclick.rules import replay
from coclick.rules.rule import Effect, Rule
from rules import shop


def test_effects_by_hand(monkeypatch):
    """Of the held-out queries, the first finds nothing without the rule, the others are as before."""
    graph = ClickGraph.from_clicks(
        [("cod now", "a", 4), ("cod", "b", 1), ("other", "c", 9)],
        {"a": "call of duty now", "b": "call of duty", "c": "call"},
        language="en",
    )
    train = graph.split("pairs", 0.5).train
    held_out = graph.clicks
    monkeypatch.setattr(replay, "split_clicks", lambda *_: (train, held_out, "queries:0.2"))
    rules = [
        Rule("synonym", "cod", "call of duty", 5, 1, (0.5, 1)),
        Rule("rewrite", "cod now", "duty", 4, 1, (0.5, 1)),
        Rule("pin", "other", "c", 9, 1, (0.7, 1)),
        Rule("pin", "cod", "c", 9, 1, (0.7, 1)),
        Rule("correction", "unheard", "of", 9, 1, (0.7, 1)),
        Rule("synonym", "cod", "later", 9, 1, (0.7, 1)),
    ]
    monkeypatch.setattr(replay, "mine", lambda *_: rules[:5])
    synonym, rewrite, pin, wrong_pin, absent, later = replay.measure_effects(graph, rules, 10, 0.5)
    # "cod now" finds a by "now", first: 1. "cod" finds nothing: 0. With "call of duty", "cod now" still has a
    # first, and "cod" has b first, the shorter of two titles with all three words.
    assert synonym.effect == Effect(0.5, 1.0, 2)
    assert rewrite.effect == Effect(1.0, 1.0, 1)
    assert pin.effect == Effect(0.0, 1.0, 1)
    assert wrong_pin.effect == Effect(0.0, 0.0, 1)  # c is first, b is not found
    assert absent.effect is None  # no held-out query has the word
    assert later.effect is None  # the earlier part of the log did not have it
    assert Effect(0.5, 1.0, 2).change == 0.5


def test_corrections_replace_whole_words():
    from coclick.rules.applying import apply, phrases_in

    rule = Rule("correction", "ops", "black ops", 5, 1, (0.5, 1))
    assert apply(rule, ["ops", "cops", "ops"]) == "black ops cops black ops"
    assert apply(Rule("synonym", "a", "b c", 5, 1, (0.5, 1)), ["x", "a"]) == "x a b c"
    delete = Rule("delete", "a b", "", 5, 1, (0.5, 1))
    assert apply(delete, ["x", "a", "b", "ab"]) == "x ab" and apply(delete, ["a", "b"]) == "a b"
    assert sorted(phrases_in(["a", "b", "a", "b"], {"a b", "b a b", "b", "a a"})) == ["a b", "b", "b a b"]


def test_logs_that_cannot_be_split_have_no_effects():
    graph = ClickGraph.from_clicks([("skyrim", "sky", 50)], {"sky": "Skyrim"})
    [pin] = find_rules(graph)
    assert (pin.kind, pin.effect) == ("pin", None)


@pytest.mark.parametrize("holdout", ["queries:0.4", None])
def test_the_shop(holdout):
    effects = [rule.effect for rule in find_rules(shop.graph(), holdout=holdout) if rule.effect]
    assert effects
    for effect in effects:
        assert 0 <= effect.before <= 1 and 0 <= effect.after <= 1 and effect.queries > 0
