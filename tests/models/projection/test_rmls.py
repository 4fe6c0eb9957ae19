"""RMLS beside the paper's algorithm written out in plain Python, and what the method promises."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import planted
from coclick import create, open_model
from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.jit.threads import set_threads
from coclick.models.projection.click_evidence import weight_clicks
from coclick.solvers import rmls as alternation
from coclick.solvers.rmls import Penalty, RmlsSolver, density, map_rank, random_rows
from coclick.solvers.validation import ValidationSample


def csr(matrix):
    return Csr.from_scipy(scipy.sparse.csr_array(np.asarray(matrix, np.float32)))


def dense(matrix):
    return matrix.to_scipy().toarray().astype(float)


def problem(seed, queries=8, docs=9, query_features=7, doc_features=10, density=0.3):
    """Random non-negative features and weights of pairs."""
    random = np.random.default_rng(seed)

    def some(rows, columns):
        return csr(random.random((rows, columns)) * (random.random((rows, columns)) < density))

    return some(queries, query_features), some(queries, docs), some(docs, doc_features)


def run(factors, penalty, dim, halves, seed=0, **options):
    """`halves` states; `penalty` is that of both maps, or a pair."""
    penalties = penalty if isinstance(penalty, tuple) else (penalty, penalty)
    queries, edges, docs = factors
    steps = RmlsSolver(queries, edges, docs, penalties).half_iterations(dim, seed, **options)
    return [next(steps) for _ in range(halves)]


def written_out(factors, dim, halves, start, b=None, thresholds=(None, None), lengths=(1.0, 1.0)):
    """Algorithms 1 and 2 of Wu, Lu & Li 2013, term by term; thresholds by the first Ω, or β and γ."""
    queries, edges, docs = (dense(factor).tolist() for factor in factors)
    w = [[0.0] * len(docs[0]) for _ in queries[0]]
    for i, x in enumerate(queries):
        for j, y in enumerate(docs):
            if edges[i][j]:
                for u, x_u in enumerate(x):
                    for v, y_v in enumerate(y):
                        w[u][v] += edges[i][j] * x_u * y_v
    maps = [[[0.0] * dim for _ in w], dense(start).tolist()]
    limits = [[thresholds[0]] * len(w), [thresholds[1]] * len(w[0])]
    for half in range(halves):
        side, other = half % 2, 1 - half % 2
        weights = w if side == 0 else [list(column) for column in zip(*w, strict=True)]
        updated = []
        for u, row in enumerate(weights):
            present = [v for v, value in enumerate(row) if value]
            omega = [sum(row[v] * maps[other][v][z] for v in present) for z in range(dim)]
            if limits[side][u] is None and any(omega):
                limits[side][u] = b * math.sqrt(sum(value * value for value in omega) / dim)
            limit = limits[side][u] or 0.0
            kept = [math.copysign(max(abs(value) - limit, 0), value) for value in omega]
            length = math.sqrt(sum(value * value for value in kept))
            updated.append(
                [lengths[side] * value / length for value in kept] if length > 1e-9 else [0.0] * dim
            )
        maps[side] = updated
    return np.array(maps[0]), np.array(maps[1]), np.array(w)


@pytest.mark.parametrize(
    ("queries", "docs"),
    [
        (Penalty(0.0), Penalty(0.0)),
        (Penalty(0.7), Penalty(0.7)),
        (Penalty(1.2, length=2.5), Penalty(1.2, length=2.5)),
        (Penalty(0.0, threshold=0.15), Penalty(0.0, threshold=0.15)),
        (Penalty(0.6, threshold=0.2), Penalty(0.6)),
        (Penalty(0.0, threshold=0.05, length=0.5), Penalty(0.0, threshold=0.3, length=3.0)),
    ],
)
@pytest.mark.parametrize("dense_start", [False, True])
def test_two_rounds_written_out_term_by_term(queries, docs, dense_start):
    for seed in range(4):
        factors = problem(seed)
        start = random_rows(factors[2].columns, 6, docs.length, seed, dense=dense_start)
        lengths = queries.length, docs.length
        thresholds = queries.threshold or None, docs.threshold or None
        b = queries.relative_threshold
        x, y, _ = written_out(factors, 6, 4, start, b, thresholds, lengths)
        last = run(factors, (queries, docs), 6, 4, seed, dense=dense_start)[-1]
        assert last.iterations == 2
        np.testing.assert_allclose(dense(last.query_map), x, atol=2e-4)
        np.testing.assert_allclose(dense(last.doc_map), y, atol=2e-4)


def by_hand(graph, weight):
    """The weights of clicked pairs, from a dense matrix of clicks."""
    clicks = graph.clicks.to_scipy().toarray().astype(float)
    degrees = (clicks > 0).sum(1)
    weighted = clicks / np.maximum(degrees, 1)[:, None]
    return csr(weighted / np.count_nonzero(degrees) if weight == "mean" else weighted)


def assert_scores(model, graph, x, y):
    features = dense(model.query_features_), dense(model.doc_features_)
    expected = np.maximum(features[0] @ x @ y.T @ features[1].T, 0)
    found = np.array(model.score(list(graph.queries), [list(graph.docs)] * len(graph.queries)))
    np.testing.assert_allclose(found, expected, atol=2e-3 * expected.max())


def test_a_model_scores_by_these_maps():
    """With the default weights, which are clicks divided by the number of documents of the query."""
    graph = planted.graph()
    lengths = "query_length=1.5,doc_length=0.7"
    spec = f"rmls(dim=12,iterations=2,held_out=0,relative_threshold=0.8,{lengths})"
    model: Any = create(spec).fit(graph)
    factors = model.query_features_, by_hand(graph, "degree"), model.doc_features_
    start = random_rows(factors[2].columns, 12, 0.7, 0)
    x, y, _ = written_out(factors, 12, 4, start, b=0.8, lengths=(1.5, 0.7))
    assert_scores(model, graph, x, y)


def test_one_round_of_equation_4_as_printed():
    """β ≠ γ, θ_x ≠ θ_y, the mean over queries and documents, raw counts of clicks, a dense random start."""
    graph = planted.graph()
    data = "views=words+raw_clicks,weight=mean"
    penalties = "query_threshold=0.002,doc_threshold=0.001,query_length=0.5,doc_length=2"
    spec = f"rmls(dim=12,iterations=1,held_out=0,initial_map=dense,{data},{penalties})"
    model: Any = create(spec).fit(graph)
    query, docs = graph.queries.id("pizza"), len(graph.docs)
    counts = graph.clicks.to_scipy().toarray()[query]
    words = model.query_features_.columns - docs
    row = dense(model.query_features_)[query]
    np.testing.assert_allclose(row[words:], counts / np.linalg.norm(counts) / math.sqrt(2), rtol=1e-5)
    assert np.linalg.norm(row[:words]) == pytest.approx(1 / math.sqrt(2))
    factors = model.query_features_, by_hand(graph, "mean"), model.doc_features_
    start = random_rows(factors[2].columns, 12, 2.0, 0, dense=True)
    x, y, _ = written_out(factors, 12, 2, start, thresholds=(0.002, 0.001), lengths=(0.5, 2.0))
    kept = [np.abs(side).sum(1) > 0 for side in (x, y)]
    assert all(0.1 < alive.mean() < 1 for alive in kept)  # the thresholds remove some rows, not all
    assert_scores(model, graph, x, y)
    assert model.stats_["bound"]["theta_x"] == 0.5
    assert model.stats_["bound"]["theta_y"] == 2


def test_one_round_with_a_discount_of_frequent_features():
    """Entries of M are divided by the square roots of the sums of their rows and columns."""
    graph = planted.graph()
    spec = "rmls(dim=12,iterations=1,held_out=0,frequency_discount=0.5,relative_threshold=1)"
    model: Any = create(spec).fit(graph)
    queries, docs = dense(model.query_features_), dense(model.doc_features_)
    edges = by_hand(graph, "degree")
    m = queries.T @ dense(edges) @ docs
    sums = m.sum(1), m.sum(0)
    scales = [np.where(sum_ > 0, np.sqrt(sum_[sum_ > 0].mean() / np.maximum(sum_, 1e-9)), 0) for sum_ in sums]
    factors = csr(queries * scales[0]), edges, csr(docs * scales[1])
    start = random_rows(docs.shape[1], 12, 1.0, 0)
    x, y, discounted = written_out(factors, 12, 2, start, b=1.0)
    u, v = np.argwhere(m > 0)[7]
    expected = m[u, v] / math.sqrt(m[u].sum() * m[:, v].sum())
    means = [sum_[sum_ > 0].mean() for sum_ in sums]
    assert discounted[u, v] == pytest.approx(expected * math.sqrt(means[0] * means[1]), rel=1e-5)
    assert_scores(model, graph, x, y)


def test_a_note_says_that_the_rank_is_lost():
    random = np.random.default_rng(0)  # a random graph has no topics that keep their rank
    graph = ClickGraph.from_clicks([(f"q{i}", f"d{d}", 1.0) for i in range(40) for d in random.choice(40, 6)])
    spec = "rmls(dim=40,views=ids,iterations=10,held_out=0)"
    full = create(spec).fit(graph)
    ranks = [point["query_rank"] for point in full.stats_["curve"]]
    assert ranks[-1] < 0.2 * ranks[0]
    assert f"fell from {ranks[0]:g} to {ranks[-1]:g}" in full.stats_["notes"][0]
    half = create("rmls(dim=40,views=ids,iterations=0.5,held_out=0)").fit(graph)
    assert "notes" not in half.stats_


def test_islands_keep_their_rank_and_connected_features_lose_it():
    m = np.diag([3.0, 2.0, 1.0])
    steps = run((csr(np.eye(3)), csr(m), csr(np.eye(3))), Penalty(0.0), 8, 3)
    start = dense(random_rows(3, 8, 1.0, 0))
    for step in steps:  # islands: nothing is averaged, so every row keeps its direction and the rank is full
        np.testing.assert_allclose(dense(step.query_map), start, atol=1e-6)
    joined = np.ones((3, 3)) + np.diag([1.0, 1.0, 1.0])
    steps = run((csr(np.eye(3)), csr(joined), csr(np.eye(3))), Penalty(0.0), 8, 30)
    ranks = [map_rank(step.query_map) for step in steps]
    assert ranks[0] > 1.05 and ranks[-1] == pytest.approx(1, abs=1e-3)  # connected: all rows become one


def test_former_names_fail_with_the_new_ones():
    for old, new in (("theta", "length"), ("threshold", "threshold"), ("beta", "threshold")):
        with pytest.raises(UserError, match=f"{old}' is now called 'query_{new}' and 'doc_{new}'"):
            create(f"rmls({old}=1)")


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.floats(0, 1.5), st.booleans())
def test_the_objective_never_rises_and_is_that_of_equation_4(seed, b, absolute):
    factors = problem(seed)
    beta, gamma = (0.05 * b, 0.02 * b) if absolute else (0.0, 0.0)
    try:
        steps = run(factors, (Penalty(b, beta, 1.5), Penalty(b, gamma, 0.8)), 5, 8, seed)
    except UserError:
        return  # thresholds that leave nothing
    known = [step.objective for step in steps if step.objective is not None]
    assert len(known) >= 7
    assert all(
        later <= earlier + 1e-5 * abs(earlier) for earlier, later in zip(known, known[1:], strict=False)
    )
    if beta:
        *_, w = written_out(factors, 5, 0, random_rows(factors[2].columns, 5, 1.0, seed))
        for step in steps:
            x, y = dense(step.query_map), dense(step.doc_map)
            expected = -np.sum(w * (x @ y.T)) + beta * np.abs(x).sum() + gamma * np.abs(y).sum()
            assert step.objective == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_factors_may_be_joined_or_not_and_dense_in_parts(monkeypatch):
    factors = problem(5, 40, 50, 30, 60, 0.2)
    before = run(factors, Penalty(0.8), 40, 4)[-1]
    monkeypatch.setattr(alternation, "_MAX_GROWTH", 0)
    for at_once in (1 << 24, 1):
        monkeypatch.setattr(alternation, "_MAX_BUFFER", at_once)
        after = run(factors, Penalty(0.8), 40, 4)[-1]
        np.testing.assert_allclose(dense(after.query_map), dense(before.query_map), atol=1e-4)
        np.testing.assert_allclose(dense(after.doc_map), dense(before.doc_map), atol=1e-4)


def test_thresholds_are_scale_free():
    queries, edges, docs = problem(3)
    before = run((queries, edges, docs), Penalty(0.9), 6, 5)[-1]
    after = run((queries, edges.with_data(edges.data * 1000), docs), Penalty(0.9), 6, 5)[-1]
    np.testing.assert_allclose(dense(after.query_map), dense(before.query_map), atol=1e-4)
    np.testing.assert_allclose(dense(after.doc_map), dense(before.doc_map), atol=1e-4)


def test_scaling_all_clicks_keeps_the_ranking():
    few = ClickGraph.from_clicks(planted.clicks(), planted.docs())
    many = ClickGraph.from_clicks([(q, d, 1000 * c) for q, d, c in planted.clicks()], planted.docs())
    model, other = (create("rmls(dim=50,views=words,weight=clicks)").fit(graph) for graph in (few, many))
    for query in ("hotel", "shoe", "flu the sick"):
        before, after = dict(model.search(query, 10).hits()), dict(other.search(query, 10).hits())
        assert after == pytest.approx(before, rel=1e-3)


def test_a_zero_row_can_become_nonzero_again():
    revived = 0
    for seed in range(60):
        try:
            steps = run(problem(seed), Penalty(0.0, threshold=0.5), 4, 9, seed)
        except UserError:
            continue
        empty = np.array([step.query_map.row_nnz() == 0 for step in steps])
        revived += int((empty[:-1] & ~empty[1:]).sum())
    assert revived


def test_too_large_thresholds_are_refused_with_a_hint():
    graph = planted.graph()
    for name in ("relative_threshold", "query_threshold"):
        with pytest.raises(UserError, match=f"{name}=500 removes all entries") as caught:
            create(f"rmls(dim=10,held_out=0,iterations=1,{name}=500)").fit(graph)
        most = float(caught.value.hint.split()[3])
        create(f"rmls(dim=10,held_out=0,iterations=0.5,{name}={most * 0.97})").fit(graph)


def test_the_number_of_rounds_is_chosen_on_held_out_clicks():
    model = create("rmls(dim=40)").fit(planted.graph())
    tried = {row["rounds"]: row["ndcg"] for row in model.stats_["validation"]}
    chosen = model.stats_["chosen_rounds"]
    assert tried[chosen] == max(tried.values())
    assert max(tried) == chosen + 1, "two half-iterations without improvement end the search"
    assert [row["round"] for row in model.stats_["curve"]] == [i / 2 for i in range(1, int(2 * chosen) + 1)]
    assert set(model.stats_["curve"][-1]) >= {"query_density", "doc_density", "query_rank", "doc_rank"}
    assert model.stats_["bound"]["theorem"] == 5
    fixed = create("rmls(dim=40,iterations=3,held_out=0)").fit(planted.graph())
    assert fixed.stats_["chosen_rounds"] == 3
    assert "validation" not in fixed.stats_


def test_a_note_says_that_nothing_was_held_out():
    graph = ClickGraph.from_clicks([("hotel", "a", 2), ("shoe", "b", 3)], {"a": "hotel", "b": "shoe"})
    model = create("rmls(dim=8)").fit(graph)
    assert model.stats_["chosen_rounds"] == 0.5
    assert "no query has a second document" in model.stats_["notes"][0]
    assert model.search("hotel", 1).hits()[0][0] == "a"


def test_ranks_of_held_out_pairs():
    """Two held-out pairs, by hand: ranks 1 and, tied with two unfound ones, 2.5 of the remaining 3."""
    one_hot = csr(np.eye(3))
    held_out = csr([[1, 0, 0], [0, 0, 0], [0, 1, 1]])
    learned = csr([[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    trial = ValidationSample.sample(one_hot, one_hot, held_out, learned, seed=0)
    # query 0 scores its documents 2, 9 (known already), 1: rank 1; query 2 scores 3, −1, −2: ranks 2.5, 2.5
    found = trial.ndcg(csr(np.eye(3)), csr([[2, 0, 3], [9, 0, -1], [1, 0, -2]]))
    assert found == pytest.approx((1 + 2 / math.log2(3.5)) / 3)


def test_the_initial_map_has_rows_of_length_theta():
    start = random_rows(500, 40, 2.0, 5)
    np.testing.assert_allclose(np.linalg.norm(dense(start), axis=1), 2.0, rtol=1e-6)
    assert (start.row_nnz() == 5).all()
    assert all((np.diff(start.row(i)[0]) > 0).all() for i in range(500))
    assert density(start) == pytest.approx(5 / 40)
    assert random_rows(3, 2, 1.0, 0).row_nnz().tolist() == [1, 1, 1]
    assert random_rows(3, 900, 1.0, 0).row_nnz().tolist() == [8, 8, 8]


def test_a_dense_initial_map_has_normal_directions():
    start = dense(random_rows(4000, 6, 3.0, 1, dense=True))
    np.testing.assert_allclose(np.linalg.norm(start, axis=1), 3.0, rtol=1e-6)
    np.testing.assert_allclose(start.T @ start / len(start), 1.5 * np.eye(6), atol=0.1)  # 3² / 6
    parts = [alternation.random_rows_of(4000, 6, 3.0, 1, part, 3, dense=True) for part in range(3)]
    for part, rows in enumerate(parts):
        np.testing.assert_array_equal(dense(rows), start[part::3])


def test_effective_rank_of_a_map():
    assert map_rank(csr(np.eye(7))) == pytest.approx(7)
    assert map_rank(csr(np.ones((9, 4)))) == pytest.approx(1)
    values = np.array([3.0, 2.0, 1.0]) ** 2
    assert map_rank(csr(np.diag([3.0, 2.0, 1.0]))) == pytest.approx(values.sum() ** 2 / (values**2).sum())


def test_results_do_not_depend_on_threads():
    graph = planted.graph()
    try:
        scores = []
        for count in (1, 3):
            set_threads(count)
            model: Any = create("rmls(dim=60,iterations=2,held_out=0)").fit(graph)
            scores.append(model.doc_map_.matrix.data.tobytes() + model.query_map_.matrix.data.tobytes())
        assert scores[0] == scores[1]
    finally:
        set_threads(None)


def test_maps_stay_sparse_on_disk(tmp_path):
    model: Any = create("rmls(dim=60)").fit(planted.graph())
    model.save(tmp_path / "model")
    opened: Any = open_model(tmp_path / "model")
    assert (
        opened.query_map_.matrix.nnz
        == model.query_map_.matrix.nnz
        < 0.5 * opened.query_features_.columns * 60
    )


def test_mean_weights_count_only_queries_with_clicks():
    """Two of three queries have clicks; by hand."""
    found = dense(weight_clicks(csr([[2, 0, 4], [0, 0, 0], [3, 0, 0]]), "mean"))
    np.testing.assert_allclose(found, np.array([[2 / 2, 0, 4 / 2], [0, 0, 0], [3, 0, 0]]) / 2)
