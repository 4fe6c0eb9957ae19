"""A command whose `--json FILE` also prints: without a file, it means standard output as everywhere else."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from typer.core import TyperCommand

_JSON, _STDOUT = "--json", "-"


class Command(TyperCommand):
    """A command of the command line."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; a `--json` that has no file, but could, prints."""
        if any(_JSON in option.opts and not getattr(option, "is_flag", False) for option in self.params):
            args = _name_stdout(args)
        return super().parse_args(ctx, args)


def _name_stdout(args: list[str]) -> list[str]:
    """Insert `-` behind each `--json` that another option or nothing follows."""
    named = []
    for word, following in pairwise([*args, None]):
        named.append(str(word))
        if word == _JSON and (following is None or (following != _STDOUT and following.startswith("-"))):
            named.append(_STDOUT)
    return named
