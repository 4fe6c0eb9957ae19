"""Commands that evaluate, compare and tune models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coclick.cli import arguments as args
from coclick.cli.terminal import output, say, suggest
from coclick.errors import UserError, counted

if TYPE_CHECKING:
    from coclick.evaluation.leaderboard import Leaderboard
    from coclick.graph.click_graph import ClickGraph

_STDOUT = Path("-")


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
    options |= {"candidates": candidates, "runs": _run_files(run), "progress": for_terminal()}
    board = evaluate_models(_prepare(graph, threads, json_, html), models or [], **options)
    stats = board.to_dict()
    _output(stats, json_, render.leaderboard)
    _write_page(board, stats, html)


def compare(
    graph: args.GraphPath,
    queries: args.Queries = None,
    qrels: args.Qrels = None,
    models: args.MoreModels = None,
    holdout: args.Holdout = None,
    run: args.Runs = None,
    candidates: args.Candidates = "all",
    gain: args.Gain = "linear",
    json_: args.JsonFile = None,
    html: args.HtmlFile = None,
    threads: args.Threads = None,
) -> None:
    """Evaluate every model that suits the log and the machine, and recommend one."""
    from coclick.cli import render
    from coclick.evaluation.compare import compare as compare_models
    from coclick.progress import for_terminal

    options: dict[str, Any] = {"queries": queries, "qrels": qrels, "holdout": holdout, "gain": gain}
    options |= {"candidates": candidates, "runs": _run_files(run), "progress": for_terminal()}
    comparison = compare_models(_prepare(graph, threads, json_, html), models or [], **options)
    stats = comparison.to_dict()
    command = f'coclick train "{comparison.recommended}" {graph} -o model'
    _output(stats, json_, render.comparison, command)
    _write_page(comparison.leaderboard, stats, html)


def tune(
    model: Annotated[str, typer.Argument(metavar="SPEC", help='Model or weighted sum: "0.5*rw + 0.5*bm25".')],
    graph: args.GraphPath,
    queries: args.Queries = None,
    qrels: args.Qrels = None,
    holdout: args.Holdout = None,
    trials: Annotated[int, typer.Option(min=1, help="Number of variants to try.")] = 30,
    cross_validate: Annotated[
        bool, typer.Option("--cross-validate", help="Also tune on the other half, and test on all queries.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
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
    stats = tune_model(_prepare(graph, threads, json_), model, **options).to_dict()
    _output(stats, json_, render.tuning)
    suggest(f'coclick train "{stats["best"]}" {graph} -o model')


def run(
    model: args.ModelPath,
    queries: Annotated[Path, typer.Option(help="File of queries: id<TAB>text.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Run file to write.")],
    k: Annotated[int, typer.Option("-k", min=1, help="Number of results for each query.")] = 100,
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
    from coclick.evaluation.similar_queries import RECOMMENDED, read_intents
    from coclick.progress import for_terminal

    if intents is not None and labels is not None:
        raise UserError("give either --intents or --labels")
    opened = _prepare(graph, threads, json_, html)
    qrels = labels if intents is None else read_intents(intents)
    specs = list(dict.fromkeys([baseline, *(models or [RECOMMENDED])]))
    options: dict[str, Any] = {"qrels": qrels, "holdout": holdout, "gain": gain, "progress": for_terminal()}
    board = evaluate_models(opened, specs, task="similar", **options)
    stats = board.to_dict()
    _output(stats, json_, render.leaderboard)
    _write_page(board, stats, html)


def evaluate_units(
    graph: args.GraphPath,
    model: Annotated[
        str, typer.Option("--model", help="Propagation model to evaluate.")
    ] = "vpcg(units=words,own_weight=0)",
    held_out: Annotated[
        float, typer.Option(min=0.01, max=0.9, help="Fraction of queries to hold out.")
    ] = 0.2,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the split.")] = 0,
    threads: args.Threads = None,
    json_: args.Json = False,
) -> None:
    """Compare methods that generate vectors for unseen queries, on held-out queries."""
    from coclick.cli import render
    from coclick.evaluation.unit_vectors import compare_units

    rows = compare_units(_prepare(graph, threads), model, held_out, seed)
    output(rows, json_, render.unit_table, rows)


def _prepare(graph: Path, threads: int | None, *outputs: Path | None) -> ClickGraph:
    """Set the threads, check that reports can be written, and open the graph."""
    from coclick.storage.directories import check_file

    for path in outputs:
        if path and path != _STDOUT:
            check_file(path, force=True)
    return args.open_graph(graph, threads)


def _run_files(given: list[str] | None) -> dict[str, str]:
    """Read `NAME=FILE` as {name: file}."""
    found = {}
    for text in given or []:
        name, equals, path = text.partition("=")
        if not equals or not name or not path:
            raise UserError(f"cannot read the run {text!r}", hint="write --run NAME=FILE")
        found[name] = path
    return found


def _output(stats: Any, path: Path | None, render: Callable[..., None], *arguments: Any) -> None:
    """Print the statistics for people or, if the path is `-`, as JSON; write other paths."""
    output(stats, path == _STDOUT, render, stats, *arguments)
    if path and path != _STDOUT:
        from coclick.storage.directories import write_json

        write_json(path, stats)


def _write_page(board: Leaderboard, stats: Mapping[str, Any], path: Path | None) -> None:
    if path:
        from coclick.evaluation.report import write_report

        write_report(board, path, stats)
        say(f"wrote the report to {path}")
