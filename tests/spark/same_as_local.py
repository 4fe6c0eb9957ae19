"""Tests that Spark agrees with the local engine, for every master.

A module that uses them has a fixture `spark` and SPECS: the models to train, each with a number of parts.
"""

from coclick import ClickGraph, create, open_model
from coclick.answers import describe
from spark.agreement import assert_same_graph, assert_same_model

ON_SPARK_ONLY = {"engine"}
LOCAL_ONLY = {"files", "encodings", "docs_rows", "docs_columns"}  # a DataFrame has no files
DIFFERENT = {"seconds", "columns"}


class SameAsLocal:
    """Compare the graph and the models."""

    def test_graph_equals_local_graph(self, graph, local_graph):
        assert_same_graph(ClickGraph.open(graph.path.removeprefix("file:")), local_graph)

    def test_info_of_graph_equals_local_info(self, graph, local_graph):
        """`coclick info` and the studio show these statistics."""
        there, here = (
            describe(path) for path in (graph.path.removeprefix("file:"), local_graph.artefact.path)
        )
        counted = there.pop("build"), here.pop("build")
        assert counted[0].keys() - counted[1].keys() == ON_SPARK_ONLY
        assert counted[1].keys() - counted[0].keys() == LOCAL_ONLY
        for name in counted[0].keys() - ON_SPARK_ONLY - DIFFERENT:
            assert counted[0][name] == counted[1][name], name
        for name in there.keys() - {"path", "bytes", "digest"}:
            assert there[name] == here[name], name

    def test_model_equals_local_model(self, trained, local_graph, spec):
        assert_same_model(open_model(trained(spec)), create(spec).fit(local_graph))
