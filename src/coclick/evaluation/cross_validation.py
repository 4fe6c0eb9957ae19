"""Cross-validation over two halves of the judged queries (Gao et al. 2011 §5.1).

Of several variants, the best on one half of the queries is measured on the other half, and vice versa. Both
together are a result on all queries in which no query had a part in choosing its own variant.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from coclick.errors import UserError
from coclick.evaluation.measures import MAIN_MEASURE
from coclick.evaluation.protocol import ModelResult
from coclick.models.registry import create
from coclick.models.spec import format_sum

MIN_QUERIES = 4  # two to choose by, two to test on


class CrossValidation(NamedTuple):
    """The combined result on all queries, and the variants that the first and second half chose."""

    result: ModelResult
    chosen: tuple[str, str]


def cross_validate(
    results: Sequence[ModelResult], *, measure: str = MAIN_MEASURE, seed: int = 0, name: str = ""
) -> CrossValidation:
    """Choose among variants on one half of the queries and measure on the other, both ways.

    Parameters:
        results: the results of the variants on the same judged queries. Of equal ones the first is chosen.
        measure: the measure to choose by.
        seed: random seed of the halves.
        name: the name of the combined result; without it, the names of the chosen variants.
    """
    if not results:
        raise UserError("there are no variants to choose from")
    queries = list(results[0].by_query)
    if any(result.by_query.keys() != results[0].by_query.keys() for result in results):
        raise UserError("the variants were not measured on the same queries")
    halves = halve(queries, seed)
    best = [max(results, key=lambda result: _mean(result, half, measure)) for half in halves]
    by = {query: other for half, other in zip(halves, reversed(best), strict=True) for query in half}
    names = (best[0].name, best[1].name)
    return CrossValidation(
        ModelResult(
            name or " | ".join(dict.fromkeys(names)),
            {query: by[query].rankings.get(query, []) for query in queries},
            {query: by[query].by_query[query] for query in queries},
            sum(result.seconds for result in results),
            {query: by[query].scores[query] for query in queries if query in by[query].scores},
        ),
        names,
    )


def halve(queries: Iterable[str], seed: int = 0) -> tuple[list[str], list[str]]:
    """Split queries at random into two halves; the order in which they are given has no influence."""
    ids = sorted(queries)
    if len(ids) < MIN_QUERIES:
        raise UserError(f"{len(ids)} judged queries are too few to select by and to test on")
    random.Random(seed).shuffle(ids)
    return ids[::2], ids[1::2]


def weight_grid(first: str, second: str) -> list[str]:
    """Return the sums of two models with weights of 0.1 and 0.9, 0.2 and 0.8, … 0.9 and 0.1."""
    specs = str(create(first)), str(create(second))
    return [format_sum([(tenths / 10, specs[0]), ((10 - tenths) / 10, specs[1])]) for tenths in range(1, 10)]


def _mean(result: ModelResult, queries: Sequence[str], measure: str) -> float:
    return float(np.mean([result.by_query[query][measure] for query in queries]))
