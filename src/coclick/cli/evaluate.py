"""Commands that evaluate and tune models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from coclick.cli import arguments as args
from coclick.cli.arguments import MAX_COUNT, MAX_SEED, finite
from coclick.cli.reports import output_stats, prepare, run_files, write_page
from coclick.cli.terminal import output, say, suggest
from coclick.errors import UserError, counted


def evaluate(
    graph: args.GraphPath,
    queries: args.Queries = None,
    qrels: args.Qrels = None,
    models: args.Models = None,
    holdout: args.Holdout = None,
    run: args.Runs = None,
    candidates: args.Candidates = "all",
    gain: args.Gain = "linear",
    json_: args.JsonFile = None,
    html: args.HtmlFile = None,
    threads: args.Threads = None,
) -> None:
    """Train models on a graph and evaluate them with judgments or held-out clicks."""
    from coclick.cli import render
    from coclick.evaluation.evaluate import evaluate as evaluate_models
    from coclick.progress import for_terminal

    options: dict[str, Any] = {"queries": queries, "qrels": qrels, "holdout": holdout, "gain": gain}
    options |= {"candidates": candidates, "runs": run_files(run), "progress": for_terminal()}
    opened = prepare(graph, threads, json_, html)
    board = evaluate_models(opened, models or [], **options)
    stats = board.to_dict()
    output_stats(stats, json_, render.leaderboard)
    write_page(board, stats, html, opened)


def tune(
    model: Annotated[str, typer.Argument(metavar="SPEC", help='Model or weighted sum: "0.5*rw + 0.5*bm25".')],
    graph: args.GraphPath,
    queries: args.Queries = None,
    qrels: args.Qrels = None,
    holdout: args.Holdout = None,
    trials: Annotated[int, typer.Option(min=1, max=10_000, help="Number of variants to try.")] = 30,
    cross_validate: Annotated[
        bool, typer.Option("--cross-validate", help="Also tune on the other half, and test on all queries.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Random seed.")] = 0,
    gain: args.Gain = "linear",
    json_: args.JsonFile = None,
    threads: args.Threads = None,
) -> None:
    """Tune parameters, or the weights of a sum, on half of the judged queries and test on the other half."""
    from coclick.cli import render
    from coclick.evaluation.tune import tune as tune_model
    from coclick.progress import for_terminal

    options: dict[str, Any] = {"queries": queries, "qrels": qrels, "holdout": holdout, "gain": gain}
    options |= {"trials": trials, "cross_validate": cross_validate, "seed": seed, "progress": for_terminal()}
    stats = tune_model(prepare(graph, threads, json_), model, **options).to_dict()
    output_stats(stats, json_, render.tuning)
    suggest(f'coclick train "{stats["best"]}" {graph} -o model')


def run(
    model: args.ModelPath,
    queries: Annotated[Path, typer.Option(help="File of queries: id<TAB>text.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Run file to write.")],
    k: Annotated[
        int, typer.Option("-k", min=1, max=MAX_COUNT, help="Number of results for each query.")
    ] = 100,
    force: args.Force = False,
) -> None:
    """Search for every query in a file and write a TREC run."""
    from coclick import open_model
    from coclick.evaluation.judgments import read_queries
    from coclick.evaluation.runs import run_lines
    from coclick.storage.directories import check_file, write_file

    check_file(out, force=force)
    opened, texts = open_model(model), read_queries(queries)
    write_file(out, run_lines(opened, texts, k, opened.name))
    say(f"wrote the results of {counted(len(texts), 'query')} to {out}")


def evaluate_similar(
    graph: args.GraphPath,
    models: args.Models = None,
    baseline: Annotated[str, typer.Option(help="Model to compare with.")] = "cos_words",
    labels: Annotated[
        Path | None,
        typer.Option(help="File of graded pairs: query<TAB>query<TAB>grade of the second for the first."),
    ] = None,
    intents: Annotated[
        Path | None,
        typer.Option(help="File of intents: query<TAB>intent; queries of one intent are similar."),
    ] = None,
    holdout: args.Holdout = None,
    gain: args.Gain = "linear",
    json_: args.JsonFile = None,
    html: args.HtmlFile = None,
    threads: args.Threads = None,
) -> None:
    """Evaluate the similar queries that models find, with labels or held-out clicks."""
    from coclick.cli import render
    from coclick.evaluation.evaluate import evaluate as evaluate_models
    from coclick.evaluation.similar_queries import read_intents
    from coclick.evaluation.similar_task import RECOMMENDED
    from coclick.progress import for_terminal

    if intents is not None and labels is not None:
        raise UserError("give either --intents or --labels")
    opened = prepare(graph, threads, json_, html)
    qrels = labels if intents is None else read_intents(intents)
    specs = list(dict.fromkeys([baseline, *(models or [RECOMMENDED])]))
    options: dict[str, Any] = {"qrels": qrels, "holdout": holdout, "gain": gain, "progress": for_terminal()}
    board = evaluate_models(opened, specs, task="similar", **options)
    stats = board.to_dict()
    output_stats(stats, json_, render.leaderboard)
    write_page(board, stats, html, opened)


def evaluate_units(
    graph: args.GraphPath,
    model: Annotated[
        str, typer.Option("--model", help="Propagation model to evaluate.")
    ] = "vpcg(units=words,own_weight=0)",
    held_out: Annotated[
        float, typer.Option(min=0.01, max=0.9, callback=finite, help="Fraction of queries to hold out.")
    ] = 0.2,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Random seed of the split.")] = 0,
    threads: args.Threads = None,
    json_: args.Json = False,
) -> None:
    """Compare methods that generate vectors for unseen queries, on held-out queries."""
    from coclick.cli import render
    from coclick.evaluation.unit_vectors import compare_units

    rows = compare_units(prepare(graph, threads), model, held_out, seed)
    output(rows, json_, render.unit_table, rows)
