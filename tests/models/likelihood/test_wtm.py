"""Word translation against IBM Model 1 in plain dictionaries, and scores against the formula."""

import math
from collections import Counter, defaultdict

import numpy as np
import pytest

import planted
from coclick import create
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.jit.threads import set_threads
from coclick.models.likelihood.wtm import WTM
from coclick.solvers.ibm_model1 import prune
from coclick.text.analyzer import Analyzer

ANALYZER = Analyzer("english", False, False)


def model_1(pairs, rounds, null_word):
    """t[w][q] by expectation maximisation over (query words, title words, weight), word by word."""
    none = ["<none>"] if null_word else []
    t: dict = defaultdict(dict)
    for query, title, _ in pairs:
        for w in [*title, *none]:
            for q in query:
                t[w][q] = 1.0
    for w in t:
        t[w] = dict.fromkeys(t[w], 1 / len(t[w]))
    likelihoods = []
    for _ in range(rounds):
        expected, likelihood = defaultdict(lambda: defaultdict(float)), 0.0
        for query, title, weight in pairs:
            words = [*title, *none]
            for q in query:
                total = sum(t[w][q] for w in words)
                likelihood += weight * math.log(total / len(words))
                for w in words:
                    expected[w][q] += weight * t[w][q] / total
        t = {w: {q: c / sum(row.values()) for q, c in row.items()} for w, row in expected.items()}
        likelihoods.append(likelihood)
    return t, likelihoods


def clicked(graph):
    titles = [ANALYZER.terms(graph.title(d)) for d in range(len(graph.docs))]
    for u, query in enumerate(graph.queries):
        for d, clicks in zip(*graph.clicks.row(u), strict=True):
            yield ANALYZER.terms(query), titles[d], float(np.log1p(np.float32(clicks)))


@pytest.mark.parametrize("null_word", [True, False])
def test_translations_are_those_of_model_1(null_word):
    graph = planted.graph()
    expected, likelihoods = model_1(list(clicked(graph)), 3, null_word)
    model = create(f"wtm(iterations=3,min_probability=0,use_null_word={str(null_word).lower()})").fit(graph)
    for word, row in expected.items():
        if word != "<none>":
            found = dict(model.translate(word, 1000))
            assert found == pytest.approx(row, rel=1e-4, abs=1e-9)
    curve = model.stats_["curve"]
    np.testing.assert_allclose([step["objective"] for step in curve], likelihoods, rtol=1e-5)


def test_the_textbook_example():
    """haus ↔ house, buch ↔ book, das ↔ the: learned from three pairs."""
    graph = ClickGraph.from_clicks(
        [("the house", "a", 1.0), ("the book", "b", 1.0), ("a book", "c", 1.0)],
        {"a": "das haus", "b": "das buch", "c": "ein buch"},
    )
    model = create("wtm(iterations=50,use_null_word=false,weight=one)").fit(graph)
    for title, query in [("das", "the"), ("haus", "house"), ("buch", "book"), ("ein", "a")]:
        best, probability = model.translate(title, 1)[0]
        assert best == query
        assert probability > 0.95
    assert model.search("house", 1).hits()[0][0] == "a"


def test_the_likelihood_never_falls():
    curve = create("wtm(iterations=25)").fit(planted.graph()).stats_["curve"]
    steps = [step["objective"] for step in curve]
    assert all(after >= before - 1e-6 * abs(before) for before, after in zip(steps, steps[1:], strict=False))


def test_scores_by_the_formula():
    graph = planted.graph()
    table, _ = model_1(list(clicked(graph)), 3, True)
    titles = [Counter(ANALYZER.terms(graph.title(d))) for d in range(len(graph.docs))]
    words = sum(titles, Counter())
    asked = Counter(t for q in graph.queries for t in ANALYZER.terms(q))
    model = create("wtm(iterations=3,min_probability=0,lambda_collection=0.3,lambda_doc=0.4)").fit(graph)
    for query in ["hotel", "ny the cheap", "trainers shoe shoe", "nothing known"]:
        [scores] = model.score([query], [list(graph.docs)])
        for title, score in zip(titles, scores, strict=True):
            expected = 0.0
            for t in ANALYZER.terms(query):
                if t in words or t in asked:
                    in_collection = words[t] / words.total() if t in words else asked[t] / asked.total()
                    share = {w: n / title.total() for w, n in title.items()}
                    translated = sum(table.get(w, {}).get(t, 0.0) * p for w, p in share.items())
                    mixed = 0.4 * share.get(t, 0.0) + 0.6 * translated
                    expected += math.log(1 + 0.7 * mixed / (0.3 * in_collection))
            assert score == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_with_lambda_doc_1_it_is_um():
    graph = planted.graph()
    um = create("um(lambda_collection=0.4,fields=title,stem=false)").fit(graph)
    model = create("wtm(lambda_collection=0.4,lambda_doc=1)").fit(graph)
    queries = [*graph.queries, "never seen hotel"]
    for query in queries:
        ours, theirs = model.search(query, 50).hits(), um.search(query, 50).hits()
        assert [doc for doc, _ in ours] == [doc for doc, _ in theirs]
        np.testing.assert_allclose([s for _, s in ours], [s for _, s in theirs], rtol=1e-6)


def test_pruned_rows_sum_to_one():
    table = WTM(min_probability=0).fit(planted.graph()).translations_
    pruned = prune(table, 0.1)
    assert pruned.nnz < table.nnz
    sums = pruned.row_sums()
    np.testing.assert_allclose(sums[pruned.row_nnz() > 0], 1, rtol=1e-6)


def test_results_do_not_depend_on_threads():
    tables = []
    for count in (1, 2, 3):
        set_threads(count)
        tables.append(WTM().fit(planted.graph()).translations_)
    set_threads(None)
    assert all(np.array_equal(tables[0].data, table.data) for table in tables[1:])


def test_an_explanation_lists_the_translated_words():
    model = create("wtm(lambda_doc=0.5)").fit(planted.graph())
    why = model.explain("ny hotel", "hotel-0")
    kinds = {inner.kind for part in why.parts for inner in part.parts}
    assert kinds == {"document", "translation", "collection"}
    [ny] = [part for part in why.parts if part.label == "ny"]
    assert {inner.label for inner in ny.parts if inner.kind == "translation"} >= {"suites", "hotel"}


def test_graphs_without_titles_and_unknown_words_are_refused():
    with pytest.raises(UserError, match="no field 'title'"):
        create("wtm").fit(ClickGraph.from_clicks([("a", "d", 1.0)], {"d": {"body": "text"}}))
    with pytest.raises(UserError, match="no clicked document has a text in 'title'"):
        create("wtm").fit(ClickGraph.from_clicks([("a", "d", 1.0)], {"d": "", "e": "text"}))
    with pytest.raises(UserError, match="does not know the word"):
        create("wtm").fit(planted.graph()).translate("zzzz", 3)
