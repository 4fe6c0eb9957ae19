"""Spark as a real cluster, a master and two workers: the same graph and the same models again."""

import pytest

from coclick import ClickGraph, create, open_model
from spark.agreement import assert_same_graph, assert_same_model
from spark.conftest import assert_little_reached_the_driver, start_session

SPECS = ["vpcg", "rw", "rmls(dim=16,rounds=0.5,validation=0)"]


@pytest.fixture(scope="module")
def spark(cluster, event_log):
    session = start_session(cluster.address, event_log, **cluster.settings())
    yield session
    session.stop()


def test_the_graph_is_the_local_one(graph, local_graph):
    assert_same_graph(ClickGraph.open(graph.path.removeprefix("file:")), local_graph)


@pytest.mark.parametrize("spec", SPECS)
def test_a_model_is_the_local_one(trained, local_graph, spec):
    assert_same_model(open_model(trained(spec)), create(spec).fit(local_graph))


def test_no_edge_and_no_vector_reaches_the_driver(spark, trained, event_log):
    for spec in SPECS:
        trained(spec)
    assert_little_reached_the_driver(spark, event_log)
