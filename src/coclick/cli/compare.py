"""The command that compares models and recommends one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from coclick.cli import arguments as args
from coclick.cli.reports import output_stats, prepare, run_files, write_page
from coclick.cli.terminal import say, suggest


def compare(
    graph: args.GraphPath,
    queries: args.Queries = None,
    qrels: args.Qrels = None,
    models: args.MoreModels = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Model to evaluate, by name or specification, and no others; repeat for several."),
    ] = None,
    skip: Annotated[list[str] | None, typer.Option(help="Model not to evaluate; repeat for several.")] = None,
    budget: Annotated[
        str, typer.Option(metavar="TIME", help="How long it may take, such as 90s, 3m, 1h, or none.")
    ] = "3m",
    target: Annotated[
        str | None,
        typer.Option(
            metavar="TARGET",
            help="Where the model will be used: serve, rerank, opensearch, elasticsearch, solr, vespa, "
            "postgres, qdrant, tantivy or parquet.",
        ),
    ] = None,
    task: Annotated[
        Literal["search", "similar"],
        typer.Option(help="What models are judged on: searching documents, or finding similar queries."),
    ] = "search",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Directory of a model: train the recommended one on all clicks."),
    ] = None,
    holdout: args.Holdout = None,
    run: args.Runs = None,
    candidates: args.Candidates = "all",
    gain: args.Gain = "linear",
    json_: args.JsonFile = None,
    html: args.HtmlFile = None,
    force: args.Force = False,
    threads: args.Threads = None,
) -> None:
    """Evaluate the models that suit the log within a time budget, and recommend one.

    Without judgments, models are judged by the clicks of the last days and by held-out queries.
    """
    from coclick.cli import render_comparison as render
    from coclick.cli.watch import watch
    from coclick.recommendation.compare import compare as compare_models
    from coclick.storage.directories import check_output

    if out is not None:
        check_output(out, force, "model")
    opened = prepare(graph, threads, json_, html)
    options: dict[str, Any] = {"queries": queries, "qrels": qrels, "holdout": holdout, "gain": gain}
    options |= {"candidates": candidates, "runs": run_files(run), "only": only or [], "skip": skip or []}
    options |= {"budget": budget, "target": target, "task": task}
    interrupted = False
    with watch() as watcher:
        try:
            found = compare_models(
                opened, models or [], **options, on_update=watcher.update, progress=watcher.progress
            )
        except KeyboardInterrupt:
            if watcher.latest is None:
                raise
            found, interrupted = watcher.latest, True
    stats = found.to_dict()
    advice = found.recommendation
    command = f'coclick train "{advice.model}" {graph} -o model' if advice and not out else None
    output_stats(stats, json_, render.comparison, command)
    write_page(found.leaderboard, stats, html, opened)
    if interrupted:
        raise typer.Exit(130)
    recommended = found.recommended  # raises if no model can be used at the target
    if out is not None:
        _train(recommended, opened, out, force)


def _train(spec: str, graph: Any, out: Path, force: bool) -> None:
    """Train the recommended model on the whole graph."""
    from coclick import create
    from coclick.progress import for_terminal

    say(f"training {spec} on all clicks …")
    create(spec).fit(graph, for_terminal()).save(out, force=force)
    say(f"wrote the model to {out}")
    suggest(f'coclick search {out} "some query"')
