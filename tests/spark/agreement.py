"""Whether two trained models are the same, up to rounding: rows by their terms, not by their numbers."""

import numpy as np

TOLERANCE = 1e-5
AT_THE_EDGE = 1e-6  # entries so near the K-th may be kept by one engine and not by the other


def entries(rows, row, names):
    columns, values = rows.row(row)
    return {names[int(column)]: float(value) for column, value in zip(columns, values, strict=True)}


def assert_same_rows(first, second, first_names, second_names):
    """Every row has the same entries."""
    assert first.rows == second.rows
    for row in range(first.rows):
        a, b = entries(first, row, first_names), entries(second, row, second_names)
        both = a.keys() & b.keys()
        assert all(abs(a[name] - b[name]) < TOLERANCE for name in both), row
        last = min([*a.values(), *b.values()], default=0.0)
        assert all(abs((a | b)[name] - last) < AT_THE_EDGE for name in a.keys() ^ b.keys()), row


def assert_same_ranking(first, second, queries, k=10):
    """The same documents in the same order, but for those whose scores are the same."""
    ours, theirs = first.search(queries, k), second.search(queries, k)
    for place in range(len(queries)):
        a, b = ours.hits(place), theirs.hits(place)
        assert len(a) == len(b)
        assert np.allclose([score for _, score in a], [score for _, score in b], atol=TOLERANCE)
        tied = {round(score, 5) for _, score in b if sum(abs(score - other) < 2e-5 for _, other in b) > 1}
        last = b[-1][1] if b else 0.0
        for (doc, score), (other, _) in zip(a, b, strict=True):
            assert doc == other or round(score, 5) in tied or abs(score - last) < TOLERANCE, queries[place]
