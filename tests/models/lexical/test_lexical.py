"""`vsm` and `um` by hand and against their textbook formulas, over plain dictionaries."""

import math
import random
from collections import Counter

import numpy as np
import pytest

from coclick import create
from coclick.graph.click_graph import ClickGraph

WORDS = [f"w{i}" for i in range(40)]


def graph(titles):
    docs = {f"d{i:03}": title for i, title in enumerate(titles)}
    return ClickGraph.from_clicks([("w0", "d000", 1.0)], docs)


def random_titles(chance, count=80):
    return [" ".join(chance.choices(WORDS, k=chance.randint(1, 20))) for _ in range(count)]


def test_vsm_by_hand():
    """ "car" is in all three documents (idf ln 2), the others in one each (idf ln 4)."""
    model = create("vsm(stem=false)").fit(graph(["blue car", "green car", "red red car"]))
    [(doc, score)] = model.search("red").hits()
    red, car = (1 + math.log(2)) * math.log(4), math.log(2)
    assert doc == "d002"
    assert score == pytest.approx(red / math.hypot(red, car), rel=1e-6)
    [itself] = model.score(["car blue"], [["d000"]])
    assert itself == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("tf", ["log", "count"])
def test_vsm_is_the_cosine_of_dictionaries(tf):
    chance = random.Random(1)
    titles = random_titles(chance)
    model = create(f"vsm(stem=false,tokenizer=words,tf={tf})").fit(graph(titles))
    held = Counter(word for title in titles for word in set(title.split()))

    def vector(text):
        counts = Counter(word for word in text.split() if word in held)
        idf = {word: math.log(1 + len(titles) / held[word]) for word in counts}
        return {t: (c if tf == "count" else 1 + math.log(c)) * idf[t] for t, c in counts.items()}

    def cosine(a, b):
        lengths = [math.sqrt(sum(x * x for x in vector.values())) for vector in (a, b)]
        return sum(a[t] * b.get(t, 0) for t in a) / math.prod(lengths)

    for _ in range(20):
        query = " ".join([*chance.choices(WORDS, k=4), "unheard"])
        [ours] = model.score([query], [[f"d{i:03}" for i in range(len(titles))]])
        theirs = [cosine(vector(query), vector(title)) for title in titles]
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_um_by_hand():
    """ "red" is a quarter of the document and an eighth of the collection."""
    model = create("um(stem=false,lambda_collection=0.5)").fit(
        graph(["red big old car", "green car is here"])
    )
    assert model.search("red").hits() == [("d000", pytest.approx(math.log(1 + 0.25 / 0.125), rel=1e-6))]


@pytest.mark.parametrize("background", [0.1, 0.7])
def test_um_differs_as_the_log_likelihoods_do(background):
    chance = random.Random(2)
    titles = random_titles(chance)
    model = create(f"um(stem=false,tokenizer=words,lambda_collection={background})").fit(graph(titles))
    collection = Counter(" ".join(titles).split())
    total = sum(collection.values())

    def log_likelihood(query, title):
        counts = Counter(title.split())
        return sum(
            math.log(
                background * collection[word] / total + (1 - background) * counts[word] / sum(counts.values())
            )
            for word in query.split()
            if word in collection
        )

    for _ in range(20):
        query = " ".join([*chance.choices(WORDS, k=4), "unheard"])
        [ours] = model.score([query], [[f"d{i:03}" for i in range(len(titles))]])
        theirs = np.array([log_likelihood(query, title) for title in titles])
        np.testing.assert_allclose(ours - ours[0], theirs - theirs[0], rtol=1e-4, atol=1e-5)
        without_any = [not set(query.split()) & set(title.split()) for title in titles]
        assert (ours[without_any] == 0).all()
