"""Spark on one machine: the same graph as the local engine builds, and the same models."""

import numpy as np
import pytest

from coclick import ClickGraph, create, open_model
from coclick.errors import UserError
from spark.agreement import assert_same_ranking, assert_same_rows
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


@pytest.mark.parametrize(
    "spec", ["vpcg(units=none)", "vpcg(units=none,start=doc,iterations=2,weight=log1p,k=5)"]
)
def test_propagation(spark, graph, local_graph, tmp_path, spec):
    import coclick.spark

    coclick.spark.train(spark, spec, graph, str(tmp_path / "m"), parts=PARTS, heavy=HEAVY)
    there, here = open_model(tmp_path / "m"), create(spec).fit(local_graph)
    names = there.terms_.to_list(), here.terms_.to_list()
    assert dict(zip(names[0], there.surfaces_, strict=True)) == dict(
        zip(names[1], here.surfaces_, strict=True)
    )
    assert_same_rows(there.query_index_.vectors, here.query_index_.vectors, *names)
    assert_same_rows(there.doc_index_.vectors, here.doc_index_.vectors, *names)
    assert_same_ranking(there, here, here.graph_.queries.to_list()[:50])


def test_a_model_that_does_not_run_on_spark_names_those_that_do(spark, graph, tmp_path):
    import coclick.spark

    with pytest.raises(UserError, match="does not run on Spark") as error:
        coclick.spark.train(spark, "bm25", graph, str(tmp_path / "m"))
    assert "vpcg" in error.value.hint
