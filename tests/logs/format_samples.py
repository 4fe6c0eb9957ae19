"""Small logs of every format, made by hand from the published schemas, with wrong records among the right.

`clicks` are the expected edges. Every record is right, rejected (line → reason) or ignored.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

T = "2024-03-01T10:0{}:00Z"
MS = 1_709_287_200_000  # 2024-03-01T10:00:00Z in milliseconds

NO_TIME = (
    "timestamp is not a time but a text without digits; accepted are ISO 8601, 14/09/2011, 14 Sep 2011, "
    "1316004360, or what --time-format says"
)


@dataclass(frozen=True)
class Sample:
    """The text of a log, and what is in it."""

    text: str
    clicks: dict
    rejected: dict  # line → reason
    ignored: int = 0
    impressions: dict = field(default_factory=dict)
    actions: dict | None = None
    name: str = "log.ndjson"
    encoding: str = "utf-8"
    recognised: bool = True
    positions: dict = field(default_factory=dict)  # of impressions or clicks, counted from 1


def ndjson(*records):
    return "\n".join(one if isinstance(one, str) else json.dumps(one) for one in records) + "\n"


def tsv(*rows):
    return "\n".join("\t".join(row) for row in rows) + "\n"


def ubi_event(action, query_id, doc=None, ordinal=None, minute=1, **more):
    attributes = {}
    if doc:
        attributes["object"] = {"object_id": doc, "object_id_field": "sku"}
    if ordinal is not None:
        attributes["position"] = {"ordinal": ordinal}
    return {
        "action_name": action, "query_id": query_id, "client_id": "c1", "session_id": "s1",
        "timestamp": T.format(minute), "event_attributes": attributes,
    } | more  # fmt: skip


UBI_RECORDS = [
    {"query_id": "q1", "user_query": "Red Shoe", "client_id": "c1", "timestamp": T.format(0),
     "query_response_id": "r1", "query_response_hit_ids": ["A", "B", "", "D"]},
    ubi_event("click", "q1", "B", 2),
    ubi_event("click", "q1", ordinal=1),  # no document
    ubi_event("scroll", "q1"),
    ubi_event("click", "q9", "A", 1, user_query="hat"),
    ubi_event("click", "q8", "A", 1),  # nobody searched q8
]  # fmt: skip


def ga4(name, minute, *items, term=None, session=7, user="u1"):
    params = [{"key": "ga_session_id", "value": {"int_value": session}}]
    if term is not None:
        params.append({"key": "search_term", "value": {"string_value": term}})
    time = (MS + minute * 60_000) * 1000
    record = {"event_name": name, "event_timestamp": time, "event_params": params, "user_pseudo_id": user}
    return record | {"items": [{"item_id": item, "index": i} for i, item in enumerate(items, 1)]}


def snowplow(name, minute, docs=(), ecommerce=None, **more):
    prefix = "unstruct_event_com_snowplowanalytics_snowplow_"
    record = {
        "event_name": name, "event_id": f"{name}{minute}", "collector_tstamp": T.format(minute),
        "domain_userid": "d1", "domain_sessionid": "s1",
    }  # fmt: skip
    if ecommerce:
        record[f"{prefix}ecommerce_snowplow_ecommerce_action_1"] = {"type": ecommerce}
        products = [{"id": doc, "position": i} for i, doc in enumerate(docs, 1)]
        record["contexts_com_snowplowanalytics_snowplow_ecommerce_product_1"] = products
    return record | {f"{prefix}{key}": value for key, value in more.items()}


SAMPLES = {
    "ubi": Sample(
        ndjson(*UBI_RECORDS, "{broken"),
        clicks={("red shoe", "B"): 1, ("hat", "A"): 1},
        rejected={3: "doc is missing", 6: "query is missing", 7: "not valid JSON"},
        ignored=1,
        impressions={("red shoe", "A"): 1, ("red shoe", "B"): 1, ("red shoe", "D"): 1, ("hat", "A"): 1},
        positions={("red shoe", "A"): 1, ("red shoe", "B"): 2, ("red shoe", "D"): 4, ("hat", "A"): 1},
    ),
    "aol": Sample(
        tsv(
            ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL"),
            ("142", "rentdirect.com", "2006-03-01 07:17:12", "", ""),
            ("142", "westchester hotel", "2006-03-17 21:19:29", "2", "http://hotel.example"),
            ("217", "lottery", "2006-03-01 11:58:51", "1", "http://lottery.example"),
            ("217", "lottery", "yesterday", "1", "http://lottery.example"),
            ("217", "lottery", "2006-03-01 11:58:51"),
        ),
        clicks={("westchester hotel", "http://hotel.example"): 1, ("lottery", "http://lottery.example"): 1},
        rejected={5: NO_TIME, 6: "wrong number of columns"},
        positions={("westchester hotel", "http://hotel.example"): 2},
        name="user-ct-test-collection-01.txt",
    ),
    "orcas": Sample(
        tsv(
            ("10103699", "github", "D1265400", "https://github.example/"),
            ("10103699", "github", "D2000", "https://github.example/about"),
            ("10103699", "", "D2000", "https://github.example/about"),
            ("10103699", "github"),
        ),
        clicks={("github", "D1265400"): 1, ("github", "D2000"): 1},
        rejected={3: "query is missing", 4: "wrong number of columns"},
        name="orcas.tsv",
        recognised=False,
    ),
    "tripclick": Sample(
        ndjson(
            {"DateCreated": MS, "SessionId": "s1", "Keywords": "asthma child",
             "Documents": [11, 12, 13], "DocumentId": 12, "Url": "https://a.example"},
            {"DateCreated": MS, "SessionId": "s2", "Keywords": "asthma child",
             "Documents": [11, 12], "DocumentId": 99},
            {"DateCreated": MS, "SessionId": "s2", "Documents": [11, 12], "DocumentId": 11},
            {"DateCreated": "soon", "SessionId": "s2", "Keywords": "flu", "Documents": [], "DocumentId": 11},
        ),
        clicks={("asthma child", "12"): 1, ("asthma child", "99"): 1},
        rejected={3: "query is missing", 4: NO_TIME},
        impressions={("asthma child", "11"): 2, ("asthma child", "12"): 2, ("asthma child", "13"): 1,
                     ("asthma child", "99"): 1},
        positions={("asthma child", "12"): 2, ("asthma child", "13"): 3},
    ),
    "sogou": Sample(
        tsv(
            ("00:00:00", "2982199073774412", "[360安全卫士]", "8 3", "download.example/1.html"),
            ("00:00:01", "2982199073774413", "[360安全卫士]", "1 1", "download.example/2.html"),
            ("00:00:01", "2982199073774413", "[]", "1 1", "download.example/2.html"),
            ("00:00:01", "2982199073774413", "[天气]", "first", "weather.example"),
        ),
        clicks={
            ("360安全卫士", "download.example/1.html"): 1,
            ("360安全卫士", "download.example/2.html"): 1,
        },
        rejected={3: "query is missing", 4: "position is not a whole number from 0 up"},
        name="SogouQ.reduced",
        encoding="gb18030",
        recognised=False,
    ),
    "elastic": Sample(
        ndjson(
            {"@timestamp": T.format(0), "event": {"action": "search"}, "session": {"id": "s1"},
             "user": {"id": "u1"}, "search": {"query": "tent", "results": {"total_results": 2, "items": [
                 {"document": {"id": "A", "index": "p"}}, {"document": {"id": "B", "index": "p"}}]}}},
            {"@timestamp": T.format(1), "event": {"action": "search_click"}, "session": {"id": "s1"},
             "user": {"id": "u1"}, "search": {"query": "tent"}, "document": {"id": "B"}},
            {"@timestamp": T.format(2), "event": {"action": "pageview"}, "session": {"id": "s1"}},
            {"@timestamp": T.format(3), "event": {"action": "search_click"}, "session": {"id": "s1"},
             "user": {"id": "u1"}, "search": {"query": "tent"}},
            {"@timestamp": T.format(4), "event": {}, "session": {"id": "s1"}},
        ),
        clicks={("tent", "B"): 1},
        rejected={4: "doc is missing", 5: "action is missing"},
        ignored=1,
        impressions={("tent", "A"): 1, ("tent", "B"): 1},
        positions={("tent", "A"): 1, ("tent", "B"): 2},
    ),
    "algolia": Sample(
        ndjson(
            {"queryID": "k1", "query": "kettle", "timestamp": MS, "userToken": "u1"},
            {"eventType": "click", "eventName": "Product Clicked", "userToken": "u1", "timestamp": MS + 1000,
             "objectIDs": ["A", "B"], "positions": [3, 1], "queryID": "k1"},
            {"eventType": "click", "eventName": "Product Clicked", "userToken": "u1", "timestamp": MS + 1000,
             "objectIDs": [], "positions": [], "queryID": "k1"},
            {"eventType": "view", "eventName": "Product Viewed", "userToken": "u1", "timestamp": MS + 1000,
             "objectIDs": ["A"], "queryID": "k2"},
            {"eventType": "conversion", "eventSubtype": "addToCart", "userToken": "u1", "timestamp": MS,
             "objectIDs": ["A"], "queryID": "k1"},
        ),
        clicks={("kettle", "A"): 1, ("kettle", "B"): 1},
        rejected={3: "doc is missing"},
        ignored=2,  # a view beside clicks is a page that was opened
        positions={("kettle", "A"): 3, ("kettle", "B"): 1},
    ),
    "meilisearch": Sample(
        ndjson(
            {"queryUid": "k1", "q": "kettle", "userId": "u1"},
            {"eventType": "click", "eventName": "Clicked", "indexUid": "p", "userId": "u1", "queryUid": "k1",
             "objectId": "A", "position": 0},
            {"eventType": "click", "eventName": "Clicked", "indexUid": "p", "userId": "u1", "queryUid": "k7",
             "objectId": "A", "position": 0},
            {"eventType": "conversion", "indexUid": "p", "userId": "u1", "queryUid": "k1", "objectId": "A"},
        ),
        clicks={("kettle", "A"): 1},
        rejected={3: "query is missing"},
        ignored=1,
    ),
    "ga4": Sample(
        ndjson(
            ga4("view_item", 0, "Z"),  # before any search
            ga4("view_search_results", 1, term="lamp"),
            ga4("select_item", 2, "A"),
            ga4("add_to_cart", 3, "A", "B"),
            ga4("select_item", 50, "A"),  # half an hour after the search
            ga4("select_item", 2, "B", user="u2"),
            ga4("select_item", 3),
        ),
        clicks={("lamp", "A"): 4, ("lamp", "B"): 3},
        rejected={7: "doc is missing"},
        ignored=3,
        actions={"click": 1, "cart": 3},
        name="events_20240301.json",
    ),
    "snowplow": Sample(
        ndjson(
            snowplow("site_search", 0, site_search_1={"terms": ["red", "shoe"], "totalResults": 2}),
            snowplow("snowplow_ecommerce_action", 1, ["A"], "list_click"),
            snowplow("link_click", 2, link_click_1={"targetUrl": "https://b.example"}),
            snowplow("page_ping", 3),
            snowplow("link_click", 4),
        ),
        clicks={("red shoe", "A"): 1, ("red shoe", "https://b.example"): 1},
        rejected={5: "doc is missing"},
        ignored=1,
    ),
    "fusion": Sample(
        ndjson(
            {"id": "1", "type": "response", "query_orig_s": "ipad", "session": "s1", "user_id": "u1",
             "timestamp_tdt": T.format(0), "doc_ids_s": "A,B", "hits": 2},
            {"id": "2", "type": "click", "query": "ipad", "session": "s1", "user_id": "u1", "doc_id": "B",
             "timestamp_tdt": T.format(1), "count_i": 2},
            {"id": "3", "type": "click", "query": "ipad", "session": "s1", "user_id": "u1", "doc_id": "B",
             "timestamp_tdt": T.format(1), "count_i": 20_000},
            {"id": "4", "type": "login", "session": "s1", "user_id": "u1", "timestamp_tdt": T.format(2)},
        ),
        clicks={("ipad", "B"): 2},
        rejected={3: "count is above 10,000"},
        ignored=1,
        impressions={("ipad", "A"): 1, ("ipad", "B"): 1},
    ),
}  # fmt: skip
