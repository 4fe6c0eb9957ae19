"""Logs to measure ranking quality on: a graph to train on, and judgments that it does not contain.

    bestbuy     real clicks of a shop; the clicks of the last fifth of the days are held out
    zerozero    real clicks of a sports site; a fifth of the queries is held out
    nfcorpus    training pairs as clicks; the judgments of dev, all queries unseen
    simulated   `coclick sample`; the clicks of the last fifth of the days are held out
    judged      `coclick sample` with its judgments

The first three are not part of this repository (../shared/data); logs that are missing are left out.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks import nfcorpus
from coclick.evaluation.holdout import hold_out
from coclick.evaluation.judgments import Judgments, read_judgments
from coclick.graph.click_graph import ClickGraph
from coclick.logs import build
from coclick.simulate import sample

DATA = nfcorpus.DATA.parent
BESTBUY_COLUMNS = ["user", "doc", "_", "query", "timestamp", "_"]


class HeldOutLog(NamedTuple):
    """A log, split."""

    name: str
    train: ClickGraph
    judgments: Judgments


def bestbuy(work: Path, threads: int, data: Path = DATA) -> HeldOutLog:
    folder = data / "bestbuy"
    graph = build(
        [folder / "clicks.csv.gz"],
        folder / "products.tsv.gz",
        work / "bestbuy",
        like="events",
        columns=BESTBUY_COLUMNS,
        threads=threads,
    )
    return HeldOutLog("bestbuy", *hold_out(graph, "time:0.2")[:2])


def zerozero(work: Path, threads: int, data: Path = DATA) -> HeldOutLog:
    folder = data / "zerozero"
    graph = build([folder / "clicks.tsv.gz"], folder / "docs.tsv.gz", work / "zerozero", threads=threads)
    return HeldOutLog("zerozero", *hold_out(graph, "queries:0.2")[:2])


def held_out_logs(threads: int) -> Iterator[HeldOutLog]:
    """Yield the logs that are there."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        if (DATA / "bestbuy").is_dir():
            yield bestbuy(work, threads)
        if (DATA / "zerozero").is_dir():
            yield zerozero(work, threads)
        if nfcorpus.DATA.is_dir():
            yield HeldOutLog("nfcorpus", *nfcorpus.graph_and_judgments("dev"))
        else:
            print(f"logs without {DATA}: simulated ones only", file=sys.stderr)
        sample(work / "log")
        log, docs = work / "log" / "events.parquet", work / "log" / "docs.tsv"
        graph = build([log], docs, work / "sample", threads=threads)
        yield HeldOutLog("simulated", *hold_out(graph, "time:0.2")[:2])
        judged = read_judgments(work / "log" / "queries.tsv", work / "log" / "qrels.tsv")
        yield HeldOutLog("judged", graph, judged)
