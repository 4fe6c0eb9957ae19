"""The HTML report: its data, its escaping, and how a real browser shows it."""

import json
import math
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import planted
from coclick.cli import app
from coclick.errors import UserError
from coclick.evaluation import report, significance
from coclick.evaluation.judgments import Judgments
from coclick.evaluation.leaderboard import Leaderboard, leaderboard
from coclick.evaluation.measures import MEASURES
from coclick.evaluation.protocol import ModelResult, Protocol
from coclick.evaluation.separability import POINTS, separability
from coclick.graph.click_graph import ClickGraph
from failing.shop_log import Log

EVIL = "</script><script>window.broken = true</script><b>query"
EVIL_TITLE = '<img src=x onerror="window.broken = true"> & <i>title</i>'
GRAPH = ClickGraph.from_clicks(
    [("a", "x", 5), ("a", "y", 3), (EVIL, "z", 1)], {"x": EVIL_TITLE, "z": "third", "w": "never clicked"}
)
JUDGMENTS = Judgments(
    {"1": "a", "2": EVIL, "3": "unseen"}, {"1": {"y": 2, "x": 0}, "2": {"z": 1}, "3": {"w": 1}}
)


def embedded(path):
    """The data of the page."""
    return json.loads(re.search(r'id="data">(.*?)</script>', path.read_text(), re.DOTALL)[1])


@pytest.fixture(scope="module")
def board():
    return leaderboard(GRAPH, JUDGMENTS, ["clicks", "popularity"])


@pytest.fixture(scope="module")
def written(board, tmp_path_factory):
    """A page as `compare` writes it, with feature importance."""
    board.results[0].importance = {"bm25": 30.0, "<u>clicks</u>": 60.0}
    board.results[0].training = {
        "effective_rank": 12.34,
        "views": {"words": {"alpha": 0.8, "singular_values": [1.0] * 300}, "tags": {"alpha": 0.6}},
        "density": {"queries": 0.25, "docs": 0.0123},
        "bound": {"objective": 0.2077, "bound": 3.012, "probability": 0.9, "vacuous": True},
        "notes": ["<i>fewer</i> dimensions"],
    }
    path = tmp_path_factory.mktemp("report") / "report.html"
    advice = {
        "recommendation": {"model": "clicks", "reason": "it ranks best"},
        "left_out": {"ctr": "needs <i>impressions</i>"},
    }
    report.write_report(board, path, {**board.to_dict(), **advice}, failing())
    return path


def failing():
    """What `find_failing` returns of 21 clusters of five queries."""
    fix = {"kind": "synonym", "sentence": "synonym: couch → sofa", "reason": "<i>12</i> moves", "rule": "a1"}
    fix["command"] = "coclick rules GRAPH"
    examples = [{"query": text} for text in (EVIL, "two", "three", "four", "five")]
    cluster = {"name": EVIL, "queries": 5, "searches": 2000, "failed": 12, "kinds": {"no_results": 5}}
    clusters = [{**cluster, "fix": fix, "examples": examples}] * 21
    return {"clusters": clusters, "counted": "searches", "failing": {"queries": 105, "searches": 42_000}}


@pytest.fixture
def page(browser, written):
    """The open page; there may be no error and no request to another address."""
    opened = browser.new_page()
    errors, requests = [], []
    opened.on("console", lambda message: errors.append(message.text))
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("request", lambda request: requests.append(request.url))
    opened.goto(written.as_uri())
    yield opened
    assert errors == []
    assert requests == [written.as_uri()]
    opened.close()


# -- the data of the page ----------------------------------------------------------------------------------


def test_page_has_every_query_and_both_rankings(written):
    data = embedded(written)
    assert [model["name"] for model in data["models"]] == ["clicks", "popularity"]
    assert [query["text"] for query in data["queries"]] == ["a", EVIL, "unseen"]
    first = data["queries"][0]
    docs = [[data["docs"][place][0] for place in ranking] for ranking in first["rankings"]]
    assert docs[0] == ["x", "y"]
    assert docs[1][:3] == ["x", "y", "z"]
    grades = {data["docs"][int(place)][0]: grade for place, grade in first["grades"].items()}
    assert grades == {"x": 0, "y": 2}, "z is ranked but not judged"
    # y is second: nDCG is 2 / log₂3 over 2.
    assert first["values"] == pytest.approx([1 / math.log2(3)] * 2, abs=1e-6)
    assert data["queries"][1]["values"] == pytest.approx([1, 0.5]), "popularity has z third"


def test_page_has_the_values_of_the_leaderboard(board, written):
    data = embedded(written)
    assert data["protocol"] == board.to_dict()["protocol"]
    assert data["significance"] == board.to_dict()["significance"]
    assert data["left_out"] == {"ctr": "needs <i>impressions</i>"}


def test_texts_are_escaped(written):
    text = written.read_text()
    assert text.count("</script>") == 2, "one of the data and one of the scripts"
    assert "<img" not in text
    assert "<b>" not in text


def test_read_report_returns_the_data(written, tmp_path):
    assert report.read_report(written) == embedded(written)
    other = tmp_path / "other.html"
    other.write_text("<p>another page</p>")
    with pytest.raises(UserError, match="not a coclick report"):
        report.read_report(other)


def test_names_with_lone_surrogates(tmp_path, board):
    odd = ModelResult("run-\udcff", board.results[0].rankings, board.results[0].by_query)
    report.write_report(Leaderboard(GRAPH, JUDGMENTS, Protocol(), [odd]), tmp_path / "odd.html")
    assert embedded(tmp_path / "odd.html")["models"][0]["name"] == "run-\udcff"


def test_large_report_keeps_the_queries_that_differ_most(tmp_path):
    """Five models, 1,500 queries, each result a different document with a long title."""
    models, count = 5, 1500
    titles = {f"document-{i:06d}": "title " * 40 for i in range(models * 10 * count)}
    graph = ClickGraph.from_clicks([("q", "document-000000", 1)], titles)
    judgments = Judgments({f"q{i}": f"query {i}" for i in range(count)},
                          {f"q{i}": {"document-000000": 1} for i in range(count)})  # fmt: skip
    names = list(titles)
    results = [
        ModelResult(
            f"model {m}",
            {
                f"q{i}": [names[(10 * (m * count + i) + j) % len(names)] for j in range(12)]
                for i in range(count)
            },
            {f"q{i}": {"nDCG@10": float(m == 3 and i >= count - 2)} for i in range(count)},
        )
        for m in range(models)
    ]
    path = tmp_path / "large.html"
    stats = {"models": [{"name": result.name} for result in results]}
    report.write_report(Leaderboard(graph, judgments, Protocol(), results), path, stats)
    assert path.stat().st_size < 5_000_000
    rows = embedded(path)["queries"]
    assert len(rows) == count
    # A query has 50 documents of about 110 bytes: 4 MB are enough for about 700 queries.
    assert 500 < sum("rankings" in row for row in rows) < 1000
    assert all("rankings" in row for row in rows[-2:])
    assert len(rows[-1]["rankings"][0]) == report.SHOWN


def test_rankings_of_many_models_are_kept(tmp_path):
    """37 models with 225 queries name the same few documents again and again: all rankings fit."""
    docs = [f"document-{i}" for i in range(2000)]
    graph = ClickGraph.from_clicks([("q", docs[0], 1)], {doc: f"title of {doc}" for doc in docs})
    names = [f"q{i}" for i in range(225)]
    judgments = Judgments({name: name for name in names}, {name: {docs[0]: 1} for name in names})
    results = [
        ModelResult(
            f"model {m}",
            {name: [docs[(7 * i + 3 * m + j) % 2000] for j in range(10)] for i, name in enumerate(names)},
            {name: {"nDCG@10": (i * m % 10) / 10} for i, name in enumerate(names)},
        )
        for m in range(37)
    ]
    path = tmp_path / "many.html"
    stats = {"models": [{"name": result.name} for result in results]}
    report.write_report(Leaderboard(graph, judgments, Protocol(), results), path, stats)
    assert path.stat().st_size < 5_000_000
    found = embedded(path)
    assert all(len(row["rankings"]) == 37 for row in found["queries"])
    fifth = [model["name"] for model in found["models"]].index("model 5")
    position = found["queries"][10]["rankings"][fifth][2]
    assert found["docs"][position] == ["document-87", "title of document-87"], "7·10 + 3·5 + 2"


# -- separability ------------------------------------------------------------------------------------------


def test_separability_by_hand():
    grades = {"q": {"a": 0, "b": 1}, "r": {"c": 1, "d": 0, "e": 2}}
    scores = {"q": np.array([1, 2], np.float32), "r": np.array([1, 0, 4], np.float32)}
    found = separability(grades, scores)
    assert list(found.curves) == [0, 1, 2]
    assert all(len(curve) == POINTS for curve in found.curves.values())
    assert (found.curves[0][0], found.curves[0][-1]) == (0.25, 0)
    assert (found.curves[1][0], found.curves[1][-1]) == (0.5, 0.25)
    assert set(found.curves[2]) == {1}
    # grades 0: {0, 1}, 1: {1, 2}, 2: {4}. Of 2·2 + 2·1 + 2·1 pairs all are in order but one, which is tied.
    assert found.in_order == pytest.approx(7.5 / 8)


def test_separability_of_equal_scores():
    found = separability({"q": {"a": 0, "b": 1}}, {"q": np.array([0, 0], np.float32)})
    assert found.in_order == 0.5
    assert set(found.curves[1]) == {0}
    assert separability({"q": {"a": 1}}, {"q": np.array([3], np.float32)}).in_order == 0.5, (
        "one grade, no pair"
    )


# -- in a browser ------------------------------------------------------------------------------------------


def test_browser_draws_every_section(page):
    titles = page.locator("section > h2").all_inner_texts()
    assert len(titles) == 8
    assert page.locator("nav a").count() == 8
    assert page.locator("#leaderboard tbody tr").count() == 2
    assert page.locator("#leaderboard .whisker").count() == 6
    assert page.locator("#significance tbody td b").all_inner_texts() == ["+0.167", "−0.167"], "(1 − ½) / 3"
    assert page.locator("#breakdown table").count() == 4
    assert page.locator("#separability figure").count() == 2
    assert page.locator("#separability figure").first.locator("polyline").count() == 3
    assert page.locator("#importance .feature").all_inner_texts() == ["<u>clicks</u>\n100", "bm25\n50"]
    assert "clicks: it ranks best" in page.locator("#recommendation").inner_text()
    assert "3" in page.locator(".facts").inner_text()


def test_failing_queries_are_a_short_section(page):
    rows = page.locator("#failing tbody tr")
    assert rows.count() == report.MAX_CLUSTERS == 10
    cells = rows.first.locator("th, td").all_inner_texts()
    shown = EVIL if len(EVIL) <= 80 else EVIL[:79] + "…"
    assert cells[0] == f"{shown}\ntwo, three, four"
    assert cells[1:] == ["5", "2,000", "12", "no results", "synonym: couch → sofa\n<i>12</i> moves"]
    text = page.locator("#failing").inner_text()
    assert "105 queries with 42,000 searches fail" in text and "of 21" in text
    assert text.count("Ship with coclick rules GRAPH") == 1


def test_markup_is_shown_as_text(page):
    page.locator("#queries summary").first.click()
    assert EVIL in page.locator("#queries summary").first.inner_text()
    page.locator("#left-out summary").click()
    assert "needs <i>impressions</i>" in page.locator("#left-out").inner_text()
    assert EVIL_TITLE in page.locator("#queries details li").all_inner_texts()[1]
    assert page.evaluate("window.broken") is None
    assert page.locator("main img, main i, #top i").count() == 0


def test_leaderboard_is_sorted_by_keyboard(page):
    def names():
        return [text.split(" ")[0] for text in page.locator("#leaderboard tbody th").all_inner_texts()]

    assert names() == ["clicks", "popularity"]
    button = page.get_by_role("button", name="AP", exact=True)
    button.focus()
    page.keyboard.press("Enter")
    head = page.locator("#leaderboard th", has=button)
    assert head.get_attribute("aria-sort") == "descending"
    assert names() == ["clicks", "popularity"]
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert names() == ["popularity", "clicks"]


def test_two_models_are_compared_side_by_side(page):
    assert (
        "Queries on which clicks is better: 1; popularity: 0; tied: 2."
        in page.locator("#queries").inner_text()
    )
    page.select_option("#first", label="popularity")
    assert "Choose two different models" in page.locator("#queries").inner_text()
    page.select_option("#second", label="clicks")
    query = page.locator("#queries details")
    assert query.count() == 1
    query.locator("summary").focus()
    page.keyboard.press("Enter")
    assert query.locator("h4").all_inner_texts() == ["popularity", "clicks"]
    assert query.locator("ol").nth(0).locator("li").count() == 3
    assert query.locator("ol").nth(1).locator("li").all_inner_texts() == ["1 third z"]
    page.select_option("#measure", label="AP")
    assert page.locator("#significance .frame").get_attribute("aria-label") == "Differences in AP"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
def test_page_fits_any_width(browser, tmp_path, width, scheme):
    """Fifteen models with long names and a query without a space."""
    judgments = Judgments({"1": "the best pizza", "2": "x" * 300}, {"1": {"pizza-1": 3}, "2": {"pizza-2": 1}})
    models = [f"{weight / 20}*bm25 + {1 - weight / 20}*clicks" for weight in range(1, 15)]
    path = tmp_path / "wide.html"
    protocol = Protocol(candidates="judged")
    report.write_report(leaderboard(planted.graph(), judgments, ["bm25", *models], protocol=protocol), path)
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert "flatters every model" in page.locator("#top .warning").inner_text()
    background, ink = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    )
    lightness = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (background, ink)]
    assert (lightness[0] > lightness[1]) == (scheme == "light")
    page.close()


def test_report_of_37_models_is_short_and_fits(browser, tmp_path, monkeypatch):
    """As `compare` writes it: two splits, times, and what each model offers."""
    monkeypatch.setattr(significance, "N_PERMUTATIONS", 10)  # only the layout matters here
    monkeypatch.setattr(significance, "N_RESAMPLES", 10)
    judgments = Judgments(
        {f"{i}": f"query number {i}" for i in range(60)}, {f"{i}": {"pizza-1": 1} for i in range(60)}
    )
    rankings = {f"{i}": ["pizza-1", "pizza-2"] for i in range(60)}
    results = [
        ModelResult(
            f"backoff(model_{m}(own_weight=0.{m}) + bm25)",
            rankings,
            {f"{i}": dict.fromkeys(MEASURES, 0.01 * ((i * (m + 1)) % 37) + 0.6 - m / 100) for i in range(60)},
            seconds=1.5,
        )
        for m in range(37)
    ]
    board = Leaderboard(planted.graph(), judgments, Protocol(), results)
    stats = board.to_dict()
    stats["splits"] = [{"name": "queries"}, {"name": "time"}]
    for model in stats["models"]:
        model |= {"splits": {"time": model["measures"]}, "milliseconds": 0.5, "targets": ["opensearch"]}
        model |= {"takes_new_documents": True, "explains": True}
    path = tmp_path / "many.html"
    report.write_report(board, path, stats)
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(path.as_uri())
    frame = page.locator("#leaderboard .frame")
    assert frame.evaluate("made => made.scrollWidth <= made.clientWidth"), "no column is cut off"
    assert "0 to" not in frame.inner_text()
    assert page.locator("#leaderboard tbody tr").count() == 37
    assert page.locator("#significance tbody tr").count() == 8
    assert page.evaluate("document.documentElement.scrollHeight") < 9000
    page.locator("#significance").get_by_role("button", name="Show all 37 models").click()
    assert page.locator("#significance tbody tr").count() == 37
    page.get_by_role("button", name="Show all measures").click()
    assert page.get_by_role("button", name="nDCG@3").is_visible()
    # The first model is better on some queries, and all of them can be seen.
    won = int(page.locator("#queries h3 .quiet").first.inner_text())
    assert won > 25
    while (more := page.locator("#queries .sides > div").first.locator("button.more")).is_visible():
        more.click()
    assert page.locator("#queries .sides > div").first.locator("details").count() == won
    page.close()


# -- from the command line ---------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    planted.graph().save(tmp_path / "graph")
    (tmp_path / "qrels.tsv").write_text("ny the hotel\thotel-1\t1\nflu\tflu-2\t2\n")
    return tmp_path


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_evaluate_writes_the_page(files):
    given = ["evaluate", files / "graph", "--qrels", files / "qrels.tsv", "--models", "clicks"]
    result = invoke(*given, "--html", files / "page.html")
    assert result.exit_code == 0, result.output
    data = embedded(files / "page.html")
    assert [model["name"] for model in data["models"]] == ["clicks"]
    assert "recommendation" not in data
    assert "failing" not in data, "the log has no sessions"


def test_the_page_of_a_log_with_sessions_has_failing_queries(tmp_path):
    log = Log()
    for _ in range(12):
        log.session(("couch", ""), ("sofa", "sofa-1"))
        log.session(("sofa", "sofa-1"))
    graph = log.build(tmp_path).artefact.path
    (tmp_path / "qrels.tsv").write_text("sofa\tsofa-1\t1\n")
    given = ["evaluate", graph, "--qrels", tmp_path / "qrels.tsv", "--models", "clicks"]
    result = invoke(*given, "--html", tmp_path / "page.html")
    assert result.exit_code == 0, result.output
    found = embedded(tmp_path / "page.html")["failing"]
    assert (found["queries"], found["searches"], found["all_clusters"]) == (1, 12, 1)
    assert found["clusters"][0]["fix"]["sentence"] == "synonym: couch → sofa"


@pytest.mark.slow
def test_compare_writes_the_page_with_the_recommendation(files):
    result = invoke("compare", files / "graph", "--qrels", files / "qrels.tsv", "--html", files / "page.html")
    assert result.exit_code == 0, result.output
    data = embedded(files / "page.html")
    assert data["recommendation"]["model"] in [model["name"] for model in data["models"]]
    assert isinstance(data["left_out"], dict)


def test_unwritable_page_is_refused_before_training(files):
    given = ["evaluate", files / "graph", "--qrels", files / "qrels.tsv", "--models", "clicks"]
    result = invoke(*given, "--html", files / "nowhere" / "page.html")
    assert result.exit_code != 0
    assert "nDCG" not in result.output, "no model was trained"
    assert sorted(path.name for path in files.iterdir()) == ["graph", "qrels.tsv"]


def test_training_statistics_are_a_short_table(page, written):
    assert "singular_values" not in written.read_text()
    (row,) = page.locator("#training tbody tr").all()
    assert row.locator("td").all_inner_texts() == [
        "12.3",
        "words 0.800, tags 0.600",
        "queries 25.0\u00a0%, docs 1.23\u00a0%",
        "0.208",
        "<i>fewer</i> dimensions",
    ]
    sides = row.locator("td").evaluate_all("cells => cells.map((cell) => getComputedStyle(cell).textAlign)")
    assert sides == ["right"] * 4 + ["left"], "only the notes are sentences"


def test_results_have_training_statistics():
    result = leaderboard(planted.graph(), Judgments({"1": "hotel"}, {"1": {"hotel-0": 1}}), ["mpls"]).results[
        0
    ]
    assert result.training.keys() >= {"views", "bound"}
