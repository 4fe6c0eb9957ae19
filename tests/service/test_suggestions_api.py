"""`/suggest` and `/correct`: the answers of the library, limits, reloading, and what is said without them."""

import shutil
from dataclasses import replace

import pytest

import planted
from coclick import ClickGraph, Suggestions, answers
from coclick.errors import ArtefactError, UserError
from coclick.service.loaded_suggestions import ServedSuggestions
from service.conftest import in_process

QUERY = next(iter(planted.TOPICS))


@pytest.fixture
def box(settings, suggestions):
    return in_process(replace(settings, suggestions=str(suggestions)))


def test_answers_equal_the_library(box, suggestions):
    opened = Suggestions.open(suggestions)
    for text in (QUERY, QUERY[:2], "", QUERY[:4] + "x", "never seen", "日本"):
        assert box.get("/suggest", q=text, k=5).json() == answers.complete(opened, text, 5)
        assert box.get("/correct", q=text).json() == answers.correct(opened, text)
    assert box.get("/suggest").json() == answers.complete(opened, "", 10)
    assert QUERY in [one["query"] for one in box.get("/suggest", q=QUERY[:3], k=100).json()["completions"]]


def test_batches_equal_single_answers(box, suggestions):
    opened = Suggestions.open(suggestions)
    texts = [QUERY, "", QUERY[:4] + "x", "never seen"]
    found = box.post("/suggest", queries=texts, k=5).json()
    assert found == {"answers": [answers.complete(opened, text, 5) for text in texts]}
    found = box.post("/correct", queries=texts).json()
    assert found == {"answers": [answers.correct(opened, text) for text in texts]}
    for path, body, where in (
        ("/suggest", {"queries": []}, "body.queries"),
        ("/suggest", {"queries": ["x"], "k": 101}, "body.k"),
        ("/correct", {"queries": ["x"] * 101}, "body.queries"),
        ("/correct", {"queries": ["x"], "k": 1}, "body.k"),
    ):
        answer = box.post(path, **body)
        assert answer.status_code == 422 and answer.json()["error"]["where"] == where


@pytest.mark.parametrize(
    ("path", "given", "where"),
    [
        ("/suggest", {"q": "x" * 1001}, "query.q"),
        ("/suggest", {"q": "x", "k": 0}, "query.k"),
        ("/suggest", {"q": "x", "k": 101}, "query.k"),
        ("/suggest", {"q": "x", "k": "ten"}, "query.k"),
        ("/suggest", {"q": "x", "model": "vpcg"}, "query.model"),
        ("/correct", {"q": "x" * 1001}, "query.q"),
        ("/correct", {}, "query.q"),
    ],
)
def test_limits(box, path, given, where):
    answer = box.get(path, **given)
    assert answer.status_code == 422 and answer.json()["error"]["where"] == where


def test_without_suggestions_the_answer_says_how_to_serve_them(client):
    for path in ("/suggest", "/correct"):
        answer = client.get(path, q="x")
        assert answer.status_code == 404
        assert answer.json()["error"] == {
            "message": "no suggestions are served",
            "where": None,
            "hint": "coclick serve MODEL --suggestions DIR",
        }


def test_new_suggestions_are_loaded_and_damaged_ones_are_not(suggestions, tmp_path):
    place = tmp_path / "served"
    shutil.copytree(suggestions, place)
    served = ServedSuggestions(str(place))
    old = served.get().model
    assert served.refresh() == []
    Suggestions.build(ClickGraph.from_clicks([("new query", "d", 1)])).save(place, force=True)
    [changed] = served.refresh()
    assert changed.problem is None and served.get() is changed
    assert [one.query for one in changed.model.complete("new")] == ["new query"]
    assert old.complete(QUERY[:3]), "running requests keep the old ones, whose files are gone"
    (place / "manifest.json").write_text("{}")
    [changed] = served.refresh()
    assert changed.problem and [one.query for one in served.get().model.complete("")] == ["new query"]
    assert served.refresh() == [], "the same problem is reported once"


def test_other_directories_are_refused(graph, models, tmp_path):
    for path in (graph.artefact.path, models / "vpcg", tmp_path):
        with pytest.raises((UserError, ArtefactError)):
            ServedSuggestions(str(path))
