"""Planted words of one user are in no byte of graphs, models, exports, answers and pages.

`rare_words` has the log. The same commands without the options find every word, so the search works.
"""

import json

import pytest

import rare_words
from coclick import ClickGraph
from coclick.exporters import ENGINES
from coclick.rules import FORMATS
from coclick.service.app import create_app
from coclick.service.loaded_models import LoadedModels
from coclick.service.settings import Settings

MODELS = ("vpcg", "pls(dim=4,views=words)", "plsa(n_topics=3)", "0.7*vpcg + 0.3*bm25")
OPTIONS = ("--min-users", rare_words.K, "--scrub", "pii", "--hash-users")


@pytest.fixture
def log(tmp_path):
    """The files of the log, its documents, and a key."""
    lines = ["doc\ttitle", *(f"{doc}\t{title}" for doc, title in rare_words.docs().items())]
    (tmp_path / "docs.tsv").write_text("\n".join(lines) + "\n")
    (tmp_path / "key").write_text("5e" * 32)
    return rare_words.write_csv(tmp_path / "log.csv")


def build(run, log, out, *options):
    done = run("build", log, "--docs", log.parent / "docs.tsv", "-o", out, *options)
    assert done.code == 0, done.err
    return done.out + done.err


def words_in(*texts):
    return rare_words.find("\n".join(texts).encode())


def test_a_plain_build_has_every_word(run, log, tmp_path):
    build(run, log, tmp_path / "out")
    found = {word for words in rare_words.find_in_files(tmp_path / "out").values() for word in words}
    assert found == set(rare_words.WORDS)


def test_a_graph_has_none(run, log, tmp_path):
    shown = build(run, log, tmp_path / "out", *OPTIONS, "--key-file", tmp_path / "key")
    shown += run("info", tmp_path / "out", "--json").out + run("info", tmp_path / "out").out
    shown += run("rejects", tmp_path / "out", "--json").out + run("rejects", tmp_path / "out").out
    spellings = run("info", tmp_path / "out", "--spellings", "--json").out
    assert words_in(shown, spellings) == []
    assert "broken quotes" in shown and '{"doc":"hat-1"}' in shown.replace("\\", "")
    assert "Red Lamp" in spellings  # of many users
    assert (
        "warm hat" in ClickGraph.open(tmp_path / "out").queries.to_list()
    )  # of which one user has a spelling
    assert rare_words.find_in_files(tmp_path / "out") == {}
    assert rare_words.find_in_files(tmp_path / "out", ["5e" * 16]) == {}
    assert run("verify", tmp_path / "out").code == 0


def test_suggestions_have_none(run, log, tmp_path):
    """Of a private graph, and of a plain one with a threshold of its own."""
    build(run, log, tmp_path / "private", *OPTIONS, "--key-file", tmp_path / "key")
    build(run, log, tmp_path / "plain")
    for graph, options in (("private", ()), ("plain", ("--min-users", rare_words.K))):
        out = tmp_path / "suggestions" / graph
        done = run("suggest", "build", tmp_path / graph, "-o", out, *options)
        assert done.code == 0, done.err
        shown = done.out + run("suggest", "complete", out, "", "-k", 100, "--json").out
        shown += run("suggest", "complete", out, "xylo").out + run("suggest", "correct", out, "xylozorv").out
        assert "warm hat" in shown and words_in(shown) == []
    assert rare_words.find_in_files(tmp_path / "suggestions") == {}
    run("suggest", "build", tmp_path / "plain", "-o", tmp_path / "all")
    found = {word for words in rare_words.find_in_files(tmp_path / "all").values() for word in words}
    assert found == {rare_words.RARE_QUERY}  # the search works; personal data is left out in any case


@pytest.mark.slow
def test_models_exports_and_pages_have_none(run, log, tmp_path):
    out = tmp_path / "out"
    build(run, log, out / "graph", *OPTIONS, "--key-file", tmp_path / "key")
    shown = []

    def command(*arguments):
        done = run(*arguments)
        assert done.code == 0, (arguments, done.err)
        shown.append(done.out + done.err)
        return done.out

    for number, spec in enumerate(MODELS):
        model = out / f"model{number}"
        command("train", spec, out / "graph", "-o", model)
        command("search", model, "warm hat", "--json")
        command("similar", model, "hat", "--json")
        command("explain", model, "hat", "hat-0", "--json", "--clicks", 0)
        command("info", model, "--json")
        command("verify", model)
    command("expand", out / "model0", "hat")
    command("expand", out / "model0", "-o", out / "words.tsv")
    command("vectors", out / "model0", "hat")
    command("topics", out / "model2", "--json")
    for engine in ENGINES:
        command("export", out / "model0", "--to", engine, "-o", out / engine)
    for to in FORMATS:
        review = ("--review", out / "review.tsv") if to == "querqy" else ()
        command("rules", out / "graph", "--to", to, "-o", out / f"rules-{to}", "--min-clicks", 1, *review)
    parts = ("--models", "vpcg", "--models", "bm25")
    command("features", out / "graph", "-o", out / "letor.txt", *parts)
    command("ltr", out / "graph", "-o", out / "ltr", "--n-trees", 3, *parts)
    command("filter", out / "graph", "-o", out / "filtered", "--min-clicks", 2)
    command("evaluate", out / "graph", "--models", "bm25", "--html", out / "report.html")
    shown += pages(out)

    assert len("".join(shown)) > 20_000
    assert words_in(*shown) == []
    assert rare_words.find_in_files(out) == {}


def pages(out):
    """The answers of the service and the studio."""
    httpx = pytest.importorskip("httpx")
    import asyncio

    settings = Settings(
        tuple((name, str(out / name)) for name in ("model0", "model2")), report=str(out / "report.html")
    )
    app = create_app(LoadedModels(settings.models), settings)
    query, doc = {"q": "hat"}, {"doc": "hat-0"}
    requests = [
        ("/search", query),
        ("/similar/queries", query | {"k": 50}),
        ("/similar/documents", doc),
        ("/expand", query),
        ("/explain", query | doc),
        ("/metrics", {}),
        ("/", {}),
        ("/studio/models.json", {}),
        ("/studio/compare.json", query | {"k": 50}),
        ("/studio/log.json", {}),
        ("/studio/why.json", query | doc),
        ("/studio/query.json", query),
        ("/studio/query.json", {}),
        ("/studio/document.json", doc),
        ("/studio/walk.json", {"query": "hat"}),
        ("/studio/walk.json", doc),
        ("/studio/topics.json", {"model": "model2"}),
        ("/studio/leaderboard.json", {}),
        *((f"/studio/{view}", {}) for view in ("compare", "why", "walk", "query", "document", "log")),
    ]

    async def ask():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return [await client.get(path, params=given) for path, given in requests]

    answers = asyncio.run(ask())
    failed = [
        (path, answer.text) for (path, _), answer in zip(requests, answers, strict=True) if answer.is_error
    ]
    assert failed == []
    assert json.loads(answers[0].text)
    return [answer.text for answer in answers]
