"""The logs that the tables are run on: a simulated one, and NFCorpus where the development data is there."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from coclick.evaluation.judgments import Judgments, read_judgments
from coclick.evaluation.protocol import Protocol
from coclick.evaluation.similar_queries import SimilarityLabels, read_intents
from coclick.graph.click_graph import ClickGraph
from coclick.logs import build
from coclick.simulate import sample
from coclick.text.analyzer import normalise

QUERIES, DOCS, SEED = 6000, 5000, 0
NEW = 0.5  # the share of documents that are new where new documents are ranked
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"  # where the development data may be


@dataclass(frozen=True)
class Log:
    """Clicks to learn from, judgments, and how models are judged by them."""

    name: str
    about: str
    graph: ClickGraph
    judgments: Judgments
    protocol: Protocol
    intents: SimilarityLabels | None = None  # of queries, where they are known


def simulated(directory: Path, queries: int = QUERIES, docs: int = DOCS, seed: int = SEED) -> Log:
    """A log with known relevance. Judged documents are re-ranked with exponential gain, as in the papers."""
    sizes = sample(directory, queries, docs, seed=seed)
    graph = build([directory / "events.parquet"], directory / "docs.tsv", directory / "graph")
    judgments = read_judgments(directory / "queries.tsv", directory / "qrels.tsv")
    intents = read_intents(directory / "intents.tsv")
    about = (
        f"`coclick sample LOG --queries {queries} --docs {docs} --seed {seed}`: "
        f"{sizes['events']:,} events, {sizes['clicks']:,} clicks, judgments of a later time, a third each "
        "for frequent, rare and unseen queries. The judged documents are re-ranked and nDCG has exponential "
        "gain, as in the papers."
    )
    return Log("The simulated log", about, graph, judgments, Protocol("judged", "exponential"), intents)


def nfcorpus(directory: Path) -> Log:
    """Real queries and medical abstracts; the pairs of the training part are the clicks."""
    texts = {query: text for query, text, _ in _rows(directory / "queries.tsv.gz")}
    docs = {doc: {"title": title, "body": body} for doc, title, body, *_ in _rows(directory / "docs.tsv.gz")}
    clicks, grades = [], {}
    for query, doc, grade, part in _rows(directory / "qrels.tsv.gz"):
        if part == "train":
            clicks.append((texts[query], doc, 2.0 ** int(grade) - 1))
        elif part == "test":
            grades.setdefault(query, {})[doc] = int(grade)
    about = (
        "Its training pairs are the clicks (2^grade − 1 each), its test judgments the judgments. Only "
        "relevant documents are judged, so all documents are ranked, with linear gain. Nearly all test "
        "queries are unseen: what knows only seen queries finds nothing here."
    )
    judgments = Judgments({query: texts[query] for query in grades}, grades)
    return Log("NFCorpus", about, ClickGraph.from_clicks(clicks, docs), judgments, Protocol())


def with_new_documents(log: Log, seed: int = SEED) -> Log:
    """The same log if half of the documents were new: nobody has clicked them, and they alone are ranked, by
    their titles (paper 001 §5.1)."""
    graph, clicks = log.graph, log.graph.clicks
    new = np.random.default_rng(seed).random(len(graph.docs)) < NEW
    old = clicks.with_data(np.where(new[clicks.indices], 0, clicks.data)).positive()
    ranked = {doc for doc, is_new in zip(graph.docs, new.tolist(), strict=True) if is_new}
    grades = {
        query: kept
        for query, found in log.judgments.grades.items()
        if any((kept := {doc: grade for doc, grade in found.items() if doc in ranked}).values())
    }
    queries = {query: log.judgments.queries[query] for query in grades}
    titled = ClickGraph(graph.queries, graph.docs, old, {"title": graph.texts["title"]})
    return replace(log, graph=titled, judgments=Judgments(queries, grades))


def coverage(log: Log) -> tuple[float, float]:
    """The share of judged queries, and of judged documents, that have clicks in the log."""
    graph = log.graph
    rows = graph.queries.lookup([normalise(text) for text in log.judgments.queries.values()])
    docs = graph.docs.lookup(sorted({doc for found in log.judgments.grades.values() for doc in found}))
    asked, clicked = graph.clicks.row_nnz() > 0, graph.clicks_by_doc.row_nnz() > 0
    return float(((rows >= 0) & asked[rows]).mean()), float(((docs >= 0) & clicked[docs]).mean())


def _rows(path: Path) -> list[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file]
