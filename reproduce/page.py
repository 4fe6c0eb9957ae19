"""Write docs/reproduction.md and its charts from the stored results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reproduce import charts
from reproduce.logs import SOURCES
from reproduce.orders import NEGLIGIBLE
from reproduce.paper import Grid, Mix, Paper, Ranker, System
from reproduce.papers import PAPERS

Result = Mapping[str, Any]
SIMULATED = [name for name, source in SOURCES.items() if not source.data and source.stands_for]
TESTS = {"t": "paired t-test", "sign": "sign test"}

HEAD = """# Reproduction of the papers' results

`make reproduce` (`python -m reproduce`) makes the logs, trains the papers' systems with the papers' settings,
measures them and writes this page. The data of the [papers](references.md) is private, so only the order of
systems in their tables can be compared, not the values. Nothing is tuned to make an order hold: the simulated
logs are set from the statistics that the papers publish about theirs.
"""

RULES = f"""
## How to read this page

`a > b`: the mean of a is higher. `a ≥ b`: it is not lower. `a ≈ b`: the difference is not significant or
below {NEGLIGIBLE}. An order holds if this is so for every pair of neighbouring systems in the first measure
of its table; the other measures are shown beside it. Significance is by the test of the paper, without
correction for multiple tests, as in the papers. Systems that cannot be measured on a log are left out of an
order, and the rest is judged.

*By chance* is the probability that systems in a random order satisfy all relations of an order (`≈` counts as
always satisfied, `≥` as `>`); the sum over all orders is the number of orders that would hold by chance.
Orders that consist of `≈` only are counted apart, as equalities: a random order says nothing about them.

All systems re-rank the judged documents, as in the papers. nDCG has exponential gain. AP counts "good" and
better documents as relevant. Ties are broken at random. Weights of mixes are tuned in steps of 0.1 and
rankers are trained as in each paper: on one half of the judged queries and measured on the other (Wu, Lu & Li
2012 and 2013), two-fold (Gao et al. 2011, Jiang et al. 2016), or the best is reported (Wu, Li & Xu 2013).
"""

THREADS = """Seconds by the clock, while no other job ran; the chart has the shortest run of each. The machine
has two cores, so this shows whether the work is divided between two, and what dividing it costs. It cannot
show the paper's curve, which falls up to 20 threads and flattens after 10 on 24 processors, nor where ours
would flatten.
"""

ABLATIONS = """Each row changes one thing, or several where it says so, and judges the order again in the
first measure of its table. *Before* are the values without the change; for rows on a smaller log those of
the row above that names only that log.
"""

MODELS = """
## Models used for each system

With the dimensions of web-week; those of the other logs are in the table of logs. Real logs have no URLs, so
all fields are used there. Presets are in [systems](systems.md).
"""


@dataclass
class Totals:
    """Counts of orders, of single relations, and of statements that systems are equal."""

    orders: int = 0
    hold: int = 0
    expected: float = 0.0
    relations: int = 0
    relations_hold: int = 0
    equal: int = 0
    equal_hold: int = 0
    not_measured: int = 0

    def add(self, order: Result) -> None:
        """Count an order by its first measure."""
        if not order["verdicts"]:
            self.not_measured += 1
            return
        verdicts = next(iter(order["verdicts"].values()))
        holds = all(one["holds"] for one in verdicts)
        strict = [one for one in verdicts if one["relation"] != "≈"]
        if not strict:
            self.equal += 1
            self.equal_hold += holds
            return
        self.orders += 1
        self.hold += holds
        self.expected += order["chance"]
        self.relations += len(strict)
        self.relations_hold += sum(one["holds"] for one in strict)

    def cells(self) -> list[str]:
        """The counts as cells of a table."""
        beyond = self.hold - self.expected
        share = f" ({self.relations_hold / self.relations:.0%})" if self.relations else ""
        return [
            f"{self.hold} of {self.orders}", f"{self.expected:.1f}", f"{beyond:+.1f}",
            f"{self.relations_hold} of {self.relations}{share}", f"{self.equal_hold} of {self.equal}",
            str(self.not_measured),
        ]  # fmt: skip


def write_page(found: Sequence[Result], run: Result, notes: str, path: Path) -> None:
    """Write the page with facts and notes on the run, and the charts beside it under images/reproduction."""
    images = path.parent / "images" / "reproduction"
    images.mkdir(parents=True, exist_ok=True)
    for old in images.glob("*.svg"):
        old.unlink()
    page = Page(images)
    text = page.render(found, run, notes)
    path.write_text(text, encoding="utf-8")


class Page:
    """Renders results as Markdown and charts as files."""

    def __init__(self, images: Path) -> None:
        self.images = images

    def render(self, found: Sequence[Result], run: Result, notes: str) -> str:
        """Return the whole page."""
        parts = [HEAD, self._totals(found, run), RULES, notes, self._logs(found)]
        for key, paper in PAPERS.items():
            of_paper = [result for result in found if result["paper"] == key]
            of_paper.sort(key=lambda result: list(SOURCES).index(result["log"]))
            parts.append(self._paper(paper, of_paper))
        parts += [MODELS, *(_systems(paper) for paper in PAPERS.values())]
        return "\n".join(part.rstrip() + "\n" for part in parts)

    # -- totals and logs -------------------------------------------------------------------------------

    def _totals(self, found: Sequence[Result], run: Result) -> str:
        groups: dict[str, Totals] = {}
        for result in found:
            is_simulated = result["log"] in SIMULATED
            names = (
                ["all simulated logs", f"simulated: {PAPERS[result['paper']].citation}"]
                if is_simulated
                else []
            )
            names += (
                []
                if is_simulated or not SOURCES[result["log"]].data
                else ["all real logs", f"real: {result['log']}"]
            )
            for exhibit in result["exhibits"]:
                for order in exhibit.get("orders", ()):
                    for name in names:
                        groups.setdefault(name, Totals()).add(order)
        total = groups.get("all simulated logs", Totals())
        beyond = total.hold - total.expected
        sentence = (
            f"**On the simulated logs {total.hold} of {total.orders} orders hold; {total.expected:.1f} would "
            f"by chance, so {beyond:.1f} are beyond chance.** Of the single relations in them, "
            f"{total.relations_hold} of {total.relations} hold; half would by chance. Of {total.equal} "
            f"statements that two systems are about equal, {total.equal_hold} can be confirmed. Counted "
            f"together, {total.hold + total.equal_hold} of {total.orders + total.equal} hold, and "
            f"{total.expected + total.equal:.1f} would by chance if every `≈` held."
        )
        failed, explained = explained_by_ablations(found)
        if failed:
            sentence += (
                f" Of the {failed} that do not hold, {explained} hold in at least one of the ablations."
            )
        runs = sorted({(result["commit"], result["date"]) for result in found})
        when = "Measured at commit " + ", ".join(f"`{commit}` on {date}" for commit, date in runs) + "."
        if run.get("commit") in {commit for commit, _ in runs}:
            when += _duration(run)
        if any(result["quick"] for result in found):
            when += " This is a quick run on small logs: it tests that all parts work, not the papers."
        header = [
            "",
            "orders that hold",
            "by chance",
            "beyond chance",
            "single relations",
            "equalities",
            "not measured",
        ]
        order = sorted(groups, key=lambda name: (not name.startswith("all"), name))
        rows = [[name, *groups[name].cells()] for name in order]
        return f"{sentence}\n\n{when}\n\n{_table([header, *rows])}"

    def _logs(self, found: Sequence[Result]) -> str:
        seen: dict[str, Result] = {result["log"]: result for result in found}
        rows = [_LOG_HEADER, *(_log_cells(name, seen[name]) for name in SOURCES if name in seen)]
        about = [f"- **{name}**: {SOURCES[name].about}" for name in SOURCES if name in seen]
        return "\n".join(["## Logs\n", _table(rows), *about])

    # -- papers ----------------------------------------------------------------------------------------

    def _paper(self, paper: Paper, found: Sequence[Result]) -> str:
        test = f"Significance: {TESTS[paper.test]}, p < {paper.level}."
        head = f"## {paper.citation}: {paper.title}\n\n{test} {paper.differences}\n"
        parts = [head]
        for result in found:
            log = result["log"]
            for exhibit in result["exhibits"]:
                group = exhibit.get("group", "all")
                title = f"{exhibit['name']}, {log}" + (
                    "" if group == "all" else f", queries with {group} clicks"
                )
                parts.append(f"### {title}\n\n{self._exhibit(paper, result, exhibit)}")
        parts += [self._ablations(paper, found)]
        return "\n".join(dict.fromkeys(parts))  # once, if several bins of a table have too few queries

    def _exhibit(self, paper: Paper, result: Result, exhibit: Result) -> str:
        if "not_measured" in exhibit:
            return f"Not measured: {exhibit['not_measured']}.\n"
        render = getattr(self, f"_{exhibit['kind'].lower()}")
        name = "-".join(
            (paper.key, result["log"], *exhibit["name"].lower().replace("§", "").replace(",", "").split())
        )
        text: str = render(exhibit, name)
        return f"{text}\n{_orders(exhibit)}"

    def _table(self, exhibit: Result, name: str) -> str:
        measures = exhibit["measures"]
        chosen = exhibit["chosen"]
        header = [
            "system",
            *(f"{measure}" for measure in measures),
            *(f"paper: {measure}" for measure in measures),
            "tuned",
        ]
        rows = []
        for system in sorted(exhibit["rows"], key=lambda system: -exhibit["rows"][system][0]):
            theirs = exhibit["paper"].get(system, ())
            tuned = ", ".join(f"{value:g}" for value in chosen.get(system, ()))
            rows.append([system, *map(_number, exhibit["rows"][system]), *map(_number, theirs), tuned])
        return f"{exhibit['queries']:,} queries.{_missing(exhibit)}\n\n{_table([header, *rows])}"

    def _similar(self, exhibit: Result, name: str) -> str:
        names = [f"{exhibit['ours']} better", "equal", "worse"]
        chart = self._chart(name, charts.stacked(exhibit["pos_com_neg"], names), exhibit["name"])
        rows = [[system, _number(value), ", ".join(f"{w:g}" for w in exhibit["chosen"].get(system, ()))]
                for system, value in exhibit["grade"].items()]  # fmt: skip
        table = _table([["system", "right among the first three", "tuned"], *rows])
        return f"{exhibit['queries']} queries.\n\n{chart}\n{table}"

    def _curve(self, exhibit: Result, name: str) -> str:
        chart = self._chart(
            name, charts.lines(exhibit["parameter"], exhibit["points"], exhibit["lines"]), exhibit["name"]
        )
        seconds = ", ".join(
            f"{p}: {s:.0f} s" for p, s in zip(exhibit["points"], exhibit["seconds"], strict=True)
        )
        return f"{exhibit['system']} by {exhibit['parameter']}. Training time: {seconds}.\n\n{chart}"

    def _threads(self, exhibit: Result, name: str) -> str:
        shortest = {int(count): min(seconds) for count, seconds in exhibit["timings"].items()}
        points = list(shortest)
        chart = self._chart(
            name,
            charts.lines(
                "threads", points, {f"{exhibit['system']}, seconds": list(shortest.values())}, from_zero=True
            ),
            exhibit["name"],
        )
        theirs = {int(count): seconds for count, seconds in exhibit["paper"].items()}
        rows = [
            [
                str(count),
                ", ".join(f"{seconds:.1f}" for seconds in exhibit["timings"].get(str(count), ())),
                f"{shortest[count] / shortest[points[0]]:.2f}" if count in shortest else "",
                f"{theirs[count]:,.0f}" if count in theirs else "",
                f"{theirs[count] / theirs[points[0]]:.2f}" if count in theirs else "",
            ]
            for count in sorted({*points, *theirs})
        ]
        header = [
            "threads",
            "seconds, each run",
            "relative to one thread",
            "paper: seconds",
            "paper: relative",
        ]
        return f"{chart}\n{_table([header, *rows])}\n{THREADS}"

    def _importance(self, exhibit: Result, name: str) -> str:
        return self._chart(name, charts.bars(exhibit["importance"]), exhibit["name"])

    def _separability(self, exhibit: Result, name: str) -> str:
        chart = self._chart(name, charts.panels(exhibit["curves"]), exhibit["name"])
        rows = [[system, f"{value:.1%}"] for system, value in exhibit["in_order"].items()]
        table = _table([["system", "pairs of documents with different grades in the right order"], *rows])
        return (
            f"{exhibit['pairs']:,} pairs, at most 500 of each grade.{_missing(exhibit)} Scores between 0 "
            f"and 1 are drawn upwards, pairs from the highest score to the right.\n\n{chart}\n{table}"
        )

    def _unseenvectors(self, exhibit: Result, name: str) -> str:
        rows = [
            [
                system,
                _number(row["cosine"]),
                _number(exhibit["paper"][system]),
                _number(row["nDCG@10"]),
                f"{row['coverage']:.1%}",
            ]
            for system, row in exhibit["rows"].items()
        ]
        header = ["method", "cosine", "paper: cosine", "nDCG@10 of held-out clicks", "queries with a vector"]
        about = (
            f"{exhibit['queries']:,} held-out queries; {exhibit['linked']:.0%} share a document with others."
        )
        return f"{about}\n\n{_table([header, *rows])}"

    def _cost(self, exhibit: Result, name: str) -> str:
        rows = [
            [system, f"{seconds:,.1f}", f"{exhibit['paper'][system]:,.0f}"]
            for system, seconds in exhibit["seconds"].items()
        ]
        return "Seconds of one processor, the faster system first in the order.\n\n" + _table(
            [["system", "seconds", "paper: seconds"], *rows]
        )

    def _examples(self, exhibit: Result, name: str) -> str:
        tables = "\n".join(_table(rows) for rows in exhibit["examples"] if len(rows) > 1)
        return f"{tables}\nThe paper shows: {exhibit['shown']}.\n"

    def _chart(self, name: str, svg: str, alternative: str) -> str:
        (self.images / f"{name}.svg").write_text(svg, encoding="utf-8")
        return f"![{alternative}](images/reproduction/{name}.svg)\n"

    def _ablations(self, paper: Paper, found: Sequence[Result]) -> str:
        measured = sorted(
            (one for result in found for one in result["ablations"]), key=lambda one: one["number"]
        )
        rows = [row for one in measured for row in _ablation_rows(one, measured, found)]
        if not rows:
            return ""
        header = ["table", "order", "suspected reason", "changed", "before", "after", "holds after?"]
        return f"### Why some orders do not hold: ablations\n\n{ABLATIONS}\n" + _table([header, *rows])


_LOG_HEADER = [
    "log", "queries", "documents", "edges", "documents per query", "queries per document",
    "clicks of the most frequent query", "judged queries", "documents per judged query",
    "judged queries in the log", "judged documents in the log",
    "judged queries by clicks ≤10, ≤100, ≤1000, >1000", "dimensions",
]  # fmt: skip


def _log_cells(name: str, result: Result) -> list[str]:
    found = result["statistics"]
    return [
        name,
        *(f"{found[key]:,}" for key in ("queries", "docs", "edges")),
        *(f"{found[key]:.2f}" for key in ("docs_per_query", "queries_per_doc")),
        *(f"{found[key]:,.0f}" for key in ("max_clicks", "judged_queries")),
        f"{found['judged_pairs'] / found['judged_queries']:.1f}",
        *(f"{found[key]:.1%}" for key in ("seen_queries", "seen_docs")),
        ", ".join(map(str, found["bins"].values())),
        str(result["settings"]["dim"]),
    ]


def _ablation_rows(
    measured: Result, ablations: Sequence[Result], found: Sequence[Result]
) -> Iterator[list[str]]:
    """A row for the order of an ablation, with the values before and after the change."""
    group = measured.get("group", "all")
    name = measured["name"] + ("" if group == "all" else f", {group} clicks")
    if "not_measured" in measured:
        reason = measured["not_measured"]
        order = measured["orders"][0]["order"]
        yield [name, order, measured["why"], measured["change"], "", "", f"not measured: {reason}"]
    before = values_of(_baseline(measured, ablations, found))
    for order in measured.get("orders", ()):
        if not order["verdicts"]:
            continue
        verdicts = next(iter(order["verdicts"].values()))
        names = dict.fromkeys(name for one in verdicts for name in (one["a"], one["b"]))
        cells = [
            ", ".join(f"{name} {_number(values[name])}" for name in names if name in values)
            for values in (before, values_of(measured))
        ]
        holds = "yes" if all(one["holds"] for one in verdicts) else f"no: {remark(verdicts)}"
        yield [name, order["order"], measured["why"], measured["change"], *cells, holds]


def _baseline(measured: Result, ablations: Sequence[Result], found: Sequence[Result]) -> Result:
    """The same table or figure before the change; on a smaller log if the ablation uses one."""

    def key(one: Result) -> tuple[Any, ...]:
        return one["name"], one["log"], one.get("group", "all"), "not_measured" in one

    small = re.compile(r"log \S+-small")
    if measured["change"].startswith("log ") and not small.fullmatch(measured["change"]):
        orders = [order["order"] for order in measured.get("orders", ())]
        for one in reversed(ablations):
            is_earlier = one["number"] < measured["number"] and small.fullmatch(one["change"])
            if is_earlier and key(one) == key(measured) and orders == [o["order"] for o in one["orders"]]:
                return one
    shown = (
        one for result in found if result["log"] == measured["log"] for one in result["exhibits"]
    )  # only the log that the paper's table stands for
    return next((one for one in shown if key(one) == key(measured)), {})


def explained_by_ablations(found: Sequence[Result]) -> tuple[int, int]:
    """Count the orders that fail on the simulated logs, and those of them that hold in an ablation."""

    def orders(results: Sequence[Result], part: str, *, holding: bool) -> set[tuple[str, ...]]:
        return {
            (result["paper"], one["name"], one["log"], one.get("group", "all"), order["order"])
            for result in results
            for one in result[part]
            for order in one.get("orders", ())
            if order["verdicts"]
            and all(v["holds"] for v in next(iter(order["verdicts"].values()))) == holding
        }

    simulated = [result for result in found if result["log"] in SIMULATED]
    failed = orders(simulated, "exhibits", holding=False)
    return len(failed), len(failed & orders(found, "ablations", holding=True))


def values_of(exhibit: Result) -> dict[str, float]:
    """Return the value of each system that decides whether an order holds."""
    kind = exhibit.get("kind")
    if kind is None or "not_measured" in exhibit:
        return {}
    if kind == "Table":
        return {name: row[0] for name, row in exhibit["rows"].items()}
    if kind == "UnseenVectors":
        return {name: row["cosine"] for name, row in exhibit["rows"].items()}
    return dict(exhibit[{"Similar": "grade", "Importance": "importance", "Cost": "seconds"}[kind]])


def _duration(run: Result) -> str:
    """A sentence about the time that the run took."""
    minutes = f"{run['seconds'] / 60:.0f} minutes with {run['processes']} processes"
    took = f" The complete run at `{run['commit']}` took {minutes}"
    if run["reused"]:
        return f"{took}, with {run['reused']} of {run['jobs']} jobs from an earlier one."
    return f"{took} and computed all {run['jobs']} jobs anew."


# -- pieces --------------------------------------------------------------------------------------------


def _orders(exhibit: Result) -> str:
    if not exhibit.get("orders"):
        return ""
    rows = [["expected order", "by chance", "holds?", "remark"]]
    for order in exhibit["orders"]:
        if not order["verdicts"]:
            rows.append([order["order"], "", "not measured", ""])
            continue
        answers = {name: all(one["holds"] for one in found) for name, found in order["verdicts"].items()}
        first = next(iter(answers))
        differ = {name: answer for name, answer in answers.items() if answer != answers[first]}
        others = ", ".join(f"{name} {_yes(answer)}" for name, answer in differ.items())
        verdict = f"{_yes(answers[first], strong=True)}" + (f" ({others})" if others else "")
        rows.append([order["order"], f"{order['chance']:.2f}", verdict, remark(order["verdicts"][first])])
    return _table(rows)


def remark(verdicts: Sequence[Result]) -> str:
    """Return the contradictions, and which of the confirmed relations are not significant."""
    remarks = []
    for one in verdicts:
        if one["holds"]:
            continue
        size, sure = _number(abs(one["difference"])), _significance(one)
        if one["relation"] == "≈":
            remarks.append(f"{one['a']} and {one['b']} differ by {size}")
        elif one["difference"] == 0:
            remarks.append(f"{one['a']} and {one['b']} are equal")
        else:
            remarks.append(f"{one['b']} leads {one['a']} by {size}{sure}")
    tested = [one for one in verdicts if one["relation"] != "≈" and one["p"] is not None]
    close = [one for one in tested if one["holds"] and not one["significant"]]
    if close:
        remarks.append("not significant: " + ", ".join(f"{v['a']} {v['relation']} {v['b']}" for v in close))
    return "; ".join(remarks)


def _significance(one: Result) -> str:
    if one["p"] is None:
        return ""
    return " (significant)" if one["significant"] else " (not significant)"


def _missing(exhibit: Result) -> str:
    reasons: dict[str, list[str]] = {}
    for system, why in exhibit["missing"].items():
        reasons.setdefault(why, []).append(system)
    return "".join(f" Not measured: {', '.join(names)} ({why})." for why, names in reasons.items())


def _yes(answer: bool, *, strong: bool = False) -> str:
    return "yes" if answer else "**no**" if strong else "no"


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]) + "\n"


def _number(value: float) -> str:
    return f"{value:.1f}" if abs(value) > 1 else f"{value:.3f}"


def _systems(paper: Paper) -> str:
    rows = [["system", "model"], *([name, describe(made)] for name, made in paper.systems.items())]
    return f"### {paper.citation}\n\n{_table(rows)}"


def describe(made: System) -> str:
    """Return how a system is made, as text."""
    if isinstance(made, Mix):
        scaled = ", each divided by its maximum" if made.scaled else ""
        return f"w · {made.a} + (1 − w) · {made.b}{scaled}"
    if isinstance(made, Ranker):
        return f"{made.objective} trees over {', '.join((*made.base, *made.added))}"
    if isinstance(made, Grid):
        values = "0" if made.values == (0.0,) else f"{min(made.values):g} … {max(made.values):g}"
        return f"`{filled(made.spec)}`, {made.parameter} = {values}"
    return f"`{filled(made)}`"


def filled(spec: str) -> str:
    """Return a specification with the settings of web-week; other logs may have other dimensions."""
    return spec.format(**SOURCES["web-week"].settings)
