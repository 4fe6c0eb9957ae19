"""Documentation that is kept true: systems, help texts, and names in the README."""

import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from coclick import model_names
from coclick.cli import app

ROOT = Path(__file__).resolve().parents[2]


def systems():
    """{name: [(file, test)]} for the rows of docs/systems.md."""
    found: dict[str, list[tuple[str, str]]] = {}
    for line in (ROOT / "docs/systems.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[0] not in ("#", "---"):
            for name in re.findall(r"`([a-z0-9_]+)`", cells[1]):
                found.setdefault(name, []).append((cells[3].strip("`"), cells[4].strip("`")))
    return found


@pytest.mark.parametrize("name", model_names())
def test_every_model_has_a_file_and_an_independent_test(name):
    rows = systems()[name]
    for file, test in rows:
        assert (ROOT / file).is_file(), f"{name}: no file {file!r}"
        path, _, function = test.partition("::")
        assert (ROOT / path).is_file(), f"{name}: no test {test!r}"
        if function:
            assert f"def {function}(" in (ROOT / path).read_text(), f"{name}: no test {test!r}"


def test_no_row_of_the_systems_names_a_missing_file():
    for name, rows in systems().items():
        for file, test in rows:
            assert bool(file) == bool(test), name
            assert not file or (ROOT / file).is_file(), name


def command_names():
    group: Any = get_command(app)
    return group.list_commands(None)


def test_the_command_reference_is_what_help_prints():
    """docs/commands.md is generated: `python -m docs.commands` in a development checkout rewrites it."""
    from docs.commands import reference

    assert (ROOT / "docs/commands.md").read_text() == reference(), "run: make docs"


def test_every_command_has_help():
    for name in command_names():
        result = CliRunner().invoke(app, [name, "--help"])
        assert result.exit_code == 0, name
        assert len(result.output) > 100, name


def test_links_in_the_documentation_lead_somewhere():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
