"""Maps, explanations, evidence, notes and statistics of projections, by hand."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import planted
from coclick import ClickGraph, create
from coclick.arrays.csr import Csr
from coclick.errors import ArtefactError, UserError
from coclick.index.dense import DenseIndex
from coclick.models.projection import bounds
from coclick.models.projection._base import _embed
from coclick.models.projection._biased import _add_biases
from coclick.models.projection.bounds import Hypotheses, bound, limited_rows, objective, orthonormal
from coclick.models.projection.click_evidence import FeaturePairEvidence, effective_rank, weight_clicks
from coclick.models.projection.linear_map import DenseMap, SparseMap, check_columns, columns_between
from coclick.models.projection.rmls import _curve_point
from coclick.solvers.rmls import RmlsState

CLICKS = [("cheap hat", "a", 4), ("cheap hat", "b", 1), ("hat", "b", 9), ("sock", "c", 2)]
DOCS = {"a": "felt hat", "b": "straw hat", "c": "wool sock", "d": "felt sock"}


def csr(dense) -> Csr:
    return Csr.from_scipy(scipy.sparse.csr_array(np.asarray(dense, np.float32)))


def dense(matrix):
    return matrix.to_scipy().toarray().astype(float)


@pytest.fixture(scope="module")
def graph():
    return ClickGraph.from_clicks(CLICKS, DOCS)


@pytest.fixture(scope="module")
def pls(graph):
    model: Any = create("pls(dim=3,views=words,stem=false)")
    return model.fit(graph)


# -- maps ----------------------------------------------------------------------------------------------------


def test_a_map_of_blocks():
    first, second = np.arange(6).reshape(3, 2) + 1.0, np.array([[10.0], [20.0]])
    both = DenseMap.from_blocks([first.astype(np.float32), second.astype(np.float32)])
    whole = scipy.linalg.block_diag(first, second)
    features = np.array([[1, 0, 2, 0, 1], [0, 0, 0, 0, 0], [0, 1, 0, 3, 0]], float)
    np.testing.assert_allclose(both.apply(csr(features)), features @ whole)
    assert both.dim == 3 and both.longest == 20.0
    assert [(b.first_column, b.first_dimension) for b in both.blocks] == [(0, 0), (3, 2)]
    one = DenseMap.from_blocks([first.astype(np.float32)])
    np.testing.assert_allclose(one.apply(csr(features[:, :3])), features[:, :3] @ first)
    assert one.longest == pytest.approx(math.hypot(5, 6))
    assert DenseMap.from_blocks([]).longest == 0.0


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_a_sparse_map_reads_the_rows_that_it_needs(rows):
    """With as many features as the map has rows, all are read."""
    matrix = np.array([[1, 0], [0, 2], [3, 4]], float)
    features = np.array([[0, 5, 0], [0, 0, 6], [7, 0, 0], [0, 0, 0], [1, 1, 1]], float)[:rows]
    mapping = SparseMap(csr(matrix), 5.0)
    np.testing.assert_allclose(mapping.apply(csr(features)), features @ matrix)
    assert mapping.dim == 2


def test_features_out_of_bounds_are_refused():
    for wrong in (-1, 3):
        damaged = Csr(np.array([0, 1]), np.array([wrong], np.int32), np.ones(1, np.float32), 3)
        for mapping in (DenseMap.from_blocks([np.ones((3, 2), np.float32)]), SparseMap(csr(np.eye(3)), 1.0)):
            with pytest.raises(ArtefactError, match="the features of the model are"):
                mapping.apply(damaged)
        with pytest.raises(ArtefactError):
            check_columns(damaged)
    for fine in (0, 2):
        check_columns(Csr(np.array([0, 1]), np.array([fine], np.int32), np.ones(1, np.float32), 3))
    check_columns(Csr.empty(2, 3))


def test_columns_of_a_range():
    matrix = np.array([[1, 2, 0, 4], [0, 0, 0, 8], [0, 5, 6, 0]], float)
    np.testing.assert_array_equal(dense(columns_between(csr(matrix), 1, 3)), matrix[:, 1:3])
    np.testing.assert_array_equal(dense(columns_between(csr(matrix), 0, 4)), matrix)


def test_short_embeddings_are_rounding_errors():
    """Shorter than 1e-5 of the longest row; with cosines the others get length 1."""
    mapping = DenseMap.from_blocks([np.array([[2.0, 0], [0, 1.0]], np.float32)])
    features = csr([[1, 1], [1.01e-5, 0], [0, 1.9e-5], [0, 0]])
    plain = _embed(mapping, features, False)
    np.testing.assert_allclose(plain, np.array([[2, 1], [2.02e-5, 0], [0, 0], [0, 0]]), rtol=1e-6)
    lengths = np.linalg.norm(_embed(mapping, features, True), axis=1)
    np.testing.assert_allclose(lengths, [1, 1, 0, 0], atol=1e-6)


def test_biases_of_rows_with_features():
    found = _add_biases(np.ones((2, 4), np.float32), csr([[0, 1], [0, 0]]), 0.5, 0.25)
    assert found.tolist() == [[1, 1, 1.5, 1.25], [1, 1, 1, 1]]


# -- clicks --------------------------------------------------------------------------------------------------


def test_effective_rank_by_hand():
    """Shares ½, ¼, ¼ have the entropy 1.5 ln 2."""
    assert effective_rank(np.array([2.0, 1.0, 1.0, 0.0])) == pytest.approx(2**1.5)
    assert effective_rank(np.array([5.0, 5.0, 5.0])) == pytest.approx(3)


def test_weights_of_pairs(graph):
    """Rows: cheap hat (4 of a, 1 of b), hat (9 of b), sock (2 of c); three queries have clicks."""
    expected: dict[Any, Any] = {
        "clicks": [4, 1, 9, 2],
        "one": [1, 1, 1, 1],
        "log1p": np.log([5, 2, 10, 3]),
        "degree": [2, 0.5, 9, 2],
        "mean": [2 / 3, 0.5 / 3, 3, 2 / 3],
    }
    for weight, values in expected.items():
        np.testing.assert_allclose(weight_clicks(graph.clicks, weight).data, values, rtol=1e-6)
    logs = weight_clicks(graph.clicks, "log")
    np.testing.assert_allclose(logs.data, np.log([4, 9, 2]), rtol=1e-6)
    with pytest.raises(UserError, match="no pair has more than one click") as error:
        weight_clicks(ClickGraph.from_clicks([("a", "x", 1)]).clicks, "log")
    assert error.value.hint == "weight=log1p"


def test_clicks_of_a_pair_of_features(graph):
    """Feature 0 of queries: 0.5 of cheap hat, 2 of hat; feature 1 of documents: 3 of a, 1 of b."""
    queries, docs = csr([[0.5, 0], [2, 0], [0, 1]]), csr([[0, 3], [0, 1], [1, 0], [0, 0]])
    evidence = FeaturePairEvidence(graph, graph.clicks, queries, docs)
    strength = {("cheap hat", "a"): 4 * 0.5 * 3, ("cheap hat", "b"): 0.5, ("hat", "b"): 9 * 2}
    found = evidence.clicks(0, 1, None)
    assert found.edges == 3
    total = sum(strength.values())
    assert [(c.query, c.doc, c.clicks, pytest.approx(c.share)) for c in found.clicks] == [
        ("hat", "b", 9, 18 / total),
        ("cheap hat", "a", 4, 6 / total),
        ("cheap hat", "b", 1, 0.5 / total),
    ]
    some = evidence.clicks(0, 1, 2)
    assert (some.clicks, some.edges) == (found.clicks[:2], 3)
    assert evidence.clicks(1, 1, None) == ([], 0)
    [only] = evidence.clicks(1, 0, None).clicks
    assert (only.query, only.doc, only.share) == ("sock", "c", 1.0)
    nobody = FeaturePairEvidence(graph, graph.clicks, queries, csr([[0, 3, 0]] * 4))
    assert nobody.clicks(0, 2, None) == ([], 0)


# -- bounds --------------------------------------------------------------------------------------------------


def test_what_a_bound_is_made_of():
    assert orthonormal(7).made_of == {"d": 7}
    assert orthonormal(7, 5).made_of == {"d": 7, "views": 2}
    free = limited_rows(10, (25, 16), (4, 9), (2, 3))
    ingredients = {"d": 10, "d_x": 25, "d_y": 16, "m_x": 4, "m_y": 9, "theta_x": 2, "theta_y": 3}
    assert free.made_of == ingredients
    limited = limited_rows(10, (25, 16), (4, 9), (2, 3), (0.5, 1))
    assert limited.made_of == ingredients | {"lambda_x": 0.5, "lambda_y": 1}


def test_objectives_are_added_up_in_blocks(monkeypatch):
    chance = np.random.default_rng(2)
    responses = np.round(chance.random((9, 6)) * 3) * (chance.random((9, 6)) < 0.5)
    responses[4] = 0
    queries, docs = chance.normal(size=(9, 3)), chance.normal(size=(6, 3))
    scores = queries @ docs.T
    means = [
        (row * of).sum() / np.count_nonzero(row)
        for row, of in zip(responses, scores, strict=True)
        if row.any()
    ]
    sides = queries.astype(np.float32), docs.astype(np.float32)
    for size in (1 << 16, 4, 1):
        monkeypatch.setattr(bounds, "_BLOCK", size)
        assert objective(csr(responses), *sides) == pytest.approx(np.mean(means), rel=1e-5)


def test_ingredients_of_a_bound(graph):
    sides = np.ones((3, 2), np.float32), np.ones((4, 2), np.float32)
    found = bound(graph.clicks, "log1p", sides, orthonormal(2), delta=0.01)
    assert (found["delta"], found["probability"], found["n_x"]) == (0.01, pytest.approx(0.98), 3)
    assert found["R"] == pytest.approx(math.log(10)) and found["n_y"] == pytest.approx(3 / (0.5 + 1 + 1))
    assert found["vacuous"] is True
    assert bound(graph.clicks, "log1p", sides, orthonormal(2))["delta"] == 0.05


def test_a_bound_is_vacuous_above_r_times_b():
    """A hundred queries of one document: with C = 0 the bound is R · B · √(2 ln 1/δ) · 2/10 = 0.8 R · B."""
    graph = ClickGraph.from_clicks([(f"q{i:03}", "a", 5) for i in range(100)])
    sides = np.ones((100, 2), np.float32), np.ones((1, 2), np.float32)
    for largest in (0.5, 3.0):
        space = Hypotheses(5, largest, 0.0)
        found = bound(graph.clicks, "clicks", sides, space, delta=math.exp(-8))
        assert found["bound"] == pytest.approx(0.8 * 5 * largest) and found["vacuous"] is False
        assert bound(graph.clicks, "clicks", sides, space, delta=math.exp(-18))["vacuous"] is True


# -- explanations and evidence -------------------------------------------------------------------------------


def test_an_explanation_multiplies_features(pls, graph):
    """Each word of the query times each word of the document, through both maps, largest first."""
    words = {term: column for column, term in enumerate(pls.features_.words()[0].terms)}
    x, y = dense(pls.query_features_), dense(pls.doc_features_)
    left, right = (
        np.vstack([b.matrix for b in m.blocks]).astype(float) for m in (pls.query_map_, pls.doc_map_)
    )
    q, d = graph.queries.id("cheap hat"), graph.docs.id("b")
    why = pls.explain("cheap hat", "b", clicks=None)
    assert [part.value for part in why.parts] == sorted((p.value for p in why.parts), reverse=True)
    for part in why.parts:
        assert part.kind == "query words"
        f = words[part.label]
        expected = {
            word: x[q, f] * y[d, g] * float(left[f] @ right[g]) for word, g in words.items() if y[d, g]
        }
        assert {inner.label: inner.value for inner in part.parts} == pytest.approx(
            {word: value for word, value in expected.items() if value}, rel=1e-4, abs=1e-7
        )
        sizes = [abs(inner.value) for inner in part.parts]
        assert sizes == sorted(sizes, reverse=True)
        assert {inner.kind for inner in part.parts} == {"document words"}
    assert why.score == pytest.approx(float(x[q] @ left @ right.T @ y[d]), rel=1e-4)


def test_scores_below_zero_are_explained_as_not_found():
    graph = planted.graph()
    model: Any = create("pls(dim=20)").fit(graph)
    found = 0
    for query in list(graph.queries)[:12]:
        [scores] = model.score([query], [list(graph.docs)])
        for doc in np.flatnonzero(scores == 0)[:6].tolist():
            why = model.explain(query, graph.docs[doc])
            last = [part for part in why.parts if part.kind == "not found"]
            if last:
                found += 1
                assert last == why.parts[-1:]
                assert last[0].value == pytest.approx(-sum(part.value for part in why.parts[:-1]))
    assert found


def test_only_ten_features_of_a_document_show_their_clicks():
    title = " ".join(f"w{i}" for i in range(14))
    graph = ClickGraph.from_clicks([("hat", "a", 3), ("sock", "b", 1)], {"a": title, "b": "sock"})
    model = create("pls(views=words,stem=false,tokenizer=words)").fit(graph)
    [part] = model.explain("hat", "a").parts
    assert len(part.parts) == 14
    assert [len(inner.clicks) for inner in part.parts] == [1] * 10 + [0] * 4
    assert [inner.edges for inner in part.parts] == [1] * 10 + [0] * 4


def test_evidence_is_support_or_coverage(pls):
    assert pls.evidence("hat") == {"support": pytest.approx(0.9)}
    assert pls.evidence("hat zzzz") == {"coverage": 0.5}
    assert pls.evidence("zzzz") == {"coverage": 0.0}


def test_expansion_scores_each_word_as_a_document(pls):
    """f(q, w) = xᵀ P R_w for a document of this word alone; the first 20 above 0."""
    words = pls.features_.words()[0]
    x = dense(pls.query_features_)[pls.graph_.queries.id("hat")]
    left, right = (
        np.vstack([b.matrix for b in m.blocks]).astype(float) for m in (pls.query_map_, pls.doc_map_)
    )
    scores = x @ left @ right.T
    expected = {term: float(scores[i]) for i, term in enumerate(words.terms) if scores[i] > 1e-6}
    assert dict(pls.expand("hat")) == pytest.approx(expected, rel=1e-4)
    many = ClickGraph.from_clicks([("hat", "a", 3)], {"a": " ".join(f"w{i}" for i in range(30))})
    assert len(create("pls(views=words,stem=false)").fit(many).expand("hat")) == 20


def test_words_of_a_later_view_expand_documents(graph):
    """The columns of words come after those of clicks."""
    model: Any = create("pls(views=clicks+words,dim=3,stem=false)").fit(graph)
    first: Any = create("pls(views=words+clicks,dim=3,stem=false)").fit(graph)
    assert dict(model.expand_docs("a", new=False)) == pytest.approx(
        dict(first.expand_docs("a", new=False)), rel=1e-3
    )
    for word, weight in model.expand_docs("a", new=False):
        if graph.queries.id(word) >= 0:  # a seen query has features of clicks as well
            continue
        assert model.score([word], [["a"]])[0][0] == pytest.approx(weight, rel=1e-3)


def test_rounding_errors_do_not_expand_documents(graph):
    """All words but the first are nearly orthogonal to the document: weights of 1e-6 of the largest."""
    model: Any = create("pls(dim=3,views=words,stem=false)").fit(graph)
    along = np.array([0.0, 0.0, 1.0], np.float32)
    words = np.tile(np.array([1.0, 0.0, 1e-6], np.float32), (model.query_features_.columns, 1))
    words[0] = along
    model.query_map_ = DenseMap.from_blocks([words])
    model.doc_index_ = DenseIndex.build(np.tile(along, (len(graph.docs), 1)))
    assert model.expand_docs("a", new=False).hits() == [(model._expansion_words.display_terms[0], 1.0)]


def test_documents_without_known_words_are_counted(pls):
    larger = pls.add({"x": "felt", "y": "zzzz", "z": ""})
    assert larger._count_unreachable(3) == 2 and larger._count_unreachable(1) == 1
    assert pls._count_unreachable(4) == 0


def test_embeddings_by_id_and_by_text(pls, graph):
    np.testing.assert_array_equal(pls.embed_docs("b"), pls.doc_index_.vectors[[1]])
    np.testing.assert_array_equal(pls.embed_docs(["c", "a"]), pls.doc_index_.vectors[[2, 0]])
    both = pls.embed_queries(["zzz hat", "hat", "new sock"])
    np.testing.assert_array_equal(both[1], pls.query_index_.vectors[graph.queries.id("hat")])
    for i, text in enumerate(["zzz hat", "hat", "new sock"]):
        np.testing.assert_allclose(both[i], pls.embed_queries(text)[0], rtol=1e-6)


def test_models_without_clicks_show_none(graph):
    why = create("lsa(dim=3)").fit(graph).explain("hat", "a")
    assert [(inner.clicks, inner.edges) for part in why.parts for inner in part.parts] == [([], 0)] * 2


def test_fitting_again_forgets_the_approximate_index():
    model: Any = create("pls(dim=10,index=approximate)").fit(planted.graph())
    assert model.approximate_ is not None
    model.index = "exact"
    assert model.fit(planted.graph()).approximate_ is None
    model.explain("hotel", "hotel-0")
    assert model._pair_evidence is not None
    assert (
        model.fit(planted.graph())._pair_evidence is None and model.add({"x": "hotel"})._pair_evidence is None
    )


def test_an_approximate_index_is_not_used_with_a_filter():
    graph = planted.graph()
    model: Any = create("pls(dim=10,index=approximate)").fit(graph)
    exact: Any = create("pls(dim=10)").fit(graph)
    assert exact.approximate_ is None and "approximate" not in exact.stats_
    assert "recall" in str(model.stats_["approximate"])
    some = [f"hotel-{i}" for i in range(8)]
    assert model.search("hotel", 20, allow=some).hits() == exact.search("hotel", 20, allow=some).hits()
    larger = model.add({"new": "the best hotel"})
    assert (
        larger.search("hotel", 50).hits() == exact.add({"new": "the best hotel"}).search("hotel", 50).hits()
    )


# -- notes and statistics ------------------------------------------------------------------------------------


def test_missing_dimensions_are_noted(graph):
    fits: Any = create("pls(dim=3,views=words,stem=false)").fit(graph)
    assert "notes" not in fits.stats_
    fewer: Any = create("pls(dim=50,views=words,stem=false)").fit(graph)
    found = len(fewer.stats_["singular_values"])
    assert fewer.stats_["notes"] == [f"dim=50 is more than the data has: {found} dimensions are used"]
    one: Any = create("pls(dim=2,views=words)").fit(ClickGraph.from_clicks([("hat", "x", 1)], {"x": "sock"}))
    assert one.stats_["notes"] == ["dim=2 is more than the data has: 1 dimension is used"]
    assert fewer.stats_["effective_rank"] == effective_rank(np.array(fewer.stats_["singular_values"]))
    views: Any = create("mpls(dim=50,views=words+clicks,stem=false)").fit(graph)
    assert [note.split(":")[0] for note in views.stats_["notes"]] == [
        "dim=50 is more than the data of words has",
        "dim=50 is more than the data of clicks has",
    ]


def test_points_of_a_curve_are_rounded():
    state = RmlsState(1.5, csr([[1, 0, 0], [1, 2, 0], [0, 0, 0]]), csr([[1, 2, 3], [0, 0, 1.0]]), -1.23456789)
    point = _curve_point(state)
    assert point["round"] == 1.5 and point["objective"] == -1.23457
    assert (point["query_density"], point["doc_density"]) == (0.3333, 0.6667)
    squares = [np.linalg.svd(dense(m), compute_uv=False) ** 2 for m in (state.query_map, state.doc_map)]
    ranks = [round(float(s.sum() ** 2 / (s**2).sum()), 1) for s in squares]  # (Σσ²)² / Σσ⁴
    assert [point["query_rank"], point["doc_rank"]] == ranks
    assert "objective" not in _curve_point(state._replace(objective=None))


@pytest.mark.parametrize("spec", ["ssi(dim=5,iterations=1)", "svdfeature(dim=5,iterations=1)"])
def test_a_note_says_that_no_pairs_were_held_out(graph, spec):
    model = create(spec).fit(graph)
    assert model.stats_["notes"] == ["too few pairs to hold any out: the last iteration is used"]
    assert (model.stats_["pairs"], model.stats_["held_out_pairs"]) == (4, 0)
    enough = create(spec).fit(planted.graph())
    assert "notes" not in enough.stats_ and enough.stats_["held_out_pairs"] > 0
    assert enough.stats_["pairs"] + enough.stats_["held_out_pairs"] == planted.graph().clicks.nnz


def test_requirements_and_capabilities_follow_the_views_before_training():
    texts = {"unseen_queries", "unseen_docs", "add", "expand", "expand_docs"}
    for name in ("pls", "mpls", "rmls", "svdfeature", "large_margin"):
        without, with_words = create(name, views="clicks"), create(name, views="words+clicks")
        assert without.requires == () and with_words.requires == ("texts",)
        assert not without.capabilities & texts
        assert with_words.capabilities >= {"unseen_queries", "unseen_docs", "add"}


def test_a_model_without_a_view_of_words_cannot_expand(graph):
    chars: Any = create("pls(views=chars,dim=3)").fit(graph)
    assert "expand" not in chars.capabilities and "add" in chars.capabilities
    with pytest.raises(UserError, match="no view of words") as error:
        chars.expand_docs("a")
    assert error.value.hint == "views=words+…"
    clicks: Any = create("pls(views=clicks,dim=3)").fit(graph)
    assert "add" not in clicks.capabilities


def test_targets_of_svdfeature_have_the_mean_1(graph):
    """Clicks 4, 1, 9 and 2; as means over documents and queries, 2, ½, 9 and 2 thirds."""
    asked, clicked = np.array([0, 0, 1, 2], np.int32), np.array([0, 1, 1, 2], np.int32)
    for weight, values in (("clicks", [4, 1, 9, 2]), ("mean", [2 / 3, 0.5 / 3, 3, 2 / 3])):
        model: Any = create("svdfeature", weight=weight)
        scaled = model._targets(graph, asked, clicked)
        np.testing.assert_allclose(scaled, np.array(values) / np.mean(values), rtol=1e-6)
        model.scale_targets = False
        np.testing.assert_allclose(model._targets(graph, asked, clicked), values, rtol=1e-6)


def test_biases_are_explained(graph):
    model: Any = create("svdfeature(dim=3,iterations=2,views=words,stem=false)").fit(graph)
    why = model.explain("hat", "a")
    parts = {(part.kind, part.label): part.value for part in why.parts}
    words = list(model.features_.words()[0].terms)
    row = dense(model.query_features_)[graph.queries.id("hat")]
    bias = row[words.index("hat")] * model.query_bias_[words.index("hat")]
    assert parts["bias of query words", "hat"] == pytest.approx(float(bias), rel=1e-5)
    assert parts["mean", "of the training data"] == model.mean_
    assert {label for kind, label in parts if kind == "bias of document words"} == {"felt", "hat"}
    empty = model.add({"x": "zzzz", "y": "felt"})
    assert empty.explain("hat", "x").parts == [] and empty.score(["hat"], [["x"]])[0].tolist() == [0]
    assert empty.explain("zzzz", "y").parts == []
    before = model.doc_index_.vectors.copy()
    model.similar_docs("a")
    np.testing.assert_array_equal(model.doc_index_.vectors, before)
