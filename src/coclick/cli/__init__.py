"""The command line: parse, one library call, print. Nothing heavy is imported before it is needed."""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from coclick._version import __version__
from coclick.cli import evaluate as judge
from coclick.cli import export, ltr
from coclick.cli import query as ask
from coclick.cli import serve as serving
from coclick.cli import spark as cluster
from coclick.cli import topics as language
from coclick.cli.arguments import Engine, Force, GraphPath, Json, Master, ModelPath, Threads, action_weights
from coclick.cli.terminal import fail, prepare, print_json, say, suggest
from coclick.errors import CoclickError

app = typer.Typer(
    help="Search click logs into relevance: vectors of readable words, learned from clicks, that say why.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

INTERRUPTED = 130

AnyPath = Annotated[Path, typer.Argument(metavar="GRAPH|MODEL", help="A graph's or a model's directory.")]


@app.command()
def sample(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where to write the files.")],
    queries: Annotated[int, typer.Option(min=10, help="How many distinct queries the world has.")] = 3000,
    docs: Annotated[int, typer.Option(min=10, help="How many documents.")] = 5000,
    events: Annotated[int | None, typer.Option(min=100, help="About how many log events.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Another seed, another world.")] = 0,
    force: Force = False,
) -> None:
    """Simulate a search engine and its users: a log with known relevance.

    Writes events.parquet, docs.tsv, queries.tsv, qrels.tsv (judgments of a later period) and intents.tsv
    (what each query was after).
    """
    from coclick import simulate

    simulate.sample(directory, queries=queries, docs=docs, events=events, seed=seed, force=force)
    say(f"wrote a simulated log to {directory}")
    suggest(f"coclick build {directory}/events.parquet --docs {directory}/docs.tsv -o graph")


@app.command()
def build(
    log: Annotated[
        list[str],
        typer.Argument(metavar="LOG...", help="Log files or globs: TSV, CSV, Parquet, NDJSON, also gzipped."),
    ],
    out: Annotated[str, typer.Option("--out", "-o", help="The graph's directory.")],
    docs: Annotated[str | None, typer.Option(help="Documents: doc, title and further text fields.")] = None,
    format: Annotated[str, typer.Option(help="auto, clicks, events or ubi.")] = "auto",
    columns: Annotated[
        str | None, typer.Option(help="Names of the columns, where the file has no header: query,doc,clicks.")
    ] = None,
    min_clicks: Annotated[float, typer.Option(min=0, help="Leave out pairs with fewer clicks.")] = 1,
    min_users: Annotated[int, typer.Option(min=1, help="Leave out pairs clicked by fewer users.")] = 1,
    actions: Annotated[
        str | None, typer.Option(help="What counts as a click, and how much: click=1,cart=3,purchase=10.")
    ] = None,
    memory: Annotated[str, typer.Option(help="A bound for the whole process.")] = "4GB",
    threads: Threads = None,
    engine: Engine = "local",
    master: Master = None,
    force: Force = False,
) -> None:
    """Build a click graph from log files."""
    from coclick import logs
    from coclick.answers import describe
    from coclick.cli import render as show
    from coclick.storage.directories import check_output

    options: dict[str, Any] = {
        "format": format,
        "columns": columns.split(",") if columns else None,
        "min_clicks": min_clicks,
        "min_users": min_users,
        "actions": action_weights(actions),
        "force": force,
    }
    if cluster.is_spark(engine, master):
        cluster.build(log, docs, out, master, **options)
        return
    check_output(Path(out), force, "graph")
    progress = say if sys.stderr.isatty() else None
    logs.build(log, docs, out, **options, memory=memory, threads=threads, progress=progress)
    show.graph_summary(describe(out))
    suggest(f'coclick train "vpcg" {out} -o model')


@app.command()
def view(
    graph: GraphPath,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What specifications call it: views=words+NAME.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The new graph's directory.")],
    queries: Annotated[
        list[str] | None, typer.Option(help="Files or globs: query, feature and perhaps value.")
    ] = None,
    docs: Annotated[
        list[str] | None, typer.Option(help="Files or globs: doc, feature and perhaps value.")
    ] = None,
    memory: Annotated[str, typer.Option(help="A bound for the whole process.")] = "4GB",
    threads: Threads = None,
    force: Force = False,
    json_: Json = False,
) -> None:
    """Add a view of your own to a graph: features of queries and of documents for models to learn from.

    The rest of the graph is linked, not copied. Rows that are wrong are counted and kept.
    """
    from coclick import logs
    from coclick.answers import describe
    from coclick.cli import render as show
    from coclick.storage.directories import check_output

    check_output(out, force, "graph")
    logs.add_view(graph, name, queries or [], docs or [], out, memory=memory, threads=threads, force=force)
    figures = describe(out)
    if json_:
        print_json({"view": name} | figures["views"][name])
    else:
        show.view_summary(name, figures)
        suggest(f'coclick train "pls(views=words+{name})" {out} -o model')


@app.command()
def info(
    path: AnyPath,
    json_: Json = False,
    merged: Annotated[
        bool, typer.Option("--merged", help="List the spellings that were merged into queries.")
    ] = False,
) -> None:
    """Show sizes, degree distributions, parameters and figures of training."""
    from coclick.answers import describe
    from coclick.cli import render as show

    if merged:
        from coclick import ClickGraph, logs

        rows = logs.variants(ClickGraph.open(path))
        if json_:
            print_json([{"query": query, "spelling": raw, "rows": count} for query, raw, count in rows])
        else:
            show.table("merged spellings", ["query", "as typed", "rows"], rows)
        return
    figures = describe(path)
    if json_:
        print_json(figures)
    else:
        show.info(figures)


@app.command()
def verify(path: AnyPath, json_: Json = False) -> None:
    """Read everything: every digest, every bound. Exits with 3 if something is wrong."""
    from coclick.models.verify import verify as check

    problems = check(path)
    if json_:
        print_json({"sound": not problems, "problems": [{"where": w, "what": what} for w, what in problems]})
    else:
        for where, what in problems:
            say(f"{where}: {what}")
        typer.echo("damaged" if problems else "sound")
    raise typer.Exit(3 if problems else 0)


@app.command()
def train(
    model: Annotated[
        str, typer.Argument(metavar="SPEC", help='A model with parameters: "vpcg(start=query,max_terms=20)".')
    ],
    graph: Annotated[str, typer.Argument(metavar="GRAPH", help="A graph's directory.")],
    out: Annotated[str, typer.Option("--out", "-o", help="The model's directory.")],
    threads: Threads = None,
    engine: Engine = "local",
    master: Master = None,
    force: Force = False,
) -> None:
    """Train a model on a graph."""
    if cluster.is_spark(engine, master):
        cluster.train(model, graph, out, master, force)
        return
    from coclick import ClickGraph, create
    from coclick.answers import describe
    from coclick.cli import render as show
    from coclick.jit.threads import set_threads
    from coclick.progress import for_terminal
    from coclick.storage.directories import check_output

    check_output(Path(out), force, "model")
    set_threads(threads)
    opened = ClickGraph.open(graph)  # first: to find out that it is missing takes no compiler
    create(model).fit(opened, for_terminal()).save(out, force=force)
    show.model_summary(describe(out))
    suggest(f'coclick search {out} "some query"')


@app.command()
def models(json_: Json = False) -> None:
    """List the models and their parameters."""
    from coclick.answers import describe_models
    from coclick.cli import render as show

    rows = describe_models()
    if json_:
        print_json(rows)
    else:
        show.models(rows)


@app.command()
def add(
    model: ModelPath,
    docs: Annotated[Path, typer.Argument(metavar="DOCS", help="New documents: doc, title …")],
) -> None:
    """Make documents that arrived after training searchable at once, without retraining."""
    from coclick import open_model
    from coclick.logs import read_docs

    new, wrong = read_docs(docs)
    opened = open_model(model)
    larger = opened.add(new).save(model, replaces=opened)
    say(f"added {len(new):,} {'document' if len(new) == 1 else 'documents'} to {model}")
    if unreached := larger._count_unreachable(len(new)):
        say(f"{unreached:,} of them: the model knows none of their words, so no query finds them yet")
    for line, what in wrong:
        say(f"left out: {what} ({docs}, line {line})")


for command in (
    ask.search,
    ask.similar,
    ask.expand,
    ask.explain,
    ask.vectors,
    judge.evaluate,
    judge.compare,
    judge.tune,
    ltr.features,
    ltr.ltr,
    judge.run,
    judge.evaluate_similar,
    judge.evaluate_units,
    language.topics,
    language.translate,
    serving.serve,
    export.export,
):
    app.command(command.__name__.replace("_", "-"))(command)


@app.command(hidden=True)
def demo(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A directory to work in.")] = Path("demo"),
) -> None:
    """Run the whole way on the simulated log: what `make demo` calls."""
    from coclick.cli.demo import run

    run(directory)


def _tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"coclick {__version__}")
        raise typer.Exit


@app.callback()
def coclick(
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Print it and exit.")
    ] = False,
) -> None:
    """What stands before every command: a program with one command would have no name for it."""


def _alone(name: str) -> typer.Typer:
    """The program with that command alone, if it has one: typer reads the signatures of all it has."""
    every = app.registered_commands
    named = [one for one in every if (one.name or getattr(one.callback, "__name__", "")) == name]
    alone = copy.copy(app)
    alone.registered_commands = named or every
    return alone


def main() -> None:
    """Run the command line; errors are printed for people, and exit codes mean something.

    0 fine · 1 could not be done (a full disk, a reader that went away, a defect) · 2 a user's mistake ·
    3 a damaged artefact · 130 interrupted.
    """
    prepare()
    program = _alone("".join(sys.argv[1:2]))
    try:
        program()
    except CoclickError as error:
        fail(str(error), error.exit_code)
    except MemoryError as error:
        fail(f"not enough memory: {error}" if str(error) else "not enough memory")
    except OSError as error:
        where = f"\n  where: {error.filename}" if error.filename else ""
        fail(f"{error.strerror or error}{where}")
    except SystemExit as end:
        if end.code == INTERRUPTED:  # typer ends with it on Ctrl-C, without a word
            say("interrupted: no output is left half-written")
        raise
