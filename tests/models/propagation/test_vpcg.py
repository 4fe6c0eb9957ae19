"""`vpcg` against a plain Python reference (`reference_vpcg`) and against values by hand."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from coclick import create, open_model
from coclick.arrays.csr import Csr
from coclick.graph.click_graph import ClickGraph
from coclick.models.propagation.units import UnitVectors, _top_k
from coclick.models.propagation.vpcg import VPCG
from coclick.text.analyzer import Analyzer
from models.propagation.reference_vpcg import Reference, dot, ndcg_at_10, random_log

WORDS = ["hotel", "cheap", "york", "new", "card", "credit", "money", "storm", "long", "is"]
# Irrational weights, so that no two sums are equal and the cut after K entries is unambiguous.
WEIGHTS = [math.sqrt(n) for n in (2, 3, 5, 7, 11, 13, 17, 19, 23)]

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
clicks = st.dictionaries(
    st.tuples(texts, st.sampled_from([f"d{i}" for i in range(6)])),
    st.sampled_from(WEIGHTS),
    min_size=2,
    max_size=25,
)
titles = st.lists(texts, min_size=8, max_size=8)


def both(rows, names, start, iterations, k=20):
    """The model and the reference on the same clicks; documents d6 and d7 have no clicks."""
    docs = {f"d{i}": title for i, title in enumerate(names)}
    graph = ClickGraph.from_clicks([(q, d, w) for (q, d), w in rows.items()], docs)
    model = create(
        f"vpcg(units=words,own_weight=0,start={start},iterations={iterations},max_terms={k},rho=1.0)"
    ).fit(graph)
    terms = Analyzer().terms
    weights = {edge: float(np.float32(weight)) for edge, weight in rows.items()}
    query_terms = {query: terms(query) for query, _ in rows}
    doc_terms = {doc: terms(title) for doc, title in docs.items()}
    reference = Reference(weights, query_terms, doc_terms, doc_terms, start, k, iterations)
    reference.fit_units(rho=1.0)
    return model, reference, docs


def vector(model, row):
    terms, weights = row
    return {model.terms_[int(term)]: float(weight) for term, weight in zip(terms, weights, strict=True)}


def close(ours, theirs):
    assert ours.keys() == {word for word, weight in theirs.items() if weight > 0}
    for word, weight in theirs.items():
        assert ours.get(word, 0) == pytest.approx(weight, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("iterations", [1, 3])
@pytest.mark.parametrize("start", ["query", "doc"])
@settings(max_examples=15)
@given(rows=clicks, names=titles)
def test_propagated_and_generated_vectors(start, iterations, rows, names):
    model, reference, docs = both(rows, names, start, iterations)
    terms = Analyzer().terms
    for query in {query for query, _ in rows}:
        close(vector(model, model.embed_queries([query]).row(0)), reference.queries[query])
    for doc, title in docs.items():
        expected = reference.docs[doc] if doc in reference.by_doc else reference.generate(terms(title))
        close(vector(model, model.doc_index_.vectors.row(model.graph_.docs.id(doc))), expected)
    unseen = "new york hotel storm card"
    if model.graph_.queries.id(unseen) < 0:
        close(vector(model, model.embed_queries([unseen]).row(0)), reference.generate(terms(unseen)))


@pytest.mark.parametrize("iterations", [1, 3])
@pytest.mark.parametrize("start", ["query", "doc"])
@settings(max_examples=15)
@given(rows=clicks, names=titles)
def test_shares_recomputed_from_the_raw_graph(start, iterations, rows, names):
    """Both sides, propagated and generated: every edge's share of every shared word."""
    model, reference, docs = both(rows, names, start, iterations)
    analyzer = Analyzer()
    seen = next(iter(rows))[0]
    for query in (seen, "cheap new storm money"):
        known = query in reference.by_query
        for doc in docs:
            why = model.explain(query, doc, clicks=None)
            assert sum(word.contribution for word in why.words) == pytest.approx(why.score, abs=1e-6)
            for word in why.words:
                term = analyzer.terms(word.word)[0]
                if known:
                    expected = reference.propagated_shares(query, True, term)
                else:
                    expected = reference.generated_shares(analyzer.terms(query), term)
                same_shares(word.query_clicks, expected, rows)
                if doc in reference.by_doc:
                    expected = reference.propagated_shares(doc, False, term)
                else:
                    expected = reference.generated_shares(analyzer.terms(docs[doc]), term)
                same_shares(word.clicks, expected, rows)


def same_shares(found, expected, rows):
    assert sum(click.share for click in found) == pytest.approx(1, abs=1e-5)
    ours = {(click.query, click.doc): click.share for click in found}
    largest = max([1, *map(abs, expected.values())])  # above 1 if units take some of a word's weight away
    for edge in ours.keys() | expected.keys():
        assert ours.get(edge, 0) == pytest.approx(expected.get(edge, 0), abs=1e-3 * largest)
    for click in found:
        assert click.clicks == pytest.approx(rows[click.query, click.doc], rel=1e-6)


@pytest.mark.parametrize("start", ["query", "doc"])
def test_the_papers_configuration_by_the_reference(start):
    """Plain least squares, all units, no stemming; vectors and shares of unseen queries.

    The equations leave some weights nearly undetermined, so weights are compared by how well they fit.
    """
    rows, docs = random_log(seed=4, queries=25)
    graph = ClickGraph.from_clicks(rows, {doc: texts["title"] for doc, texts in docs.items()})
    model: Any = create("vpcg", preset="paper", start=start, iterations=2, max_terms=6).fit(graph)
    assert (model.units_.weights < 0).any()
    terms = Analyzer(stem=False).terms
    query_terms = {query: terms(query) for query, _, _ in rows}
    titles_ = {doc: terms(texts["title"]) for doc, texts in docs.items()}
    clicked = {(query, doc): weight for query, doc, weight in rows}
    reference = Reference(clicked, query_terms, titles_, titles_, start, 6, 2)
    reference.fit_units(min_texts=1, weights="least_squares")
    best = reference.error()
    labels = model.units_.words.labels(np.arange(len(model.units_.weights)), model.display_terms_)
    reference.weights = {
        tuple(label.split()): float(weight)
        for label, weight in zip(labels, model.units_.weights, strict=True)
    }
    assert reference.weights.keys() == reference.units.keys()
    assert best - 1e-6 <= reference.error() <= 1.001 * best + 1e-6
    signs = set()
    for query in ("cheap new storm", "hotel long is best", "money card flights york"):
        assert graph.queries.id(query) < 0
        ours, theirs = vector(model, model.embed_queries([query]).row(0)), reference.generate(terms(query))
        close(ours, theirs)
        for doc in ("d00", "d11"):
            for word in model.explain(query, doc, clicks=None).words:
                same_shares(word.query_clicks, reference.generated_shares(terms(query), word.word), clicked)
                signs |= {np.sign(click.share) for click in word.query_clicks}
    assert signs == {-1, 1}, "units with negative weights take some of a word's weight away"


def test_words_that_units_take_away_are_dropped():
    """One unit has "a" and the other "a" and "b": with the weights −2 and 1, "b" is left."""
    vectors = Csr.from_triples(np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([1.0, 0.8, 0.6]), (2, 2))
    ends, rows = np.zeros(3, np.int64), np.empty(0, np.int32)
    units = UnitVectors(None, None, vectors, np.array([-2, 1], np.float32), ends, rows)
    mixture = Csr.from_triples(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([-2.0, 1.0, -2.0]), (3, 2))
    generated = units.generate(mixture, 5)
    assert generated.row(0)[0].tolist() == [1] and generated.row(0)[1].tolist() == [1.0]
    assert generated.row_nnz().tolist() == [1, 0, 0]


@pytest.mark.parametrize("k", [1, 2, 3, 9])
def test_the_largest_entries_of_each_row(k):
    """As numpy sorts them, with ties for the smaller column, and an empty row."""
    dense = np.array([[3, 0, 5, 5, 1], [0, 0, 0, 0, 0], [2, 2, 2, 2, 2]], np.float32)
    found = _top_k(Csr.from_scipy(scipy.sparse.csr_array(dense)), k)
    for row, values in enumerate(dense):
        order = [c for c in np.argsort(-values, kind="stable") if values[c] > 0][:k]
        assert found.row(row)[0].tolist() == sorted(order)
        assert found.row(row)[1].tolist() == [values[c] for c in sorted(order)]


YAHOO = [("yahoo finance", "d1", 3), ("yahoo", "d1", 5), ("yahoo", "d2", 2), ("yahoo mail", "d2", 4)]


def test_figure_1_of_the_paper():
    """d1 has 3 clicks of "yahoo finance" and 5 of "yahoo": its vector is the normalised 3/8·Q₁ + 5/8·Q₂."""
    model: Any = create("vpcg(units=words,own_weight=0,stem=false)").fit(ClickGraph.from_clicks(YAHOO))
    finance, yahoo = 3 / 8 / math.sqrt(2), 3 / 8 / math.sqrt(2) + 5 / 8
    length = math.hypot(finance, yahoo)
    ours = vector(model, model.doc_index_.vectors.row(0))
    assert ours == pytest.approx({"finance": finance / length, "yahoo": yahoo / length}, rel=1e-6)


def test_shares_by_hand():
    """In d1, "finance" comes from one edge alone; "yahoo" from two: 3/√2 against 5."""
    model = create("vpcg(units=words,own_weight=0,stem=false)").fit(ClickGraph.from_clicks(YAHOO))
    words = {word.word: word for word in model.explain("yahoo finance", "d1").words}
    [only] = words["finance"].clicks
    assert (only.query, only.doc, only.clicks, only.share) == ("yahoo finance", "d1", 3, 1)
    shares = {click.query: click.share for click in words["yahoo"].clicks}
    amount = 3 / math.sqrt(2)
    assert shares == pytest.approx({"yahoo": 5 / (5 + amount), "yahoo finance": amount / (5 + amount)})


def test_logarithmic_weights():
    """With log1p, 3 and 5 clicks have the weights log 4 and log 6."""
    model: Any = create("vpcg(units=words,own_weight=0,stem=false,weight=log1p)").fit(
        ClickGraph.from_clicks(YAHOO)
    )
    finance = math.log(4) / math.sqrt(2)
    yahoo = finance + math.log(6)
    length = math.hypot(finance, yahoo)
    ours = vector(model, model.doc_index_.vectors.row(0))
    assert ours == pytest.approx({"finance": finance / length, "yahoo": yahoo / length}, rel=1e-6)


def test_decomposition_of_an_unseen_query():
    """Jiang et al. 2016 §3.3: "walmart credit card" is {walmart, credit card} of longest units."""
    rows = [
        ("walmart", "w", 2),
        ("walmart store", "w", 1),
        ("credit card", "c", 3),
        ("best credit card", "c", 2),
    ]
    model = create("vpcg(units=words,own_weight=0,unit_weights=equal)").fit(ClickGraph.from_clicks(rows))
    units = {
        part.label
        for doc in ("w", "c")
        for word in model.explain("walmart credit card", doc).parts
        for part in word.parts
    }
    assert units == {"walmart", "credit card"}


def test_character_units_match_run_together_words():
    rows = [
        ("walmart money card", "w", 5),
        ("walmart money", "w", 2),
        ("pizza dough", "p", 9),
        ("pizza", "p", 4),
    ]
    docs = {"w": "Walmart MoneyCard", "p": "Pizza"}
    graph = ClickGraph.from_clicks(rows, docs)
    assert create("vpcg(units=words,own_weight=0)").fit(graph).search("walmartmoneycard").hits() == []
    for kind in ("chars", "words+chars"):
        hits = create(f"vpcg(units={kind},own_weight=0)").fit(graph).search("walmartmoneycard").hits()
        assert hits[0][0] == "w", kind
        why = (
            create(f"vpcg(units={kind},own_weight=0)")
            .fit(graph)
            .explain("walmartmoneycard", "w", clicks=None)
        )
        assert sum(part.value for part in why.parts) == pytest.approx(why.score, rel=1e-5)
        assert all(label.label.startswith("~") for part in why.parts for label in part.parts)


def test_own_words_are_weighted_and_have_no_clicks():
    """With equal weights and one known unit u, a generated vector is norm(U_u + own·words by idf)."""
    rows = [("yahoo", "d1", 2), ("yahoo mail", "d1", 3), ("mail", "d2", 1)]
    graph = ClickGraph.from_clicks(rows)
    paper: Any = create("vpcg(units=words,own_weight=0,stem=false,unit_weights=equal)").fit(graph)
    model: Any = create("vpcg(units=words,stem=false,unit_weights=equal,own_weight=2)").fit(graph)
    unit = vector(paper, paper.embed_queries(["yahoo unknown"]).row(0))
    expected = {word: weight + 2 * (word == "yahoo") for word, weight in unit.items()}
    length = math.sqrt(sum(weight**2 for weight in expected.values()))
    ours = vector(model, model.embed_queries(["yahoo unknown"]).row(0))
    assert ours == pytest.approx({word: weight / length for word, weight in expected.items()}, rel=1e-5)
    why = model.explain("yahoo unknown", "d1", clicks=None)
    words = {word.word: word for word in why.words}
    shares = sum(click.share for click in words["yahoo"].query_clicks)
    assert shares == pytest.approx(unit["yahoo"] / (unit["yahoo"] + 2), rel=1e-5)
    assert sum(click.share for click in words["mail"].query_clicks) == pytest.approx(1, rel=1e-5)
    for part in why.parts:
        assert sum(unit.value for unit in part.parts) == pytest.approx(part.value, rel=1e-5)


def test_documents_without_titles_use_their_first_field(tmp_path):
    docs = {"a": {"body": "yahoo mail"}, "b": {"body": "yahoo mail"}}
    rows = [("yahoo mail", "a", 2), ("yahoo", "a", 3)]
    create("vpcg(units=words,own_weight=0)").fit(ClickGraph.from_clicks(rows, docs)).save(tmp_path / "model")
    why = open_model(tmp_path / "model").explain("yahoo", "b")
    assert why.score > 0
    assert all(word.clicks for word in why.words)


@pytest.mark.parametrize("new", ["yahoo mail", {"body": "yahoo mail"}, {"title": "x", "body": "yahoo mail"}])
def test_documents_without_titles_can_be_added(tmp_path, new):
    """A plain text is taken as the first field of the graph; other fields are dropped."""
    docs = {"a": {"body": "yahoo mail"}, "b": {"body": "yahoo mail"}}
    rows = [("yahoo mail", "a", 2), ("yahoo", "a", 3)]
    model = create("vpcg(units=words,own_weight=0)").fit(ClickGraph.from_clicks(rows, docs))
    model.add({"c": new}).save(tmp_path / "model")
    larger = open_model(tmp_path / "model")
    assert {name: list(texts) for name, texts in larger.graph_.texts.items()} == {"body": ["yahoo mail"] * 3}
    [scores] = larger.score(["yahoo"], [["b", "c"]])
    assert scores[0] == scores[1] > 0
    for doc in ("b", "c"):
        assert all(word.clicks for word in larger.explain("yahoo", doc).words)


def test_vectors_are_generated_in_blocks(monkeypatch):
    rows, names = [("yahoo mail", "a", 2), ("yahoo", "a", 3)], ["a", "b", "c", "d", "e"]
    graph = ClickGraph.from_clicks(rows, {name: f"yahoo mail {name}" for name in names})
    whole = VPCG(min_texts=1).fit(graph).doc_index_.vectors
    monkeypatch.setattr("coclick.models.propagation.units._TEXTS_PER_BLOCK", 3)
    blocks = VPCG(min_texts=1).fit(graph).doc_index_.vectors
    assert (whole.row_nnz() > 0).all()
    for ours, theirs in zip(whole.row(4), blocks.row(4), strict=True):
        assert ours.tolist() == theirs.tolist()
    assert blocks.nnz == whole.nnz


def test_the_number_of_iterations_by_convergence_and_validation():
    rows = [
        (f"q{i} topic{i % 3}", f"d{(i * j) % 30}-{i % 3}", 1.0 + j) for i in range(40) for j in range(1, 5)
    ]
    graph = ClickGraph.from_clicks(rows)
    converged = create("vpcg(units=words,own_weight=0,iterations=converge)").fit(graph).stats_["rounds"]
    assert 1 < len(converged) <= 20
    assert converged[-1]["cosine_to_round_before"] > 0.999 or len(converged) == 20
    assert all(row["cosine_to_round_before"] <= 0.999 for row in converged[:-1])
    chosen = create("vpcg(units=words,own_weight=0,iterations=validate)").fit(graph)
    tried = {row["rounds"]: row["ndcg_at_10"] for row in chosen.stats_["validation"]}
    assert len(chosen.stats_["rounds"]) == min(n for n, v in tried.items() if v == max(tried.values()))


@pytest.mark.parametrize("start", ["query", "doc"])
@pytest.mark.parametrize("fields", ["all", "title", "body+title"])
def test_fields_and_pruning(start, fields):
    """Propagation reads the chosen fields, units always the titles; generated vectors are pruned too."""
    rows, docs = random_log(9)
    graph = ClickGraph.from_clicks(rows, docs)
    model: Any = create(
        f"vpcg(units=words,own_weight=0,start={start},fields={fields},max_terms=4,rho=1.0)"
    ).fit(graph)
    terms = Analyzer().terms
    chosen = {"all": ["title", "body"]}.get(fields, fields.split("+"))
    reference = Reference(
        {(query, doc): weight for query, doc, weight in rows},
        {query: terms(query) for query, _, _ in rows},
        {doc: terms(" ".join(text[name] for name in chosen)) for doc, text in docs.items()},
        {doc: terms(text["title"]) for doc, text in docs.items()},
        start,
        4,
    )
    reference.fit_units(rho=1.0)
    for query, expected in reference.queries.items():
        close(vector(model, model.embed_queries([query]).row(0)), expected)
    for doc, text in docs.items():
        expected = reference.docs.get(doc) or reference.generate(terms(text["title"]))
        close(vector(model, model.doc_index_.vectors.row(graph.docs.id(doc))), expected)
    for query in ("new york hotel storm card", "cheap flights"):
        assert len(reference.raw(terms(query))) > 4
        close(vector(model, model.embed_queries([query]).row(0)), reference.generate(terms(query)))


@pytest.mark.parametrize("start", ["query", "doc"])
def test_validation_by_the_reference(start):
    """Train on some pairs, rank without their documents, keep the best number of iterations."""
    rows, docs = random_log(4, queries=60, docs=25)
    graph = ClickGraph.from_clicks(rows, docs)
    model = create(f"vpcg(units=words,own_weight=0,start={start},iterations=validate,seed=2)").fit(graph)
    rest, held_out = graph.split("pairs", 0.1, 2)
    terms = Analyzer().terms
    trained = {
        (graph.queries[u], graph.docs[int(v)]): float(weight)
        for u in range(len(graph.queries))
        for v, weight in zip(*rest.clicks.row(u), strict=True)
    }
    doc_terms = {doc: terms(f"{text['title']} {text['body']}") for doc, text in docs.items()}
    query_terms = {query: terms(query) for query, _, _ in rows}
    expected = []
    for iterations in range(1, 6):
        reference = Reference(trained, query_terms, doc_terms, doc_terms, start, 20, iterations)
        values = []
        for row in np.flatnonzero(held_out.row_nnz()).tolist():
            query = graph.queries[row]
            scores = {
                doc: dot(reference.queries[query], vector)
                for doc, vector in reference.docs.items()
                if (query, doc) not in trained
            }
            values.append(ndcg_at_10(scores, {graph.docs[int(doc)] for doc in held_out.row(row)[0]}))
        expected.append(sum(values) / len(values))
    found = model.stats_["validation"]
    assert [row["rounds"] for row in found] == [1, 2, 3, 4, 5]
    assert [row["ndcg_at_10"] for row in found] == pytest.approx(expected, abs=1e-4)
    assert len(model.stats_["rounds"]) == 1 + int(np.argmax(np.round(expected, 4)))


def test_validation_takes_the_fewest_of_equally_good_iterations():
    """Two separate groups of the same queries and documents: every number of iterations ranks perfectly."""
    rows = [(f"{name} {i}", f"{name}{j}", 1.0) for name in "ab" for i in range(6) for j in range(6)]
    model = create("vpcg(units=words,own_weight=0,iterations=validate)").fit(ClickGraph.from_clicks(rows))
    assert [row["ndcg_at_10"] for row in model.stats_["validation"]] == [1.0] * 5
    assert len(model.stats_["rounds"]) == 1


def test_collapse_shows_in_the_statistics():
    """On a connected, dense graph the cosine of random pairs grows with every iteration."""
    rows = [(f"word{i} shared", f"d{j}", 1.0 + (i * j) % 5) for i in range(12) for j in range(12)]
    iterations = (
        create("vpcg(units=words,own_weight=0,iterations=4)")
        .fit(ClickGraph.from_clicks(rows))
        .stats_["rounds"]
    )
    alike = [row["cosine_of_random_pairs"] for row in iterations]
    assert alike == sorted(alike)
    assert alike[-1] > 0.95
