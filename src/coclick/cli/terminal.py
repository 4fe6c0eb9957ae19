"""What the command line writes, and to whom: results to standard output, all else to standard error."""

from __future__ import annotations

import json
import os
import sys
import warnings
from typing import Any, NoReturn

import typer


def prepare() -> None:
    """Make both streams usable, whatever they are, and warnings readable.

    Output that is closed goes nowhere; characters that a terminal cannot show become question marks.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    warnings.showwarning = lambda message, *where: say(f"warning: {message}")


def say(line: str) -> None:
    """A line that is no result."""
    typer.echo(line, err=True)


def suggest(command: str) -> None:
    """What one would do next, for a person who is watching."""
    if sys.stderr.isatty():
        say(f"next: {command}")


def fail(what: str, code: int = 1) -> NoReturn:
    """End with a message for people."""
    say(f"error: {what}")
    sys.exit(code)


def print_json(value: Any) -> None:
    """UTF-8, whatever the terminal speaks; bytes of the command line that are no text stay escaped."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace"))
