"""Word vectors that a user brings: formats, damage, and models that use them."""

import gzip
import math
import shutil
import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coclick import create, open_model
from coclick.errors import CoclickError, UserError
from coclick.graph.click_graph import ClickGraph
from coclick.models.lexical._word_vector_files import MAX_DIM, read_word_vectors

WORDS = {"hotel": [3.0, 4.0, 0.0], "motel": [0.0, 0.0, 2.0], "Flu": [1.0, 0.0, 0.0], "new york": [0, 1, 0]}
UNIT = {"hotel": [0.6, 0.8, 0], "motel": [0, 0, 1], "flu": [1, 0, 0]}


def text(words=WORDS, header=True, line="{} {}\n"):
    lines = [line.format(word, " ".join(map(str, vector))) for word, vector in words.items()]
    return (f"{len(words)} 3\n" * header + "".join(lines)).encode()


def binary(words=WORDS, end=b"\n"):
    parts = [f"{len(words)} 3\n".encode()]
    parts += [
        word.replace(" ", "_").encode() + b" " + struct.pack("<3f", *vector) + end
        for word, vector in words.items()
    ]
    return b"".join(parts)


FORMATS = {
    "word2vec text": text(),
    "word2vec text, space at the end": text(line="{} {} \n"),
    "word2vec text, Windows": text().replace(b"\n", b"\r\n"),
    "word2vec text, no line end": text()[:-1],
    "word2vec binary": binary(),
    "word2vec binary, no line ends": binary(end=b""),
    "GloVe": text(header=False),
    "word2vec text, tabs": text().replace(b" ", b"\t").replace(b"new\tyork", b"new york"),
    "tabs": text(header=False).replace(b" ", b"\t").replace(b"new\tyork", b"new york"),
    "gzipped": gzip.compress(binary()),
    "other words": b"caf\xe9 1 2 3\n" + text(header=False) + b"hotel 9 9 9\n\n",
}


@pytest.fixture
def read(tmp_path):
    def read(content, wanted=("hotel", "motel", "flu", "unknown")):
        path = tmp_path / "vectors"
        path.write_bytes(content)
        return read_word_vectors(str(path), wanted)

    return read


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_the_same_vectors(read, name):
    """Scaled to length 1; Flu is found in lower case, of two hotels the first counts, unknown has zeros."""
    found = read(FORMATS[name])
    np.testing.assert_allclose(found.vectors, np.array([*UNIT.values(), [0, 0, 0]], float), atol=1e-6)
    assert found.file_words == (6 if name == "other words" else 4)


def test_short_vectors_get_length_1_too(read):
    """Lengths 0.5 and 0.02."""
    found = read(text({"hotel": [0.3, 0.4, 0], "motel": [0, 0, 0.02]}), ["hotel", "motel"]).vectors
    np.testing.assert_allclose(found, np.array([[0.6, 0.8, 0], [0, 0, 1]]), atol=1e-6)


def test_the_same_case_is_preferred_wherever_it_is(read):
    words = {"Hotel": [1.0, 0, 0], "hotel": [0, 1.0, 0], "HOTEL": [0, 0, 1.0]}
    for content in (text(words), binary(words)):
        assert read(content, ["hotel"]).vectors.tolist() == [[0, 1, 0]]


@pytest.mark.parametrize(
    ("content", "message", "where"),
    [
        (b"", "no file of word vectors", "line 1"),
        (b"hotel\n", "no file of word vectors", "line 1"),
        (b"PK\x03\x04 \x00\x01 and more\n", "no file of word vectors", "line 1"),
        (b"x" * 600_000, "no file of word vectors", "line 1"),
        (b"5 0\nhotel\n", "cannot have 0 dimensions", "line 1"),
        (b"5 999999999\nhotel 1\n", "cannot have 999,999,999 dimensions", "line 1"),
        (text(header=False) + b"shoe 1 2\n", "has 2 numbers, not 3", "line 5"),
        (text(header=False) + b"shoe 1\n", "has 1 numbers, not 3", "line 5"),
        (text() + b"shoe\n", "has 0 numbers, not 3", "line 6"),
        (text() + b"shoe 1 2 3 4\n", "has 4 numbers, not 3", "line 6"),
        (text().replace(b"3.0 4.0", b"3.0 four"), "'hotel' has a value that is no finite number", "line 2"),
        (text().replace(b"3.0 4.0", b"nan 4.0"), "no finite number", "line 2"),
        (text().replace(b"3.0 4.0", b"1e300 4.0"), "no finite number", "line 2"),
        (text() + b"x" * 5000, "too long", "line 6"),
        (text().replace(b"4 3\n", b"5 3\n"), "has 4 of the 5 words", "vectors"),
        (binary()[:-9], "ends after 3 of the 4 words", "byte 58"),
        (binary().replace(b"4 3\n", b"999999999999 3\n"), "ends after 4 of the 999,999,999,999", "byte"),
        (binary({"hotel": [math.inf, 0, 0], "motel": [1, 1, 1]}), "no finite number", "byte 4"),
        (b"1 3\n" + b"\x00" * 9000, "a word is too long", "byte 4"),
        (gzip.compress(binary())[:-12], "cannot be read", "vectors"),
        (b"\x1f\x8b\x08 nonsense", "cannot be read", "vectors"),
        (text({"shoe": [1, 2, 3]}), "none of the 4 words", "vectors"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_damaged_files_are_refused_with_their_place(read, content, message, where):
    with pytest.raises(UserError, match=message) as error:
        read(content)
    assert where in str(error.value.where)


def test_limits_of_lines_and_dimensions(read):
    """A line may have 4096 bytes and 64 for each number; the first one has at most 4096 numbers."""
    longest = b"x" * (4288 - len(b" 1 2 3\n")) + b" 1 2 3\n"
    assert read(text() + longest).file_words == 5
    with pytest.raises(UserError, match="too long for a word and 3 numbers"):
        read(text() + b"x" + longest)
    first = b"x" * (266_240 - len(b" 1\n")) + b" 1\n"
    with pytest.raises(UserError, match="too long for a word and 1 numbers"):
        read(first)
    with pytest.raises(UserError, match="no file of word vectors"):
        read(b"x" + first)
    assert read(b"hotel 2\n").vectors[0].tolist() == [1.0], "one dimension"
    widest = b"1 4096\nhotel " + struct.pack("<4096f", *[1.0] * 4096)
    assert read(widest).vectors.shape == (4, 4096)
    with pytest.raises(UserError, match="cannot have 4,097 dimensions") as error:
        read(widest.replace(b"1 4096", b"1 4097"))
    assert error.value.hint == "they may have from 1 to 4,096"


def test_a_first_line_of_two_whole_numbers_is_a_header(read):
    with pytest.raises(UserError, match="has 4 of the 123,456,789,012,345 words"):
        read(text().replace(b"4 3\n", b"123456789012345 3\n", 1))
    with pytest.raises(UserError, match="has 3 numbers, not 1"):
        read(text().replace(b"4 3\n", b"1234567890123456 3\n", 1))
    assert read(b"3.5 1\nhotel 2\n").file_words == 2, "no header, but a word and a number"
    assert read(text().replace(b"4 3\n", b"2 3\n", 1)).file_words == 4, "more words than the header says"


def test_numbers_with_underscores_are_no_numbers(read):
    for first_line in (b"hotel 1_0 2\n", b"hotel nan 2\n", b"hotel inf 2\n"):
        with pytest.raises(UserError, match="no file of word vectors"):
            read(first_line)


@pytest.mark.parametrize("chunk", [1, 7, *range(4995, 5016)])
def test_binary_files_are_read_in_chunks(read, monkeypatch, chunk):
    """Wherever a chunk ends, inside of a word or of its numbers."""
    monkeypatch.setattr("coclick.models.lexical._word_vector_files._CHUNK", chunk)
    found = read(
        binary({f"w{i}": [0.0, float(i), 1.0] for i in range(300 if chunk > 7 else 9)}), ["w8", "w5"]
    )
    lengths = [math.hypot(8, 1), math.hypot(5, 1)]
    np.testing.assert_allclose(found.vectors[:, 1], [8 / lengths[0], 5 / lengths[1]], rtol=1e-6)


def test_the_length_of_words_in_binary_files(read, monkeypatch):
    """A word is too long if more than 4096 bytes are read and no space is among them."""
    monkeypatch.setattr("coclick.models.lexical._word_vector_files._CHUNK", 4096)
    assert read(binary({"x" * 4100: [1, 2, 3], **WORDS})).file_words == 5
    with pytest.raises(UserError, match="a word is too long") as error:
        read(binary({"w": [1, 2, 3], "x" * 9000: [1, 2, 3], **WORDS}))
    assert "byte 18" in str(error.value.where)
    monkeypatch.setattr("coclick.models.lexical._word_vector_files._CHUNK", 4097)
    with pytest.raises(UserError, match="a word is too long"):
        read(binary({"x" * 9000: [1, 2, 3], **WORDS}))


def test_a_binary_file_may_begin_with_an_empty_word(read):
    assert read(binary({"": [1, 2, 3], **WORDS})).file_words == 5


def test_a_word_of_the_file_with_an_empty_vector_has_none(read):
    found = read(text({"hotel": [0, 0, 0], "motel": [0, 2, 0]}), ["hotel", "motel"])
    assert found.vectors.tolist() == [[0, 0, 0], [0, 1, 0]]


def test_a_missing_file_is_refused(tmp_path):
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(UserError, match="no such file"):
            read_word_vectors(str(path), ["hotel"])


@settings(max_examples=60)
@given(st.sampled_from([text(), binary(), gzip.compress(text())]), st.data())
def test_changed_bytes_never_crash(tmp_path_factory, content, data):
    changed = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "changed"
    path.write_bytes(bytes(changed))
    try:
        found = read_word_vectors(str(path), ["hotel", "motel"])
    except CoclickError:
        return
    assert found.vectors.shape[1] <= MAX_DIM
    assert np.isfinite(found.vectors).all()


def test_only_wanted_words_are_kept(tmp_path):
    """Fifty thousand vectors of 100 numbers, 20 MB as float32, in less than 8 MB."""
    values = struct.pack("<100f", *([0.5] * 100))
    path = tmp_path / "many"
    path.write_bytes(b"50000 100\n" + b"".join(f"w{i} ".encode() + values for i in range(50_000)))
    tracemalloc.start()
    assert read_word_vectors(str(path), ["w7", "w49999"]).file_words == 50_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20


@pytest.fixture(scope="module")
def graph():
    docs = {"a": "hotels in town", "b": "a motel", "c": "the flu"}
    return ClickGraph.from_clicks([("hotels", "a", 3), ("flu", "c", 2)], docs)


def test_scores_are_distances_of_the_given_vectors(graph, tmp_path):
    """Orthogonal vectors of length 1 are √2 apart. "town" has no vector and does not count."""
    path = tmp_path / "vectors.bin"
    path.write_bytes(binary({**WORDS, "hotels": [3, 4, 0]}))
    model = create("wmd", word_vectors=str(path), stem=False).fit(graph)
    assert model.score(["hotels"], [["a"]])[0].tolist() == [1.0]
    flu_to_hotel = math.sqrt(0.4**2 + 0.8**2)  # (1, 0, 0) and (0.6, 0.8, 0)
    assert model.score(["flu"], [["a"]])[0].tolist() == pytest.approx([1 / (1 + flu_to_hotel)], abs=1e-5)
    assert model.score(["motel"], [["a", "b", "c"]])[0] == pytest.approx(
        [1 / (1 + math.sqrt(2)), 1, 1 / (1 + math.sqrt(2))], abs=1e-5
    )
    assert model.stats_["word_vectors"] == {"dim": 3, "file_words": 5, "words": 4, "words_with_vector": 3}


def test_stems_have_the_vector_of_their_most_frequent_form(graph, tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_bytes(b"hotel 1 0\nhotels 0 1\nflu 0 1\n")
    model = create("wmd", word_vectors=str(path)).fit(graph)
    assert model.score(["hotel"], [["c"]])[0].tolist() == [1.0]


def test_a_saved_model_never_reads_the_file_again(graph, tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_bytes(text())
    model = create(f"wmd(preset=jiang2016,word_vectors={path})").fit(graph)
    assert str(create(str(model))) == str(model)
    model.save(tmp_path / "model")
    path.unlink()
    shutil.move(tmp_path / "model", tmp_path / "moved")
    opened = open_model(tmp_path / "moved")
    assert opened.search("motel").hits() == model.search("motel").hits() != []
    with pytest.raises(UserError, match="no such file"):
        create(str(model)).fit(graph)


def test_a_path_that_a_specification_cannot_have_is_refused():
    with pytest.raises(UserError, match="commas or brackets"):
        create("wmd", word_vectors="a,b.txt")
