"""docs/reproduction.md: a table for each paper and log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reproduce.experiments import NOT_BUILT
from reproduce.findings import Finding
from reproduce.logs import Log, coverage
from reproduce.orders import LEVEL, NEARLY, Verdict
from reproduce.papers import PAPERS, Paper

HEAD = f"""# Do the papers' orders hold?

Written by `make reproduce` (`python -m reproduce`), which trains the models, measures them and writes this
page anew. The papers' data is private, so what can be compared is the order of systems in their tables.
Nothing is tuned to make an order hold; where it does not, that is said.

`a > b`: the mean of a is higher. `a ≥ b`: it is not lower. `a ≈ b`: the difference is within chance or below
{NEARLY}. An order holds if all its neighbours are as expected, in the means; "beyond chance" is p < {LEVEL}
in a paired t-test over the queries, each pair for itself as in the papers. Systems that cannot be measured
are left out of an order, and the rest of it is judged. Remarks are about the measure that is shown.
"""


def page(findings: Sequence[tuple[Log, Sequence[Finding]]]) -> str:
    """The whole page."""
    parts = [HEAD]
    for log, found in findings:
        parts.append(f"## {log.name}\n\n{log.about}\n\n{_coverage(log)}\n")
        parts += [_section(paper, [f for f in found if f.paper is paper]) for paper in PAPERS]
    parts += ["## Which model stands for which system, and what else differs\n", *map(_systems, PAPERS)]
    return "\n".join(parts)


def verdict_text(finding: Finding) -> str:
    """`yes` or `no` for each measure."""
    if not finding.verdicts:
        return "not measured"
    answers = {measure: "yes" if finding.holds(measure) else "**no**" for measure in finding.verdicts}
    if len({*answers.values()}) == 1:
        return next(iter(answers.values()))
    return ", ".join(f"{measure} {answer}" for measure, answer in answers.items())


def measured_text(finding: Finding) -> str:
    """The systems by their means, best first, in the first measure."""
    if not finding.measured:
        return ""
    measure = finding.expectation.measures[0]
    means = {name: float(values.mean()) for name, values in finding.measured[measure].items()}
    ordered = sorted(means, key=lambda name: -means[name])
    count = f" of {finding.queries:,} queries" if finding.queries > 1 else ""
    return f"{measure}{count}: " + ", ".join(f"{name} {_number(means[name])}" for name in ordered)


def remark_text(finding: Finding) -> str:
    """What is against the order, how much of it may be chance, and what is missing."""
    remarks = []
    if finding.verdicts:
        measure = finding.expectation.measures[0]
        verdicts = finding.verdicts[measure]
        remarks += [_against(verdict) for verdict in verdicts if not verdict.holds]
        remarks.append(
            _chance([verdict for verdict in verdicts if verdict.holds and verdict.relation != "≈"])
        )
    remarks += _lacking(finding.lacking)
    return "; ".join(filter(None, remarks))


def _section(paper: Paper, findings: Sequence[Finding]) -> str:
    rows = [
        f"| {f.expectation.table}, {f.expectation.experiment} | {f.expectation.order} | {measured_text(f)} "
        f"| {verdict_text(f)} | {remark_text(f)} |"
        for f in findings
    ]
    head = "| table, experiment | expected | measured | holds? | remark |\n|---|---|---|---|---|\n"
    return f"### Paper {paper.number}: {paper.title}\n\n{head}" + "\n".join(rows) + "\n"


def _against(verdict: Verdict) -> str:
    size = _number(abs(verdict.difference))
    if verdict.relation == "≈":
        return f"{verdict.a} and {verdict.b} are {size} apart"
    if verdict.difference == 0:
        return f"{verdict.a} and {verdict.b} are equal"
    chance = "" if verdict.p is None else ", beyond chance" if verdict.beyond_chance else ", within chance"
    return f"{verdict.b} leads {verdict.a} by {size}{chance}"


def _chance(verdicts: Sequence[Verdict]) -> str:
    """Of the relations that hold: which are beyond chance?"""
    tested = [verdict for verdict in verdicts if verdict.p is not None]
    close = [verdict for verdict in tested if not verdict.beyond_chance]
    if not tested:
        return ""
    if not close:
        return "what holds is beyond chance"
    return "within chance: " + ", ".join(f"{v.a} {v.relation} {v.b}" for v in close)


def _lacking(reasons: Mapping[str, str]) -> list[str]:
    """One remark for all models that are not built, and one for each other reason."""
    unknown: dict[str, None] = {}  # a set in order
    others: dict[str, list[str]] = {}
    for system, why in reasons.items():
        if why.startswith(NOT_BUILT):
            unknown.update(dict.fromkeys(why.removeprefix(NOT_BUILT).split(", ")))
        else:
            others.setdefault(why, []).append(system)
    remarks = [
        why if len(systems) == len(reasons) else f"{', '.join(systems)}: {why}"
        for why, systems in others.items()
    ]
    return [*remarks, NOT_BUILT + ", ".join(unknown)] if unknown else remarks


def _coverage(log: Log) -> str:
    queries, docs = coverage(log)
    return (
        f"Of {len(log.judgments.queries):,} judged queries {queries:.1%} have clicks in the log, "
        f"of the judged documents {docs:.1%} (paper 003: 92.5 % and 78.9 %)."
    )


def _systems(paper: Paper) -> str:
    rows = [f"| {name} | `{spec}` |" for name, spec in paper.systems.items()]
    return (
        f"### Paper {paper.number}\n\n{paper.differences}\n\n| system | model |\n|---|---|\n"
        + "\n".join(rows)
        + "\n"
    )


def _number(value: float) -> str:
    return f"{value:.1f}" if value > 1 else f"{value:.3f}"
