"""Change the code in one place, run the tests that cover it, and print the changes that no test notices.

    make mutants                                               # one hour of mutants, in random order
    make mutants ARGS="--files models/click_graph --limit 200"
    make mutants ARGS="--named"                                # only the list in tests/mutation/named.py
    make mutants ARGS="--json found.json"                      # write the results to a file
    make mutants ARGS="--again found.json"                     # only the survivors of that file

Mutants are generated from the syntax tree (`operators.py`) or written by hand (`named.py`). Those in
`equivalent.py` change nothing that a test could notice; each has its reason.

It is a tool of our own because mutmut and cosmic-ray write mutants into the sources: every one of them would
compile all kernels again, which takes minutes.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import signal
import sys
import time
from collections import Counter
from pathlib import Path

from mutation import runner
from mutation.equivalent import equivalent_reason
from mutation.named import NAMED, named_mutant
from mutation.operators import Mutant, mutants
from mutation.runner import Project

ROOMS = ("models", "solvers", "evaluation", "features")
# They notice changed constants of modules and classes.
TABLES = ("models/test_defaults.py", "models/test_preset_values.py", "models/test_constants.py")
# The tests of a room: those of the same name, and these.
MORE_TESTS = {
    "models": ["contract", "features", "api", "graph", "index", *TABLES],
    "solvers": ["models/projection", "models/likelihood", *TABLES],
    "features": ["models/projection", *TABLES],
    "evaluation": ["api", *TABLES],
}
# They take long, or start processes, which do not have the mutant.
_SLOW = (
    "ltr",
    "test_compare_evaluates_all_models",
    "test_reports_are_written",
    "test_damaged_files_never_crash",
    "test_model_is_self_contained",
    "test_weird_queries",
    "test_results_do_not_depend_on_threads",
)
NOT_RUN = " and ".join(f"not {name}" for name in _SLOW)
IN_CONTRACT = ("bm25", "clicks", "vpcg", "neighbours", "pls", "wtm")  # for files that are not of one model
STATUS = ("killed", "survived", "equivalent")


def main() -> int:
    """Run mutants until the limit or the time is reached, and print the survivors."""
    parser = argparse.ArgumentParser(prog="make mutants", description="Find changes that no test notices.")
    parser.add_argument("--files", nargs="*", default=list(ROOMS), help="files or folders below src/coclick")
    parser.add_argument("--tests", nargs="*", help="tests to run instead of all that belong to the files")
    parser.add_argument("--limit", type=int, help="number of mutants of Python code")
    parser.add_argument("--kernels", type=int, default=5, help="number of mutants of compiled code")
    parser.add_argument("--minutes", type=float, default=60, help="stop after that time")
    parser.add_argument("--seconds", type=float, default=20, help="tests of one mutant, by their usual time")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the order")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--named", action="store_true", help="only mutants written by hand")
    parser.add_argument("--json", type=Path, help="write all results to this file")
    parser.add_argument("--again", type=Path, help="only the survivors of such a file")
    parser.add_argument("--coverage", type=Path, help="keep what tests cover in this file, and use it again")
    parser.add_argument("--root", type=Path, default=Project.root, help="another repository")
    parser.add_argument("--package", default=Project.name, help="its package in src/")
    options = parser.parse_args()
    project = Project(options.root.resolve(), options.package)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    end = time.monotonic() + 60 * options.minutes
    todo = choose(project, list_files(project, options.files), options)
    files = list(dict.fromkeys(mutant.file for mutant in todo))
    print(f"{len(todo)} mutants in {len(files)} files; running the tests without a mutant", flush=True)
    runner.warm_up()
    chosen = f"{NOT_RUN} and (not test_contract or {contract_models(project, files)})"
    if options.coverage and options.coverage.exists():
        coverage = runner.Coverage.read(options.coverage)
    else:
        coverage = runner.record(project, options.tests or tests_of(project, files), chosen)
        if options.coverage:
            coverage.write(options.coverage)
    print(f"{len(coverage.seconds)} tests, {sum(coverage.seconds.values()):.0f} seconds", flush=True)
    results = run(project, todo, coverage, options, end)
    print(report(results, len(todo)))
    write(results, options.json)
    return int(any(result == "survived" for _, result in results))


def list_files(project: Project, names: list[str]) -> list[str]:
    """Return the Python files of folders, and files, below src/coclick."""
    found: list[str] = []
    for name in names:
        path = project.package / name
        if path.is_dir():
            found += sorted(one.relative_to(project.package).as_posix() for one in path.rglob("*.py"))
        elif path.with_suffix(".py").is_file():
            found.append(path.with_suffix(".py").relative_to(project.package).as_posix())
        else:
            raise SystemExit(f"there is no {name} below src/coclick")
    return found


def tests_of(project: Project, files: list[str]) -> list[str]:
    """Return the test folders of the files: of the same name or the nearest above, and of the room."""
    found: dict[str, None] = {}
    for file in files:
        folder = Path(file).parent
        while not (project.root / "tests" / folder).is_dir():
            folder = folder.parent
        for name in [folder.as_posix(), *MORE_TESTS[file.partition("/")[0]]]:
            if (project.root / "tests" / name).exists():
                found[f"tests/{name}"] = None
    return [one for one in found if not any(one.startswith(f"{other}/") for other in found)]


def contract_models(project: Project, files: list[str]) -> str:
    """Return the models of these files, or one of each family, as an expression of pytest's -k."""
    found: set[str] = set()
    for file in files:
        names = re.findall(r'^    name = "(\w+)"', (project.package / file).read_text(), re.MULTILINE)
        found.update(names or IN_CONTRACT)
    return " or ".join(sorted(found))


def choose(project: Project, files: list[str], options: argparse.Namespace) -> list[Mutant]:
    """Named mutants first, then those of Python code and of kernels, in random order."""
    chosen = [named_mutant(one, project.package) for one in NAMED if one.file in files]
    if options.named:
        return chosen
    every = [mutant for file in files for mutant in mutants(file, (project.package / file).read_bytes())]
    if options.again:
        rows = json.loads(options.again.read_text())
        alive = {(row["file"], *row["diff"]) for row in rows if row["result"] == "survived"}
        return [mutant for mutant in every if (mutant.file, *mutant.diff()) in alive]
    random.Random(options.seed).shuffle(every)
    kernels = [mutant for mutant in every if mutant.compiled][: options.kernels]
    return [*chosen, *[mutant for mutant in every if not mutant.compiled][: options.limit], *kernels]


def run(
    project: Project, todo: list[Mutant], coverage: runner.Coverage, options: argparse.Namespace, end: float
) -> list[tuple[Mutant, str]]:
    """Return the mutants that there was time for, with their results."""
    results: list[tuple[Mutant, str]] = []
    running: dict[int, tuple[Mutant, float]] = {}
    waiting = iter(todo)
    shown = time.monotonic()
    try:
        while True:
            while len(running) < options.jobs and time.monotonic() < end:
                mutant = next(waiting, None)
                if mutant is None:
                    break
                tests = tests_for(project, mutant, coverage, options.seconds)
                if equivalent_reason(mutant):
                    results.append((mutant, "equivalent"))
                elif not tests:
                    results.append((mutant, "survived"))
                    print(f"{describe(mutant)}  (no test runs it)", flush=True)
                else:
                    slowest = 60 + 10 * sum(coverage.seconds[test] for test in tests) + 600 * mutant.compiled
                    child = runner.start(project, mutant, tests, coverage.seconds)
                    running[child] = mutant, time.monotonic() + slowest
            if not running:
                return results
            time.sleep(0.01)
            for child, (mutant, deadline) in list(running.items()):
                if result := runner.poll(child, deadline):
                    results.append((mutant, result))
                    del running[child]
                    if result == "survived":
                        print(describe(mutant), flush=True)
            if time.monotonic() - shown > 30:
                shown = time.monotonic()
                print(f"{len(results)} of {len(todo)}: {count(results)}", flush=True)
                write(results, options.json)
    finally:
        for child in running:
            runner.stop(child)


def write(results: list[tuple[Mutant, str]], path: Path | None) -> None:
    """Write the results to a file, if there is one."""
    if path:
        rows = [{"file": m.file, "line": m.line, "diff": m.diff(), "result": r} for m, r in results]
        path.write_text(json.dumps(rows, indent=1, ensure_ascii=False))


def tests_for(project: Project, mutant: Mutant, coverage: runner.Coverage, seconds: float) -> list[str]:
    """Return the tests to run on a mutant, up to so many seconds."""
    functions = function_lines(mutant.source)
    covering = coverage.of(mutant, functions)
    if mutant.compiled and not covering:  # no call of compiled code is recorded, but of those who call it
        for file in importers(project, mutant.file):
            covering |= {test for tests in coverage.tests.get(file, {}).values() for test in tests}
    if not any(mutant.line in lines for lines in functions):
        covering |= {test for test in coverage.seconds if any(table in test for table in TABLES)}
    return coverage.choose(covering, seconds)


def importers(project: Project, file: str) -> list[str]:
    """Return the files in the same folder that import a module."""
    module = Path(file).stem
    imported = re.compile(rf"^(from \S*\b{module} import|from \S+ import .*\b{module}\b)", re.MULTILINE)
    folder = (project.package / file).parent
    others = (other for other in sorted(folder.glob("*.py")) if other.stem != module)
    return [
        other.relative_to(project.package).as_posix()
        for other in others
        if imported.search(other.read_text(encoding="utf-8"))
    ]


def count(results: list[tuple[Mutant, str]]) -> str:
    """Return the number of each result."""
    found = Counter(result for _, result in results)
    return ", ".join(f"{found[name]} {name}" for name in STATUS)


def function_lines(source: bytes) -> list[range]:
    """Return the lines of each function of a module and each method of a class, with decorators."""
    tree = ast.parse(source)
    bodies = [tree.body, *(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]
    return [
        range(min([node.lineno, *(one.lineno for one in node.decorator_list)]), (node.end_lineno or 0) + 1)
        for body in bodies
        for node in body
        if isinstance(node, ast.FunctionDef)
    ]


def describe(mutant: Mutant) -> str:
    """Return the place of a mutant, and its line before and after."""
    old, new = mutant.diff()
    return f"{mutant.file}:{mutant.line}\n  - {old}\n  + {new}"


def report(results: list[tuple[Mutant, str]], planned: int) -> str:
    """Return the survivors, a table of files, and the share of mutants that were killed."""
    lines = []
    for mutant, result in sorted(results, key=lambda pair: (pair[0].file, pair[0].line)):
        if result == "survived":
            lines.append(describe(mutant))
    files = sorted({mutant.file for mutant, _ in results})
    lines += ["", f"{'file':46}{'mutants':>9}" + "".join(f"{name:>12}" for name in STATUS)]
    for file in files:
        found = Counter(result for mutant, result in results if mutant.file == file)
        lines.append(f"{file:46}{found.total():9}" + "".join(f"{found[name]:12}" for name in STATUS))
    total = Counter(result for _, result in results)
    decided = total["killed"] + total["survived"]
    lines.append(f"{'all':46}{total.total():9}" + "".join(f"{total[name]:12}" for name in STATUS))
    share = f"{100 * total['killed'] / decided:.1f} %" if decided else "none"
    lines.append(f"killed: {share} of {decided}; {planned - len(results)} were not run for lack of time")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
