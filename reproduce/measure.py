"""Measure what a paper shows on a log: every table and figure becomes a plain dictionary for JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.evaluation.separability import separability
from reproduce import examples
from reproduce.jobs import Job, JobResult, sampled_queries
from reproduce.judged import Values
from reproduce.logs import Log
from reproduce.orders import Order, chance, judge
from reproduce.paper import (
    Ablation,
    Cost,
    Curve,
    Examples,
    Exhibit,
    Grid,
    Importance,
    Mix,
    Ordered,
    Paper,
    Separability,
    Similar,
    System,
    Table,
    Threads,
    UnseenVectors,
)
from reproduce.systems import NotMeasured, Systems, job_of, parts_of

MIN_QUERIES = 20  # for a mean
TOP_K = 3  # similar queries that are judged (Wu, Li & Xu 2013 §5.2)
TAIL_CLICKS = 10  # queries with fewer clicks are tail queries
GRADED_PAIRS = 500  # of each grade (Jiang et al. 2016 §4.4)
Answer = dict[str, Any]


def exhibits_on(paper: Paper, log: Log) -> list[Exhibit]:
    """Return the tables and figures that a log can stand for."""
    return [
        exhibit
        for exhibit in paper.exhibits
        if exhibit.log in log.source.stands_for
        and (not isinstance(exhibit, Threads) or exhibit.log == log.source.name)  # small logs show nothing
    ]


def jobs_for(paper: Paper, log: Log) -> list[Job]:
    """Return all jobs that a paper needs on a log."""
    jobs: list[Job] = []
    for exhibit in exhibits_on(paper, log):
        jobs += _jobs(exhibit, paper.systems, log)
    for _, _, changed, exhibit in _ablations(paper, log):
        jobs += _jobs(exhibit, changed.systems, log)
    return jobs


def measure_paper(paper: Paper, log: Log) -> Answer:
    """Measure all tables, figures and ablations of a paper on a log, from the results of its jobs."""
    systems = Systems(paper, log)
    shown = [_checked(exhibit, systems) for exhibit in exhibits_on(paper, log)]
    ablations = [
        {
            **_checked(exhibit, Systems(changed, log)),
            "number": number,
            "why": ablation.why,
            "change": _describe(ablation, log),
        }
        for number, ablation, changed, exhibit in _ablations(paper, log)
    ]
    return {"exhibits": shown, "ablations": ablations, "models": _models(systems, log)}


def _checked(exhibit: Exhibit, systems: Systems) -> Answer:
    found = {"name": exhibit.name, "kind": type(exhibit).__name__, "log": exhibit.log}
    if isinstance(exhibit, Table):
        found["group"] = exhibit.queries
    try:
        return {**found, **measure(exhibit, systems)}
    except NotMeasured as error:
        orders = [{"order": text, "verdicts": {}} for text in getattr(exhibit, "orders", ())]
        return {**found, "not_measured": str(error), "orders": orders}


def _models(systems: Systems, log: Log) -> Answer:
    """The model and the training time of every system that has a result."""
    found: Answer = {}
    for name, made in systems.paper.systems.items():
        if isinstance(made, str | Grid) and (result := JobResult.read(job_of(made, log), log)):
            info = result.info
            found[name] = {key: info[key] for key in ("spec", "model", "seconds", "error") if key in info}
    return found


# -- ablations -----------------------------------------------------------------------------------------


def _ablations(paper: Paper, log: Log) -> list[tuple[int, Ablation, Paper, Ordered]]:
    """The ablations on this log, with their number, the changed paper, and the exhibit of the order."""
    found = []
    for number, ablation in enumerate(paper.ablations):
        exhibit = exhibit_of(ablation, paper)
        if (ablation.log or exhibit.log) == log.source.name:
            changed = replace(paper, systems={**paper.systems, **ablation.systems})
            found.append((number, ablation, changed, _narrowed(exhibit, ablation)))
    return found


def exhibit_of(ablation: Ablation, paper: Paper) -> Ordered:
    """Return the table or figure that has the order of an ablation."""
    return next(
        one
        for one in paper.exhibits
        if isinstance(one, Ordered) and one.name == ablation.exhibit and ablation.order in one.orders
    )


def _narrowed(exhibit: Ordered, ablation: Ablation) -> Ordered:
    """The exhibit with this order and its systems only."""
    orders, names = (ablation.order,), Order.parse(ablation.order).names
    if isinstance(exhibit, Table):
        return replace(exhibit, values={name: exhibit.values[name] for name in names}, orders=orders)
    if isinstance(exhibit, Similar):
        others = tuple(name for name in names if name != exhibit.ours)
        return replace(exhibit, others=others, orders=orders)
    if isinstance(exhibit, UnseenVectors):
        spec, queries = ablation.spec or exhibit.spec, ablation.queries or exhibit.queries
        return replace(exhibit, spec=spec, queries=queries, orders=orders)  # type: ignore[arg-type]
    return replace(exhibit, orders=orders)


def _describe(ablation: Ablation, log: Log) -> str:
    changes = [f"log {ablation.log}"] if ablation.log else []
    changes += [f"`{ablation.spec.format(**log.settings)}`"] if ablation.spec else []
    changes += [f"queries that are {ablation.queries.replace('+', ' and ')}"] if ablation.queries else []
    for name, made in ablation.systems.items():
        spec = made.spec if isinstance(made, Grid) else made
        assert isinstance(spec, str)
        changes.append(f"{name} is `{spec.format(**log.settings)}`")
    return "; ".join(changes)


# -- jobs of each kind of exhibit ----------------------------------------------------------------------


def _jobs(exhibit: Exhibit, systems: Mapping[str, System], log: Log) -> list[Job]:
    if isinstance(exhibit, UnseenVectors):
        return [Job(exhibit.spec.format(**log.settings), units=True)]
    if isinstance(exhibit, Threads):
        return [_timing(exhibit, systems, log)]
    if isinstance(exhibit, Curve):
        return [_point(exhibit, systems, point, log) for point in _points(exhibit, log)]
    names = parts_of(systems, _names(exhibit))
    jobs = [job_of(systems[name], log) for name in names]
    if isinstance(exhibit, Similar):
        jobs = [replace(job, neighbours=True) for job in jobs]
    if isinstance(exhibit, Examples):
        jobs = [examples.request(exhibit, job, log) for job in jobs]
    return jobs


def _names(exhibit: Exhibit) -> list[str]:
    if isinstance(exhibit, Table | Cost):
        return list(exhibit.values)
    if isinstance(exhibit, Similar):
        return [exhibit.ours, *exhibit.others]
    if isinstance(exhibit, Importance):
        return [exhibit.ranker]
    return list(getattr(exhibit, "systems", ()))


def _points(exhibit: Curve, log: Log) -> list[int]:
    """The points up to the setting of the log."""
    return [point for point in exhibit.points if point <= log.settings.get("max_dim", point)]


def _point(exhibit: Curve, systems: Mapping[str, System], point: int, log: Log) -> Job:
    made = systems[exhibit.system]
    assert isinstance(made, str)
    return Job(made.format(**{**log.settings, exhibit.parameter: point}))


def _timing(exhibit: Threads, systems: Mapping[str, System], log: Log) -> Job:
    return replace(job_of(systems[exhibit.system], log), timed=exhibit.threads)


# -- measurements --------------------------------------------------------------------------------------


@singledispatch
def measure(exhibit: Any, systems: Systems) -> Answer:
    """Measure one table or figure."""
    raise TypeError(exhibit)


@measure.register
def _(exhibit: Table, systems: Systems) -> Answer:
    queries = systems.measured & systems.log.group(exhibit.queries)
    if queries.sum() < MIN_QUERIES:
        raise NotMeasured(f"only {queries.sum()} judged queries")
    missing: dict[str, str] = {}
    values: dict[str, dict[str, Values]] = {measure: {} for measure in exhibit.measures}
    for name in exhibit.values:
        try:
            for measured in exhibit.measures:
                values[measured][name] = systems.values(name, measured)[queries]
        except NotMeasured as error:
            missing[name] = str(error)
    rows = {
        name: [float(values[measured][name].mean()) for measured in exhibit.measures]
        for name in exhibit.values
        if name not in missing
    }
    return {
        "queries": int(queries.sum()),
        "group": exhibit.queries,
        "measures": exhibit.measures,
        "paper": exhibit.values,
        "rows": rows,
        "missing": missing,
        "chosen": {name: systems.chosen[name] for name in rows if name in systems.chosen},
        "orders": [_order(text, values, systems.paper, [*rows]) for text in exhibit.orders],
    }


def _order(
    text: str, values: Mapping[str, Mapping[str, Values]], paper: Paper, available: Sequence[str]
) -> Answer:
    """Judge an order, restricted to the systems that are measured, by every measure."""
    order = Order.parse(text).restricted_to(available)
    if not order.relations:
        return {"order": text, "verdicts": {}}
    verdicts = {
        name: [
            {"a": v.a, "relation": v.relation, "b": v.b, "difference": v.difference, "p": v.p,
             "significant": v.significant, "holds": v.holds}
            for v in judge(order, by_system, paper.test, paper.level)
        ]
        for name, by_system in values.items()
    }  # fmt: skip
    return {"order": text, "judged": str(order), "chance": chance(order), "verdicts": verdicts}


def _single(orders: Sequence[str], name: str, values: Mapping[str, float], paper: Paper) -> list[Answer]:
    """Judge orders of single values."""
    arrays = {system: np.array([value]) for system, value in values.items()}
    return [_order(text, {name: arrays}, paper, [*values]) for text in orders]


@measure.register
def _(exhibit: Similar, systems: Systems) -> Answer:
    log = systems.log
    intents = log.intents()
    if not intents:
        raise NotMeasured("similar queries are unknown for this log")
    queries = sampled_queries(log)
    graph = log.graph()
    clicks = graph.clicks.row_sums()[graph.queries.lookup(queries)]
    chosen = clicks < TAIL_CLICKS if exhibit.tail else np.ones(len(queries), bool)
    if chosen.sum() < MIN_QUERIES:
        raise NotMeasured(f"only {chosen.sum()} tail queries")

    def grade(rows: NDArray[np.int32]) -> Values:
        return np.array(
            [
                sum(row >= 0 and intents.get(graph.queries[int(row)]) == intents[query] for row in found)
                / TOP_K
                for query, found in zip(queries, rows, strict=True)
            ]
        )

    values: dict[str, Values] = {}
    for name in (exhibit.ours, *exhibit.others):
        values[name] = _tuned_neighbours(name, systems, grade, len(graph.queries))[chosen]
    ours = values[exhibit.ours]
    return {
        "queries": int(chosen.sum()),
        "ours": exhibit.ours,
        "grade": {name: float(found.mean()) for name, found in values.items()},
        "pos_com_neg": {
            name: [float((ours > values[name]).mean()), float((ours == values[name]).mean()),
                   float((ours < values[name]).mean())]
            for name in exhibit.others
        },
        "chosen": {name: systems.chosen[f"similar {name}"] for name in values
                   if f"similar {name}" in systems.chosen},
        "orders": [_order(text, {f"grade@{TOP_K}": values}, systems.paper, [*values])
                   for text in exhibit.orders],
    }  # fmt: skip


def _tuned_neighbours(
    name: str, systems: Systems, grade: Callable[[NDArray[np.int32]], Values], columns: int
) -> Values:
    """The grades of a system's similar queries; of a mix, with the best weight, as in the paper."""
    made = systems.paper.systems[name]
    if not isinstance(made, Mix):
        return grade(systems.result(name).arrays["neighbours"][:, :TOP_K])
    parts = [systems.result(part).arrays for part in (made.a, made.b)]
    best: Values | None = None
    for weight in made.weights:
        rows = _mixed_neighbours(parts, (weight, 1 - weight), columns)
        found = grade(rows)
        if best is None or found.mean() > best.mean():
            best, systems.chosen[f"similar {name}"] = found, [weight]
    assert best is not None
    return best


def _mixed_neighbours(
    parts: Sequence[Mapping[str, NDArray[Any]]], weights: Sequence[float], columns: int
) -> NDArray[np.int32]:
    """The most similar queries by a weighted sum, each part divided by its best similarity."""
    count = len(parts[0]["neighbours"])
    out = np.full((count, TOP_K), -1, np.int32)
    for i in range(count):
        total: dict[int, float] = {}
        for weight, part in zip(weights, parts, strict=True):
            rows, similarities = part["neighbours"][i], part["similarities"][i]
            for row, value in zip(rows[rows >= 0].tolist(), similarities.tolist(), strict=False):
                total[row] = total.get(row, 0) + weight * value / max(float(similarities[0]), 1e-12)
        found = sorted(total, key=lambda row: (-total[row], row))[:TOP_K]
        out[i, : len(found)] = found
    return out


@measure.register
def _(exhibit: Curve, systems: Systems) -> Answer:
    log, queries = systems.log, systems.measured
    points, seconds = [], []
    lines: dict[str, list[float]] = {name: [] for name in exhibit.measures}
    for point in _points(exhibit, log):
        found = JobResult.read(_point(exhibit, systems.paper.systems, point, log), log)
        if found is None or "error" in found.info:
            continue
        points.append(point)
        seconds.append(found.info["seconds"])
        for name in exhibit.measures:
            lines[name].append(float(systems.judged.measure(found.arrays["scores"][0], name)[queries].mean()))
    if not points:
        raise NotMeasured("no point was measured")
    return {"parameter": exhibit.parameter, "points": points, "lines": lines, "seconds": seconds,
            "system": exhibit.system}  # fmt: skip


@measure.register
def _(exhibit: Importance, systems: Systems) -> Answer:
    systems.scores(exhibit.ranker)
    found = systems.importance[exhibit.ranker]
    return {"importance": found, "orders": _single(exhibit.orders, "importance", found, systems.paper)}


@measure.register
def _(exhibit: Separability, systems: Systems) -> Answer:
    grades = systems.judged.grades
    rng = np.random.default_rng(0)
    sampled = np.concatenate(
        [rng.permutation(np.flatnonzero(grades == grade))[:GRADED_PAIRS] for grade in np.unique(grades)]
    )
    curves, in_order, missing = {}, {}, {}
    for name in exhibit.systems:
        try:
            scores = systems.scores(name)
        except NotMeasured as error:
            missing[name] = str(error)
            continue
        labels = {str(i): {"": int(grades[i])} for i in sampled.tolist()}
        found = separability(labels, {str(i): scores[i : i + 1] for i in sampled.tolist()})
        curves[name] = {str(grade): curve for grade, curve in found.curves.items()}
        in_order[name] = found.in_order
    return {"curves": curves, "in_order": in_order, "missing": missing, "pairs": len(sampled),
            "orders": _single(exhibit.orders, "pairs in order", in_order, systems.paper)}  # fmt: skip


@measure.register
def _(exhibit: UnseenVectors, systems: Systems) -> Answer:
    found = JobResult.read(Job(exhibit.spec.format(**systems.log.settings), units=True), systems.log)
    if found is None or "error" in found.info:
        raise NotMeasured(found.info["error"] if found else "it has not been run")
    arrays = {name: found.arrays[name][1:] for name in ("cosine", "nDCG@10", "covered")}  # no mean vector
    chosen = np.ones(arrays["covered"].shape[1], bool)
    if "covered" in exhibit.queries:
        chosen &= arrays["covered"].all(axis=0)
    if "linked" in exhibit.queries:
        chosen &= found.arrays["linked"]
    if chosen.sum() < MIN_QUERIES:
        raise NotMeasured(f"only {chosen.sum()} held-out queries")
    values = {
        name: {system: arrays[name][i][chosen] for i, system in enumerate(exhibit.values)}
        for name in ("cosine", "nDCG@10")
    }
    rows = {
        system: {
            **{name: float(by_system[system].mean()) for name, by_system in values.items()},
            "coverage": float(arrays["covered"][i][chosen].mean()),
        }
        for i, system in enumerate(exhibit.values)
    }
    return {"rows": rows, "paper": exhibit.values, "queries": int(chosen.sum()),
            "linked": float(found.arrays["linked"].mean()),
            "orders": [_order(text, values, systems.paper, [*rows]) for text in exhibit.orders]}  # fmt: skip


@measure.register
def _(exhibit: Threads, systems: Systems) -> Answer:
    found = JobResult.read(_timing(exhibit, systems.paper.systems, systems.log), systems.log)
    if found is None or "error" in found.info:
        raise NotMeasured(found.info["error"] if found else "it has not been run")
    return {"system": exhibit.system, "timings": found.info["timings"], "paper": exhibit.values}


@measure.register
def _(exhibit: Cost, systems: Systems) -> Answer:
    seconds = {name: float(systems.result(name).info["seconds"]) for name in exhibit.values}
    faster = {name: -value for name, value in seconds.items()}
    orders = _single(exhibit.orders, "speed", faster, systems.paper)
    return {"seconds": seconds, "paper": exhibit.values, "orders": orders}


@measure.register
def _(exhibit: Examples, systems: Systems) -> Answer:
    return {"shown": exhibit.shown, "examples": examples.show(exhibit, systems)}
