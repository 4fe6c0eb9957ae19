"""Tests that Spark reads logs as the local engine does: sessions, searches, dwell, bots, duplicates, formats.

A module that uses them has a fixture `spark`. Logs are small, and few: a build on Spark takes seconds.
"""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coclick import ClickGraph, logs
from coclick.errors import UserError
from coclick.logs.detect_format import detect_format
from coclick.logs.files import LogFile
from coclick.logs.format import format_names
from logs.format_samples import SAMPLES
from spark.agreement import assert_same_graph
from spark.same_as_local import DIFFERENT, LOCAL_ONLY, ON_SPARK_ONLY

READ_BY_SPARK = {"aol", "orcas", "sogou"}
FIELDS = ("timestamp", "user", "session", "query", "doc", "action", "position", "results", "dwell")


def event(second, user, session, query, doc=None, action="view", position=None, results=None, dwell=None):
    time = f"2026-03-02T10:{second // 60:02}:{second % 60:02}Z"
    values = (time, user, session, query, doc, action, position, results, dwell)
    return {name: None if value is None else str(value) for name, value in zip(FIELDS, values, strict=True)}


def page(second, user, session, query, results=("A", "B", "C")):
    return [event(second, user, session, query, doc, position=i) for i, doc in enumerate(results, 1)]


ROWS = [
    event(0, "ann", "s1", "schuhe", action="search", results=3),
    *page(0, "ann", "s1", "schuhe"),
    event(4, "ann", "s1", "schuhe", "B", "click", 2, dwell=45),
    event(4, "ann", "s1", "schuhe", "B", "click", 2, dwell=45),  # delivered twice
    event(60, "ann", "s1", "schue", action="search", results=0),
    event(70, "ann", "s1", "hüte", action="search", results=5),  # nothing was shown, or the log lacks it
    event(3000, "ann", "s1", "Schuhe", "A", position=1),  # 49 minutes later, but the same session
    event(0, "bob", "s1", "Schuhe", action="search", results=3),  # another user's session with this id
    *page(1, "bob", "s1", "schuhe"),
    event(9, "bob", "s1", "schuhe", "C", "click", 3, dwell=30),  # not above 30 seconds
    event(50, "bob", None, "hüte", "A", "click", 1),  # no session id: the user's day
    event(55, "bob", None, "hüte", None, "click", 1),  # rejected
    event(58, "bob", None, "hüte", "A", "zoom"),  # ignored
    *(event(n // 2, "farm", "s9", "mützen", "D", "click", 1, dwell=9) for n in range(80)),
]
DOCS = {"A": "Winterschuhe aus Leder", "B": "Schuhe für den Sommer", "C": "Mütze und Hut", None: "nichts"}
DOCS |= {"X": "Regenjacke mit Kapuze", "Y": "Der Mantel für die kalten Tage", "Z": "Hosen und Hemden"}


def write(path: Path, rows, names) -> Path:
    texts = {name: pa.array([row[name] for row in rows], pa.string()) for name in names}
    pq.write_table(pa.table(texts), path)
    return path


def both(spark, place: Path, log: Path, docs: Path | None = None, **options):
    """The graphs of Spark and of the local engine; their statistics are the same too."""
    import coclick.spark

    frame, texts = (None if path is None else spark.read.parquet(str(path)) for path in (log, docs))
    coclick.spark.build(spark, frame, texts, str(place / "there"), **options)
    here = logs.build([log], docs, place / "here", threads=1, **options)
    there = ClickGraph.open(place / "there")
    for name in (there.stats.keys() | here.stats.keys()) - ON_SPARK_ONLY - LOCAL_ONLY - DIFFERENT:
        assert there.stats.get(name) == here.stats.get(name), name
    return there, here


class ReadsLikeLocal:
    """Compare graphs of small logs."""

    def test_sessions_searches_dwell_views_bots_and_language(self, spark, tmp_path):
        log = write(tmp_path / "log.parquet", ROWS, FIELDS)
        texts = [{"doc": doc, "title": title} for doc, title in DOCS.items()]
        docs = write(tmp_path / "docs.parquet", texts, ("doc", "title"))
        actions = {"click": 1, "dwell>30s": 3}
        there, here = both(spark, tmp_path, log, docs, actions=actions, bots="drop")
        assert_same_graph(there, here)
        stats = there.stats
        assert there.queries.to_list() == ["hüte", "schue", "schuhe"]
        assert dict(zip(*edges(there), strict=True)) == {
            ("hüte", "A"): 1,
            ("schuhe", "B"): 6,
            ("schuhe", "C"): 1,
        }
        assert (stats["sessions"], stats["searches"]) == (3, 5)
        # The search for hüte with 5 results is not one of them.
        assert (stats["searches_without_results"], stats["searches_without_clicks"]) == (1, 2)
        assert len(there.followups.next) == 2  # schuhe, schue, hüte
        assert stats["assumed"] == [
            "'view' is an impression, because it has positions (--actions view=1 or view=ignore if it is not)"
        ]
        assert stats["duplicates"]["exact"] == 1 + 40  # the farm clicks twice a second
        assert (stats["bots"]["n_users"], stats["bots"]["n_clicks"]) == (1, 80)
        assert stats["language"]["code"] == "de"

    def test_session_ids_without_times_and_event_ids_by_a_format(self, spark, tmp_path):
        names = [name for name in FIELDS if name not in ("timestamp", "query", "doc")]
        rows = [row | {"event_id": str(i)} for i, row in enumerate(ROWS[:-80])]
        rows += [rows[4] | {"doc": "A"}, rows[0] | {"results": "0"}, rows[4] | {"event_id": None}]
        rows = [
            row | {"term": row["query"], "sku": f"sku:{row['doc']}" if row["doc"] else None} for row in rows
        ]
        log = write(tmp_path / "log.parquet", rows, [*names, "event_id", "term", "sku"])
        fields = [f'{name} = "{name}"' for name in (*names, "event_id")]
        fields += ['query = "term"', """doc = { sql = "replace(sku, 'sku:', '')" }"""]
        (tmp_path / "shop.toml").write_text("\n".join(["[fields]", *fields]))
        there, here = both(spark, tmp_path, log, like=tmp_path / "shop.toml")
        assert there.stats["format"] == "shop"
        assert here.daily is None and here.followups is None
        assert there.stats["duplicates"] == {"by_id": 2, "exact": 0, "dropped": 0}
        assert there.stats["bots"]["not_looked_for"] == "the log has no times"
        for name in ("searches", "without_clicks", "without_results"):
            ours, theirs = (getattr(graph.searches, name).tolist() for graph in (there, here))
            assert ours == theirs, name
        assert edges(there) == edges(here)
        # Of the two events with one id the smaller counts: on A.
        assert dict(zip(*edges(there), strict=True))["schuhe", "A"] == 1
        assert there.stats["searches_without_results"] == 1

    @pytest.mark.parametrize("by_id", [True, False])
    def test_rows_without_a_user(self, spark, tmp_path, by_id):
        anonymous = [row | {"user": None} for row in ROWS[:-80]]
        alone = [row | {"session": None} for row in anonymous]
        other = event(70, "cid", None, "hüte", "A", "click", 1)
        names = FIELDS if by_id else [name for name in FIELDS if name != "session"]
        log = write(tmp_path / "log.parquet", [*ROWS, *anonymous, *alone, other], names)
        k = 1 if by_id else 2
        there, here = both(spark, tmp_path, log, bots="drop", duplicates="drop", min_users=k)
        assert there.stats["without_user"] > there.stats["without_session"] > 0 or not by_id
        assert edges(there) == edges(here)
        clicks = {("hüte", "A"): 4}  # by two users, and twice by nobody
        if by_id:  # a repeated click is one, unless it has neither a user nor a session
            clicks |= {("schuhe", "B"): 1 + 1 + 2, ("schuhe", "C"): 3}
        assert dict(zip(*edges(there), strict=True)) == clicks
        assert there.queries.to_list() == here.queries.to_list()
        for table, columns in {
            "pairs": ("docs", "impressions", "users", "sessions", "navigational"),
            "daily": (
                "day",
                "clicks",
                "impressions",
                "users",
                "sessions",
                "navigational",
                "position",
                "shown",
            ),
            "skips": ("clicked", "skipped", "count"),
            "searches": ("day", "searches", "without_clicks"),
            "followups": ("next", "count", "users"),
        }.items():
            for name in columns:
                ours, theirs = (getattr(getattr(graph, table), name).tolist() for graph in (there, here))
                assert ours == theirs, (table, name)

    def test_results_that_say_if_they_were_clicked(self, spark, tmp_path):
        names = ("session", "query", "doc", "position", "clicked")
        rows = [("s1", "hut", "A", "1", "0"), ("s1", "hut", "B", "2", "true"), ("s2", "hut", "A", "1", "7")]
        log = write(tmp_path / "log.parquet", [dict(zip(names, row, strict=True)) for row in rows], names)
        there, _ = both(spark, tmp_path, log)
        assert edges(there) == ([("hut", "B")], [1.0])
        assert sum(there.stats["rejected"].values()) == 1

    def test_too_many_rejected_rows_and_only_bots(self, spark, tmp_path):
        import coclick.spark

        def refused(rows, what, **options):
            frame = spark.read.parquet(str(write(tmp_path / "log.parquet", rows, FIELDS)))
            with pytest.raises(UserError, match=what) as error:
                coclick.spark.build(spark, frame, None, str(tmp_path / "graph"), **options)
            assert not list((tmp_path / "graph").glob("manifest.json"))
            return error.value

        wrong = [row | {"timestamp": "soon"} for row in ROWS[:4]]
        error = refused([*ROWS[:5], *wrong], r"44% of the rows were rejected \(4 of 9\)", max_rejected=0.4)
        assert '"timestamp":"soon"' in str(error.where) and "--max-rejected 45%" in str(error.hint)
        refused(ROWS[-80:], "all 1 user of the log look like bots", bots="drop")

    def test_equal_rows_are_dropped_on_request(self, spark, monkeypatch):
        from coclick.spark import duplicates

        rows = [
            ("hat", "A", "u1", 5, 1),
            ("hat", "A", "u1", 5, 1),
            ("hat", "A", "u1", 6, 1),
            ("hat", None, "u1", 5, -1),
        ]
        schema = "query string, doc string, usr string, ts long, action_code int"
        frame = spark.createDataFrame([*rows, ("hat", "A", "u1", 5, 1)], schema).coalesce(1)
        fields = {"query", "doc", "user", "timestamp"}
        kept, found = duplicates.remove_duplicates(frame, fields, 5, "drop")
        assert found == {"by_id": 0, "exact": 2, "dropped": 2}
        assert sorted(map(tuple, kept.collect()), key=str) == sorted(rows[1:], key=str)
        assert duplicates.remove_duplicates(frame, fields - {"timestamp"}, 5, "drop")[1]["exact"] == 0
        monkeypatch.setattr(duplicates, "MAX_COUNTED", 4)
        monkeypatch.setattr(duplicates, "SAMPLE", 1 << 40)  # nobody is in so small a sample
        found = duplicates.remove_duplicates(frame, fields, 5, "count")[1]
        assert found == {"by_id": 0, "exact": 0, "dropped": 0, "estimated": True}
        of_ids = frame.union(frame).selectExpr("*", "usr AS event_id")
        kept, found = duplicates.remove_duplicates(of_ids, {*fields, "event_id"}, 10, "count")
        assert found["not_ids"] == [2, 10] and kept is of_ids

    @pytest.mark.parametrize("name", format_names())
    def test_formats(self, spark, tmp_path, name):
        """The same rows as the local engine reads, or a sentence that names what cannot be read."""
        from coclick.spark.build import _parser

        sample = SAMPLES[name]
        if name in READ_BY_SPARK:
            assert_parses_sample(name, sample)
            return
        keys = dict.fromkeys(
            key for line in sample.text.splitlines() if line != "{broken" for key in json.loads(line)
        )
        frame = spark.createDataFrame([], ", ".join(f"`{key}` string" for key in keys))
        with pytest.raises(UserError, match=f"Spark cannot read the format '{name}', which") as error:
            _parser(frame, name, None)
        assert error.value.hint == "build it with --engine local"
        assert ("joins events with searches" in error.value.what) == (
            name in ("algolia", "ga4", "meilisearch", "snowplow", "ubi")
        )


def edges(graph):
    """The clicked pairs and their clicks."""
    matrix = graph.clicks.to_scipy().tocoo()
    pairs = [(graph.queries[q], graph.docs[d]) for q, d in zip(matrix.row, matrix.col, strict=True)]
    return pairs, matrix.data.tolist()


def assert_parses_sample(name, sample):
    """Assert that the workers of Spark read from a sample what was put into it."""
    from coclick.spark.typed_fields import FieldParser

    lines = [line.split("\t") for line in sample.text.splitlines()]
    names = {"aol": lines[0], "orcas": ["qid", "query", "did", "url"]}.get(
        name, ["time_of_day", "user", "query", "rank_click", "url"]
    )
    rows = {n: cells for n, cells in enumerate(lines, 1) if cells != names and len(cells) == len(names)}
    table = pa.table(dict(zip(names, map(list, zip(*rows.values(), strict=True)), strict=True)))
    file = LogFile(Path("the log"), "parquet", False, tuple(names), ("VARCHAR",) * len(names))
    format, [(_, record)], fields = detect_format([file], name, None)
    used = [names[i] for i in sorted(record.used)]
    (batch,) = FieldParser(format, used, fields)(iter(table.select(used).to_batches()))
    found = batch.to_pylist()
    errors = {n: row["error"] for n, row in zip(rows, found, strict=True) if row["error"]}
    expected = {n: reason for n, reason in sample.rejected.items() if n in rows}
    assert {n: error.replace("|", " ") for n, error in errors.items()} == expected
    valid = [row for row in found if row["error"] is None and row["doc"] is not None]
    assert {(row["query"], row["doc"]) for row in valid} == set(sample.clicks)
