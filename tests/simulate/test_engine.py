from __future__ import annotations

import math
import re
from collections import Counter, defaultdict

import numpy as np

from coclick.jit.threads import set_threads
from coclick.simulate import World, engine


def naive_hash(key: int, query: int, document: int) -> float:
    mask = (1 << 64) - 1
    x = (key + query * 0x9E3779B97F4A7C15 + document) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    x ^= x >> 31
    return (x >> 11) / 2**53


def test_search_equals_a_reference() -> None:
    world = World.make(queries=60, docs=400, seed=1)
    indexed = np.flatnonzero(~world.documents.is_new)
    vocabulary, indptr, postings, impacts = engine._index(world, indexed)
    texts = world.queries.texts
    query_indptr, words = engine._lookup(texts, vocabulary, indptr, len(indexed))
    documents = np.full((60, engine.DEPTH), -1, np.int32)
    scores = np.zeros((60, engine.DEPTH), np.float32)
    bonus = (engine.AUTHORITY_WEIGHT * world.documents.authority[indexed]).astype(np.float32)
    key = 12345
    engine._search(
        0, 60, query_indptr, words, indptr, postings, impacts, bonus, np.uint64(key), documents, scores
    )

    def words_of(text: str) -> list[str]:
        return re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*", text.lower())

    bags = []
    for doc in indexed.tolist():
        bag: dict[str, float] = defaultdict(float)
        for word in words_of(world.documents.bodies[doc] + " " + world.documents.anchors[doc]):
            bag[word] += 1
        for word in words_of(world.documents.titles[doc]):
            bag[word] += engine.TITLE_WEIGHT
        bags.append(bag)
    sizes = [sum(bag.values()) for bag in bags]
    mean = sum(sizes) / len(sizes)
    found = Counter(word for bag in bags for word in bag)
    compared = 0
    for query, text in enumerate(texts):
        known = {word for word in words_of(text) if found[word]}
        known = {word for word in known if found[word] <= 0.05 * len(bags)} or known
        expected, candidates = {}, set()
        for word in sorted(known, key=lambda word: (found[word], vocabulary[word])):
            if len(candidates) < engine.MIN_CANDIDATES:
                candidates |= {doc for doc, bag in enumerate(bags) if word in bag}
        for doc in candidates:
            score = 0.0
            for word in known:
                tf = bags[doc].get(word, 0)
                idf = math.log(1 + (len(bags) - found[word] + 0.5) / (found[word] + 0.5))
                score += idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * sizes[doc] / mean))
            noise = 1 + engine.SCORE_NOISE * (2 * naive_hash(key, query, doc) - 1)
            expected[doc] = score * noise + float(bonus[doc])
        best = sorted(expected.values(), reverse=True)[: engine.DEPTH]
        assert np.allclose(scores[query, : len(best)], best, rtol=1e-5)
        assert np.all(documents[query, len(best) :] == -1)
        for doc, score in zip(documents[query, : len(best)], scores[query], strict=False):
            assert math.isclose(expected[doc], score, rel_tol=1e-5)
            compared += 1
    assert compared > 500


def test_results_are_graded_and_never_new() -> None:
    world = World.make(queries=300, docs=500, seed=2)
    results = engine.search_all(world, seed=2)
    row, column = np.nonzero(results.documents >= 0)
    shown = results.documents[row, column]
    assert not world.documents.is_new[shown].any()
    assert np.array_equal(results.grades[row, column], world.grade(row, shown))
    assert (results.documents[:, 0] >= 0).all()  # every query shows something
    row, column = np.nonzero(results.explorable >= 0)
    tried = results.explorable[row, column]
    assert np.array_equal(results.explorable_grades[row, column], world.grade(row, tried))
    assert world.grade(row, tried).min() >= 2
    assert not world.documents.is_new[tried].any()


def test_half_of_the_typos_are_corrected() -> None:
    world = World.make(queries=2000, docs=800, seed=3)
    results = engine.search_all(world, seed=3)
    typos = np.array([a != b for a, b in zip(world.queries.texts, world.queries.clean_texts, strict=True)])
    best = results.grades[:, :10].max(axis=1)
    assert best[~typos].mean() > best[typos].mean() > 0.5 * best[~typos].mean()


def test_threads_do_not_matter() -> None:
    world = World.make(queries=1200, docs=300, seed=4)
    try:
        set_threads(1)
        one = engine.search_all(world, seed=4)
        set_threads(3)
        three = engine.search_all(world, seed=4)
    finally:
        set_threads(None)
    assert np.array_equal(one.documents, three.documents)
    assert np.array_equal(one.scores, three.scores)
