"""Similar queries: nDCG@10 of models on logs, by held-out clicks and by intents.

    python -m benchmarks --only similar

    bestbuy     real clicks of a shop; the clicks of the last fifth of the days are held out
    zerozero    real clicks of a sports site; a fifth of the queries is held out
    nfcorpus    training pairs as clicks; a fifth of the queries is held out
    simulated   `coclick sample`; the clicks of the last fifth of the days are held out
    intents     `coclick sample`; queries of one intent are similar

The first three are not part of this repository (../shared/data); logs that are missing are left out.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
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
from coclick.evaluation.similar_task import SIMILAR
from coclick.jit.threads import set_threads
from coclick.logs import build
from coclick.simulate import sample

MODELS = ("cos_words", "cos_clicks", "rw", "neighbours", "vpcg", "pls", "mpls", *SIMILAR.variants)
PEER = "cos_words"


class Labelled(NamedTuple):
    """A log with the labels of its similar queries."""

    name: str
    data: EvaluationData


def rows(shape: str, threads: int, models: tuple[str, ...] = MODELS) -> list[dict]:
    set_threads(threads)
    return [row for log in _logs(threads) for row in _rows(log, models, threads)]


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
            peer=PEER,
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
