"""Read the result of an SQL query from PostgreSQL or SQLite (through ADBC) or a DuckDB file, as Parquet.

Rows are streamed in Arrow batches to a temporary file; nothing is written to the database. Messages never
show a password.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import duckdb

from coclick.errors import CoclickError, UserError
from coclick.logs.duckdb_session import DuckDBSession, literal

_INSTALL = 'pip install "coclick[database]"'
_KINDS = "postgresql://user@host/database, sqlite:FILE, duckdb:FILE, or the path of an SQLite or DuckDB file"
_STARTS = ("select", "with", "values", "table", "from")
_NO_CODE = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
_READ_ONLY = {
    "postgresql": "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
    "sqlite": "PRAGMA query_only = 1",
}


@dataclass(frozen=True)
class DatabaseQuery:
    """A database, and the queries for the log and for the documents; None for what is not read from it."""

    database: str | None = None
    sql: str | None = None
    docs_sql: str | None = None

    def check(self, sources: Any, docs: Any) -> None:
        """Raise if something is missing, or is given both as files and by a query."""
        if self.database is None and (self.sql is not None or self.docs_sql is not None):
            raise UserError("--sql and --docs-sql need a database", hint=f"give --database: {_KINDS}")
        if self.database is not None and self.sql is None and self.docs_sql is None:
            raise UserError("--database needs a query", hint="give --sql 'SELECT query, doc, clicks FROM …'")
        for given, sql, what, option in (
            (sources, self.sql, "the log was", "--sql"),
            (docs, self.docs_sql, "the documents were", "--docs-sql"),
        ):
            if sql is not None and given is not None and not (isinstance(given, list) and not given):
                raise UserError(f"{what} given both as files and with {option}", hint="leave one of them out")


def write_query(db: DuckDBSession, database: Any, sql: str, option: str, path: Path) -> None:
    """Write the result of a query to a Parquet file. `option` is what the user calls the query: --sql."""
    check_select(sql, option)
    kind, place = _find(database)
    if kind == "duckdb":
        _copy_from_duckdb(db, place, sql, option, path)
    else:
        _copy_from_adbc(db, kind, database if kind == "postgresql" else place, sql, option, path)


def check_select(sql: str, option: str) -> None:
    """Raise unless a text is one SQL query."""
    if not isinstance(sql, str) or not sql.strip():
        raise UserError(f"{option} must be an SQL query", hint=f"{option} 'SELECT query, doc FROM clicks'")
    code = _NO_CODE.sub(" ", sql).strip().rstrip("; \t\r\n")
    first = re.match(r"[\s(]*(\w*)", code)
    word = first[1] if first else ""
    if word.lower() not in _STARTS:
        raise UserError(
            f"{option} must be a SELECT statement, but it begins with {word.upper() or code[:10]!r}",
            hint="write a query that returns the rows of the log; the database is only read",
        )
    if ";" in code:
        raise UserError(f"{option} must be one statement, but it has several", hint="leave the others out")


def without_password(database: str) -> str:
    """Return the address of a database without its password."""
    shown = re.sub(r"(password=)[^&\s]*", r"\1***", database)
    return re.sub(r"^(\w+://[^/@:]*):[^/]+@", r"\1:***@", shown)


def _find(database: Any) -> tuple[str, Path]:
    """Return the kind of a database and, unless it is PostgreSQL, its file."""
    if not isinstance(database, str | Path) or not str(database):
        raise UserError(f"a database cannot be {database!r}", hint=f"give {_KINDS}")
    text = str(database)
    if text.startswith(("postgresql://", "postgres://")):
        return "postgresql", Path()
    scheme, colon, rest = text.partition(":")
    if colon and scheme in ("sqlite", "duckdb"):
        return scheme, _existing(Path(rest.removeprefix("//").replace("//", "/")))
    if re.match(r"\w[\w+.-]*://", text):
        raise UserError(
            f"{scheme} databases cannot be read",
            where=without_password(text),
            hint=f"give {_KINDS}, or export a file",
        )
    path = _existing(Path(text))
    with path.open("rb") as stream:
        magic = stream.read(16)
    if magic.startswith(b"SQLite format 3"):
        return "sqlite", path
    if magic[8:12] == b"DUCK":
        return "duckdb", path
    raise UserError("this is no SQLite or DuckDB database", where=text, hint=f"give {_KINDS}")


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise UserError("the database file was not found", where=str(path), hint="check --database")
    return path


def _copy_from_duckdb(db: DuckDBSession, source: Path, sql: str, option: str, path: Path) -> None:
    try:
        db.execute(f"ATTACH {literal(source)} AS source_database (READ_ONLY)")
    except duckdb.Error as error:
        what = f"the database cannot be opened: {_first_line(error)}"
        raise UserError(what, where=str(source), hint="close programs that write to it, or copy it") from None
    try:
        db.execute(f"USE source_database; COPY ({_one(sql)}) TO {literal(path)} (FORMAT parquet); USE memory")
    except duckdb.Error as error:
        db.execute("USE memory")
        raise _query_error(str(error), option, str(source)) from None
    finally:
        db.execute("DETACH source_database")


def _copy_from_adbc(
    db: DuckDBSession, kind: str, source: str | Path, sql: str, option: str, path: Path
) -> None:
    driver, manager = _load(f"adbc_driver_{kind}"), _load("adbc_driver_manager")
    uri = str(source) if kind == "postgresql" else f"file:{quote(str(source))}?mode=ro"
    where = without_password(str(source))
    with (
        _connected(db, manager, lambda: driver.connect(uri), uri, where) as connection,
        _closing(manager.AdbcStatement(connection)) as statement,
    ):
        with _closing(manager.AdbcStatement(connection)) as setting:
            setting.set_sql_query(_READ_ONLY[kind])
            setting.execute_update() if kind == "postgresql" else setting.execute_query()
        statement.set_sql_query(_one(sql))
        try:
            stream, _ = db.run(statement.execute_query, connection.cancel)
            db.write_stream(stream, path, connection.cancel)
        except (manager.Error, duckdb.Error) as error:
            raise _query_error(_hidden(str(error), uri), option, where) from None


@contextmanager
def _connected(db: DuckDBSession, manager: Any, connect: Any, uri: str, where: str) -> Iterator[Any]:
    """A connection to a database; raise if there is none."""
    try:
        database = db.run(connect)
        with _closing(database), _closing(db.run(lambda: manager.AdbcConnection(database))) as connection:
            yield connection
    except manager.OperationalError as error:
        message = _hidden(str(error), uri)
        if "password" in message:
            what, hint = (
                "the database refused the user or the password",
                "check both; or use ~/.pgpass or PGPASSWORD",
            )
        else:
            what, hint = "the database cannot be reached", "check --database, and that the server runs"
        raise UserError(f"{what}: {_first_line(message)}", where=where, hint=hint) from None


@contextmanager
def _closing(resource: Any) -> Iterator[Any]:
    """Close a handle of ADBC. An error of closing would hide the one that matters."""
    try:
        yield resource
    finally:
        with suppress(Exception):  # a cancelled query leaves the connection in any state
            resource.close()


def _load(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise UserError("reading a database needs an optional package", hint=_INSTALL) from None


def _one(sql: str) -> str:
    """The statement without a semicolon at its end. A comment there must not swallow what follows."""
    return sql.rstrip("; \t\r\n") + "\n"


def _query_error(message: str, option: str, where: str) -> CoclickError:
    text = re.sub(r"\n\s*(Query was:|query:|LINE \d+:).*|\. SQLSTATE.*", "", message, flags=re.DOTALL)
    text = re.sub(r"^.*?(?:ERROR:\s+|Error: |\[SQLite\] (Failed to \w+ query: )?)", "", text, flags=re.DOTALL)
    text = " ".join(text.split())
    hint = "test the query with the database's own client"
    if "Type mismatch in column" in text:
        hint = "a column has values of several types: convert it in the query, CAST(column AS TEXT)"
    return UserError(f"the database refused the query of {option}: {text}", where=where, hint=hint)


def _hidden(message: str, uri: str) -> str:
    """The message without the address and its password."""
    password = urlsplit(uri).password or "" if "://" in uri else ""
    for secret in {uri, password, unquote(password), *re.findall(r"password=([^&\s]+)", uri)} - {""}:
        message = message.replace(secret, "***")
    return message


def _first_line(message: object) -> str:
    text = str(message).splitlines()[0] if str(message) else "no message"
    return re.sub(r"^(IO|UNKNOWN|INTERNAL|\w+ Error): (\[libpq\] )?(Failed to connect: )?", "", text)
