"""`make mutants` on a toy package: mutants that a test notices, that none notices, that none runs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mutation.equivalent import EQUIVALENT
from mutation.named import NAMED, named_mutant
from mutation.operators import mutants
from mutation.runner import Coverage, Project

TOY = '''"""Prices."""


def is_free(total: float) -> bool:
    """Shipping is free above 50."""
    return total > 50


def unused(total: float) -> float:
    """No test calls this."""
    return total * 2
'''


@pytest.mark.slow
def test_killed_and_surviving_mutants_of_a_toy_package(tmp_path):
    """The test asks for 50 and 60: it notices >= for >, but not 51 for 50."""
    package, tests = tmp_path / "src" / "toy" / "models", tmp_path / "tests" / "models"
    for folder in (package, tests):
        folder.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("")
    (package / "prices.py").write_text(TOY)
    asked = "def test_free():\n    assert is_free(60) and not is_free(50)\n"
    (tests / "test_prices.py").write_text(f"from toy.models.prices import is_free\n\n\n{asked}")
    arguments = [
        "--root",
        tmp_path,
        "--package",
        "toy",
        "--files",
        "models/prices",
        "--json",
        tmp_path / "found",
    ]
    root = Project.root
    done = subprocess.run(
        [sys.executable, "-m", "mutation", *map(str, arguments)],
        env={"PATH": "", "PYTHONPATH": f"{root / 'tests'}:{root / 'src'}:{tmp_path / 'src'}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    found = {tuple(row["diff"])[1]: row["result"] for row in json.loads((tmp_path / "found").read_text())}
    assert found == {
        "return total >= 50": "killed",
        "return total > 51": "survived",
        "return total / 2": "survived",
        "return total * 3": "survived",
    }
    assert "models/prices.py:6\n  - return total > 50\n  + return total > 51\n" in done.stdout
    assert "killed: 25.0 % of 4; 0 were not run" in done.stdout


def test_operators():
    """One line each: what it is, and all that it becomes."""
    expected = {
        "a = b < c": ["a = b <= c"],
        "a = b is not c": ["a = b is c"],
        "a = b + c": ["a = b - c"],
        "a = 'é' + b < c": ["a = 'é' + b <= c"],
        "a = min(b, c)": ["a = max(b, c)"],
        "a = f(b, c)": ["a = f(c, b)"],
        "a += 1": ["pass", "a -= 1", "a += 2"],
        "a.b = c": ["pass"],
        "f(a)": ["pass"],
        "a = not b": ["a = (b)"],
        "a = b if c else d": ["a = b if (not (c)) else d"],
        "a = b and c": ["a = b or c"],
        "a: Literal[1, 2] = 1": ["a: Literal[1, 2] = 2"],
        "raise ValueError(1 + 2)": ["pass"],
        "a = np.log1p(b)": ["a = (b)"],
        "assert a > 1": [],
        "raise AssertionError(1)": [],
        "a = zip(b, strict=True)": [],
        "'text'": [],
    }
    for source, changes in expected.items():
        found = [mutant.changed for mutant in mutants("file.py", source.encode())]
        assert sorted(found) == sorted(changes), source


def test_a_mutant_keeps_the_lines_of_the_others():
    """Compiled functions are cached by line."""
    source = b"f(\n    1,\n)\ng()\n"
    [dropped] = [one for one in mutants("file.py", source) if one.changed.startswith("pass")]
    assert dropped.changed == "pass\n\n\ng()\n"


def test_code_that_numba_compiles_is_marked():
    source = (
        b"from coclick.jit.compiler import jit\nA = 1\n@jit\ndef f():\n    return 2\ndef g():\n    return 3\n"
    )
    assert [(one.new, one.compiled) for one in mutants("f.py", source)] == [
        ("2", True),
        ("3", True),
        ("4", False),
    ]


def test_covering_tests_come_first_and_the_others_of_their_file_follow():
    seconds = {"a.py::x[1]": 3.0, "a.py::y[1]": 1.0, "a.py::z[2]": 1.0, "b.py::w": 1.0}
    assert Coverage(seconds).choose(["a.py::x[1]"], 20) == ["a.py::x[1]", "a.py::y[1]"]
    assert Coverage(seconds).choose(["a.py::x[1]"], 3.5) == ["a.py::x[1]"]


def test_the_lists_name_code_that_exists():
    package = Path(Project().package)
    for row in NAMED:
        assert named_mutant(row, package).diff()[0], row.name
    for same in EQUIVALENT:
        lines = [line.strip() for line in (package / same.file).read_text().splitlines()]
        assert same.old in lines, f"{same.file} has no such line: {same.old}"
        assert same.reason
