"""The command `failing`: queries that people do not find what they want with."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from coclick.cli import arguments as args
from coclick.cli.arguments import MAX_COUNT
from coclick.cli.reports import prepare
from coclick.cli.terminal import console, one_line, output, print_table, say
from coclick.errors import counted

_SHOWN = 20  # clusters


def failing(
    graph: args.GraphPath,
    model: Annotated[
        str | None,
        typer.Option(
            help="Model that finds similar queries: a directory, or a specification to train; default vpcg."
        ),
    ] = None,
    min_searches: Annotated[
        int, typer.Option(min=1, max=MAX_COUNT, help="Leave out queries with fewer searches.")
    ] = 5,
    examples: Annotated[
        int, typer.Option(min=1, max=MAX_COUNT, help="Number of queries to list of each cluster.")
    ] = 10,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write all clusters as a web page.")
    ] = None,
    threads: args.Threads = None,
    json_: args.Json = False,
) -> None:
    """List queries that fail, in clusters, with the fix that would help.

    Queries without results, never clicked, abandoned, reformulated, or with a click rate that falls over the
    weeks, as far as the log tells.
    """
    from coclick.failing import find_failing
    from coclick.failing.page import write_page
    from coclick.progress import for_terminal

    opened = prepare(graph, threads, html)
    found = find_failing(opened, model, min_searches=min_searches, examples=examples, progress=for_terminal())
    output(found, json_, _print, found, graph)
    if html:
        write_page(found, html)
        say(f"wrote the page to {html}")


def _print(found: Mapping[str, Any], graph: Path) -> None:
    for line in found["missing"]:
        console().print(f"[yellow]note: {escape(line)}[/]")
    unit = found["counted"]
    kinds = [[kind["kind"], kind["queries"], kind["searches"], kind["meaning"]] for kind in found["kinds"]]
    print_table("", ["kind", "queries", unit, "meaning"], kinds)
    clusters = found["clusters"]
    if not clusters:
        console().print(f"no query with at least {found['min_searches']} {unit} fails")
        return
    console().print()
    rows = [
        [
            cluster["name"],
            cluster["queries"],
            cluster["searches"],
            cluster["failed"],
            ", ".join(cluster["kinds"]),
            one_line(cluster["fix"]["sentence"]),
        ]
        for cluster in clusters[:_SHOWN]
    ]
    print_table("", ["like", "queries", unit, "failed", "kinds", "fix"], rows)
    if (more := len(clusters) - _SHOWN) > 0:
        console().print(f"[dim]… and {counted(more, 'more cluster')}; --json or --html has all[/]")
    for command in dict.fromkeys(cluster["fix"]["command"] for cluster in clusters[:_SHOWN]):
        if command:
            shipped = command.replace("GRAPH", shlex.quote(str(graph)))
            console().print(f"ship with: {shipped}", markup=False, highlight=False, soft_wrap=True)
