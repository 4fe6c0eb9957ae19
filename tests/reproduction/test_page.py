"""The page: totals, remarks, and charts that are valid SVG."""

import xml.etree.ElementTree as ElementTree

import pytest

from reproduce import charts
from reproduce.page import Page, Totals, describe, explained_by_ablations, remark, write_page
from reproduce.paper import Grid, Mix, Ranker


def verdict(a, relation, b, difference, p=0.001, *, significant=True, holds=True):
    return {"a": a, "relation": relation, "b": b, "difference": difference, "p": p,
            "significant": significant, "holds": holds}  # fmt: skip


def order(*verdicts, chance=0.5):
    return {"order": "a > b", "chance": chance, "verdicts": {"nDCG@5": list(verdicts)}}


def result(**more):
    table = {
        "name": "Table 2", "kind": "Table", "log": "web-week", "queries": 30, "group": "≤10",
        "measures": ["nDCG@5"], "paper": {"RMLS": [0.7], "PLS": [0.6]}, "rows": {"RMLS": [0.5], "PLS": [0.4]},
        "missing": {"SSI": "no skips"}, "chosen": {"PLS": [0.3]},
        "orders": [order(verdict("RMLS", ">", "PLS", 0.1)), {"order": "SSI > PLS", "verdicts": {}}],
    }  # fmt: skip
    statistics = {
        "queries": 1, "docs": 2, "edges": 3, "docs_per_query": 1.7, "queries_per_doc": 1.4, "max_clicks": 9,
        "judged_queries": 5, "judged_pairs": 50, "seen_queries": 0.9, "seen_docs": 0.7, "bins": {"≤10": 3},
    }  # fmt: skip
    return {
        "paper": "wu2013", "log": "web-week", "commit": "abc1234", "date": "2020-01-02", "quick": False,
        "settings": {"dim": 10}, "statistics": statistics, "exhibits": [table], "ablations": [], "models": {},
        **more,
    }  # fmt: skip


def test_totals():
    totals = Totals()
    totals.add(order(verdict("a", ">", "b", 0.1), verdict("b", ">", "c", 0.1), chance=0.25))
    totals.add(order(verdict("a", ">", "b", -0.1, holds=False), verdict("b", "≈", "c", 0.0), chance=0.5))
    totals.add(order(verdict("a", "≈", "b", 0.2, holds=False), chance=1.0))
    totals.add({"order": "a > b", "verdicts": {}})
    assert totals.cells() == ["1 of 2", "0.8", "+0.2", "2 of 3 (67%)", "0 of 1", "1"]


def test_remarks():
    found = remark(
        [
            verdict("a", ">", "b", -0.2, holds=False),
            verdict("a", ">", "c", -0.01, 0.4, significant=False, holds=False),
            verdict("a", "≈", "d", 0.05, holds=False),
            verdict("a", ">", "e", 0.03, 0.2, significant=False),
            verdict("a", ">", "f", 0.3),
        ]
    )
    assert found == (
        "b leads a by 0.200 (significant); c leads a by 0.010 (not significant); a and d differ by 0.050; "
        "not significant: a > e"
    )


def test_the_page_has_totals_tables_and_reasons(tmp_path):
    text = Page(tmp_path).render([result()], {}, "## A note\n")
    assert "\n## A note\n" in text
    assert "1 of 1 orders hold; 0.5 would by chance, so 0.5 are beyond chance" in text
    assert "`abc1234` on 2020-01-02" in text
    assert "### Table 2, web-week, queries with ≤10 clicks" in text
    assert "| RMLS | 0.500 | 0.700 |  |" in text
    assert "| PLS | 0.400 | 0.600 | 0.3 |" in text
    assert "Not measured: SSI (no skips)." in text
    assert "| SSI > PLS |  | not measured |  |" in text


def test_time_of_a_complete_run(tmp_path):
    run = {"commit": "abc1234", "seconds": 1830, "processes": 2, "jobs": 9, "reused": 0}
    page = Page(tmp_path)
    assert "took 30 minutes with 2 processes and computed all 9 jobs anew" in page.render([result()], run, "")
    reused = page.render([result()], run | {"reused": 4}, "")
    assert "with 4 of 9 jobs from an earlier one" in reused
    assert "minutes" not in page.render([result(commit="later")], run, "").split("##")[0], "another run"


def threads_exhibit():
    return {
        "name": "Figure 2", "kind": "Threads", "log": "web-week", "system": "RMLS",
        "timings": {"1": [10.4, 10.0], "2": [6.0, 6.5]}, "paper": {"1": 1380, "20": 277},
    }  # fmt: skip


def test_training_time_by_threads(tmp_path):
    text = Page(tmp_path).render([result(exhibits=[threads_exhibit()])], {}, "")
    assert "| 1 | 10.4, 10.0 | 1.00 | 1,380 | 1.00 |" in text
    assert "| 2 | 6.0, 6.5 | 0.60 |  |  |" in text
    assert "| 20 |  |  | 277 | 0.20 |" in text
    svg = ElementTree.fromstring((tmp_path / "wu2013-web-week-figure-2.svg").read_text(encoding="utf-8"))
    assert {"0", "10", "threads", "RMLS, seconds"} <= {one.text for one in svg.iter()}


def ablation(number, change, values, *, holds=True):
    return {
        "name": "Table 2", "kind": "Table", "log": "web-week", "number": number, "why": f"why {number}",
        "change": change, "group": "≤10", "rows": {name: [value] for name, value in values.items()},
        "orders": [order(verdict("RMLS", ">", "PLS", 0.1 if holds else -0.1, holds=holds))],
    }  # fmt: skip


def test_ablations_show_values_before_and_after_in_the_order_of_the_paper(tmp_path):
    """Those on a smaller log start from the values on that log, also if its result comes last."""
    changed = ablation(0, "PLS is `pls`", {"RMLS": 0.1, "PLS": 0.2}, holds=False)
    small = ablation(1, "log week-small", {"RMLS": 0.7, "PLS": 0.6})
    both = ablation(2, "log week-small; PLS is `pls`", {"RMLS": 0.9, "PLS": 0.8})
    knob = ablation(3, "log week-careful-users", {"RMLS": 0.3, "PLS": 0.2})
    found = [
        result(log="week-careful-users", exhibits=[], ablations=[knob]),
        result(ablations=[changed]),
        result(log="week-small", exhibits=[], ablations=[both, small]),
    ]
    text = Page(tmp_path).render(found, {}, "")
    rows = [line.split(" | ")[2:] for line in text.splitlines() if "| why " in line]
    full, tenth = "RMLS 0.500, PLS 0.400", "RMLS 0.700, PLS 0.600"
    assert rows == [
        [
            "why 0",
            "PLS is `pls`",
            full,
            "RMLS 0.100, PLS 0.200",
            "no: PLS leads RMLS by 0.100 (significant) |",
        ],
        ["why 1", "log week-small", full, tenth, "yes |"],
        ["why 2", "log week-small; PLS is `pls`", tenth, "RMLS 0.900, PLS 0.800", "yes |"],
        ["why 3", "log week-careful-users", tenth, "RMLS 0.300, PLS 0.200", "yes |"],
    ]


def test_failed_orders_that_hold_in_an_ablation():
    """The same order of another bin, or on another log, does not count."""
    failing = {**result()["exhibits"][0], "orders": [order(verdict("RMLS", ">", "PLS", -0.1, holds=False))]}
    found = [result(exhibits=[failing, failing | {"group": "all"}])]
    assert explained_by_ablations(found) == (2, 0)
    works = ablation(0, "PLS is `pls`", {"RMLS": 0.2, "PLS": 0.1})
    fails = ablation(1, "PLS is `pls`", {"RMLS": 0.1, "PLS": 0.2}, holds=False)
    assert explained_by_ablations([*found, result(log="week-small", exhibits=[], ablations=[fails])]) == (
        2,
        0,
    )
    assert explained_by_ablations([*found, result(log="week-small", exhibits=[], ablations=[works])]) == (
        2,
        1,
    )
    other = works | {"group": ">1000"}
    assert explained_by_ablations([*found, result(log="week-small", exhibits=[], ablations=[other])]) == (
        2,
        0,
    )


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.613, 0.688, [0.61, 0.62, 0.63, 0.64, 0.65, 0.66, 0.67, 0.68, 0.69]),
        (0.1, 0.3, [0.1, 0.15, 0.2, 0.25, 0.3]),
        (0.0, 47.3, [0, 10, 20, 30, 40, 50]),
        (0.0, 1380.0, [0, 200, 400, 600, 800, 1000, 1200, 1400]),
        (-0.02, 0.93, [-0.2, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
    ],
)
def test_ticks_are_round_numbers(low, high, expected):
    assert charts.round_ticks(low, high) == expected


def test_labels_of_an_axis_have_the_same_number_of_decimals():
    root = ElementTree.fromstring(charts.lines("dim", [1, 2], {"AP": [0.1, 0.3]}))
    assert {"0.10", "0.15", "0.20", "0.25", "0.30"} <= {one.text for one in root.iter()}


def test_ticks_of_one_value():
    ticks = charts.round_ticks(0.3, 0.3)
    assert ticks[0] <= 0.3 <= ticks[-1] and len(ticks) > 1


def test_charts_that_are_no_longer_shown_are_removed(tmp_path):
    old = tmp_path / "images" / "reproduction" / "old.svg"
    old.parent.mkdir(parents=True)
    old.write_text("<svg/>")
    write_page([result()], {}, "", tmp_path / "page.md")
    assert not old.exists()
    assert (tmp_path / "page.md").read_text(encoding="utf-8").startswith("# Reproduction")


@pytest.mark.parametrize(
    ("svg", "texts"),
    [
        (charts.lines("dim", [10, 20], {"nDCG@5": [0.1, 0.3], "AP": [0.2, 0.2]}), {"dim", "10", "nDCG@5"}),
        (charts.bars({"a & b": 100.0, "c": 3.0}), {"a & b", "100", "3"}),
        (charts.stacked({"RW": [0.25, 0.5, 0.25]}, ["better", "equal", "worse"]), {"RW", "25%", "50%"}),
        (charts.panels({"CTR": {"4": [1.0, 0.5], "0": [0.2, 0.0]}}), {"CTR"}),
    ],
)
def test_charts_are_svg_with_labels(svg, texts):
    root = ElementTree.fromstring(svg)
    found = {one.text for one in root.iter() if one.text and one.text.strip()}
    assert texts <= found


def test_bars_are_as_long_as_their_values():
    root = ElementTree.fromstring(charts.bars({"a": 50.0, "b": 100.0}))
    widths = [float(one.attrib["width"]) for one in root.iter("{http://www.w3.org/2000/svg}rect")][1:]
    assert widths[0] == pytest.approx(2 * widths[1])


def test_descriptions_of_systems():
    assert describe("rw(preset=wu2013)") == "`rw(preset=wu2013)`"
    assert "{" not in describe("pls(dim={dim}{fields})")
    assert describe(Mix("RW", "BM25")) == "w · RW + (1 − w) · BM25, each divided by its maximum"
    assert describe(Grid("bltm", "lambda_doc")) == "`bltm`, lambda_doc = 0.1 … 0.9"
    assert describe(Ranker(("a",), ("b",))) == "pointwise trees over a, b"


def test_orders_of_tables_that_cannot_be_measured_are_counted(tmp_path):
    bin_of = {"name": "Table 6", "kind": "Table", "log": "web-week", "not_measured": "only 3 judged queries",
              "orders": [{"order": "a > b", "verdicts": {}}]}  # fmt: skip
    text = Page(tmp_path).render(
        [result(exhibits=[bin_of | {"group": "≤10"}, bin_of | {"group": ">1000"}])], {}, ""
    )
    assert "| all simulated logs | 0 of 0 | 0.0 | +0.0 | 0 of 0 | 0 of 0 | 2 |" in text
    assert "### Table 6, web-week, queries with ≤10 clicks\n\nNot measured: only 3 judged queries." in text
