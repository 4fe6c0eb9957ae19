"""Logs as systems export them, made by hand from their schemas: what the first lines do not show."""

import gzip
import json
import shlex
import sqlite3

import duckdb
import pandas as pd
import pytest

from coclick.errors import UserError
from coclick.logs import build, check, rejects
from coclick.logs.file_bytes import later_lines
from coclick.logs.log_sample import LogSample
from logs.test_log_check import exit_code, run
from logs.test_log_like import edges


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def uses(found, file=0):
    return {use.name: use.field for use in found.files[file].columns}


# A column that says whether a result was clicked

FLAGS = [("0", "1"), ("false", "TRUE"), ("no", "Yes"), ("0.0", "1.0")]


@pytest.mark.parametrize(("no", "yes"), FLAGS)
@pytest.mark.parametrize("name", ["click", "clicked", "is_click"])
def test_shown_results_are_no_clicks(tmp_path, capsys, name, no, yes):
    rows = f"s1,hat,A,1,{no}\ns1,hat,B,2,{yes}\ns2,hat,A,1,{no}\ns2,hat,B,2,{no}\n"
    (tmp_path / "pages.csv").write_text(f"session,query,doc,position,{name}\n{rows}")
    found = check("pages.csv")
    assert uses(found)[name] == "clicked"
    graph = run(found.command, capsys)
    assert edges(graph) == {("hat", "B"): 1}
    assert graph.pairs.impressions.tolist() == [2, 2] and graph.skips.count.tolist() == [1]


def test_a_boolean_column(tmp_path):
    frame = pd.DataFrame({"query": ["hat"] * 3, "doc": ["A", "B", "C"], "clicked": [True, False, True]})
    assert edges(build(frame, None, tmp_path / "graph")) == {("hat", "A"): 1, ("hat", "C"): 1}


def test_flags_that_are_counts_or_missing(tmp_path):
    (tmp_path / "counts.csv").write_text("query,doc,click\nhat,A,3\nhat,B,\nhat,C,1\n")
    graph = build("counts.csv", None, tmp_path / "graph", max_rejected=1)
    assert graph.stats["rejected"] == {
        "clicked is missing": 1,
        "clicked is not 0 or 1; a column of counts is named with --columns clicks=NAME": 1,
    }
    graph = build("counts.csv", None, tmp_path / "two", columns={"clicks": "click"})
    assert edges(graph) == {("hat", "A"): 3, ("hat", "C"): 1}


def test_check_takes_counts_in_a_column_of_flags_for_clicks(tmp_path, capsys):
    (tmp_path / "counts.csv").write_text("query,doc,impressions,click\nhat,A,9,3\nhat,B,8,0\ncap,C,7,1\n")
    found = check("counts.csv")
    assert uses(found) == {"query": "query", "doc": "doc", "impressions": "impressions", "click": "clicks"}
    graph = run(found.command, capsys)
    assert edges(graph) == {("hat", "A"): 3, ("cap", "C"): 1}


@pytest.mark.parametrize("cell", ["x", "1" * 5000, "-2"])
def test_other_values_are_no_counts(tmp_path, cell):
    (tmp_path / "log.csv").write_text(f"query,doc,click\nhat,A,3\nhat,B,{cell}\nhat,C,1\n")
    assert uses(check("log.csv"))["click"] == "clicked"


def test_actions_and_counts_say_more_than_a_flag(tmp_path):
    (tmp_path / "log.csv").write_text("query,doc,action,clicked\nhat,A,click,0\nhat,B,impression,1\n")
    assert edges(build("log.csv", None, tmp_path / "graph")) == {("hat", "A"): 1}
    (tmp_path / "counts.csv").write_text("query,doc,clicks,clicked\nhat,A,3,0\nhat,B,2,1\n")
    assert edges(build("counts.csv", None, tmp_path / "two")) == {("hat", "A"): 3, ("hat", "B"): 2}


# JSON whose first records are of one kind


def ubi(n_queries):
    """First all queries, then all events, as an export of one index after the other has them."""
    for number in range(n_queries):
        yield "ubi_queries", {"query_id": f"q{number}", "user_query": f"hat {number}", "client_id": "c",
                              "timestamp": "2026-01-05T10:00:00Z", "query_attributes": {}}  # fmt: skip
    for number in range(10):
        attributes = {"object": {"object_id": "A"}, "position": {"ordinal": 3}, "dwell_time": 40}
        for action in ("impression", "click"):
            yield "ubi_events", {"query_id": f"q{number}", "action_name": action, "client_id": "c",
                                 "session_id": "s", "timestamp": "2026-01-05T10:00:09Z",
                                 "event_attributes": attributes}  # fmt: skip


@pytest.mark.parametrize("gzipped", [False, True])
def test_fields_of_later_records_are_read(tmp_path, gzipped):
    lines = [json.dumps(one) for name, r in ubi(9000) for one in ({"index": {"_index": name}}, r)]
    text = ("\n".join(lines) + "\n").encode()
    name = "ubi.json.gz" if gzipped else "ubi.json"
    (tmp_path / name).write_bytes(gzip.compress(text) if gzipped else text)
    found = check(name)
    fields = uses(found)
    assert not any(column.startswith("index") for column in fields)  # action lines are no records
    assert fields["query_id"] == "query_id"
    graph = build(name, None, tmp_path / "graph", actions={"click": 1})
    assert len(edges(graph)) == 10 and set(graph.stats["fields"]) >= {"position"}
    assert graph.daily.position.tolist() == [3] * 10
    if not gzipped:  # of a compressed file only the begin is looked at
        assert {"session", "dwell"} <= set(graph.stats["fields"])
        assert fields["event_attributes.position.ordinal"] == "position"
        assert fields["session_id"] == "session" and fields["client_id"] == "user"


def test_lines_behind_the_first_megabyte(tmp_path):
    path = tmp_path / "log.ndjson"
    path.write_text("".join(f'{{"n": {n}}}\n' for n in range(200_000)))
    numbers = [json.loads(line)["n"] for line in later_lines(path, gzipped=False)]
    assert numbers == sorted(numbers) and numbers[-1] > 190_000 and len(numbers) <= 1600
    (tmp_path / "log.gz").write_bytes(gzip.compress(path.read_bytes(), 1))
    numbers = [json.loads(line)["n"] for line in later_lines(tmp_path / "log.gz", gzipped=True)]
    assert numbers == sorted(numbers) and len(numbers) == 100  # one place: the text has less than 4 MB
    path.write_text('{"n": 1}\n')
    assert later_lines(path, gzipped=False) == []


def test_hits_with_nothing_but_their_source(tmp_path, capsys):
    hits = [{"_source": record} for _, record in ubi(10)]
    (tmp_path / "page.json").write_text(json.dumps({"took": 1, "hits": {"hits": hits}}))
    assert len(edges(run(check("page.json").command, capsys))) == 10


def test_events_without_a_time_have_that_of_their_search(tmp_path):
    searches = [{"queryUid": "q1", "query": "hat", "timestamp": "2026-01-05T10:00:00Z", "userId": "u"}]
    events: list[dict[str, object]] = [
        {"eventType": "click", "queryUid": "q1", "objectId": "A", "position": 0, "userId": "u"},
        {"eventType": "click", "queryUid": "q1", "objectId": "B", "position": 1, "userId": "u",
         "timestamp": "2026-01-07T10:00:00Z"},
        {"eventType": "click", "queryUid": "q1", "objectId": "C", "position": 1, "userId": "u",
         "timestamp": "soon"},
        {"eventType": "click", "queryUid": "q2", "objectId": "C", "position": 1, "query": "cap"},
    ]  # fmt: skip
    (tmp_path / "log.ndjson").write_text("\n".join(map(json.dumps, [*searches, *events])))
    graph = build("log.ndjson", None, tmp_path / "graph")
    assert edges(graph) == {("hat", "A"): 1, ("hat", "B"): 1}
    assert graph.daily.day.tolist() == [20458, 20460]  # 5 and 7 January 2026
    reasons = list(graph.stats["rejected"])
    assert sum(graph.stats["rejected"].values()) == 2
    assert any(reason.startswith("timestamp is not a time") for reason in reasons)


# What check guesses


def test_a_time_and_users_of_unknown_names(tmp_path, capsys):
    rows = "".join(f"hat,A{n},2026-01-0{n} 10:00,k{n}\n" for n in range(1, 6))
    (tmp_path / "log.csv").write_text(f"query,doc,when,customer\n{rows}")
    found = check("log.csv")
    assert found.guessed == {"timestamp": "when", "user": "customer"}
    graph = run(found.command, capsys)
    assert {"timestamp", "user"} <= set(graph.stats["fields"]) and len(graph.daily.day) == 5


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("запрос;товар;пользователь;время", "шляпа;17;u1;25.01.2026 10:00"),
        ("検索語;商品ID;ユーザー;日時", "赤い靴;A1;u1;2026/01/25 10:00"),
        ("كلمة البحث;المنتج;المستخدم;التاريخ", "حذاء أحمر;A1;u1;2026/01/25 10:00"),
        ("besucher_id;suchwort;treffer;zeit", "u1;hut;A1;25.01.2026 10:00"),
    ],
)
def test_headers_in_other_languages(tmp_path, capsys, header, rows):
    (tmp_path / "log.csv").write_text(f"{header}\n{rows}\n")
    graph = run(check("log.csv").command, capsys)
    assert {"timestamp", "user", "query", "doc"} <= set(graph.stats["fields"])
    assert graph.stats["rows"] == 1 and next(iter(graph.docs)) in ("17", "A1")


def test_a_log_without_a_header(tmp_path, capsys):
    (tmp_path / "log.tsv").write_text("red shoe\tD123\t2026-01-02\nblue hat\tD9\t2026-01-03\n")
    found = check("log.tsv")
    assert "--columns query,doc,timestamp" in found.command
    assert edges(run(found.command, capsys)) == {("red shoe", "D123"): 1, ("blue hat", "D9"): 1}


def test_columns_with_commas_in_their_names(tmp_path, capsys):
    (tmp_path / "log.csv").write_text('"Suche, Begriff";Artikel=Nr\nhut;A1\n')
    assert edges(run(check("log.csv").command, capsys)) == {("hut", "A1"): 1}


def test_a_database(tmp_path, capsys):
    with duckdb.connect("shop.duckdb") as connection:
        connection.execute("CREATE TABLE log AS SELECT 'hat' AS query, 'A1' AS sku FROM range(3)")
    found = check(database="shop.duckdb", sql="SELECT * FROM log -- all\n;")
    assert found.files[0].name == "the result of --sql" and uses(found) == {"query": "query", "sku": "doc"}
    assert edges(run(found.command, capsys)) == {("hat", "A1"): 3}
    with sqlite3.connect("shop.sqlite") as connection:
        connection.execute("CREATE TABLE log (query TEXT, sku TEXT)")
        connection.execute("INSERT INTO log VALUES ('hat', 'A1')")
    words = ["check", "--database", "shop.sqlite", "--sql", "SELECT query, sku FROM log", "--docs-sql",
             "SELECT sku AS doc, query AS title FROM log", "--json"]  # fmt: skip
    assert exit_code(*words) == 0
    command = json.loads(capsys.readouterr().out)["command"]
    assert shlex.split(command)[2:8] == words[1:7]
    with pytest.raises(UserError, match="must be a SELECT"):
        check(database="shop.duckdb", sql="DROP TABLE log")
    with pytest.raises(UserError, match="the log was given both as files"):
        check("log.csv", database="shop.duckdb", sql="SELECT 1")


def test_the_limit_of_rejected_rows(tmp_path):
    (tmp_path / "log.csv").write_text("query,doc\nhat,A\nhat,\n" + "hat,B\n" * 8)
    assert check("log.csv", max_rejected=0.05).problem.startswith("10% of the rows were rejected")
    assert "--max-rejected 20" in check("log.csv", max_rejected=0.2).command


def test_the_sample_of_one_long_line(tmp_path):
    records = [{"query": f"hat {n}", "doc": f"A{n}"} for n in range(300_000)]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(records))
    (tmp_path / "parts").mkdir()
    sample = LogSample.of([path], tmp_path / "parts", max_bytes=1)
    lines = sample.sources[0].read_text().splitlines()
    assert sample.cut == [str(path)] and [json.loads(line) for line in lines] == records[: len(lines)]
    assert sample.sources[0].stat().st_size < 5_000_000


# DOCS


@pytest.mark.parametrize(
    ("log", "docs", "differs"),
    [
        ("0047", "47", "leading zeros"),
        ("abc-1", "ABC-1", "upper and lower case"),
        ("https://shop.example/p/17", "17", "what is before the last / : = or #"),
        ("17.0", "17", "a '.0' at the end"),
        ("https://shop.example/a/", "https://shop.example/a", "a slash at the end"),
    ],
)
def test_ids_that_are_written_in_another_way(tmp_path, log, docs, differs):
    (tmp_path / "log.csv").write_text(f"query,doc\nhat,{log}\nhat,same\n")
    (tmp_path / "docs.csv").write_text(f"doc,title\n{docs},Hat\n")
    says = f"1 of them only differ in {differs}: {log!r} in the log is {docs!r} in DOCS"
    assert says in check("log.csv", "docs.csv").hint
    (tmp_path / "docs.csv").write_text(f"doc,title\n{docs},Hat\nsame,Hat\n")
    assert says in check("log.csv", "docs.csv").report.warnings[0]


def test_a_header_of_docs_in_another_language(tmp_path):
    (tmp_path / "log.csv").write_text("query,doc\nhut,0047\n")
    (tmp_path / "docs.csv").write_text(
        "Artikelnummer;Bezeichnung;Preis\n0047;Roter Hut;19,99\n0048;Schal;5\n"
    )
    graph = build("log.csv", "docs.csv", tmp_path / "graph")
    assert list(graph.docs) == ["0047", "0048"]
    assert {name: list(texts) for name, texts in graph.texts.items()} == {
        "title": ["Roter Hut", "Schal"], "preis": ["19,99", "5"]
    }  # fmt: skip
    report = check("log.csv", "docs.csv").report
    assert "docs.csv: Artikelnummer as doc, Bezeichnung as title, Preis as preis" in report.used
    assert any("docs.csv was read as the names of its columns" in line for line in report.assumed)


def test_columns_of_docs_that_are_not_read(tmp_path):
    (tmp_path / "log.csv").write_text("query,doc\nhat,A\n")
    docs = pd.DataFrame({"doc": ["A"], "title": ["Hat"], "price": [3.5]})
    report = check("log.csv", docs).report
    assert "the table of documents: price (not text)" in report.ignored


def test_ids_that_became_floats(tmp_path):
    """A column of whole numbers with a missing one: pandas makes floats of it."""
    frame = pd.DataFrame({"query": ["hat", "cap", "hat"], "doc": [17.0, float("nan"), 1.5]})
    graph = build(frame, pd.DataFrame({"doc": [17.0], "title": ["Hat"]}), tmp_path / "graph")
    assert edges(graph) == {("hat", "17"): 1, ("hat", "1.5"): 1}
    assert graph.stats["rejected"] == {"doc is missing": 1} and graph.stats["docs_missing"] == 1


# Times


def test_numbers_of_a_spreadsheet(tmp_path):
    (tmp_path / "log.csv").write_text("query,doc,timestamp\nhat,A,45000.5\nhat,B,45001\n")
    report = check("log.csv").report
    assert any("of 1970-01-01" in line and "--time-format excel" in line for line in report.warnings)
    graph = build("log.csv", None, tmp_path / "graph", time_format="excel", timezone="Europe/Berlin")
    assert graph.stats["first"] == "2023-03-15T11:00:00+00:00"  # noon in Berlin, before summer time
    assert graph.stats["last"] == "2023-03-15T23:00:00+00:00"


def test_dates_of_javascript(tmp_path):
    time = "Fri Jan 02 2026 10:00:00 GMT+0100 (Central European Standard Time)"
    (tmp_path / "log.csv").write_text(f"query,doc,timestamp\nhat,A,{time}\n")
    assert build("log.csv", None, tmp_path / "graph").stats["first"] == "2026-01-02T09:00:00+00:00"


# Cells with line ends

LONG = (
    'query,doc,user\n"red\nshoes",A1,u1\ntv 65",A2,u1\n"a\n\n""b""",A3,u2\ntv 32",A4,u2\n'
    '"open,A5,u3\nhat,,u3\n"two\r\nlines",A6,u9\nhat,A7\n'
)
LONG_EDGES = {("red shoes", "A1"), ('tv 65"', "A2"), ('a "b"', "A3"), ('tv 32"', "A4"), ("two lines", "A6")}
LONG_REJECTS = [(9, "broken quotes"), (10, "doc is missing"), (13, "wrong number of columns")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "gzip"])
def test_cells_with_line_ends(tmp_path, encoding):
    data = gzip.compress(LONG.encode()) if encoding == "gzip" else LONG.encode(encoding)
    (tmp_path / "log.csv").write_bytes(data)
    graph = build("log.csv", None, tmp_path / "graph", max_rejected=1)
    assert set(edges(graph)) == LONG_EDGES
    found = [(line, f"{field} {reason}".strip()) for _, line, field, reason, _ in rejects(graph)]
    assert found == LONG_REJECTS


def test_logs_without_them_are_read_as_they_are(tmp_path, monkeypatch):
    def fail(*args):
        raise AssertionError("the log was written anew")

    monkeypatch.setattr("coclick.logs.csv_records.join_lines", fail)
    (tmp_path / "log.csv").write_text('query,doc\ntv 65",A1\n"tv ""32""",A2\ntv 40",A3\n"a, b",A4\n')
    assert len(edges(build("log.csv", None, tmp_path / "graph"))) == 4
