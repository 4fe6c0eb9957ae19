"""Failing queries in the studio, from a log whose failures are known."""

import csv
import time

import pytest
from playwright.sync_api import expect

from coclick import build, train
from coclick.service.settings import Settings
from service.conftest import in_process, running

EVIL = '<img src=x onerror="window.broken = true">'


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """Twenty sessions click a sofa for sofa; ten search for couch, then for sofa; ten for EVIL, in vain."""
    home = tmp_path_factory.mktemp("shop")
    rows = []

    def search(session, minute, query, clicked):
        at = 1_700_000_000 + 86_400 * (session % 7) + 60 * minute
        for position, doc in enumerate(("sofa-1", "sofa-2"), 1):
            rows.append((at, f"u{session}", f"s{session}", query, doc, "impression", position))
        if clicked:
            rows.append((at + 1, f"u{session}", f"s{session}", query, clicked, "click", 1))

    for session in range(40):
        if session < 20:
            search(session, 0, "sofa", "sofa-1")
        elif session < 30:
            search(session, 0, "couch", None)
            search(session, 1, "sofa", "sofa-1")
        else:
            search(session, 0, EVIL, None)
    head = "timestamp,user,session,query,doc,action,position"
    with (home / "log.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([head.split(","), *rows])
    graph = build([str(home / "log.csv")], None, home / "graph")
    train("vpcg", graph).save(home / "vpcg")
    return home


def ready(client):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        found = client.get("/studio/failing.json").json()
        if found["ready"]:
            return found
    raise AssertionError("not ready within a minute")


def test_failing_queries_and_their_fixes(shop):
    client = in_process(Settings((("vpcg", str(shop / "vpcg")),), graph=str(shop / "graph")))
    found = ready(client)
    assert found["model"] == "vpcg", "the served one"
    examples = {one["query"]: one for cluster in found["clusters"] for one in cluster["examples"]}
    assert examples.keys() == {"couch", EVIL}
    assert examples["couch"]["searches"] == examples["couch"]["without_clicks"] == 10
    assert examples["couch"]["next"][0]["query"] == "sofa"
    assert examples["couch"]["fix"]["sentence"] == "synonym: couch → sofa"
    assert examples[EVIL]["fix"]["kind"] == "missing"


def test_without_a_graph_the_page_says_what_it_needs(shop):
    client = in_process(Settings((("vpcg", str(shop / "vpcg")),)))
    assert client.get("/studio/options.json").json()["failing"] is False
    assert "--graph" in client.get("/studio/failing.json").json()["error"]["hint"]


def test_the_page(browser, shop):
    with running(shop / "vpcg", "--graph", shop / "graph") as (_, address):
        page = browser.new_page(base_url=address, viewport={"width": 400, "height": 800})
        wrong = []
        page.on("console", lambda message: wrong.append(message.text))
        page.goto("/studio/failing")
        expect(page.locator(".cluster")).to_have_count(2, timeout=60_000)
        expect(page.locator(".cluster .frame").first).to_be_visible()
        page.locator(".cluster").nth(1).locator("summary").click()
        expect(page.locator(".cluster .frame")).to_have_count(2)
        assert "couch → sofa" in page.locator("main").inner_text()
        assert page.locator("main img").count() == 0
        page.select_option("#kind", "falling")
        expect(page.locator("text=No failing queries were found")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        assert page.evaluate("window.broken") is None and wrong == []
        page.close()
