"""`rw` against powers of the dense transition matrix, and by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coclick import create
from coclick.graph.click_graph import ClickGraph

clicks = st.dictionaries(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from("uvwxyz")),
    st.integers(1, 30),
    min_size=1,
    max_size=20,
)


@settings(max_examples=40)
@given(rows=clicks, s=st.sampled_from([0.0, 0.3, 0.9]), t=st.integers(1, 7))
def test_powers_of_dense_matrices(rows, s, t):
    """Queries and documents in one matrix: s on the diagonal, (1 − s) times the transitions elsewhere."""
    queries, docs = sorted({query for query, _ in rows}), sorted({doc for _, doc in rows})
    counts = np.array([[rows.get((query, doc), 0) for doc in docs] for query in queries], float)
    step = np.zeros((len(queries) + len(docs),) * 2)
    step[: len(queries), len(queries) :] = counts / counts.sum(1, keepdims=True)
    step[len(queries) :, : len(queries)] = counts.T / counts.T.sum(1, keepdims=True)
    reached = np.linalg.matrix_power(s * np.eye(len(step)) + (1 - s) * step, t)
    graph = ClickGraph.from_clicks([(query, doc, count) for (query, doc), count in rows.items()])
    model = create(f"rw(stay_probability={s},iterations={t})").fit(graph)

    def expected(start, names, first, but=None):
        values = reached[first : first + len(names), start].tolist()
        named = zip(names, values, strict=True)
        return {name: value for name, value in named if value > 1e-12 and name != but}

    for i, query in enumerate(queries):
        found = dict(model.search(query, 100).hits())
        assert found == pytest.approx(expected(i, docs, len(queries)), rel=1e-5)
        similar = dict(model.similar_queries(query, 100).hits())
        assert similar == pytest.approx(expected(i, queries, 0, but=query), rel=1e-5)
    for i, doc in enumerate(docs):
        similar = dict(model.similar_docs(doc, 100).hits())
        assert similar == pytest.approx(expected(len(queries) + i, docs, len(queries), but=doc), rel=1e-5)


ROWS = [("a", "x", 3), ("a", "y", 1), ("b", "y", 1)]


def test_by_hand():
    """One step from a: all clicks on x came from a, and half of those on y."""
    model = create("rw(iterations=1)").fit(ClickGraph.from_clicks(ROWS))
    assert dict(model.search("a").hits()) == pytest.approx({"x": 0.1, "y": 0.05})
    assert model.search("never seen").hits() == []
    assert model.evidence("a") == {"support": 0.8}
    assert model.evidence("never seen") == {"support": 0}


def test_a_step_starts_from_the_largest_entries():
    """With s = 0: from a to x (1) and y (½); only x is kept, and it leads back to a alone."""
    model = create("rw(stay_probability=0.0,iterations=2,max_nodes=1)").fit(ClickGraph.from_clicks(ROWS))
    assert model.similar_queries("a").hits() == []
    wider = create("rw(stay_probability=0.0,iterations=2)").fit(ClickGraph.from_clicks(ROWS))
    assert wider.similar_queries("a").hits() == [("b", pytest.approx(0.5))]
