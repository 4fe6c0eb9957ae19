"""Commands for a search box: suggest build, suggest complete, suggest correct."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from coclick.cli import terminal
from coclick.cli.arguments import MAX_COUNT, Force, GraphPath, Json, finite, read_query_texts
from coclick.cli.terminal import output, print_json, print_table
from coclick.errors import UserError, counted

suggest = typer.Typer(
    name="suggest",
    help="Suggest queries in a search box: completions of what was typed so far, and did-you-mean.",
    no_args_is_help=True,
    add_completion=False,
)
QueriesFile = Annotated[
    Path | None,
    typer.Option(
        "--queries",
        metavar="FILE",
        help="Answer every text in a file, or - for standard input: one per line, or id<TAB>text.",
    ),
]
SuggestionsPath = Annotated[Path, typer.Argument(metavar="DIR", help="Directory of `suggest build`.")]


@suggest.command("build")
def build(
    graph: GraphPath,
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory to write to.")],
    min_users: Annotated[
        int,
        typer.Option(min=1, max=MAX_COUNT, help="Suggest only queries that at least this many users typed."),
    ] = 1,
    force: Force = False,
    json_: Json = False,
) -> None:
    """Learn completions and corrections from the queries of a graph and the titles of its documents."""
    from coclick import ClickGraph, Suggestions
    from coclick.progress import for_terminal
    from coclick.storage.directories import check_output
    from coclick.suggestions.suggestions import KIND

    check_output(out, force, KIND)
    opened = ClickGraph.open(graph)
    made = Suggestions.build(opened, min_users=min_users, progress=for_terminal()).save(out, force=force)
    assert made.artefact is not None
    stats = {**made.stats, "bytes": made.artefact.size()}
    output(stats, json_, _print_stats, stats)
    terminal.suggest(f'coclick suggest complete {out} "{made.complete("", 1)[0].query[:3]}"')


def _print_stats(stats: dict[str, Any]) -> None:
    rows = [
        ["suggested", f"{stats['suggested']:,} of {counted(stats['queries'], 'query')}"],
        *(["left out", f"{n:,} {reason.replace('_', ' ')}"] for reason, n in stats["left_out"].items() if n),
        ["words", f"{stats['words']:,}"],
        ["size", f"{stats['bytes'] / 1e6:,.1f} MB"],
    ]
    print_table("", ["", ""], rows)


@suggest.command("complete")
def complete(
    suggestions: SuggestionsPath,
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="What was typed so far; the most used queries if empty."),
    ] = None,
    queries: QueriesFile = None,
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="Number of completions.")] = 10,
    json_: Json = False,
) -> None:
    """List the queries that complete a text, the most used and successful first."""
    from coclick import Suggestions, answers

    opened = Suggestions.open(suggestions)
    if queries is not None:
        _print_each(answers.complete_each(opened, _read(queries, text), k), json_, _print_completions)
        return
    answer = answers.complete(opened, text or "", k)
    output(answer, json_, _print_completions, answer)


def _print_completions(answer: dict[str, Any]) -> None:
    text, found = answer["text"], answer["completions"]
    if not found:
        typer.echo(f"no query of the log completes {terminal.one_line(text)!r}")
        return
    scores = [f"{one['score']:,.1f}" for one in found]
    width = max(map(len, scores))
    rows = [
        [one["query"], score.rjust(width), one["typos"]] for one, score in zip(found, scores, strict=True)
    ]
    print_table(text, ["query", "score", "typos"], rows)


@suggest.command("correct")
def correct(
    suggestions: SuggestionsPath,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="A query as it was typed.")] = None,
    queries: QueriesFile = None,
    min_confidence: Annotated[
        float,
        typer.Option(min=0, max=1, callback=finite, help="Propose no correction with a lower probability."),
    ] = 0.6,
    json_: Json = False,
) -> None:
    """Say what a misspelt query was probably meant to be, or nothing if it is likely right."""
    from coclick import Suggestions, answers

    opened = Suggestions.open(suggestions)
    if queries is not None:
        found = answers.correct_each(opened, _read(queries, text), min_confidence)
        _print_each(found, json_, _print_correction_of)
        return
    if text is None:
        raise UserError("give a query, or --queries FILE")
    answer = answers.correct(opened, text, min_confidence)
    output(answer, json_, _print_correction, answer)


def _read(queries: Path, text: str | None) -> list[str]:
    if text is not None:
        raise UserError("one text and many at once", hint="leave out --queries")
    return read_query_texts(queries)


def _print_each(found: list[dict[str, Any]], json_: bool, render: Callable[[dict[str, Any]], None]) -> None:
    if json_:
        print_json(found)
    else:
        for answer in found:
            render(answer)


def _print_correction_of(answer: dict[str, Any]) -> None:
    """A line for each query, which programs can read."""
    found = answer["correction"]
    sure = "" if found is None else f"{answer['confidence']:.2f}"
    typer.echo("\t".join(terminal.one_line(text, None) for text in (answer["query"], found or "", sure)))


def _print_correction(answer: dict[str, Any]) -> None:
    if answer["correction"] is None:
        typer.echo("no correction")
    else:
        typer.echo(f"{terminal.one_line(answer['correction'])}  (confidence {answer['confidence']:.2f})")
