"""All file kinds give the same graph: with and without a header, gzipped, several at once."""

import gzip
import json

import duckdb
import pytest

from coclick.errors import UserError
from coclick.logs import build, rejects

ROWS = [
    ("red shoe", "D1", 3, 10, 2),
    ("Red  Shoe", "D1", 2, 5, 1),
    ("red shoe", "D2", 1, 4, 1),
    ('12" pan, "iron"', "D3", 4, 9, 3),
    ("hat;cap", "D1", 7, 7, 7),
]
NAMES = ["query", "doc", "clicks", "impressions", "users"]
EXPECTED = {("red shoe", "D1"): 5, ("red shoe", "D2"): 1, ('12" pan, "iron"', "D3"): 4, ("hat;cap", "D1"): 7}


def edges(graph):
    queries, docs = list(graph.queries), list(graph.docs)
    matrix = graph.clicks.to_scipy().tocoo()
    return {(queries[q], docs[d]): v for q, d, v in zip(matrix.row, matrix.col, matrix.data, strict=True)}


def quoted(value):
    text = str(value).replace('"', '""')
    return f'"{text}"' if any(sign in text for sign in '",;') else text


def tsv(rows):
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)


def comma(rows, sign=","):
    return "".join(sign.join(map(quoted, row)) + "\n" for row in rows)


TEXTS = {
    "log.tsv": tsv([NAMES, *ROWS]),
    "crlf.tsv": tsv([NAMES, *ROWS]).replace("\n", "\r\n"),
    "bom.csv": "\ufeff" + comma([NAMES, *ROWS]),
    "log.csv": comma([NAMES, *ROWS]),
    "semicolons.csv": comma([NAMES, *ROWS], ";"),
    "log.ndjson": "".join(json.dumps(dict(zip(NAMES, row, strict=True))) + "\n" for row in ROWS),
    "no_suffix": tsv([NAMES, *ROWS]),
    "aliases.tsv": tsv([["Search-Term", "doc id", "COUNT", "views", "n_users"], *ROWS]),
    "no_newline.tsv": tsv([NAMES, *ROWS]).rstrip("\n"),
    "blank_lines.tsv": tsv([NAMES, *ROWS]).replace("\n", "\n\n"),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("zipped", [False, True])
def test_text_files(tmp_path, name, zipped):
    path = tmp_path / (name + ".gz" if zipped else name)
    content = TEXTS[name].encode()
    path.write_bytes(gzip.compress(content) if zipped else content)
    graph = build([path], None, tmp_path / "graph")
    assert edges(graph) == EXPECTED
    assert (graph.stats["rows"], graph.stats["right"], graph.stats["format"]) == (5, 5, "clicks")
    places = [list(graph.docs)[doc] for doc in graph.pairs.docs]
    assert places == ["D3", "D1", "D1", "D2"]
    assert graph.pairs.indptr.tolist() == [0, 1, 2, 4]
    assert graph.pairs.impressions.tolist() == [9, 7, 15, 4]
    assert graph.pairs.users.tolist() == [3, 7, 3, 1]


def test_parquet_of_any_types(tmp_path):
    for number, (text, count) in enumerate(
        [("VARCHAR", "INTEGER"), ("BLOB", "VARCHAR"), ("VARCHAR", "DOUBLE")]
    ):
        path = tmp_path / f"{number}.parquet"
        values = ", ".join(map(str, ROWS))
        query = "encode(query)" if text == "BLOB" else "query"
        duckdb.execute(f"""
            COPY (SELECT {query} AS query, doc, clicks::{count} AS clicks, impressions, users
            FROM (VALUES {values}) t({", ".join(NAMES)})) TO '{path}' (FORMAT parquet)""")
        assert edges(build([path], None, tmp_path / f"graph{number}")) == EXPECTED


def test_files_without_a_header_need_columns(tmp_path):
    path = tmp_path / "log.tsv"
    path.write_text(tsv(ROWS))
    with pytest.raises(UserError) as caught:
        build([path], None, tmp_path / "graph")
    assert "no column for 'query'" in str(caught.value)
    assert str(path) in str(caught.value) and "--columns query,doc" in str(caught.value)
    graph = build([path], None, tmp_path / "graph", columns=["query", "doc", "clicks", "_", "users"])
    assert edges(graph) == EXPECTED and graph.stats["rows"] == 5
    assert graph.pairs.impressions is None and graph.pairs.users.sum() == 14
    fewer = build([path], None, tmp_path / "fewer", columns=["query", "doc", "clicks"])
    assert edges(fewer) == EXPECTED and fewer.pairs is None


def test_columns_can_rename_a_header(tmp_path):
    path = tmp_path / "log.tsv"
    path.write_text(tsv([["doc", "query", "clicks"], ["red shoe", "D1", 3]]))
    swapped = build([path], None, tmp_path / "graph", columns=["query", "doc", "clicks"])
    assert edges(swapped) == {("red shoe", "D1"): 3}
    for name, content in {
        "log.ndjson": '{"what": "red shoe", "which": "D1", "n": 3}\n',
        "log2.tsv": "q\tdoc\tclicks\nred shoe\tD1\t3\n",
    }.items():
        (tmp_path / name).write_text(content)
        graph = build([tmp_path / name], None, tmp_path / "graph", columns=NAMES[:3], force=True)
        assert edges(graph) == {("red shoe", "D1"): 3}
    path = tmp_path / "log.parquet"
    duckdb.execute(f"COPY (SELECT 'red shoe' AS a, 'D1' AS b, 3 AS c) TO '{path}' (FORMAT parquet)")
    graph = build([path], None, tmp_path / "graph", columns=NAMES[:3], force=True)
    assert edges(graph) == {("red shoe", "D1"): 3}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["query", "doc", "clicks", "a", "b", "c"], "--columns has 6 names, but the file has 5"),
        (["query", "doc", "klicks"], "'klicks' in --columns is unknown"),
        (["query", "doc", "doc_id"], "'doc_id' in --columns repeats the field 'doc'"),
        (["query", "_", "clicks"], "no column for 'doc'"),
    ],
)
def test_invalid_column_names(tmp_path, columns, message):
    path = tmp_path / "log.tsv"
    path.write_text(tsv(ROWS))
    with pytest.raises(UserError, match=message):
        build([path], None, tmp_path / "graph", columns=columns)
    assert not (tmp_path / "graph").exists()


def test_several_files_of_several_kinds_and_patterns(tmp_path, monkeypatch):
    (tmp_path / "a[1].tsv").write_text(tsv([NAMES, *ROWS[:2]]))
    (tmp_path / "b's.csv").write_text(comma([NAMES, ROWS[2]]))
    (tmp_path / "part-1.ndjson").write_text(json.dumps(dict(zip(NAMES, ROWS[3], strict=True))))
    (tmp_path / "part-2.ndjson").write_text(json.dumps(dict(zip(NAMES, ROWS[4], strict=True))))
    (tmp_path / "part-3.ndjson").write_text("")
    sources = [tmp_path / "a[1].tsv", tmp_path / "b's.csv", str(tmp_path / "part-*.ndjson")]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.csv").symlink_to("b's.csv")
    sources += ["b's.csv", "link.csv", "./part-1.ndjson"]  # the same files again
    graph = build(sources, None, tmp_path / "graph")
    assert edges(graph) == EXPECTED
    assert graph.stats["files"] == [
        *map(str, sources[:2]),
        *(str(tmp_path / f"part-{n}.ndjson") for n in (1, 2, 3)),
    ]


def test_files_with_different_columns_are_rejected(tmp_path):
    (tmp_path / "a.tsv").write_text("query\tdoc\tclicks\nq\tD\t1\n")
    (tmp_path / "b.tsv").write_text("query\tdoc\tclicks\tusers\nq\tD\t1\t1\n")
    with pytest.raises(UserError, match="different columns: only one has users"):
        build([tmp_path / "a.tsv", tmp_path / "b.tsv"], None, tmp_path / "graph")


def test_lines_that_end_with_carriage_returns(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(b"query,doc,clicks\rshoe,D1,3\rhat,D2,many\rtie,D2,1\r")
    graph = build([path], None, tmp_path / "graph")
    assert list(graph.queries) == ["shoe", "tie"] and graph.clicks.data.tolist() == [3, 1]
    assert [row[1] for row in rejects(graph)] == [3]


def test_many_decimals_add_up_exactly_in_any_order(tmp_path):
    rows = [("q", "D", value) for value in ["0.1"] * 10 + ["1e6", "0.000001", "2.5"]]
    graphs = []
    for number, order in enumerate([rows, rows[::-1]]):
        (tmp_path / f"{number}.tsv").write_text(tsv([NAMES[:3], *order]))
        graphs.append(build([tmp_path / f"{number}.tsv"], None, tmp_path / f"graph{number}"))
    assert graphs[0].digest == graphs[1].digest
    assert graphs[0].clicks.data[0] == pytest.approx(1_000_003.500001)


def test_queries_without_an_edge_are_left_out(tmp_path):
    path = tmp_path / "log.tsv"
    path.write_text(tsv([NAMES[:3], ("few", "D1", 0.5), ("many", "D2", 2), ("some", "D2", 1)]))
    graph = build([path], None, tmp_path / "graph")
    assert list(graph.queries) == ["many", "some"] and list(graph.docs) == ["D2"]
    assert graph.stats["pairs_below_thresholds"] == graph.stats["queries_below_thresholds"] == 1
    assert graph.stats["clicks_below_thresholds"] == 0.5
    assert list(build([path], None, tmp_path / "more", min_clicks=2).queries) == ["many"]
    assert list(build([path], None, tmp_path / "all", min_clicks=0).queries) == ["few", "many", "some"]
