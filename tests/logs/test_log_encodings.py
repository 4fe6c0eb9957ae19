"""Encodings are guessed and said; every line is read, or rejected with its line in the user's file."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coclick.errors import UserError
from coclick.logs import build, decode, rejects

HEADER = "query\tdoc\tclicks\n"
GERMAN = HEADER + "grüße aus köln\tD1\t3\nweiß\tD2\t1\nschöne mütze\tD3\t2\n"
CHINESE = HEADER + "北京 酒店\tD1\t3\n免费 电影 下载\tD2\t1\n天气 预报\tD3\t2\n"


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize(
    ("text", "encoding", "guessed"),
    [
        (GERMAN, "latin-1", "latin-1"),
        (GERMAN.replace("köln", "köln – 5€"), "cp1252", "windows-1252"),
        (GERMAN, "utf-8-sig", "utf-8"),
        ("\ufeff" + GERMAN, "utf-16-le", "utf-16-le"),
        ("\ufeff" + GERMAN, "utf-16-be", "utf-16-be"),
        (GERMAN, "utf-16-le", "utf-16-le"),
        (CHINESE, "utf-16-be", "utf-16-be"),
        (CHINESE, "utf-32", "utf-32-le"),
        (CHINESE, "gb18030", "gb18030"),
        (CHINESE, "utf-8", "utf-8"),
        (GERMAN.replace("\n", "\r\n"), "latin-1", "latin-1"),
    ],
)
def test_guessed(tmp_path, text, encoding, guessed, zipped):
    path, data = tmp_path / ("log.tsv.gz" if zipped else "log.tsv"), text.encode(encoding)
    path.write_bytes(gzip.compress(data) if zipped else data)
    plain = tmp_path / "plain.tsv"
    plain.write_text(text.removeprefix("\ufeff"), encoding="utf-8")
    graph = build([path], None, tmp_path / "graph")
    assert graph.stats["encodings"] == {str(path): guessed} and graph.stats["files"] == [str(path)]
    assert graph.digest == build([plain], None, tmp_path / "expected").digest
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted(
        [path.name, "expected", "graph", "plain.tsv"]
    )


def test_a_byte_order_mark_before_another_encoding(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(b"\xef\xbb\xbf" + GERMAN.replace("\t", ";").encode("latin-1"))
    graph = build([path], None, tmp_path / "graph")
    assert graph.stats["encodings"] == {str(path): "latin-1"}
    assert list(graph.queries) == ["grüsse aus köln", "schöne mütze", "weiss"]


def test_the_user_decides(tmp_path):
    path = tmp_path / "log.tsv"
    path.write_bytes((HEADER + "привет\tD1\t1\n").encode("cp1251"))
    graph = build([path], None, tmp_path / "graph", encoding="windows-1251")
    assert list(graph.queries) == ["привет"] and graph.stats["encodings"] == {str(path): "windows-1251"}
    with pytest.raises(UserError) as caught:
        build([path], None, tmp_path / "graph2")
    assert "not valid UTF-8 (1)" in str(caught.value) and "line 2" in str(caught.value)
    assert "name the encoding of the file with --encoding" in str(caught.value)
    with pytest.raises(UserError, match="unknown encoding 'latin-99'"):
        build([path], None, tmp_path / "graph2", encoding="latin-99")
    with pytest.raises(UserError, match="unknown encoding 'base64'"):
        build([path], None, tmp_path / "graph2", encoding="base64")
    path.write_bytes(GERMAN.encode("latin-1"))
    with pytest.raises(UserError, match="no valid click"):
        build([path], None, tmp_path / "graph2", encoding="utf-8")


def test_invalid_bytes_are_rejected_with_their_line(tmp_path):
    path = tmp_path / "log.tsv"
    path.write_bytes(
        CHINESE.encode("gb18030") + b"\xff\xff\tD4\t1\n" + "电影\tD5\tx\n电影\tD5\t1\n".encode("gb18030")
    )
    graph = build([path], None, tmp_path / "graph")
    found = [(file, line, field, reason) for file, line, field, reason, _ in rejects(graph)]
    assert found == [
        (str(path), 5, "", "not valid GB18030"),
        (str(path), 6, "clicks", "is not a number"),
    ]
    assert (graph.stats["rows"], graph.stats["right"]) == (6, 4)
    assert graph.stats["rejected"] == {"clicks is not a number": 1, "not valid GB18030": 1}


def test_mixed_encodings_stay_utf_8(tmp_path):
    path = tmp_path / "log.tsv"
    lines = [HEADER.encode(), *["grün\tD1\t1\n".encode()] * 3, *["grün\tD1\t1\n".encode("latin-1")] * 9]
    path.write_bytes(b"".join(lines))
    with pytest.raises(UserError, match="75% of the rows were rejected") as caught:
        build([path], None, tmp_path / "graph")
    assert "these lines look like latin-1" in str(caught.value) and "--max-rejected 76%" in str(caught.value)
    graph = build([path], None, tmp_path / "graph", max_rejected=1)
    assert list(graph.stats["encoding_hints"]) == [str(path)]
    assert graph.stats["encodings"] == {str(path): "utf-8"}
    assert graph.stats["right"] == 3 and graph.stats["rejected"] == {"not valid UTF-8": 9}
    hint = decode.not_utf8_hint([line for line in lines if not line.isascii() and b"\xc3" not in line])
    assert hint == "these lines look like latin-1: if the whole file is, add --encoding latin-1"
    assert "--encoding" in decode.not_utf8_hint(["привет".encode("cp1251")])


def test_bytes_far_behind_the_start(tmp_path):
    """The first megabyte is ASCII; lines further on are looked at too."""
    path = tmp_path / "log.tsv"
    path.write_bytes(
        HEADER.encode() + b"shoe\tD1\t1\n" * 200_000 + "schöne mütze\tD2\t1\n".encode("latin-1") * 50_000
    )
    graph = build([path], None, tmp_path / "graph")
    assert graph.stats["encodings"] == {str(path): "latin-1"} and graph.clicks.data.sum() == 250_000


def test_null_bytes_are_kept(tmp_path):
    path = tmp_path / "log.tsv"
    path.write_bytes(HEADER.encode() + b"a\0b\tD1\t1\n\0\nshoe\tD\0\t1\n" + b"hat\tD3\t1\n" * 20)
    graph = build([path], None, tmp_path / "graph")
    assert list(graph.queries) == ["a b", "hat", "shoe"] and list(graph.docs) == ["D\0", "D1", "D3"]
    assert [(line, reason) for _, line, _, reason, _ in rejects(graph)] == [(3, "wrong number of columns")]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("crème brûlée à la façon", "latin-1"), ("¿dónde está el baño?", "latin-1"),
        ("Größe ändern\nÄrger mit Öl", "latin-1"), ("ação não é opção", "latin-1"),
        ("l’été “chaud”", "cp1252"),
    ],
)  # fmt: skip
def test_western_texts(text, encoding):
    assert decode.guess_encoding(text.encode(encoding)) in ("latin-1", "windows-1252")
    assert decode.guess_encoding(text.encode()) == "utf-8"


@pytest.mark.parametrize(
    "data",
    [
        b"", b"plain", b"caf\xc3", b"\xffabc", "привет мир".encode("cp1251"), "かな".encode("shift_jis"),
        "текст на русском языке".encode("koi8-r") * 40, "안녕하세요 세계 한국어".encode("euc-kr") * 60,
    ],
)  # fmt: skip
def test_what_is_not_known_stays_utf_8(data):
    assert decode.guess_encoding(data) == "utf-8"


@settings(max_examples=60, deadline=None)
@given(
    lines=st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\r\n\ufeff"), max_size=8), max_size=6
    ),
    encoding=st.sampled_from(["utf-16-le", "utf-16-be", "gb18030", "latin-1", "cp1252", "shift_jis"]),
    block=st.integers(1, 7),
)
def test_transcoding_keeps_lines(tmp_path_factory, lines, encoding, block):
    """Whatever the blocks; a character that the encoding lacks is left out before."""
    directory = tmp_path_factory.mktemp("transcode")
    text = "\n".join(lines).encode(encoding, "ignore").decode(encoding)
    (directory / "in").write_bytes(text.encode(encoding))
    before, decode._BLOCK = decode._BLOCK, block
    try:
        with (directory / "in").open("rb") as stream:
            decode.transcode(stream, encoding, directory / "out")
    finally:
        decode._BLOCK = before
    assert (directory / "out").read_bytes() == text.encode()
