"""The logs of `benchmarks.quality`: real ones where the files are at hand, and simulated thin ones.

A thin log says nothing about most documents. Two ways to get one from a simulated log of 2,000 documents:

    thinN     only N % of the documents have events, chosen at random; every judged query is unseen
    smallN    a site with few users: as many of them as it takes to click N % of the documents

Both keep days, impressions and positions. The judgments are those of the simulator, over all documents.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import duckdb
import numpy as np

from benchmarks import _held_out, nfcorpus
from coclick.evaluation.judgments import Judgments, read_judgments
from coclick.graph.click_graph import ClickGraph
from coclick.graph.split import remove_queries
from coclick.logs import build
from coclick.simulate import sample
from coclick.text.normalise import normalise_batch

DATA = _held_out.DATA
SHARES = (5, 10, 20, 40)  # % of the documents with clicks
N_QUERIES, N_DOCS, N_EVENTS = 2000, 2000, 120_000
_ESCI_CLICKS = {100: 7.0, 10: 3.0, 1: 1.0}  # grade: clicks, 2^grade − 1 as for NFCorpus


class QualityLog(NamedTuple):
    """Clicks to train on, judgments to measure by, and what is ranked."""

    train: ClickGraph
    judgments: Judgments
    candidates: Literal["all", "judged"] = "all"


class Source(NamedTuple):
    """Where a log comes from: `folder` of the data directory, or None for a simulated one."""

    about: str
    folder: str | None
    load: Callable[[Path, Path], QualityLog]  # data directory, empty working directory


def _bestbuy(data: Path, work: Path) -> QualityLog:
    return QualityLog(*_held_out.bestbuy(work, 1, data)[1:])


def _zerozero(data: Path, work: Path) -> QualityLog:
    return QualityLog(*_held_out.zerozero(work, 1, data)[1:])


def _nfcorpus(data: Path, work: Path) -> QualityLog:
    return QualityLog(*nfcorpus.graph_and_judgments("test", data / "nfcorpus"))


def _esci(data: Path, work: Path) -> QualityLog:
    """Judgments of every second query as clicks; those of the others to measure by."""
    folder = data / "esci_ubi"
    texts = {query: text for query, text, *_ in nfcorpus.read_table(folder / "queries.tsv.gz")}
    docs = {
        doc: {"title": title, "body": body}
        for doc, title, body, *_ in nfcorpus.read_table(folder / "docs.tsv.gz")
    }
    grades: dict[str, dict[str, int]] = {query: {} for query in texts}
    for query, doc, grade in nfcorpus.read_table(folder / "qrels.tsv.gz"):
        grades[query][doc] = int(float(grade))
    trained = list(texts)[::2]
    clicks = [
        (texts[query], doc, _ESCI_CLICKS[grade])
        for query in trained
        for doc, grade in grades[query].items()
        if grade
    ]
    judged = [query for query in texts if query not in set(trained)]
    judgments = Judgments(
        {query: texts[query] for query in judged}, {query: grades[query] for query in judged}
    )
    return QualityLog(ClickGraph.from_clicks(clicks, docs), judgments, "judged")


def _thin(share: int, data: Path, work: Path) -> QualityLog:
    with _events(work) as log:
        docs = [
            doc for (doc,) in log.execute("SELECT DISTINCT doc FROM events WHERE action = 'click'").fetchall()
        ]
        kept = np.random.default_rng(0).permutation(sorted(docs))[: N_DOCS * share // 100]
        log.execute("CREATE TABLE kept AS SELECT unnest(?::VARCHAR[]) AS doc", [kept.tolist()])
        graph, judgments = _build(log, "doc IN (SELECT doc FROM kept)", work)
    rows = graph.queries.lookup(normalise_batch(list(judgments.queries.values())))
    judged = np.zeros(len(graph.queries), bool)
    judged[rows[rows >= 0]] = True
    return QualityLog(remove_queries(graph, judged), judgments)


def _small(share: int, data: Path, work: Path) -> QualityLog:
    with _events(work) as log:
        clicks = log.execute(
            "SELECT DISTINCT md5(\"user\"), doc FROM events WHERE action = 'click' ORDER BY 1, 2"
        )
        last, docs = "", set[str]()
        for user, doc in clicks.fetchall():
            if len(docs) >= N_DOCS * share // 100 and user != last:
                break
            last = user
            docs.add(doc)
        return QualityLog(*_build(log, f"md5(\"user\") <= '{last}'", work))


def _events(work: Path) -> duckdb.DuckDBPyConnection:
    """A connection with the events of a simulated log."""
    sample(work / "log", queries=N_QUERIES, docs=N_DOCS, events=N_EVENTS, seed=7)
    log = duckdb.connect()
    log.execute(f"CREATE VIEW events AS SELECT * FROM '{work / 'log' / 'events.parquet'}'")
    return log


def _build(log: duckdb.DuckDBPyConnection, condition: str, work: Path) -> tuple[ClickGraph, Judgments]:
    log.execute(f"COPY (SELECT * FROM events WHERE {condition}) TO '{work / 'kept.parquet'}'")
    graph = build([work / "kept.parquet"], work / "log" / "docs.tsv", work / "graph", threads=1)
    return graph, read_judgments(work / "log" / "queries.tsv", work / "log" / "qrels.tsv")


SOURCES = {
    "bestbuy": Source(
        "Clicks of a shop; judged by the clicks of the last fifth of the days", "bestbuy", _bestbuy
    ),
    "zerozero": Source(
        "Clicks of a sports site, in Portuguese; judged by the clicks of a fifth of the queries",
        "zerozero",
        _zerozero,
    ),
    "nfcorpus": Source("Medical articles; training pairs as clicks, judged by people", "nfcorpus", _nfcorpus),
    "esci": Source(
        "Products; judgments of 75 queries as clicks, judged by those of 75 others", "esci_ubi", _esci
    ),
}
for _share in SHARES:
    SOURCES[f"thin{_share}"] = Source(
        f"Simulated; events of {_share} % of the documents", None, partial(_thin, _share)
    )
for _share in SHARES:
    SOURCES[f"small{_share}"] = Source(
        f"Simulated; few users, who clicked {_share} % of the documents", None, partial(_small, _share)
    )
