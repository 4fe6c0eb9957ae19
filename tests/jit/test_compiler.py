"""The cache of compiled code: loaded quickly, and never stale."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import coclick
from coclick.jit.compiler import _sources_digest

PACKAGE = Path(coclick.__file__).parent
COMPILED = re.compile(r"^@(numba\.)?n?jit|\bintrinsic\(", re.MULTILINE)
FILES = [path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py") if COMPILED.search(path.read_text())]
ROOMS = sorted({path.parts[0] for path in FILES})

SEARCH = """
import sys
import numpy as np
from coclick.kernels.blockmax import search_range
from coclick.kernels.blocks import build_blocks
from coclick.kernels.search import Scratch, search
rows = np.array([0, 2]), np.array([0, 1], np.int32), np.array([3, 4], np.float32)
_, scores = search(*build_blocks(*rows, 2), *rows, *rows[1:], 1, Scratch(1, 2))
assert scores == 25.0
print(len(search_range.stats.cache_misses), "numba.np.arrayobj" in sys.modules, "scipy.linalg" in sys.modules)
"""

CANDIDATES = """
import numpy as np
from coclick.kernels.dense import candidates
print(candidates(np.array([1, 2], np.float32), 1, 0.0, np.empty(0, np.uint8)).tolist())
"""


def run(program, **environment):
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | environment)
    return done.stdout.strip()


@pytest.fixture
def package(tmp_path):
    """A copy of the package that may be edited."""
    return Path(shutil.copytree(PACKAGE, tmp_path / "coclick", ignore=shutil.ignore_patterns("__pycache__")))


def test_compiled_code_is_loaded_without_the_compiler():
    for _ in range(2):  # the first run may compile
        output = run(SEARCH)
    assert output.split() == ["0", "False", "False"]


def test_rooms_with_compiled_code():
    assert {"jit", "arrays", "kernels", "text", "solvers", "models", "ltr"} <= set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_the_digest_covers_every_file_with_compiled_code(package, room):
    digests = [_sources_digest(package)]
    for path in FILES:
        if path.parts[0] == room:
            with (package / path).open("a") as stream:
                stream.write("# edited\n")
            digests.append(_sources_digest(package))
    assert len(set(digests)) == len(digests) > 1


def test_the_digest_ignores_other_files(package):
    before = _sources_digest(package)
    with (package / "errors.py").open("a") as stream:
        stream.write("# edited\n")
    assert _sources_digest(package) == before


@pytest.mark.slow
def test_a_changed_callee_in_another_file_is_recompiled(package, tmp_path):
    """`candidates` in kernels/ keeps the best rows with `push` in jit/, whose order is reversed here."""
    environment = {"PYTHONPATH": str(tmp_path), "COCLICK_CACHE": str(tmp_path / "cache")}
    assert run(CANDIDATES, **environment) == "[1]"
    callee = package / "jit" / "selection.py"
    source = callee.read_text()
    assert "score < other_score" in source
    callee.write_text(source.replace("score < other_score", "score > other_score"))
    assert run(CANDIDATES, **environment) == "[0, 1]"
