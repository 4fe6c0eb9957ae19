"""Suggestions of small logs whose answers can be seen by reading them."""

import json
import shutil

import numpy as np
import pytest

from coclick import ArtefactError, ClickGraph, Suggestions, UserError
from coclick.graph.click_graph import PairStats
from coclick.graph.search_tables import SearchStats
from coclick.models.verify import verify

DOCS = {
    "d1": "wireless headphones with microphone",
    "d2": "running shoes for women",
    "d3": "desk lamp, warm light",
    "d4": "teflon pan",
    "d5": "zwiebelschneider",
}
CLICKS = [
    ("wireless headphones", "d1", 90),
    ("headphones", "d1", 60),
    ("head phones", "d1", 2),
    ("head-phones", "d1", 1),
    ("headphones microphone", "d1", 9),
    ("running shoes", "d2", 50),
    ("running shoes women", "d2", 20),
    ("red running shoes", "d2", 8),
    ("runing shoes", "d2", 1),
    ("desk lamp", "d3", 30),
    ("warm desk lamp", "d3", 5),
    ("zwiebelschneider", "d5", 1),
    ("ann@example.com headphones", "d1", 5),
    ("耳机 无线", "d1", 4),
    ("سماعات لاسلكية", "d1", 3),
    ("café crème", "d4", 2),
]


@pytest.fixture(scope="module")
def suggestions():
    return Suggestions.build(ClickGraph.from_clicks(CLICKS, DOCS))


@pytest.fixture(scope="module")
def saved(suggestions, tmp_path_factory):
    return suggestions.save(tmp_path_factory.mktemp("suggestions") / "saved")


def queries(found):
    return [one.query for one in found]


def test_completions_by_use_then_later_words(suggestions):
    assert queries(suggestions.complete("run")) == [
        "running shoes",
        "running shoes women",
        "red running shoes",
    ]
    assert queries(suggestions.complete("shoes w")) == ["running shoes women"]
    assert suggestions.complete("desk")[0] == ("desk lamp", 30, 0)
    assert suggestions.complete("lamp")[0] == ("desk lamp", 7.5, 0)  # a quarter of 30 for a later word


def test_misspelt_queries_are_no_completions_but_of_themselves(suggestions, saved):
    assert suggestions.correct("runing shoes").query == "running shoes"
    assert suggestions.stats["left_out"]["misspelt"] == 1
    for box in (suggestions, saved):
        assert "runing shoes" not in queries(box.complete("run", 100)) + queries(box.complete("shoes", 100))
        assert "runing shoes" not in queries(box.complete("runing", 100)), "with and without typos"
        assert box.complete("Runing  Shoes", 1) == [("runing shoes", 1, 0)]
        assert queries(box.complete("runing shoes", 2)) == ["runing shoes", "running shoes"]
    listed = queries(suggestions.complete("", 100))
    assert len(listed) == suggestions.stats["suggested"]


def test_spellings_are_shown_once_with_their_clicks_together(suggestions):
    assert queries(suggestions.complete("headphones", 1)) == ["headphones"]
    assert suggestions.complete("headphones", 1)[0].score == 63
    assert "head phones" not in queries(suggestions.complete("head", 100))


def test_the_empty_text_has_the_most_used_queries(suggestions):
    assert queries(suggestions.complete("", 3)) == ["wireless headphones", "headphones", "running shoes"]
    assert queries(suggestions.complete("  \t", 1)) == ["wireless headphones"]


def test_a_blank_at_the_end_completes_the_word(suggestions):
    assert queries(suggestions.complete("red ")) == ["red running shoes"]
    assert suggestions.complete("re ", typos=False) == []


def test_typos_come_after_what_was_typed(suggestions):
    found = suggestions.complete("haedp")
    assert found[0].query == "headphones" and found[0].typos == 1
    assert suggestions.complete("hae") == []  # too short
    assert suggestions.complete("xeadp") == []  # in the first letter


@pytest.mark.parametrize(
    ("typed", "query"),
    [("耳", "耳机 无线"), ("无", "耳机 无线"), ("سماع", "سماعات لاسلكية"), ("CAFE\u0301", "café crème")],
)
def test_every_script(suggestions, typed, query):
    assert queries(suggestions.complete(typed, 1)) == [query]


def test_nothing_like_personal_data(suggestions):
    assert suggestions.complete("ann") == []
    assert suggestions.stats["left_out"]["like_personal_data"] == 1


@pytest.mark.parametrize(
    "text", ["x" * 999, "x" * 100_000, "a " * 5000, "\ud800x", "\x00x", "'; drop", "é" * 70]
)
def test_strange_texts_are_answered(suggestions, text):
    assert suggestions.complete(text) == [] and suggestions.correct(text) is None


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("runnign shoes", "running shoes"),
        ("wireles headphones", "wireless headphones"),
        ("headfones", None),  # two edits of a letter for another: not sure enough
        ("runningshoes women", "running shoes women"),
        ("head phones", "headphones"),
        ("running shoes", None),
        ("zwiebelschneider", None),  # rare, and in a title
        ("teflon pan", None),
        ("quux", None),
        ("", None),
        ("耳机 无线", None),
        ("耳机 无线线", None),
    ],
)
def test_corrections(suggestions, typed, meant):
    found = suggestions.correct(typed)
    assert (found and found.query) == meant


def test_a_rare_word_of_a_title_is_never_edited(suggestions):
    """`teflon` is in one title and in no query, `telefon` in many queries."""
    log = [("telefon", "d1", 500), ("telefon case", "d1", 100), ("red telefon", "d1", 100), *CLICKS]
    made = Suggestions.build(ClickGraph.from_clicks(log, DOCS))
    assert made.correct("teflon", min_confidence=0) is None
    assert made.correct("telefno").query == "telefon"


def test_confidence_grows_with_the_clicks_in_common():
    def sure(doc):
        log = [
            ("guitar strings", "g", 40),
            ("guitra strings", doc, 2),
            ("bass guitar", "g", 9),
            ("guitar", "g", 9),
        ]
        graph = ClickGraph.from_clicks(log, {"g": "guitar strings", "x": "something else"})
        return Suggestions.build(graph).correct("guitra strings", min_confidence=0).confidence

    assert sure("g") > sure("x")


def test_searches_and_success_order_queries():
    """Three queries with ten clicks each: searched 10 times, 100 times, and 100 times with few clicks."""
    graph = ClickGraph.from_clicks([("qa", "d", 10), ("qb", "d", 10), ("qc", "d", 10)])
    table = SearchStats(np.arange(4), np.array([10, 100, 100], np.int32), np.array([0, 0, 90], np.int32))
    made = Suggestions.build(ClickGraph(graph.queries, graph.docs, graph.clicks, searches=table))
    # 120 of 210 searches succeed; each query gets ten more of that average.
    prior = 10 * 120 / 210
    expected = {"qa": 10 * (10 + prior) / 20, "qb": 100 * (100 + prior) / 110, "qc": 100 * (10 + prior) / 110}
    assert [one.query for one in made.complete("q")] == ["qb", "qc", "qa"]
    assert {one.query: one.score for one in made.complete("q")} == pytest.approx(expected, rel=1e-6)


def test_min_users():
    graph = ClickGraph.from_clicks([("common", "d", 9), ("rare", "d", 9), ("rare", "e", 9)])
    pairs = PairStats(np.array([0, 1, 3]), np.array([0, 0, 1], np.int32), users=np.array([5, 2, 2], np.int32))
    graph = ClickGraph(graph.queries, graph.docs, graph.clicks, pairs=pairs)
    made = Suggestions.build(graph, min_users=3)
    assert queries(made.complete("")) == ["common"] and made.words.words.id("rare") < 0
    assert made.stats["left_out"]["too_few_users"] == 1
    with pytest.raises(UserError, match="no query that may be suggested"):
        Suggestions.build(graph, min_users=6)
    with pytest.raises(UserError, match="does not say how many users"):
        Suggestions.build(ClickGraph.from_clicks(CLICKS), min_users=2)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda s: s.complete(5), "the text must be a string, not 5"),
        (lambda s: s.complete("a", 0), "k must be a whole number of at least 1, not 0"),
        (lambda s: s.complete("a", 101), "k is 101"),
        (lambda s: s.correct(None), "the text must be a string, not None"),
        (lambda s: Suggestions.build(ClickGraph.from_clicks(CLICKS), min_users=0), "min_users must be"),
    ],
)
def test_wrong_arguments(suggestions, wrong, sentence):
    with pytest.raises(UserError, match=sentence):
        wrong(suggestions)


def test_saved_suggestions_are_the_same(suggestions, saved):
    assert verify(saved.artefact.path) == []
    for text in ("", "run", "haedp", "耳"):
        assert saved.complete(text) == suggestions.complete(text)
    assert saved.correct("runnign shoes") == suggestions.correct("runnign shoes")
    with pytest.raises(UserError, match="not a suggestion index"):
        Suggestions.open(
            ClickGraph.from_clicks(CLICKS).save(saved.artefact.path.parent / "graph").artefact.path
        )


def damaged_copies(path, home):
    """Copies of saved suggestions, each with the bytes of one array overwritten; digests are not checked."""
    manifest = json.loads((path / "manifest.json").read_text())
    for name, entry in manifest["files"].items():
        for fill in (0x7F, 0xFF):
            copy = home / f"{name}-{fill}"
            shutil.copytree(path, copy)
            size = entry["bytes"] - 128 if entry["bytes"] > 256 else entry["bytes"] // 2
            content = bytearray((copy / entry["file"]).read_bytes())
            content[-size // 2 :] = bytes([fill]) * len(content[-size // 2 :])
            (copy / entry["file"]).write_bytes(content)
            yield name, copy


def test_a_damaged_file_never_crashes(saved, tmp_path):
    texts = ("", "run", "haedph", "shoes", "耳", "runnign shoes", "runningshoes women", "head phones")
    for name, path in damaged_copies(saved.artefact.path, tmp_path):
        assert verify(path), name
        try:
            opened = Suggestions.open(path)
            for text in texts:
                opened.complete(text, 100)
                opened.correct(text, min_confidence=0)
        except ArtefactError:
            continue


@pytest.mark.parametrize("change", ["kind", "parts", "shape", "type"])
def test_a_damaged_manifest_is_an_error(saved, tmp_path, change):
    shutil.copytree(saved.artefact.path, tmp_path / "copy")
    path = tmp_path / "copy" / "manifest.json"
    manifest = json.loads(path.read_text())
    if change == "kind":
        manifest["kind"] = "graph"
    elif change == "parts":
        del manifest["parts"]
    elif change == "shape":
        manifest["parts"]["weights"] = manifest["parts"]["clicks"]
    else:
        manifest["parts"]["completions"] = {"type": "json", "value": 5}
    path.write_text(json.dumps(manifest))
    with pytest.raises((ArtefactError, UserError)):
        Suggestions.open(tmp_path / "copy")
