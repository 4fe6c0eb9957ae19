"""Every registered model on extreme graphs: finite scores that depend on nothing but the clicks and texts."""

import pytest

from coclick import model_names
from faults.extreme_graphs import graphs, problems, small, unexpected

# The number of documents of a query, and the reverse; `python -m faults.extreme_graphs` tries a million.
GRAPHS, SMALLER = graphs(10_000), graphs(300)
SLOW = ("ltr", "mpls", "rmls", "svdfeature")  # they take seconds to minutes for 10,000
QUICK = ("bm25", "clicks", "vpcg", "neighbours", "pls", "wtm")  # as in tests/contract


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in model_names()]
)
@pytest.mark.parametrize("graph", GRAPHS)
def test_scores_are_finite_and_reproducible(name, graph):
    rows, titles = (SMALLER if name in SLOW else GRAPHS)[graph]
    assert unexpected(name, graph, list(problems(small(name), rows, titles))) == []
