"""Rules of a simulated log against what the simulator means, and of a real log against common knowledge."""

from collections import Counter

import pytest

import coclick
from benchmarks import rules as benchmark
from coclick.rules.rule import Rule


@pytest.mark.slow
def test_most_rules_of_a_simulated_log_are_right():
    verdicts = benchmark.judge_sample(seed=0)
    right, part, wrong = (verdicts["correction", "clicks", verdict] for verdict in benchmark.VERDICTS)
    assert right >= 50 and right >= 0.95 * (right + part + wrong)
    right, part, wrong = (verdicts["synonym", "clicks", verdict] for verdict in benchmark.VERDICTS)
    assert right >= 30 and right >= 0.5 * (right + part + wrong)
    assert right + part >= 0.85 * (right + part + wrong)
    of_follow_ups = Counter(verdict for _, evidence, verdict in verdicts.elements() if evidence != "clicks")
    assert of_follow_ups["right"] >= 5 and of_follow_ups["wrong"] <= 0.1 * of_follow_ups.total()


@pytest.mark.slow
def test_verdicts():
    truth = benchmark.Truth(benchmark.World.make(300, 300, 0))

    def judge(kind, left, right):
        return truth.judge(Rule(kind, left, right, 9, 1, (0.7, 1)))

    assert judge("synonym", "hotels", "accommodation") == "right"  # one line of the simulator's words
    assert judge("synonym", "cheap hotels", "low price hotels") == "wrong"  # no phrase of one thing
    assert judge("synonym", "stay", "accommodation") == "in part"  # of "places to stay"
    assert judge("synonym", "hotels", "restaurants") == "wrong"
    typed, meant = next((t, m) for t, m in truth.mistyped if len(t.split()) == len(m.split()) == 2)
    wrong, right = next((t, m) for t, m in zip(typed.split(), meant.split(), strict=True) if t != m)
    assert judge("correction", wrong, right) == "right"
    assert judge("correction", wrong, "banana") == "wrong"
    one, two = (truth.intents.get(text) for text in (typed, meant))
    assert (judge("rewrite", typed, meant) == "right") == (one == two)
    assert judge("delete", "hotels", "") == "wrong"


def test_rules_of_a_real_log(data, tmp_path):
    log, docs = data / "bestbuy" / "clicks.csv.gz", data / "bestbuy" / "products.tsv.gz"
    found = coclick.find_rules(coclick.build([log], docs, tmp_path / "graph"), replay=False)
    rules = {(rule.left, rule.right) for rule in found}
    assert rules >= {
        ("mw3", "modern warfare 3"),
        ("cod", "call of duty"),
        ("gta", "grand theft auto"),
        ("mlb", "major league baseball"),
        ("warefare", "warfare"),
        ("battle field", "battlefield"),
        ("blackops", "black ops"),
    }
    assert not {left for left, _ in rules} & {"xbox", "360", "games", "xbox 360"}
