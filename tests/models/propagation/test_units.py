"""Units of texts: own words, coverage, labels, statistics and weights, by hand."""

import math
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from coclick import ClickGraph, create
from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings, Vocab
from coclick.models.propagation import units as units_module
from coclick.models.propagation.iterations import Propagation, mean_cosine, random_pair_cosine
from coclick.models.propagation.regression import (
    UnitRegression,
    _longest_kept,
    _pairs,
    _squares,
    preconditioner,
)
from coclick.models.propagation.units import TextSplitter, UnitEncoder, _least_squares, _without_zeros
from coclick.progress import quiet
from coclick.text.analyzer import Analyzer

ROWS = [
    ("walmart money card", "w", 5),
    ("walmart money", "w", 2),
    ("pizza dough", "p", 9),
    ("pizza", "p", 4),
    ("money", "b", 3),
]
DOCS = {"w": "walmart money card", "p": "pizza", "b": "bank", "n": "pizza money", "o": "pizza"}


@pytest.fixture(scope="module")
def graph():
    return ClickGraph.from_clicks(ROWS, DOCS)


def fit(graph, **parameters) -> Any:
    return create("vpcg", **{"units": "words", "own_weight": 0.0, "stem": False} | parameters).fit(graph)


def without_clicks(graph, query):
    """The graph in which a query is known, but has no clicks any more."""
    row = graph.queries.id(query)
    data = np.array(graph.clicks.data)
    data[graph.clicks.indptr[row] : graph.clicks.indptr[row + 1]] = 0
    return replace(graph, clicks=graph.clicks.with_data(data).positive())


def test_own_words_are_weighted_by_idf():
    splitter = TextSplitter(
        Analyzer(stem=False), Vocab.from_list(["a", "b", "c"]), np.array([1.0, 2.0, 4.0]), 3.0
    )
    tokens = splitter.analyzer.lookup_terms(["c a a", "zzz", "b"], splitter.terms)
    vectors = splitter.word_vectors(tokens)
    length = math.hypot(2, 4)  # two of a with idf 1, one of c with idf 4
    assert vectors.row(0)[1].tolist() == pytest.approx([3 * 2 / length, 3 * 4 / length])
    assert vectors.row_nnz().tolist() == [2, 0, 1]
    assert vectors.row(2)[1].tolist() == [3.0]


def test_a_word_that_only_the_text_itself_has_comes_from_no_clicks(graph):
    """One text has "dough": it is no unit."""
    model = fit(graph, own_weight=2.0)
    why = model.explain("dough zzz", "p")
    [word] = why.words
    assert (word.word, word.query_clicks, word.query_edges) == ("dough", [], 0)
    [unit] = why.parts[0].parts
    assert (unit.label, unit.clicks, unit.edges) == ("“dough” itself", [], 0)
    assert unit.value == pytest.approx(why.score)


def test_coverage_is_the_share_of_words_in_units(graph):
    """A word must be in two texts to be a unit: walmart, money and pizza are."""
    words = fit(graph)
    assert words.evidence("walmart dough pizza") == {"coverage": pytest.approx(2 / 3)}
    assert words.evidence("walmart zzz") == {"coverage": 0.5}
    assert words.evidence("") == {"coverage": 0.0}
    assert words.evidence("pizza") == {"support": pytest.approx(4 / 5)}
    assert fit(graph, units="none").evidence("walmart dough") == {"coverage": 0.0}
    chars = fit(graph, units="chars")
    assert chars.evidence("walmarts") == {"coverage": 1.0}
    assert chars.evidence("qqqq") == {"coverage": 0.0}


def test_without_units_only_clicks_give_vectors(graph):
    model = fit(graph, units="none")
    assert model.units_ is None and model.stats_["units"] == {}
    assert model.search("walmart pizza").hits() == []
    assert model.doc_index_.vectors.row_nnz()[graph.docs.id("o")] == 0
    why = model.explain("walmart pizza", "o")
    assert (why.score, why.parts) == (0.0, [])
    assert model._embed_queries(model._queries(["walmart pizza"])).columns == len(model.terms_)


def test_documents_without_texts_have_no_generated_vectors():
    rows = [("walmart money", "w", 2), ("money", "b", 3)]
    bare = ClickGraph.from_clicks(rows)
    larger = replace(
        bare, docs=bare.docs.extend(["x"]), clicks=replace(bare.clicks, columns=bare.clicks.columns + 1)
    )
    model = fit(larger, min_texts=1)
    assert model.doc_index_.vectors.row_nnz().tolist()[-1] == 0
    assert fit(bare, min_texts=1).search("money walmart").hits()


def test_a_known_query_without_clicks_is_generated_and_explained_by_units(graph):
    sparse = without_clicks(graph, "walmart money")
    model = fit(sparse, min_texts=1)
    why = model.explain("walmart money", "w", clicks=None)
    assert why.score > 0 and model.evidence("walmart money") == {"coverage": 1.0}
    for word, part in zip(why.words, why.parts, strict=True):
        assert {click.query for click in word.query_clicks} <= {"walmart money card", "money"}
        assert {unit.kind for unit in part.parts} == {"query unit"}
    seen = model.explain("money", "w", clicks=None)
    assert all(part.parts == [] for part in seen.parts)
    assert {click.query for word in seen.words for click in word.query_clicks} == {"money"}


def test_a_document_without_clicks_is_explained_by_the_units_of_its_title(graph):
    model = fit(graph)
    why = model.explain("pizza", "n", clicks=None)
    assert why.score > 0
    for part in why.parts:
        assert {(unit.kind, unit.label) for unit in part.parts} <= {
            ("document unit", "pizza"),
            ("document unit", "money"),
        }
        assert sum(unit.value for unit in part.parts) == pytest.approx(part.value, rel=1e-5)
    both = model.explain("walmart pizza", "n", clicks=None)
    [pizza] = [part for part in both.parts if part.label == "pizza"]
    assert [unit.label for unit in pizza.parts] == ["pizza"]
    assert [unit.label for unit in pizza.parts[0].parts] == ["pizza"]
    assert sum(unit.value for unit in pizza.parts[0].parts) == pytest.approx(pizza.parts[0].value, rel=1e-5)


def test_character_units_beside_words_come_from_the_texts_that_contain_them(graph):
    model = fit(graph, units="words+chars")
    assert set(model.stats_["units"]) == {"words", "chars"}
    why = model.explain("walmartx pizza", "w", clicks=None)
    labels = set()
    for part in why.parts:
        for unit in part.parts:
            labels.add(unit.label)
            letters = unit.label.strip("~").replace("·", " ").replace("_", " ").strip()
            assert unit.clicks, unit.label
            assert all(letters in click.query for click in unit.clicks), unit.label
    assert any(label.startswith("~") for label in labels)
    table = model.units_
    assert len(table.text_indptr) == len(table.weights) + 1 == table.vectors.rows + 1
    assert table.text_indptr[-1] == len(table.text_rows)
    for unit in range(len(table.weights)):
        rows = table.text_rows[table.text_indptr[unit] : table.text_indptr[unit + 1]]
        assert len(rows) >= 2, "in at least two texts"
    # Only unknown words are split into characters.
    known = model.units_.mixture(["walmart pizza"], model._splitter)
    assert (known.indices < len(table.words)).all()


def test_statistics_of_units(graph):
    model = fit(graph, unit_weights="idf")
    texts = {"walmart": 2, "money": 3, "pizza": 2, "walmart money": 2}  # of the five queries
    weights = [math.log(1 + 5 / count) for count in texts.values()]
    assert model.stats_["units"]["words"] == {
        "units": 4,
        "incidences": 9,
        "mean_weight": round(sum(weights) / 4, 4),
    }
    labels = model.units_.words.labels(np.arange(4), model.display_terms_)
    assert dict(zip(labels, model.units_.weights.tolist(), strict=True)) == pytest.approx(
        dict(zip(texts, weights, strict=True)), rel=1e-6
    )
    assert fit(graph, unit_weights="equal").stats_["units"]["words"]["mean_weight"] == 1.0
    learned = fit(graph).stats_["units"]["words"]
    assert learned["regression_rounds"] >= 1
    assert learned["mean_weight"] == round(float(fit(graph).units_.weights.mean()), 4)
    rare = fit(graph, min_texts=100).stats_["units"]["words"]
    assert (rare["units"], rare["incidences"], rare["mean_weight"]) == (0, 0, 0.0)


def test_statistics_of_iterations(graph):
    """Queries "money" and "pizza" meet others; "dough" is only in one vector."""
    model = fit(graph, iterations=2)
    result = model.stats_["rounds"]
    assert [row["round"] for row in result] == [1, 2]
    vectors = model.query_index_.vectors
    assert result[1]["entries_per_text"] == round(vectors.nnz / len(graph.queries), 2)
    before = fit(graph, iterations=1).query_index_.vectors.to_scipy().toarray()
    cosines = (before * vectors.to_scipy().toarray()).sum(axis=1)
    assert result[1]["cosine_to_round_before"] == pytest.approx(cosines.mean(), abs=5.1e-5)
    assert result[1]["cosine_to_round_before"] == round(result[1]["cosine_to_round_before"], 4)
    assert result[1]["cosine_of_random_pairs"] == round(random_pair_cosine(vectors), 4)


def test_entries_per_text_counts_texts_with_vectors():
    clicks = Csr.from_scipy(scipy.sparse.csr_array([[1.0, 0], [0, 1], [0, 0]]))
    start = Csr.from_scipy(scipy.sparse.csr_array([[0.6, 0.8, 0], [0, 0, 1.0], [0, 1.0, 0]]))
    _, [stats] = Propagation(clicks, 3).run(start, 1, quiet)
    assert stats["entries_per_text"] == 1.5
    assert stats["cosine_to_round_before"] == 1.0 and stats["cosine_of_random_pairs"] == 0.0


def test_iterations_run_until_the_cosine_is_above_the_limit(monkeypatch):
    random = np.random.default_rng(5)
    clicks = Csr.from_scipy(scipy.sparse.random_array((30, 20), density=0.15, rng=random))
    start = Csr.from_scipy(scipy.sparse.random_array((30, 40), density=0.1, rng=random))
    propagation = Propagation(clicks, 20)
    _, many = propagation.run(start, 20, quiet)
    cosines = [row["cosine_to_round_before"] for row in many]
    for limit in (0.9, 0.99, cosines[3]):
        monkeypatch.setattr("coclick.models.propagation.iterations.CONVERGED", limit)
        expected = next((i for i, value in enumerate(cosines, 1) if value > limit), 20)
        assert len(propagation.run(start, "converge", quiet)[1]) == expected
    monkeypatch.setattr("coclick.models.propagation.iterations.CONVERGED", 2.0)
    assert len(propagation.run(start, "converge", quiet)[1]) == 20
    assert len(propagation.run(start, 3, quiet)[1]) == 3


def test_mean_cosine_of_rows_with_one_entry_and_of_none():
    one = Csr.from_scipy(scipy.sparse.csr_array([[1.0, 0], [0.6, 0.8]]))
    other = Csr.from_scipy(scipy.sparse.csr_array([[0.5, 0], [0, 0]]))
    assert mean_cosine(one, other) == mean_cosine(other, one) == 0.5
    assert mean_cosine(one, Csr.empty(2, 2)) == 0.0
    assert random_pair_cosine(Csr.empty(2, 2)) == 0.0
    two = Csr.from_scipy(scipy.sparse.csr_array([[1.0, 0], [1.0, 0], [0, 0]]))
    assert random_pair_cosine(two) == 1.0


def test_vectors_are_filled_only_where_there_are_no_edges(graph):
    encoder = fit(graph)._unit_encoder
    vectors = Csr.from_triples(
        np.array([0]), np.array([1]), np.array([0.5]), (2, len(encoder.splitter.terms))
    )
    edges = Csr.from_triples(np.array([0]), np.array([0]), np.array([3.0]), (2, 1))
    filled = encoder.fill(vectors, edges, Strings.from_list(["pizza", "walmart money"]))
    assert filled.row(0)[1].tolist() == [0.5] and filled.row_nnz()[1] > 0
    assert encoder.fill(vectors, edges, None) is vectors
    every = Csr.from_triples(np.array([0, 1]), np.array([0, 0]), np.array([3.0, 1.0]), (2, 1))
    assert encoder.fill(vectors, every, Strings.from_list(["pizza", "money"])) is vectors
    empty = UnitEncoder(None, encoder.splitter, 3)
    assert empty.fill(vectors, edges, Strings.from_list(["pizza", "money"])) is vectors
    assert empty.encode(["pizza", "x"]).rows == 2 and empty.encode(["pizza"]).columns == len(
        encoder.splitter.terms
    )


def test_zeros_are_dropped_from_mixtures():
    matrix = Csr(
        np.array([0, 3, 4]), np.array([0, 1, 2, 0], np.int32), np.array([1, 0, -2, 0], np.float32), 3
    )
    found = _without_zeros(matrix)
    assert (found.indptr.tolist(), found.indices.tolist(), found.data.tolist()) == (
        [0, 2, 2],
        [0, 2],
        [1, -2],
    )


def arrays(dense):
    csr = scipy.sparse.csr_array(np.asarray(dense, np.float32))
    return csr.indptr.astype(np.int64), csr.indices.astype(np.int32), csr.data


def equations(incidence, vectors, targets):
    indptr, units, _ = arrays(incidence)
    return UnitRegression(indptr, units, arrays(vectors), arrays(targets), np.shape(vectors)[1])


def test_units_that_share_no_word_are_solved_in_one_iteration():
    """G is diagonal, with as many texts as each unit has: the preconditioner is its inverse."""
    incidence = np.arange(3) < np.array([1, 1, 1, 1, 1, 2, 2, 3])[:, None]  # 8, 3 and 1 texts
    targets = np.random.default_rng(0).random((8, 3))
    found = equations(incidence, np.diag([1.0, 0.5, 2.0]), targets)
    assert found.diagonal().tolist() == [8, 3 * 0.25, 4]
    expected = [
        targets[:, 0].mean(),
        targets[5:, 1].mean() / 0.5,
        targets[7, 2] / 2,
    ]
    for weights, iterations in (
        _least_squares(found, found.right_side(), np.zeros(3), lambda _: None),
        found.solve(found.right_side(), np.zeros(3), 0.0),
    ):
        assert weights.tolist() == pytest.approx(expected, rel=1e-5)
        assert iterations == 1
    _, iterations = found.solve(found.right_side(), np.ones(3), 7.0)
    assert iterations == 1, "with a prior, the diagonal of G + ρI"


def conjugate_gradients(gram, right, start, diagonal, tolerance, limit):
    """Preconditioned conjugate gradients as in a textbook, and the number of iterations."""
    x, count = start.copy(), 0
    r = right - gram @ x
    z = r / diagonal
    p = z
    while r @ z > tolerance**2 * (right @ (right / diagonal)) and count < limit:
        alpha = (r @ z) / (p @ gram @ p)
        x = x + alpha * p
        following = r - alpha * (gram @ p)
        beta = (following @ (following / diagonal)) / (r @ z)
        r, z = following, following / diagonal
        p = z + beta * p
        count += 1
    return np.maximum(x, 0), count


@pytest.mark.parametrize(("tolerance", "limit"), [(0.3, 50), (0.1, 50), (0.01, 50), (1e-5, 3)])
@pytest.mark.parametrize("rho", [0.0, 2.0])
@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_conjugate_gradients_stop_early(tolerance, limit, rho, scale):
    random = np.random.default_rng(8)
    incidence = random.random((40, 12)) < random.random((1, 12))
    vectors, targets = random.random((12, 9)).astype(np.float32), random.random((40, 9)).astype(np.float32)
    targets *= np.float32(scale)
    found = equations(incidence, vectors, targets)
    both = incidence.astype(float)
    gram = (vectors.astype(float) @ vectors.T) * (both.T @ both) + rho * np.eye(12)
    right = ((both.T @ targets) * vectors).sum(axis=1)
    prior = np.full(12, 0.2 * scale)
    expected, count = conjugate_gradients(gram, right + rho * prior, prior, np.diag(gram), tolerance, limit)
    done: list[int] = []
    ours, iterations = found.solve(
        found.right_side(), prior, rho, tolerance=tolerance, max_iterations=limit, done=done.append
    )
    assert prior.tolist() == [0.2 * scale] * 12, "the prior is not changed"
    assert iterations == count and done == [1] * count
    np.testing.assert_allclose(ours, expected, rtol=1e-3, atol=1e-4 * scale)


def test_the_best_multiple_is_never_negative():
    found = equations(np.ones((1, 1)), [[1.0, 0]], [[0.5, 0]])
    assert found.best_multiple(np.array([2.0]), found.right_side()) == pytest.approx(0.25)
    assert found.best_multiple(np.array([-2.0]), found.right_side()) == 0.0
    assert found.best_multiple(np.array([0.0]), found.right_side()) == 0.0


def test_small_helpers_of_the_regression():
    assert preconditioner(np.array([0.0, 2.0, 0.5]), 0.0).tolist() == [1.0, 2.0, 0.5]
    assert preconditioner(np.array([0.0, 2.0]), 3.0).tolist() == [3.0, 5.0]
    assert _pairs(np.array([0, 1, 2, 5])).tolist() == [0, 0, 1, 10]
    assert _squares(arrays([[3.0, 4.0], [0, 0], [0, 2.0]])).tolist() == [25.0, 0.0, 4.0]
    lengths = np.array([2, 2, 3, 5])  # 1, 1, 3 and 10 products
    assert [_longest_kept(lengths, room) for room in (1, 2, 4, 5, 14, 15, 99)] == [1, 2, 2, 4, 4, 5, 5]
    none = UnitRegression(
        np.zeros(1, np.int64), np.empty(0, np.int32), arrays([[1.0]]), arrays(np.empty((0, 1))), 1
    )
    assert none.right_side().tolist() == [0.0]


def test_progress_of_least_squares(graph):
    steps: dict[Any, Any] = {}

    @contextmanager
    def progress(what, total=None):
        rows: list[int] = []
        yield rows.append
        steps[what] = total, sum(rows)

    create("vpcg(units=words,own_weight=0,unit_weights=least_squares)").fit(graph, progress)
    total, done = steps["unit weights"]
    assert total == 1000 and 0 < done <= total


def test_least_squares_reports_each_iteration():
    found = equations(np.ones((1, 2)), [[1, 0], [0.8, 0.6]], [[0, 1]])
    done: list[int] = []
    _, iterations = _least_squares(found, found.right_side(), np.ones(2), done.append)
    assert done == [1] * iterations == [1, 1]
    assert units_module._MAX_LEAST_SQUARES_ITERATIONS == 1000
