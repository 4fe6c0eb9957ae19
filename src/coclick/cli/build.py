"""Commands that make click graphs: sample, build, filter, view."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from coclick.cli.arguments import (
    MAX_CLICKS,
    MAX_COUNT,
    MAX_SEED,
    Engine,
    Force,
    GraphPath,
    Json,
    Master,
    Memory,
    Threads,
    finite,
    read_action_weights,
    read_columns,
    read_share,
)
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
from coclick.cli.terminal import output, say, suggest


def sample(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Directory to write the files to.")],
    queries: Annotated[int, typer.Option(min=10, max=10_000_000, help="Number of distinct queries.")] = 3000,
    docs: Annotated[int, typer.Option(min=10, max=10_000_000, help="Number of documents.")] = 5000,
    events: Annotated[
        int | None, typer.Option(min=100, max=MAX_COUNT, help="Approximate number of log events.")
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(
            help="Size and shape of a large log: web-week, web-halfyear, enterprise, web-unseen (with unseen "
            "judged queries and documents) or web-new (all judged documents are new)."
        ),
    ] = None,
    scale: Annotated[
        float, typer.Option(callback=finite, help="Share of the size of --like, between 0 and 1.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Random seed.")] = 0,
    force: Force = False,
) -> None:
    """Simulate a search engine and its users: a log with known relevance.

    Writes events.parquet, docs.tsv, queries.tsv, qrels.tsv (judgments from a later period) and intents.tsv
    (the intent of each query). With --like, the log is clicks.parquet, with counts instead of events, and
    graph is the click graph of its pairs with more than 3 clicks, with positions and skip pairs.
    """
    from coclick import simulate

    if like:
        simulate.sample_like(directory, like, seed=seed, scale=scale, force=force)
        say(f"wrote a simulated log to {directory}")
        suggest(f"coclick info {directory}/graph")
        return
    simulate.sample(directory, queries=queries, docs=docs, events=events, seed=seed, force=force)
    say(f"wrote a simulated log to {directory}")
    suggest(f"coclick build {directory}/events.parquet --docs {directory}/docs.tsv -o graph")


def build(
    out: Annotated[str, typer.Option("--out", "-o", help="Directory of the new graph.")],
    log: Logs = None,
    docs: Docs = None,
    like: Like = "auto",
    columns: Columns = None,
    header: Header = "auto",
    min_clicks: MinClicks = 1,
    min_users: MinUsers = 1,
    scrub: Scrub = None,
    hash_users: Annotated[
        bool, typer.Option("--hash-users", help="Show keyed digests instead of user ids.")
    ] = False,
    key_file: Annotated[
        Path | None,
        typer.Option(help="File with the key for --hash-users; by default one of your own is made once."),
    ] = None,
    actions: Actions = None,
    time_format: TimeFormat = None,
    timezone: Timezone = None,
    since: Since = None,
    until: Until = None,
    half_life: HalfLife = None,
    encoding: Encoding = None,
    max_rejected: MaxRejected = "50%",
    database: Database = None,
    sql: Sql = None,
    docs_sql: DocsSql = None,
    language: Language = None,
    duplicates: Duplicates = "count",
    bots: Bots = "flag",
    memory: Memory = "4GB",
    threads: Threads = None,
    engine: Engine = "local",
    master: Master = None,
    force: Force = False,
) -> None:
    """Build a click graph from log files."""
    from coclick import logs
    from coclick.answers import describe
    from coclick.cli import render, spark
    from coclick.storage.directories import check_output

    options: dict[str, Any] = {
        "like": like,
        "columns": read_columns(columns),
        "min_clicks": min_clicks,
        "min_users": min_users,
        "scrub": scrub,
        "hash_users": hash_users,
        "key_file": key_file,
        "actions": read_action_weights(actions),
        "time_format": time_format,
        "timezone": timezone,
        "since": since,
        "until": until,
        "half_life": half_life,
        "language": language,
        "bots": bots,
        "duplicates": duplicates,
        "max_rejected": read_share(max_rejected, "--max-rejected"),
        "force": force,
    }
    reading = {"encoding": encoding, "database": database, "sql": sql, "docs_sql": docs_sql}
    if spark.is_spark(engine, master):
        given = {name: value is not None for name, value in reading.items()}
        spark.refuse(header=header != "auto", **given)
        spark.build(log or [], docs, out, master, **options)
        return
    check_output(Path(out), force, "graph")
    progress = say if sys.stderr.isatty() else None
    options |= {"header": header, **reading}
    logs.build(log, docs, out, **options, memory=memory, threads=threads, progress=progress)
    render.graph_summary(describe(out))
    suggest(f"coclick compare {out} -o model")


def filter(
    graph: GraphPath,
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory of the new graph.")],
    min_score: Annotated[
        float,
        typer.Option(
            min=0,
            max=MAX_CLICKS,
            callback=finite,
            help="Drop pairs whose clicks are below this multiple of what is expected.",
        ),
    ] = 0,
    min_clicks: Annotated[
        float,
        typer.Option(
            min=0, max=MAX_CLICKS, callback=finite, help="Drop query-document pairs with fewer clicks."
        ),
    ] = 0,
    force: Force = False,
) -> None:
    """Drop weak query-document pairs from a graph.

    The clicks expected for a pair follow from how often it was shown at which positions, and from the click
    rates of these positions in the whole log.
    """
    from coclick import ClickGraph
    from coclick.errors import counted
    from coclick.storage.directories import check_output

    check_output(out, force, "graph")
    before = ClickGraph.open(graph)
    after = before.filter_pairs(min_score=min_score, min_clicks=min_clicks).save(out, force=force)
    kept = counted(before.clicks.nnz, "clicked pair")
    say(f"kept {after.clicks.nnz:,} of {kept} in {out}")
    suggest(f"coclick compare {out} -o model")


def view(
    graph: GraphPath,
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Name of the view in model specifications: views=words+NAME."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory of the new graph.")],
    queries: Annotated[
        list[str] | None, typer.Option(help="Files or globs of query features: query, feature[, value].")
    ] = None,
    docs: Annotated[
        list[str] | None, typer.Option(help="Files or globs of document features: doc, feature[, value].")
    ] = None,
    memory: Memory = "4GB",
    threads: Threads = None,
    force: Force = False,
    json_: Json = False,
) -> None:
    """Add a user view to a graph: your own features of queries and documents.

    The rest of the graph is linked, not copied. Invalid rows are counted and kept in a separate file.
    """
    from coclick import logs
    from coclick.answers import describe
    from coclick.cli import render
    from coclick.storage.directories import check_output

    check_output(out, force, "graph")
    logs.add_view(graph, name, queries or [], docs or [], out, memory=memory, threads=threads, force=force)
    stats = describe(out)
    output({"view": name} | stats["views"][name], json_, render.view_summary, name, stats)
    suggest(f'coclick train "pls(views=words+{name})" {out} -o model')
