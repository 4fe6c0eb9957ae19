"""`make demo`: the whole way from a log to a ranked, explained answer, on a simulated log."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from coclick import logs, simulate
from coclick.answers import describe
from coclick.cli import render as show
from coclick.evaluation.judgments import Judgments, read_judgments
from coclick.evaluation.leaderboard import leaderboard
from coclick.evaluation.report import write_report
from coclick.models.base import Model, train
from coclick.progress import for_terminal
from coclick.text.analyzer import Analyzer, normalise

MODELS = (
    "popularity",
    "clicks",
    "logged",
    "bm25",
    "neighbours",
    "0.8*rw + 0.2*bm25",
    "vpcg",
    "vpcg(start=doc)",
    "vpcg(start=doc,units=words+chars,own_weight=1)",
    "vsm",
    "wtm",
    "mpls",
    "pls(views=words)",
    "backoff(neighbours + vpcg + bm25)",
    "backoff(vpcg(start=doc,units=words+chars,own_weight=1) + vsm)",
)
CHOSEN = "vpcg"  # whose vectors are made of words that people search with
BESIDE = "pls(views=words)"  # what the studio compares it with


def run(directory: Path) -> None:
    """Simulate, build, compare, explain; what was made stays in `directory` for further commands."""
    started = time.perf_counter()
    _heading("1. A search engine's log, simulated: users, clicks, noise, and judgments to learn the truth")
    simulate.sample(directory, force=True)
    _heading("2. The log becomes a click graph")
    graph_path, model_path = directory / "graph", directory / "model"
    graph = logs.build([directory / "events.parquet"], directory / "docs.tsv", graph_path, force=True)
    show.graph_summary(describe(graph_path))
    _heading("3. Models learn from it; judgments of a later period say which helps")
    judgments = read_judgments(directory / "queries.tsv", directory / "qrels.tsv")
    board = leaderboard(graph, judgments, MODELS, for_terminal())
    figures = board.to_dict()
    show.leaderboard(figures)
    write_report(board, directory / "report.html", figures)
    _heading("4. Searches, with their reasons")
    model = train(CHOSEN, graph, for_terminal()).save(model_path, force=True)
    train(BESIDE, graph, for_terminal()).save(directory / "pls", force=True)
    examples = _examples(model, judgments)
    for query in examples:
        _search(model, query)
    _heading("Where to look next")
    query = examples[0]
    for command in (
        f'coclick search {model_path} "{query}"',
        f'coclick similar {model_path} "{query}"',
        f'coclick expand {model_path} "{query}"',
        f"coclick compare {graph_path}",
        f"coclick serve vpcg={model_path} {directory}/pls --report {directory}/report.html",
        "coclick build YOUR_LOG.tsv --docs YOUR_DOCS.tsv -o graph  (yours: see docs/start/tutorial.md)",
    ):
        show.console.print(f"  {command if ' YOUR' in command else '.venv/bin/' + command}", soft_wrap=True)
    show.console.print("\ntwo models side by side, every reason and click: the last but one, in a browser")
    show.console.print(f"who wins which query, and why: open {directory}/report.html in a browser")
    show.console.print(f"all in {time.perf_counter() - started:.0f} seconds; files are in {directory}/")


def _examples(model: Model, judgments: Judgments) -> list[str]:
    """Two judged queries of several words: a common one whose best result shares the fewest words with it,
    and one that the log has never seen."""
    analyzer = Analyzer()
    texts = [text for text in judgments.queries.values() if " " in text]
    rows = model.graph_.queries.lookup([normalise(text) for text in texts])
    clicks = np.where(rows >= 0, model.graph_.clicks.row_sums()[rows], 0)
    common = [texts[i] for i in np.argsort(-clicks, kind="stable")[:40]]
    best = model.search(common, 1)

    def shared_words(i: int) -> int:
        title = " ".join(model.title(doc) for doc, _ in best.hits(i))
        return len({*analyzer.terms(title)} & {*analyzer.terms(common[i])})

    unseen = [text for text, row in zip(texts, rows.tolist(), strict=True) if row < 0]
    return [common[min(range(len(common)), key=shared_words)], *unseen[:1]]


def _search(model: Model, query: str) -> None:
    hits = model.search(query, 5).hits()
    show.results(query, [{"doc": doc, "score": score, "title": model.title(doc)} for doc, score in hits])
    if hits:
        show.console.print("\nwhy is the first one first?")
        show.explanation(model.explain(query, hits[0][0], 3), model.title(hits[0][0]), words=4)
    show.console.print()


def _heading(text: str) -> None:
    show.console.print(f"\n[bold]{text}[/]")
