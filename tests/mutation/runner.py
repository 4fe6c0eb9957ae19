"""Runs the tests that cover a mutant, in a fork of a process that has imported everything but the package.

The parent imports `coclick.jit.compiler` from the sources as they are, so the cache of compiled code keeps
its directory, and mutants of Python code use it. The package's own rule, that changed sources never use it,
stays. Mutants of compiled code run without a cache. A child imports the package again, with the mutant
in place of its file.
"""

from __future__ import annotations

import gc
import importlib.machinery
import importlib.util
import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

import pytest

from mutation.operators import Mutant

OPTIONS = [
    "-q",
    "-x",
    "--tb=no",
    "--assert=plain",  # to rewrite assertions takes longer than most tests
    "--import-mode=importlib",
    "-p",
    "_hypothesis_pytestplugin",  # the only one that is needed: to load all takes a third of a second
    "-o",
    "addopts=",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:xdist",
    "-m",
    "not spark and not browser",
]
NO_TESTS = 5  # exit status of pytest


@dataclass(frozen=True)
class Project:
    """A repository with its package in src/ and its tests in tests/."""

    root: Path = Path(__file__).resolve().parents[2]
    name: str = "coclick"

    @property
    def package(self) -> Path:
        """The folder of the package."""
        return self.root / "src" / self.name


@dataclass
class Coverage:
    """What each test calls, and how long it takes."""

    seconds: dict[str, float] = field(default_factory=dict)
    tests: dict[str, dict[int, list[str]]] = field(
        default_factory=dict
    )  # by file and first line of the function

    @classmethod
    def read(cls, path: Path) -> Coverage:
        """Read what `write` wrote."""
        seconds, tests = json.loads(path.read_text())
        return cls(seconds, {file: {int(line): of for line, of in by.items()} for file, by in tests.items()})

    def write(self, path: Path) -> None:
        """Write everything to a file."""
        path.write_text(json.dumps([self.seconds, self.tests]))

    def of(self, mutant: Mutant, functions: Sequence[range]) -> set[str]:
        """Return the tests that call the function of a mutant; outside of functions, any of its file."""
        by_line = self.tests.get(mutant.file, {})
        inside = next((lines for lines in functions if mutant.line in lines), None)
        if inside is None or mutant.compiled:
            return {test for tests in by_line.values() for test in tests}
        return {test for line, tests in by_line.items() if line in inside for test in tests}

    def choose(self, covering: Iterable[str], limit: float) -> list[str]:
        """Return these tests, then others of the same file and parameters, up to `limit` seconds.

        The others matter where a fixture is shared: only the first test that needs it calls the function.
        """
        covering = set(covering)
        groups = {_group(test) for test in covering}
        related = {test for test in self.seconds if _group(test) in groups} - covering
        chosen: list[str] = []
        total = 0.0
        for test in [
            *sorted(covering, key=self.seconds.__getitem__),
            *sorted(related, key=self.seconds.__getitem__),
        ]:
            total += self.seconds[test]
            if chosen and total > limit:
                break
            chosen.append(test)
        return chosen


def _group(test: str) -> tuple[str, str]:
    file, _, name = test.partition("::")
    return file, name.partition("[")[2]


class _Recorder:
    """A pytest plugin that notes which functions of the package each test calls."""

    def __init__(self, package: Path) -> None:
        self.package = package
        self.coverage = Coverage()
        self.failed: list[str] = []
        self._called: set[CodeType] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        called = self._called = set()

        def note(frame: FrameType, _: str, __: Any) -> None:
            called.add(frame.f_code)

        start = time.process_time()  # not the time on the clock, which depends on what else is running
        sys.settrace(note)  # called for every function; without a result, not for every line
        threading.settrace(note)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            self.coverage.seconds[item.nodeid] = time.process_time() - start
            for code in called:
                if code.co_filename.startswith(f"{self.package}{os.sep}"):
                    file = Path(code.co_filename).relative_to(self.package).as_posix()
                    lines = self.coverage.tests.setdefault(file, {})
                    lines.setdefault(code.co_firstlineno, []).append(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)


class _Chosen:
    """A pytest plugin that runs the chosen tests, the quickest files first, without shrinking examples."""

    def __init__(self, tests: dict[str, float]) -> None:
        self.tests = tests

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        from hypothesis import Phase, settings

        phases = [Phase.explicit, Phase.generate]
        settings.register_profile("mutants", settings(), phases=phases)
        settings.load_profile("mutants")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self.tests]
        by_file: dict[str, float] = defaultdict(float)
        for item in items:
            by_file[_group(item.nodeid)[0]] += self.tests[item.nodeid]
        items.sort(key=lambda item: by_file[_group(item.nodeid)[0]])  # stable: module fixtures stay together


class _Mutated(importlib.machinery.SourceFileLoader):
    """Finds and loads one module, from other source code."""

    def __init__(self, module: str, path: Path, source: str) -> None:
        super().__init__(module, str(path))
        self.source = source

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> Any:
        if name == self.name:
            return importlib.util.spec_from_file_location(name, self.path, loader=self)
        return None

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.source, self.path, "exec", dont_inherit=True)


def warm_up() -> None:
    """Import what every child needs. Threads must not be started here: they do not survive a fork.

    Children find compiled modules in a folder of their own, even where Python writes no bytecode, and the
    garbage collector does not visit what is imported here.
    """
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(tempfile.gettempdir()) / f"coclick-mutants-{os.getuid()}")
    libraries = (
        "numpy",
        "scipy.sparse.linalg",
        "scipy.optimize",
        "numba",
        "hypothesis",
        "ir_measures",
        "pandas",
    )
    for name in (*libraries, "coclick.jit.compiler"):
        importlib.import_module(name)
    gc.collect()
    gc.freeze()


def record(project: Project, tests: Sequence[str], expression: str) -> Coverage:
    """Run tests without a mutant, and return what they cover; `expression` is pytest's -k."""
    with tempfile.TemporaryDirectory() as folder:
        output, failed = Path(folder) / "coverage.json", Path(folder) / "failed.json"

        def work() -> int:
            recorder = _Recorder(project.package)
            arguments = [option for option in OPTIONS if option != "-x"]
            pytest.main([*arguments, "-k", expression, *tests], plugins=[recorder])
            failed.write_text(json.dumps(recorder.failed))
            recorder.coverage.write(output)
            return 0

        child = fork(work, project.root)
        try:
            os.waitpid(child, 0)
        except BaseException:
            stop(child)
            raise
        if not output.exists():
            raise SystemExit("the tests could not be run: run them with pytest to see why")
        found, names = Coverage.read(output), json.loads(failed.read_text())
    if not found.seconds:
        raise SystemExit(f"no tests were found in {', '.join(tests)}")
    if names:
        raise SystemExit(f"tests fail without any mutant: {', '.join(names[:5])}")
    return found


def start(project: Project, mutant: Mutant, tests: Sequence[str], seconds: dict[str, float]) -> int:
    """Start a child that runs the tests on a mutant; return its process id."""

    def work() -> int:
        name = ".".join([project.name, *Path(mutant.file).with_suffix("").parts]).removesuffix(".__init__")
        if name in sys.modules:
            raise SystemExit(f"{name} is already imported")
        sys.meta_path.insert(0, _Mutated(name, project.package / mutant.file, mutant.changed))
        if mutant.compiled:
            sys.modules["coclick.jit.compiler"]._DIRECTORY = None  # type: ignore[attr-defined]
        chosen = _Chosen({test: seconds[test] for test in tests})
        files = list(dict.fromkeys(_group(test)[0] for test in tests))
        return int(pytest.main([*OPTIONS, *files], plugins=[chosen]))

    return fork(work, project.root)


def fork(work: Callable[[], int], folder: Path) -> int:
    """Run a function in a child process with its own process group; return the process id."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    status = 3
    try:
        os.setpgid(0, 0)
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.chdir(folder)
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        status = work()
    except BaseException:  # a mutant may raise anything while it is imported
        status = 3
    finally:
        os._exit(status)


def poll(child: int, deadline: float) -> str | None:
    """Return "killed" or "survived", or None while a child runs; one that runs too long is killed."""
    found, status = os.waitpid(child, os.WNOHANG)
    if found:
        return "survived" if os.waitstatus_to_exitcode(status) in (0, NO_TESTS) else "killed"
    if time.monotonic() < deadline:
        return None
    stop(child)
    return "killed"


def stop(child: int) -> None:
    """End a child with all that it started."""
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:  # it has not made its group yet
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
