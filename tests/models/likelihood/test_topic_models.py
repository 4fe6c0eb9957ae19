"""Topic models: scores against the formula in plain Python, topics of planted data, invalid input."""

import math
import os
import time
from collections import Counter
from typing import Any

import numpy as np
import pytest

import planted
from coclick import create
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.models.likelihood.bltm import BLTMPR1V
from coclick.solvers.checkpoint import checkpoint
from coclick.text.analyzer import Analyzer

ANALYZER = Analyzer("english", False, False)
NAMES = ["plsa", "bltm", "bltm_pr", "bltm_pr_1v"]


def fold_in_by_hand(counts, words, alpha=1.1, rounds=20):
    """Eq. 8 for one text: {word: count} and {word: P(word|topic) for each topic}."""
    known = {word: count for word, count in counts.items() if word in words}
    topics = len(next(iter(words.values())))
    theta = [1 / topics] * topics
    for _ in range(rounds):
        expected = [alpha - 1] * topics
        for word, count in known.items():
            chances = [theta[z] * words[word][z] for z in range(topics)]
            for z in range(topics):
                expected[z] += count * chances[z] / sum(chances)
        theta = [value / sum(expected) for value in expected]
    return theta


def as_dictionary(model, matrix):
    return {term: matrix[i].astype(float).tolist() for i, term in enumerate(model.terms_) if matrix[i].any()}


@pytest.mark.parametrize("name", NAMES)
def test_scores_by_the_formula(name):
    graph = planted.graph()
    model: Any = create(f"{name}(n_topics=6,lambda_collection=0.3,lambda_doc=0.4)").fit(graph)
    in_queries = as_dictionary(model, model.topics_.query_words)
    in_titles = as_dictionary(model, model.topics_.title_words)
    titles = [Counter(ANALYZER.terms(graph.title(d))) for d in range(len(graph.docs))]
    words = sum(titles, Counter())
    asked = Counter(t for q in graph.queries for t in ANALYZER.terms(q))
    thetas = [fold_in_by_hand(title, in_titles) for title in titles]
    for query in ["hotel", "ny the cheap", "trainers shoe shoe", "nothing known"]:
        [scores] = model.score([query], [list(graph.docs)])
        for title, theta, score in zip(titles, thetas, scores, strict=True):
            expected = 0.0
            for t in ANALYZER.terms(query):
                if t in words or t in asked:
                    in_collection = words[t] / words.total() if t in words else asked[t] / asked.total()
                    through = sum(p * z for p, z in zip(in_queries.get(t, [0] * 6), theta, strict=True))
                    mixed = 0.4 * title[t] / title.total() + 0.6 * through
                    expected += math.log(1 + 0.7 * mixed / (0.3 * in_collection))
            assert score == pytest.approx(expected, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_with_lambda_doc_1_it_is_um(name):
    graph = planted.graph()
    um = create("um(lambda_collection=0.4,fields=title,stem=false)").fit(graph)
    model = create(f"{name}(lambda_collection=0.4,lambda_doc=1,n_topics=5)").fit(graph)
    for query in [*graph.queries, "never seen hotel"]:
        ours, theirs = model.search(query, 50).hits(), um.search(query, 50).hits()
        assert [doc for doc, _ in ours] == [doc for doc, _ in theirs]
        np.testing.assert_allclose([s for _, s in ours], [s for _, s in theirs], rtol=1e-6)


@pytest.mark.parametrize("name, words", [("bltm", 4), ("bltm_pr", 4), ("bltm_pr_1v", 7)])
def test_topics_are_the_planted_ones(name, words):
    """Every planted topic has a learned one with its query words and its title words."""
    model = create(f"{name}(n_topics=5,iterations=60,remove_stop_words=true,seed=3)").fit(planted.graph())
    found = [
        ({w for w, _ in topic["query_words"]}, {w for w, _ in topic["title_words"]})
        for topic in model.describe_topics(words)
    ]
    best = [
        max(len(asked & set(queries)) + len(held & set(titles)) for asked, held in found)
        for queries, titles in planted.TOPICS.values()
    ]
    assert sum(best) >= 0.75 * 8 * len(best)
    assert sum(topic["share"] for topic in model.describe_topics()) == pytest.approx(1, rel=1e-5)


def test_translations_go_through_topics():
    model = create("bltm(n_topics=5,iterations=60,remove_stop_words=true,seed=3)").fit(planted.graph())
    words = {word for word, _ in model.translate("manhattan", 4)}
    assert len(words & set(planted.TOPICS["hotel"][0])) >= 3
    likely = sum(probability for _, probability in model.translate("manhattan", 10_000))
    assert likely == pytest.approx(1, rel=1e-4)


def test_one_vocabulary_has_one_distribution():
    topics = BLTMPR1V(n_topics=4).fit(planted.graph()).topics_
    np.testing.assert_array_equal(topics.query_words, topics.title_words)


def test_distributions_sum_to_one_over_the_words_of_their_side():
    graph = planted.graph()
    model: Any = create("bltm(n_topics=4)").fit(graph)
    for side, texts in (
        (model.topics_.query_words, list(graph.queries)),
        (model.topics_.title_words, [graph.title(d) for d in np.unique(graph.clicks.indices).tolist()]),
    ):
        np.testing.assert_allclose(side.sum(0), 1, rtol=1e-5)
        held = {term for text in texts for term in ANALYZER.terms(text)}
        assert {t for i, t in enumerate(model.terms_) if side[i].any()} == held


def test_a_document_and_a_query_without_a_known_word():
    docs = {**planted.docs(), "empty": "", "strange": "zzzz"}
    model = create("bltm(n_topics=5)").fit(ClickGraph.from_clicks(planted.clicks(), docs))
    [scores] = model.score(["hotel"], [["empty", "strange", "hotel-0"]])
    assert scores[:2].tolist() == [0, 0] and scores[2] > 0  # nothing but the background
    assert model.explain("hotel", "empty").parts == []
    assert sum(topic["share"] for topic in model.describe_topics()) == pytest.approx(1, abs=1e-5)
    assert model.search("qqqq xxxx", 5).hits() == []
    assert model.similar_queries("qqqq xxxx", 5).hits() == []
    later = model.add({"later": "zzzz qqqq"})
    assert later.score(["hotel"], [["later"]])[0].tolist() == [0]


def test_more_topics_than_pairs():
    model: Any = create("bltm(n_topics=400)").fit(planted.graph())
    pairs = planted.graph().clicks.nnz
    assert model.topics_.query_words.shape[1] == pairs
    assert f"{pairs} are used" in model.stats_["notes"][0]


def test_a_trained_model_leaves_no_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setenv("COCLICK_CACHE", str(tmp_path / "cache"))
    create("bltm(n_topics=3)").fit(planted.graph().save(tmp_path / "graph"))
    assert not list((tmp_path / "cache").glob("training/*"))


def test_training_needs_no_cache_directory(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    graph = planted.graph().save(tmp_path / "graph")
    for home in (tmp_path / "file", tmp_path / "file" / "cache"):
        monkeypatch.setenv("COCLICK_CACHE", str(home))
        assert create("bltm(n_topics=3)").fit(graph).search("hotel", 1).hits()


def test_a_long_specification_has_a_checkpoint(tmp_path, monkeypatch):
    """The specification was the name of the directory: `File name too long`."""
    monkeypatch.setenv("COCLICK_CACHE", str(tmp_path / "cache"))
    fields = "+".join(["title"] * 100)
    assert create(f"bltm(n_topics=3,fields={fields})").fit(planted.graph().save(tmp_path / "graph"))
    with checkpoint("graph", "bltm(n_topics=3)") as one, checkpoint("graph", "bltm(n_topics=4)") as other:
        assert one is not None and other is not None and one != other


def test_a_checkpoint_is_locked_by_one_training(tmp_path, monkeypatch):
    monkeypatch.setenv("COCLICK_CACHE", str(tmp_path / "cache"))
    with checkpoint("graph", "bltm") as ours, checkpoint("graph", "bltm") as theirs:
        assert ours is not None
        assert theirs is None
    with checkpoint("", "bltm") as nowhere:
        assert nowhere is None


def test_a_checkpoint_is_kept_after_an_error_and_deleted_after_a_month(tmp_path, monkeypatch):
    monkeypatch.setenv("COCLICK_CACHE", str(tmp_path / "cache"))
    with pytest.raises(KeyboardInterrupt), checkpoint("graph", "bltm") as ours:
        ours.mkdir(parents=True)
        raise KeyboardInterrupt
    assert ours.is_dir()
    long_ago = time.time() - 31 * 24 * 3600
    os.utime(ours, (long_ago, long_ago))
    with checkpoint("graph", "plsa"):
        assert not ours.exists()


def test_graphs_without_titles_and_invalid_parameters_are_refused():
    with pytest.raises(UserError, match="no field 'title'"):
        create("bltm").fit(ClickGraph.from_clicks([("a", "d", 1.0)], {"d": {"body": "text"}}))
    with pytest.raises(UserError, match="no clicked document has a text in 'title'"):
        create("bltm").fit(ClickGraph.from_clicks([("a", "d", 1.0)], {"d": "", "e": "text"}))
    for wrong in ("lambda_doc=1.5", "lambda_collection=0", "topic_prior=1"):
        with pytest.raises(UserError):
            create(f"bltm({wrong})").fit(planted.graph())
    with pytest.raises(UserError, match="cannot describe topics"):
        create("bm25").fit(planted.graph()).describe_topics()
