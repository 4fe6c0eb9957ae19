"""Commands that make and extend models: train, add."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coclick.cli.arguments import Engine, Force, Master, ModelPath, Threads, open_graph
from coclick.cli.terminal import say, suggest
from coclick.errors import counted


def train(
    model: Annotated[
        str,
        typer.Argument(metavar="SPEC", help='Model with parameters: "vpcg(start=query,max_terms=20)".'),
    ],
    graph: Annotated[str, typer.Argument(metavar="GRAPH", help="Directory of the graph.")],
    out: Annotated[str, typer.Option("--out", "-o", help="Directory of the new model.")],
    threads: Threads = None,
    engine: Engine = "local",
    master: Master = None,
    force: Force = False,
) -> None:
    """Train a model on a graph."""
    from coclick.cli import spark

    if spark.is_spark(engine, master):
        spark.train(model, graph, out, master, force)
        return
    from coclick import create
    from coclick.answers import describe
    from coclick.cli import render
    from coclick.progress import for_terminal
    from coclick.storage.directories import check_output

    check_output(Path(out), force, "model")
    opened = open_graph(graph, threads)  # first: a missing graph is reported before the compiler is imported
    create(model).fit(opened, for_terminal()).save(out, force=force)
    render.model_summary(describe(out))
    suggest(f'coclick search {out} "some query"')


def add(
    model: ModelPath,
    docs: Annotated[
        Path, typer.Argument(metavar="DOCS", help="File of new documents: doc, title and other text fields.")
    ],
) -> None:
    """Add new documents to a trained model without retraining."""
    from coclick import open_model
    from coclick.logs import read_docs

    new, rejected = read_docs(docs)
    opened = open_model(model)
    larger = opened.add(new).save(model, replaces=opened)
    say(f"added {counted(len(new), 'document')} to {model}")
    if unreachable := larger._count_unreachable(len(new)):
        say(f"{unreachable:,} of them have no word that the model knows, so no query finds them yet")
    for line, reason in rejected:
        say(f"rejected: {reason} ({docs}, line {line})")
