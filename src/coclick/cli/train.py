"""Commands that make and extend models: train, add."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coclick.cli.arguments import Engine, Force, Master, ModelPath, Threads, open_graph
from coclick.cli.terminal import say, suggest
from coclick.errors import UserError, counted


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
    features: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VIEW=FILE",
            help="Features of the new documents in a user view of the model: doc, feature[, value]. "
            "Repeat for several.",
        ),
    ] = None,
) -> None:
    """Add new documents to a trained model without retraining."""
    from coclick import open_model
    from coclick.graph.added_documents import check_view_features
    from coclick.logs import read_docs
    from coclick.logs.doc_features import read_doc_features

    files = _files_by_view(features)
    new, rejected = read_docs(docs)
    opened = open_model(model)
    check_view_features({view: {} for view in files}, opened.user_views)
    read = {view: read_doc_features(paths, new) for view, paths in files.items()}
    given = {view: found.features for view, found in read.items()}
    larger = opened.add(new, given).save(model, replaces=opened)
    say(f"added {counted(len(new), 'document')} to {model}")
    if unreachable := larger._count_unreachable(len(new)):
        known = "word or feature" if given else "word"
        say(f"{unreachable:,} of them have no {known} that the model knows, so no query finds them yet")
        for view in sorted(opened.user_views - {*given}):
            say(f"the model also reads features: --features {view}=FILE")
    for line, reason in rejected:
        say(f"rejected: {reason} ({docs}, line {line})")
    for view, found in read.items():
        if found.unknown:
            unknown = counted(len(found.unknown), "document")
            say(f"ignored: features in {view} of {unknown} not in {docs}, such as {found.unknown[0]!r}")
        for where, reason in found.rejected:
            say(f"rejected: {reason} ({where})")


def _files_by_view(given: list[str] | None) -> dict[str, list[str]]:
    """Read `VIEW=FILE` as {view: files}."""
    files: dict[str, list[str]] = {}
    for text in given or []:
        view, _, path = text.partition("=")
        if not view or not path:
            raise UserError(f"cannot read the features {text!r}", hint="write --features VIEW=FILE")
        files.setdefault(view, []).append(path)
    return files
