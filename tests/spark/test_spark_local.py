"""Spark on one machine: the same graph and models as the local engine."""

import base64
import secrets
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rare_words
from benchmarks._spark_metrics import wait_for_log
from coclick import ClickGraph, create, logs, open_model
from coclick.errors import CoclickError, UserError
from spark.agreement import assert_same_graph, assert_same_model, assert_same_rejects
from spark.conftest import FEW_PARTS, PARTS, assert_driver_results_small, read_log, start_session
from spark.reads_like_local import ReadsLikeLocal
from spark.same_as_local import DIFFERENT, LOCAL_ONLY, SameAsLocal


@pytest.fixture(scope="module")
def spark(event_log):
    session = start_session("local[2]", event_log)
    yield session
    session.stop()


RW = "rw(max_nodes=12,iterations=3)"
VPCG = "vpcg(units=words,own_weight=0)"
SPECS = {
    VPCG: FEW_PARTS,
    "vpcg(units=none,own_weight=0,start=doc,iterations=2,weight=log1p,max_terms=5)": PARTS,
    RW: PARTS,
    "rmls(dim=16,views=words+raw_clicks,weight=mean,frequency_discount=0.5,query_length=0.5,doc_length=2,"
    "initial_map=dense,iterations=1,held_out=0)": FEW_PARTS,
}


class TestOneMachine(SameAsLocal):
    pass


class TestLogs(ReadsLikeLocal):
    pass


def test_adding_a_user_view_converts_tables_to_arrays(graph, local_graph, tmp_path):
    files = tmp_path / "queries.tsv", tmp_path / "docs.tsv"
    for path, side, names in zip(
        files, ("query", "doc"), (local_graph.queries, local_graph.docs), strict=True
    ):
        path.write_text(f"{side}\tfeature\n{names[0]}\tfirst\n")
    source = graph.path.removeprefix("file:")
    with_view = logs.add_view(source, "tags", [files[0]], [files[1]], tmp_path / "graph")
    assert with_view.views["tags"].queries.row(0)[1].tolist() == [1.0]
    assert_same_graph(with_view, local_graph)


def test_driver_receives_no_edges_or_vectors(spark, trained, event_log):
    for spec in SPECS:
        trained(spec)
    assert_driver_results_small(spark, event_log)


def test_scores_of_pairs(spark, trained, local_graph, tmp_path):
    import coclick.spark

    walks, vectors = create(RW).fit(local_graph), create(VPCG).fit(local_graph)
    queries, docs = local_graph.queries.to_list(), local_graph.docs.to_list()
    pairs = [(query, doc) for query in queries[::50] for doc, _ in walks.search(query).hits()]
    pairs += [
        *zip(queries[::9], docs, strict=False),
        (queries[0].upper(), "no such document"),
        ("unheard of", docs[0]),
    ]
    frame = spark.createDataFrame(pairs, "query string, doc string")
    out = str(tmp_path / "scores")
    rows = coclick.spark.score(spark, [str(trained(VPCG)), str(trained(RW))], frame, out).collect()
    assert sorted((row.query, row.doc) for row in rows) == sorted(pairs)
    assert next(row for row in rows if row.query == "unheard of").vpcg is None
    for row in rows:
        assert row.rw == pytest.approx(walks.score([row.query], [[row.doc]])[0][0], abs=1e-5)
        if row.vpcg is not None:
            assert row.vpcg == pytest.approx(vectors.score([row.query], [[row.doc]])[0][0], abs=1e-5)


def test_failed_scoring_can_be_repeated(spark, tmp_path):
    from coclick.spark.storage import scratch_table

    out = str(tmp_path / "scores")
    with (
        pytest.raises(CoclickError, match="no more disk"),
        scratch_table(spark, out, "table") as (path, work),
    ):
        work.checkpoint("pairs", spark.range(2)).write.parquet(path)
        raise CoclickError("no more disk")
    with scratch_table(spark, out, "table") as (path, work):
        work.checkpoint("pairs", spark.range(3)).write.parquet(path)
    assert spark.read.parquet(path).count() == 3
    assert [place.name for place in tmp_path.glob("scores/*")] == ["table"]
    with pytest.raises(UserError, match="the output exists"), scratch_table(spark, out, "table"):
        pass


def test_unsupported_model_error_lists_supported_models(spark, graph, tmp_path):
    import coclick.spark

    with pytest.raises(UserError, match="does not run on Spark") as error:
        coclick.spark.train(spark, "bm25", graph, str(tmp_path / "m"))
    assert "vpcg" in error.value.hint


def test_errors_are_raised_before_anything_is_written(spark, graph, local_graph, log, tmp_path):
    import coclick.spark

    events, docs = read_log(spark, log)
    place = graph.path.removeprefix("file:")

    def build(**options):
        return lambda: coclick.spark.build(spark, events, docs, str(tmp_path / "g"), **options)

    for what, wrong in {
        "the format 'ubi' reads it from": build(like="ubi"),
        "min-clicks must be": build(min_clicks=float("nan")),
        "--actions needs a log of events": lambda: coclick.spark.build(
            spark, events.drop("action"), None, str(tmp_path / "g"), actions={"click": 1}
        ),
        "no column for 'query'": lambda: coclick.spark.build(spark, docs, None, str(tmp_path / "g")),
        "the output exists": lambda: coclick.spark.build(spark, events, docs, place),
        "does not replace it": lambda: coclick.spark.train(spark, "rw", graph, place, force=True),
        "built on one machine": lambda: coclick.spark.train(
            spark, "rw", str(local_graph.artefact.path), str(tmp_path / "m")
        ),
        "no graph or model here": lambda: coclick.spark.train(spark, "rw", str(log), str(tmp_path / "m")),
        "holds other files": lambda: coclick.spark.train(spark, "rw", graph, str(log)),
        "on one machine only": lambda: coclick.spark.train(spark, "rmls", graph, str(tmp_path / "m")),
        "least_squares is supported": lambda: coclick.spark.train(
            spark, "vpcg(units=words,own_weight=0,unit_weights=least_squares)", graph, str(tmp_path / "m")
        ),
        "own_weight are supported on": lambda: coclick.spark.train(spark, "vpcg", graph, str(tmp_path / "m")),
        "no column 'query'": lambda: coclick.spark.score(spark, place, docs, str(tmp_path / "s")),
    }.items():
        with pytest.raises(UserError, match=what):
            wrong()
    assert not any((tmp_path / name / "manifest.json").exists() for name in ("g", "m", "s"))


def test_dates_and_span_as_in_the_local_engine(spark, tmp_path):
    import coclick.spark

    rows = [
        ("03/05/2026 10:00", "u1", "Shoe", "d1"),
        ("14/05/2026 1:30 PM", "u1", "shoe", "d2"),
        ("2026-05-04", "u2", "hat", "d1"),
        ("yesterday", "u2", "hat", "d1"),
        ("31/05/2026", "u1", "hat", "d3"),
        ("01/04/2026", "u1", "boot", "d1"),
        ("01/04/2026", "u1", "™", "d1"),
        ("31/02/2026", "u1", "a", "d1"),
        ("15/05/2026 02:00", "u3", "shoe", "d2"),
    ]
    names = ["time", "user", "query", "doc"]
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table(dict(zip(names, zip(*rows, strict=True), strict=True))), path)
    options: dict[str, Any] = {"since": "2026-05-01", "until": "2026-05-31", "timezone": "Europe/Berlin"}
    options["half_life"] = "36h"
    there = coclick.spark.build(
        spark, spark.createDataFrame(rows, names), None, str(tmp_path / "spark"), **options
    )
    here = logs.build([path], None, tmp_path / "local", **options)
    opened = ClickGraph.open(there.path.removeprefix("file:"))
    assert opened.queries.to_list() == here.queries.to_list() == ["hat", "shoe"]
    assert np.array_equal(opened.daily.day, here.daily.day)
    assert np.array_equal(opened.clicks.data, here.clicks.data)
    found = [sorted(row[2:4] for row in logs.rejects(graph)) for graph in (opened, here)]
    assert found[0] == found[1] and len(found[0]) == 2
    compared = (
        "rows right rejected outside_span time_format timezone since until first last future gaps half_life"
    )
    for name in compared.split():
        assert there.stats[name] == here.stats[name], name
    assert here.stats["outside_span"] == 3 and here.stats["time_format"] == "day-first"
    assert here.stats["first"] == "2026-05-03T08:00:00+00:00"


def test_small_graph_of_aggregated_clicks(spark, tmp_path):
    import coclick.spark

    rows = [
        ("Red  Shoes", "d1", 2.5, 10),
        ("red shoes", "d1", 0.5, 3),
        ("red shoes", "d2", 1.0, 4),
        ("blue", "d2", 0.0, 7),
        ("", "d3", 1.0, 1),
        ("green", None, 1.0, 1),
        ("green", "d9", -1.0, 1),
        ("\u2122", "d1", 4.0, 4),
    ]
    frame = spark.createDataFrame(rows, "query string, doc string, clicks double, impressions int")
    frame.coalesce(1).write.parquet(str(tmp_path / "log"))
    texts = [
        ("d1", "Made of leather", "Red shoes"),
        ("d2", "Made of wood", "Shoes in red and blue"),
        ("d4", "Made of leather", "Blue shoes"),
        ("d1", "Made of leather", "Very red shoes"),
        (None, "", "Nobody's shoes"),
        ("d5", "Made of felt", None),
    ]
    docs = spark.createDataFrame(texts, "id string, summary string, body string").coalesce(1)
    docs.write.parquet(str(tmp_path / "docs"))
    there = coclick.spark.build(spark, frame, docs, str(tmp_path / "there"), min_clicks=2)
    log = [tmp_path / "log" / "*.parquet"]
    here = logs.build(log, next((tmp_path / "docs").glob("*.parquet")), tmp_path / "here", min_clicks=2)
    opened = ClickGraph.open(tmp_path / "there")
    assert opened.queries.to_list() == here.queries.to_list()
    assert opened.docs.to_list() == here.docs.to_list()
    assert (opened.clicks.to_scipy() != here.clicks.to_scipy()).nnz == 0
    assert np.array_equal(opened.pairs.impressions, here.pairs.impressions)
    assert_same_rejects(opened, here)
    counted = {name: there.stats[name] for name in here.stats if name not in LOCAL_ONLY | DIFFERENT}
    assert counted == {name: here.stats[name] for name in counted}
    assert counted["docs_rejected"] == {"doc is a duplicate": 1, "doc is missing": 1}
    spec = (
        "vpcg(units=words,own_weight=0,start=doc,min_texts=1,unit_weights=idf)"  # with fewer nodes than parts
    )
    coclick.spark.train(spark, spec, there, str(tmp_path / "model"), n_parts=5)
    trained = open_model(tmp_path / "model")
    assert_same_model(trained, create(spec).fit(here))
    assert list(trained.graph_.texts) == ["body"]  # without titles the alphabetically first field


def test_counts_beyond_32_bits_are_rejected(spark, tmp_path):
    import coclick.spark

    rows = [("red shoes", "d1", 2, 2_000_000_000), ("Red shoes", "d1", 1, 1_000_000_000)]
    frame = spark.createDataFrame(rows, "query string, doc string, clicks int, impressions long")
    frame.coalesce(1).write.parquet(str(tmp_path / "log"))
    for build in (
        lambda: coclick.spark.build(spark, frame, None, str(tmp_path / "there")),
        lambda: logs.build([tmp_path / "log" / "*.parquet"], None, tmp_path / "here"),
    ):
        with pytest.raises(CoclickError, match=r"pairs \(impressions\) are too large for 32 bits"):
            build()
    assert not list((tmp_path / "there").iterdir())


def test_unit_without_texts_has_zero_direction():
    """With rho=0 its row of the normal equations is empty; 0/0 would spread to all units."""
    from coclick.spark.regression import _Iteration

    prior, right_side, product = np.array([2.0, 0.5]), np.array([3.0, 0.0]), np.array([4.0, 0.0])
    counts, squares = np.array([2.0, 0.0]), np.array([1.0, 1.0])
    first = _Iteration("first", rho=0.0, factor=0.5)
    weights, residual, _, direction = first.advance([prior, right_side, product, counts, squares])
    assert weights.tolist() == [1.0, 0.25]
    assert residual.tolist() == [1.0, 0.0]
    assert direction.tolist() == [0.5, 0.0]


def test_head_query_does_not_slow_its_task(spark, tmp_path):
    """With Zipf exponent 1.3, no part has much more than its share of the edges."""
    from coclick.spark.partitioned_matrix import LocalMatrix, partition
    from coclick.spark.partitioning import NodeSet
    from coclick.spark.serialization import csr_from_arrays, unpack
    from coclick.spark.storage import WorkDir

    degrees = np.maximum(4000 / np.arange(1, 1001) ** 1.3, 1).astype(int)
    random = np.random.default_rng(0)
    edges = [(q, int(d), 1.0) for q, n in enumerate(degrees) for d in random.permutation(5000)[:n]]
    frame = spark.createDataFrame(edges, "target long, source long, weight float")
    queries, docs = NodeSet(len(degrees), PARTS), NodeSet(5000, PARTS)

    def largest_share(max_degree):
        work = WorkDir(spark, str(tmp_path / str(max_degree)))
        found = partition(frame, queries, docs, work, "edges", max_degree)
        held = np.zeros(PARTS)
        for row in found.local.collect():
            held[row.part] += LocalMatrix.unpack(bytes(row.payload), queries.n_rows(row.part), PARTS).rows.nnz
        for row in found.plans.filter("kind = 'heavy'").collect():
            held[row.part] += csr_from_arrays(unpack(bytes(row.payload))[1:]).nnz
        assert held.sum() == len(edges)
        return held.max() * PARTS / len(edges)

    assert largest_share(max_degree=len(edges)) > 2
    assert largest_share(max_degree=100) < 1.2


def test_privacy_options_give_the_local_graph_without_rare_words(spark, event_log, tmp_path):
    import coclick.spark

    key = secrets.token_hex(32)
    (tmp_path / "key").write_text(key)
    options = {"min_users": rare_words.K, "scrub": "pii", "hash_users": True, "key_file": tmp_path / "key"}
    options |= {"bots": "drop"}
    schema = pa.schema([(name, pa.string()) for name in rare_words.COLUMNS[:-1]] + [("position", pa.int32())])
    pq.write_table(pa.Table.from_pylist(rare_words.events(), schema), tmp_path / "log.parquet")
    texts = pa.table({"doc": list(rare_words.docs()), "title": list(rare_words.docs().values())})
    pq.write_table(texts, tmp_path / "docs.parquet")
    log, docs = (spark.read.parquet(str(tmp_path / name)) for name in ("log.parquet", "docs.parquet"))
    there = coclick.spark.build(spark, log, docs, str(tmp_path / "there"), **options)
    here = logs.build([tmp_path / "log.parquet"], tmp_path / "docs.parquet", tmp_path / "here", **options)
    opened = ClickGraph.open(tmp_path / "there")
    assert_same_graph(opened, here)
    for name in ("scrubbed", "hashed_users", "rejected", "queries_below_thresholds", "merged_spellings"):
        assert there.stats[name] == here.stats[name], name
    assert there.stats["bots"] == here.stats["bots"]
    assert there.stats["bots"]["n_users"] == 1
    assert there.stats["scrubbed"].keys() == {"email", "card"}
    coclick.spark.train(spark, VPCG, there, str(tmp_path / "model"), n_parts=FEW_PARTS)
    assert {place: rare_words.find_in_files(tmp_path / place) for place in ("there", "here", "model")} == {
        "there": {}, "here": {}, "model": {},
    }  # fmt: skip
    wait_for_log(spark)
    secret = [key, base64.b64encode(bytes.fromhex(key)).decode()[:40]]
    assert not rare_words.find_in_files(event_log, secret)
    assert not [value for _, value in spark.sparkContext.getConf().getAll() if key in value]


def test_users_of_an_aggregated_log(spark, tmp_path):
    """As in tests/logs/test_log_privacy.py: the largest row of a pair or spelling decides."""
    import coclick.spark

    rows = [("hat", "A", 9.0, 5), ("hat", "A", 9.0, 2), ("Hat", "A", 3.0, 3), ("HAT", "A", 7.0, 6)]
    rows += [("hat", "B", 6.0, 3), ("hat", "B", 6.0, 3), ("cap", "B", 4.0, 4)]
    log = spark.createDataFrame(rows, "query string, doc string, clicks double, users int")
    coclick.spark.build(spark, log, None, str(tmp_path / "graph"), min_users=5)
    graph = ClickGraph.open(tmp_path / "graph")
    assert (graph.queries.to_list(), graph.docs.to_list()) == (["hat"], ["A"])
    assert (graph.clicks.data.tolist(), graph.pairs.users.tolist()) == ([28], [16])
    assert logs.variants(graph) == [("hat", "HAT", 1)]
    assert graph.stats["pairs_below_thresholds"] == 2
    assert graph.stats["queries_below_thresholds"] == 1


def test_command_line(tmp_path):  # must be last: it stops the session
    from typer.testing import CliRunner

    from coclick.cli import app

    clicks, docs = tmp_path / "clicks.parquet", tmp_path / "docs.tsv"
    rows = [("red shoes", "d1", 3), ("red shoes", "d2", 1), ("blue", "d2", 2), ("blue", None, 1)]
    table = dict(zip(("query", "doc", "clicks"), map(list, zip(*rows, strict=True)), strict=True))
    pq.write_table(pa.table(table), clicks)
    # No header; quotes are literal; one row is too short and two are too long.
    docs.write_text('d1\t"Red" shoes\nd2\t5" heels, blue\nd3\nd4\tblue\tred\nd5\tred\t\n')
    graph, model = str(tmp_path / "graph"), str(tmp_path / "model")
    engine = ["--engine", "spark", "--master", "local[2]"]
    said = []
    for arguments in (
        ["build", str(clicks), "--docs", str(docs), *engine, "-o", graph],
        ["train", "rw", graph, *engine, "-o", model],
    ):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output
        said.append(result.output)
    assert "lost     1 row: doc is missing" in said[0] and "2 rows of DOCS" in said[0]
    built, here = ClickGraph.open(graph), logs.build([clicks], docs, tmp_path / "here")
    assert built.docs.to_list() == here.docs.to_list() == ["d1", "d2", "d3"]
    assert built.texts["title"].to_list() == here.texts["title"].to_list()
    assert built.stats["docs_rejected"] == here.stats["docs_rejected"] == {"wrong number of columns": 2}
    assert sorted(row[2:] for row in logs.rejects(built)) == sorted(row[2:] for row in logs.rejects(here))
    assert open_model(model).search("red shoes").hits()
