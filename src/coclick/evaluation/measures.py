"""Measures by ir-measures, one place for all of them: what a run of one model is worth, query by query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coclick.errors import UserError

MAIN = "nDCG@10"
MEASURES = (MAIN, "nDCG@1", "nDCG@3", "nDCG@5", "AP", "RR", "P@10", "R@100", "Judged@10")
GAINS = ("linear", "exponential")

Grades = Mapping[str, Mapping[str, int]]
Rankings = Mapping[str, Sequence[str]]


def measure(
    grades: Grades, rankings: Rankings, measures: Sequence[str] = MEASURES, gain: str = "linear"
) -> dict[str, dict[str, float]]:
    """Each measure of each judged query. A query that is missing from the run counts as zero, here.

    Rankings are taken as they stand: ties were broken by whoever ranked. Exponential gain values grade g at
    2^g − 1 in nDCG; the other measures ask only whether a grade is above zero.
    """
    try:
        import ir_measures
    except ImportError:
        raise UserError("measures need ir-measures", hint='pip install "coclick[eval]"') from None
    wanted = [ir_measures.parse_measure(name) for name in measures]
    names = {str(parsed): name for parsed, name in zip(wanted, measures, strict=True)}
    values = {query: dict.fromkeys(measures, 0.0) for query in grades}
    run = {
        query: {doc: float(len(docs) - rank) for rank, doc in enumerate(docs)}
        for query, docs in rankings.items()
        if len(docs)
    }
    gains = {
        query: {doc: _gain(grade, gain) for doc, grade in found.items()} for query, found in grades.items()
    }
    if run:
        for metric in ir_measures.iter_calc(wanted, gains, run):
            if metric.query_id in values:
                values[metric.query_id][names[str(metric.measure)]] = float(metric.value)
    return values


def mean(by_query: Mapping[str, Mapping[str, float]], queries: Sequence[str]) -> dict[str, float]:
    """The mean of each measure over some queries."""
    names = next(iter(by_query.values())).keys()
    return {name: sum(by_query[query][name] for query in queries) / len(queries) for name in names}


def _gain(grade: int, gain: str) -> int:
    return (1 << grade) - 1 if gain == "exponential" else grade
