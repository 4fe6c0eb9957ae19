"""Write docs/reproduction.md: one table for each paper and log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reproduce.experiments import NOT_IMPLEMENTED
from reproduce.findings import Finding
from reproduce.logs import Log, coverage
from reproduce.orders import NEGLIGIBLE, SIGNIFICANCE_LEVEL, Verdict
from reproduce.papers import PAPERS, Paper

HEAD = f"""# Reproduction of the papers' results

`make reproduce` (`python -m reproduce`) trains the models, measures them and writes this page. The data of
the [papers](references.md) is private, so only the order of systems in their tables can be compared. Nothing
is tuned to make an order hold.

`a > b`: the mean of a is higher. `a ≥ b`: it is not lower. `a ≈ b`: the difference is not significant or
below {NEGLIGIBLE}. An order holds if the means of all neighbouring systems are as expected. "Significant"
means p < {SIGNIFICANCE_LEVEL} in a paired t-test over the queries, without correction for multiple tests, as
in the papers. Systems that cannot be measured are left out of an order, and the rest is judged. Remarks
refer to the measure shown.
"""


def page(findings: Sequence[tuple[Log, Sequence[Finding]]]) -> str:
    """Return the whole page."""
    parts = [HEAD]
    for log, found in findings:
        parts.append(f"## {log.name}\n\n{log.about}\n\n{_coverage(log)}\n")
        parts += [_section(paper, [f for f in found if f.paper is paper]) for paper in PAPERS]
    parts += ["## Models used for each system, and differences from the papers\n", *map(_systems, PAPERS)]
    return "\n".join(parts)


def verdict_text(finding: Finding) -> str:
    """Return `yes` or `no` for each measure."""
    if not finding.verdicts:
        return "not measured"
    answers = {measure: "yes" if finding.holds(measure) else "**no**" for measure in finding.verdicts}
    if len({*answers.values()}) == 1:
        return next(iter(answers.values()))
    return ", ".join(f"{measure} {answer}" for measure, answer in answers.items())


def measured_text(finding: Finding) -> str:
    """Return the systems with their means in the first measure, best first."""
    if not finding.measured:
        return ""
    measure = finding.expectation.measures[0]
    means = {name: float(values.mean()) for name, values in finding.measured[measure].items()}
    ordered = sorted(means, key=lambda name: -means[name])
    count = f" of {finding.queries:,} queries" if finding.queries > 1 else ""
    return f"{measure}{count}: " + ", ".join(f"{name} {_number(means[name])}" for name in ordered)


def remark_text(finding: Finding) -> str:
    """Return the contradictions, their significance, and the reasons for missing systems."""
    remarks = []
    if finding.verdicts:
        measure = finding.expectation.measures[0]
        verdicts = finding.verdicts[measure]
        remarks += [_contradiction(verdict) for verdict in verdicts if not verdict.holds]
        remarks.append(
            _significance([verdict for verdict in verdicts if verdict.holds and verdict.relation != "≈"])
        )
    remarks += _reasons(finding.not_measured)
    return "; ".join(filter(None, remarks))


def _section(paper: Paper, findings: Sequence[Finding]) -> str:
    rows = [
        f"| {f.expectation.table}, {f.expectation.experiment} | {f.expectation.order} | {measured_text(f)} "
        f"| {verdict_text(f)} | {remark_text(f)} |"
        for f in findings
    ]
    head = "| table, experiment | expected | measured | holds? | remark |\n|---|---|---|---|---|\n"
    return f"### {paper.citation}: {paper.title}\n\n{head}" + "\n".join(rows) + "\n"


def _contradiction(verdict: Verdict) -> str:
    size = _number(abs(verdict.difference))
    if verdict.relation == "≈":
        return f"{verdict.a} and {verdict.b} differ by {size}"
    if verdict.difference == 0:
        return f"{verdict.a} and {verdict.b} are equal"
    significance = (
        "" if verdict.p is None else " (significant)" if verdict.significant else " (not significant)"
    )
    return f"{verdict.b} leads {verdict.a} by {size}{significance}"


def _significance(verdicts: Sequence[Verdict]) -> str:
    """Which of the relations that hold are not significant?"""
    tested = [verdict for verdict in verdicts if verdict.p is not None]
    close = [verdict for verdict in tested if not verdict.significant]
    if not tested:
        return ""
    if not close:
        return "confirmed relations are significant"
    return "not significant: " + ", ".join(f"{v.a} {v.relation} {v.b}" for v in close)


def _reasons(reasons: Mapping[str, str]) -> list[str]:
    """One remark for all models that are not implemented, and one for each other reason."""
    unknown: dict[str, None] = {}  # a set in order
    others: dict[str, list[str]] = {}
    for system, why in reasons.items():
        if why.startswith(NOT_IMPLEMENTED):
            unknown.update(dict.fromkeys(why.removeprefix(NOT_IMPLEMENTED).split(", ")))
        else:
            others.setdefault(why, []).append(system)
    remarks = [
        why if len(systems) == len(reasons) else f"{', '.join(systems)}: {why}"
        for why, systems in others.items()
    ]
    return [*remarks, NOT_IMPLEMENTED + ", ".join(unknown)] if unknown else remarks


def _coverage(log: Log) -> str:
    queries, docs = coverage(log)
    return (
        f"{queries:.1%} of the {len(log.judgments.queries):,} judged queries and {docs:.1%} of the judged "
        "documents have clicks in the log (Jiang et al. 2016: 92.5% and 78.9%)."
    )


def _systems(paper: Paper) -> str:
    rows = [f"| {name} | `{spec}` |" for name, spec in paper.systems.items()]
    return (
        f"### {paper.citation}\n\n{paper.differences}\n\n| system | model |\n|---|---|\n"
        + "\n".join(rows)
        + "\n"
    )


def _number(value: float) -> str:
    return f"{value:.1f}" if value > 1 else f"{value:.3f}"
