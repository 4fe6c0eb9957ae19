"""Table 5 of Jiang et al. 2016 on a log where the order of the methods is known by construction."""

from collections import Counter

import pytest

import planted
from coclick.errors import UserError
from coclick.evaluation.unit_vectors import compare_units
from coclick.graph.click_graph import ClickGraph
from coclick.text.analyzer import Analyzer
from models.propagation.reference_vpcg import (
    Reference,
    dot,
    ndcg_at_10,
    normalised,
    pruned,
    random_log,
    total,
)


def test_rows_and_order_of_table_5():
    rows = {row["method"]: row for row in compare_units(planted.graph(), fraction=0.2, seed=1)}
    assert list(rows) == [
        "mean vector of all queries",
        "bag of words",
        "vectors of one-word queries, equal weights",
        "unit vectors, equal weights",
        "unit vectors, regression weights",
    ]
    assert all(0 <= row["cosine"] <= 1.0001 and 0 <= row["nDCG@10"] <= 1 for row in rows.values())
    mean, words, _, units, learned = rows.values()
    assert words["cosine"] > mean["cosine"]
    assert units["cosine"] > words["cosine"], "unit vectors know the words of the topic that a query lacks"
    assert learned["nDCG@10"] > mean["nDCG@10"]


def test_requires_units_and_enough_queries():
    with pytest.raises(UserError, match="generates no vectors from units"):
        compare_units(planted.graph(), "vpcg(units=none)")
    with pytest.raises(UserError, match="generates no vectors from units"):
        compare_units(planted.graph(), "bm25")
    with pytest.raises(UserError, match="too few"):
        compare_units(ClickGraph.from_clicks([("a", "x", 1)]), fraction=0.5)


@pytest.mark.parametrize(("start", "k"), [("query", 4), ("doc", 5)])
def test_table_5_by_the_reference(start, k):
    """Every figure after two iterations against plain Python; only the split is ours."""
    rows, docs = random_log(3)
    graph = ClickGraph.from_clicks(rows, docs)
    held = graph.split("queries", 0.3, 5).held_out
    unseen = [graph.queries[row] for row in range(held.rows) if held.row_nnz()[row]]
    terms = Analyzer().terms
    texts = {
        "query_terms": {query: terms(query) for query, _, _ in rows},
        "doc_terms": {doc: terms(f"{text['title']} {text['body']}") for doc, text in docs.items()},
        "title_terms": {doc: terms(text["title"]) for doc, text in docs.items()},
    }
    every = {(query, doc): weight for query, doc, weight in rows}
    train = {pair: weight for pair, weight in every.items() if pair[0] not in unseen}
    truth = Reference(every, **texts, start=start, k=k, iterations=2)
    learned = Reference(train, **texts, start=start, k=k, iterations=2)
    learned.fit_units(rho=0.3)
    equal = Reference(train, **texts, start=start, k=k, iterations=2)
    equal.fit_units(weights="equal")
    assert min(learned.weights.values()) == 0, "a unit with the learned weight 0 counts among equal weights"
    ranked = {doc: learned.docs.get(doc) or learned.generate(texts["title_terms"][doc]) for doc in docs}
    vocabulary = {term for found in texts[f"{start}_terms"].values() for term in found}

    def mean(queries):
        return normalised(pruned(total([(1, learned.queries[query]) for query in queries]), k))

    methods = {
        "mean vector of all queries": lambda query: mean(learned.queries),
        "bag of words": lambda query: normalised(dict(Counter(t for t in terms(query) if t in vocabulary))),
        "vectors of one-word queries, equal weights": lambda query: mean(
            {word for word in query.split() if word in learned.queries}
        ),
        "unit vectors, equal weights": lambda query: equal.generate(terms(query)),
        "unit vectors, regression weights": lambda query: learned.generate(terms(query)),
    }
    spec = f"vpcg(units=words,own_weight=0,start={start},max_terms={k},iterations=2,rho=0.3)"
    found = {row.pop("method"): row for row in compare_units(graph, spec, 0.3, 5)}
    assert list(found) == list(methods)
    for name, method in methods.items():
        vectors = {query: method(query) for query in unseen}
        ndcg = [
            ndcg_at_10(
                {doc: dot(vector, ranked[doc]) for doc in docs}, {doc for q, doc in every if q == query}
            )
            for query, vector in vectors.items()
        ]
        cosines = [dot(vector, truth.queries[query]) for query, vector in vectors.items()]
        expected = {
            "cosine": sum(cosines) / len(unseen),
            "nDCG@10": sum(ndcg) / len(unseen),
            "coverage": sum(map(bool, vectors.values())) / len(unseen),
        }
        assert found[name] == pytest.approx(expected, abs=2e-4), name
