"""Explanations, expansions, similarities and statistics, computed again from the learned tables."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import planted
from coclick import ClickGraph, create
from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.models.likelihood import _base
from coclick.models.likelihood._base import Counts, LikelihoodModel, clicked_pairs

CLICKS = [("cheap trainers", "a", 3), ("trainers", "a", 1), ("running trainers", "b", 1), ("hat", "c", 5)]
TITLES = {"a": "running shoes shoes", "b": "running", "c": "felt hat", "d": "felt", "e": ""}
WORDS = {doc: Counter(title.split()) for doc, title in TITLES.items()}
COLLECTION = sum(WORDS.values(), Counter())  # 7 words
ASKED = Counter(word for query, _, _ in CLICKS for word in query.split())


@pytest.fixture(scope="module")
def graph():
    return ClickGraph.from_clicks(CLICKS, TITLES)


@pytest.fixture(scope="module")
def wtm(graph):
    return create("wtm(lambda_doc=0.3,lambda_collection=0.4,min_probability=0.05)").fit(graph)


@pytest.fixture(scope="module")
def bltm(graph):
    model: Any = create("bltm(n_topics=3,lambda_doc=0.3,lambda_collection=0.4,iterations=4)")
    return model.fit(graph)


def in_collection(word):
    """P(t|C): of titles, or of queries if no title has the word."""
    return COLLECTION[word] / COLLECTION.total() if COLLECTION[word] else ASKED[word] / ASKED.total()


def value_of(count, mixed, word):
    return count * math.log(1 + 0.6 * mixed / (0.4 * in_collection(word)))


@pytest.mark.parametrize("doc", ["a", "c"])
def test_an_explanation_by_translations(wtm, doc):
    """Document and translations share the value in proportion to their summands of the probability."""
    held = {word: count / WORDS[doc].total() for word, count in WORDS[doc].items()}
    table = {word: dict(wtm.translate(word, 100)) for word in held}
    query = Counter(["running", "trainers", "trainers", "hat"])
    why = wtm.explain(" ".join(query.elements()), doc)
    expected = {}
    for word, count in query.items():
        translated = {source: table[source].get(word, 0.0) * share for source, share in held.items()}
        own, model = 0.3 * held.get(word, 0.0), 0.7 * sum(translated.values())
        if own + model:
            value = value_of(count, own + model, word)
            parts = [("document", word, value * own / (own + model))] if own else []
            parts += [
                ("translation", source, value * 0.7 * part / (own + model))
                for source, part in translated.items()
                if part
            ]
            share = 0.4 * in_collection(word) / (0.4 * in_collection(word) + 0.6 * (own + model))
            ranked = sorted(parts, key=lambda part: -part[2])
            last = ("collection", f"{share:.0%} of its probability, the same for all", 0.0)
            expected[word] = value, [*ranked, last]
    assert [part.label for part in why.parts] == sorted(expected, key=lambda word: -expected[word][0])
    for part in why.parts:
        value, inner = expected[part.label]
        assert (part.kind, part.value) == ("word", pytest.approx(value, rel=1e-5))
        assert [one.kind for one in part.parts] == [kind for kind, _, _ in inner]
        assert [one.label for one in part.parts] == [label for _, label, _ in inner]
        assert [one.value for one in part.parts] == pytest.approx([v for _, _, v in inner], rel=1e-5)
    assert why.score == pytest.approx(sum(value for value, _ in expected.values()), rel=1e-5)
    assert wtm.explain("unknown", doc).parts == [] and wtm.explain("hat", "e").parts == []


def test_an_explanation_without_the_model_part(graph):
    model = create("wtm(lambda_doc=1,lambda_collection=0.4)").fit(graph)
    [part] = model.explain("felt", "c").parts
    assert part.value == pytest.approx(value_of(1, 0.5, "felt"))
    assert [(one.kind, one.label) for one in part.parts[:1]] == [("document", "felt")]
    assert len(part.parts) == 2 and part.parts[0].value == part.value


def test_an_expansion_is_explained_by_title_words(wtm):
    [first, *_] = wtm.explain_expansion("a", 1)
    held = {"running": 1 / 3, "shoes": 2 / 3}
    parts = {word: dict(wtm.translate(word, 100)).get(first.label, 0.0) * held[word] for word in held}
    assert first.value == pytest.approx(value_of(1, 0.7 * sum(parts.values()), first.label), rel=1e-5)
    for part in first.parts:
        assert part.kind == "translation"
        share = parts[part.label] / sum(parts.values())
        assert part.value == pytest.approx(first.value * share, rel=1e-5)
    assert [click.query for click in first.clicks] == ["cheap trainers", "trainers"][: len(first.clicks)]


def test_translations_are_sorted_and_counted(wtm, graph):
    found = wtm.translate("running", 100)
    assert [p for _, p in found] == sorted((p for _, p in found), reverse=True)
    assert wtm.translate("running", 1) == found[:1]
    table = wtm.translations_
    stats = wtm.stats_["translations"]
    assert stats["kept"] == table.nnz and stats["learned"] >= table.nnz
    everything = create("wtm(min_probability=0)").fit(graph).stats_["translations"]
    assert everything["learned"] == everything["kept"] == stats["learned"]
    itself = sum(dict(wtm.translate(word, 100)).get(word, 0.0) for word in COLLECTION)
    assert stats["mean_self_translation"] == pytest.approx(itself / len(COLLECTION), rel=1e-5)
    with pytest.raises(UserError, match="no clicked document has the word 'cheap' in title"):
        wtm.translate("cheap")
    for wrong in ("running shoes", "", "zzzz"):
        with pytest.raises(UserError, match=f"does not know the word '{wrong}'"):
            wtm.translate(wrong)


def test_coverage_is_the_share_of_known_words(wtm):
    assert wtm.evidence("running hat zzzz") == {"coverage": pytest.approx(2 / 3)}
    assert wtm.evidence("") == {"coverage": 0.0}


@pytest.mark.parametrize("name", ["wtm", "bltm(n_topics=4)"])
def test_blocks_and_batches_do_not_change_results(name, monkeypatch):
    graph = planted.graph()
    model: Any = create(name).fit(graph)
    queries = [*planted.TOPICS, "hotel the stay", "never seen hotel hotel", "zzzz"]
    [scores] = np.array([model.score(queries, [list(graph.docs)] * len(queries))])
    for block, batch in ((1 << 14, 1 << 22), (7, 3 * len(graph.docs)), (39, 1)):
        monkeypatch.setattr(_base, "_BLOCK", block)
        monkeypatch.setattr(_base, "_MAX_SCORES", batch)
        found = model.search(queries, 100)
        for i, row in enumerate(scores):
            expected = {graph.docs[d]: float(s) for d, s in enumerate(row) if s > 0}
            assert dict(found.hits(i)) == expected
            assert [s for _, s in found.hits(i)] == sorted(expected.values(), reverse=True)


def test_blocks_of_probabilities_are_those_of_single_documents(wtm, bltm):
    terms, docs = np.array([0, 2, 3], np.int32), np.arange(1, 4, dtype=np.int32)
    for model in (wtm, bltm):
        exact = model._word_probabilities(terms, docs)
        assert exact.any()
        np.testing.assert_allclose(model._word_probabilities_block(terms, 1, 4), exact, rtol=1e-5)
        block = LikelihoodModel._word_probabilities_block(model, terms, 1, 4)
        np.testing.assert_array_equal(block, exact.astype(np.float32))


def test_error_bounds_grow_with_the_number_of_additions(wtm, bltm):
    """A float32 addition has a relative error of at most 2⁻²⁴; four times that for each."""
    assert wtm._relative_error == 2**-22  # sums in float64, rounded once
    assert bltm._relative_error == 3 * 2**-22


def test_plsa_needs_a_title():
    bare = ClickGraph.from_clicks([("hat", "a", 1)], {"a": ""})
    with pytest.raises(UserError, match="no document has a text in 'title'") as error:
        create("plsa").fit(bare)
    assert error.value.hint == "name another field"


def theta_of(model, text, words, alpha=1.1):
    """Eq. 8: topics of a text by twenty rounds of fold-in."""
    terms = [model.terms_.id(word) for word in text.split()]
    chances = [words[t].astype(float) for t in terms if words[t].any()]
    theta = np.full(words.shape[1], 1 / words.shape[1])
    for _ in range(20):
        expected = np.full(len(theta), alpha - 1) + sum(theta * p / (theta @ p) for p in chances)
        theta = expected / expected.sum()
    return theta if chances else np.zeros(len(theta))


def test_expansion_through_topics(bltm):
    theta = theta_of(bltm, "running trainers", bltm.topics_.query_words)
    likely = {
        word: float(theta @ bltm.topics_.title_words[i])
        for i, word in enumerate(bltm.terms_)
        if bltm.topics_.title_words[i].any()
    }
    found = bltm.expand("running trainers")
    assert dict(found) == pytest.approx(likely, rel=1e-3)
    assert [w for _, w in found] == sorted((w for _, w in found), reverse=True)


def test_at_most_twenty_words_expand_a_query():
    model = create("bltm(n_topics=5)").fit(planted.graph())
    assert len(model.expand("hotel")) == 20


def test_translation_through_topics(bltm):
    """P(z|w) ∝ P(w|z) P(z), then Σ_z P(t|z) P(z|w)."""
    term = bltm.terms_.id("running")
    share = np.mean([theta_of(bltm, t, bltm.topics_.title_words) for t in TITLES.values() if t], axis=0)
    np.testing.assert_allclose(bltm.share_, share, rtol=1e-3)
    topics = bltm.topics_.title_words[term] * share
    likely = bltm.topics_.query_words @ (topics / topics.sum())
    expected = {w: float(likely[i]) for i, w in enumerate(bltm.terms_) if likely[i] > 0}
    found = bltm.translate("running", 100)
    assert dict(found) == pytest.approx(expected, rel=1e-3)
    assert bltm.translate("running", 2) == found[:2]
    assert [p for _, p in found] == sorted((p for _, p in found), reverse=True)


def test_similarity_is_that_of_the_mixtures(bltm, graph):
    titles = {doc: np.sqrt(theta_of(bltm, text, bltm.topics_.title_words)) for doc, text in TITLES.items()}
    expected = {doc: float(root @ titles["a"]) for doc, root in titles.items() if doc not in ("a", "e")}
    assert dict(bltm.similar_docs("a", 10)) == pytest.approx(expected, rel=1e-3)
    queries = {q: np.sqrt(theta_of(bltm, q, bltm.topics_.query_words)) for q in graph.queries}
    expected = {q: float(root @ queries["trainers"]) for q, root in queries.items() if q != "trainers"}
    assert dict(bltm.similar_queries("trainers", 10)) == pytest.approx(expected, rel=1e-3)


def test_topics_are_described_by_share(bltm):
    found = bltm.describe_topics(2)
    assert [topic["share"] for topic in found] == sorted(bltm.share_.tolist(), reverse=True)
    for topic in found:
        z = topic["topic"]
        assert topic["share"] == bltm.share_[z]
        for name, words in (
            ("query_words", bltm.topics_.query_words[:, z]),
            ("title_words", bltm.topics_.title_words[:, z]),
        ):
            best = sorted(range(len(words)), key=lambda i: -words[i])[:2]
            assert [p for _, p in topic[name]] == pytest.approx([float(words[i]) for i in best])
            assert all(words[bltm.terms_.id(word)] == np.float32(p) for word, p in topic[name])
    assert len(bltm.describe_topics(1)[0]["query_words"]) == 1


def test_an_explanation_shows_five_topics_and_the_rest():
    model: Any = create("bltm(n_topics=8)").fit(planted.graph())
    why = model.explain("ny", "hotel-0")
    [ny] = why.parts
    topics = [part for part in ny.parts if part.kind == "topic"]
    assert len(topics) == 6 and [part.label for part in topics].count("other topics") == 1
    doc, term = model.graph_.docs.id("hotel-0"), model.terms_.id("ny")
    products = model.topics_.query_words[term].astype(float) * model.doc_topics_[doc]
    order = np.argsort(-products)
    shown = [part for part in topics if part.label != "other topics"]
    for part, z in zip(shown, order[:5].tolist(), strict=True):
        assert part.value == pytest.approx(ny.value * products[z] / products.sum(), rel=1e-4)
        best = model.describe_topics(3)
        words = [w for topic in best if topic["topic"] == z for w, _ in topic["query_words"]]
        assert part.label == f"topic {z}: {', '.join(words)}"
    [rest] = [part for part in topics if part.label == "other topics"]
    assert rest.value == pytest.approx(ny.value * products[order[5:]].sum() / products.sum(), rel=1e-4)


def test_weights_of_pairs_with_words_on_both_sides(graph):
    """The words of the title of b and of the query "trainers" are missing here."""
    queries, docs = np.array([1, 1, 1, 0]), np.array([1, 0, 1, 1, 0])
    order = list(graph.queries)
    assert order == sorted(order)
    counts = Counts(_ones(queries), _ones(docs))
    kept = [(q, d, c) for q, d, c in sorted(CLICKS) if queries[order.index(q)] and d != "b"]
    assert len(kept) == 2
    for weight, value in (("clicks", float), ("one", lambda c: 1.0), ("log1p", math.log1p)):
        query_of, title_of, weights = clicked_pairs(graph, counts, weight, "title")
        assert [order[q] for q in query_of] == [q for q, _, _ in kept]
        assert [graph.docs[d] for d in title_of.tolist()] == [d for _, d, _ in kept]
        assert weights.tolist() == pytest.approx([value(c) for _, _, c in kept])
    with pytest.raises(UserError, match="no clicked document has a text in 'body'"):
        clicked_pairs(graph, Counts(_ones(queries), _ones(docs * 0)), "one", "body")


def _ones(rows):
    return Csr(np.concatenate([[0], np.cumsum(rows)]), np.zeros(rows.sum(), np.int32),
               np.ones(rows.sum(), np.float32), 1)  # fmt: skip


def test_a_word_of_several_fields_and_of_missing_ones():
    docs = {"a": {"title": "hat", "body": "felt felt"}, "b": {"title": "sock"}}
    model = create("wtm(fields=title+body,lambda_doc=1)").fit(
        ClickGraph.from_clicks([("hat", "a", 1), ("sock", "b", 1)], docs)
    )
    found = model.score_texts("felt", [{"title": "hat", "body": "felt"}, {"title": "hat"}, {"body": "felt"}])
    odds = 0.5 / (0.5 * 2 / 4)
    assert found.tolist() == pytest.approx([math.log(1 + odds / 2), 0.0, math.log(1 + odds)])
