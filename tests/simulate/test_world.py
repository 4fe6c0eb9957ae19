from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

from coclick.errors import UserError
from coclick.simulate import World


@pytest.fixture(scope="module")
def world() -> World:
    return World.make(queries=900, docs=1500, seed=7)


def naive_grade(world: World, query: int, document: int) -> int:
    """The table in the docstring of `world`, word for word."""
    intent = world.queries.intent[query]
    subject, aspect, qualifier = (
        column[intent] for column in (world.intents.subject, world.intents.aspect, world.intents.qualifier)
    )
    facets = world.documents.facets
    its_subject, its_aspect, its_qualifier = (
        column[document] for column in (facets.subject, facets.aspect, facets.qualifier)
    )
    second = world.documents.second_aspect[document]
    if its_subject == -1:
        return 1 if its_aspect == aspect else 0
    if its_subject != subject:
        return 0
    if its_aspect == aspect and its_qualifier == qualifier:
        return 4
    compatible = qualifier == its_qualifier or qualifier == -1 or its_qualifier == -1
    treats_it = its_aspect == aspect or (second == aspect and second != -1)
    if treats_it:
        return 3 if compatible else 2
    if its_aspect == -1:
        return 2
    if aspect == -1:
        return 2 if its_qualifier == -1 else 1
    group = world.catalogue.aspect_group
    return 1 if group[aspect] == group[its_aspect] else 0


def test_grades_follow_the_table(world: World) -> None:
    rng = np.random.default_rng(0)
    places, documents, _ = world.relevant(np.arange(len(world.queries)))
    chosen = rng.permutation(len(places))[:3000]
    queries = np.concatenate([places[chosen], rng.integers(len(world.queries), size=500)])
    docs = np.concatenate([documents[chosen], rng.integers(len(world.documents), size=500)])
    expected = [naive_grade(world, q, d) for q, d in zip(queries, docs, strict=True)]
    assert world.grade(queries, docs).tolist() == expected
    assert set(expected) == {0, 1, 2, 3, 4}


def test_relevant_finds_every_graded_pair(world: World) -> None:
    queries = np.array([5, 800, 5, 33])
    docs = np.arange(len(world.documents))
    expected = [
        (place, doc, grade)
        for place, query in enumerate(queries)
        for doc, grade in enumerate(world.grade(np.full(len(docs), query), docs))
        if grade > 0
    ]
    found = world.relevant(queries)
    assert list(zip(*(column.tolist() for column in found), strict=True)) == expected


def test_same_seed_same_world() -> None:
    first, again, other = (World.make(200, 300, seed) for seed in (3, 3, 4))
    assert first.queries.texts == again.queries.texts
    assert first.documents.bodies == again.documents.bodies
    assert np.array_equal(first.queries.share, again.queries.share)
    assert first.queries.texts != other.queries.texts
    assert first.documents.titles != other.documents.titles


def test_texts_are_clean(world: World) -> None:
    docs, queries = world.documents, world.queries
    assert len(set(docs.ids)) == len(docs) == 1500
    assert len(set(docs.urls)) == 1500
    assert len(set(queries.texts)) == len(queries) == 900
    for text in docs.titles + docs.bodies + docs.anchors + queries.texts:
        assert text and text == text.strip()
        assert not re.search(r"[{}\t\n]|  ", text), text


def test_queries_have_typos_and_variants(world: World) -> None:
    pairs = list(zip(world.queries.texts, world.queries.clean_texts, strict=True))
    run_together = [text for text, clean in pairs if " " in clean and text == clean.replace(" ", "")]
    misspelt = [text for text, clean in pairs if text not in (clean, clean.replace(" ", ""))]
    assert len(run_together) > 10
    assert 30 < len(misspelt) < 150
    typed = set(" ".join(world.queries.texts).split())
    written = set(re.findall(r"[a-z0-9]+", " ".join(world.documents.titles).lower()))
    abbreviations = {"ny", "nyc", "la", "sf", "dc", "vs", "hd", "ms", "fb", "yt", "bp", "nb", "uti"}
    assert len(abbreviations & typed) >= 3
    assert not abbreviations & typed <= written


def test_the_lexical_gap(world: World) -> None:
    places, documents, grades = world.relevant(np.arange(len(world.queries)))
    exact = np.flatnonzero(grades == 4)
    shared = []
    for place, doc in zip(places[exact], documents[exact], strict=True):
        words = set(world.queries.texts[place].split())
        title = set(re.findall(r"[a-z0-9-]+", world.documents.titles[doc].lower()))
        shared.append(len(words & title) / len(words))
    assert np.mean(np.array(shared) == 0) > 0.1
    assert np.mean(np.array(shared) == 1) > 0.03
    assert 0.2 < np.mean(shared) < 0.7


def test_popularity_has_a_head_and_a_tail(world: World) -> None:
    share = np.sort(world.queries.share)[::-1]
    assert share.sum() == pytest.approx(1)
    assert share[:90].sum() > 0.4
    assert np.mean(share == 0) > 0.08  # asked only after the log ends


def test_large_worlds_use_generated_subjects() -> None:
    world = World.make(queries=500, docs=20_000, seed=0)
    titles = " ".join(world.documents.titles)
    assert re.search(r"[A-Z][a-z]+ [A-Z]{2}-\d{3}", titles)  # a model number such as Baco ZX-450
    intents = Counter(
        zip(*(world.intents.subject, world.intents.aspect, world.intents.qualifier), strict=True)
    )
    assert len(intents) == 5000


def test_more_queries_than_clean_formulations() -> None:
    assert len(set(World.make(queries=1000, docs=10, seed=0).queries.texts)) == 1000


@pytest.mark.parametrize(
    ("queries", "docs", "seed", "what"),
    [(9, 100, 0, "queries"), (100, 0, 0, "docs"), (100, 100, -1, "seed"), (5000, 40, 0, "too many")],
)
def test_invalid_sizes_and_seeds(queries: int, docs: int, seed: int, what: str) -> None:
    with pytest.raises(UserError, match=what):
        World.make(queries, docs, seed)
