"""`build`: log files in, click graph out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from coclick.graph.click_graph import ClickGraph
from coclick.jit.threads import threads as all_threads
from coclick.logs import aggregation_sql as rules
from coclick.logs import documents, events
from coclick.logs import numbering as ids
from coclick.logs import validation as checks
from coclick.logs import write_arrays as arrays
from coclick.logs.aggregation_sql import pair_sums
from coclick.logs.detect_format import DetectedFormat, recognise
from coclick.logs.duckdb_session import Workspace, parse_memory
from coclick.logs.files import blame, expand, look
from coclick.logs.history import write_history
from coclick.logs.reader import Rows
from coclick.logs.rejects import create_reject, first_rejected, publish_rejects, rejected, write_rejects
from coclick.logs.schema import FORMATS, weighted_actions
from coclick.logs.spellings import write_variants
from coclick.storage.artefact import ArtefactWriter, writing

REJECTS = "rejects.parquet"


def build(
    sources: str | Path | Sequence[str | Path],
    docs: str | Path | None,
    out: str | Path,
    *,
    format: str = "auto",
    columns: Sequence[str] | None = None,
    min_clicks: float = 1,
    min_users: int = 1,
    actions: Mapping[str, float] | None = None,
    memory: str = "4GB",
    threads: int | None = None,
    force: bool = False,
    progress: Callable[[str], None] | None = None,
) -> ClickGraph:
    """Build a click graph from log files and write it to the directory `out`.

    `sources` are files or patterns: TSV, CSV, Parquet or NDJSON, gzipped or not. Formats are `clicks`
    (query, doc, clicks[, impressions, users]), `events` (query, doc[, timestamp, user, action, position];
    without `action` every row is a click) and `ubi` (an OpenSearch User Behavior Insights export); `auto`
    tells by the columns. `columns` names the columns of files without a header, or renames them in order.

    Only clicks count as clicks, with weight 1, unless `actions` says otherwise: `{"click": 1, "cart": 3}`.
    Pairs with fewer than `min_clicks` clicks, or clicked by fewer than `min_users` users, are no edges; with
    a threshold above 1, queries left without any edge are not in the graph at all. In an event log
    `min_clicks` counts the actions that count as clicks, whatever their weights.

    Rows that are wrong are counted and kept in `rejects.parquet` beside the graph. `memory` bounds the
    whole process.
    """
    started = time.monotonic()
    checks.check_arguments(format, FORMATS, min_clicks, min_users)
    size, weighted = parse_memory(memory), weighted_actions(actions)
    paths = expand(sources)
    format, found, fields = recognise([look(path) for path in paths], format, columns)
    checks.check_fields(fields, min_users, actions)
    out = Path(out).resolve()
    with (
        writing(out, force=force) as writer,
        Workspace(out.parent / f".{out.name}.building", size, threads or all_threads()) as work,
    ):
        rows = Rows(work, format, fields, weighted)
        run = _Build(work, writer, rows, paths, None if docs is None else Path(docs), progress)
        run.read(found)
        run.aggregate()
        run.choose_edges(min_clicks, min_users)
        run.write()
        run.figures["seconds"] = round(time.monotonic() - started, 2)
        writer.commit("graph", stats=run.figures)
        publish_rejects(writer, "rejects", REJECTS)
    return ClickGraph.open(out)


class _Build:
    """The steps of one build, and what they counted."""

    def __init__(
        self,
        work: Workspace,
        out: ArtefactWriter,
        rows: Rows,
        paths: list[Path],
        docs: Path | None,
        progress: Callable[[str], None] | None,
    ) -> None:
        self.work, self.out, self.rows, self.paths, self.docs = work, out, rows, paths, docs
        self.say = progress or (lambda message: None)
        self.known: events.Known | None = None  # of an event log
        self.text_fields: list[str] = []
        self.figures: dict[str, Any] = {"format": rows.format, "files": [str(path) for path in paths]}
        if rows.format != "clicks":
            self.figures["actions"] = {action.name: action.weight for action in rows.actions}

    def read(self, found: list[DetectedFormat]) -> None:
        """Files to typed rows, and strings to numbers."""
        work, rows = self.work, self.rows
        self.say(f"reading {len(self.paths)} file{'s' if len(self.paths) > 1 else ''} of {rows.format}")
        create_reject(work)
        try:
            if self.docs:
                self.text_fields = documents.read_documents(work, self.docs)
            rows.open(found)
            self.say(f"{rows.read:,} rows; numbering queries, documents and users")
            ids.number_queries(work, rows.relation)
            ids.number_docs(work, rows.relation, self.docs is not None)
            if "user" in rows.fields:
                ids.number_users(work, rows.relation)
        except duckdb.Error as error:
            raise blame(error, self._files) from error
        if self.docs:
            documents.check_overlap(work, self.docs)
            documents.number_texts(work, self.text_fields)

    def aggregate(self) -> None:
        """Rows to tables of pairs; what is wrong with the others."""
        work, rows = self.work, self.rows
        self.say("adding up")
        try:
            if rows.format == "clicks":
                right = _add_up_clicks(work, rows)
            else:
                right = events.number_events(work, rows) + rows.aside
        except duckdb.Error as error:
            raise blame(error, self._files) from error
        if right < rows.read:
            self.say(f"{rows.read - right:,} rows are wrong: looking where they stand")
            rows.save_rejects()
        self.figures |= {"rows": rows.read, "right": right, "rejected": rejected(work, self.paths)}
        if "action" in rows.fields:
            self.figures["other_actions"] = rows.other_actions
        if rows.format != "clicks" and work.value("SELECT count(*) FROM event"):
            self.known = events.aggregate(work, rows)
            self.figures |= events.figures(work, self.known, rows)

    def choose_edges(self, min_clicks: float, min_users: int) -> None:
        """Table `edge` (q, d, clicks) of the pairs that pass the thresholds."""
        work, rows = self.work, self.rows
        if rows.format == "clicks":
            candidates = "SELECT *, clicks AS actions FROM pair WHERE clicks > 0"
        elif self.known is None:
            raise self._no_edge()
        else:
            candidates = rules.weighted_clicks(rows.actions)
        if min_users > 1 and rows.format != "clicks":
            candidates = f"SELECT * FROM ({candidates}) JOIN clickers USING (q, d)"
        work.run(f"""
            CREATE TABLE candidate AS {candidates};
            CREATE TABLE edge AS SELECT q, d, clicks::DOUBLE AS clicks FROM candidate
            WHERE {rules.passes(min_clicks, min_users)} ORDER BY q, d""")
        (pairs, total), (kept, kept_total) = (
            work.rows(f"SELECT count(*), coalesce(sum(clicks), 0) FROM {table}")[0]
            for table in ("candidate", "edge")
        )
        if not kept:
            raise self._no_edge(pairs)
        self.thresholds = min_clicks > 1 or min_users > 1
        self.figures |= {
            "min_clicks": min_clicks,
            "min_users": min_users,
            "pairs_below_thresholds": pairs - kept,
            "clicks_below_thresholds": round(total - kept_total, 6),
        }

    def write(self) -> None:
        """Tables to arrays, under the final numbers."""
        work, out, rows, known = self.work, self.out, self.rows, self.known
        self.say("writing the graph")
        work.keep_order(True)
        queries, docs = self._final_numbers()
        arrays.write_strings(work, out, "queries", "query", "text", queries)
        arrays.write_strings(work, out, "docs", "doc", "name", docs)
        texts = [
            arrays.write_strings(work, out, f"text.{field}", "doc_text", f"t{i}", docs)
            for i, field in enumerate(self.text_fields)
        ]
        arrays.write_edges(work, out, queries, docs)
        if known is None and self._has_pairs:
            counts = [name for name in ("impressions", "users") if name in rows.fields]
            arrays.write_pair_counts(work, out, counts, queries, docs)
        elif known is not None and self._has_pairs:
            write_history(work, out, known, [action.weight for action in rows.actions], queries, docs)
        if known is not None and known.skips:
            arrays.write_skips(work, out, queries, docs)
        self.figures["merged_spellings"] = write_variants(work, out, queries)
        if self.text_fields:
            self.figures["docs_without_text"] = docs.size - max(texts)
        write_rejects(work, out, "rejects")

    def _final_numbers(self) -> tuple[arrays.Numbering, arrays.Numbering]:
        """Number what is used: queries with an edge, or, without thresholds, all that were shown or
        clicked; their documents, and all of DOCS."""
        work = self.work
        queries, docs = (
            arrays.flags(work, work.value(f"SELECT count(*) FROM {table}"), self._used(key))
            for key, table in (("q", "query"), ("d", "doc"))
        )
        seen = work.value(f"SELECT count(*) FROM ({self._seen('q')})")
        self.figures["queries_below_thresholds"] = seen - int(queries.sum())
        if self.docs is not None:
            described = arrays.flags(work, len(docs), "SELECT id FROM doc_text")
            self.figures["docs_missing"] = int((docs & ~described).sum())
            self.figures["docs_rejected"] = rejected(work, [self.docs])
            docs |= described
        return arrays.Numbering.of(queries), arrays.Numbering.of(docs)

    def _used(self, key: str) -> str:
        """Query for the provisional numbers that the graph uses."""
        if not self._has_pairs:
            return f"SELECT DISTINCT {key} AS id FROM edge"
        if self.thresholds:
            return f"SELECT DISTINCT {key} AS id FROM ({self._pairs()}) SEMI JOIN edge USING (q)"
        return self._seen(key)

    def _seen(self, key: str) -> str:
        """Those that the right rows have. Where no row was left out, that is whatever has a number."""
        if self.figures["right"] == self.rows.read and not self.rows.aside:
            table = "query" if key == "q" else "doc SEMI JOIN log_doc USING (name)"
            return f"SELECT id FROM {table}"
        return f"SELECT DISTINCT {key} AS id FROM ({self._pairs()})"

    @property
    def _has_pairs(self) -> bool:
        """Whether the graph has a table of pairs beside the edges."""
        known = self.known
        if known is None:
            return bool(self.rows.fields & {"impressions", "users"})
        return known.impressions or known.users or known.days

    def _pairs(self) -> str:
        """All pairs, whether they pass the thresholds or not."""
        known = self.known
        if known is None:
            return "SELECT q, d FROM pair"
        if not known.impressions:
            return "SELECT q, d FROM clicked"
        shown = f"SELECT pair // {known.docs} AS q, pair % {known.docs} AS d FROM shown"
        return shown if known.sessions else f"{shown} UNION ALL SELECT q, d FROM clicked"

    def _no_edge(self, below: int = 0) -> Exception:
        return checks.no_edge(self.figures, below, lambda reason: first_rejected(self.work, reason))

    @property
    def _files(self) -> list[Path]:
        return [*self.paths, *([self.docs] if self.docs else [])]


def _add_up_clicks(work: Workspace, rows: Rows) -> int:
    """Sum the rows of an aggregated log by pair into the table `pair`; returns the number of rows used."""
    work.run(f"""
        CREATE TABLE pair AS
        SELECT spelling.id AS q, doc.id AS d, {pair_sums(rows.fields)}, count(*) AS n
        FROM ({rows.relation}) r
            JOIN spelling ON spelling.raw = r.query JOIN doc ON doc.name = r.doc
        WHERE bad IS NULL AND spelling.id IS NOT NULL
        GROUP BY q, d ORDER BY q, d""")
    return work.value("SELECT coalesce(sum(n), 0)::BIGINT FROM pair")
