"""The logs of the experiments: a simulated log, and NFCorpus if the development data is available."""

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
from coclick.text.normalise import normalise

QUERIES, DOCS, SEED = 6000, 5000, 0
NEW_SHARE = 0.5  # the share of new documents in the experiment on new documents
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@dataclass(frozen=True)
class Log:
    """A training graph, judgments and an evaluation protocol."""

    name: str
    about: str
    graph: ClickGraph
    judgments: Judgments
    protocol: Protocol
    intents: SimilarityLabels | None = None  # of queries, if known


def simulated(directory: Path, queries: int = QUERIES, docs: int = DOCS, seed: int = SEED) -> Log:
    """Return a log with known relevance; judged documents are re-ranked with exponential gain."""
    sizes = sample(directory, queries, docs, seed=seed)
    graph = build([directory / "events.parquet"], directory / "docs.tsv", directory / "graph")
    judgments = read_judgments(directory / "queries.tsv", directory / "qrels.tsv")
    intents = read_intents(directory / "intents.tsv")
    about = (
        f"`coclick sample LOG --queries {queries} --docs {docs} --seed {seed}`: "
        f"{sizes['events']:,} events and {sizes['clicks']:,} clicks. The judgments are from a later "
        "period, a third each for frequent, rare and unseen queries. The judged documents are re-ranked, "
        "and nDCG uses exponential gain, as in the papers."
    )
    return Log("Simulated log", about, graph, judgments, Protocol("judged", "exponential"), intents)


def nfcorpus(directory: Path) -> Log:
    """Return a log of real queries and medical abstracts; the training pairs are the clicks."""
    texts = {query: text for query, text, _ in _rows(directory / "queries.tsv.gz")}
    docs = {doc: {"title": title, "body": body} for doc, title, body, *_ in _rows(directory / "docs.tsv.gz")}
    clicks: list[tuple[str, str, float]] = []
    grades: dict[str, dict[str, int]] = {}
    for query, doc, grade, part in _rows(directory / "qrels.tsv.gz"):
        if part == "train":
            clicks.append((texts[query], doc, 2.0 ** int(grade) - 1))
        elif part == "test":
            grades.setdefault(query, {})[doc] = int(grade)
    about = (
        "The training pairs are used as clicks (2^grade − 1 each) and the test pairs as judgments. Only "
        "relevant documents are judged, so all documents are ranked, with linear gain. Nearly all test "
        "queries are unseen, so models that know only seen queries find nothing."
    )
    judgments = Judgments({query: texts[query] for query in grades}, grades)
    return Log("NFCorpus", about, ClickGraph.from_clicks(clicks, docs), judgments, Protocol())


def with_new_documents(log: Log, seed: int = SEED) -> Log:
    """Return the log with half of the documents made new (Gao et al. 2011 §5.1).

    New documents have no clicks, and only they are ranked, by their titles.
    """
    graph, clicks = log.graph, log.graph.clicks
    new = np.random.default_rng(seed).random(len(graph.docs)) < NEW_SHARE
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
    """Return the shares of judged queries and judged documents that have clicks in the log."""
    graph = log.graph
    rows = graph.queries.lookup([normalise(text) for text in log.judgments.queries.values()])
    docs = graph.docs.lookup(sorted({doc for found in log.judgments.grades.values() for doc in found}))
    asked, clicked = graph.clicks.row_nnz() > 0, graph.clicks_by_doc.row_nnz() > 0
    return float(((rows >= 0) & asked[rows]).mean()), float(((docs >= 0) & clicked[docs]).mean())


def _rows(path: Path) -> list[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file]
