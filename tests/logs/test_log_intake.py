"""One log in many forms gives one graph, and every record is right, rejected with its line, or ignored."""

import bz2
import io
import json
import lzma
import sys
import time
import zipfile

import pyarrow
import pytest

from coclick.errors import UserError
from coclick.logs import archives, build, read_docs, rejects
from coclick.logs.duckdb_session import DuckDBSession, parse_memory
from coclick.logs.files import detect_file
from coclick.logs.format import Format
from coclick.logs.intake import Intake

ROWS = [
    {"query": "shoe", "doc": "D1", "clicks": 3},
    {"query": "hat", "doc": "", "clicks": 1},  # rejected: no document
    {"query": "red hat", "doc": "D2", "clicks": 2, "more": {"a": [1, {"b": "}"}]}},
    {"query": "cap", "doc": "D3", "clicks": "x"},  # rejected: no number
    {"query": "tie", "doc": "D4", "clicks": 1},
]
LINES = [json.dumps(row) for row in ROWS]
HITS = [json.dumps({"_index": "log", "_id": f"e{i}", "_source": row}) for i, row in enumerate(ROWS)]
DEFECTS = ["doc is missing", "clicks is not a number"]

SHAPES = {  # name → text, and the lines of the two wrong records
    "lines.ndjson": ("\n".join(LINES), [2, 4]),
    "array.json": ("[" + ",".join(LINES) + "]", [1, 1]),
    "lines_in_array.json": ("[\n" + ",\n".join(LINES) + "\n]\n", [3, 5]),
    "indented.json": (json.dumps(ROWS, indent=1), [7, 25]),
    "nested.json": ("[[" + ",".join(LINES[:2]) + "],\n[" + ",".join(LINES[2:]) + "]]", [1, 2]),
    "concatenated.json": ("\n".join(json.dumps(row, indent=1) for row in ROWS), [6, 24]),
    "hits.json": ('{"took":1,"hits":{"total":5,"hits":[' + ",\n".join(HITS) + "]}}", [2, 4]),
    "pages.ndjson": (
        "\n".join('{"hits":{"hits":[' + ",".join(part) + "]}}" for part in (HITS[:2], HITS[2:], [])),
        [1, 2],
    ),
    "elasticdump.ndjson": ("\n".join(HITS), [2, 4]),
    "bulk.ndjson": (
        "".join(f'{{"index":{{"_id":"e{i}"}}}}\n{line}\n' for i, line in enumerate(LINES)),
        [4, 8],
    ),
    "unknown": ("[" + ",".join(LINES) + "]", [1, 1]),
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    path = tmp_path_factory.mktemp("expected")
    (path / "log.tsv").write_text("query\tdoc\tclicks\nshoe\tD1\t3\nred hat\tD2\t2\ntie\tD4\t1\n")
    return edges(build([path / "log.tsv"], None, path / "graph"))


def edges(graph):
    return list(graph.queries), list(graph.docs), graph.clicks.indices.tolist(), graph.clicks.data.tolist()


def check(graph, name, lines, expected):
    found = [(file, line, f"{field} {reason}") for file, line, field, reason, _ in rejects(graph)]
    assert sorted(found) == sorted((name, line, defect) for line, defect in zip(lines, DEFECTS, strict=True))
    assert edges(graph) == expected
    assert graph.stats["rows"] == 5 and graph.stats["right"] == 3 and graph.stats["files"] == [name]


@pytest.mark.parametrize("shape", SHAPES)
def test_json(tmp_path, shape, expected):
    text, lines = SHAPES[shape]
    path = tmp_path / shape
    path.write_text(text)
    check(build([path], None, tmp_path / "graph"), str(path), lines, expected)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted(["graph", shape])


def test_json_in_another_encoding(tmp_path, expected):
    path = tmp_path / "log.json"
    path.write_text(SHAPES["indented.json"][0], encoding="utf-16")
    check(build([path], None, tmp_path / "graph"), str(path), SHAPES["indented.json"][1], expected)


def test_half_a_record_at_the_end(tmp_path):
    path = tmp_path / "log.json"
    path.write_text(SHAPES["lines_in_array.json"][0][:-20])
    graph = build([path], None, tmp_path / "graph", max_rejected=1)
    assert rejects(graph)[-1][:4] == (str(path), 6, "", "the record is cut off at the end of the file")
    assert graph.stats["rows"] == 5 and graph.stats["right"] == 2
    path.write_text(
        '[{"query":"shoe","doc":"D1","clicks":1},\n{"query":"caf\udce9","doc":"D2","clicks":1}]',
        errors="surrogateescape",
    )
    graph = build([path], None, tmp_path / "graph", max_rejected=1, force=True, encoding="utf-8")
    assert [row[:4] for row in rejects(graph)] == [(str(path), 2, "", "not valid UTF-8")]


def test_ids_of_hits_are_kept(tmp_path):
    path = tmp_path / "log.ndjson"
    path.write_text(
        "\n".join([*HITS, '{"_id":"x","_source":{}}', '{"_id":"y","_source":{"_id":"own"}}', '{"a":1}', "no"])
    )
    with DuckDBSession(tmp_path / "db", parse_memory("1GB"), 1) as db:
        from coclick.logs import text_sql

        file = detect_file(path)
        assert file.wrapped and set(file.columns) == {"query", "doc", "clicks", "more", "_id", "a"}
        db.preserve_order(True)
        lines = [row[0] for row in db.fetchall(f"SELECT raw FROM ({text_sql.lines([file])})")]
    assert [json.loads(line)["_id"] for line in lines[:5]] == ["e0", "e1", "e2", "e3", "e4"]
    assert lines[5:] == ["{}", '{"_id":"own","_id":"y"}', '{"a":1}', "no"]


@pytest.mark.parametrize("form", ["bz2", "xz", "zst", "zip", "csv.zip"])
def test_compressed(tmp_path, form, expected):
    text, lines = SHAPES["lines_in_array.json"]
    path, name = tmp_path / f"log.json.{form}", None
    if form == "csv.zip":
        text, lines = "\ufeffquery;doc;clicks\nshoe;D1;3\nhat;;1\nred hat;D2;2\ncap;D3;x\ntie;D4;1\n", [3, 5]
    data = text.encode()
    if form == "bz2":
        path.write_bytes(bz2.compress(data))
    elif form == "xz":
        path.write_bytes(lzma.compress(data))
    elif form == "zst":
        with pyarrow.output_stream(str(path), compression="zstd") as stream:
            stream.write(data)
    else:
        name = f"{path}/in/" + ("log.csv" if form == "csv.zip" else "log.json")
        with zipfile.ZipFile(path, "w") as archive:
            archive.mkdir("in")
            archive.writestr(name.removeprefix(f"{path}/"), data)
            archive.writestr("__MACOSX/in/._log.csv", b"\0\1")
    check(build([path], None, tmp_path / "graph"), name or str(path), lines, expected)


def refused(tmp_path, sources, docs=None):
    before = sorted(entry.name for entry in tmp_path.iterdir())
    with pytest.raises(UserError) as caught:
        build(sources, docs, tmp_path / "graph")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == before
    return str(caught.value)


def test_archives_that_cannot_be_read(tmp_path, monkeypatch):
    path = tmp_path / "log.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.tsv", b"query\tdoc\tclicks\n" + b"shoe\tD1\t1\n" * 500_000)
    whole = path.read_bytes()
    monkeypatch.setattr(archives, "_ALWAYS_ALLOWED", 1_000_000)
    message = refused(tmp_path, [path])
    assert (
        "the file expands to more than" in message
        and f"{path}/bomb.tsv" in message
        and "200 times" in message
    )
    path.write_bytes(whole[: len(whole) // 2])
    assert "the zip file is damaged" in refused(tmp_path, [path])
    path.write_bytes(bz2.compress(b"x" * 1000)[:-5])
    assert "the bzip2 file is damaged" in refused(tmp_path, [path])
    for members, what in (({"[Content_Types].xml": b""}, "Office document"), ({}, "zip file is damaged"),
                          ({"a.zip": whole}, "an archive in an archive")):  # fmt: skip
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        assert what in refused(tmp_path, [path]) or not members
    path.write_bytes(b"SQLite format 3\0" + bytes(100))
    assert "an SQLite database" in refused(tmp_path, [path])


def test_a_gzip_bomb(tmp_path, monkeypatch):
    import gzip

    path = tmp_path / "log.tsv.gz"
    path.write_bytes(gzip.compress(b"query\tdoc\tclicks\n" + b"shoe\tD1\t1\n" * 500_000))
    monkeypatch.setattr(archives, "_ALWAYS_ALLOWED", 1_000_000)
    assert "the file expands to more than" in refused(tmp_path, [path])


def test_a_file_that_must_not_be_read_stops_duckdb(tmp_path, monkeypatch):
    """Else a gzip bomb would be read to its end before it is refused."""
    from coclick.logs import text_sql
    from coclick.logs.reader import LogReader, _Group

    def refuse(db, file, stop):
        time.sleep(0.3)
        raise UserError("the file expands")

    monkeypatch.setattr(text_sql, "save_too_long", refuse)
    endless = """SELECT 'q' AS query, 'D' AS doc, NULL AS error
        FROM range(9) WHERE (SELECT sum(sin(i)) FROM range(10000000000) t(i)) > 0"""
    (tmp_path / "log.tsv").write_text("query\tdoc\n")
    with DuckDBSession(tmp_path / "db", parse_memory("1GB"), 1) as db:
        log = LogReader(db, Format("events"), {"query", "doc"}, [])
        started = time.monotonic()
        with pytest.raises(UserError, match="the file expands"):
            log._stage(_Group([detect_file(tmp_path / "log.tsv")], lambda rows: rows), endless)
        assert time.monotonic() - started < 20


def test_standard_input(tmp_path, monkeypatch, expected):
    for name in ("array.json", "elasticdump.ndjson"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SHAPES[name][0].encode())))
        graph = build("-", None, tmp_path / "graph", force=True)
        check(graph, "standard input", SHAPES[name][1], expected)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(UserError, match="the log is empty") as caught:
        build("-", None, tmp_path / "graph", force=True)
    assert "standard input" in str(caught.value)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    with pytest.raises(UserError, match="which is a terminal"):
        build(["-", "-"], None, tmp_path / "graph", force=True)
    assert [entry.name for entry in tmp_path.iterdir()] == ["graph"]


def test_urls_need_an_extension(tmp_path):
    with DuckDBSession(tmp_path / "db", parse_memory("1GB"), 1) as db:
        if db.fetchall("SELECT 1 FROM duckdb_extensions() WHERE extension_name = 'httpfs' AND installed"):
            return
    message = refused(tmp_path, ["https://example.org/log.tsv"])
    assert "needs DuckDB's extension httpfs" in message and "https://example.org/log.tsv" in message
    assert "INSTALL httpfs" in message
    message = refused(tmp_path, ["https://me:secret@example.org/log.tsv?signature=hidden"])
    assert (
        "secret" not in message
        and "hidden" not in message
        and "https://me:***@example.org/log.tsv" in message
    )


def test_a_file_that_is_named_twice_is_read_once(tmp_path, expected):
    path = tmp_path / "array.json"
    path.write_text(SHAPES["array.json"][0])
    check(build([path, str(tmp_path / "*.json")], None, tmp_path / "graph"), str(path), [1, 1], expected)


def test_no_more_is_read_than_asked(tmp_path):
    path = tmp_path / "log.json"
    path.write_text("[" + ",\n".join(['{"query":"shoe","doc":"D1"}'] * 1000) + "]")
    with DuckDBSession(tmp_path / "db", parse_memory("1GB"), 1) as db, Intake(db, max_bytes=2000) as intake:
        (file,) = intake.open_log(path)
        assert 2000 < file.path.stat().st_size < 2200 and file.name == str(path)


def test_several_files_of_documents(tmp_path):
    (tmp_path / "log.tsv").write_text("query\tdoc\tclicks\nshoe\tD1\t3\nhat\tD3\t1\n")
    (tmp_path / "a.tsv").write_text("doc\ttitle\nD1\tShoe\nD2\tSock\nD1\tagain\n")
    brand = {"name": "Hatter", "tags": ["x", "y"]}
    records = [{"_index": "p", "_id": "D3", "_source": {"title": "Hat", "brand": brand}},
               {"_index": "p", "_id": "D2", "_source": {"title": "Sock again", "brand": "none"}}]  # fmt: skip
    (tmp_path / "b.json").write_text(json.dumps({"hits": {"hits": records}}, indent=1))
    graph = build(tmp_path / "log.tsv", [tmp_path / "a.tsv", str(tmp_path / "*.json")], tmp_path / "graph")
    assert {field: list(texts) for field, texts in graph.texts.items()} == {
        "title": ["Shoe", "Sock", "Hat"],
        "brand_name": ["", "", "Hatter"],
        "brand_tags": ["", "", "x y"],
        "brand": ["", "", ""],
    }
    a, b = str(tmp_path / "a.tsv"), str(tmp_path / "b.json")
    line = json.dumps({"hits": {"hits": records}}, indent=1).split("\n").index('    "_id": "D2",') - 1
    assert [row[:4] for row in rejects(graph)] == [
        (a, 4, "doc", "is a duplicate"),
        (b, line, "doc", f"is a duplicate of one in {a}"),
    ]
    assert graph.stats["docs_in_several_files"] == [
        {"doc": "D2", "first": f"{a}, line 3", "again": f"{b}, line {line}"}
    ]
    read = read_docs([tmp_path / "a.tsv", {"D5": "Tie"}])
    assert read.docs == {"D1": {"title": "Shoe"}, "D2": {"title": "Sock"}, "D5": {"title": "Tie"}}
