"""`make matrix` installs the lower bound of every dependency, and CI runs its short form."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import matrix

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def lower_bounds():
    """The lower bounds of all requirements but those that `make bench` alone installs."""
    extras = PROJECT["optional-dependencies"]
    lines = [
        *PROJECT["dependencies"],
        *(one for name in extras if name not in ("bench", "encoder") for one in extras[name]),
    ]
    found = {}
    for requirement in map(Requirement, lines):
        if requirement.name != "coclick":
            found[requirement.name.lower()] = next(
                one.version for one in requirement.specifier if one.operator == ">="
            )
    return found


def test_every_lower_bound_is_installed():
    pinned = dict(one.split("==") for one in matrix.lowest_versions(PROJECT))
    assert pinned == lower_bounds()


def test_a_requirement_without_a_lower_bound_is_refused():
    project = {**PROJECT, "dependencies": ["numpy"]}
    with pytest.raises(SystemExit, match="numpy has no lower bound"):
        matrix.lowest_versions(project)


def test_the_short_form_runs_the_lowest_and_the_highest(monkeypatch):
    monkeypatch.setattr(matrix, "find_python", {"3.11": "a", "3.12": "b"}.get)  # 3.13 is not installed
    first, last = matrix.runs(PROJECT, [], short=True)
    assert (first.python, last.python) == ("a", "b")
    assert first.constraints and not last.constraints
    assert "make matrix-short" in (ROOT / ".ci" / "run").read_text().split("\n")
