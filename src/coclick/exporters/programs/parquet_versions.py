"""Parquet: the files of each version; DuckDB merges an increment with its base.

    FOLDER/versions/VERSION     documents-00000.parquet …, queries.parquet, sample.sql

Files of the base without changed documents are linked, the others written anew without those documents.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from coclick.exporters.programs.engine import Settings, stop
from coclick.exporters.programs.folder_versions import (
    load_version,
    remove,
    rollback,
    run_program,
)
from coclick.exporters.programs.samples import Hit, check_rankings, check_samples

_SPARSE = """
SELECT doc, sum(d.weight * q.weight) AS score
FROM (SELECT doc, unnest(words) AS word, unnest(weights)::DOUBLE AS weight FROM read_parquet($1)) d
JOIN (SELECT unnest($2::VARCHAR[]) AS word, unnest($3::DOUBLE[]) AS weight) q USING (word)
GROUP BY doc ORDER BY score DESC, doc LIMIT 10"""
_DENSE = """
SELECT doc, list_inner_product(vector::DOUBLE[], $2::DOUBLE[]) AS score
FROM read_parquet($1) WHERE score > 0 ORDER BY score DESC, doc LIMIT 10"""


def main(commands: Mapping[str, Callable[..., None]], folder: Path, arguments: list[str]) -> None:
    """Run `run.py FOLDER COMMAND`."""
    run_program(commands, folder, arguments, "duckdb")


def load(place: Path, folder: Path, settings: Settings) -> None:
    """Copy or merge the files of this version and make it the current one."""
    load_version(place, folder, settings, _build)


def check(place: Path, folder: Path, settings: Settings) -> None:
    """Ask the sample queries and compare the results with those of coclick."""
    files = place / "current" if (place / "current").exists() else place
    if not [*files.glob("documents-*.parquet")]:
        stop(f"{files} has no documents-*.parquet: run load first")
    check_samples(folder, lambda vector: _search(files, vector))
    if "search_version" in settings:
        check_rankings(files / "search")


def _search(files: Path, vector: Any) -> list[Hit]:
    import duckdb

    names = [str(path) for path in files.glob("documents-*.parquet")]
    sparse = isinstance(vector, dict)
    parameters = [names, [*vector], [*vector.values()]] if sparse else [names, vector]
    found: list[Hit] = duckdb.execute(_SPARSE if sparse else _DENSE, parameters).fetchall()
    return found


def _build(part: Path, folder: Path, settings: Settings, base: Path | None) -> None:
    import duckdb

    shutil.copyfile(folder / "sample.sql", part / "sample.sql")
    if base is None:
        for path in [*folder.glob("documents-*.parquet"), folder / "queries.parquet"]:
            shutil.copyfile(path, part / path.name)
    else:
        _merge(part, folder, base)
    names = [str(path) for path in part.glob("documents-*.parquet")]
    [(count,)] = duckdb.execute("SELECT count(*) FROM read_parquet($1)", [names]).fetchall()
    if count != settings["documents"]:
        stop(
            f"the files have {count:,} documents instead of {settings['documents']:,}, and are not used: "
            "load a whole export"
        )


def _merge(part: Path, folder: Path, base: Path) -> None:
    """Write the files of the base without what the increment changes, and those of the increment."""
    changes = sorted(folder.glob("documents-*.parquet"))
    for path in sorted(base.glob("documents-*.parquet")):
        _copy_others(path, part / path.name, "doc", [*changes, folder / "deleted-docs.parquet"])
    free = 1 + max((int(path.stem[-5:]) for path in part.glob("documents-*.parquet")), default=-1)
    for number, path in enumerate(changes, free):
        shutil.copyfile(path, part / f"documents-{number:05}.parquet")
    gone = [folder / "queries.parquet", folder / "deleted-queries.parquet"]
    _copy_others(
        base / "queries.parquet", part / "queries.parquet", "query", gone, folder / "queries.parquet"
    )


def _copy_others(path: Path, target: Path, key: str, gone: list[Path], more: Path | None = None) -> None:
    """Copy the rows whose key is in none of the files `gone`, and all rows of `more`."""
    import duckdb

    files = ", ".join(map(_literal, gone))
    unwanted = f"SELECT {key} FROM read_parquet([{files}], union_by_name = true)"
    others = f"SELECT * FROM {_literal(path)} WHERE {key} NOT IN ({unwanted})"
    [(before,)] = duckdb.execute(f"SELECT count(*) FROM {_literal(path)}").fetchall()
    [(after,)] = duckdb.execute(f"SELECT count(*) FROM ({others})").fetchall()
    if before == after and more is None:
        target.hardlink_to(path)
    elif after or more is not None:
        added = f" UNION ALL BY NAME FROM {_literal(more)}" if more else ""
        duckdb.execute(f"COPY ({others}{added}) TO {_literal(target)} (FORMAT parquet, COMPRESSION zstd)")


def _literal(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


COMMANDS = {"load": load, "check": check, "rollback": rollback, "remove": remove}
