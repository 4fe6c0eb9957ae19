"""The models around `pls`: special cases of each other, and of dense linear algebra."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import scipy.sparse.linalg
from sklearn.cross_decomposition import PLSSVD

import planted
from coclick import create, open_model
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.text.analyzer import Analyzer
from models.projection.test_pls import all_scores, embeddings, feature_rows, weights


def graph():
    return planted.graph()


def test_indicator_features_make_pls_equal_to_lsi_qd():
    by_ids = create("pls(dim=9,views=ids)").fit(graph())
    lsi = create("lsi_qd(dim=9)").fit(graph())
    np.testing.assert_allclose(all_scores(by_ids, graph()), all_scores(lsi, graph()), atol=1e-5)
    np.testing.assert_allclose(by_ids.stats_["singular_values"], lsi.stats_["singular_values"], rtol=1e-5)


@pytest.mark.parametrize("weight", ["log1p", "degree"])
def test_lsi_qd_is_scipys_truncated_svd(weight):
    clicks = weights(graph().clicks.to_scipy().toarray(), weight)
    left, values, right = scipy.sparse.linalg.svds(scipy.sparse.csr_array(clicks), k=8)
    assert values.min() - np.linalg.svd(clicks, compute_uv=False)[8] > 1e-3
    model = create(f"lsi_qd(dim=8,weight={weight})").fit(graph())
    np.testing.assert_allclose(model.stats_["singular_values"], values[::-1], rtol=1e-5)
    np.testing.assert_allclose(all_scores(model, graph()), np.maximum(left @ right, 0), atol=1e-4)


@pytest.mark.parametrize("combine", ["weighted", "concat"])
@pytest.mark.parametrize("view", ["words", "clicks", "chars"])
def test_one_view_makes_mpls_equal_to_pls(view, combine):
    alone = create(f"pls(dim=9,views={view})").fit(graph())
    multi = create(f"mpls(dim=9,views={view},combine={combine})").fit(graph())
    np.testing.assert_allclose(all_scores(multi, graph()), all_scores(alone, graph()), atol=1e-5)
    assert multi.stats_["views"][view]["alpha"] == pytest.approx(1)


def test_concatenated_views_are_pls():
    joined = create("pls(dim=9,views=words+clicks)").fit(graph())
    concat = create("mpls(dim=9,views=words+clicks,combine=concat)").fit(graph())
    np.testing.assert_allclose(all_scores(concat, graph()), all_scores(joined, graph()), atol=1e-5)


def test_weighted_views_by_the_papers_formula():
    words = embeddings(*feature_rows(graph(), ["words"]), "log1p", 7)
    clicks = embeddings(*feature_rows(graph(), ["clicks"]), "log1p", 7)
    sums = np.array([words[2].sum(), clicks[2].sum()])
    alpha = sums / np.sqrt((sums**2).sum())
    expected = alpha[0] * words[0] @ words[1].T + alpha[1] * clicks[0] @ clicks[1].T
    model = create("mpls(dim=7,views=words+clicks)").fit(graph())
    np.testing.assert_allclose(all_scores(model, graph()), np.maximum(expected, 0), atol=3e-4)
    stats = model.stats_["views"]
    np.testing.assert_allclose([stats[name]["alpha"] for name in ("words", "clicks")], alpha, rtol=1e-4)
    queries = alpha[0] * words[0] @ words[0].T + alpha[1] * clicks[0] @ clicks[0].T
    own = graph().queries.id("pizza")
    for query, score in model.similar_queries("pizza", 5).hits():
        assert score == pytest.approx(queries[own, graph().queries.id(query)], abs=3e-4)


def test_pls_is_scikit_learns_on_centred_rows():
    """One row per clicked pair, scaled by the square root of its weight and centred as in PLSSVD."""
    queries, docs, clicks = feature_rows(graph(), ["words"])
    u, v = np.nonzero(clicks)
    root = np.sqrt(np.log1p(clicks[u, v]))[:, None]
    x, y = root * queries[u], root * docs[v]
    theirs = PLSSVD(n_components=5, scale=False).fit(x, y)
    left, values, right = np.linalg.svd((y - y.mean(0)).T @ (x - x.mean(0)), full_matrices=False)
    assert values[4] - values[5] > 1e-3
    for ours, other in ((right[:5].T, theirs.x_weights_), (left[:, :5], theirs.y_weights_)):
        np.testing.assert_allclose(np.abs(np.sum(ours * other, 0)), 1, atol=1e-6)
    # Uncentred, the same rows have the cross-product that `pls` decomposes.
    model = create("pls(dim=5,views=words)").fit(graph())
    np.testing.assert_allclose(
        model.stats_["singular_values"], np.linalg.svd(y.T @ x, compute_uv=False)[:5], rtol=1e-4
    )


def texts_of(graph):
    return [*graph.queries, *(graph.title(i) for i in range(len(graph.docs)))]


def tf_idf_rows(graph, analyzer):
    """TF-IDF rows of queries and titles over one vocabulary with one idf."""
    texts = texts_of(graph)
    counted = [Counter(analyzer.terms(text)) for text in texts]
    held = Counter(term for counts in counted for term in counts)
    place = {term: i for i, term in enumerate(sorted(held))}
    rows = np.zeros((len(texts), len(place)))
    for i, counts in enumerate(counted):
        for term, count in counts.items():
            rows[i, place[term]] = (1 + math.log(count)) * math.log(1 + len(texts) / held[term])
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows / np.where(lengths > 0, lengths, 1)
    return rows[: len(graph.queries)], rows[len(graph.queries) :]


def cosines(queries, docs):
    lengths = [np.linalg.norm(side, axis=1, keepdims=True) for side in (queries, docs)]
    a, b = (
        np.where(n > 1e-5, side / np.maximum(n, 1e-30), 0)
        for side, n in zip((queries, docs), lengths, strict=True)
    )
    return np.maximum(a @ b.T, 0)


def leading(matrix, k):
    values, vectors = np.linalg.eigh(matrix)
    assert values[-k] - values[-k - 1] > 1e-4
    return vectors[:, ::-1][:, :k]


def test_lsa_is_the_eigenvectors_of_the_second_moment():
    queries, docs = tf_idf_rows(graph(), Analyzer("english", False, False))
    both = np.concatenate([queries, docs])
    a = leading(both.T @ both / len(both), 6)
    model = create("lsa(dim=6)").fit(graph())
    np.testing.assert_allclose(all_scores(model, graph()), cosines(queries @ a, docs @ a), atol=1e-3)


def test_cl_lsa_is_the_eigenvectors_of_joined_pairs():
    queries, docs = tf_idf_rows(graph(), Analyzer("english", False, False))
    clicks = graph().clicks.to_scipy().toarray()
    moment = np.zeros((queries.shape[1],) * 2)
    for u, v in zip(*np.nonzero(clicks), strict=True):
        pair = queries[u] + docs[v]
        moment += np.log1p(clicks[u, v]) * np.outer(pair, pair)
    a = leading(moment, 6)
    model = create("cl_lsa(dim=6)").fit(graph())
    np.testing.assert_allclose(all_scores(model, graph()), cosines(queries @ a, docs @ a), atol=1e-3)


def test_lsi_dt_folds_queries_in():
    queries, docs = tf_idf_rows(graph(), Analyzer("english", True, True))
    a = leading(docs.T @ docs, 6)
    model = create("lsi_dt(dim=6)").fit(graph())
    np.testing.assert_allclose(all_scores(model, graph()), cosines(queries @ a, docs @ a), atol=1e-3)


def test_the_vocabulary_keeps_the_most_frequent_words():
    model: Any = create("lsa(dim=3,max_vocabulary=10)").fit(graph())
    held = Counter(
        t for text in texts_of(graph()) for t in set(Analyzer("english", False, False).terms(text))
    )
    least = sorted(held.values(), reverse=True)[9]
    kept = list(model.features_.views[0].terms)
    assert len(kept) == 10
    assert all(held[term] >= least for term in kept)


def test_a_user_view():
    g = graph()
    topic = {query: doc.rpartition("-")[0] for query, doc, count in planted.clicks() if count > 1}
    names = list(planted.TOPICS)
    tags = [np.eye(len(names))[[names.index(t) for t in found]] for found in (
        [topic[q] for q in g.queries], [planted.topic_of(d) for d in g.docs])]  # fmt: skip
    sides = [
        (list(ids), scipy.sparse.csr_array(rows)) for ids, rows in zip((g.queries, g.docs), tags, strict=True)
    ]
    g = g.with_view("tags", *sides)
    model = create("mpls(dim=5,views=tags)").fit(g)
    scores = all_scores(model, g)
    same = np.array([[topic[q] == planted.topic_of(d) for d in g.docs] for q in g.queries])
    assert scores[same].min() > 0.9
    assert scores[~same].max() < 0.1
    why = model.explain("ny", "hotel-0")
    assert [part.kind for part in why.parts] == ["query tags"]
    with pytest.raises(UserError, match="no view 'other'"):
        create("pls(views=other)").fit(g)


def tagged():
    """The planted graph with the topic of each query and document as its tag."""
    g = graph()
    topics = list(planted.TOPICS)
    of_query = {q: t for t, (words, _) in planted.TOPICS.items() for q in g.queries if q.split()[0] in words}
    sides = [
        (list(ids), scipy.sparse.csr_array(np.array([[float(t == topic) for t in topics] for topic in tags])))
        for ids, tags in (
            (g.queries, [of_query[q] for q in g.queries]),
            (g.docs, [planted.topic_of(d) for d in g.docs]),
        )
    ]
    return g.with_view("tags", *sides, query_features=topics, doc_features=topics)


TEXT_CAPABILITIES = {"unseen_queries", "unseen_docs", "expand"}


@pytest.mark.parametrize(
    "spec", ["pls(dim=5,views=tags)", "mpls(dim=5,views=tags+clicks)", "rmls(dim=9,views=tags)"]
)
def test_a_user_view_reads_no_texts(spec, tmp_path):
    g = tagged()
    model = create(spec).fit(g)
    model.save(tmp_path / "model")
    for trained in (model, open_model(tmp_path / "model")):
        assert not trained.capabilities & TEXT_CAPABILITIES
        assert "add" in trained.capabilities
        with pytest.raises(UserError, match=r"views=tags.* cannot expand queries"):
            trained.expand("hotel")
        with pytest.raises(UserError, match="no view of texts"):
            trained.score_texts("hotel", ["a hotel"])
    both = create(f"{spec} + lsi_qd(dim=3)").fit(g)
    assert not both.capabilities & TEXT_CAPABILITIES


def test_capabilities_follow_the_views():
    g = tagged()
    able = {views: create(f"pls(dim=5,views={views})").fit(g).capabilities for views in
            ("words", "title", "chars", "clicks", "tags+title")}  # fmt: skip
    for views in ("words", "title", "tags+title"):
        assert able[views] >= {*TEXT_CAPABILITIES, "add"}
    assert able["chars"] >= {"unseen_queries", "add"} and "expand" not in able["chars"]
    assert not able["clicks"] & {*TEXT_CAPABILITIES, "add"}


def test_added_documents_bring_features_of_a_user_view():
    g = tagged()
    model = create("pls(dim=5,views=tags)").fit(g)
    features = {"tags": {"n1": {"pizza": 3.0}, "n2": {"flu": 1.0, "unknown": 2.0}}}
    larger = model.add({"n1": "anything", "n2": "anything", "n3": "anything"}, features)
    assert larger._count_unreachable(3) == 1  # n3 has no features
    query = next(q for q in g.queries if "pizza" in q)
    scores = dict(zip(("n1", "n2", "n3"), larger.score([query], [["n1", "n2", "n3"]])[0], strict=True))
    assert scores["n1"] == pytest.approx(model.score([query], [["pizza-0"]])[0][0], rel=1e-5)
    assert scores["n2"] < 0.1 and scores["n3"] == 0
    mixed = (
        create("pls(dim=5,views=tags) + bm25").fit(g).add({"n1": "anything"}, {"tags": {"n1": {"pizza": 1}}})
    )
    assert "n1" in dict(mixed.search(query, 50).hits())
    with pytest.raises(UserError, match="uses no user view 'colours'"):
        model.add({"n1": "x"}, {"colours": {"n1": {"red": 1}}})
    with pytest.raises(UserError, match="feature 'pizza' of 'n1' in the view 'tags' cannot be -1"):
        model.add({"n1": "x"}, {"tags": {"n1": {"pizza": -1}}})


@pytest.mark.parametrize("spec", ["pls(dim=5,views=tags)", "pls(dim=5,views=words+tags)"])
def test_unknown_documents_are_scored_by_features_of_a_user_view(spec):
    model = create(spec).fit(tagged())
    texts = ["The best pizza", "anything", ""]
    features = [{"tags": {"pizza": 3.0}}, {"tags": {"flu": 1.0}}, {}]
    by_doc = {f"n{i}": one["tags"] for i, one in enumerate(features) if one}
    larger = model.add({f"n{i}": text for i, text in enumerate(texts)}, {"tags": by_doc})
    for query in ("pizza", "flu", "never seen pizza"):
        [expected] = larger.score([query], [["n0", "n1", "n2"]])
        np.testing.assert_allclose(model.score_texts(query, texts, features), expected, rtol=1e-5, atol=1e-7)
    assert model.score_texts("pizza", texts, features)[0] > 0.1
    with pytest.raises(UserError, match="3 documents, but features of 1"):
        model.score_texts("pizza", texts, features[:1])
    with pytest.raises(UserError, match=r"feature 'flu' of 'docs\[1\]' in the view 'tags' cannot be 0"):
        model.score_texts("pizza", texts, [{}, {"tags": {"flu": 0}}, {}])


def test_a_combination_scores_unknown_documents_by_features():
    model: Any = create("0.7*pls(dim=5,views=tags) + 0.3*bm25").fit(tagged())
    features = [{"tags": {"pizza": 1.0}}, {}]
    [pls, bm25] = model.parts_
    expected = sum(
        weight * scores / part.search("pizza", 1).hits()[0][1]
        for weight, part, scores in (
            (0.7, pls, pls.score_texts("pizza", ["The best pizza", "an oven"], features)),
            (0.3, bm25, bm25.score_texts("pizza", ["The best pizza", "an oven"])),
        )
    )
    found = model.score_texts("pizza", ["The best pizza", "an oven"], features)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_an_explanation_has_the_clicks_of_two_words():
    """The shares of the entry of M for two features, computed pair by pair."""
    g = graph()
    queries, docs, clicks = feature_rows(g, ["words"])
    model = create("pls(dim=7,views=words)").fit(g)
    why = model.explain("hotel", "hotel-0", clicks=None)
    [word] = why.parts
    assert (word.kind, word.label) == ("query words", "hotel")
    assert sum(inner.value for inner in word.parts) == pytest.approx(why.score, rel=1e-5)
    analyzer = Analyzer("english", True, True)
    with_word = [analyzer.terms(q) for q in g.queries]
    for inner in word.parts:
        term = analyzer.terms(inner.label)[0]
        expected = {}
        for u, v in zip(*np.nonzero(clicks), strict=True):
            title = analyzer.terms(g.title(int(v)))
            if "hotel" in with_word[u] and term in title:
                columns = [sorted({t for text in side for t in text}) for side in (
                    with_word, [analyzer.terms(g.title(i)) for i in range(len(g.docs))])]  # fmt: skip
                x, y = queries[u, columns[0].index("hotel")], docs[v, columns[1].index(term)]
                expected[g.queries[int(u)], g.docs[int(v)]] = np.log1p(clicks[u, v]) * x * y
        total = sum(expected.values())
        assert inner.edges == len(expected)
        for click in inner.clicks:
            assert click.share == pytest.approx(expected[click.query, click.doc] / total, rel=1e-4)


def test_documents_without_texts_are_refused():
    bare = ClickGraph.from_clicks([("hotel", "a", 2.0), ("motel", "b", 3.0)])
    with pytest.raises(UserError, match="needs texts"):
        create("pls").fit(bare)
    assert create("pls(views=clicks)").fit(bare).search("hotel", 1).hits()[0][0] == "a"
