"""The papers' data: every name, specification and stored result belongs together."""

import re
from pathlib import Path

import pytest

from coclick import create
from reproduce import results
from reproduce.logs import SOURCES
from reproduce.measure import _names
from reproduce.orders import Order
from reproduce.page import filled
from reproduce.paper import Curve, Importance, Mix, Ranker, Table, UnseenVectors
from reproduce.papers import PAPERS

PAGE = Path(__file__).parents[2] / "docs" / "reproduction.md"
SETTINGS = [settings for source in SOURCES.values() for settings in (source.settings, source.quick)]
papers = pytest.mark.parametrize("paper", PAPERS.values(), ids=lambda paper: paper.key)


@papers
def test_every_specification_exists(paper):
    """Fails when a model, a parameter or a preset that the page names no longer exists."""
    for spec in paper.specs():
        create(spec.format(**SETTINGS[0]))


@papers
def test_every_exhibit_names_systems_and_logs(paper):
    for exhibit in paper.exhibits:
        assert exhibit.log in SOURCES
        if not isinstance(exhibit, Curve | UnseenVectors):
            assert {*_names(exhibit)} <= {*paper.systems}
        if isinstance(exhibit, Table):
            assert all(len(row) == len(exhibit.measures) for row in exhibit.values.values())


@papers
def test_every_order_names_systems_of_its_exhibit(paper):
    for exhibit, order in paper.orders():
        names = {*_names(exhibit)}
        if isinstance(exhibit, Importance):
            ranker = paper.systems[exhibit.ranker]
            names = {*ranker.base, *ranker.added}
        if isinstance(exhibit, UnseenVectors):
            names = {*exhibit.values}
        assert {*order.names} <= names, (exhibit.name, str(order))


@papers
def test_the_orders_hold_for_the_values_of_the_paper(paper):
    """So a wrong digit or a wrong order is noticed; `≈` allows a difference of 0.01."""
    for exhibit, order in paper.orders():
        values = getattr(exhibit, "values", None)
        if values is None:
            continue
        for a, relation, b in order.pairs():
            first = [values[name][0] if isinstance(values[name], tuple) else values[name] for name in (a, b)]
            difference = first[0] - first[1]
            if exhibit.__class__.__name__ == "Cost":
                difference = -difference
            assert difference > 0 if relation == ">" else difference > -0.0101, (exhibit.name, a, relation, b)


@papers
def test_mixes_and_rankers_are_made_of_systems(paper):
    for made in paper.systems.values():
        if isinstance(made, Mix):
            assert {made.a, made.b} <= {*paper.systems}
        if isinstance(made, Ranker):
            assert {*made.base, *made.added} <= {*paper.systems}


@papers
def test_ablations_belong_to_orders(paper):
    orders = {(exhibit.name, str(order)) for exhibit, order in paper.orders()}
    for ablation in paper.ablations:
        assert (ablation.exhibit, str(Order.parse(ablation.order))) in orders
        assert {*ablation.systems} <= {*paper.systems}
        assert not ablation.log or ablation.log in SOURCES
        assert ablation.log or ablation.systems or ablation.spec or ablation.queries


def test_stored_results_can_be_trained_again():
    """Fails when a specification in a stored result, and so on the page, no longer exists."""
    specs = {model["spec"] for result in results.read() for model in result["models"].values()}
    for spec in sorted(specs):
        create(spec)


def test_specifications_on_the_page_exist():
    text = PAGE.read_text(encoding="utf-8")
    known = {filled(spec) for paper in PAPERS.values() for spec in paper.specs()}
    on_page = set(re.findall(r"\| `([^`]*)`", text))
    assert on_page
    assert on_page <= known, "the page is outdated: run python -m reproduce --page"


def test_failed_orders_of_the_simulated_logs_have_an_ablation():
    """The page promises a tested reason for every order that does not hold."""
    missing = []
    for result in results.read():
        paper = PAPERS[result["paper"]]
        tested = {(ablation.exhibit, ablation.order) for ablation in paper.ablations}
        if SOURCES[result["log"]].data:
            continue
        for exhibit in result["exhibits"]:
            for order in exhibit.get("orders", ()):
                verdicts = next(iter(order["verdicts"].values()), [])
                if (
                    not all(one["holds"] for one in verdicts)
                    and (exhibit["name"], order["order"]) not in tested
                ):
                    missing.append((paper.key, exhibit["name"], order["order"]))
    assert not missing
