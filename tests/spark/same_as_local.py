"""What must come out of Spark as it does of the local engine: the tests that every master has to pass.

Their modules have a fixture `spark`, and SPECS: the models to train, each with a number of parts.
"""

from coclick import ClickGraph, create, open_model
from coclick.answers import describe
from spark.agreement import assert_same_graph, assert_same_model

ON_SPARK_ONLY = {"engine"}
LOCAL_ONLY = {"files"}  # a DataFrame has none
DIFFERENT = {"seconds"}


class SameAsLocal:
    """The graph and the models."""

    def test_the_graph_is_the_local_one(self, graph, local_graph):
        assert_same_graph(ClickGraph.open(graph.path.removeprefix("file:")), local_graph)

    def test_info_says_the_same_of_the_graph(self, graph, local_graph):
        """`coclick info` and the page of the log show what a build counted."""
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

    def test_a_model_is_the_local_one(self, trained, local_graph, spec):
        assert_same_model(open_model(trained(spec)), create(spec).fit(local_graph))
