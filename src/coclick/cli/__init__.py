"""The command line: parse the arguments, call the library once, print the result.

Each command is imported when it is called, and imports heavy libraries only once its arguments are valid.
"""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from coclick._version import __version__
from coclick.cli.arguments import RENAMED_OPTIONS
from coclick.cli.command import Command
from coclick.cli.interrupts import postpone_in_callbacks
from coclick.cli.terminal import fail, prepare, say
from coclick.cli.utf8 import restart_in_utf8
from coclick.errors import CoclickError, ThreadError
from coclick.text.printable import printable

INTERRUPTED = 130
_COMMANDS = (  # modules with their commands, in the order of `coclick --help`
    ("build", "sample"),
    ("check", "check"),
    ("build", "build filter view"),
    ("info", "info rejects verify"),
    ("train", "train"),
    ("info", "models"),
    ("train", "add"),
    ("query", "search similar expand explain vectors"),
    ("evaluate", "evaluate"),
    ("compare", "compare"),
    ("evaluate", "tune"),
    ("ltr", "features ltr"),
    ("evaluate", "run evaluate-similar evaluate-units"),
    ("failing", "failing"),
    ("topics", "topics translate"),
    ("suggest", "suggest"),
    ("serve", "serve"),
    ("export", "export"),
    ("rules", "rules"),
    ("demo", "demo"),
)
MODULES = {name: module for module, names in _COMMANDS for name in names.split()}
_HIDDEN = ("demo",)  # for `make demo`; it imports everything


class LazyGroup(TyperGroup):
    """Import a command's module, and read its signature, when the command is asked for."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = dict.fromkeys(MODULES)  # type: ignore[assignment]  # None until loaded

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands that are not hidden."""
        return [name for name in MODULES if name not in _HIDDEN]

    def get_command(self, ctx: Any, name: str) -> Any:
        """Return a command, or None if there is none of that name."""
        if name in MODULES and self.commands[name] is None:
            module = import_module(f"coclick.cli.{MODULES[name]}")
            found = getattr(module, name.replace("-", "_"))
            if not isinstance(found, typer.Typer):  # a group of commands is one already
                program = typer.Typer(add_completion=False)
                program.command(name, cls=Command)(found)
                found = program
            self.commands[name] = get_command(found)
        return self.commands.get(name)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; a wrong option is shown without control characters, a renamed one with its name."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            old = getattr(error, "option_name", "")
            new = RENAMED_OPTIONS.get(old)
            command = getattr(getattr(error, "ctx", None), "command", None)
            if any(new in option.opts for option in getattr(command, "params", ())):
                error.message = f"{old} is now called {new}."  # type: ignore[attr-defined]
                error.possibilities = []  # type: ignore[attr-defined]
            if isinstance(message := getattr(error, "message", None), str):
                error.message = printable(message)  # type: ignore[attr-defined]
            raise


app = typer.Typer(
    cls=LazyGroup,
    help="Learn search relevance from click logs: vectors of readable words that say why they match.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"coclick {__version__}")
        raise typer.Exit


@app.callback()
def coclick(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options that stand before the command."""


def main() -> None:
    """Run the command line, print errors as plain messages and exit with a code.

    0 success · 1 failed (disk full, out of memory, closed pipe, bug) · 2 wrong arguments or input ·
    3 corrupt artefact · 130 interrupted.
    """
    restart_in_utf8()
    prepare()
    postpone_in_callbacks()
    try:
        app()
    except CoclickError as error:
        fail(str(error), error.exit_code)
    except MemoryError as error:
        fail(f"not enough memory: {error}" if str(error) else "not enough memory")
    except RuntimeError as error:
        if "start new thread" not in str(error):  # the one form in which Python reports it
            raise
        fail(str(ThreadError(error)))
    except OSError as error:
        where = f"\n  where: {error.filename}" if error.filename else ""
        fail(f"{error.strerror or error}{where}")
    except SystemExit as end:
        if end.code == INTERRUPTED:  # typer prints nothing on Ctrl-C
            say("interrupted: no output is left half-written")
        raise
