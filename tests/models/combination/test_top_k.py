"""Search of sums: as if all documents were scored and sorted, with ties, masks and few documents."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from coclick import ClickGraph, train
from coclick.models.base import Model
from coclick.models.combination import top_k
from coclick.models.combination.calibration import Calibration
from coclick.models.combination.mix import Mix
from coclick.results import top_rows
from coclick.text.query import Query


@dataclass
class Table(Model):
    """A model with given scores: one row per query."""

    name = "table"
    table: ClassVar[Any]
    depths: ClassVar[Any]

    def _score(self, query, docs):
        return self.table[query.row][docs]

    def _search(self, queries, k, mask):
        self.depths.append(k)
        return super()._search(queries, k, mask)

    def __str__(self):
        return "bm25"


DOCS = 24
GRAPH = ClickGraph.from_clicks(
    [("a", f"d{d:02}", 1) for d in range(0, DOCS, 2)] + [("b", "d01", 2)],
    {f"d{d:02}": f"title {d}" for d in range(DOCS)},
)


def combination(tables, calibration, weights=(1, 1, 1), graph=GRAPH) -> Any:
    parts = []
    for table in tables:
        part: Any = Table()
        part.graph_, part.table, part.depths = graph, np.array(table, np.float32), []
        parts.append(part)
    model: Any = Mix(" + ".join(f"{weight}*bm25" for weight in weights[: len(parts)]))
    model.graph_, model.stats_, model.parts_, model.calibration_ = graph, {}, parts, calibration
    return model


def naive(scores, k, mask):
    """Rows and scores above zero, by score and then by row."""
    order = sorted(range(len(scores)), key=lambda row: (-scores[row], row))
    return [(row, scores[row]) for row in order if scores[row] > 0 and (mask is None or mask[row])][:k]


small = st.integers(0, 4).map(float)
tables = st.lists(arrays(np.float32, (2, DOCS), elements=small), min_size=1, max_size=3)
cells = st.lists(st.lists(st.lists(st.sampled_from([0.25, 0.5, 1.0, 2.0]), min_size=3, max_size=3),
                          min_size=2, max_size=2), min_size=2, max_size=2)  # fmt: skip
bases = st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=2, max_size=2), min_size=2, max_size=2)
masks = st.none() | arrays(np.uint8, DOCS, elements=st.integers(0, 1))


@pytest.fixture(autouse=True)
def shallow(monkeypatch):
    """Begin with few documents, so that the bound decides."""
    monkeypatch.setattr(top_k, "FIRST_DEPTH", 2)
    monkeypatch.setattr(top_k, "GROWTH", 2)
    monkeypatch.setattr(top_k, "BLOCK", 1)


@settings(max_examples=150, deadline=None)
@given(tables, cells, bases, masks, st.integers(1, 6))
def test_calibrated_sums_are_searched_as_if_all_documents_were_scored(tables, weights, base, mask, k):
    n = len(tables)
    weights = [[cell[:n] for cell in by_doc] for by_doc in weights]
    learned = Calibration([[1.0, 2.0]] * n, [[0.5, 3.0]] * n, weights, base)  # 0, 0.5, 3, 5.5, 8
    model = combination(tables, learned)
    found = model._search([Query("a", 0), Query("unknown", -1)], k, mask)
    heights = [0, 0.5, 3, 5.5, 8]
    for i, (row, seen) in enumerate(((0, 1), (-1, 0))):
        sums = []
        for d in range(DOCS):
            clicked = int(d % 2 == 0 or d == 1)
            total = sum(weights[seen][clicked][p] * heights[int(tables[p][row, d])] for p in range(n))
            sums.append(total + base[seen][clicked] if total else 0.0)
        rows = [(int(r), float(s)) for r, s in zip(found[0][i], found[1][i], strict=True) if r >= 0]
        assert rows == naive(sums, k, mask)


@settings(max_examples=100, deadline=None)
@given(tables, masks, st.integers(1, 6))
def test_written_weights_are_searched_as_if_all_documents_were_scored(tables, mask, k):
    tables = [np.where(table == table.max(axis=1, keepdims=True), 4, table) for table in tables]
    model = combination(tables, None, weights=(0.5, 0.25, 2))
    rows, scores = model._search([Query("a", 0)], k, mask)
    sums = [sum(weight * table[0, d] / 4 for weight, table in zip((0.5, 0.25, 2), tables, strict=False))
            for d in range(DOCS)]  # fmt: skip
    found = [(int(r), float(s)) for r, s in zip(rows[0], scores[0], strict=True) if r >= 0]
    assert found == naive(sums, k, mask)


def test_search_stops_as_soon_as_the_bound_says_so():
    """The two best of each part are far above the others: nothing beyond four documents is looked at."""
    table = np.ones((1, DOCS))
    table[0, :3] = 9, 8, 7
    learned = Calibration([[1.0]], [[1.0]], [[[1.0], [1.0]]] * 2, [[0.0, 0.0]] * 2)
    model = combination([table], learned)
    assert model._search([Query("a", 0)], 1, None)[0].tolist() == [[0]]
    assert model.parts_[0].depths == [2]
    # The second score ties with the bound of the others: one more round, and the smaller row wins.
    table[0, :3] = 9, 1, 1
    tied = combination([table], learned)
    assert tied._search([Query("a", 0)], 2, None)[0].tolist() == [[0, 1]]
    assert tied.parts_[0].depths == [4, 8, 16, 24]


def test_a_base_of_documents_not_found_yet_counts():
    """Document 3 has no clicks and a base of 5: worth more than the best score of the part."""
    table = np.zeros((1, DOCS))
    table[0, [0, 2, 4, 6, 3]] = 4, 4, 4, 4, 3
    learned = Calibration([[1.0]], [[1.0]], [[[1.0], [1.0]]] * 2, [[5.0, 0.0]] * 2)
    assert combination([table], learned)._search([Query("a", 0)], 1, None)[0].tolist() == [[3]]


def test_many_queries_at_once_are_searched_like_single_ones():
    graph = ClickGraph.from_clicks(
        [(f"hotel {n}", f"h{n % 7}", 1 + n) for n in range(90)], {f"h{n}": f"hotel {n}" for n in range(9)}
    )
    model: Any = train("backoff(neighbours + clicks + bm25)", graph)
    texts = [f"hotel {n}" for n in range(100)]
    assert model.search(texts, 3).hits() == [model.search(text, 3).hits() for text in texts]
    for text in texts[:5]:
        [scores] = model.score([text], [list(graph.docs)])
        assert model.search(text, 3).rows[0].tolist() == top_rows(scores, 3)[0].tolist()
