"""What is measured, what is left out, and how that is said."""

from typing import ClassVar

import numpy as np
import pytest

import planted
from coclick import create, model_names
from reproduce.experiments import lacks_model, models_in
from reproduce.findings import find_out
from reproduce.orders import Order
from reproduce.page import measured_text, remark_text, verdict_text
from reproduce.papers import PAPERS, Expectation, Paper


class Fixed:
    """Of the differences between good and fair t is 6.8, good and bad 2.9, fair and bad 1.3; with 3 degrees
    of freedom those above 3.18 are beyond chance."""

    VALUES: ClassVar = {
        "good": [0.9, 0.8, 0.7, 0.8],
        "fair": [0.5, 0.6, 0.4, 0.4],
        "bad": [0.1, 0.7, 0.4, 0.1],
    }

    def lacks(self, system):
        unknown = [name for name in models_in(system) if name not in self.VALUES]
        return f"not built yet: {', '.join(unknown)}" if unknown else ""

    def measure(self, systems, measures):
        return {m: {name: np.array(self.VALUES[spec]) for name, spec in systems.items()} for m in measures}


def found(order):
    systems = {"a": "good", "b": "fair", "c": "bad", "d": "dream", "e": "hope + dream"}
    expectation = Expectation("Table 1", order, ("nDCG@10",), "fixed")
    return find_out(Paper("009", "A paper", "", systems, (expectation,)), expectation, {"fixed": Fixed()})


def test_an_order_that_holds():
    finding = found("a > b > c")
    assert verdict_text(finding) == "yes"
    assert measured_text(finding) == "nDCG@10 of 4 queries: a 0.800, b 0.475, c 0.325"
    assert remark_text(finding) == "within chance: b > c"


def test_an_order_that_does_not():
    finding = found("b > a > c")
    assert verdict_text(finding) == "**no**"
    assert remark_text(finding) == "a leads b by 0.325, beyond chance; within chance: a > c"


def test_systems_that_are_not_built_are_left_out_and_named():
    finding = found("a > d > b")
    assert [(v.a, v.b) for v in finding.verdicts["nDCG@10"]] == [("a", "b")]
    assert remark_text(finding) == "what holds is beyond chance; not built yet: dream"


def test_nothing_to_compare():
    finding = found("a > d")
    assert (verdict_text(finding), measured_text(finding)) == ("not measured", "")
    assert remark_text(finding) == "not built yet: dream"


def test_all_that_is_not_built_is_said_once():
    assert remark_text(found("a > d > e")) == "not built yet: dream, hope"


def test_models_in_a_specification():
    assert models_in("0.8*rw + 0.2*bm25") == ["rw", "bm25"]
    assert models_in("ltr(bm25 + vpcg(start=doc) + bm25(k1=2),n_folds=2)") == ["bm25", "vpcg"]


def test_what_a_model_lacks():
    graph = planted.graph()
    assert lacks_model("bm25", graph) == ""
    assert lacks_model("0.5*bm25 + 0.5*dream", graph) == "not built yet: dream"


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.number)
def test_every_order_names_systems_of_the_paper(paper):
    for expectation in paper.expectations:
        assert {*Order.parse(expectation.order).names} <= {*paper.systems}


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.number)
def test_every_system_that_is_built_can_be_made(paper):
    """Whoever registers a model that a table waits for learns here if its parameters have other names."""
    methods = {
        name for e in paper.expectations if "vectors" in e.experiment for name in Order.parse(e.order).names
    }
    for name, spec in paper.systems.items():
        if name not in methods and {*models_in(spec)} <= {*model_names()}:
            create(spec)
