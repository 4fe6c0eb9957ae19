"""Commands that describe graphs and models: info, rejects, verify, models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coclick.cli.arguments import MAX_COUNT, GraphPath, Json
from coclick.cli.terminal import output, print_json, print_table, say

AnyPath = Annotated[
    Path, typer.Argument(metavar="GRAPH|MODEL", help="Directory of a graph, model or other artefact.")
]


def info(
    path: AnyPath,
    json_: Json = False,
    spellings: Annotated[
        bool, typer.Option("--spellings", help="List the spellings that were merged into one query.")
    ] = False,
) -> None:
    """Show the sizes, degree distributions, parameters and training statistics of a graph or model."""
    from coclick.answers import describe
    from coclick.cli import render
    from coclick.errors import ArtefactError
    from coclick.storage.manifest import MANIFEST

    if spellings:
        from coclick import ClickGraph, logs

        rows = logs.variants(ClickGraph.open(path))
        answer = [{"query": query, "spelling": raw, "rows": count} for query, raw, count in rows]
        output(answer, json_, print_table, "merged spellings", ["query", "as typed", "rows"], rows)
    else:
        stats = describe(path)
        try:
            output(stats, json_, render.info, stats)
        except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError):
            raise ArtefactError(
                "the statistics in the manifest have values that coclick does not write",
                where=str(path / MANIFEST),
                hint="`coclick verify` says whether the manifest was changed",
            ) from None


def rejects(
    graph: GraphPath,
    reason: Annotated[
        str | None, typer.Option(help="Only rows whose reason contains this text, such as timestamp.")
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, max=MAX_COUNT, help="Number of rows to print.")] = 20,
    json_: Json = False,
) -> None:
    """Show the rows that a build rejected: file, line, reason and text."""
    from coclick import ClickGraph, logs
    from coclick.errors import counted

    found = [
        {"file": file, "line": line, "reason": f"{field} {why}".strip(), "raw": raw}
        for file, line, field, why, raw in logs.rejects(ClickGraph.open(graph))
        if reason is None or reason in f"{field} {why}"
    ]
    shown = [[row["file"] or "", row["line"] or "", row["reason"], row["raw"]] for row in found[:k]]
    title = counted(len(found), "rejected row")
    output(found, json_, print_table, title, ["file", "line", "reason", "row"], shown)
    if len(found) > k and not json_:
        say(f"{len(found) - k:,} more; see -k, --reason and --json")


def verify(path: AnyPath, json_: Json = False) -> None:
    """Check every file of a graph or model: digests and bounds. Exits with 3 if something is damaged."""
    from coclick.models.verify import verify as check

    problems = check(path)
    if json_:
        print_json({"sound": not problems, "problems": [{"where": w, "what": what} for w, what in problems]})
    else:
        for where, what in problems:
            say(f"{where}: {what}")
        typer.echo("damaged" if problems else "sound")
    raise typer.Exit(3 if problems else 0)


def models(json_: Json = False) -> None:
    """List all models and their parameters."""
    from coclick.answers import describe_models
    from coclick.cli import render

    rows = describe_models()
    output(rows, json_, render.models, rows)
