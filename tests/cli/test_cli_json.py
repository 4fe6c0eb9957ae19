"""JSON output: the shapes of docs/json.md, and explanations that add up."""

import json

import pytest

import planted
from coclick import create

# A query in the graph and an unseen one; documents with clicks, without clicks, and of another topic.
QUERIES, DOCS = ("shoe", "jogging nike sale"), ("shoe-0", "shoe-6", "hotel-0")
TITLES = planted.docs()


def answer(run, *arguments):
    done = run(*arguments, "--json")
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


def falling(values):
    return all(first >= second for first, second in zip(values, values[1:], strict=False))


def assert_hits(results, key, k):
    """Best first, all scores above zero."""
    assert 0 < len(results) <= k
    shape = {"doc": {"doc", "score", "title"}, "query": {"query", "score"}}[key]
    assert all(hit.keys() >= shape for hit in results)
    assert falling([hit["score"] for hit in results]) and results[-1]["score"] > 0
    assert len({hit[key] for hit in results}) == len(results)


def test_search(run, model):
    found = answer(run, "search", model, "Hotel", "-k", 3)
    assert found["query"] == "Hotel"  # as typed
    assert_hits(found["results"], "doc", 3)
    assert all(hit["title"] == TITLES[hit["doc"]] for hit in found["results"])
    assert planted.topic_of(found["results"][0]["doc"]) == "hotel"


def test_search_with_lists_of_documents(run, model, tmp_path):
    listed = tmp_path / "ids"
    listed.write_text("hotel-0\nhotel-1\n")
    allowed = answer(run, "search", model, "hotel", "--allow", listed)["results"]
    blocked = answer(run, "search", model, "hotel", "--block", listed, "-k", 100)["results"]
    assert {hit["doc"] for hit in allowed} == {"hotel-0", "hotel-1"}
    assert not {hit["doc"] for hit in blocked} & {"hotel-0", "hotel-1"}


@pytest.mark.parametrize("query", ["", " ", "zzzz"])
def test_no_results_is_not_an_error(run, model, query):
    nothing = {"confidence": 0, "guess": True, "evidence": {"clicks": 0, "known_text": 0}}
    assert answer(run, "search", model, query) == {"query": query, "results": [], **nothing}
    assert answer(run, "similar", model, query) == {"query": query, "results": [], **nothing}
    assert answer(run, "expand", model, query) == {"query": query, "words": []}
    why = answer(run, "explain", model, query, "hotel-0")
    assert why == {"query": query, "doc": "hotel-0", "score": 0, "parts": [], "words": []}


def test_search_says_what_the_query_is_known_by(run, model, graph):
    """Clicks c of "hotel" count as c / (c + 1); its only word is known, which counts half of the rest."""
    clicks = sum(count for query, _, count in planted.clicks() if query == "hotel")
    found = answer(run, "search", model, "hotel")
    assert found["evidence"] == {"clicks": clicks, "known_text": 1}
    support = clicks / (clicks + 1)
    assert found["confidence"] == pytest.approx(support + (1 - support) / 2) and not found["guess"]
    assert f"{clicks:g} clicks, 100% of the text known" in run("search", model, "hotel").out
    unseen = answer(run, "search", model, "hotel zzzz")
    assert (unseen["confidence"], unseen["evidence"]["clicks"]) == (0.25, 0)
    popular = run("train", "popularity", graph, "-o", model.parent / "popularity", "--force")
    assert popular.code == 0, popular.err
    guesses = run("search", model.parent / "popularity", "zzzz").out
    assert "no evidence for this query: these results are guesses" in guesses


def test_similar_queries(run, model):
    printed = run("similar", model, "hotel", "-k", 4).out
    assert "clicks" in printed and "confidence 0.9" in printed
    found = answer(run, "similar", model, "hotel", "-k", 4)
    assert found["query"] == "hotel"
    assert_hits(found["results"], "query", 4)
    assert "hotel" not in {hit["query"] for hit in found["results"]}


def test_similar_queries_of_a_file(run, model, tmp_path):
    """Without -o they are printed, with -o written; without --queries those of the whole log."""
    (tmp_path / "q.txt").write_text("hotel\n\nq7\tpizza\n")
    alone = [answer(run, "similar", model, query, "-k", 3) for query in ("hotel", "pizza")]
    assert answer(run, "similar", model, "--queries", tmp_path / "q.txt", "-k", 3) == alone
    printed = run("similar", model, "--queries", tmp_path / "q.txt", "-k", 3).out
    assert all(hit["query"] in printed for found in alone for hit in found["results"])
    out = tmp_path / "similar.jsonl"
    stats = answer(run, "similar", model, "--queries", tmp_path / "q.txt", "-k", 3, "-o", out)
    assert stats == {"queries": 2, "with_similar": 2, "rows": 6}
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    expected = [(found["query"], hit["query"]) for found in alone for hit in found["results"]]
    assert [(row["query"], row["similar"]) for row in rows] == expected
    assert [row["rank"] for row in rows] == [1, 2, 3, 1, 2, 3]
    again = run("similar", model, "-o", out, "-k", 3)
    assert (again.code, "exists" in again.err) == (2, True)
    done = run("similar", model, "-o", out, "-k", 3, "--force")
    assert done.code == 0 and "similar queries of" in done.err
    assert len(out.read_text().splitlines()) > len(rows)


def test_similar_documents(run, model):
    found = answer(run, "similar", model, "--docs", "hotel-0", "-k", 4)
    assert found["doc"] == "hotel-0"
    assert_hits(found["results"], "doc", 4)
    assert "hotel-0" not in {hit["doc"] for hit in found["results"]}


def test_expand(run, model):
    found = answer(run, "expand", model, "jogging")
    assert found["query"] == "jogging"
    assert all(word.keys() >= {"word", "weight"} for word in found["words"])
    assert falling([word["weight"] for word in found["words"]])
    assert "jogging" in {word["word"] for word in found["words"]}  # as it is written, not its stem


def test_expand_documents(run, model, tmp_path):
    found = answer(run, "expand", model, "--docs", "hotel-0", "-k", 3)
    assert found["doc"] == "hotel-0"
    assert falling([word["weight"] for word in found["words"]])
    for word in found["words"]:
        assert word.keys() == {"word", "weight", "clicks", "edges", "parts"}
        assert word["word"] not in TITLES["hotel-0"].lower().split()
        assert_clicks(word["clicks"], word["edges"])
    out = tmp_path / "words.tsv"
    stats = answer(run, "expand", model, "-o", out, "-k", 3)
    assert stats["documents"] == len(TITLES)
    lines = [line.split("\t") for line in out.read_text().splitlines()]
    assert lines[0] == ["doc", "word", "weight"]
    assert len(lines) == stats["rows"] + 1
    mine = [word for doc, word, _ in lines[1:] if doc == "hotel-0"]
    assert mine == [word["word"] for word in found["words"]]


def assert_adds_up(part, parts):
    if parts:
        assert sum(inner["value"] for inner in parts) == pytest.approx(part, abs=1e-6)
        assert falling([inner["value"] for inner in parts])
    for inner in parts:
        assert inner.keys() >= {"kind", "label", "value", "clicks", "edges", "parts"}
        assert_clicks(inner["clicks"], inner["edges"])
        assert_adds_up(inner["value"], inner["parts"])


def assert_clicks(clicks, edges):
    """All edges, each in the graph with its clicks; their shares sum to one."""
    counts = {(query, doc): number for query, doc, number in planted.clicks()}
    assert all(click.keys() >= {"query", "doc", "clicks", "share"} for click in clicks)
    assert all(counts[click["query"], click["doc"]] == click["clicks"] for click in clicks)
    assert falling([click["share"] for click in clicks])
    assert len(clicks) == edges > 0
    assert sum(click["share"] for click in clicks) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("doc", DOCS)
def test_explanations_add_up_at_every_level(run, model, query, doc):
    why = answer(run, "explain", model, query, doc, "--clicks", 0)
    assert (why["query"], why["doc"]) == (query, doc)
    assert_adds_up(why["score"], why["parts"])
    if not why["parts"]:
        assert why["score"] == 0
    assert [word["word"] for word in why["words"]] == [part["label"] for part in why["parts"]]
    for word, part in zip(why["words"], why["parts"], strict=True):
        product = word["query_weight"] * word["doc_weight"]
        assert word["contribution"] == part["value"] == pytest.approx(product)
        assert (word["clicks"], word["edges"]) == (part["clicks"], part["edges"])
        assert_clicks(word["query_clicks"], word["query_edges"])
    found = answer(run, "search", model, query, "-k", 100)["results"]
    assert {hit["doc"]: hit["score"] for hit in found}.get(doc, 0) == pytest.approx(why["score"], abs=1e-6)


def test_these_explanations_have_every_kind_of_part(run, model):
    kinds = set()
    for query in QUERIES:
        parts = answer(run, "explain", model, query, "shoe-6")["parts"]
        while parts:
            kinds |= {part["kind"] for part in parts}
            parts = [inner for part in parts for inner in part["parts"]]
    assert kinds == {"word", "query unit", "document unit"}


def test_fewer_clicks_but_the_same_edge_count(run, model):
    everything, some = (answer(run, "explain", model, "hotel", "hotel-0", "--clicks", n) for n in (0, 1))
    for full, cut in zip(everything["words"], some["words"], strict=True):
        assert cut["clicks"] == full["clicks"][:1] and cut["query_clicks"] == full["query_clicks"][:1]
        assert (cut["edges"], cut["query_edges"]) == (full["edges"], full["query_edges"])


def test_lexical_explanations_have_no_clicks(run, graph, tmp_path):
    path = tmp_path / "bm25"
    create("bm25").fit(planted.graph()).save(path)
    why = answer(run, "explain", path, "hotel", "hotel-0")
    (part,) = why["parts"]
    assert (part["label"], part["clicks"], part["edges"], part["parts"]) == ("hotel", [], 0, [])
    assert part["value"] == pytest.approx(why["score"])


def test_info_of_a_graph(run, graph):
    stats = answer(run, "info", graph)
    rows = planted.clicks()
    assert stats["kind"] == "graph" and stats["path"] == str(graph)
    assert stats["queries"] == stats["queries_with_clicks"] == len({query for query, _, _ in rows})
    assert stats["docs"] == len(TITLES)
    assert stats["docs_with_clicks"] == len({doc for _, doc, _ in rows})
    assert stats["edges"] == len({(query, doc) for query, doc, _ in rows})
    assert stats["clicks"] == sum(number for _, _, number in rows)
    assert stats["texts"] == {"title": len(TITLES)}
    for name in ("docs_per_query", "queries_per_doc", "clicks_per_query", "clicks_per_edge"):
        assert stats[name].keys() >= {"count", "mean", "median", "p90", "p99", "max", "histogram"}
        assert sum(count for _, count in stats[name]["histogram"]) == stats[name]["count"]


def test_info_of_a_model(run, graph, model):
    stats = answer(run, "info", model)
    assert (stats["kind"], stats["model"]) == ("model", "vpcg(own_weight=0)")
    assert {"start": "query", "max_terms": 20, "weight": "clicks", "iterations": 1}.items() <= stats[
        "parameters"
    ].items()
    assert stats["can"] == [
        "unseen_queries",
        "unseen_docs",
        "similar",
        "expand",
        "expand_docs",
        "explain",
        "add",
        "export",
    ]
    sizes = answer(run, "info", graph)
    assert {stats[name] == sizes[name] for name in ("queries", "docs", "edges")} == {True}
    assert stats.keys() >= {"path", "bytes", "digest", "summary", "graph", "training"}


def test_models(run):
    rows = answer(run, "models")
    assert [row["name"] for row in rows] == sorted(row["name"] for row in rows)
    assert all(row.keys() >= {"name", "summary", "parameters"} for row in rows)
    assert {"vpcg", "bm25"} <= {row["name"] for row in rows}


def test_verify(run, graph, model):
    assert answer(run, "verify", graph) == answer(run, "verify", model) == {"sound": True, "problems": []}


def test_the_query_comes_back_unchanged(run, model):
    """JSON is UTF-8, even if the query is not valid text."""
    assert answer(run, "search", model, "Zürich “hôtel”\t\U0001f3e8")["query"] == "Zürich “hôtel”\t\U0001f3e8"
    assert run("search", model, "a\udcffb", "--json").code == 0


def test_json_without_a_file_is_printed_by_every_command(run, graph, tmp_path):
    options = ["--holdout", "queries:0.3", "--models", "bm25"]
    found = answer(run, "evaluate", graph, *options)
    assert [model["name"] for model in found["models"]] == ["bm25"]
    page = tmp_path / "page.html"
    done = run("evaluate", graph, "--json", "--html", page, *options)
    assert done.code == 0 and json.loads(done.out).keys() == found.keys() and page.exists()
    done = run("evaluate", graph, *options, "--json", tmp_path / "stats.json")
    assert done.out.startswith("12 queries judged by held-out clicks")
    assert json.loads((tmp_path / "stats.json").read_text()).keys() == found.keys()
