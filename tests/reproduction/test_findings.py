"""Findings: measured and missing systems, and their texts."""

from typing import ClassVar

import numpy as np
import pytest

import planted
from coclick import create, model_names
from reproduce.experiments import missing_model_requirement, models_in
from reproduce.findings import evaluate_expectation
from reproduce.orders import Order
from reproduce.page import measured_text, remark_text, verdict_text
from reproduce.papers import PAPERS, Expectation, Paper


class Fixed:
    """t is 6.8 between good and fair, 2.9 between good and bad, 1.3 between fair and bad; with 3 degrees of
    freedom, values above 3.18 are significant."""

    VALUES: ClassVar = {
        "good": [0.9, 0.8, 0.7, 0.8],
        "fair": [0.5, 0.6, 0.4, 0.4],
        "bad": [0.1, 0.7, 0.4, 0.1],
    }

    def missing_requirement(self, system):
        unknown = [name for name in models_in(system) if name not in self.VALUES]
        return f"not implemented: {', '.join(unknown)}" if unknown else ""

    def measure(self, systems, measures):
        return {m: {name: np.array(self.VALUES[spec]) for name, spec in systems.items()} for m in measures}


def evaluate(order):
    systems = {"a": "good", "b": "fair", "c": "bad", "d": "dream", "e": "hope + dream"}
    expectation = Expectation("Table 1", order, ("nDCG@10",), "fixed")
    return evaluate_expectation(
        Paper("Doe 2020", "a paper", "", systems, (expectation,)), expectation, {"fixed": Fixed()}
    )


def test_an_order_that_holds():
    finding = evaluate("a > b > c")
    assert verdict_text(finding) == "yes"
    assert measured_text(finding) == "nDCG@10 of 4 queries: a 0.800, b 0.475, c 0.325"
    assert remark_text(finding) == "not significant: b > c"


def test_an_order_that_does_not_hold():
    finding = evaluate("b > a > c")
    assert verdict_text(finding) == "**no**"
    assert remark_text(finding) == "a leads b by 0.325 (significant); not significant: a > c"


def test_systems_that_are_not_implemented_are_left_out_and_named():
    finding = evaluate("a > d > b")
    assert [(v.a, v.b) for v in finding.verdicts["nDCG@10"]] == [("a", "b")]
    assert remark_text(finding) == "confirmed relations are significant; not implemented: dream"


def test_nothing_to_compare():
    finding = evaluate("a > d")
    assert (verdict_text(finding), measured_text(finding)) == ("not measured", "")
    assert remark_text(finding) == "not implemented: dream"


def test_models_that_are_not_implemented_are_listed_once():
    assert remark_text(evaluate("a > d > e")) == "not implemented: dream, hope"


def test_models_in_a_specification():
    assert models_in("0.8*rw + 0.2*bm25") == ["rw", "bm25"]
    assert models_in("ltr(bm25 + vpcg(start=doc) + bm25(k1=2),n_folds=2)") == ["bm25", "vpcg"]


def test_missing_model_requirements():
    graph = planted.graph()
    assert missing_model_requirement("bm25", graph) == ""
    assert missing_model_requirement("0.5*bm25 + 0.5*dream", graph) == "not implemented: dream"


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.citation)
def test_every_order_names_systems_of_the_paper(paper):
    for expectation in paper.expectations:
        assert {*Order.parse(expectation.order).names} <= {*paper.systems}


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.citation)
def test_every_implemented_system_can_be_created(paper):
    """Fails if the parameters of a newly registered model have other names than in a specification."""
    methods = {
        name for e in paper.expectations if "vectors" in e.experiment for name in Order.parse(e.order).names
    }
    for name, spec in paper.systems.items():
        if name not in methods and {*models_in(spec)} <= {*model_names()}:
            create(spec)
