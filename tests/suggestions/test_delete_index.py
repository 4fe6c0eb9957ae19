"""Words within a few edits, against all distances of a naive Damerau–Levenshtein."""

from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coclick.arrays.strings import Vocab
from coclick.errors import ArtefactError
from coclick.suggestions.delete_index import DeleteIndex, allowed_edits

WORDS = st.text("abcé日", min_size=1, max_size=11)


@cache
def distance(a, b):
    """The restricted Damerau–Levenshtein distance, straight from its recursive definition."""
    if not a or not b:
        return len(a) + len(b)
    options = [distance(a[:-1], b) + 1, distance(a, b[:-1]) + 1, distance(a[:-1], b[:-1]) + (a[-1] != b[-1])]
    if len(a) > 1 and len(b) > 1 and a[-1] == b[-2] and a[-2] == b[-1]:
        options.append(distance(a[:-2], b[:-2]) + 1)
    return min(options)


def build(words):
    """An index of words by their use: the later in the list, the more used."""
    vocabulary = Vocab.from_list(words)
    counts = np.empty(len(vocabulary))
    for use, word in enumerate(words):
        counts[vocabulary.id(word)] = use
    return vocabulary, DeleteIndex.build(vocabulary, np.arange(len(vocabulary), dtype=np.int32), counts)


def near(words, typed, limit, k=100):
    vocabulary, index = build(words)
    found, distances, _ = index.near(vocabulary, typed, limit, k)
    return [(vocabulary[word], int(edits)) for word, edits in zip(found, distances, strict=True)]


def naive(words, typed, limit):
    use = {word: number for number, word in enumerate(words)}
    found = [(word, distance(typed, word)) for word in use if distance(typed, word) <= limit]
    return sorted(found, key=lambda pair: (pair[1], -use[pair[0]]))


@settings(max_examples=200, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=25, unique=True), WORDS)
@example(["ab"], "ba")
@example(["abcabcab", "babcabca"], "abcabcab")
def test_words_within_one_edit_are_those_of_a_naive_search(words, typed):
    assert near(words, typed, 1) == naive(words, typed, 1)


@settings(max_examples=150, deadline=None)
@given(st.text("abc", min_size=8, max_size=11), st.data())
def test_words_within_two_edits_are_those_of_a_naive_search(typed, data):
    """Two edits are tried from eight letters on."""

    def edited():
        letters = list(typed)
        for _ in range(data.draw(st.integers(0, 3))):
            at = data.draw(st.integers(0, len(letters) - 1))
            letters[at : at + 1] = data.draw(st.text("abc", max_size=2))
        return "".join(letters)

    words = [word for word in dict.fromkeys(edited() for _ in range(6)) if word]
    assert near(words, typed, 2) == naive(words, typed, 2)


def test_only_the_best_k_are_kept():
    words = ["cart", "card", "care", "cars", "carp", "bare"]
    assert near(words, "carx", 1, 2) == [("carp", 1), ("cars", 1)]


def test_likely_typos_cost_less():
    """A swap, a dropped and a doubled letter and a neighbouring key cost 1; another letter costs 1.5, and an
    edit of the first letter half more."""
    vocabulary, index = build(["hotel"])
    costs = {
        typed: float(index.near(vocabulary, typed, 1, 1)[2][0])
        for typed in ("hotle", "hoel", "hottel", "hitel", "hptel", "hozel", "hoxtel", "jotel", "kotel")
    }
    assert costs == {
        "hotle": 1,
        "hoel": 1,
        "hottel": 1,
        "hitel": 1,
        "hptel": 1,
        "hozel": 1.5,
        "hoxtel": 1.5,
        "jotel": 1.5,
        "kotel": 2,
    }


@pytest.mark.parametrize(("letters", "edits"), [(3, 0), (4, 1), (7, 1), (8, 2), (40, 2), (41, 0)])
def test_how_many_edits_are_tried(letters, edits):
    assert allowed_edits(letters) == edits


@pytest.mark.parametrize("array", ["starts", "entries", "offsets"])
@pytest.mark.parametrize("value", [-5, 1 << 40])
def test_pointers_out_of_bounds_are_an_error(array, value):
    vocabulary, index = build(["hotel", "motel", "hostel"])
    damaged = vocabulary.offsets if array == "offsets" else getattr(index, array)
    damaged[:] = np.array(value).astype(damaged.dtype) if array != "entries" else np.int32(1 << 30)
    with pytest.raises(ArtefactError, match="damaged"):
        index.near(vocabulary, "hotle", 1, 5)
