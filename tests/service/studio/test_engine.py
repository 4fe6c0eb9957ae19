"""The user's own engine beside a model, against a local server that answers like OpenSearch."""

import json

import pytest

import planted
from coclick.errors import UserError
from coclick.service.settings import EngineSettings, Settings
from coclick.service.studio.engine import Engine, find_path
from service.conftest import in_process
from service.studio.engines import engine, found, hit, slow

TEMPLATE = '{"size": {{k}}, "query": {"multi_match": {"query": "{{query}}", "fields": ["title^3", "body"]}}}'
TITLES = "hits.hits[]._source.title"


def test_a_search_as_opensearch_documents_it():
    hits = [hit("a", 9.0, title="First"), hit("b", 8.0), hit("c", 7.0, title=["Third", "other"])]
    with engine(lambda *_: (200, found(*hits))) as (address, asked):
        live = Engine(EngineSettings(f"{address}/products/_search", TEMPLATE, titles=TITLES))
        query = 'a "quoted" \\ query {{k}}\n é'
        assert live.search(query, 2) == [{"doc": "a", "title": "First"}, {"doc": "b", "title": ""}]
        assert live.search("x", 10)[2] == {"doc": "c", "title": "Third"}
    method, path, headers, body = asked[0]
    assert (method, path, headers["Content-Type"]) == ("POST", "/products/_search", "application/json")
    assert json.loads(body) == {
        "size": 2,
        "query": {"multi_match": {"query": query, "fields": ["title^3", "body"]}},
    }


def test_get_with_the_query_in_the_url():
    answer = {"response": {"docs": [{"id": 7}, {"id": "b"}]}}
    with engine(lambda *_: (200, answer)) as (address, asked):
        url = f"{address}/solr/products/select?q={{{{query}}}}&rows={{{{k}}}}"
        live = Engine(EngineSettings(url, ids="response.docs[].id", headers=(("Authorization", "ApiKey x"),)))
        assert [one["doc"] for one in live.search("a&b=c #", 5)] == ["7", "b"]
    method, path, headers, _ = asked[0]
    assert (method, path) == ("GET", "/solr/products/select?q=a%26b%3Dc%20%23&rows=5")
    assert headers["Authorization"] == "ApiKey x"


REASON = {"error": {"type": "parsing_exception", "reason": "unknown query [mach]"}, "status": 400}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda *_: (400, REASON), r"answered with 400: unknown query \[mach\]"),
        (lambda *_: (401, b""), "answered with 401"),
        (lambda *_: (302, b""), "redirect, which is not followed"),
        (lambda *_: (200, b"<html>"), "not JSON"),
        (lambda *_: (200, {"hits": {}}), r"no list at hits.hits\[\]._id"),
        (lambda *_: (200, found({"_source": {}})), "hit 1 has no"),
        (lambda *_: (200, b" " * (9 << 20)), "more than 8 MB"),
        (slow(1), "within 0.2 seconds"),
    ],
)
def test_errors_are_sentences(answer, said):
    with engine(answer) as (address, _):
        live = Engine(EngineSettings(f"{address}/products/_search", TEMPLATE, timeout=0.2))
        with pytest.raises(UserError, match=said):
            live.search("flu", 10)


def test_an_engine_that_is_not_there():
    with engine(lambda *_: (200, found())) as (address, _):
        pass
    live = Engine(EngineSettings(f"{address}/_search", TEMPLATE))
    with pytest.raises(UserError, match=r"cannot be asked: .*refused"):
        live.search("flu", 10)


@pytest.mark.parametrize(
    ("url", "template", "said"),
    [
        ("file:///etc/passwd", TEMPLATE, "http:// or https://"),
        ("localhost:9200", TEMPLATE, "http:// or https://"),
        ("http://me:secret@localhost:9200", TEMPLATE, "password"),
        ("http://localhost:9200/_search", None, "where the query goes"),
        ("http://localhost:9200/_search", '{"query": {}}', "no {{query}}"),
        ("http://localhost:9200/_search", '{"query": {{query}}}', "not JSON"),
    ],
)
def test_settings_that_cannot_work(url, template, said):
    with pytest.raises(UserError, match=said):
        Engine(EngineSettings(url, template))


def test_paths():
    answer = {"a": [{"b": {"c": 1}}, {"b": None}, {}], "d": {"e": 2}}
    assert find_path(answer, "a[].b.c") == [1, None, None]
    assert find_path(answer, "d.e") == 2
    assert find_path(answer, "d[].e") is None
    assert find_path(answer, "x.y[]") is None


@pytest.fixture
def beside(home):
    def serve(address, **more):
        settings = EngineSettings(f"{address}/products/_search", TEMPLATE, titles=TITLES, **more)
        return in_process(Settings((("vpcg", str(home / "vpcg")),), engine=settings))

    return serve


def test_the_engine_beside_a_model(beside):
    clicked = next(doc for query, doc, _ in planted.clicks() if query == "flu")
    hits = [hit(clicked, 3.0), hit("elsewhere", 2.0, title="<b>New</b>")]
    with engine(lambda *_: (200, found(*hits))) as (address, asked):
        client = beside(address)
        assert client.get("/studio/options.json").json()["engine"] == address.removeprefix("http://")
        view = client.get("/studio/compare.json", q="flu", k=5).json()
        assert client.get("/studio/compare.json").json()["sides"][1]["results"] == []
    assert len(asked) == 1, "without a query nothing is asked"
    model, live = view["sides"]
    assert (model["model"], live["model"], live["live"]) == ("vpcg", "/engine", True)
    first, second = live["results"]
    assert first["title"] and first["known"] and first["clicks"] > 0, "from the model"
    assert (second["title"], second["known"], second["clicks"]) == ("<b>New</b>", False, 0)
    ranks = {move["doc"]: move for move in view["moves"]}
    assert ranks[clicked]["b"] == 1 and ranks["elsewhere"] == {"doc": "elsewhere", "a": None, "b": 2}


def test_a_failing_engine_leaves_the_model(beside):
    with engine(lambda *_: (503, b"")) as (address, _):
        view = beside(address).get("/studio/compare.json", q="flu").json()
    assert view["sides"][0]["results"]
    assert view["sides"][1]["results"] == []
    assert "answered with 503" in view["sides"][1]["problem"]["message"]


def test_without_the_option_there_is_no_engine(home):
    client = in_process(Settings((("vpcg", str(home / "vpcg")),)))
    assert client.get("/studio/compare.json", q="flu", b="/engine").status_code == 404
    assert client.get("/studio/compare.json", q="flu", b="http://127.0.0.1:9200").status_code == 404
