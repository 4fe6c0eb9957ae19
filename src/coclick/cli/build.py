"""Commands that make click graphs: sample, build, filter, view."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

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
    log: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="LOG...",
            help="Log files or globs: TSV, CSV, Parquet or JSON, may be compressed; - for standard input.",
        ),
    ] = None,
    docs: Annotated[
        list[str] | None,
        typer.Option(help="Files or globs of documents: doc, title and other text fields. May be repeated."),
    ] = None,
    like: Annotated[
        str,
        typer.Option(
            help="Log format: auto (by the columns), clicks, events, aol, ga4, ubi … or a file FILE.toml."
        ),
    ] = "auto",
    columns: Annotated[
        str | None,
        typer.Option(
            help="Columns of fields: doc=sku,query=term. Or the fields of all columns in order: query,_,doc."
        ),
    ] = None,
    header: Annotated[
        Literal["auto", "yes", "no"], typer.Option(help="Whether the first line is a header.")
    ] = "auto",
    min_clicks: Annotated[
        float,
        typer.Option(
            min=0, max=MAX_CLICKS, callback=finite, help="Drop query-document pairs with fewer clicks."
        ),
    ] = 1,
    min_users: Annotated[
        int, typer.Option(min=1, max=MAX_COUNT, help="Store nothing that fewer users clicked, saw or typed.")
    ] = 1,
    scrub: Annotated[
        Literal["pii"] | None,
        typer.Option(help="pii removes e-mail addresses, phone, card and other id numbers from queries."),
    ] = None,
    hash_users: Annotated[
        bool, typer.Option("--hash-users", help="Show keyed digests instead of user ids.")
    ] = False,
    key_file: Annotated[
        Path | None,
        typer.Option(help="File with the key for --hash-users; by default one of your own is made once."),
    ] = None,
    actions: Annotated[
        str | None,
        typer.Option(
            help="Actions that count as clicks, with weights: click=1,cart=3,purchase=10. With 'dwell>30s=3' "
            "a click with a longer dwell time counts 3 instead. view=impression or view=ignore: what it is."
        ),
    ] = None,
    time_format: Annotated[
        str | None,
        typer.Option(
            help="How times are written, if coclick cannot tell: '%d/%m/%Y %H:%M', day-first, month-first, "
            "or the unit of numbers: s, ms, us, ns, excel."
        ),
    ] = None,
    timezone: Annotated[
        str | None, typer.Option(help="Time zone of times that name none: Europe/Berlin. Default: UTC.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="Count events from this day or time on: 2026-05-01, 2026-05-01T08:00.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="Count events before this day or time; the day itself is left out.")
    ] = None,
    half_life: Annotated[
        str | None, typer.Option(help="Clicks count half after this time: 60d, 12h, 4w. Default: never.")
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(help="Encoding of text files, such as latin-1, utf-16 or gb18030. Default: guessed."),
    ] = None,
    max_rejected: Annotated[
        str, typer.Option(help="Stop if a larger share of the rows is rejected.")
    ] = "50%",
    database: Annotated[
        str | None,
        typer.Option(
            help="Database to read, not files: postgresql://user@host/name, or an SQLite or DuckDB file."
        ),
    ] = None,
    sql: Annotated[str | None, typer.Option(help="Query that returns the log: SELECT query, doc, …")] = None,
    docs_sql: Annotated[
        str | None, typer.Option(help="Query that returns the documents: SELECT doc, title, …")
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="Language of the texts, such as de or german; guessed by default.")
    ] = None,
    duplicates: Annotated[
        Literal["count", "drop"],
        typer.Option(help="Rows that are equal in all fields: count (and report) them, or drop them."),
    ] = "count",
    bots: Annotated[
        Literal["flag", "drop", "keep"],
        typer.Option(help="Users that are probably programs: list them, drop their events, or do not look."),
    ] = "flag",
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
