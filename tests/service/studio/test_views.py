"""The JSON of every view: against counts computed by hand, and for unknown queries and documents."""

import re
import weakref
from typing import Any

import numpy as np
import pytest

import planted
from coclick import open_model
from coclick.service.settings import Settings
from coclick.service.studio.clicks import MAX_FAR
from coclick.service.studio.log import head_and_tail
from coclick.service.studio.per_model_cache import PerModelCache
from coclick.service.studio.routes import VIEWS
from service.conftest import in_process
from service.studio.conftest import EVIL, MODELS

CLICKS = planted.clicks()


@pytest.fixture(scope="module")
def client(home):
    models = tuple((name, str(home / name)) for name in MODELS)
    return in_process(Settings(models, report=str(home / "report.html")))


@pytest.fixture(scope="module")
def view(client):
    def ask(name, **params):
        answer = client.get(f"/studio/{name}.json", **params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return ask


def clicked(query):
    """{document: clicks} of a query of the planted log."""
    return {doc: count for asked, doc, count in CLICKS if asked == query}


# -- compare -----------------------------------------------------------------------------------------------


def test_two_rankings_and_the_ranks_in_both(view, home):
    found = view("compare", q="flu", a="vpcg", b="popularity", k=5)
    assert [side["model"] for side in found["sides"]] == ["vpcg", "popularity"]
    for side in found["sides"]:
        hits = open_model(home / side["model"]).search("flu", 5).hits()
        assert [(hit["doc"], hit["score"]) for hit in side["results"]] == hits
        assert side["known"] and side["clicks"] == sum(clicked("flu").values())
        assert all(hit["clicks"] == clicked("flu").get(hit["doc"], 0) for hit in side["results"])
    first, second = ([hit["doc"] for hit in side["results"]] for side in found["sides"])
    for move in found["moves"]:
        assert move["a"] == (first.index(move["doc"]) + 1 if move["doc"] in first else None)
        assert move["b"] == (second.index(move["doc"]) + 1 if move["doc"] in second else None)
    assert {move["doc"] for move in found["moves"]} == {*first, *second}


def test_examples_without_a_query(view):
    found = view("compare")
    assert [side["results"] for side in found["sides"]] == [[], []]
    known = {query for query, _, _ in CLICKS} | {EVIL}
    assert 1 < len(found["examples"]) < 10
    assert known.issuperset(found["examples"])
    assert view("compare", q="xyzzy", a="vpcg", b="bm25")["examples"], "also without results"


def test_a_single_model(home):
    alone = in_process(Settings((("vpcg", str(home / "vpcg")),)))
    found = alone.get("/studio/compare.json", q="flu").json()
    assert [side["model"] for side in found["sides"]] == ["vpcg"]
    assert found["moves"] == []
    assert alone.get("/studio/leaderboard.json").json()["commands"], "how to make a report"


# -- why ---------------------------------------------------------------------------------------------------


def adds_up(part, value):
    if part["parts"]:
        total = sum(one["value"] for one in part["parts"]) + part["rest"]["value"]
        assert total == pytest.approx(value, rel=1e-5)
    for one in part["parts"]:
        adds_up(one, one["value"])


@pytest.mark.parametrize("model", ["vpcg", "bm25", "bltm"])
def test_parts_add_up_at_every_level(view, model):
    found = view("why", q="flu fever", doc="flu-1", model=model)
    explained = found["explanation"]["answer"]
    assert explained["parts"]
    assert found["score"] == pytest.approx(explained["score"])
    adds_up(explained, explained["score"])


def test_the_rank_is_that_of_the_search(view):
    ranking = view("compare", q="flu", a="vpcg", k=50)["sides"][0]["results"]
    last = ranking[-1]["doc"]
    found = view("why", q="flu", doc=last, model="vpcg")
    assert found["rank"] == len(ranking)
    assert found["titles"].keys() >= {
        click["doc"] for click in found["explanation"]["answer"]["words"][0]["clicks"]
    }
    assert view("why", q="flu", doc="evil", model="vpcg")["rank"] is None


def test_unsupported_operations_are_not_errors(view):
    assert not view("why", q="flu", doc="flu-1", model="popularity")["explanation"]["supported"]
    found = view("query", q="flu", model="popularity")
    assert [found[key]["supported"] for key in ("words", "similar")] == [False, False]
    assert found["clicks"]["results"], "clicks come from the log"
    assert view("topics", model="vpcg")["topics"] is None
    assert view("document", doc="flu-1", model="bltm")["words"]["reason"]


# -- queries, documents and walks --------------------------------------------------------------------------


def test_query_view(view):
    found = view("query", q=" FLU ", model="vpcg")
    assert found["known"] and found["normalised"] == "flu"
    assert found["words"]["answer"][0]["word"] == "flu"
    assert {planted.topic_of(hit["name"]) for hit in found["clicks"]["results"][:2]} == {"flu"}
    assert {hit["name"]: hit["clicks"] for hit in found["clicks"]["results"]} == clicked("flu")
    assert sum(hit["share"] for hit in found["clicks"]["results"]) == pytest.approx(1)
    assert "flu" not in [hit["query"] for hit in found["similar"]["answer"]]


def test_unseen_query(view):
    found = view("query", q="sick cough syrup", model="vpcg")
    assert not found["known"] and found["clicks"] is None
    assert found["words"]["answer"] and found["similar"]["answer"]
    walk = view("walk", query="sick cough syrup", model="vpcg")
    assert not walk["known"] and walk["similar"]["answer"]


def test_document_view(view):
    found = view("document", doc="pizza-0", model="vpcg")
    assert found["title"] == planted.docs()["pizza-0"]
    by_query = {query: count for query, doc, count in CLICKS if doc == "pizza-0"}
    assert {hit["name"]: hit["clicks"] for hit in found["clicks"]["results"]} == by_query
    never = view("document", doc="pizza-7", model="vpcg")
    assert never["clicks"] == {"edges": 0, "clicks": 0, "results": []}


def test_walk_view(view):
    found = view("walk", query="flu", model="vpcg")
    total = sum(clicked("flu").values())
    assert {one["name"]: one["clicks"] for one in found["near"]} == clicked("flu")
    reach = {}  # by hand: to each document by its share, then by the shares of its queries
    for doc, count in clicked("flu").items():
        of_doc = {query: clicks for query, other, clicks in CLICKS if other == doc}
        for query, clicks in of_doc.items():
            reach[query] = reach.get(query, 0) + count / total * clicks / sum(of_doc.values())
    del reach["flu"]
    most = dict(sorted(reach.items(), key=lambda item: -item[1])[:MAX_FAR])
    assert {one["name"]: one["reach"] for one in found["far"]} == pytest.approx(most)
    for link in found["links"]:
        doc, query = found["near"][link["near"]]["name"], found["far"][link["far"]]["name"]
        assert clicked(query)[doc] == link["clicks"]
    back = view("walk", doc="flu-0", model="vpcg")
    assert back["kind"] == "doc" and {one["kind"] for one in back["near"]} == {"query"}


def test_topics_view(view):
    found = view("topics", word="influenza")
    assert found["model"] == "bltm", "the first with topics"
    assert len(found["topics"]) == found["all"] == 5
    assert sum(topic["share"] for topic in found["topics"]) == pytest.approx(1, abs=1e-5)
    assert found["topics"][0]["query_words"] and found["topics"][0]["title_words"]
    assert found["translation"]["answer"]
    assert len(view("topics", n=2)["topics"]) == 2
    assert "xyzzy" in view("topics", word="xyzzy")["translation"]["reason"]


# -- the log and the report --------------------------------------------------------------------------------


def test_log_view(view):
    found = view("log", model="vpcg")
    assert found["clicks"] == sum(count for _, _, count in CLICKS) + 4 + 2
    assert found["docs"] == len(planted.docs()) + 2, "with the one with markup and one without a title"
    assert found["docs_with_text"] == len(planted.docs()) + 1
    assert sum(found["build"]["rejected"].values()) == 3
    assert found["build"]["docs_missing"] == 1
    by_query = {}
    for query, _, count in CLICKS:
        by_query[query] = by_query.get(query, 0) + count
    assert found["top"]["queries"][0]["clicks"] == max(by_query.values())
    by_doc = {}
    for _, doc, count in CLICKS:
        by_doc[doc] = by_doc.get(doc, 0) + count
    assert found["top"]["docs"][0]["clicks"] == max(by_doc.values())
    for name in ("query", "document", "walk"):
        assert view(name)["top"] == found["top"], "examples without a query or document"


def test_head_and_tail_by_hand():
    found = head_and_tail(np.array([0, 1, 6, 3]))
    assert found["ranks"] == [
        {"rank": 1, "clicks": 6, "share": 0.6},
        {"rank": 2, "clicks": 3, "share": pytest.approx(0.9)},
        {"rank": 3, "clicks": 1, "share": 1},
    ]
    assert found["shares"] == [
        {"share": 0.5, "queries": 1},
        {"share": 0.8, "queries": 2},
        {"share": 0.9, "queries": 2},
    ]
    assert head_and_tail(np.zeros(3)) == {"ranks": [], "shares": []}


def test_the_report_is_reloaded_when_it_changes(home, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("something else")
    client = in_process(Settings((("vpcg", str(home / "vpcg")),), report=str(path)))
    assert "not a coclick report" in client.get("/studio/leaderboard.json").json()["reason"]
    path.write_bytes((home / "report.html").read_bytes())
    assert len(client.get("/studio/leaderboard.json").json()["report"]["models"]) == 2
    path.unlink()
    assert "cannot be read" in client.get("/studio/leaderboard.json").json()["reason"]


def test_cache_until_the_model_is_replaced():
    class Named:
        name = "one"

        def __init__(self, model):
            self.model = model

    calls = []
    cached = PerModelCache(lambda model: calls.append(model) or len(calls))
    first, second = Named(None), Named(None)
    loaded: list[Any] = [Named(first), Named(first), Named(second)]
    assert [cached(one) for one in loaded] == [1, 1, 2]
    del loaded
    gone = weakref.ref(second)
    calls.clear()
    del second
    assert gone() is None, "the cache does not keep replaced models alive"


# -- addresses ---------------------------------------------------------------------------------------------


def test_pages_and_files(client):
    for path in ("/", *(f"/studio/{name}" for name in VIEWS)):
        answer = client.get(path)
        assert answer.status_code == 200
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        assert "style=" not in answer.text and "<style" not in answer.text
    for source in re.findall(r'(?:src|href)="(/studio/static/[^"]+)"', client.get("/").text):
        first = client.get(source)
        assert first.status_code == 200
        again = client.get(source, headers={"If-None-Match": first.headers["etag"]})
        assert again.status_code == 304
    for path in ("/studio/nothing", "/studio/static/nothing.js", "/studio/static/../routes.py"):
        assert client.get(path).status_code == 404


def test_unknown_addresses_are_a_page_for_people_and_json_for_programs(client):
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    for path in ("/nothing", "/studio/nothing"):
        page = client.get(path, headers=browser)
        assert page.status_code == 404 and page.headers["content-type"].startswith("text/html")
        for accept in ("application/json", "*/*"):
            assert client.get(path, headers={"Accept": accept}).json()["error"]["message"]
    known = client.get("/studio/document.json", headers=browser, doc="nothing")
    assert known.status_code == 404 and known.json()["error"], "the address exists, the document does not"


def test_invalid_requests(client):
    wrong: dict[int, list[tuple[str, dict]]] = {
        404: [
            ("why", {"q": "", "doc": ""}),
            ("document", {"doc": "nothing"}),
            ("walk", {"doc": "nothing"}),
            ("log", {"model": "nothing"}),
        ],
        422: [("compare", {"q": "x" * 1001}), ("compare", {"k": 51}), ("why", {"q": "flu"})],
    }
    for code, questions in wrong.items():
        for name, params in questions:
            answer = client.get(f"/studio/{name}.json", **params)
            assert answer.status_code == code, name
            assert answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "query", [EVIL, "x" * 1000, "שלום עולם", "🍕🏨", "\u202eflu", "", " ", "\x00", "%", "flu" * 300]
)
def test_unusual_queries(view, query):
    for model in MODELS:
        view("query", q=query, model=model)
        view("why", q=query, doc="flu-1", model=model)
        view("walk", query=query, model=model)
    view("compare", q=query)
