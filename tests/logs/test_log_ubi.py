"""OpenSearch User Behavior Insights: a small export, and a real one against plain Python."""

import gzip
import json
from collections import Counter

import pytest

from coclick.logs import build


def event(query_id, action, doc=None, ordinal=None, minute=0, **more):
    record = {
        "action_name": action, "query_id": query_id, "client_id": "c1",
        "timestamp": f"2024-12-10T10:{minute:02d}:00.000Z", "event_attributes": {},
    }  # fmt: skip
    if doc is not None:
        record["event_attributes"]["object"] = {"object_id": doc, "object_id_field": "asin"}
    if ordinal is not None:
        record["event_attributes"]["position"] = {"ordinal": ordinal}
    return record | more


QUERIES = [
    {"query_id": "q1", "user_query": "Red Shoe", "client_id": "c1", "timestamp": "2024-12-10T10:00:00Z"},
    {"query_id": "q2", "user_query": "hat", "client_id": "c2", "timestamp": "2024-12-10T10:00:00Z"},
    {"query_id": "q3", "user_query": "", "client_id": "c3"},
]
EVENTS = [
    event("q1", "impression", "A", 0),
    event("q1", "impression", "B", 1),
    event("q1", "item_click", "B", 1, minute=1),
    event("q2", "click", "A", 13, client_id=""),  # the user is known from the query
    event("q9", "click", "C", 4, user_query="red  shoe"),  # the query is known from the event
    event("q1", "add_to_cart", "B"),
    event("q1", "search"),
    event("q3", "click", "A"),  # no query anywhere
    event("q1", "click"),  # no object
    event("q1", "click", "A", ordinal="first"),
]
STRAY = {"foo": "bar"}


def bulk(index, records):
    for number, record in enumerate(records):
        yield {"index": {"_index": index, "_id": str(number)}}
        yield record


@pytest.fixture(params=["bulk", "plain", "two files"])
def export(tmp_path, request):
    records = [*QUERIES, *EVENTS, STRAY]
    if request.param == "bulk":
        records = [*bulk("ubi_events", EVENTS), *bulk("ubi_queries", QUERIES), {"create": {}}, STRAY]
    paths = [tmp_path / "export.ndjson"]
    if request.param == "two files":
        records = [*EVENTS, STRAY]
        paths.append(tmp_path / "queries.ndjson.gz")
        paths[1].write_bytes(gzip.compress("\n".join(map(json.dumps, QUERIES)).encode()))
    paths[0].write_text("\n".join(map(json.dumps, records)))
    return paths


def test_a_small_export(tmp_path, export):
    graph = build(export, None, tmp_path / "graph")
    assert list(graph.queries) == ["hat", "red shoe"] and list(graph.docs) == ["A", "B", "C"]
    assert graph.clicks.to_scipy().toarray().tolist() == [[1, 0, 0], [0, 1, 1]]
    assert graph.pairs.impressions.tolist() == [1, 1, 1, 1]
    assert graph.daily.position.tolist() == [14, 1, 2, 5]  # UBI counts from 0
    assert graph.daily.day.tolist() == [20067] * 4
    assert graph.skips.clicked.tolist() == [1, 2] and graph.skips.skipped.tolist() == [0, 0]  # over A
    stats = graph.stats
    assert stats["format"] == "ubi" and stats["users"] == 2
    assert stats["rows"] == len(QUERIES) + len(EVENTS) + 1
    assert stats["right"] == stats["rows"] - 4
    assert stats["other_actions"] == {"add_to_cart": 1, "search without a query": 1}
    assert stats["rejected"] == {
        "doc is missing": 1,
        "action is missing": 1,
        "position is not a whole number from 0 up": 1,
        "query is missing": 1,
    }
    carts = build(export, None, tmp_path / "carts", actions={"click": 1, "cart": 3})
    assert carts.clicks.to_scipy().toarray().tolist() == [[1, 0, 0], [0, 4, 1]]


@pytest.mark.slow
def test_the_real_export(tmp_path, data):
    sample = data / "esci_ubi" / "ubi_queries_events.ndjson.gz"
    with gzip.open(sample, "rt", encoding="utf-8") as stream:
        records = [json.loads(line) for line in stream]
    records = [record for record in records if "index" not in record]
    texts = {}
    for record in records:
        if "action_name" not in record and record["user_query"]:  # of several with one id, the smallest
            known = texts.setdefault(record["query_id"], record["user_query"])
            texts[record["query_id"]] = min(known, record["user_query"])
    clicks, dropped = Counter(), 0
    for record in records:
        action = record.get("action_name")
        if action not in ("click", "item_click", "impression"):
            continue
        query = texts.get(record["query_id"]) or record.get("user_query")
        doc = ((record["event_attributes"] or {}).get("object") or {}).get("object_id")
        if not query or not doc:
            dropped += 1
        elif action != "impression":
            clicks[" ".join(query.lower().split()), doc] += 1
    graph = build([sample], sample.with_name("docs.tsv.gz"), tmp_path / "graph")
    assert graph.stats["rows"] == len(records)
    assert graph.stats["right"] == len(records) - dropped
    matrix = graph.clicks.to_scipy().tocoo()
    queries, docs = list(graph.queries), list(graph.docs)
    found = {(queries[q], docs[d]): v for q, d, v in zip(matrix.row, matrix.col, matrix.data, strict=True)}
    assert found == clicks
