"""The API in one process: the answers of the library, limits, and errors that name their field."""

import base64
import json
from dataclasses import replace
from typing import Any

import pytest
import scipy.sparse

import planted
from coclick import answers, open_model, train
from coclick.service.settings import Settings
from service.conftest import in_process

QUERY = next(iter(planted.TOPICS))


@pytest.fixture(scope="module")
def vpcg(models):
    return open_model(models / "vpcg")


def test_answers_equal_the_library(client, models):
    for name in ("vpcg", "pls"):
        model = open_model(models / name)
        doc = model.search(QUERY, 1).hits()[0][0]
        asked = {"q": QUERY, "model": name}
        expected = {
            "/search": answers.search(model, [QUERY], 10)[0],
            "/similar/queries": answers.similar_queries(model, [QUERY], 10)[0],
            "/expand": answers.expand(model, QUERY),
            "/vectors": answers.query_vectors(model, [QUERY])[0],
        }
        for path, answer in expected.items():
            found = client.get(path, **asked)
            assert found.status_code == 200, found.text
            assert found.json() == answer
        found = client.get("/similar/documents", doc=doc, model=name).json()
        assert found == answers.similar_docs(model, [doc], 10)[0] and found["results"]
        assert client.get("/expand", doc=doc, k=4, model=name).json() == answers.expand_doc(model, doc, 4)
        found = client.get("/explain", q=QUERY, doc=doc, model=name, clicks=3).json()
        assert found == answers.explain(model, QUERY, doc, 3)
        assert sum(part["value"] for part in found["parts"]) == pytest.approx(found["score"], abs=1e-5)
        assert client.get("/vectors", doc=doc, model=name).json() == answers.doc_vectors(model, [doc])[0]


def test_batches_equal_single_requests(client):
    queries = [*planted.TOPICS, "never seen", ""]
    several = client.post("/search", queries=queries, k=5).json()["answers"]
    assert several == [client.get("/search", q=query, k=5).json() for query in queries]
    several = client.post("/similar/queries", queries=queries, k=5).json()["answers"]
    assert several == [client.get("/similar/queries", q=query, k=5).json() for query in queries]
    several = client.post("/expand", queries=queries).json()["answers"]
    assert several == [client.get("/expand", q=query).json() for query in queries]
    docs = [hit["doc"] for hit in client.get("/search", q=QUERY).json()["results"]]
    several = client.post("/similar/documents", docs=docs, k=2).json()["answers"]
    assert several == [client.get("/similar/documents", doc=doc, k=2).json() for doc in docs]
    several = client.post("/vectors", queries=queries[:2], docs=docs[:2]).json()["answers"]
    assert several == [
        *(client.get("/vectors", q=query).json() for query in queries[:2]),
        *(client.get("/vectors", doc=doc).json() for doc in docs[:2]),
    ]


def test_the_first_model_is_the_default(client):
    assert client.get("/search", q=QUERY).json() == client.get("/search", q=QUERY, model="vpcg").json()
    assert [model["name"] for model in client.get("/models").json()["models"]] == [
        "vpcg",
        "pls",
        "popularity",
    ]
    assert client.get("/models/pls").json()["parameters"]["dim"] == 8


def test_dot_products_of_vectors_are_the_scores(client):
    """What a search engine does with /vectors."""
    for name in ("vpcg", "pls"):
        best = client.get("/search", q=QUERY, k=1, model=name).json()["results"][0]
        query, doc = (
            client.get("/vectors", model=name, **asked).json()
            for asked in ({"q": QUERY}, {"doc": best["doc"]})
        )
        if "terms" in query:
            weights = {term["id"]: term["weight"] for term in doc["terms"]}
            score = sum(term["weight"] * weights.get(term["id"], 0) for term in query["terms"])
        else:
            score = sum(x * y for x, y in zip(query["values"], doc["values"], strict=True))
        assert score == pytest.approx(best["score"], rel=1e-5)


def test_allow_and_block(client):
    found = [hit["doc"] for hit in client.get("/search", q=QUERY, k=5).json()["results"]]
    rest = client.post("/search", queries=[QUERY], k=5, block=found[:2]).json()["answers"][0]["results"]
    assert [hit["doc"] for hit in rest][:3] == found[2:5]
    only = client.get("/search", q=QUERY, k=5, allow=[found[3], found[1], "unknown"]).json()["results"]
    assert [hit["doc"] for hit in only] == [found[1], found[3]]


def test_rank_returns_every_candidate_and_scores_unknown_ones_by_text(client, vpcg):
    known = [hit["doc"] for hit in client.get("/search", q=QUERY, k=3).json()["results"]]
    title = vpcg.title(known[0])
    given = [*reversed(known), {"doc": "new", "title": title}, {"doc": known[0], "title": "other"}, "unknown"]
    ranked = client.post("/rank", query=QUERY, candidates=given).json()["results"]
    assert len(ranked) == len(given)
    scores = {hit["doc"]: hit["score"] for hit in ranked}
    [expected] = vpcg.score([QUERY], [known])
    assert [scores[doc] for doc in known] == pytest.approx(expected.tolist())
    assert scores["new"] == pytest.approx(float(vpcg.score_texts(QUERY, [title])[0])) and scores["new"] > 0
    assert scores["unknown"] == 0 and ranked[-1] == {
        "doc": "unknown",
        "score": 0,
        "title": "",
        "known": False,
    }
    assert [hit["score"] for hit in ranked] == sorted((hit["score"] for hit in ranked), reverse=True)


def test_rank_takes_features_of_user_views(models, graph, tmp_path):
    topics = list(planted.TOPICS)
    sides = [
        (
            list(ids),
            scipy.sparse.csr_array([[float(name.startswith(topic)) for topic in topics] for name in ids]),
        )
        for ids in (graph.queries, graph.docs)
    ]
    named = graph.with_view("tags", *sides, query_features=topics, doc_features=topics)
    model = train("pls(dim=5,views=words+tags)", named).save(tmp_path / "tagged")
    client = in_process(Settings((("tagged", str(tmp_path / "tagged")), ("vpcg", str(models / "vpcg")))))
    given = [
        {"doc": "n1", "title": "anything"},
        {"doc": "n2", "title": "anything", "features": {"tags": {"pizza": 2.0, "unknown": 1.0}}},
        {"doc": "n3", "features": {"tags": {"pizza": 1.0}}},
        {"doc": "n4", "title": "Pizza", "features": "a text field of this name"},
        {"doc": "pizza-0", "features": {"tags": {"flu": 1.0}}},
    ]
    scores = {
        hit["doc"]: hit["score"]
        for hit in client.post("/rank", query="pizza", candidates=given).json()["results"]
    }
    features = {"tags": {"n2": {"pizza": 2.0}, "n3": {"pizza": 1.0}}}
    larger = model.add({"n1": "anything", "n2": "anything", "n3": "", "n4": "Pizza"}, features)
    docs = ["n1", "n2", "n3", "n4", "pizza-0"]
    [expected] = larger.score(["pizza"], [docs])
    assert [scores[doc] for doc in docs] == pytest.approx(expected.tolist(), rel=1e-5, abs=1e-7)
    assert scores["n2"] > scores["n1"]

    def error(**more):
        wrong = [{"doc": "n1", "features": {"tags": {"pizza": -1}}}]
        done = client.post("/rank", **{"query": "pizza", "candidates": wrong} | more)
        return done.status_code, done.json()["error"]["message"], done.json()["error"]["hint"]

    assert error() == (
        400,
        "the feature 'pizza' of 'n1' in the view 'tags' cannot be -1.0",
        "use a number above zero, from 1e-12 to 1e+12",
    )
    assert error(model="vpcg") == (400, "the model uses no user view 'tags'", "it uses no user view")
    assert error(candidates=[{"doc": "n1", "features": {"tags": ["pizza"]}}])[0] == 422


@pytest.mark.parametrize(
    ("path", "given", "code", "where"),
    [
        ("/search", {}, 422, "query.q"),
        ("/search", {"q": "x" * 1001}, 422, "query.q"),
        ("/search", {"q": "x", "k": 0}, 422, "query.k"),
        ("/search", {"q": "x", "k": 1001}, 422, "query.k"),
        ("/search", {"q": "x", "k": "many"}, 422, "query.k"),
        ("/search", {"q": "x", "kk": 1}, 422, "query.kk"),
        ("/expand", {"q": "x", "kk": 1}, 422, "query.kk"),
        ("/expand", {}, 400, "query.q"),
        ("/expand", {"q": "x", "doc": "y"}, 400, "query.q"),
        ("/models", {"name": "x"}, 422, "query.name"),
        ("/search", {"q": "x", "model": "none"}, 404, None),
        ("/explain", {"q": "x", "doc": "none"}, 404, None),
        ("/similar/documents", {"doc": "none"}, 404, None),
        ("/similar/queries", {"q": "x", "model": "popularity"}, 400, None),
        ("/vectors", {"q": "x", "model": "popularity"}, 400, None),
        ("/vectors", {}, 400, "query.q"),
        ("/models/none", {}, 404, None),
        ("/nothing/here", {}, 404, "/nothing/here"),
    ],
)
def test_errors_name_the_field(client, path, given, code, where):
    answer = client.get(path, **given)
    assert answer.status_code == code
    error = answer.json()["error"]
    assert error["message"] and error["where"] == where
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", 422),
        (b"{", 422),
        (b"[" * 100_000, 422),
        (b'{"queries": []}', 422),
        (b'{"queries": ["a"], "k": 1e9}', 422),
        (b'{"queries": ["a"], "kk": 1}', 422),
        (b'{"queries": ["\\ud800"]}', 422),
        (json.dumps({"queries": ["x"] * 101}).encode(), 422),
        (json.dumps({"queries": ["x" * 1001]}).encode(), 422),
        (b'{"queries": ["' + b"x" * (5 << 20) + b'"]}', 413),
    ],
)
def test_invalid_bodies(client, body, code):
    answer = client("POST", "/search", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (code, 400 if code == 422 else code), answer.text
    assert answer.json()["error"]["message"]


def test_a_body_with_another_content_type(client):
    form = {"content-type": "application/x-www-form-urlencoded"}  # the default of curl
    error = client("POST", "/search", content=b'{"queries": ["a"]}', headers=form).json()["error"]
    assert error["where"] == "body" and "content-type: application/json" in error["hint"]


@pytest.mark.parametrize("path", ["/search", "/similar/queries"])
def test_missing_and_unknown_parameters(client, path):
    assert client.get(path).json()["error"]["message"] == "the parameter q is required"
    assert client.get(path, q="x", kk=1).json()["error"]["message"] == "there is no parameter kk"


def test_head_is_get_without_body(client):
    given, asked = client("GET", "/ready"), client("HEAD", "/ready")
    assert asked.status_code == 200 and asked.headers["content-length"] == given.headers["content-length"]


def test_a_chunked_body_is_limited(client):
    async def pieces():
        for _ in range(6):
            yield b" " * (1 << 20)

    answer = client("POST", "/search", content=pieces(), headers={"content-type": "application/json"})
    assert answer.status_code == 413


@pytest.mark.parametrize(
    "query", ["", "<script>alert(1)</script>", "\x00", "هتل رخيص", "🏨" * 300, "a\u0301", "%FF"]
)
def test_hostile_queries_are_answered(client, query):
    for path in ("/search", "/similar/queries", "/expand", "/vectors"):
        answer = client.get(path, q=query)
        assert answer.status_code == 200 and answer.json()["query"] == query


def test_invalid_utf8_is_answered(client):
    assert client("GET", "/search?q=%FF%FE").status_code == 200


def test_security_headers_and_no_cors(client):
    answer = client.get("/search", headers={"origin": "http://elsewhere"}, q=QUERY)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("default-src 'self'")
    assert answer.headers["cache-control"] == "no-store"
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert client("OPTIONS", "/search", headers={"origin": "http://elsewhere"}).status_code == 405


def test_api_key_is_required(settings):
    client = in_process(replace(settings, api_key="secret"))
    assert client.get("/health").status_code == 200
    asked = client.get("/search", q=QUERY)
    assert asked.status_code == 401 and asked.json()["error"]["hint"]
    basic = base64.b64encode(b"anyone:secret").decode()
    for headers in (
        {"x-api-key": "secret"},
        {"authorization": "Bearer secret"},
        {"authorization": f"Basic {basic}"},
    ):
        assert client.get("/search", headers=headers, q=QUERY).status_code == 200
    for headers in ({"x-api-key": "secre"}, {"authorization": "Bearer"}, {"authorization": "Basic !"}):
        assert client.get("/search", headers=headers, q=QUERY).status_code == 401
    not_ascii: Any = {"authorization": "Basic é".encode("latin-1")}
    assert client.get("/search", headers=not_ascii, q=QUERY).status_code == 401


def test_timeout(settings):
    client = in_process(replace(settings, timeout=1e-9))
    answer = client.get("/search", q=QUERY)
    assert answer.status_code == 503 and "longer than" in answer.json()["error"]["message"]


def test_prometheus_metrics(client):
    client.get("/search", q=QUERY)
    client.get("/search")
    client.get("/not/there/1")
    lines = client.get("/metrics").text.splitlines()
    assert 'coclick_requests_total{endpoint="/search",status="200"} 1.0' in lines
    assert 'coclick_requests_total{endpoint="/search",status="422"} 1.0' in lines
    assert 'coclick_requests_total{endpoint="other",status="404"} 1.0' in lines
    assert 'coclick_request_seconds_count{endpoint="/search"} 2.0' in lines
    assert "coclick_requests_running 1.0" in lines  # this request


def test_every_route_is_in_the_openapi_document(client):
    paths = client.get("/openapi.json").json()["paths"]
    assert {"/search", "/rank", "/similar/queries", "/similar/documents", "/expand", "/explain"} <= set(paths)
    assert {"/vectors", "/models", "/health", "/ready", "/metrics"} <= set(paths)
