"""Whole trainings of `plsa`, `bltm`, `bltm_pr`, `bltm_pr_1v` and `wtm` against plain loops over tokens.

The references start from the word distributions that `coclick.solvers.em.initial_words` draws; they share
nothing else with the package, from texts to scores.
"""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from coclick import create
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.solvers.em import initial_words
from models import small_log
from models.likelihood.reference_topics import Pair, ReferenceTopics, score

TOPICS, SEED = 3, 5
ASKED = ["hotel", "cheap stay", "run run error", "unknown nike", "running-shoe 3.12"]
WEIGHTS: dict[str, Any] = {"log1p": np.log1p, "clicks": float, "one": lambda clicks: 1.0}
NAMES = ["plsa", "bltm", "bltm_pr", "bltm_pr_1v"]


def train_reference(
    graph: ClickGraph,
    name: str,
    rounds: int,
    fields: list[str],
    weight: str = "log1p",
    corpus: str = "distinct",
) -> ReferenceTopics:
    queries, titles = small_log.query_texts(graph), small_log.doc_texts(graph, fields)
    pairs = [
        Pair(queries[q], titles[d], float(WEIGHTS[weight](clicks)))
        for q, d, clicks in small_log.pairs(graph)
        if titles[d]
    ]
    if name == "plsa" and corpus == "distinct":
        pairs = [Pair([], title, 1.0) for title in titles if title]
    elif name == "plsa":
        pairs = [Pair([], pair.title, pair.weight) for pair in pairs]
    asked = sorted({word for pair in pairs for word in pair.query})
    held = sorted({word for pair in pairs for word in pair.title})
    sides = {"plsa": [held], "bltm_pr_1v": [sorted({*asked, *held})]}.get(name, [asked, held])
    start = initial_words([len(side) for side in sides], TOPICS, SEED)
    tables = [
        {word: row.astype(np.float64) for word, row in zip(words, part, strict=True)}
        for words, part in zip(sides, start, strict=True)
    ]
    found = ReferenceTopics(pairs, tables[0], tables[-1], regularise="pr" in name)
    found.train(rounds)
    return found


def assert_same_words(model: Any, reference: ReferenceTopics, rtol: float) -> None:
    """Every word has the same probabilities, and no other word has any."""
    topics = model.topics_
    for ours, theirs in (
        (topics.query_words, reference.query_words),
        (topics.title_words, reference.title_words),
    ):
        assert {term for i, term in enumerate(model.terms_) if ours[i].any()} == set(theirs)
        for i, term in enumerate(model.terms_):
            if term in theirs:
                np.testing.assert_allclose(ours[i], theirs[term], rtol=rtol, atol=rtol * 0.01, err_msg=term)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("fields", ["title", "title+body"])
def test_topics_and_scores_after_six_rounds(name: str, fields: str) -> None:
    graph = small_log.graph()
    given = f"n_topics={TOPICS},seed={SEED},iterations=6,tolerance=0,lambda_collection=0.3,lambda_doc=0.4"
    model: Any = create(f"{name}({given},fields={fields},{small_log.PLAIN_TEXT})").fit(graph)
    reference = train_reference(graph, name, 6, fields.split("+"))
    rtol = 1e-2 if reference.regularise else 1e-3  # the projection of posteriors ends at a tolerance of 1e-3
    assert_same_words(model, reference, rtol)
    curve = [row["objective"] for row in model.stats_["curve"]]
    np.testing.assert_allclose(curve, reference.objectives, rtol=1e-4)
    queries, titles = small_log.query_texts(graph), small_log.doc_texts(graph, fields.split("+"))
    thetas = [reference.fold_in(title) for title in titles]
    of_model = [{word: float(theta @ row) for word, row in reference.query_words.items()} for theta in thetas]
    for query in ASKED:
        [ours] = model.score([query], [list(graph.docs)])
        theirs = score(query.split(), titles, queries, of_model, 0.3, 0.4)
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-5)


@pytest.mark.parametrize("name", ["plsa", "bltm"])
@pytest.mark.parametrize("weight", ["log1p", "clicks", "one"])
def test_weights_of_pairs(name: str, weight: str) -> None:
    """`one` counts each pair once, as Gao et al. 2011; `plsa` learns from the titles of the pairs."""
    graph = small_log.graph()
    corpus = ",corpus=pairs" if name == "plsa" else ""
    given = f"n_topics={TOPICS},seed={SEED},iterations=4,weight={weight}{corpus},{small_log.PLAIN_TEXT}"
    model: Any = create(f"{name}({given})").fit(graph)
    assert_same_words(model, train_reference(graph, name, 4, ["title"], weight, "pairs"), 1e-3)


def test_um_splits_at_white_space_like_the_others() -> None:
    """The baseline of Gao et al. 2011 is Eq. 14–16 with λ₂ = 1, over the same words."""
    graph = small_log.graph()
    titles = small_log.doc_texts(graph, ["title"])
    model = create("um(preset=gao2011,lambda_collection=0.3)").fit(graph)
    for query in ["hotel", "hotel running-shoe", "running", "3.12 python python"]:
        [ours] = model.score([query], [list(graph.docs)])
        theirs = score(query.split(), titles, [], [{} for _ in titles], 0.3, 1.0)
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    assert not create("vsm(preset=gao2011)").fit(graph).search("running", 5).hits()


def test_training_stops_when_the_objective_rises_by_less_than_the_tolerance() -> None:
    graph = small_log.graph()
    reference = train_reference(graph, "bltm", 20, ["title"])
    rises = np.diff(reference.objectives) / np.abs(reference.objectives[:-1])
    expected = next(n for n in range(5, 21) if rises[n - 2] < 0.025)
    assert 6 < expected < 15
    given = f"n_topics={TOPICS},seed={SEED},tolerance=0.025,{small_log.PLAIN_TEXT}"
    model: Any = create(f"bltm({given})").fit(graph)
    assert len(model.stats_["curve"]) == expected


def test_plsa_on_pairs_requires_clicked_titles() -> None:
    graph = ClickGraph.from_clicks([("a", "d", 1.0)], {"d": "", "e": "text"})
    with pytest.raises(UserError, match="no clicked document has a text in 'title'"):
        create("plsa(corpus=pairs)").fit(graph)


@pytest.mark.parametrize("fields", ["title", "title+body"])
@pytest.mark.parametrize("null_word", [True, False])
def test_translations_and_scores_of_wtm(fields: str, null_word: bool) -> None:
    """IBM Model 1 (Brown et al. 1993) from a uniform start, then Eq. 1 and 14–16."""
    graph = small_log.graph()
    queries, titles = small_log.query_texts(graph), small_log.doc_texts(graph, fields.split("+"))
    none = ["<null>"] if null_word else []
    pairs = [
        (queries[q], [*titles[d], *none], np.log1p(clicks))
        for q, d, clicks in small_log.pairs(graph)
        if titles[d]
    ]
    met: dict[str, set[str]] = defaultdict(set)
    for query, title, _ in pairs:
        for word in title:
            met[word] |= set(query)
    table = {word: dict.fromkeys(asked, 1 / len(asked)) for word, asked in met.items()}
    for _ in range(5):
        expected: dict[str, dict[str, float]] = {
            word: dict.fromkeys(asked, 0.0) for word, asked in met.items()
        }
        for query, title, weight in pairs:
            for q in query:
                total = sum(table[word][q] for word in title)
                for word in title:
                    expected[word][q] += weight * table[word][q] / total
        table = {word: {q: n / sum(row.values()) for q, n in row.items()} for word, row in expected.items()}
    of_model: list[dict[str, float]] = []
    for title in titles:
        likely: dict[str, float] = defaultdict(float)
        for word in title:
            for q, probability in table.get(word, {}).items():
                likely[q] += probability / len(title)
        of_model.append(likely)
    given = f"iterations=5,min_probability=0,use_null_word={str(null_word).lower()}"
    mixed = "lambda_collection=0.2,lambda_doc=0.3"
    model = create(f"wtm({given},{mixed},fields={fields},{small_log.PLAIN_TEXT})").fit(graph)
    for text in ASKED:
        [ours] = model.score([text], [list(graph.docs)])
        theirs = score(text.split(), titles, queries, of_model, 0.2, 0.3)
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)
