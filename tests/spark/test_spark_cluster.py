"""Spark as a real cluster, a master and two workers: the same graph and the same models again."""

import pytest

from coclick import ClickGraph, create, open_model
from spark.agreement import assert_same_model
from spark.conftest import FEW_PARTS, HEAVY, read_log, start_session

SPECS = ["vpcg", "rw", "rmls(dim=16,rounds=0.5,validation=0)"]


@pytest.fixture(scope="module")
def spark(cluster, event_log):
    session = start_session(cluster.address, event_log, **cluster.settings())
    yield session
    session.stop()


@pytest.fixture(scope="module")
def graph(spark, log, tmp_path_factory):
    import coclick.spark

    return coclick.spark.build(spark, *read_log(spark, log), str(tmp_path_factory.mktemp("there") / "graph"))


def test_the_graph_is_the_local_one(graph, local_graph):
    opened = ClickGraph.open(graph.path.removeprefix("file:"))
    assert opened.queries.to_list() == local_graph.queries.to_list()
    assert (opened.clicks.to_scipy() != local_graph.clicks.to_scipy()).nnz == 0


@pytest.mark.parametrize("spec", SPECS)
def test_a_model_is_the_local_one(spark, graph, local_graph, tmp_path, spec):
    import coclick.spark

    coclick.spark.train(spark, spec, graph, str(tmp_path / "model"), parts=FEW_PARTS, heavy=HEAVY)
    assert_same_model(open_model(tmp_path / "model"), create(spec).fit(local_graph))
