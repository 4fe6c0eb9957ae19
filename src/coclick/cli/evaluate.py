"""Commands that evaluate, compare and tune models."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coclick.cli.arguments import (
    Candidates,
    Force,
    Gain,
    GraphPath,
    Holdout,
    HtmlFile,
    Json,
    JsonFile,
    ModelPath,
    Models,
    MoreModels,
    Qrels,
    Queries,
    Runs,
    Threads,
)
from coclick.cli.terminal import counted, print_json, say, suggest
from coclick.errors import UserError

if TYPE_CHECKING:
    from coclick.evaluation.leaderboard import Leaderboard
    from coclick.graph.click_graph import ClickGraph

_STDOUT = Path("-")


def evaluate(
    graph: GraphPath,
    queries: Queries = None,
    qrels: Qrels = None,
    models: Models = None,
    holdout: Holdout = None,
    run: Runs = None,
    candidates: Candidates = "all",
    gain: Gain = "linear",
    json_: JsonFile = None,
    html: HtmlFile = None,
    threads: Threads = None,
) -> None:
    """Train models on a graph and evaluate them with judgments or held-out clicks."""
    from coclick.cli import render
    from coclick.evaluation.evaluate import evaluate as evaluate_models
    from coclick.progress import for_terminal

    opened = _prepare(graph, threads, json_, html)
    board = evaluate_models(
        opened,
        models or [],
        qrels=qrels,
        queries=queries,
        holdout=holdout,
        runs=_run_files(run),
        candidates=candidates,
        gain=gain,
        progress=for_terminal(),
    )
    stats = board.to_dict()
    if json_ != _STDOUT:
        render.leaderboard(stats)
    _write(stats, json_)
    _write_page(board, stats, html)


def compare(
    graph: GraphPath,
    queries: Queries = None,
    qrels: Qrels = None,
    models: MoreModels = None,
    holdout: Holdout = None,
    run: Runs = None,
    candidates: Candidates = "all",
    gain: Gain = "linear",
    json_: JsonFile = None,
    html: HtmlFile = None,
    threads: Threads = None,
) -> None:
    """Evaluate every model that suits the log and the machine, and recommend one."""
    from coclick.cli import render
    from coclick.evaluation.compare import compare as compare_models
    from coclick.progress import for_terminal

    opened = _prepare(graph, threads, json_, html)
    comparison = compare_models(
        opened,
        models or [],
        qrels=qrels,
        queries=queries,
        holdout=holdout,
        runs=_run_files(run),
        candidates=candidates,
        gain=gain,
        progress=for_terminal(),
    )
    stats = comparison.to_dict()
    if json_ != _STDOUT:
        render.leaderboard(stats)
        render.recommendation(stats, f'coclick train "{comparison.recommended}" {graph} -o model')
    _write(stats, json_)
    _write_page(comparison.leaderboard, stats, html)


def tune(
    model: Annotated[str, typer.Argument(metavar="SPEC", help='Model or weighted sum: "0.5*rw + 0.5*bm25".')],
    graph: GraphPath,
    queries: Queries = None,
    qrels: Qrels = None,
    holdout: Holdout = None,
    trials: Annotated[int, typer.Option(min=1, help="Number of variants to try.")] = 30,
    cross_validate: Annotated[
        bool, typer.Option("--cross-validate", help="Also tune on the other half, and test on all queries.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    gain: Gain = "linear",
    json_: JsonFile = None,
    threads: Threads = None,
) -> None:
    """Tune parameters, or the weights of a sum, on half of the judged queries and test on the other half."""
    from coclick.cli import render
    from coclick.evaluation.tune import tune as tune_model
    from coclick.progress import for_terminal

    opened = _prepare(graph, threads, json_)
    found = tune_model(
        opened,
        model,
        qrels=qrels,
        queries=queries,
        holdout=holdout,
        trials=trials,
        cross_validate=cross_validate,
        gain=gain,
        seed=seed,
        progress=for_terminal(),
    ).to_dict()
    if json_ != _STDOUT:
        render.tuning(found)
        suggest(f'coclick train "{found["best"]}" {graph} -o model')
    _write(found, json_)


def run(
    model: ModelPath,
    queries: Annotated[Path, typer.Option(help="File of queries: id<TAB>text.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Run file to write.")],
    k: Annotated[int, typer.Option("-k", min=1, help="Number of results for each query.")] = 100,
    force: Force = False,
) -> None:
    """Search for every query in a file and write a TREC run."""
    from coclick import open_model
    from coclick.evaluation.judgments import read_queries
    from coclick.evaluation.runs import run_lines
    from coclick.storage.directories import check_file, write_file

    check_file(out, force=force)
    opened, texts = open_model(model), read_queries(queries)
    write_file(out, run_lines(opened, texts, k, opened.name))
    say(f"wrote the results of {counted(len(texts), 'query', 'queries')} to {out}")


def evaluate_similar(
    graph: GraphPath,
    models: Models = None,
    baseline: Annotated[str, typer.Option(help="Model to compare with.")] = "cos_words",
    intents: Annotated[
        Path | None,
        typer.Option(help="File of intents: query<TAB>intent; queries of one intent are similar."),
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="File of graded pairs: query<TAB>query<TAB>grade.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the query sample.")] = 0,
    json_: JsonFile = None,
    threads: Threads = None,
) -> None:
    """Evaluate the three most similar queries of each model against a baseline."""
    from coclick.cli import render
    from coclick.evaluation import similar_queries
    from coclick.progress import for_terminal

    if (intents is None) == (labels is None):
        raise UserError("give either --intents or --labels")
    opened = _prepare(graph, threads, json_)
    known = similar_queries.read_intents(intents) if intents else similar_queries.read_pairs(labels)  # type: ignore[arg-type]
    found = similar_queries.compare_similar(
        opened, known, models or ["vpcg"], baseline, seed=seed, progress=for_terminal()
    )
    if json_ != _STDOUT:
        render.similar_table(found)
    _write(found, json_)


def evaluate_units(
    graph: GraphPath,
    model: Annotated[str, typer.Option("--model", help="Propagation model to evaluate.")] = "vpcg",
    held_out: Annotated[
        float, typer.Option(min=0.01, max=0.9, help="Fraction of queries to hold out.")
    ] = 0.2,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the split.")] = 0,
    threads: Threads = None,
    json_: Json = False,
) -> None:
    """Compare methods that generate vectors for unseen queries, on held-out queries."""
    from coclick.cli import render
    from coclick.evaluation.unit_vectors import compare_units

    rows = compare_units(_prepare(graph, threads), model, held_out, seed)
    if json_:
        print_json(rows)
    else:
        render.unit_table(rows)


def _prepare(graph: Path, threads: int | None, *outputs: Path | None) -> ClickGraph:
    """Set the threads, check that reports can be written, and open the graph."""
    from coclick import ClickGraph
    from coclick.jit.threads import set_threads
    from coclick.storage.directories import check_file

    for path in outputs:
        if path and path != _STDOUT:
            check_file(path, force=True)
    set_threads(threads)
    return ClickGraph.open(graph)


def _run_files(given: list[str] | None) -> dict[str, str]:
    """Read `NAME=FILE` as {name: file}."""
    found = {}
    for text in given or []:
        name, equals, path = text.partition("=")
        if not equals or not name or not path:
            raise UserError(f"cannot read the run {text!r}", hint="write --run NAME=FILE")
        found[name] = path
    return found


def _write(stats: Any, path: Path | None) -> None:
    if path == _STDOUT:
        print_json(stats)
    elif path:
        import json

        from coclick.storage.directories import write_file

        write_file(path, [json.dumps(stats, ensure_ascii=False, indent=1), "\n"])


def _write_page(board: Leaderboard, stats: Mapping[str, Any], path: Path | None) -> None:
    if path:
        from coclick.evaluation.report import write_report

        write_report(board, path, stats)
        say(f"wrote the report to {path}")
