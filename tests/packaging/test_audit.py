"""The list of dependencies, and what is said of it: the reports are in the form that pip-audit documents."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from audit import UNREACHABLE, summary
from dependencies import canonical, needed

ROOT = Path(__file__).resolve().parents[2]
SOUND = {"name": "a", "version": "1", "vulns": []}
SKIPPED = {"name": "b", "skip_reason": "the index does not have it"}
AFFECTED = {"name": "c", "version": "2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["3", "4"]}]}


@pytest.mark.parametrize(
    ("packages", "code", "expected"),
    [
        ([SOUND], 0, (["1 of 1 packages audited, 0 vulnerabilities"], 0)),
        ([SKIPPED], 0, ([UNREACHABLE], 3)),
        (
            [SOUND, SKIPPED, AFFECTED],
            1,
            (
                [
                    "c 2: PYSEC-1, fixed in 3, 4",
                    "b: not audited",
                    "2 of 3 packages audited, 1 vulnerabilities",
                ],
                1,
            ),
        ),
    ],
)
def test_reports(packages, code, expected):
    assert summary(json.dumps({"dependencies": packages, "fixes": []}), code) == expected


def test_no_report():
    assert summary("", 1) == ([UNREACHABLE], 1)


def test_every_direct_dependency_is_listed_and_no_development_tool():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    chosen = ("eval", "ltr", "serve", "ann")  # what every environment that runs this test has installed
    direct = [*project["dependencies"], *(one for name in chosen for one in extras[name])]
    found = needed("coclick", chosen)
    assert {canonical(re.match(r"[\w-]+", one)[0]) for one in direct} <= found.keys()
    assert not found.keys() & {"coclick", "pytest", "mypy", "ruff", "hypothesis", "playwright"}
    assert "llvmlite" in found, "numba needs it"
    assert "fastapi" not in needed("coclick", [])
