"""Logs like those of known systems: every format reads its sample, and accounts for every record."""

import gzip
import json

import pytest

from coclick.errors import UserError
from coclick.logs import build, rejects
from coclick.logs.detect_format import detect_format
from coclick.logs.files import detect_file
from coclick.logs.format import column_names, format_names, load_format, parse_format, parse_path
from logs.format_samples import SAMPLES, UBI_RECORDS, ndjson


def edges(graph):
    matrix = graph.clicks.to_scipy().tocoo()
    queries, docs = list(graph.queries), list(graph.docs)
    return {(queries[q], docs[d]): v for q, d, v in zip(matrix.row, matrix.col, matrix.data, strict=True)}


def by_pair(graph, values):
    pairs, queries, docs = graph.pairs, list(graph.queries), list(graph.docs)
    rows = [q for q in range(len(queries)) for _ in range(pairs.indptr[q], pairs.indptr[q + 1])]
    found = zip(rows, pairs.docs, values, strict=True)
    return {(queries[q], docs[d]): int(value) for q, d, value in found}


def positions(graph):
    """The smallest known position of each pair."""
    daily, found = graph.daily, []
    for pair in range(len(graph.pairs.docs)):
        days = range(daily.indptr[pair], daily.indptr[pair + 1])
        spans = [range(daily.position_indptr[day], daily.position_indptr[day + 1]) for day in days]
        found.append(min((int(daily.position[i]) for span in spans for i in span), default=0))
    return by_pair(graph, found)


@pytest.fixture(params=sorted(SAMPLES))
def sample(request, tmp_path):
    one = SAMPLES[request.param]
    path = tmp_path / one.name
    path.write_bytes(one.text.encode(one.encoding))
    return request.param, one, path


def test_every_record_is_accounted_for(tmp_path, sample):
    name, one, path = sample
    like = "auto" if one.recognised else name
    graph = build([path], None, tmp_path / "graph", like=like, actions=one.actions)
    assert graph.stats["format"] == name
    assert edges(graph) == one.clicks
    found = {line: f"{field} {reason}".strip() for _, line, field, reason, _ in rejects(graph)}
    assert {line: found[line].partition(":")[0] for line in found} == one.rejected
    assert all(file == str(path) for file, *_ in rejects(graph))
    lines = one.text.splitlines()
    stats = graph.stats
    records = len(lines) - (name == "aol")  # one line is the header
    assert stats["rows"] == records
    assert stats["right"] == records - len(one.rejected)
    assert sum(stats.get("other_actions", {}).values()) == one.ignored
    if one.impressions:
        assert by_pair(graph, graph.pairs.impressions) == one.impressions
    if one.impressions and one.positions:
        found = positions(graph)
        assert {pair: found[pair] for pair in one.positions} == one.positions


def test_a_format_is_recognised_by_its_names(sample):
    name, one, path = sample
    if not one.recognised:
        with pytest.raises(UserError, match="no column for"):
            detect_format([detect_file(path)], "auto", None)
        return
    format, *_ = detect_format([detect_file(path)], "auto", None)
    assert format.name == name


SHAPES = {
    "bulk": lambda r: ndjson(*(line for record in r for line in ({"index": {"_index": "ubi"}}, record))),
    "lines": lambda r: ndjson(*r),
    "elasticdump": lambda r: ndjson(
        *({"_index": "ubi", "_id": str(i), "_source": record} for i, record in enumerate(r))
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_of_a_ubi_export(tmp_path, shape):
    path = tmp_path / "ubi.ndjson.gz"
    path.write_bytes(gzip.compress(SHAPES[shape](UBI_RECORDS).encode()))
    graph = build([path], None, tmp_path / "graph")
    one = SAMPLES["ubi"]
    assert edges(graph) == one.clicks and by_pair(graph, graph.pairs.impressions) == one.impressions
    assert graph.stats["rows"] == len(UBI_RECORDS)
    assert graph.stats["rejected"] == {"doc is missing": 1, "query is missing": 1}


@pytest.mark.parametrize("first", [0, 1])
def test_ubi_positions_count_from_0_or_1(tmp_path, first):
    records = json.loads(json.dumps(UBI_RECORDS))
    for record in records:
        place = record.get("event_attributes", {}).get("position")
        if place:
            place["ordinal"] += first - 1
    path = tmp_path / "ubi.ndjson"
    path.write_text(ndjson(*records))
    assert positions(build([path], None, tmp_path / "graph")) == SAMPLES["ubi"].positions


def test_a_format_of_the_user(tmp_path):
    (tmp_path / "mine.toml").write_text(
        'title = "our shop"\njoin = "query_id"\n'
        '[fields]\nquery = "suche.text"\nquery_id = "suche.id"\ndoc = ["artikel[].nr"]\n'
        "action = { sql = \"CASE WHEN typ = 'K' THEN 'click' ELSE 'search' END\" }\n"
    )
    log = tmp_path / "log.jsonl"
    log.write_text(
        ndjson(
            {"typ": "S", "suche": {"id": 1, "text": "Hut"}},
            {"typ": "K", "suche": {"id": 1}, "artikel": [{"nr": 5}, {"nr": 6}]},
        )
    )
    graph = build([log], None, tmp_path / "graph", like=tmp_path / "mine.toml")
    assert edges(graph) == {("hut", "5"): 1, ("hut", "6"): 1}


WRONG = {
    "qery = 'a'": "the field 'qery' is unknown",
    "query = 'a..b'": "'a..b' is not a path",
    "query = 3": "'query' must be a path",
    "query = {sql = '(SELECT 1)'}": "may not contain a subquery",
    "query = {sql = 'a, b'}": "is not one SQL expression",
    "query = {sql = 'lower('}": "has an error",
    "query = 'a[].b[]'": "has two lists",
    "query = a": "not valid TOML",
}


@pytest.mark.parametrize("line", WRONG)
def test_wrong_formats_name_the_line(line):
    with pytest.raises(UserError) as error:
        parse_format("mine", f"title = 'x'\n\n[fields]\ndoc = 'd'\n{line}\n", "mine.toml")
    assert WRONG[line] in str(error.value) and "line 5" in str(error.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[fields]\nquery = 'a'\n", "no field 'doc'"),
        ("x = 1\n[fields]\n", "the key 'x' is unknown"),
        ("join = 'time'\n[fields]\nquery='a'\ndoc='b'", "join must be one of"),
        ("join = 'query_id'\n[fields]\nquery='a'\ndoc='b'", "needs the field 'query_id'"),
        ("first_position = 2\n[fields]\nquery='a'\ndoc='b'", "must be 0 or 1"),
        ("[fields]\nquery='a'\ndoc='b'\n[actions]\nbuy = ['x']", "the action 'buy' is unknown"),
        ("columns = 'a'\n[fields]\nquery='a'\ndoc='b'", "columns must be a list"),
        ("title = 'x'", "no table [fields]"),
    ],
)
def test_wrong_formats(text, problem):
    with pytest.raises(UserError) as error:
        parse_format("mine", text, "mine.toml")
    assert problem in str(error.value)


def test_unknown_formats(tmp_path):
    with pytest.raises(UserError, match="'ubi'"):
        load_format("uby")
    with pytest.raises(UserError, match="cannot be read"):
        load_format(tmp_path / "missing.toml")
    assert {"aol", "ga4", "ubi"} <= set(format_names()) and all(load_format(name) for name in format_names())


def test_paths_and_expressions():
    assert [step.key for step in parse_path('a."b.c"[].d')] == ["a", "b.c", "d"]
    assert parse_path("params[key=term].value")[0].match == ("key", "term")
    assert column_names("list_filter(a, lambda x: x > b)") == ("a", "b")


def test_columns_by_name(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("suchbegriff,sku,click_time,anzahl\nHut,1,2024-01-01,3\n")
    columns = {"query": "suchbegriff", "timestamp": "click_time"}
    graph = build([log], None, tmp_path / "graph", columns=columns)
    assert edges(graph) == {("hut", "1"): 1} and graph.daily is not None
    with pytest.raises(UserError, match="click_time"):
        build([log], None, tmp_path / "x", columns={"query": "suchbegriff", "timestamp": "clicktime"})
    with pytest.raises(UserError, match="did you mean 'timestamp'"):
        build([log], None, tmp_path / "x", columns={"query": "suchbegriff", "timestmp": "click_time"})
    with pytest.raises(UserError, match="two fields"):
        build([log], None, tmp_path / "x", columns={"query": "sku", "doc": "sku"})
