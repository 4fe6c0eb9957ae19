"""The studio in a browser, with a running server: every view, by mouse and by keyboard."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

import planted
from service.conftest import running
from service.studio.conftest import EVIL, EVIL_TITLE, MODELS

VIEWS = {
    "home": "/",
    "compare": "/studio/compare?q=flu&a=vpcg&b=bm25",
    "drawer": "/studio/compare?q=flu&a=vpcg&b=bm25&why=flu-1&of=vpcg",
    "why": "/studio/why?q=flu&doc=flu-1&model=vpcg",
    "walk": "/studio/walk?query=flu&via=dflu-1",
    "query": "/studio/query?q=flu",
    "document": "/studio/document?doc=flu-1",
    "no query": "/studio/query",
    "no document": "/studio/document",
    "topics": "/studio/topics?word=influenza",
    "leaderboard": "/studio/leaderboard",
    "log": "/studio/log",
}


@pytest.fixture(scope="module")
def address(home):
    with running(*(home / name for name in MODELS), "--report", home / "report.html") as (_, address):
        yield address


@pytest.fixture
def page(browser, address):
    """A page; at the end there must be no errors and no requests to other hosts."""
    opened = browser.new_page(base_url=address)
    wrong, requests = [], []
    opened.on("console", lambda message: wrong.append(message.text))
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("request", lambda request: requests.append(request.url))
    yield opened
    assert wrong == []
    assert [url for url in requests if not url.startswith(address)] == []
    opened.close()


def go(page, path):
    page.goto(path)
    page.wait_for_selector("main h1")
    return page


def focused(page):
    return page.evaluate("document.activeElement.dataset.doc || document.activeElement.id")


# -- search, compare, why, walk ----------------------------------------------------------------------------


def test_two_models_side_by_side(page):
    go(page, "/")
    page.fill("#q", "flu the fever")
    page.click("#search button")
    page.wait_for_selector(".hit")
    assert page.url.endswith("/studio/compare?q=flu+the+fever")
    assert page.locator("h1").inner_text() == "flu the fever"
    assert page.locator(".side h2").all_inner_texts() == ["vpcg", "bm25"]
    left, right = (
        [link.get_attribute("data-doc") for link in page.locator(f".side-{i} .title").all()] for i in (0, 1)
    )
    assert left and right
    both = {*left} & {*right}
    drawn = page.locator("path.thread")
    assert drawn.count() == len({*left, *right})
    curves = [path.get_attribute("d") for path in drawn.all()]
    assert sum("C" in way for way in curves) == len(both)
    up = [doc for doc in both if right.index(doc) < left.index(doc)]
    assert page.locator("path.up").count() == page.locator(".move.up").count() == len(up)
    assert page.locator(".move.gone").count() == page.locator("path.gone").count() == len({*left} - both)
    page.select_option("#b", "popularity")
    page.wait_for_url("**b=popularity**")
    page.wait_for_selector("h2:has-text('popularity')")
    page.go_back()
    page.wait_for_selector("h2:has-text('bm25')")
    assert page.locator("#b").input_value() == "bm25"


def test_the_explanation_opens_in_a_drawer_with_its_own_url(page):
    go(page, VIEWS["compare"])
    page.locator(".side-0 .title").first.click()
    page.wait_for_selector("#drawer .part.total")
    assert "why=" in page.url
    opened = page.url
    values = [
        float(text)
        for text in page.locator(
            "#drawer > div > .parts > .part > summary .figure:not(.share)"
        ).all_inner_texts()
    ]
    total = float(page.locator("#drawer > div > .part.total .figure").inner_text())
    assert sum(values) == pytest.approx(total, abs=0.001 * len(values))
    page.wait_for_selector("#drawer .graph .node")
    assert page.locator("#drawer .graph .node").count() > 2
    assert page.locator("#drawer .graph path").count() > 1
    page.locator("#drawer").get_by_role("link", name="bm25").click()
    page.wait_for_selector("#drawer :text('in bm25')")
    page.keyboard.press("Escape")
    page.wait_for_selector("#drawer", state="hidden")
    assert "why=" not in page.url, "one Esc is enough"
    go(page, opened)
    page.wait_for_selector("#drawer .part.total")
    page.click("#drawer .close")
    page.wait_for_selector("#drawer", state="hidden")
    assert "why=" not in page.url


def test_walk_by_clicking(page):
    go(page, VIEWS["why"])
    page.locator(".graph .node.query").last.click()
    page.wait_for_selector("main[data-view=walk] .graph")
    first = page.locator("h1").inner_text()
    page.locator(".graph .node.doc").first.click()
    page.wait_for_selector(".trail")
    page.locator(".columns-3 > div:nth-child(3) .node").first.click()
    expect(page.locator(".trail li")).to_have_count(2)
    assert page.locator(".trail li").first.inner_text() == first
    page.locator(".trail a").first.click()
    expect(page.locator(".trail")).to_have_count(0)
    assert page.locator("h1").inner_text() == first
    page.go_back()
    expect(page.locator(".trail li")).to_have_count(2)


def test_query_and_document_pages_link_to_each_other(page):
    go(page, VIEWS["query"])
    assert page.locator(".panel h2").all_inner_texts() == ["Vector", "Similar queries", "Clicks"]
    page.locator(".panel").nth(2).locator("a").first.click()
    page.wait_for_selector("main[data-view=document]")
    assert page.locator("h1").inner_text() in planted.docs().values()
    page.locator(".panel").nth(2).locator("a").first.click()
    page.wait_for_selector("main[data-view=query]")
    page.select_option("#model", "popularity")
    page.wait_for_selector("text=popularity cannot find similar queries")
    page.locator(".panel a", has_text="vpcg").first.click()
    page.wait_for_selector("h2:has-text('Similar queries') + .bars")


def test_lines_of_a_walk_are_as_wide_as_their_clicks(page):
    go(page, "/studio/walk?query=flu")
    page.wait_for_selector(".graph path")
    clicks = {doc: count for query, doc, count in planted.clicks() if query == "flu"}
    near = [
        float(re.search(r"[\d.]+", text)[0])
        for text in page.locator(".columns-3 > div:nth-child(3) .node small").all_inner_texts()
    ]
    assert sorted(near) == sorted(clicks.values())
    widths = [float(path.get_attribute("stroke-width")) for path in page.locator(".graph path").all()]
    most = max(near)
    for count, width in zip(near, widths, strict=False):
        assert width == pytest.approx(max(1, 9 * (count / most) ** 0.5), abs=0.06)


def test_a_model_without_results_leaves_the_page_to_the_other(page):
    page.set_viewport_size({"width": 1280, "height": 800})
    go(page, "/studio/compare?q=xyzzy&a=bm25&b=popularity")
    page.wait_for_selector(".hit")
    assert "No results" in page.locator(".side-empty").inner_text()
    assert page.locator(".hit").first.bounding_box()["width"] > 1100
    assert page.locator(".side-empty").bounding_box()["height"] < 60
    assert page.locator(".move").count() == 0, "all would be new"


def test_similar_queries_have_clicks(page):
    go(page, VIEWS["query"])
    shown = page.locator(".panel").nth(1).locator("li")
    total = {}
    for query, _, count in planted.clicks():
        total[query] = total.get(query, 0) + count
    for row in shown.all():
        query, figure = row.locator("a").inner_text(), row.locator(".figure").inner_text()
        assert figure.endswith(f"· {total[query]:g} click{'s' * (total[query] != 1)}")


def test_small_figures_keep_a_digit(page):
    go(page, VIEWS["query"])
    script = """async (values) => {
        const { cent, figure } = await import("/studio/static/ui.js");
        return [values.map(figure), cent(1048.004)];
    }"""
    found, clicks = page.evaluate(script, [0, 0.5, -0.00036, 0.00004, 16.588, 1234.56])
    assert found == ["0.000", "0.500", "-0.0004", "0.00004", "16.588", "1234.6"]
    assert clicks == "1,048"


def test_unseen_query(page):
    go(page, "/studio/compare?q=sick+cough+syrup")
    assert "not in the log" in page.locator("#remarks").inner_text()
    assert page.locator(".hit").count()
    page.click("text=Vector and clicks")
    page.wait_for_selector("main[data-view=query]")
    assert "Not in the log" in page.locator("#known").inner_text()
    page.click("text=Walk the click graph")
    page.wait_for_selector("h2:has-text('Start from a similar query')")


def test_cancelled_views_are_not_drawn(page):
    go(page, VIEWS["compare"])
    waiting = []
    page.route("**/studio/log.json", lambda route: waiting.append(route))
    page.click("nav >> text=Log")
    page.wait_for_url("**/studio/log")
    page.go_back()
    page.wait_for_url("**/studio/compare**")
    waiting[0].fulfill(json={})
    page.click(".side-1 .title >> nth=0")
    page.wait_for_selector("#drawer .part.total")
    assert page.locator("h1").inner_text() == "flu"


# -- the other views ---------------------------------------------------------------------------------------


def test_topics(page):
    go(page, "/studio/topics")
    assert page.locator(".topics tbody tr").count() == 5
    page.set_viewport_size({"width": 400, "height": 800})
    frame = page.locator(".frame")
    assert frame.evaluate("made => made.scrollWidth <= made.clientWidth"), "nothing is cut off"
    page.fill("#word", "influenza")
    page.click("text=Translate")
    page.wait_for_selector(".panel .bars li")
    assert "word=influenza" in page.url


def test_leaderboard(page):
    go(page, "/studio/leaderboard")
    assert page.locator("#leaderboard tbody tr").count() == 2
    assert page.locator("#breakdown table").count() > 0
    page.locator("#queries summary").first.click()
    page.wait_for_selector("#queries .rankings ol")
    assert page.locator("#queries .rankings a").get_attribute("href").startswith("/studio/compare?q=")
    page.locator("main nav a").last.click()
    assert page.url.endswith("#queries")
    assert page.locator("#leaderboard").count() == 1, "a link inside the page redraws nothing"


def test_log_shows_rejected_rows(page):
    go(page, "/studio/log")
    text = page.locator("main").inner_text()
    assert "Clicked documents without text" in text
    assert page.locator("polyline").count() == 2
    assert page.locator("figure .bars").count() == 4


# -- unusual queries ---------------------------------------------------------------------------------------


def test_queries_are_never_markup(page):
    for query in ("שלום flu", "🍕 pizza 🤒", "x" * 1000, EVIL):
        go(page, f"/studio/compare?q={quote(query)}")
        assert page.locator("h1").inner_text() == query
    page.click("text=Vector and clicks")
    page.wait_for_selector("main[data-view=query] .panel a")
    page.click("text=Walk the click graph")
    page.wait_for_selector("main[data-view=walk] .graph")
    assert page.locator("h1").inner_text() == EVIL
    go(page, f"/studio/why?doc=evil&q={quote(EVIL)}")
    assert EVIL_TITLE in page.locator(".pair").inner_text()
    assert page.locator("main img, main script, main i").count() == 0
    assert page.evaluate("window.broken") is None


def test_an_address_that_does_not_exist(browser, address):
    page = browser.new_page(base_url=address)
    for path in ("/nothing/here", "/studio/nothing"):
        assert page.goto(path).status == 404
        assert page.locator("h1").inner_text() == "There is no page at this address"
        assert path in page.locator("main").inner_text()
    page.locator("main").get_by_role("link", name="Log").click()
    page.wait_for_selector("text=Head and tail")
    assert page.locator("#json").is_visible()
    page.close()


def test_error_messages(browser, address):
    page = go(browser.new_page(base_url=address), "/studio/compare?q=" + "x" * 10_000)
    assert "1000 characters" in page.locator("[role=alert]").inner_text()
    assert page.locator("[role=alert] button").inner_text() == "Try again"
    page.goto("/studio/document?doc=nothing")
    page.wait_for_selector("text=No document has the id 'nothing'")
    page.fill("#q", "flu")
    page.press("#q", "Enter")
    page.wait_for_selector(".hit")
    page.route("**/studio/log.json", lambda route: route.abort())
    page.click("nav >> text=Log")
    page.wait_for_selector("text=The server does not answer")
    page.unroute("**/studio/log.json")
    page.click("text=Try again")
    page.wait_for_selector("text=Head and tail")
    page.close()


# -- keyboard, colours, sizes ------------------------------------------------------------------------------


def test_keyboard(page):
    go(page, "/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("/")
    assert focused(page) == "q"
    page.keyboard.type("flu")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit")
    page.keyboard.press("ArrowDown")
    docs = [
        [one.get_attribute("data-doc") for one in page.locator(f".side-{i} .title").all()] for i in (0, 1)
    ]
    assert focused(page) == docs[0][0]
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("k")
    assert focused(page) == docs[0][1]
    page.keyboard.press("l")
    assert focused(page) == (docs[0][1] if docs[0][1] in docs[1] else docs[1][1])
    page.keyboard.press("h")
    here = focused(page)
    page.keyboard.press("Enter")
    page.wait_for_selector("#drawer .part.total")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.keyboard.press("Escape")
    page.wait_for_selector("#drawer", state="hidden")
    assert focused(page) == here, "the focus returns"
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#keys").is_visible()
    go(page, VIEWS["walk"])
    page.keyboard.press("j")
    page.keyboard.press("l")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=The best flu")
    expect(page.locator(".trail li")).to_have_count(2)


def lightness(page):
    colours = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    )
    return [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours]


def test_dark_theme_of_the_system_or_the_user(browser, address):
    context = browser.new_context(base_url=address, color_scheme="dark")
    page = go(context.new_page(), "/")
    background, ink = lightness(page)
    assert background < ink
    page.click("#theme")
    background, ink = lightness(page)
    assert background > ink
    page.reload()
    background, ink = lightness(page)
    assert background > ink, "the choice is kept"
    context.close()


def test_every_view_fits_a_phone_has_json_and_labels(page):
    page.set_viewport_size({"width": 380, "height": 700})
    long = quote("unbroken" * 40 + " flu")
    for path in [*VIEWS.values(), f"/studio/compare?q={long}", f"/studio/walk?query={long}"]:
        go(page, path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 380, path
        for box in page.locator(".frame").all():  # wider content scrolls in its own frame
            assert box.bounding_box()["width"] <= 380
        assert page.request.get(page.locator("#json").get_attribute("href")).ok, path
        assert page.locator("h1").count() == 1
        unnamed = page.evaluate(
            """[...document.querySelectorAll("button, a, input, select")].filter((made) => {
              const label = made.labels && made.labels.length ? made.labels[0].textContent : "";
              return !(made.textContent.trim() || made.getAttribute("aria-label") || label.trim());
            }).length"""
        )
        assert unnamed == 0, path


# -- API key -----------------------------------------------------------------------------------------------


def test_browser_login_with_the_api_key(browser, home, tmp_path):
    key = tmp_path / "key"
    key.write_text("secret\n")
    with running(home / "vpcg", "--api-key-file", key) as (_, address):
        for password, code in (("secret", 200), ("guessed", 401)):
            context = browser.new_context(http_credentials={"username": "anyone", "password": password})
            page = context.new_page()
            refused = []
            page.on("response", lambda answer, refused=refused: refused.append(answer.status >= 400))
            assert page.goto(f"{address}/studio/compare?q=flu").status == code
            if code == 200:
                expect(page.locator("[data-doc=flu-1]").first).to_be_visible()
            assert any(refused) == (code == 401)
            context.close()
