"""The hidden command behind `make demo`: every step from a log to explained results, on a simulated log."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from coclick import logs, simulate
from coclick.answers import describe
from coclick.cli import render
from coclick.cli.terminal import console
from coclick.evaluation.judgments import Judgments, read_judgments
from coclick.evaluation.leaderboard import leaderboard
from coclick.evaluation.report import write_report
from coclick.failing import find_failing
from coclick.models.base import Model
from coclick.models.training import train
from coclick.progress import for_terminal
from coclick.text.analyzer import Analyzer
from coclick.text.normalise import normalise

MODELS = (
    "popularity",
    "clicks",
    "logged",
    "bm25",
    "neighbours",
    "0.8*rw + 0.2*bm25",
    "vpcg",
    "vpcg(start=doc)",
    "vsm",
    "wtm",
    "mpls",
    "pls",
    "backoff(neighbours + vpcg + bm25)",
    "backoff(vpcg(start=doc) + vsm)",
)
MODEL = "vpcg"  # its vectors consist of words that people search with
OTHER_MODEL = "pls"  # for comparison in the studio


def demo(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Directory for the files.")] = Path("demo"),
) -> None:
    """Simulate a log, build a graph, evaluate models and explain results; the files stay in the directory."""
    started = time.perf_counter()
    _heading("1. Simulate the log of a search engine: users, clicks, noise, and relevance judgments")
    simulate.sample(directory, force=True)
    _heading("2. Build a click graph from the log")
    graph_path, model_path = directory / "graph", directory / "model"
    graph = logs.build([directory / "events.parquet"], directory / "docs.tsv", graph_path, force=True)
    render.graph_summary(describe(graph_path))
    _heading("3. Train models on the graph and evaluate them with judgments from a later period")
    judgments = read_judgments(directory / "queries.tsv", directory / "qrels.tsv")
    board = leaderboard(graph, judgments, MODELS, for_terminal())
    stats = board.to_dict()
    render.leaderboard(stats)
    write_report(board, directory / "report.html", stats, find_failing(graph))
    _heading("4. Search, and explain the first result")
    model = train(MODEL, graph, for_terminal()).save(model_path, force=True)
    train(OTHER_MODEL, graph, for_terminal()).save(directory / "pls", force=True)
    examples = _examples(model, judgments)
    for query in examples:
        _search(model, query)
    _heading("What to try next")
    query = examples[0]
    for command in (
        f'coclick search {model_path} "{query}"',
        f'coclick similar {model_path} "{query}"',
        f'coclick expand {model_path} "{query}"',
        f"coclick compare {graph_path}",
        f"coclick serve vpcg={model_path} {directory}/pls --report {directory}/report.html",
        "coclick check YOUR_LOG.tsv --docs YOUR_DOCS.tsv  (what is in your log, and how to build it)",
    ):
        console().print(f"  {command if ' YOUR' in command else '.venv/bin/' + command}", soft_wrap=True)
    console().print(
        "\n`coclick serve` shows two models side by side in a browser, with explanations and clicks"
    )
    console().print(f"{directory}/report.html shows which model wins which query: open it in a browser")
    console().print(
        f"the demo took {time.perf_counter() - started:.0f} seconds; its files are in {directory}/"
    )


def _examples(model: Model, judgments: Judgments) -> list[str]:
    """Two judged queries of several words: a frequent one whose best result shares the fewest words with it,
    and one that is not in the log."""
    analyzer = Analyzer()
    texts = [text for text in judgments.queries.values() if " " in text]
    rows = model.graph_.queries.lookup([normalise(text) for text in texts])
    clicks = np.where(rows >= 0, model.graph_.clicks.row_sums()[rows], 0)
    frequent = [texts[i] for i in np.argsort(-clicks, kind="stable")[:40]]
    best = model.search(frequent, 1)

    def shared_words(i: int) -> int:
        title = " ".join(model.title(doc) for doc, _ in best.hits(i))
        return len({*analyzer.terms(title)} & {*analyzer.terms(frequent[i])})

    unseen = [text for text, row in zip(texts, rows.tolist(), strict=True) if row < 0]
    return [frequent[min(range(len(frequent)), key=shared_words)], *unseen[:1]]


def _search(model: Model, query: str) -> None:
    hits = model.search(query, 5).hits()
    render.results(query, [{"doc": doc, "score": score, "title": model.title(doc)} for doc, score in hits])
    if hits:
        console().print("\nwhy is the first result first?")
        render.explanation(model.explain(query, hits[0][0], 3), model.title(hits[0][0]), 4)
    console().print()


def _heading(text: str) -> None:
    console().print(f"\n[bold]{text}[/]")
