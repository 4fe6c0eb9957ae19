"""Command that looks at a log before it is built: check."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from coclick.cli.arguments import Json, read_action_weights, read_columns
from coclick.cli.terminal import output, say

CANNOT_BUILD = 2  # exit code


def check(
    log: Annotated[
        list[str] | None, typer.Argument(metavar="LOG...", help="Log files or globs, as for build.")
    ] = None,
    docs: Annotated[list[str] | None, typer.Option(help="Files or globs of documents.")] = None,
    like: Annotated[str, typer.Option(help="Log format, as for build.")] = "auto",
    columns: Annotated[str | None, typer.Option(help="Columns of fields, as for build.")] = None,
    header: Annotated[
        Literal["auto", "yes", "no"], typer.Option(help="Whether the first line is a header.")
    ] = "auto",
    encoding: Annotated[str | None, typer.Option(help="Encoding of text files.")] = None,
    time_format: Annotated[str | None, typer.Option(help="How times are written, as for build.")] = None,
    timezone: Annotated[str | None, typer.Option(help="Time zone of times that name none.")] = None,
    actions: Annotated[str | None, typer.Option(help="Actions that count as clicks, with weights.")] = None,
    since: Annotated[str | None, typer.Option(help="Count events from this day or time on.")] = None,
    until: Annotated[str | None, typer.Option(help="Count events before this day or time.")] = None,
    database: Annotated[str | None, typer.Option(help="Database to read, as for build.")] = None,
    sql: Annotated[str | None, typer.Option(help="Query that returns the log.")] = None,
    docs_sql: Annotated[str | None, typer.Option(help="Query that returns the documents.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the report as an HTML page.")] = None,
    json_: Json = False,
) -> None:
    """Look at a log before you build: what is in it, how it is read, what is lost, the command to run.

    Of large files and query results only the first part is read, and nothing is written. Exits with 2 if
    the log cannot be built as it is.
    """
    from coclick import logs
    from coclick.cli import render_check

    options: dict[str, Any] = {"like": like, "header": header, "encoding": encoding}
    options |= {"time_format": time_format, "timezone": timezone, "since": since, "until": until}
    options |= {"database": database, "sql": sql, "docs_sql": docs_sql}
    found = logs.check(
        log, docs, columns=read_columns(columns), actions=read_action_weights(actions), **options
    )
    if html is not None:
        from coclick.logs.check_page import render_page
        from coclick.storage.directories import write_file

        write_file(html, render_page(found))
        say(f"wrote the report to {html}")
    output(found.to_dict(), json_, render_check.check_report, found)
    raise typer.Exit(CANNOT_BUILD if found.problem else 0)
