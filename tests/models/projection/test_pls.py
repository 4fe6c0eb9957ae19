"""Partial least squares beside dense linear algebra on features counted in dictionaries."""

import math
from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest

import planted
from coclick import create
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.text.analyzer import Analyzer

ANALYZER = Analyzer("english", True, True)


def unit(row):
    length = math.sqrt(sum(value * value for value in row.values()))
    return {key: value / length for key, value in row.items()} if length else {}


def word_rows(texts):
    """TF-IDF with 1 + ln tf and ln(1 + N / df), of unit length."""
    counted = [Counter(ANALYZER.terms(text)) for text in texts]
    held = Counter(term for counts in counted for term in counts)
    return [
        unit({t: (1 + math.log(c)) * math.log(1 + len(texts) / held[t]) for t, c in counts.items()})
        for counts in counted
    ]


def feature_rows(graph, views) -> tuple[Any, Any, Any]:
    """Dictionaries of features for queries and documents, by the definition."""
    queries, docs = list(graph.queries), list(graph.docs)
    clicks = graph.clicks.to_scipy().toarray()
    rows = {
        "words": (word_rows(queries), word_rows([graph.title(i) for i in range(len(docs))])),
        **{
            view: tuple(
                [unit({f"#{j}": scale(c) for j, c in enumerate(row) if c and scale(c)}) for row in side]
                for side in (clicks, clicks.T)
            )
            for view, scale in (("clicks", math.log1p), ("log_clicks", math.log), ("raw_clicks", float))
        },
        "ids": tuple([{f"={i}": 1.0} for i in range(count)] for count in clicks.shape),
    }
    sides = []
    for side in (0, 1):
        joined = [
            unit({key: value for view in views for key, value in rows[view][side][i].items()})
            for i in range(clicks.shape[side])
        ]
        columns = sorted({key for row in joined for key in row})
        place = {key: i for i, key in enumerate(columns)}
        matrix = np.zeros((len(joined), len(columns)))
        for i, row in enumerate(joined):
            for key, value in row.items():
                matrix[i, place[key]] = value
        sides.append(matrix)
    return sides[0], sides[1], clicks


def weights(clicks, weight):
    if weight == "log1p":
        return np.log1p(clicks)
    if weight == "log":
        return np.where(clicks > 0, np.log(np.maximum(clicks, 1)), 0)
    if weight in ("degree", "mean"):
        degrees = (clicks > 0).sum(1, keepdims=True)
        return clicks / np.maximum(degrees, 1) / (np.count_nonzero(degrees) if weight == "mean" else 1)
    return clicks


def embeddings(queries, docs, clicks, weight, dim):
    """Unscaled singular vectors of M = Dᵀ Wᵀ Q applied to the features, and the values."""
    left, values, right = np.linalg.svd(docs.T @ weights(clicks, weight).T @ queries, full_matrices=False)
    assert values[dim - 1] - values[dim] > 1e-3 * values[0], "compared across a spectral gap"
    return queries @ right[:dim].T, docs @ left[:, :dim], values[:dim]


def all_scores(model, graph):
    return np.array(model.score(list(graph.queries), [list(graph.docs)] * len(graph.queries)))


@pytest.mark.parametrize(
    ("views", "weight"),
    [
        *product(["words+clicks", "words", "clicks"], ["log1p", "log", "clicks", "degree"]),
        ("words+raw_clicks", "mean"),  # Wu, Lu & Li 2013
        ("words+log_clicks", "log"),  # Wu, Li & Xu 2013
        ("raw_clicks", "degree"),
    ],
)
def test_scores_are_those_of_a_dense_svd(views, weight):
    graph = planted.graph()
    features = feature_rows(graph, views.split("+"))
    queries, docs, values = embeddings(*features, weight, 7)
    model = create(f"pls(dim=7,views={views},weight={weight})").fit(graph)
    np.testing.assert_allclose(model.stats_["singular_values"], values, rtol=1e-4)
    np.testing.assert_allclose(all_scores(model, graph), np.maximum(queries @ docs.T, 0), atol=2e-4)
    hits = dict(model.similar_queries("hotel", 200).hits())
    [similar] = [queries[i] @ queries.T for i in [graph.queries.id("hotel")]]
    for query, score in hits.items():
        assert score == pytest.approx(similar[graph.queries.id(query)], abs=2e-4)
    nearest = docs @ docs[graph.docs.id("shoe-1")]
    for doc, score in model.similar_docs("shoe-1", 200).hits():
        assert score == pytest.approx(nearest[graph.docs.id(doc)], abs=2e-4)


def test_an_unseen_query_has_the_embedding_of_its_words():
    graph = planted.graph()
    queries, docs, clicks = feature_rows(graph, ["words"])
    left, _, right = np.linalg.svd(docs.T @ np.log1p(clicks).T @ queries, full_matrices=False)
    texts = list(graph.queries)
    held = Counter(term for text in texts for term in set(ANALYZER.terms(text)))
    row = unit({t: math.log(1 + len(texts) / held[t]) for t in ANALYZER.terms("nike hotel")})
    columns = sorted({t for text in texts for t in ANALYZER.terms(text)})
    x = np.array([row.get(t, 0.0) for t in columns])
    expected = np.maximum((x @ right[:7].T) @ (docs @ left[:, :7]).T, 0)
    model = create("pls(dim=7,views=words)").fit(graph)
    [scores] = model.score(["nike hotel"], [list(graph.docs)])
    np.testing.assert_allclose(scores, expected, atol=2e-4)


def test_more_dimensions_than_the_data_has_are_reduced_with_a_note():
    model = create("pls(dim=5000,views=words+clicks)").fit(planted.graph())
    used = len(model.stats_["singular_values"])
    assert used < 5000
    assert f"{used} dimensions" in model.stats_["notes"][0]


def test_an_isolated_pair_is_found():
    """The "walmartmoneycard" of Wu, Li & Xu 2013: a query and its document have no other clicks."""
    clicks = [*planted.clicks(), ("walmartmoneycard", "island", 9.0), ("walmart money card", "island", 7.0)]
    graph = ClickGraph.from_clicks(clicks, {**planted.docs(), "island": "prepaid visa"})
    model = create("pls(dim=30,views=words+clicks)").fit(graph)
    assert model.search("walmartmoneycard", 1).hits()[0][0] == "island"
    assert model.similar_queries("walmartmoneycard", 1).hits()[0][0] == "walmart money card"
    assert create("cos_words").fit(graph).similar_queries("walmartmoneycard", 5).hits() == []


def test_inheritance():
    """Wu, Li & Xu 2013 §4.4: embeddings of similar queries are similar, up to the lengths that maps lose."""
    graph = planted.graph()
    queries, _, _ = feature_rows(graph, ["words", "clicks"])
    model: Any = create("pls(dim=5000,views=words+clicks)").fit(graph)
    embedded = model.query_index_.vectors.astype(float)
    similarity, image = queries @ queries.T, embedded @ embedded.T
    norms = np.diag(image)
    assert (norms <= 1 + 1e-4).all(), "orthonormal columns never lengthen"
    assert (image >= (norms[:, None] + norms[None, :]) / 2 - (1 - similarity) - 1e-4).all()


def test_transitivity():
    """Wu, Li & Xu 2013 §4.4: queries without a common word or click are similar if their documents are."""
    docs = {**planted.docs(), "one": "crimson scarlet ruby", "two": "ruby crimson scarlet"}
    clicks = [*planted.clicks(), ("alpha", "one", 5.0), ("beta", "two", 5.0)]
    graph = ClickGraph.from_clicks(clicks, docs)
    model: Any = create("pls(dim=25,views=words+clicks)").fit(graph)
    a, b = model.embed_queries(["alpha", "beta"]).astype(float)
    assert a @ b > 0.9 * np.linalg.norm(a) * np.linalg.norm(b) > 0
    assert model.similar_queries("alpha", 1).hits()[0][0] == "beta"
    assert model.search("alpha", 2).hits()[1][0] == "two"
    assert create("cos_words").fit(graph).similar_queries("alpha", 5).hits() == []
    assert create("cos_clicks").fit(graph).similar_queries("alpha", 5).hits() == []


def test_invalid_views_are_refused():
    graph = planted.graph()
    for views, message in [
        ("wrods", "no view 'wrods'"),
        ("words+words", "cannot read the views"),
        ("words+", "cannot read the views"),
    ]:
        with pytest.raises(UserError, match=message):
            create(f"pls(views={views})").fit(graph)
    silent = ClickGraph.from_clicks([("the", "d", 2.0)], {"d": "hotel"})
    with pytest.raises(UserError, match=r"(?s)is empty for every query.*remove_stop_words=false"):
        create("pls(views=words)").fit(silent)
    blank = ClickGraph.from_clicks([("hotel", "d", 2.0)], {"d": ""})
    with pytest.raises(UserError, match=r"(?s)is empty for every document.*with document texts"):
        create("pls(views=words)").fit(blank)


def test_a_field_as_a_view():
    docs = {doc: {"title": title, "body": f"{title} extra"} for doc, title in planted.docs().items()}
    graph = ClickGraph.from_clicks(planted.clicks(), docs)
    by_field = create("pls(dim=6,views=title)").fit(graph)
    by_parameter = create("pls(dim=6,views=words,fields=title)").fit(graph)
    np.testing.assert_array_equal(all_scores(by_field, graph), all_scores(by_parameter, graph))
