"""Similar queries (Wu, Li & Xu 2013, §5.4.2): grades, head and tail by hand."""

import numpy as np
import pytest

from coclick.evaluation.similar_queries import compare_similar, grade_similar, read_pairs
from coclick.graph.click_graph import ClickGraph

# Four queries that share one document, and one of their own.
ROWS = [
    ("nine", "d", 9.0),
    ("ten", "d", 10.0),
    ("eleven", "d", 11.0),
    ("other", "d", 1.0),
    ("far", "e", 50.0),
]
GRAPH = ClickGraph.from_clicks(ROWS)


@pytest.fixture
def labels(tmp_path):
    (tmp_path / "pairs").write_text("nine\tten\t1\nnine\televen\t0.5\nten\televen\t0.25\nfar\tunknown\t1\n")
    return read_pairs(tmp_path / "pairs")


def test_grades_and_the_limit_of_the_tail(labels):
    """Each of the four has the three others as similar ones; 10 clicks are head, 9 are tail.

    A query without clicks is not evaluated, and without similar queries the grade is 0.
    """
    values, tail = grade_similar(GRAPH, labels, ["cos_clicks"])
    grades = sorted(zip(values["cos_clicks"].tolist(), tail.tolist(), strict=True))
    expected = [(0.0, False), (0.25 + 0.5, False), (0.25 + 1, False), (0.5 + 1, True)]
    assert [is_tail for _, is_tail in grades] == [is_tail for _, is_tail in expected]
    np.testing.assert_allclose([value for value, _ in grades], [value / 3 for value, _ in expected])


def test_means_of_head_and_tail(labels):
    found = compare_similar(GRAPH, labels, [], "cos_clicks")
    assert found["queries"] == 4
    [row] = found["models"]
    assert row == {
        "name": "cos_clicks",
        "all": pytest.approx((0.75 + 1.25 + 1.5) / 12),
        "head": pytest.approx((0.75 + 1.25) / 9),
        "tail": pytest.approx(0.5),
    }
