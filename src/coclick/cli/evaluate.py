"""Which model helps? Commands that judge, compare and tune models."""

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
    JsonFile,
    Models,
    Qrels,
    Queries,
    Runs,
    Threads,
)
from coclick.cli.terminal import print_json, say, suggest
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
    """Train models on a graph and rank them by judgments, or by clicks that they are not shown."""
    from coclick.cli import render as show
    from coclick.evaluation.evaluate import evaluate as evaluate_models
    from coclick.progress import for_terminal

    opened = _prepare(graph, threads, json_, html)
    board = evaluate_models(
        opened,
        models or [],
        qrels=qrels,
        queries=queries,
        holdout=holdout,
        runs=_runs(run),
        candidates=candidates,  # type: ignore[arg-type]
        gain=gain,  # type: ignore[arg-type]
        progress=for_terminal(),
    )
    figures = board.to_dict()
    if json_ != _STDOUT:
        show.leaderboard(figures)
    _write(figures, json_)
    _write_page(board, figures, html)


def compare(
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
    """Try every model that fits the log and the machine, and recommend one."""
    from coclick.cli import render as show
    from coclick.evaluation.compare import compare as compare_models
    from coclick.progress import for_terminal

    opened = _prepare(graph, threads, json_, html)
    found = compare_models(
        opened,
        models or [],
        qrels=qrels,
        queries=queries,
        holdout=holdout,
        runs=_runs(run),
        candidates=candidates,  # type: ignore[arg-type]
        gain=gain,  # type: ignore[arg-type]
        progress=for_terminal(),
    )
    figures = found.to_dict()
    if json_ != _STDOUT:
        show.leaderboard(figures)
        show.recommendation(figures, f'coclick train "{found.recommended}" {graph} -o model')
    _write(figures, json_)
    _write_page(found.leaderboard, figures, html)


def tune(
    model: Annotated[str, typer.Argument(metavar="SPEC", help='A model or a sum: "0.5*rw + 0.5*bm25".')],
    graph: GraphPath,
    queries: Queries = None,
    qrels: Qrels = None,
    holdout: Holdout = None,
    trials: Annotated[int, typer.Option(min=1, help="How many variants to try.")] = 30,
    seed: Annotated[int, typer.Option(min=0, help="Another seed, other variants.")] = 0,
    gain: Gain = "linear",
    json_: JsonFile = None,
    threads: Threads = None,
) -> None:
    """Choose parameters, or a sum's weights, by half of the judged queries, and check by the others."""
    from coclick.cli import render as show
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
        gain=gain,  # type: ignore[arg-type]
        seed=seed,
        progress=for_terminal(),
    ).to_dict()
    if json_ != _STDOUT:
        show.tuning(found)
        suggest(f'coclick train "{found["best"]}" {graph} -o model')
    _write(found, json_)


def run(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A trained model's directory.")],
    queries: Annotated[Path, typer.Option(help="Queries: id<TAB>text.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The run file.")],
    k: Annotated[int, typer.Option("-k", min=1, help="How many results for each query.")] = 100,
    force: Force = False,
) -> None:
    """Search for all queries of a file and write a TREC run."""
    from coclick import open_model
    from coclick.evaluation.judgments import read_queries
    from coclick.evaluation.runs import run_lines
    from coclick.storage.directories import check_file, write_file

    check_file(out, force=force)
    opened, asked = open_model(model), read_queries(queries)
    write_file(out, run_lines(opened, asked, k, opened.name))
    say(f"wrote the results of {len(asked):,} queries to {out}")


def evaluate_similar(
    graph: GraphPath,
    models: Models = None,
    baseline: Annotated[str, typer.Option(help="What the models are compared with.")] = "cos_words",
    intents: Annotated[
        Path | None, typer.Option(help="query<TAB>intent: queries of one intent are similar.")
    ] = None,
    labels: Annotated[Path | None, typer.Option(help="query<TAB>query<TAB>grade.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Which queries are sampled.")] = 0,
    json_: JsonFile = None,
    threads: Threads = None,
) -> None:
    """Compare the three most similar queries of each model with a baseline's (paper 000, §5.4.2)."""
    from coclick.cli import render as show
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
        show.similar_table(found)
    _write(found, json_)


def evaluate_units(
    graph: GraphPath,
    model: Annotated[str, typer.Option("--model", help="The propagation to evaluate.")] = "vpcg",
    fraction: Annotated[float, typer.Option(min=0.01, max=0.9, help="Share of the queries held out.")] = 0.2,
    seed: Annotated[int, typer.Option(min=0, help="Which queries are held out.")] = 0,
    threads: Threads = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Compare ways to make vectors for unseen queries (paper 003, Table 5) on held-out queries."""
    from coclick.cli import render as show
    from coclick.evaluation.unit_vectors import compare_units

    rows = compare_units(_prepare(graph, threads), model, fraction, seed)
    if json_:
        print_json(rows)
    else:
        show.unit_table(rows)


def _prepare(graph: Path, threads: int | None, *outputs: Path | None) -> ClickGraph:
    """Set the threads, see that reports can be written, open the graph."""
    from coclick import ClickGraph
    from coclick.jit.threads import set_threads
    from coclick.storage.directories import check_file

    for path in outputs:
        if path and path != _STDOUT:
            check_file(path, force=True)
    set_threads(threads)
    return ClickGraph.open(graph)


def _runs(given: list[str] | None) -> dict[str, str]:
    """`NAME=FILE` → files by name."""
    found = {}
    for text in given or []:
        name, equals, path = text.partition("=")
        if not equals or not name or not path:
            raise UserError(f"cannot read the run {text!r}", hint="write --run NAME=FILE")
        found[name] = path
    return found


def _write(figures: Any, path: Path | None) -> None:
    if path == _STDOUT:
        print_json(figures)
    elif path:
        import json

        from coclick.storage.directories import write_file

        write_file(path, [json.dumps(figures, ensure_ascii=False, indent=1), "\n"])


def _write_page(board: Leaderboard, figures: Mapping[str, Any], path: Path | None) -> None:
    if path:
        from coclick.evaluation.report import write_report

        write_report(board, path, figures)
        say(f"wrote the report to {path}")
