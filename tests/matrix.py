"""Run the quick tests on every supported Python, and with the lowest versions that pyproject.toml allows.

    make matrix                          # all
    make matrix ARGS="3.13 lowest"       # some
    make matrix-short                    # lowest versions on the lowest Python, newest on the highest

The supported versions are the classifiers of pyproject.toml. An interpreter is looked for on PATH and in
~/.pyenv/versions; one that is not found is named, and the others run. The environments stay in .venv. They
have every extra, and the lowest and the highest run the quick tests of Spark too, if there is Java. The short
form, which CI runs, leaves Spark out and tests the rooms in which other libraries are called.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PYENV = Path.home() / ".pyenv" / "versions"
LOWEST = "lowest"
EXTRAS = ("eval", "ltr", "serve", "ann", "sklearn", "pyterrier", "database", "spark", "dev")
SHORT = ("evaluation", "exporters", "integrations", "logs", "ltr", "packaging", "service", "storage", "text")
_REQUIREMENT = re.compile(r"([A-Za-z0-9_.-]+)\s*>=\s*([0-9][0-9a-z.]*)")
_CLASSIFIER = "Programming Language :: Python :: "


def supported(project: dict[str, Any]) -> list[str]:
    """Return the minor versions of Python that the classifiers name, lowest first."""
    named = (one.removeprefix(_CLASSIFIER) for one in project["classifiers"] if _CLASSIFIER in one)
    return sorted((one for one in named if re.fullmatch(r"3\.\d+", one)), key=lambda one: int(one[2:]))


def lowest_versions(project: dict[str, Any]) -> list[str]:
    """Return `name==version` for every lower bound of the dependencies and of the tested extras."""
    extras = project["optional-dependencies"]
    every = [*project["dependencies"], *(one for extra in EXTRAS for one in extras[extra])]
    bounds: dict[str, str] = {}
    for requirement in every:
        match = _REQUIREMENT.match(requirement)
        if match is None:
            raise SystemExit(f"pyproject.toml: {requirement} has no lower bound")
        if bounds.setdefault(match[1].lower(), match[2]) != match[2]:
            raise SystemExit(f"pyproject.toml: {match[1]} has two lower bounds")
    return [f"{name}=={version}" for name, version in bounds.items()]


def find_python(version: str) -> str | None:
    """Return an interpreter of that minor version which runs, or None."""
    on_path = [shutil.which(f"python{version}")]
    in_pyenv = sorted(map(str, PYENV.glob(f"{version}.*/bin/python")), reverse=True)
    for candidate in filter(None, [*on_path, *in_pyenv]):
        asked = "import sys; print('%d.%d' % sys.version_info[:2])"
        answer = subprocess.run([candidate, "-c", asked], capture_output=True, text=True)
        if answer.stdout.strip() == version:  # a pyenv shim of an inactive version fails
            return candidate
    return None


class Run(NamedTuple):
    """One environment: its name, interpreter, constraints of versions, and extras."""

    name: str
    python: str
    constraints: list[str]
    extras: tuple[str, ...]
    spark: bool  # whether the tests of Spark run

    @property
    def home(self) -> Path:
        """The directory of the environment."""
        return ROOT / ".venv" / f"matrix-{self.name}"


def environment(project: dict[str, Any], run: Run) -> Path:
    """Return the interpreter of an environment with the package, made again when its requirements changed."""
    inside = run.home / "bin" / "python"
    wanted = json.dumps(
        [project["dependencies"], project["optional-dependencies"], run.constraints], indent=1
    )
    stamp = run.home / "installed"
    if stamp.exists() and stamp.read_text() == wanted:
        return inside
    print(f"{run.name}: installing", flush=True)
    shutil.rmtree(run.home, ignore_errors=True)
    subprocess.run([run.python, "-m", "venv", run.home], check=True)
    (run.home / "constraints.txt").write_text("\n".join(run.constraints))
    pip = [str(inside), "-m", "pip", "install", "--quiet", "--prefer-binary", "--disable-pip-version-check"]
    package = f"{ROOT}[{','.join(run.extras)}]"
    subprocess.run(
        [*pip, "--constraint", str(run.home / "constraints.txt"), "--editable", package], check=True
    )
    stamp.write_text(wanted)
    return inside


def runs(project: dict[str, Any], chosen: list[str], short: bool) -> Iterator[Run]:
    """Yield every run that can be made."""
    versions = supported(project)
    if short and not chosen:
        chosen = [LOWEST, next(filter(find_python, reversed(versions)), versions[-1])]
    extras = tuple(one for one in EXTRAS if not (short and one == "spark"))
    for name in chosen or [LOWEST, *versions]:
        version = versions[0] if name == LOWEST else name
        python = find_python(version)
        if python is None:
            print(f"{name}: no Python {version} on PATH or in ~/.pyenv/versions: not tested", flush=True)
            continue
        constraints = lowest_versions(project) if name == LOWEST else []
        spark = not short and name in (LOWEST, versions[-1])
        yield Run(f"{name}-short" if short else name, python, constraints, extras, spark)


def test(run: Run, inside: Path, arguments: list[str], short: bool) -> bool:
    """Run the tests in an environment; return whether all passed."""
    places = [f"tests/{room}" for room in SHORT] if short else ["--ignore=tests/spark"]
    commands = [[*places, *arguments]]
    if run.spark and shutil.which("java"):
        commands.append(["tests/spark", "-m", "spark and not slow"])
    elif run.spark:
        print(f"{run.name}: no Java, so Spark is not tested", flush=True)
    environment = os.environ | {"COCLICK_CACHE": str(run.home / "cache")}
    environment.pop("CI", None)  # there, a skipped test is a failure; without Spark some are skipped here
    results = [
        subprocess.run([str(inside), "-m", "pytest", *command], cwd=ROOT, env=environment).returncode
        for command in commands
    ]
    return not any(results)


def main() -> int:
    """Run the chosen environments and return 1 if one of them failed or none could run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="3.11, 3.12, 3.13 or lowest; all if none is named")
    parser.add_argument("--short", action="store_true", help="two environments, and only some rooms")
    parser.add_argument("--pytest", default="", help="arguments for pytest")
    arguments = parser.parse_args()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    results = {}
    for run in runs(project, arguments.names, arguments.short):
        try:
            inside = environment(project, run)
        except subprocess.CalledProcessError:
            results[run.name] = "could not be installed"
            continue
        print(f"{run.name}: testing", flush=True)
        passed = test(run, inside, shlex.split(arguments.pytest), arguments.short)
        results[run.name] = "passed" if passed else "FAILED"
    for name, result in results.items():
        print(f"{name}: {result}")
    return int(not results or set(results.values()) != {"passed"})


if __name__ == "__main__":
    sys.exit(main())
