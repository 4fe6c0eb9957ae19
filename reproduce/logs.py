"""The logs of the experiments: simulated ones like those of the papers, and real ones.

A log is a directory with a saved graph, judgments (`judgments.json`) and, where known, intents of queries.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from coclick.evaluation.holdout import grades_from_clicks
from coclick.evaluation.judgments import Judgments, read_judgments
from coclick.graph.click_graph import ClickGraph
from coclick.logs import build
from coclick.simulate import PROFILES, sample_like
from coclick.text.normalise import normalise
from reproduce.judged import GOOD, Judged

MIN_JUDGED = 400  # queries of a simulated log, so that click bins have some also with --quick
QUICK_SCALE = 0.02  # size of the logs of --quick, as a share of the week
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@dataclass(frozen=True)
class LogSource:
    """How a log is made, and which logs of the papers it stands for.

    `settings` fill the braces of specifications, such as `pls(dim={dim})`; `quick` are those of --quick.
    """

    name: str
    about: str
    make: Callable[[Path, float], None]
    stands_for: tuple[str, ...]
    settings: Mapping[str, Any]
    quick: Mapping[str, Any]
    quick_scale: float = 1.0
    data: str = ""  # directory of real data that is needed
    good: int = GOOD  # the lowest relevant grade, for AP


@dataclass(frozen=True)
class Log:
    """A log on disk."""

    source: LogSource
    directory: Path
    is_quick: bool

    @property
    def settings(self) -> Mapping[str, Any]:
        """The values of the braces in specifications."""
        return self.source.quick if self.is_quick else self.source.settings

    def graph(self) -> ClickGraph:
        """Open the graph."""
        return _graph(self.directory)

    def judged(self) -> Judged:
        """Read the judgments."""
        return _judged(self.directory, self.source.good)

    def intents(self) -> dict[str, str]:
        """Return the intent of each query; empty if they are unknown."""
        path = self.directory / "intents.tsv"
        if not path.is_file():
            return {}
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]
        return {normalise(row[0]): row[1] for row in rows}

    def statistics(self) -> dict[str, Any]:
        """Return figures of the graph and the judgments, to compare with those of the papers."""
        graph, judged = self.graph(), self.judged()
        clicks, rows = graph.clicks, self.query_rows()
        of_queries, of_docs = clicks.row_nnz(), graph.clicks_by_doc.row_nnz()
        docs = graph.docs.lookup(sorted({doc for found in judged.docs for doc in found}))
        return {
            "queries": int((of_queries > 0).sum()),
            "docs": int((of_docs > 0).sum()),
            "edges": clicks.nnz,
            "docs_per_query": clicks.nnz / max(int((of_queries > 0).sum()), 1),
            "queries_per_doc": clicks.nnz / max(int((of_docs > 0).sum()), 1),
            "one_click": float((clicks.data == 1).mean()),
            "max_clicks": float(clicks.row_sums().max(initial=0)),
            "judged_queries": len(judged.texts),
            "judged_pairs": len(judged.grades),
            "grades": np.bincount(judged.grades, minlength=5).tolist(),
            "seen_queries": float(((rows >= 0) & (of_queries[rows] > 0)).mean()),
            "seen_docs": float(((docs >= 0) & (of_docs[docs] > 0)).mean()),
            "bins": {name: int(self.group(name).sum()) for name in BINS},
        }

    def query_rows(self) -> np.ndarray[Any, np.dtype[np.int32]]:
        """The rows of the judged queries in the graph; −1 for unseen ones."""
        return self.graph().queries.lookup(self.judged().texts)

    def group(self, name: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Mark the judged queries of a group: all, seen, or a bin of clicks (Wu, Lu & Li 2013 §6.5.2)."""
        rows = self.query_rows()
        clicks = np.where(rows >= 0, self.graph().clicks.row_sums()[rows], 0)
        if name == "all":
            return np.ones(len(rows), bool)
        if name == "seen":
            return clicks > 0
        low, high = BINS[name]
        return (clicks > low) & (clicks <= high)


BINS = {"≤10": (0, 10), "≤100": (10, 100), "≤1000": (100, 1000), ">1000": (1000, np.inf)}


@cache
def _graph(directory: Path) -> ClickGraph:
    return ClickGraph.open(directory / "graph")


@cache
def _judged(directory: Path, good: int) -> Judged:
    found = json.loads((directory / "judgments.json").read_text(encoding="utf-8"))
    return Judged.of(Judgments(found["queries"], found["grades"]), good)


# -- simulated logs ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Simulated:
    """Make a log like a paper's, or with some of the generator's knobs changed."""

    profile: str
    world: Mapping[str, Any] = field(default_factory=dict)
    traffic: Mapping[str, Any] = field(default_factory=dict)
    judging: Mapping[str, Any] = field(default_factory=dict)
    scale: float = 1.0

    def __call__(self, directory: Path, scale: float) -> None:
        """Write the log; `scale` is its size as a share of the full one."""

        profile = PROFILES[self.profile]
        size = self.scale * scale
        judged = round(max(scale * profile.judging.queries, MIN_JUDGED) / size)  # scaled below
        profile = replace(
            profile,
            world=replace(profile.world, **self.world),
            traffic=replace(profile.traffic, **self.traffic),
            judging=replace(profile.judging, queries=judged, **self.judging),
        )
        sample_like(directory, profile, scale=size)
        _write_judgments(directory, read_judgments(directory / "queries.tsv", directory / "qrels.tsv"))


# -- real logs -----------------------------------------------------------------------------------------


def _nfcorpus(directory: Path, scale: float) -> None:
    """Training pairs as clicks, test pairs as judgments, and as many other documents as not relevant.

    A scale below 1 keeps that share of the training queries.
    """
    source = DATA / "nfcorpus"
    texts = {query: text for query, text, _ in _rows(source / "queries.tsv.gz")}
    docs = {doc: {"title": title, "body": body} for doc, title, body, *_ in _rows(source / "docs.tsv.gz")}
    clicks: list[tuple[str, str, float]] = []
    grades: dict[str, dict[str, int]] = {}
    kept = {*sorted(texts)[:: round(1 / scale)]}
    for query, doc, grade, part in _rows(source / "qrels.tsv.gz"):
        if part == "train" and query in kept:
            clicks.append((texts[query], doc, 2.0 ** int(grade) - 1))
        elif part == "test":
            grades.setdefault(query, {})[doc] = int(grade)
    ClickGraph.from_clicks(clicks, docs).save(directory / "graph")
    _add_zeros(grades, sorted(docs))
    _write_judgments(directory, Judgments({query: texts[query] for query in grades}, grades))


def _bestbuy(directory: Path, scale: float) -> None:
    """Clicks of the first four fifths of the days; those of the last days are the judgments."""
    clicks = directory / "clicks.tsv"
    with gzip.open(DATA / "bestbuy" / "clicks.csv.gz", "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split(",") for line in file][1:]
    _write_rows(clicks, ("query", "doc", "timestamp"),
                ((",".join(row[3:-2]).strip('"'), row[1], row[-2]) for row in rows))  # fmt: skip
    products = [row for row in _rows(DATA / "bestbuy" / "products.tsv.gz")[1:] if len(row) > 1]
    _write_rows(directory / "docs.tsv", ("doc", "title"), (row[:2] for row in products))
    _hold_out(build([clicks], directory / "docs.tsv", directory / "all"), "time", directory)


def _zerozero(directory: Path, scale: float) -> None:
    """Aggregated clicks; a fifth of the pairs are the judgments."""
    rows = _rows(DATA / "zerozero" / "clicks.tsv.gz")[1:]
    docs = {
        row[0]: {"title": row[1], "body": " ".join(row[2:4])}
        for row in _rows(DATA / "zerozero" / "docs.tsv.gz")[1:]
    }
    clicked = {
        row[1]: {"title": row[1].split(":")[1]} for row in rows if row[1] not in docs and ":" in row[1]
    }
    graph = ClickGraph.from_clicks([(row[0], row[1], float(row[2])) for row in rows], {**docs, **clicked})
    _hold_out(graph, "pairs", directory)


def _hold_out(graph: ClickGraph, by: str, directory: Path) -> None:
    train, held = graph.split(by)
    train.save(directory / "graph")
    grades: dict[str, dict[str, int]] = {}
    for row in np.flatnonzero(held.row_nnz()).tolist():
        docs, clicks = held.row(row)
        names = [graph.docs[int(doc)] for doc in docs]
        grades[graph.queries[row]] = dict(zip(names, grades_from_clicks(clicks).tolist(), strict=True))
    _add_zeros(grades, list(graph.docs))
    _write_judgments(directory, Judgments({query: query for query in grades}, grades))


def _add_zeros(grades: dict[str, dict[str, int]], docs: list[str], least: int = 10) -> None:
    """Add random documents as not relevant: as many as are relevant, at least ten."""
    rng = np.random.default_rng(0)
    for query in sorted(grades):
        for i in rng.integers(len(docs), size=max(least, len(grades[query]))).tolist():
            grades[query].setdefault(docs[i], 0)


def _write_judgments(directory: Path, judgments: Judgments) -> None:
    found = {"queries": judgments.queries, "grades": judgments.grades}
    (directory / "judgments.json").write_text(json.dumps(found), encoding="utf-8")


def _write_rows(path: Path, header: tuple[str, ...], rows: Iterable[Iterable[str]]) -> None:
    lines = ("\t".join(cell.replace("\t", " ") for cell in row) for row in (header, *rows))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _rows(path: Path) -> list[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file]


_SETTINGS = {
    "dim": 300, "third": 100, "many": 1000, "most": 3000, "max_dim": 400, "topics": 200, "ssi_dim": 100,
    "svd_dim": 300, "svd_iterations": 20, "fields": "",
}  # fmt: skip
_QUICK = {
    "dim": 40, "third": 15, "many": 50, "most": 60, "max_dim": 50, "topics": 20, "ssi_dim": 20,
    "svd_dim": 20, "svd_iterations": 2, "fields": "",
}  # fmt: skip
_REAL = ("web-week", "web-unseen", "web-new")
_NO_URLS = {"fields": ",fields=all"}  # the papers use the words of URLs, which real logs lack


def _like(name: str, about: str, scale: float = 1.0, **settings: int) -> LogSource:
    make = Simulated(name, scale=scale)
    quick_scale = QUICK_SCALE / scale
    return LogSource(name, about, make, (name,), {**_SETTINGS, **settings}, _QUICK, quick_scale)


def _small(name: str, about: str, like: str = "web-week", **knobs: Mapping[str, Any]) -> LogSource:
    """A tenth of a log, perhaps with one knob changed, for ablations only."""
    make = Simulated(like, **knobs, scale=0.1)
    return LogSource(name, about, make, (), _SETTINGS, _QUICK, quick_scale=10 * QUICK_SCALE)


SOURCES = {
    source.name: source
    for source in (
        _like(
            "web-week",
            "One week of a web search engine (Wu, Li & Xu 2013; Wu, Lu & Li 2012 and 2013).",
            dim=1000,
            third=300,
            max_dim=1000,
            svd_dim=1000,
        ),
        _like(
            "web-halfyear",
            "A longer web log (Wu, Lu & Li 2012 and 2013), five times the week.",
            dim=400,
            third=200,
            topics=100,
            svd_dim=100,
            svd_iterations=10,
        ),
        _like(
            "enterprise",
            "One year of a company's search engine (Wu, Li & Xu 2013).",
            dim=1000,
            third=300,
            max_dim=1000,
        ),
        _like(
            "web-unseen",
            "A web log that lacks some judged queries and pages (Jiang et al. 2016), a fourth of the week.",
            0.25,
        ),
        _like(
            "web-new",
            "A web log that lacks all judged documents (Gao et al. 2011), half of the week.",
            0.5,
        ),
        _small("week-small", "A tenth of web-week."),
        _small(
            "week-careful-users",
            "A tenth of web-week, without users who click nearly everything.",
            traffic={"informational_share": 0.0},
        ),
        _small(
            "week-well-spelt",
            "A tenth of web-week, without misspelt and run-together queries.",
            world={"misspelt_share": 0.0, "run_together_share": 0.0},
        ),
        _small(
            "week-clicked-documents",
            "A tenth of web-week, with clicks in the log for all judged documents, instead of two thirds.",
            judging={"document_coverage": 1.0},
        ),
        _small("halfyear-small", "A tenth of web-halfyear.", "web-halfyear"),
        _small("enterprise-small", "A tenth of enterprise.", "enterprise"),
        _small("unseen-small", "A tenth of the week, with judgments as in web-unseen.", "web-unseen"),
        _small(
            "unseen-noisy-titles",
            "As unseen-small, with the name of the site in all titles; in half of them otherwise.",
            "web-unseen",
            world={"site_suffix_share": 1.0},
        ),
        _small(
            "unseen-careless-users",
            "As unseen-small, with three times as many users who click nearly everything.",
            "web-unseen",
            traffic={"informational_share": 0.6},
        ),
        _small(
            "unseen-dense",
            "As unseen-small, with queries and traffic as in web-halfyear, so denser. Jiang et al. "
            "2016 have 3.1 "
            "documents a query and 8.3 queries a document.",
            "web-unseen",
            world={"formulation_skew": 0.3, "formulation_zipf": 1.0},
            traffic={
                "tail_exponent": 0.36,
                "max_searches": 100_000,
                "page_versions": 4,
                "informational_share": 0.15,
            },
        ),
        LogSource(
            "nfcorpus",
            "Real questions and medical abstracts. The training pairs are the clicks (2^grade − 1 each), the "
            "test pairs "
            "the judgments, with as many random documents as not relevant. No test query has clicks.",
            _nfcorpus,
            _REAL,
            {**_SETTINGS, **_NO_URLS},
            {**_QUICK, **_NO_URLS},
            quick_scale=0.2,
            data="nfcorpus",
        ),
        LogSource(
            "bestbuy",
            "Real clicks on games for one console. The clicks of the last fifth of the days are the "
            "judgments, with "
            "random products as not relevant.",
            _bestbuy,
            _REAL,
            {**_SETTINGS, **_NO_URLS},
            {**_QUICK, **_NO_URLS},
            data="bestbuy",
        ),
        LogSource(
            "zerozero",
            "Real clicks of a Portuguese sports site, for its 500 most frequent queries. A fifth of the "
            "pairs are the "
            "judgments, with random pages as not relevant.",
            _zerozero,
            ("web-week",),
            {**_SETTINGS, **_NO_URLS},
            {**_QUICK, **_NO_URLS},
            data="zerozero",
        ),
    )
}
