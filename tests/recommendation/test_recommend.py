"""The recommendation: results by hand, and which model is chosen, why, and at which price."""

import numpy as np
import pytest
import scipy.stats

from coclick.evaluation.protocol import ModelResult
from coclick.evaluation.significance import t_test
from coclick.recommendation.entries import Entry, p_value
from coclick.recommendation.properties import Properties
from coclick.recommendation.recommend import recommend

NOISE = np.tile([0.05, -0.05, 0.02, -0.02], 10)  # mean 0


def result(name, values, seconds=1.0):
    return ModelResult(name, {}, {str(i): {"nDCG@10": value} for i, value in enumerate(values)}, seconds)


def entry(name, quality, second=None, *, ms=0.1, seconds=1.0, targets=("serve",), noise=NOISE):
    results = {"time": result(name, quality + noise, seconds)}
    if second is not None:
        results["queries"] = result(name, second + NOISE, seconds)
    return Entry(results, {"time": 1.0}, Properties(ms, targets, takes_new_documents=True, explains=True))


def chosen(*entries, splits=("time",), target=None):
    ordered = sorted(entries, key=lambda one: -one.quality)
    return recommend(ordered, splits, target)


def test_the_best_is_recommended():
    found = chosen(entry("bm25", 0.5), entry("vpcg", 0.6))
    assert found.model == "vpcg"
    assert found.reason == "it ranks best (nDCG@10 0.600)"


def test_a_model_that_backs_off_wins_ties_but_never_over_a_significantly_better_one():
    """With opposite noise the standard error is .012: .004 is within it, .02 is not. Without noise, none."""
    tied = chosen(entry("vpcg", 0.604), entry("backoff(a + b)", 0.6, noise=-NOISE))
    assert tied.model == "backoff(a + b)"
    assert "not significantly worse than the best" in tied.reason
    assert "falls back on other signals" in tied.reason
    assert chosen(entry("vpcg", 0.604), entry("backoff(a + b)", 0.6)).model == "vpcg"
    far = chosen(entry("vpcg", 0.62), entry("backoff(a + b)", 0.6, noise=-NOISE))
    assert far.model == "vpcg", "not significant, but too much to give away"


def test_the_other_split_decides_between_models_that_are_as_good():
    """By time both are equal; by queries one fails."""
    found = chosen(
        entry("clicks", 0.602, 0.1), entry("vpcg", 0.6, 0.5, noise=-NOISE), splits=("time", "queries")
    )
    assert found.model == "vpcg"
    assert found.reason.endswith("0.500 by queries")
    alone = chosen(entry("clicks", 0.602), splits=("time", "queries"))
    assert alone.reason.endswith("not judged by queries: there was no time")


def test_a_much_faster_model_of_the_same_quality_is_preferred():
    fast, slow = entry("neighbours", 0.599, ms=0.4), entry("ltr", 0.6, ms=8.0, noise=-NOISE)
    found = chosen(fast, slow)
    assert found.model == "neighbours"
    assert "answers 20 times as fast" in found.reason
    assert chosen(fast, slow._replace(properties=Properties(0.9, ("serve",), True, True))).model == "ltr"
    assert chosen(entry("neighbours", 0.597, ms=0.4), slow).model == "ltr", "it is .003 better"


def test_only_models_that_can_be_used_at_the_target():
    models = (entry("ltr", 0.7), entry("vpcg", 0.6, targets=("serve", "opensearch")))
    found = chosen(*models, target="opensearch")
    assert found.model == "vpcg"
    assert "ltr ranks 0.100 better, but cannot be used with opensearch" in found.reason
    assert chosen(*models, target="solr") is None


def test_prices_begin_with_bm25_and_skip_what_gains_nothing():
    found = chosen(
        entry("bm25", 0.5, ms=0.1, seconds=1),
        entry("vsm", 0.501, ms=0.1, seconds=1),
        entry("neighbours", 0.55, ms=1.1, seconds=2),
        entry("wmd", 0.52, ms=3.0, seconds=9),
        entry("ltr", 0.6, ms=6.1, seconds=42),
    )
    assert found.base == "bm25"
    assert [(step.model, round(step.gain, 6)) for step in found.steps] == [
        ("neighbours", 0.05),
        ("ltr", 0.05),
    ]
    assert found.prices == (
        "from bm25: neighbours +0.050 for 1.0 s of training and 1 ms a query; "
        "then ltr +0.050 for 40 s of training and 5 ms a query"
    )
    assert chosen(entry("bm25", 0.5)).prices == ""


@pytest.mark.parametrize("seed", range(20))
def test_never_significantly_worse_than_the_best_single_model(seed):
    """Random qualities, costs and noise: the rule itself, checked with the paired test."""
    random = np.random.default_rng(seed)
    entries = [
        entry(name, random.uniform(0.5, 0.52), random.uniform(0.4, 0.42), ms=random.uniform(0.05, 9),
              noise=random.normal(0, 0.05, 40))
        for name in ("bm25", "vpcg", "wtm", "backoff(a + b)", "ltr")
    ]  # fmt: skip
    name = chosen(*entries, splits=("time", "queries")).model
    ours = next(one for one in entries if one.name == name)
    best = max(entries[:3], key=lambda one: one.quality)
    worse = best.results["time"].values() - ours.results["time"].values()
    assert worse.mean() <= 0 or t_test(worse) >= 0.05


def test_a_model_that_fails_on_unseen_queries_is_not_worth_a_little_more_by_time():
    """By time the difference of .009 is not significant; by queries the other one is .1 ahead."""
    models = (entry("backoff(a + b)", 0.609, 0.52), entry("ltr", 0.6, 0.62, noise=-NOISE))
    found = chosen(*models, splits=("time", "queries"))
    assert found.model == "ltr"
    assert "and it is better by queries" in found.reason
    clear = (models[0], entry("ltr", 0.6, 0.62))
    assert chosen(*clear, splits=("time", "queries")).model == "backoff(a + b)", "time decides"


def weighted(name, by_time, by_documents, noise=NOISE):
    results = {"time": result(name, by_time + noise), "documents": result(name, by_documents + noise[:20])}
    weights = {"time": 0.25, "documents": 0.75}
    return Entry(results, weights, Properties(0.1, ("serve",), takes_new_documents=True, explains=True))


def test_in_a_thin_log_documents_without_clicks_count_as_much_as_there_are():
    """.25 · .9 + .75 · .1 = .3 and .25 · .5 + .75 · .6 = .575."""
    found = chosen(weighted("logged", 0.9, 0.1), weighted("bm25", 0.5, 0.6), splits=("time", "documents"))
    assert found.model == "bm25"
    assert found.reason == "it ranks best (nDCG@10 0.575: 0.500 by time (25%), 0.600 by documents (75%))"


def test_in_a_thin_log_unseen_queries_alone_do_not_count():
    """Held-out queries without hidden documents favour models that rank clicked documents only."""
    good, clicked = weighted("bm25", 0.5, 0.61), weighted("vpcg", 0.5, 0.6, noise=-NOISE)
    queries = {
        name: {"queries": result(name, value + NOISE)} for name, value in (("bm25", 0.4), ("vpcg", 0.7))
    }
    entries = [one._replace(results={**one.results, **queries[one.name]}) for one in (good, clicked)]
    assert chosen(*entries, splits=("time", "documents", "queries")).model == "bm25"


def test_significance_of_a_weighted_mean_by_hand():
    """The variances of the two means add up, weighted by the squares; the sum is normally distributed."""
    a, b = weighted("a", 0.61, 0.6), weighted("b", 0.6, 0.6, noise=-NOISE)
    first = 0.01 + 2 * NOISE
    second = 2 * NOISE[:20]
    variance = 0.25**2 * np.var(first, ddof=1) / 40 + 0.75**2 * np.var(second, ddof=1) / 20
    mean = 0.25 * first.mean() + 0.75 * second.mean()
    expected = 2 * scipy.stats.norm.sf(abs(mean) / np.sqrt(variance))
    assert p_value(a, b) == pytest.approx(expected)
    assert p_value(a, a) == 1
