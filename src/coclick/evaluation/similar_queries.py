"""Evaluation of similar queries (Wu, Li & Xu 2013, §5.4.2): the three most similar of each query.

Labels are pairs of queries with a grade, or intents: two queries with the same intent are similar (grade 1).
A query's score is the mean grade of its three most similar queries; a missing one, or a pair without a label,
counts as zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError
from coclick.evaluation.judgment_files import is_number, lines, read_text
from coclick.evaluation.leaderboard import Trainer
from coclick.evaluation.significance import Values, paired_tests
from coclick.graph.click_graph import ClickGraph
from coclick.progress import Progress, quiet
from coclick.text.normalise import normalise

TOP_K = 3
MAX_QUERIES = 500
TAIL_CLICKS = 10  # queries with fewer clicks are tail queries


@dataclass(frozen=True)
class SimilarityLabels:
    """The labelled queries, and the grade of a pair of queries."""

    queries: list[str]
    grade: Callable[[str, str], float]


def read_intents(path: str | Path) -> SimilarityLabels:
    """Read lines of `query<TAB>intent`, such as the intents.tsv of `coclick sample`; a header is optional."""
    intents: dict[str, str] = {}
    for _, cells in _rows(path, 2):
        intents[normalise(cells[0])] = cells[1]
    intents.pop("query", None)
    return SimilarityLabels(list(intents), lambda a, b: float(a in intents and intents[a] == intents.get(b)))


def read_pairs(path: str | Path) -> SimilarityLabels:
    """Read lines of `query<TAB>query<TAB>grade`; the order of the two queries does not matter."""
    grades: dict[tuple[str, str], float] = {}
    for number, (where, cells) in enumerate(_rows(path, 3)):
        if not is_number(cells[2]):
            if number == 0:
                continue
            raise UserError(f"the grade {cells[2]!r} is not a number", where=where)
        a, b = normalise(cells[0]), normalise(cells[1])
        grades[a, b] = grades[b, a] = float(cells[2])
    return SimilarityLabels(list(dict.fromkeys(a for a, _ in grades)), lambda a, b: grades.get((a, b), 0.0))


def compare_similar(
    graph: ClickGraph, labels: SimilarityLabels, models: Sequence[str], baseline: str, **options: Any
) -> dict[str, Any]:
    """Return each model's mean grade for all, head and tail queries, and tests against the baseline.

    The options are those of `grade_similar`.
    """
    return _summary(*grade_similar(graph, labels, [baseline, *models], **options))


def grade_similar(
    graph: ClickGraph,
    labels: SimilarityLabels,
    models: Sequence[str],
    *,
    seed: int = 0,
    progress: Progress = quiet,
) -> tuple[dict[str, Values], NDArray[np.bool_]]:
    """Return each model's grades of the sampled queries, and which of them are tail queries."""
    rows = graph.queries.lookup(labels.queries)
    clicks = np.where(rows >= 0, graph.clicks.row_sums()[rows], 0)
    known = [query for query, count in zip(labels.queries, clicks, strict=True) if count > 0]
    if not known:
        raise UserError(
            "none of the labelled queries has clicks in the graph",
            hint=f"labelled queries: {', '.join(labels.queries[:3])}",
        )
    sampled = [known[i] for i in np.random.default_rng(seed).permutation(len(known))[:MAX_QUERIES]]
    traffic = dict(zip(labels.queries, clicks.tolist(), strict=True))
    tail = np.array([traffic[query] < TAIL_CLICKS for query in sampled])
    trainer = Trainer(graph, progress)
    trainer.check(models)
    values = {}
    for spec in dict.fromkeys(models):
        model, _ = trainer.get(spec)
        run = model.similar_queries(sampled, TOP_K)
        sums = [
            sum(labels.grade(query, other) for other, _ in run.hits(i)) for i, query in enumerate(sampled)
        ]
        values[str(model)] = np.array(sums) / TOP_K
    return values, tail


def _summary(values: Mapping[str, Values], tail: NDArray[np.bool_]) -> dict[str, Any]:
    baseline = next(iter(values))
    groups = {"all": np.ones(len(tail), bool), "head": ~tail, "tail": tail}
    models = [
        {"name": name, **{group: float(found[mask].mean()) for group, mask in groups.items() if mask.any()}}
        for name, found in values.items()
    ]
    tests = []
    for group, mask in groups.items():
        if mask.any():
            part = {name: found[mask] for name, found in values.items()}
            pairs = [(name, baseline) for name in part if name != baseline]
            tests += [{"queries": group, **row} for row in paired_tests(part, f"grade@{TOP_K}", pairs)]
    return {"queries": len(tail), "baseline": baseline, "models": models, "significance": tests}


def _rows(path: str | Path, columns: int) -> list[tuple[str, list[str]]]:
    found = []
    for where, line in lines(read_text(path), path):
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) < columns:
            raise UserError(f"the line needs {columns} columns, separated by tabs", where=where)
        found.append((where, cells))
    if not found:
        raise UserError("the file has no labels", where=str(path))
    return found
