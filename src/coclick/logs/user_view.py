"""`add_view`: files of features in, a graph with one more view out.

A file has a row for each feature of a query or a document: query or doc, feature, and perhaps its value. The
old graph's arrays are linked, not copied, unless Spark wrote it; the view's are written block by block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from coclick.arrays.strings import Vocab
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.graph.user_views import check_view_name, no_match_error, view_names
from coclick.jit.threads import threads as all_threads
from coclick.logs.detect_format import DetectedFormat
from coclick.logs.duckdb_session import Workspace, parse_memory
from coclick.logs.files import LogFile, blame, expand, look, with_header
from coclick.logs.numbering import TEXTS_AT_ONCE
from coclick.logs.pipeline import REJECTS
from coclick.logs.reader import Rows
from coclick.logs.rejects import (
    copy_rejects,
    create_reject,
    first_rejected,
    publish_rejects,
    rejected,
    write_rejects,
)
from coclick.logs.schema import VIEW_COLUMNS, resolve
from coclick.logs.spellings import copy_variants
from coclick.logs.write_arrays import Numbering, add_counts, pointers, write_strings
from coclick.storage.artefact import ArtefactWriter, writing
from coclick.storage.parquet_tables import is_parquet
from coclick.text.normalise import normalise_batch

_UNKNOWN, _BLANK = -1, -2  # in place of an id: not in the graph; nothing is left of the query's text


def add_view(
    source: str | Path,
    name: str,
    queries: Sequence[str | Path],
    docs: Sequence[str | Path],
    out: str | Path,
    *,
    memory: str = "4GB",
    threads: int | None = None,
    force: bool = False,
) -> ClickGraph:
    """Add a view called `name` to the graph at `source` and write the result to the directory `out`.

    `queries` and `docs` are files or patterns: TSV, CSV, Parquet or NDJSON with the columns query or doc,
    feature, and value; without a column for it every value is 1. Values of one feature are added up.

    Rows that are wrong are counted and kept in `rejects_<name>.parquet` beside the graph; ids that the graph
    does not have are counted. A view of the same name is replaced.
    """
    if not queries or not docs:
        raise UserError(
            "a view needs features of queries and of documents: models learn how the two go together",
            hint="give both --queries and --docs",
        )
    graph, size = ClickGraph.open(source), parse_memory(memory)
    check_view_name(name, graph.texts)
    paths = expand(queries), expand(docs)
    out = Path(out).resolve()
    with (
        writing(out, force=force) as writer,
        Workspace(out.parent / f".{out.name}.building", size, threads or all_threads()) as work,
    ):
        create_reject(work)
        sides = (
            _Side("queries", "query", paths[0], graph.queries),
            _Side("docs", "doc", paths[1], graph.docs),
        )
        counted: dict[str, Any] = {}
        for side in sides:
            counted |= side.write(work, writer, f"view.{name}")
        counted["rejected"] = rejected(work, [*paths[0], *paths[1]])
        _keep_others(graph, work, writer, name)
        write_rejects(work, writer, f"view.{name}.rejects")
        views = {**graph.stats.get("views", {}), name: counted}
        writer.commit("graph", stats={**graph.stats, "views": views})
        publish_rejects(writer, "rejects", REJECTS)
        for view in view_names(writer.files):
            publish_rejects(writer, f"view.{view}.rejects", f"rejects_{view}.parquet")
    return ClickGraph.open(out)


def _keep_others(graph: ClickGraph, work: Workspace, out: ArtefactWriter, name: str) -> None:
    """All that the graph has but the view of that name; tables from Spark become arrays."""
    source = graph.artefact
    assert source is not None  # it was opened from disk
    if is_parquet(source):
        graph.write(out)
        copy_variants(graph, out)
        copy_rejects(source, work, out)
        return
    for part in source.files:
        if not part.startswith(f"view.{name}."):
            out.link(part, source, part)


@dataclass(frozen=True)
class _Side:
    """The files of one side, and the ids that the graph has there."""

    name: str
    key: str  # the column of ids
    paths: list[Path]
    known: Vocab

    def write(self, work: Workspace, out: ArtefactWriter, prefix: str) -> dict[str, int]:
        """Files to arrays; returns what was counted."""
        rows = Rows(work, "view", {self.key, "feature", "value"}, ())
        try:
            rows.open([self._columns(look(path)) for path in self.paths])
            self._place_ids(work, rows)
            right = work.value(f"SELECT coalesce(sum(n), 0)::BIGINT FROM place WHERE id <> {_BLANK}")
            if right < rows.read:
                rows.save_rejects()
            self._check(work, rows.read, right)
            self._number(work, rows)
        except duckdb.Error as error:
            raise blame(error, self.paths) from error
        work.keep_order(True)
        self._write_rows(work, out, f"{prefix}.{self.name}")
        features = Numbering.of(np.ones(work.value("SELECT count(*) FROM feature"), bool))
        write_strings(work, out, f"{prefix}.{self.key}_features", "feature", "name", features)
        work.keep_order(False)
        unknown = work.value(f"SELECT count(*) FROM place WHERE id = {_UNKNOWN}")
        return {f"unknown_{self.name}": unknown, f"{self.key}_rows": rows.read}

    def _columns(self, file: LogFile) -> DetectedFormat:
        """The file with the places of its fields; text files have a header."""
        if file.empty:
            raise UserError("the file is empty", where=str(file.path))
        names = list(file.columns)
        places = resolve(names, {self.key: VIEW_COLUMNS[self.key]})
        for place in places.values():
            names[place] = ""  # one column is not both id and feature
        places |= resolve(names, {field: VIEW_COLUMNS[field] for field in ("feature", "value")})
        for field in (self.key, "feature"):
            if field not in places:
                there = ", ".join(map(repr, file.columns[:20])) or "none"
                raise UserError(
                    f"no column for {field!r}: features of {self.name} need {self.key}, feature and may have "
                    "value",
                    where=f"{file.path}, whose columns are {there}",
                    hint=f"name it one of: {', '.join(VIEW_COLUMNS[field])}",
                )
        return with_header(file, file.kind in ("tsv", "csv")), places

    def _place_ids(self, work: Workspace, rows: Rows) -> None:
        """Table `place`: the ids as they are given, how often, and their rows in the graph."""
        work.run(f"""
            CREATE OR REPLACE TABLE given AS SELECT {self.key} AS raw, count(*) AS n FROM ({rows.relation})
                WHERE bad IS NULL GROUP BY raw;
            CREATE OR REPLACE TABLE place (raw VARCHAR, n BIGINT, id INTEGER);
            CREATE OR REPLACE VIEW spelling AS SELECT raw, nullif(id, {_BLANK}) AS id FROM place""")
        for batch in work.blocks("given", "raw, n", most=TEXTS_AT_ONCE):
            texts = batch["raw"].tolist()
            if self.key == "query":
                texts = normalise_batch(texts)
            blank = np.array([not text for text in texts], bool)
            work.insert("place", {**batch, "id": np.where(blank, _BLANK, self.known.lookup(texts))})

    def _check(self, work: Workspace, read: int, right: int) -> None:
        """A file of which nothing can be used is a mistake."""
        where = ", ".join(map(str, self.paths[:3]))
        if not read:
            raise UserError("there is no row in the file", where=where)
        if not right:
            reasons = rejected(work, self.paths)
            reason = next(iter(reasons))
            raise UserError(
                f"none of {read:,} rows can be used; commonest reason: {reason} ({reasons[reason]:,})",
                where=first_rejected(work, reason),
            )
        if not work.value("SELECT count(*) FROM place WHERE id >= 0"):
            ids = [row[0] for row in work.rows("SELECT raw FROM place ORDER BY raw LIMIT 3")]
            raise no_match_error(
                "queries" if self.key == "query" else "documents", ids, self.known, where=where
            )

    def _number(self, work: Workspace, rows: Rows) -> None:
        """Tables `feature` (id, name) of the rows that belong to the graph, and `entry` (r, c, value)."""
        work.run(f"""
            CREATE OR REPLACE VIEW used AS SELECT id, feature AS name, value
                FROM ({rows.relation}) JOIN place ON raw = {self.key} WHERE bad IS NULL AND id >= 0;
            CREATE OR REPLACE TABLE feature AS
                SELECT (row_number() OVER (ORDER BY name) - 1)::INTEGER AS id, name
                FROM (SELECT DISTINCT name FROM used) ORDER BY id;
            CREATE OR REPLACE TABLE entry AS
                SELECT used.id AS r, feature.id AS c, value FROM used JOIN feature USING (name)
                ORDER BY r, c, value""")

    def _write_rows(self, work: Workspace, out: ArtefactWriter, name: str) -> None:
        """The matrix. Values of one entry stand in their order, so their sum is that of any order of rows."""
        counts = np.zeros(len(self.known), np.int64)
        width = work.value("SELECT count(*) FROM feature")
        with (
            out.stream(f"{name}.indices", np.int32) as append_indices,
            out.stream(f"{name}.data", np.float32) as append_data,
        ):
            for first, last in work.ranges("entry", "r"):
                block = work.arrays(f"SELECT r, c, value FROM entry WHERE r >= {first} AND r < {last}")
                new = np.flatnonzero(np.diff(block["r"].astype(np.int64) * width + block["c"], prepend=-1))
                add_counts(counts, block["r"][new])
                append_indices(block["c"][new])
                append_data(np.add.reduceat(block["value"], new))
        out.array(f"{name}.indptr", pointers(counts))
