"""Compare models trained by two engines up to rounding: rows by terms, not by ids."""

from dataclasses import fields

import numpy as np

from coclick.logs import rejects, variants

TOLERANCE = 1e-5
TIE_TOLERANCE = 1e-6  # entries this close to the K-th may be kept by one engine only


def entries(rows, row, names):
    columns, values = rows.row(row)
    return {names[int(column)]: float(value) for column, value in zip(columns, values, strict=True)}


def assert_same_rows(first, second, first_names, second_names):
    """Assert that all rows have the same entries."""
    assert first.rows == second.rows
    for row in range(first.rows):
        a, b = entries(first, row, first_names), entries(second, row, second_names)
        both = a.keys() & b.keys()
        assert all(abs(a[name] - b[name]) < TOLERANCE for name in both), row
        last = min([*a.values(), *b.values()], default=0.0)
        assert all(abs((a | b)[name] - last) < TIE_TOLERANCE for name in a.keys() ^ b.keys()), row


def assert_same_ranking(first, second, queries, k=10):
    """Assert the same documents in the same order, except for ties."""
    ours, theirs = first.search(queries, k), second.search(queries, k)
    for place in range(len(queries)):
        a, b = ours.hits(place), theirs.hits(place)
        assert len(a) == len(b)
        assert np.allclose([score for _, score in a], [score for _, score in b], atol=TOLERANCE)
        tied = {round(score, 5) for _, score in b if sum(abs(score - other) < 2e-5 for _, other in b) > 1}
        last = b[-1][1] if b else 0.0
        for (doc, score), (other, _) in zip(a, b, strict=True):
            assert doc == other or round(score, 5) in tied or abs(score - last) < TOLERANCE, queries[place]


def assert_same_graph(there, here):
    """Assert that all tables of both graphs are equal."""
    assert there.queries.to_list() == here.queries.to_list()
    assert there.docs.to_list() == here.docs.to_list()
    for name in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(there.clicks, name), getattr(here.clicks, name)), name
    texts = [{name: texts.to_list() for name, texts in graph.texts.items()} for graph in (there, here)]
    assert texts[0] == texts[1]
    for name in ("indptr", "docs", "impressions", "users", "sessions", "navigational"):
        assert np.array_equal(getattr(there.pairs, name), getattr(here.pairs, name)), name
    for table in ("daily", "skips", "searches", "followups"):
        for column in fields(getattr(here, table)):
            both = [getattr(getattr(graph, table), column.name) for graph in (there, here)]
            if both[0] is None and both[1] is None:
                continue
            assert np.array_equal(*both) and both[0].dtype == both[1].dtype, (table, column.name)
    assert variants(there) == variants(here) != []
    assert_same_rejects(there, here)


def assert_same_rejects(there, here):
    """Assert the same rejected rows with the same reasons."""
    for figure in ("rows", "right", "rejected"):
        assert there.stats[figure] == here.stats[figure], figure
    ours, theirs = (sorted(row[2:] for row in rejects(graph)) for graph in (there, here))
    assert ours == theirs
    of_docs = sum(there.stats["docs_rejected"].values())
    assert len(ours) == there.stats["rows"] - there.stats["right"] + of_docs > 0


def assert_same_model(there, here):
    """Assert equal vectors within 1e-5 and equal top 10 documents."""
    {"vpcg": assert_same_vpcg, "rw": assert_same_rw, "rmls": assert_same_rmls}[here.name](there, here)
    assert_same_ranking(there, here, here.graph_.queries.to_list()[:50])


def assert_same_vpcg(there, here):
    names = there.terms_.to_list(), here.terms_.to_list()
    forms = [
        dict(zip(n, model.display_terms_, strict=True)) for n, model in zip(names, (there, here), strict=True)
    ]
    assert forms[0] == forms[1]
    assert_same_rows(there.query_index_.vectors, here.query_index_.vectors, *names)
    assert_same_rows(there.doc_index_.vectors, here.doc_index_.vectors, *names)
    assert_same_rows(there.previous_vectors_, here.previous_vectors_, *names)
    assert (there.units_ is None) == (here.units_ is None)
    if here.units_ is None:
        return
    grams = [
        [tuple(n[term] for term in gram if term >= 0) for gram in model.units_.words.grams().tolist()]
        for n, model in zip(names, (there, here), strict=True)
    ]
    assert sorted(grams[0]) == sorted(grams[1])
    place = {gram: i for i, gram in enumerate(grams[1])}
    order = np.array([place[gram] for gram in grams[0]])
    assert_same_rows(there.units_.vectors, here.units_.vectors.take(order), *names)
    assert np.allclose(there.units_.weights, here.units_.weights[order], atol=TOLERANCE)
    texts_of_unit = np.diff(there.units_.text_indptr), np.diff(here.units_.text_indptr)[order]
    assert np.array_equal(*texts_of_unit)
    unseen = ["an unknown thing", *(f"{query} sale" for query in here.graph_.queries.to_list()[:10])]
    assert_same_ranking(there, here, unseen)


def assert_same_rw(there, here):
    assert np.allclose(there.query_clicks_, here.query_clicks_)
    assert np.allclose(there.doc_clicks_, here.doc_clicks_)


def assert_same_rmls(there, here):
    words = [model.features_.words()[0] for model in (there, here)]
    assert words[0].terms.to_list() == words[1].terms.to_list()
    for side in ("query", "doc"):
        for part in ("features_", "map_"):
            rows = [getattr(model, f"{side}_{part}") for model in (there, here)]
            first, second = (getattr(value, "matrix", value).to_scipy() for value in rows)
            assert abs(first - second).max() < TOLERANCE, (side, part)
        first, second = (getattr(model, f"{side}_index_").vectors for model in (there, here))
        assert np.allclose(first, second, atol=TOLERANCE), side
    assert_same_ranking(there, here, ["an unknown thing", here.graph_.queries[0] + " sale"])
