"""How good are similar queries? Paper 000 §5.4.2: the three nearest of each, won, tied and lost in pairs.

Labels are pairs of queries with a grade, or intents: two queries of one intent are similar (grade 1). A
query's score is the mean grade of its nearest three; a place left empty, or filled by a pair without a label,
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
from coclick.evaluation.formats import is_number, lines, read_text
from coclick.evaluation.leaderboard import Trainer
from coclick.evaluation.significance import Values, paired_tests
from coclick.graph.click_graph import ClickGraph
from coclick.progress import Progress, quiet
from coclick.text.normalise import normalise

TOP = 3
SAMPLED = 500
TAIL = 10  # clicks, below which a query is of the tail


@dataclass(frozen=True)
class Labels:
    """The queries that can be judged, and the grade of a pair."""

    queries: list[str]
    grade: Callable[[str, str], float]


def read_intents(path: str | Path) -> Labels:
    """`query<TAB>intent` lines, with a header or without: what `coclick sample` writes as intents.tsv."""
    intents: dict[str, str] = {}
    for _, cells in _rows(path, 2):
        intents[normalise(cells[0])] = cells[1]
    intents.pop("query", None)
    return Labels(list(intents), lambda a, b: float(a in intents and intents[a] == intents.get(b)))


def read_pairs(path: str | Path) -> Labels:
    """`query<TAB>query<TAB>grade` lines; a pair holds in both directions."""
    grades: dict[tuple[str, str], float] = {}
    for number, (where, cells) in enumerate(_rows(path, 3)):
        if not is_number(cells[2]):
            if number == 0:
                continue
            raise UserError(f"the grade {cells[2]!r} is not a number", where=where)
        a, b = normalise(cells[0]), normalise(cells[1])
        grades[a, b] = grades[b, a] = float(cells[2])
    return Labels(list(dict.fromkeys(a for a, _ in grades)), lambda a, b: grades.get((a, b), 0.0))


def compare_similar(
    graph: ClickGraph,
    labels: Labels,
    models: Sequence[str],
    baseline: str,
    *,
    seed: int = 0,
    progress: Progress = quiet,
) -> dict[str, Any]:
    """Each model's mean grade for all, head and tail queries, and its wins against the baseline."""
    return _summary(*grade_similar(graph, labels, [baseline, *models], seed=seed, progress=progress))


def grade_similar(
    graph: ClickGraph, labels: Labels, models: Sequence[str], *, seed: int = 0, progress: Progress = quiet
) -> tuple[dict[str, Values], NDArray[np.bool_]]:
    """Each model's grade for each of the sampled queries, and which of them are of the tail."""
    rows = graph.queries.lookup(labels.queries)
    clicks = np.where(rows >= 0, graph.clicks.row_sums()[rows], 0)
    known = [query for query, count in zip(labels.queries, clicks, strict=True) if count > 0]
    if not known:
        raise UserError(
            "none of the labelled queries has clicks in the graph",
            hint=f"labelled are {', '.join(labels.queries[:3])}",
        )
    asked = [known[i] for i in np.random.default_rng(seed).permutation(len(known))[:SAMPLED]]
    traffic = dict(zip(labels.queries, clicks.tolist(), strict=True))
    tail = np.array([traffic[query] < TAIL for query in asked])
    trainer = Trainer(graph, progress)
    trainer.check(models)
    values = {}
    for spec in dict.fromkeys(models):
        model, _ = trainer.get(spec)
        run = model.similar_queries(asked, TOP)
        values[str(model)] = np.array(
            [
                sum(labels.grade(query, other) for other, _ in run.hits(i)) / TOP
                for i, query in enumerate(asked)
            ]
        )
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
            tests += [{"queries": group, **row} for row in paired_tests(part, f"grade@{TOP}", pairs)]
    return {"queries": len(tail), "baseline": baseline, "models": models, "significance": tests}


def _rows(path: str | Path, columns: int) -> list[tuple[str, list[str]]]:
    found = []
    for where, line in lines(read_text(path), path):
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) < columns:
            raise UserError(f"{columns} columns are needed, separated by tabs", where=where)
        found.append((where, cells))
    if not found:
        raise UserError("no labels here", where=str(path))
    return found
