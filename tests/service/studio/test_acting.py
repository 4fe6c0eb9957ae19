"""The studio's actions in a browser: rating by mouse and by keyboard, the user's engine, pictures."""

import base64

import pytest
from playwright.sync_api import expect

import planted
from coclick.graph.click_graph import ClickGraph
from service.conftest import running
from service.studio.engines import engine, found, hit

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
EVIL = '<img src=x onerror="window.broken = true">'
HITS = [hit("flu-1", 3.0), hit("elsewhere", 2.0, title=EVIL)]


def answer(_, body):
    if "break" in body:
        return 400, {"error": {"reason": "the index is closed"}, "status": 400}
    return 200, found(*HITS)


@pytest.fixture(scope="module")
def rated(tmp_path_factory):
    return tmp_path_factory.mktemp("rated") / "judgments.tsv"


@pytest.fixture(scope="module")
def address(home, rated, tmp_path_factory):
    files = tmp_path_factory.mktemp("acting")
    texts = {doc: {"title": title, "brand": EVIL} for doc, title in planted.docs().items()}
    texts["flu-1"]["image"] = "https://images.example/flu.png"
    ClickGraph.from_clicks(planted.clicks(), texts).save(files / "graph")
    (files / "template.json").write_text('{"size": {{k}}, "query": {"match": {"title": "{{query}}"}}}')
    with engine(answer) as (engine_address, _):
        options = ["--judgments", rated, "--graph", files / "graph", "--images"]
        options += ["--engine-url", f"{engine_address}/products/_search"]
        options += ["--engine-template", files / "template.json"]
        options += ["--engine-titles", "hits.hits[]._source.title"]
        with running(home / "vpcg", home / "bm25", *options) as (_, served):
            yield served


@pytest.fixture
def page(browser, address):
    """A page; its console must stay empty, and only pictures come from elsewhere."""
    opened = browser.new_page(base_url=address)
    wrong, requests = [], []
    opened.route(
        "https://images.example/**", lambda route: route.fulfill(body=PIXEL, content_type="image/png")
    )
    opened.on("console", lambda message: wrong.append(message.text))
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("request", lambda request: requests.append(request.url))
    yield opened
    assert wrong == []
    assert {url for url in requests if not url.startswith(address)} <= {"https://images.example/flu.png"}
    assert opened.evaluate("window.broken") is None
    opened.close()


def test_rate_the_queue_by_keyboard(page, rated):
    page.goto("/studio/rate")
    rows = page.locator(".to-rate > li")
    expect(rows.first).to_be_visible()
    first = [rows.nth(i).locator(".meta span").first.inner_text() for i in range(3)]
    queries = [rows.nth(i).locator(".of a").inner_text() for i in range(3)]
    page.keyboard.press("j")
    for key in "302":
        page.keyboard.press(key)
    for i, grade in enumerate((3, 0, 2)):
        expect(rows.nth(i).locator("[aria-pressed=true]")).to_have_text(
            f"{grade} {['bad', '', 'good', 'excellent'][grade]}"
        )
    lines = rated.read_text().splitlines()[1:]
    expected = {
        f"{query}\t{doc}\t{grade}" for query, doc, grade in zip(queries, first, (3, 0, 2), strict=True)
    }
    assert set(lines) == expected
    left = int(page.locator("#next + .quiet").inner_text().split()[0].replace(",", ""))
    page.click("#next")
    expect(page.locator("#kept")).to_contain_text("3 documents")
    assert int(page.locator("#next + .quiet").inner_text().split()[0].replace(",", "")) == left - 3
    assert rows.first.locator("[aria-pressed=true]").count() == 0


def test_rate_beside_a_result_and_take_it_back(page, rated):
    page.goto("/studio/compare?q=flu&a=vpcg&b=bm25")
    row = page.locator(".side-0 .hit").first
    doc = row.locator(".title").get_attribute("data-doc")
    button = row.get_by_role("button", name="4 perfect")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    assert f"flu\t{doc}\t4" in rated.read_text().splitlines()
    page.reload()
    expect(page.locator(".side-0 .hit").first.locator("[aria-pressed=true]")).to_have_count(1)
    page.locator(".side-0 .hit").first.get_by_role("button", name="4 perfect").click()
    expect(page.locator(".side-0 .hit").first.locator("[aria-pressed=true]")).to_have_count(0)
    assert f"flu\t{doc}\t4" not in rated.read_text().splitlines()
    page.click("text=Rate its results")
    expect(page.locator(".to-rate > li").first).to_be_visible()
    assert page.locator("h1").inner_text() == "flu"


def test_a_grade_that_cannot_be_kept_is_said(browser, address, rated):
    page = browser.new_page(base_url=address)
    page.goto("/studio/rate?q=flu")
    page.wait_for_selector(".to-rate .rate")
    rated.unlink(missing_ok=True)
    rated.mkdir()
    try:
        page.locator(".to-rate .rate").first.click()
        expect(page.locator(".rates .problem").first).not_to_be_empty()
        assert page.locator("[aria-pressed=true]").count() == 0
    finally:
        rated.rmdir()
        page.close()


def test_the_engine_beside_a_model(page):
    page.goto("/studio/compare?q=flu&a=vpcg")
    expect(page.locator(".side-1 h2")).to_contain_text("your engine at 127.0.0.1")
    assert page.locator(".side-1 .title").all_inner_texts()[1] == EVIL
    assert page.locator(".side-1 .meta").nth(1).inner_text().startswith("elsewhere · not in the log")
    page.locator(".side-1 .title").first.click()
    page.wait_for_selector("#drawer .part.total")
    page.keyboard.press("Escape")
    page.goto("/studio/compare?q=break+flu&a=vpcg")
    expect(page.locator(".side-1 .problem")).to_have_text(
        "The engine answered with 400: the index is closed. Try the same request with curl."
    )
    assert page.locator(".side-0 .hit").count(), "the model has results"


def test_fields_and_pictures(page):
    page.goto("/studio/document?doc=flu-1")
    picture = page.locator(".about .picture")
    expect(picture).to_be_visible()
    assert picture.evaluate("made => made.decode().then(() => made.naturalWidth)") == 1
    assert page.locator(".fields").inner_text() == f"brand\n{EVIL}"


@pytest.mark.parametrize("width", [400, 1280])
def test_pages_fit(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    for path in ("/studio/rate", "/studio/rate?q=flu", "/studio/compare?q=flu", "/studio/document?doc=flu-1"):
        page.goto(path)
        page.wait_for_selector("h1")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        for button in page.locator(".rate").all()[:5]:
            box = button.bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= width
