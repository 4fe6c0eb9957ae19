"""Packed strings and vocabularies compared with Python lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coclick.arrays import strings
from coclick.arrays.strings import Strings, Vocab
from coclick.storage.array_files import read_vocab, write_strings
from coclick.storage.artefact import Artefact, writing

texts = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=30)


@given(texts)
def test_strings_round_trip(items):
    packed = Strings.from_list(items)
    assert len(packed) == len(items)
    assert list(packed) == items
    assert [packed[i] for i in range(len(items))] == items
    assert [text for chunk in packed.chunks(3) for text in chunk] == items


@given(texts, texts)
def test_strings_concatenate_and_take(first, second):
    both = Strings.from_list(first).concatenate(Strings.from_list(second))
    assert list(both) == first + second
    backwards = np.arange(len(both))[::-1]
    assert list(both.take(backwards)) == (first + second)[::-1]


@given(texts, st.integers(1, 20))
def test_take_in_blocks(items, size):
    rows = [*range(len(items)), *range(0, len(items), 2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strings, "_MAX_TAKEN", size)
        taken = Strings.from_list(items).take(np.array(rows, np.int64))
    assert list(taken) == [items[row] for row in rows]


@given(texts, texts)
def test_a_vocabulary_finds_only_its_own_strings(items, others):
    vocab = Vocab.from_list(items)
    assert list(vocab) == sorted(set(items), key=str.encode)
    for text in items:
        assert vocab[vocab.id(text)] == text
    for text in set(others) - set(items):
        assert vocab.id(text) == -1


@given(texts, texts)
def test_compiled_lookup_equals_bisection(items, wanted):
    vocab = Vocab.from_list(items)
    few = [vocab.id(text) for text in wanted]
    padding = [""] * 100  # enough look-ups to use the compiled kernel
    assert vocab.lookup([*wanted, *padding])[: len(wanted)].tolist() == few


@given(texts, texts)
def test_extension_keeps_ids(items, more):
    vocab = Vocab.from_list(items)
    new = sorted(set(more) - set(items))
    larger = vocab.extend(new)
    assert list(larger) == list(vocab) + new
    assert [larger.id(text) for text in larger] == list(range(len(larger)))
    twice = larger.extend(["\U0001f600 new", "!new"])
    assert [twice.id(text) for text in twice] == list(range(len(twice)))


def test_lone_surrogates_do_not_raise():
    assert Strings.from_list(["a\ud800b"])[0] == "a?b"
    assert Vocab.from_list(["x"]).id("\ud800") == -1


def test_saved_and_mapped(tmp_path):
    vocab = Vocab.from_list(["b", "a", "ü"]).extend(["c"])
    with writing(tmp_path / "v") as out:
        write_strings(out, "words", vocab)
        out.commit("graph")
    opened = read_vocab(Artefact(tmp_path / "v"), "words")
    assert list(opened) == ["a", "b", "ü", "c"]
    assert opened.id("c") == 3
    assert opened.digest == vocab.digest != Vocab.from_list(["a"]).digest


def test_damaged_pointers_find_nothing():
    vocab = Vocab.from_list([f"word {i}" for i in range(200)])
    offsets = vocab.offsets.copy()
    offsets[100] = 1 << 40
    broken = Vocab(offsets, vocab.data)
    assert set(broken.lookup([f"word {i}" for i in range(200)]).tolist()) <= set(range(-1, 200))
