"""Every private name of another library that the package uses, so that an upgrade fails here and by name.

pyproject.toml allows only versions of these libraries in which the names were tested.
"""

# The types of numba do not have its private names.
# mypy: disable-error-code="attr-defined, call-overload"

import ast
import inspect
import re
import tomllib
from pathlib import Path

import numba
import pytest

import coclick

PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"

# Why each is used: `jit/compiler.py` loads compiled code without the compiler, which saves half a second;
# `spark/storage.py` reaches Hadoop's file systems, for which pyspark has no public interface.
FOREIGN = {
    "_cache": "numba",
    "_guard_against_spurious_io_errors": "numba",
    "_load_overload": "numba",
    "_gateway": "pyspark",
    "_jsc": "pyspark",
    "_jvm": "pyspark",
    "_sc": "pyspark",
    "_make": "collections.namedtuple, where it is documented",
    "_asdict": "collections.namedtuple, where it is documented",
}


def attributes(source: Path) -> tuple[set[str], set[str]]:
    """Return the private attributes that a file reads or sets, and the names that it defines."""
    used, defined = set(), set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and not node.module.startswith("coclick"):
            used.update(node.module.split("."), (alias.name for alias in node.names))
        elif isinstance(node, ast.Attribute):
            of_ours = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            (defined if of_ours and isinstance(node.ctx, ast.Store) else used).add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
    return {name for name in used if re.match("_[a-zA-Z]", name)}, defined


def test_no_private_name_of_another_library_is_used_but_those_listed_here():
    files = [attributes(file) for file in Path(coclick.__file__).parent.rglob("*.py")]
    used = set().union(*(names for names, _ in files))
    defined = set().union(*(names for _, names in files))
    modules = {file.stem for file in Path(coclick.__file__).parent.rglob("*.py")}
    assert used - defined - modules | used & set(FOREIGN) == set(FOREIGN)


def test_numba_is_in_the_tested_range():
    dependencies = tomllib.loads(PYPROJECT.read_text())["project"]["dependencies"]
    pinned = next(one for one in dependencies if one.startswith("numba"))
    lowest, below = re.fullmatch(r"numba>=([0-9.]+),<([0-9.]+)", pinned).groups()
    installed = numbers(numba.__version__)
    assert numbers(lowest) <= installed < numbers(below), (
        f"numba {numba.__version__} is outside {pinned}: run `make test` with it, then change the range"
    )


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.match(r"[0-9.]*[0-9]", version)[0].split(".")))


@pytest.mark.parametrize(
    "name",
    [
        "FunctionCache._load_overload",
        "FunctionCache._guard_against_spurious_io_errors",
        "FunctionCache._impl_class",
    ],
)
def test_numba_has_the_parts_of_its_cache_that_ours_replaces(name):
    from numba.core import caching

    owner, attribute = name.split(".")
    assert hasattr(getattr(caching, owner), attribute), f"numba.core.caching.{name} is gone"


def test_numba_caches_results_the_way_ours_expects():
    from numba.core.caching import CompileResultCacheImpl, FunctionCache

    assert FunctionCache._impl_class is CompileResultCacheImpl
    assert parameters(FunctionCache.load_overload) == ["self", "sig", "target_context"]
    assert parameters(CompileResultCacheImpl.reduce) == ["self", "cres"]


def parameters(function) -> list[str]:
    return list(inspect.signature(function).parameters)


def test_a_compiled_function_of_numba_keeps_its_cache_where_ours_is_put():
    from numba.core.caching import NullCache

    compiled = numba.njit(lambda x: x)
    assert isinstance(compiled._cache, NullCache), "numba's dispatchers have no _cache any more"


def test_numba_has_a_runtime_to_initialise_and_a_cache_directory_to_set():
    from numba.core import config
    from numba.core.runtime import rtsys

    assert callable(rtsys.initialize)
    assert isinstance(config.CACHE_DIR, str)


def test_numba_takes_the_option_that_switches_reference_counting_off():
    """It refuses options that it does not know."""
    compiled = numba.njit(lambda x: x + 1, _nrt=False)
    assert compiled(1) == 2
    with pytest.raises(Exception, match="no_such_option"):
        numba.njit(lambda x: x, no_such_option=True)(1)


def test_pyspark_has_the_names_that_lead_to_hadoop():
    pyspark = pytest.importorskip("pyspark")
    source = inspect.getsource(pytest.importorskip("pyspark.sql").SparkSession)
    for name in ("_jvm", "_jsc", "_sc"):
        assert f"self.{name} = " in source, f"pyspark: SparkSession.{name} is gone"
    assert hasattr(pyspark.SparkContext, "_gateway"), "pyspark: SparkContext._gateway is gone"


def test_uvicorn_has_what_a_graceful_end_needs():
    """Public by name, and undocumented."""
    uvicorn = pytest.importorskip("uvicorn")
    server = uvicorn.Server(uvicorn.Config("nothing:app"))
    assert isinstance(server.server_state.default_headers, list)
    assert "self.servers" in inspect.getsource(uvicorn.Server), "uvicorn: Server.servers is gone"
    assert parameters(uvicorn.Server.shutdown) == ["self", "sockets"]


def test_uvicorn_has_the_protocol_that_is_extended():
    """Public by name, and undocumented: service/connections.py adds limits."""
    implementation = pytest.importorskip("uvicorn.protocols.http.httptools_impl")
    protocol, cycle = implementation.HttpToolsProtocol, implementation.RequestResponseCycle
    for name, expected in {
        "connection_made": ["self", "transport"],
        "connection_lost": ["self", "exc"],
        "data_received": ["self", "data"],
        "on_message_begin": ["self"],
        "on_header": ["self", "name", "value"],
        "on_headers_complete": ["self"],
        "on_message_complete": ["self"],
        "on_response_complete": ["self"],
        "send_400_response": ["self", "msg"],
    }.items():
        assert parameters(getattr(protocol, name)) == expected, f"uvicorn: {name} has changed"
    source = inspect.getsource(protocol.__init__)
    for name in ("app_state", "loop", "transport", "flow", "headers", "cycle", "pipeline"):
        assert f"self.{name}" in source, f"uvicorn: HttpToolsProtocol.{name} is gone"
    for name in ("response_started", "response_complete", "disconnected", "message_event"):
        assert f"self.{name}" in inspect.getsource(cycle.__init__), f"uvicorn: {name} of a cycle is gone"
