"""Generate docs/commands.md from the help texts of the command line: `make docs`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from coclick.cli import LazyGroup, app

HEAD = """# Commands

Generated from the help texts by `make docs`; a test fails when it is out of date. Every command that prints a
table also prints JSON with `--json`. Exit codes: 0 success, 1 failure, 2 wrong arguments or input, 3 damaged
graph or model, 130 interrupted.

`coclick --install-completion` completes commands and options with the Tab key, in new shells.
"""


def reference() -> str:
    """Return the generated page."""
    group = get_command(app)
    assert isinstance(group, LazyGroup)
    parts = [HEAD]
    for name, command in _commands(group):
        arguments = " ".join(
            _name(option, False) for option in command.params if not option.opts[0].startswith("-")
        )
        parts.append(
            f"## coclick {name}\n\n    coclick {name} {arguments}\n\n{(command.help or '').strip()}\n"
        )
        rows = [
            f"| `{_name(option)}` | {_meaning(option)} | {_default(option)} |"
            for option in command.params
            if getattr(option, "help", None) and option.name != "help"
        ]
        if rows:
            parts.append("| option | meaning | default |\n|---|---|---|\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def _commands(group: LazyGroup) -> Iterator[tuple[str, Any]]:
    """All commands by name; those of a group follow it."""
    for name in sorted(group.list_commands(None)):
        command = group.get_command(None, name)
        yield name, command
        for inner in sorted(getattr(command, "commands", ())):
            yield f"{name} {inner}", command.commands[inner]


def _name(option: Any, in_table: bool = True) -> str:
    if option.opts[0].startswith("-"):
        return ", ".join([*option.opts, *option.secondary_opts])
    return str(option.metavar or option.name.upper()).replace("|", "` or `" if in_table else "|")


def _meaning(option: Any) -> str:
    choices = ", ".join(f"`{choice}`" for choice in getattr(option.type, "choices", ()))
    meaning = (option.help or "").strip().replace("<", "&lt;")  # a browser would take it for a tag
    return meaning + (f" One of {choices}." if choices else "")


def _default(option: Any) -> str:
    value = getattr(option, "default", None)
    if value in (None, False, ()) or callable(value) or "Sentinel" in type(value).__name__:
        return ""
    if value is True and option.secondary_opts:
        return f"`{option.opts[0]}`"
    return f"`{value}`"


if __name__ == "__main__":
    (Path(__file__).parent / "commands.md").write_text(reference(), encoding="utf-8")
