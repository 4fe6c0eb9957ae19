"""A temporary DuckDB database with a memory limit, in which a log is turned into tables."""

from __future__ import annotations

import copy
import re
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import duckdb
from numpy.typing import NDArray

from coclick.errors import CoclickError, UserError

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_MIN_MEMORY = 400_000_000
_MAX_MEMORY = 10**15  # DuckDB cannot parse much more
_PYTHON_MEMORY = 300_000_000  # the interpreter, its libraries, and one block of arrays or strings

Result = TypeVar("Result")


def parse_memory(text: str) -> int:
    """Return the bytes of "4GB", "512MB" …; raise if they are too few for a build."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)I?B?\s*", str(text).upper())
    if not match:
        raise UserError(f"--memory {text!r} is not a size", hint="write it like 4GB or 800MB")
    size = int(min(float(match[1]) * _UNITS[match[2]], _MAX_MEMORY))
    if size < _MIN_MEMORY:
        raise UserError(f"--memory {text} is too small", hint=f"give at least {_MIN_MEMORY // 10**6}MB")
    return size


class DuckDBSession:
    """An in-memory database that spills to the directory `path`, and removes it at the end.

    A database file would take a fifth longer, for compression and a write-ahead log that a temporary database
    does not need. Statements run in a thread, so that Ctrl-C stops them at once.

    `path` belongs to the output, and the caller holds the output's lock: files found there were left by a
    process that died, and are removed.
    """

    def __init__(self, path: Path, memory: int, threads: int) -> None:
        self.path = path
        self.block_rows = min(max(50_000, memory // 8000), 500_000)
        self.memory = (memory - _PYTHON_MEMORY) * 4 // 5
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
                    "memory_limit": f"{self.memory // 10**6}MB",
                    "threads": self._threads,
                    "temp_directory": str(self.path / "spill"),
                    "preserve_insertion_order": False,
                    "autoinstall_known_extensions": False,
                },
            )
            # Before 2.0 DuckDB does not know this setting until it is connected.
            self._connection.execute("SET TimeZone = 'UTC'")
        except BaseException:
            self._clear()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        self._clear()
        if isinstance(error, duckdb.Error):  # no caller translated it
            raise CoclickError(
                f"DuckDB failed: {error}", hint="the output is unchanged; please report this"
            ) from error

    def close(self) -> None:
        """Begin to free the memory, in the session's thread. Leaving the session waits for the end of it."""
        self._pool.submit(self._connection.close)

    def _clear(self) -> None:
        self._pool.shutdown()
        shutil.rmtree(self.path, ignore_errors=True)

    def temp_path(self, suffix: str) -> Path:
        """Return a new path in the temporary directory."""
        self._files += 1
        return self.path / f"{self._files}.{suffix}"

    def temp_table(self) -> str:
        """Return a new name for a table."""
        self._files += 1
        return f"temporary_{self._files}"

    def execute(self, sql: str) -> None:
        """Execute statements."""
        self._wait(lambda: self._connection.execute(sql))

    def fetchall(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a small result as Python objects."""
        return self._wait(lambda: self._connection.execute(sql).fetchall())

    def fetch_value(self, sql: str) -> Any:
        """Return the single value of a result."""
        return self.fetchall(sql)[0][0]

    def fetch_arrays(self, sql: str) -> dict[str, NDArray[Any]]:
        """Return the columns of a result that has no nulls."""
        return self._wait(lambda: self._connection.execute(sql).fetchnumpy())

    def insert(self, table: str, columns: dict[str, NDArray[Any]]) -> None:
        """Append rows to a table."""

        def append() -> None:
            self._connection.register("inserted", columns)
            self._connection.execute(f"INSERT INTO {table} SELECT * FROM inserted")
            self._connection.unregister("inserted")

        self._wait(append)

    def write_stream(self, stream: Any, path: Path, cancel: Callable[[], None]) -> None:
        """Write an Arrow stream to a Parquet file, batch by batch; `cancel` stops its source."""

        def copy() -> None:
            self._connection.register("streamed", stream)
            try:
                self._connection.execute(f"COPY (FROM streamed) TO {literal(path)} (FORMAT parquet)")
            finally:
                self._connection.unregister("streamed")

        self._wait(copy, cancel)

    def run(self, task: Callable[[], Result], cancel: Callable[[], None] = lambda: None) -> Result:
        """Run a task in the session's thread, so that Ctrl-C is noticed at once; `cancel` stops it."""
        return self._wait(task, cancel)

    @contextmanager
    def run_alongside(self, task: Callable[[DuckDBSession], Result]) -> Iterator[Future[Result]]:
        """Run a task on a second connection while the caller goes on; stop it if the caller fails.

        Read the result inside the context: leaving it stops the task. The task must not use temporary names.
        """
        other = copy.copy(self)
        with ThreadPoolExecutor(1) as pool, ThreadPoolExecutor(1) as other._pool:
            other._connection = self._connection.cursor()
            future = pool.submit(task, other)
            try:
                yield future
            finally:
                while not future.done():
                    other.interrupt()
                    wait([future], timeout=0.05)
                other._connection.close()

    def interrupt(self) -> None:
        """Stop the statement that runs; it raises `duckdb.InterruptException`."""
        self._connection.interrupt()

    def preserve_order(self, keep: bool) -> None:
        """Set whether results keep the order of the table or file, which costs parallelism."""
        self.execute(f"SET preserve_insertion_order = {str(keep).lower()}")

    def blocks(
        self, table: str, columns: str, max_rows: int | None = None
    ) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield a table in order, in blocks that fit into memory and have at most `max_rows` rows."""
        size = min(self.block_rows, max_rows or self.block_rows)
        for first in range(0, self.fetch_value(f"SELECT count(*) FROM {table}"), size):
            yield self.fetch_arrays(
                f"SELECT {columns} FROM {table} WHERE rowid >= {first} AND rowid < {first + size}"
            )

    def ranges(self, table: str, key: str) -> Iterator[tuple[int, int]]:
        """Yield ranges of `key` that split a table sorted by it into blocks of about `block_rows` rows.

        Rows of one key stay together. If they may not fit into memory, aggregate them in SQL.
        """
        starts = f"SELECT DISTINCT {key} AS cut FROM {table} WHERE rowid % {self.block_rows} = 0 ORDER BY cut"
        cuts = [row[0] for row in self.fetchall(starts)]
        if cuts:
            last = f"SELECT {key} + 1 FROM {table} WHERE rowid = (SELECT count(*) - 1 FROM {table})"
            cuts = [0, *cuts[1:], self.fetch_value(last)]
        yield from zip(cuts[:-1], cuts[1:], strict=True)

    def _wait(self, statement: Callable[[], Result], cancel: Callable[[], None] = lambda: None) -> Result:
        future = self._pool.submit(statement)
        try:
            return future.result()
        except duckdb.Error as error:
            if (explained := self._explain(error)) is None:
                raise
            raise explained from error
        except KeyboardInterrupt:
            while not future.done():  # repeat: an interrupt before the statement starts is lost
                self._connection.interrupt()
                with suppress(Exception):  # nothing to cancel yet, or not any more
                    cancel()
                wait([future], timeout=0.05)
            raise

    def _explain(self, error: duckdb.Error) -> CoclickError | None:
        """Return an error that says what to do, or None."""
        text = str(error)
        if "No space left" in text or "max_temp_directory_size" in text:
            return CoclickError(
                "the disk is full",
                where=str(self.path.parent),
                hint="free some space or choose another output; the output is unchanged",
            )
        if isinstance(error, duckdb.OutOfMemoryException):
            return CoclickError("the build ran out of memory", hint="give it more, such as --memory 8GB")
        return None


def literal(value: str | Path) -> str:
    """Quote a string for SQL."""
    return "'" + str(value).replace("'", "''") + "'"


def paths_sql(paths: list[Path]) -> str:
    """Return paths as an SQL list. Glob characters are escaped: patterns were expanded before."""
    return "[" + ", ".join(literal(re.sub(r"[\[*?]", r"[\g<0>]", str(path))) for path in paths) + "]"
