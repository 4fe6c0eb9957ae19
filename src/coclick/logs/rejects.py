"""Rows that were rejected: a table while files are read, a part of the graph in the end."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from coclick.graph.click_graph import ClickGraph
from coclick.logs import text_sql
from coclick.logs.duckdb_session import DuckDBSession, literal, paths_sql
from coclick.storage.artefact import Artefact, ArtefactWriter
from coclick.storage.parquet_tables import read_rejects


def rejects(graph: ClickGraph) -> list[tuple[str | None, int | None, str, str, str]]:
    """(file, line, field, reason, raw row) of all that the build rejected, whichever engine built the graph.

    Rows that Spark read have no file and no line.
    """
    return read_rejects(graph.artefact) if graph.artefact else []


def create_reject_tables(db: DuckDBSession) -> None:
    """The table of rejected rows of all files."""
    text_sql.create_unreadable(db)
    db.execute("CREATE TABLE reject (file VARCHAR, line BIGINT, field VARCHAR, reason VARCHAR, raw VARCHAR)")


def rejected(db: DuckDBSession, files: Sequence[Path]) -> dict[str, int]:
    """How many rows of these files were rejected, by reason, the commonest first."""
    names = ", ".join(literal(path) for path in files)
    return dict(
        db.fetchall(f"""SELECT trim(field || ' ' || reason), count(*) FROM reject WHERE file IN ({names})
            GROUP BY 1 ORDER BY 2 DESC, 1""")
    )


def locate_first_reject(db: DuckDBSession, reason: str) -> str:
    """Where the first row stands that was rejected for a reason, and what it says."""
    file, line, raw = db.fetchall(f"""
        SELECT file, line, raw FROM reject WHERE trim(field || ' ' || reason) = {literal(reason)}
        ORDER BY file, line LIMIT 1""")[0]
    return f"{file}, line {line}: {raw[:200]}"


def write_rejects(db: DuckDBSession, out: ArtefactWriter, name: str) -> None:
    """Keep the rejected rows, if there are any, as a part of the artefact."""
    if not db.fetch_value("SELECT count(*) FROM reject"):
        return
    path = out.scratch()
    db.execute(f"""
        COPY (FROM reject ORDER BY file, line, field, reason, raw) TO {literal(path)} (FORMAT parquet)""")
    out.parquet(name, path)


def copy_rejects(source: Artefact, db: DuckDBSession, out: ArtefactWriter) -> None:
    """The rejected rows of a graph from Spark, if there are any, in one file."""
    if files := source.table("rejects"):
        path = out.scratch()
        rows = f"FROM read_parquet({paths_sql(files)}) ORDER BY ALL"
        db.execute(f"COPY ({rows}) TO {literal(path)} (FORMAT parquet)")
        out.parquet("rejects", path)


def publish_rejects(out: ArtefactWriter, name: str, file: str) -> None:
    """Show that part under a name that people find."""
    target = out.path / file
    if name not in out.files:
        target.unlink(missing_ok=True)
        return
    part = out.scratch()
    try:
        os.link(out.path / out.files[name]["file"], part)
    except OSError:
        shutil.copyfile(out.path / out.files[name]["file"], part)
    part.replace(target)
    part.unlink(missing_ok=True)  # replacing a file by a link to itself leaves both
