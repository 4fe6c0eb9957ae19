"""Print what `check` found in a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from coclick.cli.terminal import console, one_line, print_labelled, print_table, short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coclick.logs.check_log import CheckReport

_COUNTS = ("rows", "right", "users", "sessions", "first", "last", "merged_spellings")

_HEADINGS = ("assumed", "missing", "ignored", "lost", "notes")
_MAX_NAME = 100  # characters of a column


def check_report(found: CheckReport) -> None:
    """Print the columns of each file, what is missing, ignored and lost, and the command to run."""
    for file in found.files:
        facts = ", ".join(fact for fact in (file.kind, file.encoding, file.delimiter) if fact)
        rows = [
            [
                use.name[:_MAX_NAME],
                use.field or f"ignored (looks like {use.looks_like})",
                one_line(" · ".join(use.samples)),
            ]
            for use in file.columns
        ]
        print_table(f"{file.name} ({facts})", ["column", "used as", "values"], rows)
        console().print()
    print_labelled(_facts(found))
    if found.guessed:
        console().print("[yellow]the columns were guessed from their names and values: please check them[/]")
    for line in found.report.warnings:
        console().print(f"[yellow]warning: {escape(line)}[/]")
    if found.problem:
        console().print(f"[red]cannot be built: {escape(found.problem)}[/]")
        if found.hint:
            console().print(f"[red]try: {escape(found.hint)}[/]")
    else:
        console().print(f"\n[bold]run[/]      {escape(found.command)}", soft_wrap=True, highlight=False)


def _facts(found: CheckReport) -> Iterator[tuple[str, str]]:
    """What was found, with its label."""
    if found.format:
        yield "format", found.format
    for name in found.sampled:
        yield "sampled", f"only the first part of {name} was looked at"
    for name in _COUNTS:
        if name in found.stats:
            yield name.replace("_", " "), short(found.stats[name])
    for heading, lines in found.report.to_dict().items():
        for line in lines if heading in _HEADINGS else []:
            yield heading, line
