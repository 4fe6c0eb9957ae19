"""Command that looks at a log before it is built: check."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from coclick.cli.arguments import Json, read_action_weights, read_columns, read_share
from coclick.cli.log_options import (
    Actions,
    Bots,
    Columns,
    Database,
    Docs,
    DocsSql,
    Duplicates,
    Encoding,
    HalfLife,
    Header,
    Language,
    Like,
    Logs,
    MaxRejected,
    MinClicks,
    MinUsers,
    Scrub,
    Since,
    Sql,
    TimeFormat,
    Timezone,
    Until,
)
from coclick.cli.terminal import output, say

CANNOT_BUILD = 2  # exit code


def check(
    log: Logs = None,
    docs: Docs = None,
    like: Like = "auto",
    columns: Columns = None,
    header: Header = "auto",
    encoding: Encoding = None,
    time_format: TimeFormat = None,
    timezone: Timezone = None,
    actions: Actions = None,
    since: Since = None,
    until: Until = None,
    half_life: HalfLife = None,
    min_clicks: MinClicks = 1,
    min_users: MinUsers = 1,
    scrub: Scrub = None,
    bots: Bots = "flag",
    duplicates: Duplicates = "count",
    language: Language = None,
    max_rejected: MaxRejected = "50%",
    database: Database = None,
    sql: Sql = None,
    docs_sql: DocsSql = None,
    html: Annotated[Path | None, typer.Option(help="Write the report as an HTML page.")] = None,
    json_: Json = False,
) -> None:
    """Look at a log before you build: what is in it, how it is read, what is lost, the command to run.

    The options are those of build; they are in the command, too. Of large files and query results only the
    first part is read, and nothing is written. Exits with 2 if the log cannot be built as it is.
    """
    from coclick import logs
    from coclick.cli import render_check

    options: dict[str, Any] = {"like": like, "header": header, "encoding": encoding}
    options |= {"time_format": time_format, "timezone": timezone, "since": since, "until": until}
    options |= {"database": database, "sql": sql, "docs_sql": docs_sql}
    options |= {"min_clicks": min_clicks, "min_users": min_users, "half_life": half_life, "scrub": scrub}
    options |= {"bots": bots, "duplicates": duplicates, "language": language}
    options["max_rejected"] = read_share(max_rejected, "--max-rejected")
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
