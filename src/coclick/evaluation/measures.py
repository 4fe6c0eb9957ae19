"""Measures of rankings, query by query, computed by ir-measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coclick.errors import UserError

MAIN_MEASURE = "nDCG@10"
MEASURES = (MAIN_MEASURE, "nDCG@1", "nDCG@3", "nDCG@5", "AP", "RR", "P@10", "R@100", "Judged@10")
GAINS = ("linear", "exponential")

Grades = Mapping[str, Mapping[str, int]]
Rankings = Mapping[str, Sequence[str]]


def measure(
    grades: Grades, rankings: Rankings, measures: Sequence[str] = MEASURES, gain: str = "linear"
) -> dict[str, dict[str, float]]:
    """Return {query: {measure: value}} for each judged query; a query without a ranking counts as zero.

    The order of a ranking is final: ties are already broken. Exponential gain replaces grade g by 2^g − 1 in
    nDCG; the other measures only use whether a grade is above zero.
    """
    try:
        import ir_measures
    except ImportError:
        raise UserError("evaluation needs ir-measures", hint='pip install "coclick[eval]"') from None
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
    """Return the mean of each measure over some queries."""
    names = next(iter(by_query.values())).keys()
    return {name: sum(by_query[query][name] for query in queries) / len(queries) for name in names}


def _gain(grade: int, gain: str) -> int:
    return (1 << grade) - 1 if gain == "exponential" else grade
