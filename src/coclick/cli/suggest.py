"""Commands for a search box: suggest build, suggest complete, suggest correct."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from coclick.cli import terminal
from coclick.cli.arguments import MAX_COUNT, Force, GraphPath, Json, finite
from coclick.cli.terminal import output, print_table
from coclick.errors import counted

suggest = typer.Typer(
    name="suggest",
    help="Suggest queries in a search box: completions of what was typed so far, and did-you-mean.",
    no_args_is_help=True,
    add_completion=False,
)
SuggestionsPath = Annotated[Path, typer.Argument(metavar="DIR", help="Directory of `suggest build`.")]


@suggest.command("build")
def build(
    graph: GraphPath,
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory to write to.")],
    min_users: Annotated[
        int,
        typer.Option(min=1, max=MAX_COUNT, help="Suggest only queries that at least so many users asked."),
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
        str, typer.Argument(metavar="TEXT", help="What was typed so far; the most used queries if empty.")
    ] = "",
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="Number of completions.")] = 10,
    json_: Json = False,
) -> None:
    """List the queries that complete a text, the most used and successful first."""
    from coclick import Suggestions, answers

    answer = answers.complete(Suggestions.open(suggestions), text, k)
    output(answer, json_, _print_completions, text, answer["completions"])


def _print_completions(text: str, found: list[dict[str, Any]]) -> None:
    if not found:
        typer.echo(f"no query of the log completes {terminal.one_line(text)!r}")
        return
    rows = [[one["query"], f"{one['score']:.6g}", one["typos"]] for one in found]
    print_table(text, ["query", "score", "typos"], rows)


@suggest.command("correct")
def correct(
    suggestions: SuggestionsPath,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A query as it was typed.")],
    min_confidence: Annotated[
        float,
        typer.Option(min=0, max=1, callback=finite, help="Say nothing below this probability to be right."),
    ] = 0.6,
    json_: Json = False,
) -> None:
    """Say what a misspelt query was probably meant to be, or nothing if it is likely right."""
    from coclick import Suggestions, answers

    answer = answers.correct(Suggestions.open(suggestions), text, min_confidence)
    output(answer, json_, _print_correction, answer)


def _print_correction(answer: dict[str, Any]) -> None:
    if answer["correction"] is None:
        typer.echo("no correction")
    else:
        typer.echo(f"{terminal.one_line(answer['correction'])}  (confidence {answer['confidence']:.2f})")
