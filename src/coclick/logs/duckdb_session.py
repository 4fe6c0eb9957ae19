"""The temporary DuckDB database in which a log becomes tables: bounded memory, gone at the end."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import duckdb
from numpy.typing import NDArray

from coclick.errors import CoclickError, UserError

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_MIN_MEMORY = 400_000_000
_MAX_MEMORY = 10**15  # more than DuckDB can write down means the same
_PYTHON_MEMORY = 300_000_000  # the interpreter with its libraries, and one block of arrays or strings

Result = TypeVar("Result")


def parse_memory(text: str) -> int:
    """Bytes in "4GB", "512MB" …; refuses what no build can live in."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)I?B?\s*", str(text).upper())
    if not match:
        raise UserError(f"cannot read the amount of memory {text!r}", hint="write it like 4GB or 800MB")
    size = int(min(float(match[1]) * _UNITS[match[2]], _MAX_MEMORY))
    if size < _MIN_MEMORY:
        raise UserError(
            f"{text} of memory are too little", hint=f"a build needs {_MIN_MEMORY // 10**6}MB at least"
        )
    return size


class DuckDBSession:
    """A database in memory that spills to a directory beside the output. (A database in a file would take a
    fifth longer, for compression and a log that nobody needs.) Statements run in a thread, so that Ctrl-C
    stops them at once.

    The directory's name belongs to the output, whose lock the caller holds: what lies there already was
    left by a process that died, and is removed.
    """

    def __init__(self, path: Path, memory: int, threads: int) -> None:
        self.path = path
        self.block_rows = min(max(50_000, memory // 8000), 500_000)
        self._memory = (memory - _PYTHON_MEMORY) * 4 // 5
        self._threads = threads
        self._files = 0

    def __enter__(self) -> Self:
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir()
        self._pool = ThreadPoolExecutor(1)
        try:
            self._connection = duckdb.connect(
                ":memory:",
                config={
                    "memory_limit": f"{self._memory // 10**6}MB",
                    "threads": self._threads,
                    "temp_directory": str(self.path / "spill"),
                    "preserve_insertion_order": False,
                    "autoinstall_known_extensions": False,
                    "TimeZone": "UTC",
                },
            )
        except BaseException:
            self._clear()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()
        self._clear()
        if isinstance(error, duckdb.Error):  # nobody knew what it means
            raise CoclickError(f"DuckDB failed: {error}", hint="nothing was changed; report it") from error

    def _clear(self) -> None:
        self._pool.shutdown()
        shutil.rmtree(self.path, ignore_errors=True)

    def temp_path(self, suffix: str) -> Path:
        """A new path in the temporary directory."""
        self._files += 1
        return self.path / f"{self._files}.{suffix}"

    def execute(self, sql: str) -> None:
        """Execute statements."""
        self._wait(lambda: self._connection.execute(sql))

    def fetchall(self, sql: str) -> list[tuple[Any, ...]]:
        """A few rows as Python objects."""
        return self._wait(lambda: self._connection.execute(sql).fetchall())

    def fetch_value(self, sql: str) -> Any:
        """The one value that a query returns."""
        return self.fetchall(sql)[0][0]

    def fetch_arrays(self, sql: str) -> dict[str, NDArray[Any]]:
        """The columns of a result without nulls."""
        return self._wait(lambda: self._connection.execute(sql).fetchnumpy())

    def insert(self, table: str, columns: dict[str, NDArray[Any]]) -> None:
        """Append rows to a table."""

        def append() -> None:
            self._connection.register("inserted", columns)
            self._connection.execute(f"INSERT INTO {table} SELECT * FROM inserted")
            self._connection.unregister("inserted")

        self._wait(append)

    def preserve_order(self, keep: bool) -> None:
        """Whether results come in the order of the table or file; it costs parallelism."""
        self.execute(f"SET preserve_insertion_order = {str(keep).lower()}")

    def blocks(
        self, table: str, columns: str, max_rows: int | None = None
    ) -> Iterator[dict[str, NDArray[Any]]]:
        """A table from its first row to its last, as many at once as fit into memory (or `most`)."""
        size = min(self.block_rows, max_rows or self.block_rows)
        for first in range(0, self.fetch_value(f"SELECT count(*) FROM {table}"), size):
            yield self.fetch_arrays(
                f"SELECT {columns} FROM {table} WHERE rowid >= {first} AND rowid < {first + size}"
            )

    def ranges(self, table: str, key: str) -> Iterator[tuple[int, int]]:
        """Ranges of `key` that cut a table sorted by it into pieces of about `block_rows`. What has one key
        is never cut: where a key may have more rows than fit into memory, add them up in SQL."""
        cuts = [
            row[0]
            for row in self.fetchall(f"""
            SELECT DISTINCT {key} AS cut FROM {table} WHERE rowid % {self.block_rows} = 0 ORDER BY cut""")
        ]
        if cuts:
            last = f"SELECT {key} + 1 FROM {table} WHERE rowid = (SELECT count(*) - 1 FROM {table})"
            cuts = [0, *cuts[1:], self.fetch_value(last)]
        yield from zip(cuts[:-1], cuts[1:], strict=True)

    def _wait(self, work: Callable[[], Result]) -> Result:
        future = self._pool.submit(work)
        try:
            return future.result()
        except duckdb.Error as error:
            if (explained := self._explain(error)) is None:
                raise
            raise explained from error
        except KeyboardInterrupt:
            while not future.done():  # repeated: an interrupt before the statement has started is lost
                self._connection.interrupt()
                wait([future], timeout=0.05)
            raise

    def _explain(self, error: duckdb.Error) -> CoclickError | None:
        """What a person can do about it, if anything."""
        text = str(error)
        if "No space left" in text or "max_temp_directory_size" in text:
            return CoclickError(
                "the disk is full",
                where=str(self.path.parent),
                hint="free some space or choose another output; nothing was changed",
            )
        if isinstance(error, duckdb.OutOfMemoryException):
            return CoclickError("the memory is too small for this log", hint="give it more: --memory 8GB")
        return None


def literal(value: str | Path) -> str:
    """A string in SQL."""
    return "'" + str(value).replace("'", "''") + "'"


def paths_sql(paths: list[Path]) -> str:
    """Paths in SQL. What DuckDB would take for a pattern is escaped: patterns were expanded before."""
    return "[" + ", ".join(literal(re.sub(r"[\[*?]", r"[\g<0>]", str(path))) for path in paths) + "]"
