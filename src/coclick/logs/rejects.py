"""Rejected rows: collected in the table `reject` during a build, then stored as a part of the graph."""

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
    """Return (file, line, field, reason, raw row) of every row that the build rejected.

    Rows rejected by Spark have no file and no line.
    """
    return read_rejects(graph.artefact) if graph.artefact else []


def create_reject_tables(db: DuckDBSession) -> None:
    """Create the tables `reject` and `unreadable`."""
    text_sql.create_unreadable(db)
    db.execute("CREATE TABLE reject (file VARCHAR, line BIGINT, field VARCHAR, reason VARCHAR, raw VARCHAR)")


def count_rejects(db: DuckDBSession, files: Sequence[str | Path]) -> dict[str, int]:
    """Count the rejected rows of these files by reason, the most common reason first."""
    names = ", ".join(literal(path) for path in files)
    reasons = f"SELECT trim(field || ' ' || reason) AS r FROM reject WHERE file IN ({names})"
    return dict(db.fetchall(f"SELECT r, count(*) FROM ({reasons}) GROUP BY 1 ORDER BY 2 DESC, 1"))


def locate_first_reject(db: DuckDBSession, reason: str) -> str:
    """Return the file, line and text of the first row rejected for a reason."""
    file, line, raw = db.fetchall(f"""
        SELECT file, line, raw FROM reject WHERE trim(field || ' ' || reason) = {literal(reason)}
        ORDER BY file, line LIMIT 1""")[0]
    return f"{file}, line {line}: {raw[:200]}" if raw else f"{file}, line {line}"


def hide_raw_lines(db: DuckDBSession) -> None:
    """Keep only the place and reason of rejected rows."""
    db.execute("UPDATE reject SET raw = ''")


def write_rejects(db: DuckDBSession, out: ArtefactWriter, name: str) -> None:
    """Store the rejected rows, if there are any, as a part of the artefact."""
    if not db.fetch_value("SELECT count(*) FROM reject"):
        return
    path = out.scratch()
    rows = "SELECT file, line, field, reason, raw FROM reject ORDER BY ALL"
    db.execute(f"""
        COPY ({rows}) TO {literal(path)} (FORMAT parquet)""")
    out.parquet(name, path)


def copy_rejects(source: Artefact, db: DuckDBSession, out: ArtefactWriter) -> None:
    """Copy the rejected rows of a graph built by Spark, if there are any, into one file."""
    if files := source.table("rejects"):
        path = out.scratch()
        rows = f"FROM read_parquet({paths_sql(files)}) ORDER BY ALL"
        db.execute(f"COPY ({rows}) TO {literal(path)} (FORMAT parquet)")
        out.parquet("rejects", path)


def publish_rejects(out: ArtefactWriter, name: str, file: str) -> None:
    """Link the part `name` as `file` in the output directory, or remove `file` if there is no such part."""
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
    part.unlink(missing_ok=True)  # replacing a hard link by another link to the same file keeps both names
