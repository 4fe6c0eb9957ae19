"""`add_view`: read files of features and write a graph with one more user view.

A file has one row for each feature of a query or document: query or doc, feature, and optionally its value.
The arrays of the old graph are hard-linked, unless Spark wrote it. Those of the view are written in blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from coclick.arrays.strings import Vocab
from coclick.errors import UserError, counted
from coclick.graph.click_graph import ClickGraph
from coclick.graph.columns import VIEW_COLUMNS, match_columns
from coclick.graph.user_views import check_view_name, no_match_error, view_names
from coclick.jit.threads import threads as all_threads
from coclick.logs.detect_format import FileFields
from coclick.logs.duckdb_session import DuckDBSession, parse_memory
from coclick.logs.files import LogFile, locate_error, with_header
from coclick.logs.format import VIEW
from coclick.logs.intake import Intake
from coclick.logs.numbering import TEXT_BLOCK_ROWS
from coclick.logs.pipeline import REJECTS
from coclick.logs.privacy import is_private
from coclick.logs.reader import LogReader
from coclick.logs.record_sql import plain_fields
from coclick.logs.rejects import (
    copy_rejects,
    count_rejects,
    create_reject_tables,
    hide_raw_lines,
    locate_first_reject,
    publish_rejects,
    write_rejects,
)
from coclick.logs.spellings import copy_variants
from coclick.logs.write_arrays import IdMap, add_counts, row_pointers, write_strings
from coclick.storage.artefact import ArtefactWriter, writing
from coclick.storage.directories import check_output
from coclick.storage.parquet_tables import is_parquet
from coclick.text.normalise import normalise_batch

_UNKNOWN, _BLANK = -1, -2  # instead of an id: not in the graph; blank after normalisation


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
    feature and value. Without a value column every value is 1. Values of the same id and feature are summed.

    Invalid rows are counted and stored in `rejects_<name>.parquet` in the output directory. Ids that are not
    in the graph are counted and ignored. A view of the same name is replaced.
    """
    if not queries or not docs:
        both = "a view needs features of queries and of documents"
        raise UserError(both, hint="give both --queries and --docs")
    graph, size = ClickGraph.open(source), parse_memory(memory)
    check_view_name(name, graph.texts)
    check_output(Path(out), force, "graph")
    out = Path(out).resolve()
    with (
        writing(out, force=force) as writer,
        DuckDBSession(out.parent / f".{out.name}.building", size, threads or all_threads()) as db,
        Intake(db) as intake,
    ):
        create_reject_tables(db)
        query_files, doc_files = intake.open_log(queries), intake.open_log(docs)
        stats: dict[str, Any] = {}
        for side in (
            _Side("queries", "query", query_files, graph.queries, intake),
            _Side("docs", "doc", doc_files, graph.docs, intake),
        ):
            stats |= side.write(db, writer, f"view.{name}")
        stats["rejected"] = count_rejects(db, [file.name for file in (*query_files, *doc_files)])
        _copy_graph(graph, db, writer, name)
        if is_private(graph.stats):
            hide_raw_lines(db)
        write_rejects(db, writer, f"view.{name}.rejects")
        views = {**graph.stats.get("views", {}), name: stats}
        writer.commit("graph", stats={**graph.stats, "views": views})
        publish_rejects(writer, "rejects", REJECTS)
        for view in view_names(writer.files):
            publish_rejects(writer, f"view.{view}.rejects", f"rejects_{view}.parquet")
    return ClickGraph.open(out)


def _copy_graph(graph: ClickGraph, db: DuckDBSession, out: ArtefactWriter, name: str) -> None:
    """Copy the graph without the view `name`. Parquet tables from Spark become arrays."""
    source = graph.artefact
    assert source is not None  # the graph was opened from disk
    if is_parquet(source):
        graph.write(out)
        copy_variants(graph, out)
        copy_rejects(source, db, out)
        return
    for part in source.files:
        if not part.startswith(f"view.{name}."):
            out.link(part, source, part)


def view_columns(file: LogFile, key: str) -> FileFields:
    """Return a file of features with the columns of its fields; `key` is the id column: query or doc.

    Text files must have a header.
    """
    if file.empty:
        raise UserError("the file is empty", where=str(file.path))
    names = list(file.columns)
    columns = match_columns(names, {key: VIEW_COLUMNS[key]})
    for column in columns.values():
        names[column] = ""  # a column cannot be both id and feature
    columns |= match_columns(names, {field: VIEW_COLUMNS[field] for field in ("feature", "value")})
    for field in (key, "feature"):
        if field not in columns:
            existing = ", ".join(map(repr, file.columns[:20])) or "none"
            side = "queries" if key == "query" else "documents"
            raise UserError(
                f"no column for {field!r}: features of {side} need {key}, feature and may have value",
                where=f"{file.path}, whose columns are {existing}",
                hint=f"give a column one of these names: {', '.join(VIEW_COLUMNS[field])}",
            )
    file = with_header(file, file.kind in ("tsv", "csv"))
    return file, plain_fields(file, columns)


def check_rows(db: DuckDBSession, files: Sequence[LogFile], n_rows: int, n_valid: int) -> None:
    """Raise if no row of the files is valid."""
    if not n_rows:
        raise UserError("the file has no rows", where=_first_names(files))
    if not n_valid:
        reasons = count_rejects(db, [file.name for file in files])
        reason = next(iter(reasons))
        rows = counted(n_rows, "row")
        raise UserError(
            f"no valid feature in {rows}; most common reason: {reason} ({reasons[reason]:,})",
            where=locate_first_reject(db, reason),
        )


def _first_names(files: Sequence[LogFile]) -> str:
    return ", ".join(file.name for file in files[:3])


@dataclass(frozen=True)
class _Side:
    """The files of one side of a view, queries or docs, and the ids of the graph on that side."""

    name: str
    key: str  # the id column: query or doc
    files: list[LogFile]
    vocab: Vocab
    intake: Intake

    def write(self, db: DuckDBSession, out: ArtefactWriter, prefix: str) -> dict[str, int]:
        """Write the files as arrays; return counts of rows and unknown ids."""
        log = LogReader(db, VIEW, {self.key, "feature", "value"}, ())
        try:
            log.open([view_columns(file, self.key) for file in self.files])
            self._match_ids(db, log)
            valid = f"SELECT coalesce(sum(n), 0)::BIGINT FROM matched_id WHERE id <> {_BLANK}"
            n_valid = db.fetch_value(valid)
            if n_valid < log.n_rows:
                log.save_rejects()
                self.intake.restore_places()
            self._check(db, log.n_rows, n_valid)
            self._create_entries(db, log)
        except duckdb.Error as error:
            raise locate_error(error, [file.path for file in self.files]) from error
        db.preserve_order(True)
        self._write_rows(db, out, f"{prefix}.{self.name}")
        features = IdMap.from_mask(np.ones(db.fetch_value("SELECT count(*) FROM feature"), bool))
        write_strings(db, out, f"{prefix}.{self.key}_features", "feature", "name", features)
        db.preserve_order(False)
        unknown = db.fetch_value(f"SELECT count(*) FROM matched_id WHERE id = {_UNKNOWN}")
        return {f"unknown_{self.name}": unknown, f"{self.key}_rows": log.n_rows}

    def _match_ids(self, db: DuckDBSession, log: LogReader) -> None:
        """Create `matched_id` (raw, n, id): ids in the files, their number of rows, and ids in the graph."""
        db.execute(f"""
            CREATE OR REPLACE TABLE raw_id AS SELECT {self.key} AS raw, count(*) AS n FROM ({log.relation})
                WHERE error IS NULL GROUP BY raw;
            CREATE OR REPLACE TABLE matched_id (raw VARCHAR, n BIGINT, id INTEGER);
            CREATE OR REPLACE VIEW spelling AS
                SELECT raw, 0 AS scrubbed, nullif(id, {_BLANK}) AS id FROM matched_id""")
        for batch in db.blocks("raw_id", "raw, n", max_rows=TEXT_BLOCK_ROWS):
            texts = batch["raw"].tolist()
            if self.key == "query":
                texts = normalise_batch(texts)
            blank = np.array([not text for text in texts], bool)
            db.insert("matched_id", {**batch, "id": np.where(blank, _BLANK, self.vocab.lookup(texts))})

    def _check(self, db: DuckDBSession, n_rows: int, n_valid: int) -> None:
        """Raise if no row can be used."""
        check_rows(db, self.files, n_rows, n_valid)
        if not db.fetch_value("SELECT count(*) FROM matched_id WHERE id >= 0"):
            ids = [row[0] for row in db.fetchall("SELECT raw FROM matched_id ORDER BY raw LIMIT 3")]
            kind = "queries" if self.key == "query" else "documents"
            raise no_match_error(kind, ids, self.vocab, where=_first_names(self.files))

    def _create_entries(self, db: DuckDBSession, log: LogReader) -> None:
        """Create `feature` (id, name) and `entry` (r, c, value) from the rows whose ids are in the graph."""
        db.execute(f"""
            CREATE OR REPLACE VIEW used AS SELECT id, feature AS name, value
                FROM ({log.relation}) JOIN matched_id ON raw = {self.key} WHERE error IS NULL AND id >= 0;
            CREATE OR REPLACE TABLE feature AS
                SELECT (row_number() OVER (ORDER BY name) - 1)::INTEGER AS id, name
                FROM (SELECT DISTINCT name FROM used) ORDER BY id;
            CREATE OR REPLACE TABLE entry AS
                SELECT used.id AS r, feature.id AS c, value FROM used JOIN feature USING (name)
                ORDER BY r, c, value""")

    def _write_rows(self, db: DuckDBSession, out: ArtefactWriter, name: str) -> None:
        """Write the matrix. Sorted values make the sums independent of the order of rows."""
        counts = np.zeros(len(self.vocab), np.int64)
        width = db.fetch_value("SELECT count(*) FROM feature")
        with (
            out.stream(f"{name}.indices", np.int32) as append_indices,
            out.stream(f"{name}.data", np.float32) as append_data,
        ):
            for first, last in db.ranges("entry", "r"):
                block = db.fetch_arrays(f"SELECT r, c, value FROM entry WHERE r >= {first} AND r < {last}")
                new = np.flatnonzero(np.diff(block["r"].astype(np.int64) * width + block["c"], prepend=-1))
                add_counts(counts, block["r"][new])
                append_indices(block["c"][new])
                append_data(np.add.reduceat(block["value"], new))
        out.array(f"{name}.indptr", row_pointers(counts))
