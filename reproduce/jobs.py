"""Jobs: what has to be computed on a log, each once, stored so that a later run can go on.

A job trains one model and keeps only what the experiments read: the scores of all judged pairs, similar
queries of sampled queries, and a few figures. Jobs run in several processes.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.errors import CoclickError
from coclick.evaluation.unit_vectors import unit_values
from coclick.graph.click_graph import ClickGraph
from coclick.jit.threads import set_threads, threads
from coclick.models.base import Model
from coclick.models.propagation.vpcg import VPCG
from coclick.models.registry import create
from reproduce.logs import Log

Arrays = dict[str, NDArray[Any]]
N_SAMPLED = 500  # queries whose similar queries are compared (Wu, Li & Xu 2013 §5.2)
HELD_OUT = 0.2  # of the queries, whose vectors are generated (Table 5 of Jiang et al. 2016)
N_TIMINGS = 3  # of each number of threads; the shortest counts
N_NEIGHBOURS = 100  # similar queries that are kept of each, for combinations
_STATS = ("effective_rank", "views", "chosen_rounds", "notes", "curve")
_QUERIES_PER_STEP = 256


@dataclass(frozen=True)
class Job:
    """A model on a log, trained with some settings.

    With `values`, the scores are computed once for each value of `parameter`, without training again.
    `neighbours` adds similar queries; `units` compares generated vectors instead of scoring (Table 5 of
    Jiang et al. 2016); `timed` trains with these numbers of threads instead, while no other job runs.
    `expand` are queries whose vectors are shown, `split` those whose units are.
    """

    spec: str
    parameter: str = ""
    values: tuple[float, ...] = ()
    neighbours: bool = False
    units: bool = False
    timed: tuple[int, ...] = ()
    expand: tuple[str, ...] = ()
    split: tuple[str, ...] = ()

    def path(self, log: Log) -> Path:
        """The file of the result, without ending."""
        text = json.dumps([self.spec, self.parameter, self.values, self.units, self.timed])
        return log.directory / "jobs" / hashlib.blake2b(text.encode(), digest_size=10).hexdigest()

    def is_done(self, log: Log) -> bool:
        """Return whether a stored result has all that this job asks for."""
        found = JobResult.read(self, log)
        return found is not None and (
            "error" in found.info
            or (
                (not self.neighbours or "neighbours" in found.arrays)
                and {*self.expand} <= {*found.info.get("vectors", ())}
                and {*self.split} <= {*found.info.get("units", ())}
            )
        )

    def run(self, log: Log) -> None:
        """Compute and store the result; an error that users may see becomes the result."""
        started = time.perf_counter()
        arrays: Arrays = {}
        found: dict[str, Any] = {}
        try:
            if self.units:
                found["methods"] = self._compare_units(log.graph(), arrays)
            elif self.timed:
                found["timings"] = self._time(log.graph())
            else:
                found |= self._train(log, arrays)
        except (CoclickError, MemoryError) as error:
            found["error"] = getattr(error, "what", "") or type(error).__name__
        found["spec"], found["total_seconds"] = self.spec, time.perf_counter() - started
        path = self.path(log)
        path.parent.mkdir(exist_ok=True)
        np.savez(path.with_suffix(".npz"), **arrays)  # type: ignore[arg-type]
        path.with_suffix(".json").write_text(json.dumps(found, default=float), encoding="utf-8")

    def _compare_units(self, graph: ClickGraph, arrays: Arrays) -> list[str]:
        """Store the values of each held-out query, one row for each method; return the methods."""
        values = unit_values(graph, self.spec, HELD_OUT)
        for name in ("cosine", "nDCG@10", "covered"):
            arrays[name] = np.stack([found[name] for found in values.values()])
        arrays["linked"] = linked_queries(graph, HELD_OUT)
        return list(values)

    def _time(self, graph: ClickGraph) -> dict[str, list[float]]:
        """Train several times with each number of threads; return the seconds by the clock."""
        found: dict[str, list[float]] = {str(count): [] for count in self.timed}
        usual = threads()
        try:
            for _ in range(N_TIMINGS):
                for count in self.timed:
                    set_threads(count)
                    started = time.perf_counter()
                    create(self.spec).fit(graph)
                    found[str(count)].append(time.perf_counter() - started)
        finally:
            set_threads(usual)
        return found

    def _train(self, log: Log, arrays: Arrays) -> dict[str, Any]:
        model = create(self.spec)
        model.check_requirements(log.graph())
        started = time.process_time()
        model.fit(log.graph())
        seconds = time.process_time() - started  # of the processor: other jobs run at the same time
        arrays["scores"] = self._scores(model, log)
        if self.neighbours:
            queries = sampled_queries(log)
            arrays["neighbours"], arrays["similarities"] = similar(model, queries)
        stats = {name: model.stats_[name] for name in _STATS if name in model.stats_}
        vectors = {text: model.expand(text)[:20] for text in self.expand}
        units = {text: units_of(model, text) for text in self.split}
        return {"model": str(model), "seconds": seconds, "stats": stats, "vectors": vectors, "units": units}

    def _scores(self, model: Model, log: Log) -> NDArray[np.float32]:
        """The scores of all judged pairs: one row for each value of the parameter."""
        rows = []
        for value in self.values or (None,):
            if value is not None:
                setattr(model, self.parameter, value)
            rows.append(score_pairs(model, log))
        return np.stack(rows)


@dataclass(frozen=True)
class JobResult:
    """The stored result of a job."""

    info: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]

    @classmethod
    def read(cls, job: Job, log: Log) -> JobResult | None:
        """Return the result, or None if the job has not run yet."""
        path = job.path(log)
        if not path.with_suffix(".json").is_file():
            return None
        info = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        with np.load(path.with_suffix(".npz")) as arrays:
            return cls(info, dict(arrays))


def merge(jobs: Iterable[Job]) -> list[Job]:
    """Return each model once, with all that any job asks of it."""
    merged: dict[tuple[Any, ...], Job] = {}
    for job in jobs:
        key = job.spec, job.parameter, job.values, job.units, job.timed
        if (known := merged.get(key)) is not None:
            expand = tuple(dict.fromkeys(known.expand + job.expand))
            split = tuple(dict.fromkeys(known.split + job.split))
            job = replace(job, neighbours=job.neighbours or known.neighbours, expand=expand, split=split)
        merged[key] = job
    return list(merged.values())


def linked_queries(graph: ClickGraph, fraction: float) -> NDArray[np.bool_]:
    """Mark the held-out queries that share a clicked document with a query that is not held out."""
    train, held = graph.split("queries", fraction, 0)
    clicked = train.clicks_by_doc.row_nnz() > 0
    rows = np.flatnonzero(held.row_nnz() > 0)
    return np.array([bool(clicked[held.row(row)[0]].any()) for row in rows.tolist()])


def score_pairs(model: Model, log: Log) -> NDArray[np.float32]:
    """Return the scores of all judged pairs; documents that the graph does not have get 0."""
    judged, docs = log.judged(), log.graph().docs
    known = docs.lookup([doc for found in judged.docs for doc in found]) >= 0
    scores = np.zeros(len(judged.grades), np.float32)
    for first in range(0, len(judged.texts), _QUERIES_PER_STEP):
        last = min(first + _QUERIES_PER_STEP, len(judged.texts))
        candidates = [
            [
                doc
                for doc, is_known in zip(judged.docs[q], known[judged.starts[q] :], strict=False)
                if is_known
            ]
            for q in range(first, last)
        ]
        found = model.score(judged.texts[first:last], candidates)
        part = slice(judged.starts[first], judged.starts[last])
        scores[part][known[part]] = np.concatenate(found)
    return np.nan_to_num(scores)


def units_of(model: Model, text: str) -> list[tuple[str, float, list[tuple[str, float]]]]:
    """Return the units of an unseen query, with their weights and vectors, heaviest word first."""
    assert isinstance(model, VPCG)
    encoder = model._unit_encoder
    assert encoder.units is not None
    units, weights = encoder.units.mixture([text], encoder.splitter).row(0)
    labels = encoder.units._labels(units, model.display_terms_)
    found = []
    for unit, weight, label in zip(units.tolist(), weights.tolist(), labels, strict=True):
        terms, values = encoder.units.vectors.row(unit)
        order = np.argsort(-values, kind="stable")
        vector = [(model.display_terms_[int(terms[i])], float(values[i])) for i in order.tolist()]
        found.append((label, weight, vector))
    return found


def sampled_queries(log: Log) -> list[str]:
    """Return the sample of clicked queries whose intent is known, for experiments on similar queries."""
    graph, intents = log.graph(), log.intents()
    clicked = graph.clicks.row_sums() > 0
    known = [query for row, query in enumerate(graph.queries) if clicked[row] and query in intents]
    return [known[i] for i in np.random.default_rng(0).permutation(len(known))[:N_SAMPLED]]


def similar(model: Model, queries: list[str]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return the most similar queries, as rows of the graph, and their similarities."""
    rows = np.full((len(queries), N_NEIGHBOURS), -1, np.int32)
    scores = np.zeros((len(queries), N_NEIGHBOURS), np.float32)
    run = model.similar_queries(queries, N_NEIGHBOURS)
    for i in range(len(queries)):
        hits = run.hits(i)
        rows[i, : len(hits)] = model.graph_.queries.lookup([query for query, _ in hits])
        scores[i, : len(hits)] = [score for _, score in hits]
    return rows, scores
