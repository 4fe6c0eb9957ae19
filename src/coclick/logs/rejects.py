"""Rows that were rejected: a table while files are read, a part of the graph in the end."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from coclick.graph.click_graph import ClickGraph
from coclick.logs import text_sql as scans
from coclick.logs.duckdb_session import Workspace, literal, paths_sql
from coclick.storage.artefact import Artefact, ArtefactWriter
from coclick.storage.parquet_tables import read_rejects


def rejects(graph: ClickGraph) -> list[tuple[str | None, int | None, str, str, str]]:
    """(file, line, field, reason, raw row) of all that the build rejected, whichever engine built the graph.

    Rows that Spark read have no file and no line.
    """
    return read_rejects(graph.artefact) if graph.artefact else []


def create_reject(work: Workspace) -> None:
    """The table of rejected rows of all files."""
    scans.create_unreadable(work)
    work.run("CREATE TABLE reject (file VARCHAR, line BIGINT, field VARCHAR, reason VARCHAR, raw VARCHAR)")


def rejected(work: Workspace, files: Sequence[Path]) -> dict[str, int]:
    """How many rows of these files were rejected, by reason, the commonest first."""
    names = ", ".join(literal(path) for path in files)
    return dict(
        work.rows(f"""SELECT trim(field || ' ' || reason), count(*) FROM reject WHERE file IN ({names})
            GROUP BY 1 ORDER BY 2 DESC, 1""")
    )


def first_rejected(work: Workspace, reason: str) -> str:
    """Where the first row stands that was rejected for a reason, and what it says."""
    file, line, raw = work.rows(f"""
        SELECT file, line, raw FROM reject WHERE trim(field || ' ' || reason) = {literal(reason)}
        ORDER BY file, line LIMIT 1""")[0]
    return f"{file}, line {line}: {raw[:200]}"


def write_rejects(work: Workspace, out: ArtefactWriter, name: str) -> None:
    """Keep the rejected rows, if there are any, as a part of the artefact."""
    if not work.value("SELECT count(*) FROM reject"):
        return
    path = out.scratch()
    work.run(f"""
        COPY (FROM reject ORDER BY file, line, field, reason, raw) TO {literal(path)} (FORMAT parquet)""")
    out.parquet(name, path)


def copy_rejects(source: Artefact, work: Workspace, out: ArtefactWriter) -> None:
    """The rejected rows of a graph from Spark, if there are any, in one file."""
    if files := source.table("rejects"):
        path = out.scratch()
        rows = f"FROM read_parquet({paths_sql(files)}) ORDER BY ALL"
        work.run(f"COPY ({rows}) TO {literal(path)} (FORMAT parquet)")
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
