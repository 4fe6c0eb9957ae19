"""Results of `benchmarks.quality`: a JSON file for each log, with the values of all queries for paired tests.

{"log", "docs", "clicked_docs", "retrieval", "queries": [id, …], "unseen": [0 or 1, …],
 "models": {name: {"spec", "single", "values": [nDCG@10, …], "AP", "R@100", "seconds", "ms", "commit"}},
 "left_out": {name: reason}}
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.evaluation.significance import bootstrap, t_test

Result = dict[str, Any]
GROUPS = ("all", "unseen")
MIN_QUERIES = 20  # a group with fewer has no figure


class Difference(NamedTuple):
    """Two models on the same queries of a log: means, the mean difference a − b, its interval and p-value."""

    a: str
    b: str
    group: str
    means: tuple[float, float]
    difference: float
    interval: tuple[float, float]
    p: float


def read_results(folder: Path) -> dict[str, Result]:
    """Return the stored results by log."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    return {result["log"]: result for result in found}


def store(folder: Path, result: Result) -> Result:
    """Add a result to the one stored for the same log, and return both together.

    Rows of other models stay as long as they were measured on the same queries.
    """
    path = folder / f"{result['log']}.json"
    if path.is_file():
        before = json.loads(path.read_text(encoding="utf-8"))
        if before["queries"] == result["queries"]:
            left_out = {
                name: reason for name, reason in before["left_out"].items() if name not in result["models"]
            }
            models = {name: row for name, row in before["models"].items() if name not in result["left_out"]}
            result = {
                **result,
                "models": {**models, **result["models"]},
                "left_out": {**left_out, **result["left_out"]},
            }
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, ensure_ascii=False) + "\n", encoding="utf-8")
    return result


def group_mask(result: Result, group: str) -> NDArray[np.bool_] | None:
    """Return which queries are in a group; None if they are too few, or if the group is all of them again."""
    unseen = np.array(result["unseen"], bool)
    if group == "all":
        return np.ones(len(unseen), bool)
    return unseen if MIN_QUERIES <= unseen.sum() < len(unseen) else None


def mean_and_interval(result: Result, model: str, group: str = "all") -> tuple[float, float, float] | None:
    """Return mean, low and high of a model's nDCG@10 over a group of queries."""
    mask = group_mask(result, group)
    if mask is None:
        return None
    values = np.array(result["models"][model]["values"])[mask]
    low, high = bootstrap(values[None])
    return float(values.mean()), float(low[0]), float(high[0])


def by_quality(result: Result) -> list[str]:
    """Return the models, best first."""
    models = result["models"]
    return sorted(models, key=lambda name: (-float(np.mean(models[name]["values"])), name))


def best_single(result: Result) -> str | None:
    """Return the single model with the highest mean, chosen with hindsight."""
    return next((name for name in by_quality(result) if result["models"][name]["single"]), None)


def difference(a: Result, first: str, b: Result, second: str, group: str = "all") -> Difference | None:
    """Compare a model of one result with a model of the same or another result for the same queries."""
    mask = group_mask(a, group)
    if mask is None or a["queries"] != b["queries"] or first not in a["models"] or second not in b["models"]:
        return None
    ours, theirs = (np.array(r["models"][name]["values"])[mask] for r, name in ((a, first), (b, second)))
    low, high = bootstrap((ours - theirs)[None])
    return Difference(
        first,
        second,
        group,
        (float(ours.mean()), float(theirs.mean())),
        float((ours - theirs).mean()),
        (float(low[0]), float(high[0])),
        t_test(ours - theirs),
    )
