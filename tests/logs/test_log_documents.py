"""DOCS: fields, headers, duplicates, and documents that are missing in DOCS or in the log."""

import gzip
import json
from collections import Counter

import duckdb
import pytest

from coclick.errors import UserError
from coclick.logs import build, read_docs

LOG = "query\tdoc\tclicks\nshoe\tD1\t3\nhat\tD2\t1\nhat\tD9\t2\n"


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.tsv"
    path.write_text(LOG)
    return path


def texts(graph):
    return {
        doc: {field: text[place] for field, text in graph.texts.items()}
        for place, doc in enumerate(graph.docs)
    }


EXPECTED = {
    "D1": {"title": 'Red 12" shoe', "body": "with laces"},
    "D2": {"title": "Hat, félt", "body": ""},
    "D5": {"title": "Never clicked", "body": "at all"},
    "D9": {"title": "", "body": ""},
}
ROWS = [[doc, *text.values()] for doc, text in EXPECTED.items() if doc != "D9"]
FILES = {
    "plain.tsv": "".join("\t".join(row) + "\n" for row in ROWS),
    "short_rows.tsv": "".join("\t".join(row).rstrip("\t") + "\n" for row in ROWS),
    "header.tsv": "".join("\t".join(row) + "\n" for row in [["doc", "title", "body"], *ROWS]),
    "id.tsv": "".join("\t".join(row) + "\n" for row in [["id", "Title", "Body"], *ROWS]),
    "order.tsv": "".join("\t".join(row[::-1]) + "\n" for row in [["doc_id", "title", "body"], *ROWS]),
    "docs.csv": 'doc,title,body\nD1,"Red 12"" shoe",with laces\nD2,"Hat, félt",\nD5,Never clicked,at all\n',
    "docs.ndjson": "".join(
        json.dumps(dict(zip(["_id", "title", "body"], row, strict=True))) + "\n" for row in ROWS
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_files(tmp_path, log, name):
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(FILES[name].encode()))
    graph = build([log], path, tmp_path / "graph")
    assert texts(graph) == EXPECTED
    assert graph.stats["docs_missing"] == 1  # D9 is in the log only
    assert graph.stats["docs_without_text"] == 1
    assert graph.clicks.columns == 4 and graph.clicks_by_doc.row_nnz().tolist() == [1, 1, 0, 1]
    assert read_docs(path) == ({doc: text for doc, text in EXPECTED.items() if doc != "D9"}, [])


def test_parquet_takes_the_text_columns(tmp_path, log):
    path = tmp_path / "docs.parquet"
    duckdb.execute(f"""
        COPY (SELECT 7.5 AS price, 'D1' AS doc, 'Shoe' AS name, 'http://x' AS "The URL", NULL AS brand
            UNION ALL SELECT 1, 'D2', NULL, 'http://y', 'Hats & Co') TO '{path}' (FORMAT parquet)""")
    graph = build([log], path, tmp_path / "graph")
    assert texts(graph)["D1"] == {"title": "Shoe", "the_url": "http://x", "brand": ""}
    assert texts(graph)["D2"] == {"title": "", "the_url": "http://y", "brand": "Hats & Co"}


def test_fields_with_the_names_of_internal_columns(tmp_path, log):
    path = tmp_path / "docs.tsv"
    path.write_text("doc\ttitle\tline\terror\tname\torder\tt0\tid\nD1\tShoe\t1\t2\t3\t4\t5\t6\n")
    graph = build([log], path, tmp_path / "graph")
    fields = {"title": "Shoe", "line": "1", "error": "2", "name": "3", "order": "4", "t0": "5", "id": "6"}
    assert texts(graph)["D1"] == fields


def test_json_keys_with_special_characters(tmp_path, log):
    path = tmp_path / "docs.ndjson"
    keys = ["*", "a.b", "/c~d", 'e"f', "g\\h", "i[0]"]
    path.write_text(json.dumps({"doc": "D1"} | {key: f"<{key}>" for key in keys}) + "\n")
    assert sorted(texts(build([log], path, tmp_path / "graph"))["D1"].values()) == sorted(
        f"<{key}>" for key in keys
    )


def test_csv_records_of_several_lines(tmp_path, log):
    path = tmp_path / "docs.csv"
    path.write_text('doc,title\nD1,"Red\nshoe"\n"D2","Hat ""two\n\nlines"""\nD1,again\n,no id\n')
    graph = build([log], path, tmp_path / "graph")
    assert texts(graph)["D1"]["title"] == "Red\nshoe"
    assert texts(graph)["D2"]["title"] == 'Hat "two\n\nlines"'
    found = duckdb.execute(f"SELECT line, field, reason FROM '{tmp_path}/graph/rejects.parquet'").fetchall()
    assert found == [(7, "doc", "is a duplicate"), (8, "doc", "is missing")]


def test_invalid_csv_records_of_several_lines(tmp_path, log):
    long, longer = "я" * 1_500_000, "я" * 4_000_000  # 3 and 8 million bytes
    records: list[tuple[str | bytes, str | None]] = [
        ("doc,title", None),
        (f'D1,"Red\nshoe\n{long}"', None),
        ("D2,Hat", None),
        (f'D3,"{longer}\nend"', "the line is too long"),
        ("D4," + "x" * 8_000_001, "the line is too long"),
        (b'D5,"caf\xe9\nau lait"', "not valid UTF-8"),
        (b"D6,\xff", "not valid UTF-8"),
        ("D7,one,two", "wrong number of columns"),
        ("D8", None),
        ("D2,again", "doc is a duplicate"),
        ("D9,Tie", None),
    ]
    lines, expected, path = b"", [], tmp_path / "docs.csv"
    for record, reason in records:
        if reason:
            expected.append((str(path), lines.count(b"\n") + 1, reason))
        lines += (record if isinstance(record, bytes) else record.encode()) + b"\n"
    path.write_bytes(lines)
    graph = build([log], path, tmp_path / "graph")
    titles = {doc: text["title"] for doc, text in texts(graph).items()}
    assert titles == {"D1": f"Red\nshoe\n{long}", "D2": "Hat", "D8": "", "D9": "Tie"}
    assert graph.stats["docs_rejected"] == Counter(reason for *_, reason in expected)
    found = duckdb.execute(f"""
        SELECT file, line, trim(field || ' ' || reason), raw
        FROM '{tmp_path}/graph/rejects.parquet'""").fetchall()
    assert [row[:3] for row in found] == expected
    assert [row[3][:5] for row in found] == ["D3,яя", "", "D5,ca", "D6,?", "D7,on", "D2,ag"]


def test_an_unclosed_csv_quote(tmp_path, log):
    path = tmp_path / "docs.csv"
    path.write_text('doc,title\nD1,Shoe\nD2,"Hat\n' + "D3,Tie\n" * 1_200_000)
    with pytest.raises(UserError, match="the CSV record cannot be parsed") as caught:
        build([log], path, tmp_path / "graph")
    assert f"{path}, line 3" in str(caught.value)


def test_the_first_of_several_documents_with_one_id_is_used(tmp_path, log):
    path = tmp_path / "docs.tsv"
    lines = [
        b"D1\tfirst",
        b"D2\tHat",
        b"D1\tsecond",
        b"\tno id",
        b"D3\tcaf\xff\xfe",
        b"D2\tthird",
        b"D4\ta\tb\tc",
    ]
    path.write_bytes(b"\n".join(lines) + b"\n")
    graph = build([log], path, tmp_path / "graph")
    assert texts(graph)["D1"]["title"] == "first" and texts(graph)["D2"]["title"] == "Hat"
    assert list(graph.docs) == ["D1", "D2", "D9"]
    assert graph.stats["docs_rejected"] == {
        "doc is a duplicate": 2,
        "doc is missing": 1,
        "not valid UTF-8": 1,
        "wrong number of columns": 1,
    }
    assert graph.stats["rejected"] == {}
    found = duckdb.execute(
        f"SELECT line, raw FROM '{tmp_path}/graph/rejects.parquet' WHERE line <> 5"
    ).fetchall()
    assert found == [(3, "D1\tsecond"), (4, "\tno id"), (6, "D2\tthird"), (7, "D4\ta\tb\tc")]
    read = read_docs(path)
    assert {doc: text["title"] for doc, text in read.docs.items()} == {"D1": "first", "D2": "Hat"}
    assert read.rejected == [
        (3, "doc is a duplicate"),
        (4, "doc is missing"),
        (5, "not valid UTF-8"),
        (6, "doc is a duplicate"),
        (7, "wrong number of columns"),
    ]


def test_files_without_any_document(tmp_path, log):
    for content in ("", "doc\ttitle\n", "\tno id\n"):
        (tmp_path / "docs.tsv").write_text(content)
        with pytest.raises(UserError, match=r"file of documents (has no valid row|is empty)"):
            build([log], tmp_path / "docs.tsv", tmp_path / "graph")


def test_long_texts(tmp_path, log):
    path = tmp_path / "docs.tsv"
    body = "wörd " * 400_000
    path.write_text(f"D1\tShoe\t{body}\nD2\tHat\t{body[:1000]}\n", encoding="utf-8")
    graph = build([log], path, tmp_path / "graph")
    assert graph.texts["body"][0] == body and graph.texts["body"][1] == body[:1000]
    path = tmp_path / "docs.csv"  # without a header
    path.write_text(f'D1,"{body}"\nD2,Hat\n', encoding="utf-8")
    assert build([log], path, tmp_path / "more").texts["title"][0] == body


@pytest.mark.parametrize(("name", "count"), [("esci_ubi", 6764), ("nfcorpus", 3633)])
def test_real_documents(name, count, data):
    docs, _ = read_docs(data / name / "docs.tsv.gz")
    with gzip.open(data / name / "docs.tsv.gz", "rt", encoding="utf-8") as stream:
        lines = [line.rstrip("\n").split("\t") for line in stream]
    assert len(docs) == count == len(lines)
    assert [[doc, text["title"], text["body"]] for doc, text in docs.items()] == [line[:3] for line in lines]


def test_long_and_equal_names_of_columns(tmp_path, log):
    """Names become names of files, which have 255 characters at most, and no two columns share one."""
    long = "c" * 300
    docs = tmp_path / "docs.tsv"
    docs.write_text(f"doc\t{long}\t{long}x\ta\ta_6\ta\nD1\tone\ttwo\tthree\tfour\tfive\n")
    graph = build([log], docs, tmp_path / "graph")
    assert sorted(texts(graph)["D1"].values()) == ["five", "four", "one", "three", "two"]
    assert max(map(len, graph.texts)) < 120


@pytest.mark.parametrize("form", ["tsv", "csv", "ndjson"])
def test_too_many_columns(tmp_path, log, form):
    docs, names = tmp_path / f"docs.{form}", ["doc", "title", *(f"f{i}" for i in range(2000))]
    between = {"tsv": "\t", "csv": ","}.get(form)
    if between:
        docs.write_text(f"{between.join(names)}\n{between.join(['D1', *names[1:]])}\n")
    else:
        docs.write_text(json.dumps(dict.fromkeys(names, "D1")) + "\n")
    with pytest.raises(UserError, match="2,001 text columns, and a graph has 256 at most"):
        build([log], docs, tmp_path / "graph")
    assert not (tmp_path / "graph").exists()
