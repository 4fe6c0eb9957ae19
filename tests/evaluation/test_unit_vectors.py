"""Table 5 of Jiang et al. 2016 on a log where the order of the methods is known by construction."""

import pytest

import planted
from coclick.errors import UserError
from coclick.evaluation.unit_vectors import compare_units
from coclick.graph.click_graph import ClickGraph


def test_rows_and_order_of_table_5():
    rows = {row["method"]: row for row in compare_units(planted.graph(), fraction=0.2, seed=1)}
    assert list(rows) == [
        "mean vector of all queries",
        "bag of words",
        "vectors of one-word queries, equal weights",
        "unit vectors, equal weights",
        "unit vectors, regression weights",
    ]
    assert all(0 <= row["cosine"] <= 1.0001 and 0 <= row["nDCG@10"] <= 1 for row in rows.values())
    mean, words, _, units, learned = rows.values()
    assert words["cosine"] > mean["cosine"]
    assert units["cosine"] > words["cosine"], "unit vectors know the words of the topic that a query lacks"
    assert learned["nDCG@10"] > mean["nDCG@10"]


def test_requires_units_and_enough_queries():
    with pytest.raises(UserError, match="generates no vectors from units"):
        compare_units(planted.graph(), "vpcg(units=none)")
    with pytest.raises(UserError, match="generates no vectors from units"):
        compare_units(planted.graph(), "bm25")
    with pytest.raises(UserError, match="too few"):
        compare_units(ClickGraph.from_clicks([("a", "x", 1)]), fraction=0.5)
