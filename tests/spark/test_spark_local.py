"""Spark on one machine: the same graph as the local engine builds, and the same models."""

import numpy as np
import pytest

from coclick import ClickGraph, create, open_model
from coclick.errors import UserError
from spark.agreement import assert_same_model
from spark.conftest import HEAVY, PARTS, start_session


@pytest.fixture(scope="module")
def spark(event_log):
    session = start_session("local[2]", event_log)
    yield session
    session.stop()


@pytest.fixture(scope="module")
def frames(spark, log):
    docs = spark.read.option("sep", "\t").option("header", True).csv(str(log / "docs.tsv"))
    return spark.read.parquet(str(log / "events.parquet")), docs


@pytest.fixture(scope="module")
def graph(spark, frames, tmp_path_factory):
    import coclick.spark

    return coclick.spark.build(spark, *frames, str(tmp_path_factory.mktemp("spark") / "graph"))


def test_the_graph_is_the_local_one(graph, local_graph):
    opened = ClickGraph.open(graph.path.removeprefix("file:"))
    assert opened.queries.to_list() == local_graph.queries.to_list()
    assert opened.docs.to_list() == local_graph.docs.to_list()
    for name in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(opened.clicks, name), getattr(local_graph.clicks, name))
    assert {name: texts.to_list() for name, texts in opened.texts.items()} == {
        name: texts.to_list() for name, texts in local_graph.texts.items()
    }
    for name in ("indptr", "docs", "impressions", "users", "sessions", "navigational"):
        assert np.array_equal(getattr(opened.pairs, name), getattr(local_graph.pairs, name)), name
    assert opened.daily is None
    assert "daily" in opened.figures["left_out"]


SPECS = {
    "vpcg": "vpcg",
    "propagation": "vpcg(units=none,start=doc,iterations=2,weight=log1p,k=5)",
    "rw": "rw(keep=12)",
}


@pytest.fixture(scope="module")
def trained(spark, graph, tmp_path_factory):
    """The directory of a model, trained when a test first asks for it."""
    import coclick.spark

    place = tmp_path_factory.mktemp("models")

    def train(name):
        if not (place / name).exists():
            coclick.spark.train(spark, SPECS[name], graph, str(place / name), parts=PARTS, heavy=HEAVY)
        return place / name

    return train


@pytest.mark.parametrize("name", list(SPECS))
def test_a_model_is_the_local_one(trained, local_graph, name):
    assert_same_model(open_model(trained(name)), create(SPECS[name]).fit(local_graph))


def test_scores_of_pairs(spark, trained, local_graph, tmp_path):
    import coclick.spark

    walks, vectors = create(SPECS["rw"]).fit(local_graph), create("vpcg").fit(local_graph)
    queries, docs = local_graph.queries.to_list(), local_graph.docs.to_list()
    pairs = [(query, doc) for query in queries[::9] for doc, _ in walks.search(query).hits()]
    pairs += [
        *zip(queries, docs, strict=False),
        (queries[0].upper(), "no such document"),
        ("unheard of", docs[0]),
    ]
    frame = spark.createDataFrame(pairs, "query string, doc string")
    out = str(tmp_path / "scores")
    rows = coclick.spark.score(spark, [str(trained("vpcg")), str(trained("rw"))], frame, out).collect()
    assert sorted((row.query, row.doc) for row in rows) == sorted(pairs)
    assert next(row for row in rows if row.query == "unheard of").vpcg is None
    for row in rows:
        assert row.rw == pytest.approx(walks.score([row.query], [[row.doc]])[0][0], abs=1e-5)
        if row.vpcg is not None:
            assert row.vpcg == pytest.approx(vectors.score([row.query], [[row.doc]])[0][0], abs=1e-5)


def test_a_model_that_does_not_run_on_spark_names_those_that_do(spark, graph, tmp_path):
    import coclick.spark

    with pytest.raises(UserError, match="does not run on Spark") as error:
        coclick.spark.train(spark, "bm25", graph, str(tmp_path / "m"))
    assert "vpcg" in error.value.hint
