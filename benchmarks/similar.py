"""Similar queries: nDCG@10 of models, against the recommended one, by held-out clicks and by intents.

    python -m benchmarks --only similar

    bestbuy     real clicks of a shop; the clicks of the last fifth of the days are held out
    zerozero    real clicks of a sports site; a fifth of the queries is held out
    nfcorpus    training pairs as clicks; a fifth of the queries is held out
    simulated   `coclick sample`; the clicks of the last fifth of the days are held out
    intents     `coclick sample`; queries of one intent are similar

Rows named `damped` compare damped similarities (`coclick.models.shared_evidence`) with those not damped.

The first three are not part of this repository (../shared/data); logs that are missing are left out.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks import nfcorpus
from benchmarks._held_out import BESTBUY_COLUMNS, DATA
from benchmarks._row import make_row
from coclick.evaluation.inputs import EvaluationData
from coclick.evaluation.leaderboard import leaderboard
from coclick.evaluation.protocol import Protocol
from coclick.evaluation.significance import t_test
from coclick.evaluation.similar_queries import read_intents
from coclick.evaluation.similar_task import RECOMMENDED, SIMILAR, SimilarTask
from coclick.graph.click_graph import ClickGraph
from coclick.jit.threads import set_threads
from coclick.logs import build
from coclick.models.base import Model
from coclick.models.registry import create
from coclick.results import Run
from coclick.simulate import sample

MODELS = (
    "cos_words",
    "cos_clicks",
    "rw",
    "neighbours",
    "vpcg(units=words,own_weight=0)",
    "vpcg",
    "pls",
    "mpls",
    *SIMILAR.variants,
)
DAMPED = (RECOMMENDED, "vpcg", "mpls", "neighbours", "cos_clicks")
BATCHES = ("cos_clicks", "neighbours", "vpcg", "pls", "rw", RECOMMENDED)
N_ALONE = 300  # queries that are also asked for one by one
PEER = str(create(RECOMMENDED))


class Labelled(NamedTuple):
    """A log with the labels of its similar queries."""

    name: str
    data: EvaluationData


def rows(shape: str, threads: int, models: tuple[str, ...] = MODELS) -> list[dict]:
    set_threads(threads)
    found = []
    for log in _logs(threads):
        found += _rows(log, models, threads)
        found += damped_rows(log, threads)
        if log.name == "simulated":
            found += batch_rows(log.data.train, threads)
    return found


class DampedTask(SimilarTask):
    """The same task with what the command line and the service return."""

    def rank(self, model: Model, queries: Sequence[str], k: int) -> Run:
        """Find similar queries, damped."""
        return model.similar_queries(queries, k, damped=True)


def damped_rows(log: Labelled, threads: int) -> list[dict]:
    """Compare damped similarities with those of the same model."""
    boards = [
        leaderboard(
            log.data.train,
            log.data.judgments,
            list(DAMPED),
            protocol=Protocol(source=log.data.source, task=task),
        )
        for task in (DampedTask(), SIMILAR)
    ]
    found = []
    for spec in DAMPED:
        damped, plain = (
            next(result.values() for result in board.results if result.name == str(create(spec)))
            for board in boards
        )
        if not plain.any():
            continue  # models of clicks alone find nothing for unseen queries
        found.append(
            make_row(
                name=f"similar damped {log.name}",
                shape="-",
                params=spec,
                threads=threads,
                peer="not damped",
                ours=float(damped.mean()),
                theirs=float(plain.mean()),
                unit="nDCG@10",
                check=f"{len(plain)} queries, p = {t_test(damped - plain):.2g}",
                higher_is_better=True,
            )
        )
    return found


def batch_rows(graph: ClickGraph, threads: int) -> list[dict]:
    """Compare the similar queries of all queries in blocks with one query at a time."""
    found = []
    for spec in BATCHES:
        model = create(spec).fit(graph)
        queries = graph.queries.to_list()
        some = queries[:: max(1, len(queries) // N_ALONE)]
        model.similar_queries(some[:3])
        started = time.process_time()
        blocks = model.similar_queries(queries)
        seconds = time.process_time() - started
        started = time.process_time()
        alone = [model.similar_queries(query) for query in some]
        seconds_alone = time.process_time() - started
        same = all(
            blocks.hits(queries.index(query)) == one.hits() for query, one in zip(some, alone, strict=True)
        )
        found.append(
            make_row(
                name="similar batch",
                shape="-",
                params=spec,
                threads=threads,
                peer="one by one",
                ours=1000 * seconds / len(queries),
                theirs=1000 * seconds_alone / len(some),
                unit="CPU ms/query",
                check=f"{len(queries):,} queries; {'the same' if same else 'DIFFERENT'} results",
            )
        )
    return found


def _rows(log: Labelled, models: tuple[str, ...], threads: int) -> list[dict]:
    protocol = Protocol(source=log.data.source, task=SIMILAR)
    board = leaderboard(log.data.train, log.data.judgments, list(models), protocol=protocol)
    [peer] = [result.values() for result in board.results if result.name == PEER]
    return [
        make_row(
            name=f"similar {log.name}",
            shape="-",
            params=result.name,
            threads=threads,
            peer="recommended",
            ours=float(result.values().mean()),
            theirs=float(peer.mean()),
            unit="nDCG@10",
            check=f"{len(peer)} queries, p = {t_test(result.values() - peer):.2g}",
            higher_is_better=True,
        )
        for result in board.results
    ]


def _logs(threads: int) -> Iterator[Labelled]:
    """Yield the logs that are there, each with its labels."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        if (DATA / "bestbuy").is_dir():
            clicks, docs = DATA / "bestbuy" / "clicks.csv.gz", DATA / "bestbuy" / "products.tsv.gz"
            out = work / "bestbuy"
            graph = build([clicks], docs, out, like="events", columns=BESTBUY_COLUMNS, threads=threads)
            yield Labelled("bestbuy", SIMILAR.load(graph, None, None, "time:0.2"))
        if (DATA / "zerozero").is_dir():
            clicks, docs = DATA / "zerozero" / "clicks.tsv.gz", DATA / "zerozero" / "docs.tsv.gz"
            graph = build([clicks], docs, work / "zerozero", threads=threads)
            yield Labelled("zerozero", SIMILAR.load(graph, None, None, "queries:0.2"))
        if nfcorpus.DATA.is_dir():
            graph, _ = nfcorpus.graph_and_judgments("dev")
            yield Labelled("nfcorpus", SIMILAR.load(graph, None, None, "queries:0.2"))
        sample(work / "log")
        graph = build(
            [work / "log" / "events.parquet"], work / "log" / "docs.tsv", work / "graph", threads=threads
        )
        yield Labelled("simulated", SIMILAR.load(graph, None, None, "time:0.2"))
        intents = read_intents(work / "log" / "intents.tsv")
        yield Labelled("intents", SIMILAR.load(graph, intents, None, None))
