"""Rows of files from packed texts and vectors, compared with Python's own formatting."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings
from coclick.errors import ArtefactError
from coclick.exporters.packed_rows import (
    COPY,
    JSON,
    concatenate,
    escape,
    format_bits,
    format_rows,
    hash_texts,
    text_slice,
    write_row_parts,
)

TEXTS = st.lists(st.text(), min_size=1, max_size=20)


def rows_of(*rows):
    """A matrix of rows {column: value}."""
    ends = np.cumsum([0, *map(len, rows)])
    columns = np.array([column for row in rows for column in row], np.int32)
    values = np.array([value for row in rows for value in row.values()], np.float32)
    return Csr(ends, columns, values, 10)


def test_numbers_read_back_as_the_same_float32():
    random = np.random.default_rng(0)
    values = random.integers(0, 1 << 32, 50_000, np.uint32).view(np.float32)
    special = [0, 1, 10, 1e9, 999999999, 123456789, 1e-4, 9.9999e-5, 3.4028235e38, 1e-45, 16777216, 0.5]
    values = np.concatenate([values[np.isfinite(values)], np.array(special, np.float32)])
    found = format_rows(rows_of(*({0: value} for value in values))).to_list()
    assert all(np.float32(text) == value for text, value in zip(found, values, strict=True))
    same = [text == f"{value:.9g}" for text, value in zip(found, values.tolist(), strict=True)]
    assert np.mean(same) > 0.99  # of two numbers that are as close, Python takes the even one
    assert found[-len(special) :] == [f"{value:.9g}" for value in np.array(special, np.float32).tolist()]
    odd = format_rows(rows_of({0: np.nan}, {0: np.inf}, {0: -np.inf}, {0: -0.0}))
    assert odd.to_list() == ["nan", "inf", "-inf", "0"]


def test_entries_have_keys_and_separators():
    rows = rows_of({0: 1.0, 2: 0.25}, {}, {1: 3.0})
    keys = Strings.from_list(["a:", "ü:", "\n:", *("x" * 7)])
    assert format_rows(rows, keys).to_list() == ["a:1,\n:0.25", "", "ü:3"]
    assert format_rows(rows, keys, values=False, separator=" | ").to_list() == ["a: | \n:", "", "ü:"]
    assert format_rows(rows).to_list() == ["1,0.25", "", "3"]
    assert concatenate("[", format_rows(rows), "]", keys.take(np.arange(3))).to_list() == [
        "[1,0.25]a:",
        "[]ü:",
        "[3]\n:",
    ]


def test_bits_of_levels():
    rows = rows_of({0: 5.0, 1: 2.0}, {}, {1: 0.0, 0: 4.0})
    keys, suffixes = Strings.from_list(["a", "b", *"x" * 8]), Strings.from_list(["/0", "/1", "/2"])
    assert format_bits(rows, keys, suffixes).to_list() == ["a/0,a/2,b/1", "", "a/2"]


@given(TEXTS)
def test_json_strings_read_back(texts):
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    escaped = concatenate('"', escape(Strings.from_list(texts), JSON), '"').to_list()
    assert [json.loads(text) for text in escaped] == texts
    assert not any("\n" in text for text in escaped)


@given(TEXTS)
def test_copy_escapes_read_back(texts):
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    for text, escaped in zip(texts, escape(Strings.from_list(texts), COPY).to_list(), strict=True):
        assert not any(character in escaped for character in "\n\r\t")
        parts = escaped.split("\\\\")
        parts = [p.replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t") for p in parts]
        assert "\\".join(parts) == text


def test_parts_have_whole_rows(tmp_path):
    blocks = [Strings.from_list([f"{i:>9}\n" for i in range(100)]), Strings.from_list(["long" * 50 + "\n"])]
    write_row_parts(tmp_path, "part-{}", blocks, 160)
    files = sorted(tmp_path.iterdir(), key=lambda path: int(path.name[5:]))
    assert len(files) == 7
    assert all(path.read_text().endswith("\n") and path.stat().st_size < 400 for path in files)
    assert "".join(path.read_text() for path in files) == "".join(t for block in blocks for t in block)
    write_row_parts(tmp_path, "empty-{}", [])
    assert (tmp_path / "empty-0").read_text() == ""


def test_slices_are_checked():
    texts = Strings(np.array([0, 1, 4, 5]), np.frombuffer("a€b".encode(), np.uint8))
    assert text_slice(texts, 1, 3).to_list() == ["€", "b"]
    assert text_slice(texts, 1, 3).offsets.tolist() == [0, 3, 4]
    damaged = Strings(np.array([0, 2, 4, 5]), texts.data)  # splits a character
    assert text_slice(damaged, 0, 3).to_list() == ["a\ufffd", "\ufffd\ufffd", "b"]
    for wrong in ([0, 4, 1, 5], [0, 1, 4, 50], [-1, 1, 4, 5]):
        with pytest.raises(ArtefactError, match="damaged"):
            text_slice(Strings(np.array(wrong), texts.data), 0, 3)


def naive_hash(text, seed):
    """The sum over each eight bytes of a mix of these bytes and their place, in Python's integers."""
    golden, ring = 0x9E3779B97F4A7C15, 1 << 64

    def mix(value):
        value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 % ring
        value = (value ^ (value >> 27)) * 0x94D049BB133111EB % ring
        return value ^ (value >> 31)

    data, place, total = text.encode(), mix(seed), len(text.encode())
    whole = len(data) // 8 * 8
    for at in range(0, whole, 8):
        place = (place + golden) % ring
        total += mix((int.from_bytes(data[at : at + 8], "little") + place) % ring)
    rest = int.from_bytes(data[whole:], "little")
    return mix((total + mix((rest + place + golden) % ring)) % ring)


@pytest.mark.parametrize("seed", [0, 1])
def test_hashes_of_texts(seed):
    texts = ["", "a", "seven b", "eight by", "nine byte", "sixteen bytes ab", "ünïcödé € and more", "\0" * 9]
    texts += ["\0" * n for n in (1, 8, 16)]  # lengths count, too
    hashes = hash_texts(Strings.from_list(texts), seed).tolist()
    assert hashes == [naive_hash(text, seed) for text in texts]
    assert len({*hashes, *hash_texts(Strings.from_list(texts), 1 - seed).tolist()}) == 2 * len(texts)


def test_words_of_a_text_have_their_places():
    texts = Strings.from_list(["12345678abcdefgh", "abcdefgh12345678"])
    assert len(set(hash_texts(texts).tolist())) == 2
