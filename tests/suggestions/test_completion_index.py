"""Completions against a naive scan of all queries."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coclick.arrays.strings import Vocab
from coclick.errors import ArtefactError
from coclick.suggestions.completion_index import CompletionIndex, sorted_by_bytes

LETTERS = "abé日"  # few, so that starts are shared; of one, two and three bytes
WORDS = st.text(LETTERS, min_size=1, max_size=5)
TEXTS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
LOGS = st.dictionaries(TEXTS, st.sampled_from([1.0, 2.0, 5.0, 40.0]), min_size=1, max_size=40)


def index_of(log):
    texts = Vocab.from_list(log)
    return CompletionIndex.build(texts, np.array([log[text] for text in texts], np.float32))


def completions(log, prefix, k, typos=True):
    index = index_of(log)
    rows, scores, found = index.complete(prefix, k, typos=typos)
    return [
        (index.texts[row], float(score), int(n)) for row, score, n in zip(rows, scores, found, strict=True)
    ]


def edits(a, b):
    """The restricted Damerau–Levenshtein distance, from its recursive definition."""
    table = {}
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if not i or not j:
                table[i, j] = i + j
                continue
            options = [table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (a[i - 1] != b[j - 1])]
            if i > 1 and j > 1 and a[i - 2 : i] == b[j - 1] + b[j - 2]:
                options.append(table[i - 2, j - 2] + 1)
            table[i, j] = min(options)
    return table[len(a), len(b)]


def typos_in(text, typed):
    """The fewest typos in what was typed, if `text` begins as meant; the first letter must be right."""
    if text.startswith(typed):
        return 0
    if text[:1] != typed[:1]:
        return 99
    return min(edits(text[:end], typed) for end in range(len(text) + 1))


def naive(log, typed, k, typos=True):
    allowed = 0 if not typos or len(typed) < 4 else 1 if len(typed) <= 8 else 2
    best = []
    for text, weight in log.items():
        words = text.split(" ")
        at_start = typos_in(text, typed)
        later = [typos_in(" ".join(words[i:]), typed) for i in range(1, len(words))] if typed else []
        fewest = min([at_start, *later])
        if fewest <= allowed:
            found_later = at_start > fewest
            best.append((fewest, -weight * (0.25 if found_later else 1), found_later, -weight, text))
    best.sort(key=lambda row: (*row[:4], row[4].encode()))
    return [(row[4], -row[1], row[0]) for row in best[:k]]


@settings(max_examples=150, deadline=None)
@given(LOGS, TEXTS | st.just(""), st.integers(1, 6))
@example({"ab": 1.0}, "", 3)
@example({"aab ba": 1.0, "baa": 2.0, "aba": 5.0}, "aabb", 2)
def test_completions_are_those_of_a_naive_scan(log, typed, k):
    assert completions(log, typed, k) == naive(log, typed, k)
    assert completions(log, typed, k, typos=False) == naive(log, typed, k, typos=False)


@settings(max_examples=150, deadline=None)
@given(LOGS, st.data())
def test_two_typos_in_long_texts(log, data):
    log = {f"abababab{text}": weight for text, weight in log.items()}
    typed = list(data.draw(st.sampled_from(sorted(log))))
    for _ in range(2):
        at = data.draw(st.integers(1, len(typed) - 1))
        typed[at : at + 1] = data.draw(st.text(LETTERS, max_size=2))
    assert completions(log, "".join(typed), 5) == naive(log, "".join(typed), 5)


def test_many_queries_of_every_weight():
    """More than a superblock of 4,096, so that blocks are skipped."""
    rng = np.random.default_rng(0)
    names = {f"{a}{b} {c}" for a, b, c in rng.integers(0, 30, (20_000, 3)).tolist()}
    weights = (rng.permutation(len(names)) + 1.0).tolist()
    log = dict(zip(sorted(names), weights, strict=True))
    assert len(log) > 3 * 4096
    for typed in ("", "1", "12", "7 1", "121", "1212 1"):
        assert completions(log, typed, 10) == naive(log, typed, 10)


def test_ties_go_to_the_first_in_byte_order():
    log = {f"q{letter}": 1.0 for letter in "hgfedcba"}
    assert [text for text, _, _ in completions(log, "q", 3)] == ["qa", "qb", "qc"]


@given(st.lists(st.binary(max_size=30).map(lambda text: text.replace(b"\0", b"\1")), max_size=30))
def test_sorting_by_bytes(texts):
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)[: len(texts)]
    order = sorted_by_bytes(np.frombuffer(b"".join(texts), np.uint8), starts, ends)
    assert order.tolist() == sorted(range(len(texts)), key=lambda i: (texts[i], i))


@pytest.mark.parametrize("value", [-1, 1 << 30])
@pytest.mark.parametrize("array", ["suffix_text", "offsets"])
def test_pointers_out_of_bounds_are_an_error(array, value):
    index = index_of({"red hat": 1.0, "red shoe": 2.0, "warm hat": 3.0})
    (index.texts.offsets if array == "offsets" else index.suffix_text)[1] = value
    with pytest.raises(ArtefactError, match="damaged"):
        for typed in ("hat", "shoe", "red", "rde h"):
            index.complete(typed, 5)


def test_a_word_that_begins_after_its_text_is_a_defect():
    index = index_of({"red hat": 1.0, "red shoe": 2.0})
    assert index.find_defect() is None
    begins = np.array([7, 9], np.uint16)  # "red hat" has 7 bytes, "red shoe" 8
    broken = CompletionIndex(**{**vars(index), "suffix_text": np.array([0, 1]), "suffix_begin": begins})
    assert broken.find_defect() == "a word begins after the end of its text"
