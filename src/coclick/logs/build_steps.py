"""The steps of a build in DuckDB: read, aggregate, choose edges, write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from coclick.errors import counted
from coclick.logs import (
    aggregation_sql,
    documents,
    events,
    numbering,
    privacy,
    searches,
    validation,
    write_arrays,
)
from coclick.logs.bots import Policy, look_for_bots
from coclick.logs.column_use import column_uses
from coclick.logs.detect_format import FileFields
from coclick.logs.duckdb_session import DuckDBSession
from coclick.logs.duplicates import Duplicates, remove_duplicates
from coclick.logs.files import LogFile, locate_error
from coclick.logs.history import write_history
from coclick.logs.id_forms import other_form
from coclick.logs.intake import Intake
from coclick.logs.language import guess as guess_language
from coclick.logs.privacy import Privacy
from coclick.logs.reader import LogReader
from coclick.logs.recency import future_limit, half_life_of
from coclick.logs.rejects import (
    count_rejects,
    create_reject_tables,
    locate_first_reject,
    write_rejects,
)
from coclick.logs.report import WARN_SHARE
from coclick.logs.spellings import write_variants
from coclick.logs.time_options import time_stats
from coclick.storage.artefact import ArtefactWriter

_MAX_DESCRIBED = 20  # files whose columns are listed in the statistics


class BuildSteps:
    """The steps of one build, and the statistics they collect in `stats`."""

    def __init__(
        self,
        db: DuckDBSession,
        out: ArtefactWriter,
        log: LogReader,
        intake: Intake,
        files: list[LogFile],
        docs: list[LogFile],
        privacy: Privacy,
        progress: Callable[[str], None] | None,
    ) -> None:
        self.db, self.out, self.log, self.intake, self.files, self.docs = db, out, log, intake, files, docs
        self.privacy = privacy
        self.report = progress or (lambda message: None)
        self.schema: events.EventSchema | None = None  # of an event log
        self.dropped = False  # whether events of bots were dropped
        self.text_fields: list[str] = []
        self.stats: dict[str, Any] = {"format": log.format.name, "files": [file.name for file in files]}
        self.stats["encodings"] = dict(intake.encodings)
        if log.has_events:
            self.stats["actions"] = {action.name: action.weight for action in log.actions}

    def describe(self, found: list[FileFields]) -> None:
        """Note what each column is used as."""
        self.stats["fields"] = sorted(self.log.fields)
        self.stats["columns"] = [
            {
                "file": file.name,
                "columns": [
                    {"name": use.name, "field": use.field, "looks_like": use.looks_like}
                    for use in column_uses(file, record)
                ],
            }
            for file, record in found[:_MAX_DESCRIBED]
        ]

    def read(self, found: list[FileFields]) -> None:
        """Read files into typed rows, and assign integer ids to strings."""
        db, log = self.db, self.log
        self.report(f"reading {counted(len(self.files), 'file')} of {log.format.name}")
        create_reject_tables(db)
        try:
            if self.docs:
                self._read_documents()
            log.open(found)
            self.report(f"read {counted(log.n_rows, 'row')}; assigning ids to queries, documents and users")
            numbering.assign_query_ids(db, log.relation, self.privacy)
            numbering.assign_doc_ids(db, log.relation, bool(self.docs))
            if "user" in log.fields:
                numbering.assign_user_ids(db, log.relation)
            if "session" in log.fields:
                numbering.assign_session_ids(db, log.relation, events.session_key(log))
        except duckdb.Error as error:
            raise locate_error(error, self._files) from error
        if self.docs:
            documents.check_overlap(db, self.docs)
            documents.assign_text_ids(db, self.text_fields)
            if duplicates := documents.duplicates_across_files(db, self.docs):
                places = ("first", "again")
                self.stats["docs_in_several_files"] = [
                    found | {key: self.intake.name_place(*found[key]) for key in places}
                    for found in duplicates
                ]

    def _read_documents(self) -> None:
        """Read DOCS, and note what its columns are used as."""
        found = documents.read_documents(self.db, self.docs)
        self.text_fields = found.names
        self.stats["docs_columns"] = found.uses[:_MAX_DESCRIBED]
        self.log.assumed += found.assumed

    def aggregate(self, bots: Policy = "flag", duplicates: Duplicates = "count") -> None:
        """Aggregate valid rows by (query, document), and collect the rejected rows."""
        db, log = self.db, self.log
        self.report("aggregating clicks")
        try:
            if not log.has_events:
                n_valid = _aggregate_clicks(db, log)
            else:
                n_valid = events.create_events(db, log) + log.n_ignored
                if self.privacy.key is not None:
                    numbering.hash_user_names(db, self.privacy.key)
        except duckdb.Error as error:
            raise locate_error(error, self._files) from error
        if n_valid < log.n_rows:
            self.report(f"rejected {counted(log.n_rows - n_valid, 'row')}; finding their lines")
            log.save_rejects()
        if hints := self.intake.encoding_hints(self.files):
            self.stats["encoding_hints"] = hints
        self.intake.restore_places()
        self.stats |= {"rows": log.n_rows, "right": n_valid, "rejected": _count_rejects(db, self.files)}
        if "action" in log.fields:
            self.stats["other_actions"] = log.other_actions
        if log.assumed:
            self.stats["assumed"] = log.assumed
        if "timestamp" in log.fields:
            self.stats |= time_stats(log.times, log.span, log.n_outside)
        self.stats |= self.privacy.stats(db)
        if log.has_events:
            self.stats["duplicates"] = remove_duplicates(db, log, duplicates)
        if log.has_events and db.fetch_value("SELECT count(*) FROM event"):
            events.create_visits(db, log)
            self._look_for_bots(bots)
            self.schema = events.aggregate(db, log, self.privacy.min_users)
            self.stats |= events.stats(db, self.schema, log)
            self.stats["has_impressions"] = self.schema.has_impressions

    def _look_for_bots(self, policy: Policy) -> None:
        """Flag users that are probably programs, or drop their events."""
        found = self.stats["bots"] = look_for_bots(self.db, self.log, policy)
        self.dropped = policy == "drop" and found["n_users"] > 0
        if self.dropped and not self.db.fetch_value("SELECT count(*) FROM event"):
            raise validation.only_bots_error(found)

    def choose_edges(self, min_clicks: float, half_life_days: float | None) -> None:
        """Create the table `edge` (q, d, clicks) of the pairs that pass the thresholds."""
        db, log, min_users, users = self.db, self.log, self.privacy.min_users, "users"
        if not log.has_events:
            users = "known_users"
            candidates = "SELECT *, clicks AS actions FROM pair WHERE clicks > 0"
        elif self.schema is None:
            raise self._no_edges_error()
        else:
            last = db.fetch_value("SELECT max(t) FROM event") if half_life_days else 0
            half_life = half_life_of(half_life_days, last, future_limit())
            self.stats |= {} if half_life is None else {"half_life": half_life.stats}
            candidates = aggregation_sql.weighted_clicks(log.actions, half_life)
        if min_users > 1 and log.has_events:
            candidates = f"SELECT * FROM ({candidates}) JOIN clickers USING (q, d)"
        db.execute(f"""
            CREATE TABLE candidate AS {candidates};
            CREATE TABLE edge AS SELECT q, d, clicks::DOUBLE AS clicks FROM candidate
            WHERE {aggregation_sql.passes_thresholds(min_clicks, min_users, users)} ORDER BY q, d""")
        (pairs, total), (kept, kept_total) = (
            db.fetchall(f"SELECT count(*), coalesce(sum(clicks), 0) FROM {table}")[0]
            for table in ("candidate", "edge")
        )
        if not kept:
            raise self._no_edges_error(pairs)
        self.has_thresholds = min_clicks > 1 or min_users > 1
        self.stats |= {"min_clicks": min_clicks, "min_users": min_users}
        self.stats["pairs_below_thresholds"] = pairs - kept
        self.stats["clicks_below_thresholds"] = round(total - kept_total, 6)
        self.n_queries_seen = db.fetch_value(f"SELECT count(*) FROM ({self._seen('q')})")
        if min_users > 1:
            self._drop_rare()

    def _drop_rare(self) -> None:
        """Drop what fewer than `min_users` users saw, clicked or typed."""
        db, schema, min_users = self.db, self.schema, self.privacy.min_users
        if schema is None:
            privacy.drop_rare_pairs(db, min_users)
        else:
            privacy.drop_rare_events(db, min_users, schema.n_docs, schema.has_impressions)
        privacy.drop_rare_spellings(db, self.log.relation, min_users, schema is not None)

    def write(self, language: dict[str, Any] | None = None) -> None:
        """Write the tables as arrays, with final ids; guess the language of the texts if it is not given."""
        db, schema = self.db, self.schema
        self.report("writing the graph")
        db.preserve_order(True)
        if schema is None:
            self._write_tables(language)
            return
        has_results = "results" in self.log.fields
        # Writing leaves a core idle: searches are counted at the same time.
        with db.run_alongside(lambda other: searches.count_searches(other, schema, has_results)) as counting:
            queries = self._write_tables(language)
            self.stats |= counting.result()
        searches.write_searches(db, self.out, queries, self.stats["min_users"])

    def _write_tables(self, language: dict[str, Any] | None) -> write_arrays.IdMap:
        """Write all but the searches; return the final ids of the queries."""
        db, out, log, schema = self.db, self.out, self.log, self.schema
        queries, docs = self._final_ids()
        self.stats["language"] = language or guess_language(db, queries, docs, self.text_fields)
        write_arrays.write_strings(db, out, "queries", "query", "text", queries)
        write_arrays.write_strings(db, out, "docs", "doc", "name", docs)
        texts = [
            write_arrays.write_strings(db, out, f"text.{field}", "doc_text", f"t{i}", docs)
            for i, field in enumerate(self.text_fields)
        ]
        write_arrays.write_edges(db, out, queries, docs)
        if schema is None and self._has_pairs:
            counts: dict[str, str] = {name: name for name in ("impressions", "users") if name in log.fields}
            write_arrays.write_by_query(db, out, "pairs", "pair", {"docs": "d"}, counts, queries, docs)
        elif schema is not None and self._has_pairs:
            write_history(db, out, schema, [action.weight for action in log.actions], queries, docs)
        if schema is not None and schema.has_skips:
            columns = {"clicked": "clicked", "skipped": "skipped"}
            write_arrays.write_by_query(db, out, "skips", "skip", columns, {"count": "n"}, queries, docs)
        self.stats["merged_spellings"] = write_variants(db, out, queries)
        if self.text_fields:
            self.stats["docs_without_text"] = docs.size - max(texts)
        if log.hides_rows and self.stats["rejected"]:
            privacy.show_rejected_ids(db, queries, docs)
        write_rejects(db, out, "rejects")
        return queries

    def _final_ids(self) -> tuple[write_arrays.IdMap, write_arrays.IdMap]:
        """Map ids to final ids of the queries and documents in the graph.

        These are the queries with an edge or, without thresholds, all that were shown or clicked; their
        documents; and all documents of DOCS.
        """
        db = self.db
        queries, docs = (
            write_arrays.id_mask(db, db.fetch_value(f"SELECT count(*) FROM {table}"), self._used(key))
            for key, table in (("q", "query"), ("d", "doc"))
        )
        self.stats["queries_below_thresholds"] = self.n_queries_seen - int(queries.sum())
        if self.docs:
            in_docs = write_arrays.id_mask(db, len(docs), "SELECT id FROM doc_text")
            missing = docs & ~in_docs
            self.stats |= {"docs_in_log": int(docs.sum()), "docs_missing": int(missing.sum())}
            if missing.sum() > WARN_SHARE * docs.sum():
                self.stats["missing_examples"] = self._doc_names(missing)
                unclicked = in_docs & ~docs
                self.stats["described_examples"] = self._doc_names(unclicked if unclicked.any() else in_docs)
                db.execute("CREATE TABLE missing_id (id INTEGER)")
                db.insert("missing_id", {"id": np.flatnonzero(missing).astype(np.int32)})
                if found := other_form(db, "(SELECT name FROM doc SEMI JOIN missing_id USING (id))"):
                    self.stats["docs_other_form"] = found
            self.stats["docs_rows"] = db.fetch_value("SELECT count(*) FROM document_row")
            self.stats["docs_rejected"] = _count_rejects(db, self.docs)
            docs |= in_docs
        return write_arrays.IdMap.from_mask(queries), write_arrays.IdMap.from_mask(docs)

    def _doc_names(self, mask: NDArray[np.bool_]) -> list[str]:
        """The first three of some documents."""
        ids = ", ".join(map(str, np.flatnonzero(mask)[:3].tolist()))
        return [name for (name,) in self.db.fetchall(f"SELECT name FROM doc WHERE id IN ({ids}) ORDER BY id")]

    def _used(self, key: str) -> str:
        """SQL query for the ids of the queries (`q`) or documents (`d`) in the graph."""
        if not self._has_pairs:
            return f"SELECT DISTINCT {key} AS id FROM edge"
        if self.has_thresholds:
            return f"SELECT DISTINCT {key} AS id FROM ({self._pairs()}) SEMI JOIN edge USING (q)"
        return self._seen(key)

    def _seen(self, key: str) -> str:
        """SQL query for the ids in valid rows. If every row is valid and counted, these are all ids."""
        every_row = self.stats["right"] == self.log.n_rows and not self.log.n_ignored
        if every_row and not self.log.has_searches and not self.dropped:
            table = "query" if key == "q" else "doc SEMI JOIN log_doc USING (name)"
            return f"SELECT id FROM {table}"
        ids = f"SELECT DISTINCT {key} AS id FROM ({self._pairs()})"
        if key == "q" and self.schema is not None and self.schema.has_sessions:  # those without results too
            ids += " UNION SELECT q FROM visit"
        return ids

    @property
    def _has_pairs(self) -> bool:
        """Whether the graph has a table of pairs in addition to the edges."""
        schema = self.schema
        if schema is None:
            return bool(self.log.fields & {"impressions", "users"})
        return schema.has_impressions or schema.has_users or schema.has_days

    def _pairs(self) -> str:
        """SQL query for all pairs, including those below the thresholds."""
        schema = self.schema
        if schema is None:
            return "SELECT q, d FROM pair"
        if not schema.has_impressions:
            return "SELECT q, d FROM clicked"
        shown = f"SELECT pair // {schema.n_docs} AS q, pair % {schema.n_docs} AS d FROM shown"
        return shown if schema.shows_every_click else f"{shown} UNION ALL SELECT q, d FROM clicked"

    def locate_first_reject(self, reason: str) -> str:
        """Return the file, line and text of the first row rejected for a reason."""
        return locate_first_reject(self.db, reason)

    def _no_edges_error(self, below: int = 0) -> Exception:
        return validation.no_edges_error(self.stats, below, self.locate_first_reject)

    @property
    def _files(self) -> list[Path]:
        return [file.path for file in (*self.files, *self.docs)]


def _count_rejects(db: DuckDBSession, files: Sequence[LogFile]) -> dict[str, int]:
    return count_rejects(db, [file.name for file in files])


def _aggregate_clicks(db: DuckDBSession, log: LogReader) -> int:
    """Create `pair`, the sums of an aggregated log by (query, document); return the number of valid rows."""
    db.execute(f"""
        CREATE TABLE pair AS
        SELECT spelling.id AS q, doc.id AS d, {aggregation_sql.pair_sums(log.fields)}, count(*) AS n
        FROM ({log.relation}) r
            JOIN spelling ON spelling.raw = r.query JOIN doc ON doc.name = r.doc
        WHERE error IS NULL AND spelling.id IS NOT NULL
        GROUP BY q, d ORDER BY q, d""")
    return db.fetch_value("SELECT coalesce(sum(n), 0)::BIGINT FROM pair")
