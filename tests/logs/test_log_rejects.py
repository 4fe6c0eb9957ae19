"""Invalid rows are counted by reason and stored with file, line, field and raw text."""

import gzip
import json

import duckdb
import pytest

from coclick import ClickGraph, logs
from coclick.answers import describe
from coclick.cli.render import graph_summary
from coclick.errors import UserError
from coclick.logs import build, pipeline
from coclick.models.verify import verify
from coclick.storage.artefact import Artefact

GOOD = "shoe\tD1\t3"
BAD_CLICKS = {
    "\tD1\t1": ("query", "is missing"),
    "shoe\t\t1": ("doc", "is missing"),
    "shoe\t  \t1": ("doc", "is missing"),
    " \u00a0\u3000\tD1\t1": ("query", "is blank once normalised"),
    "shoe\tD1\t": ("clicks", "is missing"),
    "shoe\tD1\tmany": ("clicks", "is not a number"),
    "shoe\tD1\t-2": ("clicks", "is negative"),
    "shoe\tD1\t0": ("clicks", "is zero"),
    "shoe\tD1\tnan": ("clicks", "is not a finite number"),
    "shoe\tD1\tinf": ("clicks", "is not a finite number"),
    "shoe\tD1\t1e300": ("clicks", "is too large"),
    "shoe\tD1": ("", "wrong number of columns"),
    "shoe\tD1\t1\tx": ("", "wrong number of columns"),
}


def rejects(graph_path):
    query = f"SELECT file, line, field, reason, raw FROM '{graph_path}/rejects.parquet'"
    return duckdb.execute(query).fetchall()


def test_errors_in_a_log_of_clicks(tmp_path):
    lines = ["query\tdoc\tclicks"]
    expected = []
    for raw, (field, reason) in BAD_CLICKS.items():
        lines += [GOOD, raw]
        expected.append((len(lines), field, reason, raw))
    path = tmp_path / "log.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    graph = build([path], None, tmp_path / "graph")
    assert [row[1:] for row in rejects(tmp_path / "graph")] == expected
    stats = graph.stats
    assert stats["rows"] == 2 * len(BAD_CLICKS)
    assert stats["right"] == len(BAD_CLICKS)
    assert sum(stats["rejected"].values()) == len(BAD_CLICKS)
    assert stats["rejected"]["clicks is not a finite number"] == 2
    assert graph.clicks.data.tolist() == [3 * len(BAD_CLICKS)]
    assert list(graph.docs) == ["D1"]  # documents of invalid rows are not in the graph
    assert not list(Artefact(tmp_path / "graph").damage())


FORMS = "; accepted are ISO 8601, 14/09/2011, 14 Sep 2011, 1316004360, or what --time-format says"


def test_errors_in_an_event_log(tmp_path):
    good = ["2024-05-01T10:00:00Z", "u", "shoe", "D1", "click", "1"]
    wrong = [
        (0, "", "timestamp", "is missing"),
        (0, "yesterday", "timestamp", f"is not a time but a text without digits{FORMS}"),
        (0, "1066-10-14", "timestamp", "is not between 1970 and 2200"),
        (0, "infinity", "timestamp", f"is not a time but a text without digits{FORMS}"),
        (2, "", "query", "is missing"),
        (3, "", "doc", "is missing"),
        (4, "", "action", "is missing"),
        (5, "first", "position", "is not a whole number from 0 up"),
        (5, "-1", "position", "is not a whole number from 0 up"),
        (5, "1.5", "position", "is not a whole number from 0 up"),
        (5, "nan", "position", "is not a whole number from 0 up"),
        (5, "1000000001", "position", "is too large"),
        (5, "99999999999999999999", "position", "is too large"),
    ]
    rows = [good]
    for place, value, *_ in wrong:
        rows.append([*good[:place], value, *good[place + 1 :]])
    rows.append([*good[:5], ""])  # a position may be unknown
    rows.append([good[0], " ", *good[2:]])  # and so may a user
    rows.append(["", "", "", "", "scroll", "x"])  # rows of other actions are not validated
    rows.append(["never", "u", "  ", "D9", "hover", "x"])
    names = ["timestamp", "user", "query", "doc", "action", "position"]
    csv_path, json_path = tmp_path / "log.csv", tmp_path / "log.ndjson"
    csv_path.write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n")
    json_path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows))
    graphs = [
        build([path], None, tmp_path / path.suffix[1:], max_rejected=1) for path in (csv_path, json_path)
    ]
    expected: list[tuple] = [(number, *reason) for number, (_, _, *reason) in enumerate(wrong, 2)]
    assert [row[1:4] for row in rejects(tmp_path / "ndjson")] == expected
    assert [row[1:4] for row in rejects(tmp_path / "csv")] == [(n + 1, *rest) for n, *rest in expected]
    for graph in graphs:
        assert graph.stats["rows"] == len(rows)
        assert graph.stats["right"] == 5
        assert graph.stats["other_actions"] == {"hover": 1, "scroll": 1}
        assert sum(graph.stats["rejected"].values()) == len(wrong)


@pytest.mark.parametrize("zipped", [False, True])
def test_lines_that_are_not_utf_8(tmp_path, zipped):
    lines = [b"query\tdoc\tclicks", b"a\tD1\t1", b"caf\xe9\tD2\t2", b"\xff\xfe\tD3\t1", b"b\tD4\tx", b"",
             b"c\tD\xe9\t1", b"d\tD6\t-1", b"e\tD7\t1"]  # fmt: skip
    content = b"\n".join(lines)
    path = tmp_path / ("log.tsv.gz" if zipped else "log.tsv")
    path.write_bytes(gzip.compress(content) if zipped else content)
    graph = build([path], None, tmp_path / "graph", max_rejected=1)
    assert list(graph.queries) == ["a", "e"]
    found = [(line, reason) for _, line, _, reason, _ in rejects(tmp_path / "graph")]
    assert found == [
        (3, "not valid UTF-8"),
        (4, "not valid UTF-8"),
        (5, "is not a number"),
        (7, "not valid UTF-8"),
        (8, "is negative"),
    ]
    assert (graph.stats["rows"], graph.stats["right"]) == (7, 2)


@pytest.mark.slow
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_long_lines_at_any_position(tmp_path, end):
    """DuckDB reads buffers of 32 MB and silently drops a long line that crosses two of them."""
    lines = ["query\tdoc\tclicks", "begin\tD\t1", *["x" * 1000 + "\tD\t1"] * 15_000]
    wrong = []
    for size in (17_000_000, 9_000_000, 40_000_000, 8_000_001):
        lines += ["y" * size, "between\tD\tmany", "after\tD\t1"]
        wrong += [(len(lines) - 2, "", "the line is too long"), (len(lines) - 1, "clicks", "is not a number")]
    lines.append("z" * 8_000_001)  # without a line end
    wrong.append((len(lines), "", "the line is too long"))
    path = tmp_path / "log.tsv"
    path.write_bytes(end.join(lines).encode())
    graph = build([path], None, tmp_path / "graph")
    assert [row[1:4] for row in rejects(tmp_path / "graph")] == wrong
    assert (graph.stats["rows"], graph.stats["right"]) == (len(lines) - 1, len(lines) - 1 - len(wrong))


def test_broken_quotes_reject_one_line(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text('query,doc,clicks\n"shoe,D1,1\na,D1,1\n"b"x,D1,1\n"c ""d""",D1,1\n12" pan,D1,1\n')
    graph = build([path], None, tmp_path / "graph", max_rejected=1)
    assert list(graph.queries) == ['12" pan', "a", 'c "d"']
    assert [row[1:4] for row in rejects(tmp_path / "graph")] == [
        (2, "", "broken quotes"),
        (4, "", "broken quotes"),
    ]


def test_lists_and_objects_are_rejected(tmp_path):
    path = tmp_path / "log.ndjson"
    queries = ['["shoe"]', '{"text": "shoe"}', '"[shoe]"', '"{shoe}"']
    path.write_text("".join(f'{{"query": {query}, "doc": "D1", "clicks": 1}}\n' for query in queries))
    graph = build([path], None, tmp_path / "graph")
    assert list(graph.queries) == ["[shoe]", "{shoe}"]
    assert [row[1:4] for row in rejects(tmp_path / "graph")] == [
        (1, "", "a field is a list or an object"),
        (2, "", "a field is a list or an object"),
    ]


def test_broken_json(tmp_path):
    path = tmp_path / "log.ndjson"
    good = '{"query": "shoe", "doc": "D1", "clicks": 2}'
    lines = [good, '{"query": "shoe", "doc":', "[1, 2]", "[" * 100_000 + "]" * 100_000,
             '{"query": "\\ud800", "doc": "D", "clicks": 1}',
             '{"doc": "D1", "clicks": 1}', '{"query": null, "doc": "D1", "clicks": 1}', "", good]  # fmt: skip
    path.write_text("\n".join(lines))
    graph = build([path], None, tmp_path / "graph", max_rejected=1)
    assert [row[1:4] for row in rejects(tmp_path / "graph")] == [
        (2, "", "not valid JSON"),
        (3, "query", "is missing"),
        (4, "query", "is missing"),
        (5, "", "not valid JSON"),
        (6, "query", "is missing"),
        (7, "query", "is missing"),
    ]
    assert (graph.stats["rows"], graph.stats["right"]) == (8, 2)


def test_errors_in_parquet(tmp_path):
    path = tmp_path / "log.parquet"
    duckdb.execute(f"""
        COPY (SELECT * FROM (VALUES ('a', 'D1', 1.0::DOUBLE), (NULL, 'D1', 1), ('b', '', 1),
            ('c', 'D1', 'nan'), ('d', 'D1', -1), (' ', 'D1', 1), ('e', 'D2', NULL)
        ) t(query, doc, clicks)) TO '{path}' (FORMAT parquet)""")
    graph = build([path], None, tmp_path / "graph", max_rejected=1)
    found = rejects(tmp_path / "graph")
    assert [(line, field, reason) for _, line, field, reason, _ in found] == [
        (2, "query", "is missing"),
        (3, "doc", "is missing"),
        (4, "clicks", "is not a finite number"),
        (5, "clicks", "is negative"),
        (6, "query", "is blank once normalised"),
        (7, "clicks", "is missing"),
    ]
    assert json.loads(found[3][4])["query"] == "d"
    assert (graph.stats["rows"], graph.stats["right"]) == (7, 1)


def test_shown_but_never_clicked_is_no_mistake(tmp_path):
    path = tmp_path / "log.tsv"
    path.write_text("query\tdoc\tclicks\timpressions\na\tD1\t1\t5\na\tD2\t0\t7\na\tD3\t0\t0\na\tD4\t1\t-1\n")
    graph = build([path], None, tmp_path / "graph")
    assert graph.clicks.nnz == 1
    assert graph.pairs.impressions.tolist() == [5, 7]
    assert [row[2:4] for row in rejects(tmp_path / "graph")] == [
        ("clicks", "is zero"),
        ("impressions", "is negative"),
    ]


def test_rejects_are_replaced_with_the_graph(tmp_path):
    good, bad = tmp_path / "good.tsv", tmp_path / "bad.tsv"
    good.write_text("query\tdoc\tclicks\na\tD1\t1\n")
    bad.write_text("query\tdoc\tclicks\na\tD1\t1\nb\tD1\tx\n")
    target = tmp_path / "graph" / "rejects.parquet"
    build([bad], None, tmp_path / "graph")
    assert target.exists()
    build([good], None, tmp_path / "graph", force=True)
    assert not target.exists()
    build([bad], None, tmp_path / "graph", force=True)
    assert target.exists()


def test_a_killed_build_leaves_no_rejects_of_another_one(tmp_path, monkeypatch):
    """Between the new manifest and the new `rejects.parquet` the old one was there, and `verify` failed."""
    for name in ("old", "new"):
        (tmp_path / f"{name}.tsv").write_text(f"query\tdoc\tclicks\na\tD1\t1\n{name}\tD1\tx\n")
    build([tmp_path / "old.tsv"], None, tmp_path / "graph")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(pipeline, "publish_rejects", interrupt)
        build([tmp_path / "new.tsv"], None, tmp_path / "graph", force=True)
    assert not (tmp_path / "graph" / "rejects.parquet").exists()
    assert verify(tmp_path / "graph") == []
    [row] = logs.rejects(ClickGraph.open(tmp_path / "graph"))
    assert row[-1].startswith("new")


def interrupt(*_):
    raise KeyboardInterrupt


def test_another_graph_in_its_place_has_not_its_rejects(tmp_path):
    for name in ("old", "new"):
        (tmp_path / f"{name}.tsv").write_text(f"query\tdoc\tclicks\na\tD1\t1\n{name}\tD1\tx\n")
        build([tmp_path / f"{name}.tsv"], None, tmp_path / name)
    ClickGraph.open(tmp_path / "new").filter_pairs(min_clicks=1).save(tmp_path / "old", force=True)
    assert not (tmp_path / "old" / "rejects.parquet").exists()
    assert verify(tmp_path / "old") == []


def test_a_log_without_valid_rows_names_the_reason(tmp_path):
    path = tmp_path / "log.tsv"
    path.write_text("query\tdoc\tclicks\na\tD1\tx\nb\tD1\ty\nc\tD1\t-1\n")
    with pytest.raises(UserError) as caught:
        build([path], None, tmp_path / "graph")
    message = str(caught.value)
    assert "in 3 rows: 3 were rejected, most often because clicks is not a number (2)" in message
    assert f"{path}, line 2" in message
    assert list(tmp_path.iterdir()) == [path]  # nothing is left behind


def test_the_summary_reports_what_was_left_out(tmp_path, capsys):
    log, docs = tmp_path / "log.tsv", tmp_path / "docs.tsv"
    log.write_text("query\tdoc\tclicks\nhat\tA\t2\nhat\tB\t0.5\nhat\t\t1\n")
    docs.write_text("doc\ttitle\nA\tone\nA\ttwo\n")
    build([log], docs, tmp_path / "graph")
    graph_summary(describe(tmp_path / "graph"))
    shown = " ".join(capsys.readouterr().out.split())
    for line in (
        f"used {log}: query, doc, clicks",
        "lost 1 row: doc is missing",
        "lost 1 clicked pair below --min-clicks 1 or --min-users 1",
        "lost 1 row of DOCS: doc is a duplicate",
        "warning: 33% of the rows were rejected (1 of 3), most often: doc is missing",
        "warning: 1 of 2 rows of DOCS were rejected",
    ):
        assert line in shown
