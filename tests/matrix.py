"""Run the quick tests on every supported Python, and with the lowest versions that pyproject.toml allows.

    make matrix                          # all
    make matrix ARGS="3.13 lowest"       # some

The supported versions are the classifiers of pyproject.toml. An interpreter is looked for on PATH and in
~/.pyenv/versions; one that is not found is named, and the others run. The environments stay in .venv.
Spark is not part of it: its tests are not quick.
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
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PYENV = Path.home() / ".pyenv" / "versions"
LOWEST = "lowest"
EXTRAS = ("eval", "ltr", "serve", "ann", "sklearn", "pyterrier", "database", "spark", "dev")
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


def environment(project: dict[str, Any], name: str, python: str, constraints: list[str]) -> Path:
    """Return the interpreter of an environment with the package, made anew when its requirements changed."""
    home = ROOT / ".venv" / f"matrix-{name}"
    inside = home / "bin" / "python"
    wanted = json.dumps([project["dependencies"], project["optional-dependencies"], constraints], indent=1)
    stamp = home / "installed"
    if stamp.exists() and stamp.read_text() == wanted:
        return inside
    print(f"{name}: installing", flush=True)
    shutil.rmtree(home, ignore_errors=True)
    subprocess.run([python, "-m", "venv", home], check=True)
    (home / "constraints.txt").write_text("\n".join(constraints))
    pip = [str(inside), "-m", "pip", "install", "--quiet", "--prefer-binary", "--disable-pip-version-check"]
    package = f"{ROOT}[{','.join(EXTRAS)}]"
    subprocess.run([*pip, "--constraint", str(home / "constraints.txt"), "--editable", package], check=True)
    stamp.write_text(wanted)
    return inside


def runs(project: dict[str, Any], chosen: list[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield name, interpreter and constraints of every run that can be made."""
    versions = supported(project)
    for name in chosen or [LOWEST, *versions]:
        version = versions[0] if name == LOWEST else name
        python = find_python(version)
        if python is None:
            print(f"{name}: no Python {version} on PATH or in ~/.pyenv/versions: not tested", flush=True)
        else:
            yield name, python, lowest_versions(project) if name == LOWEST else []


def main() -> int:
    """Run the chosen environments and return 1 if one of them failed or none could run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="3.11, 3.12, 3.13 or lowest; all if none is named")
    parser.add_argument("--pytest", default="", help="arguments for pytest")
    arguments = parser.parse_args()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    results = {}
    for name, python, constraints in runs(project, arguments.names):
        try:
            inside = environment(project, name, python, constraints)
        except subprocess.CalledProcessError:
            results[name] = "could not be installed"
            continue
        print(f"{name}: testing", flush=True)
        cache = str(ROOT / ".venv" / f"matrix-{name}" / "cache")
        command = [str(inside), "-m", "pytest", "--ignore=tests/spark", *shlex.split(arguments.pytest)]
        ended = subprocess.run(command, cwd=ROOT, env=os.environ | {"COCLICK_CACHE": cache})
        results[name] = "passed" if ended.returncode == 0 else "FAILED"
    for name, result in results.items():
        print(f"{name}: {result}")
    return int(not results or set(results.values()) != {"passed"})


if __name__ == "__main__":
    sys.exit(main())
