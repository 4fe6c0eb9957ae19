"""What a model keeps on disk beyond what it has learned."""

import json
from dataclasses import replace

import pytest

import planted
from coclick import open_model, train
from coclick.answers import describe
from coclick.errors import ArtefactError, UserError
from coclick.models.verify import verify

BUILD = {"format": "clicks", "rows": 12, "rejected": {"no query": 2}}


@pytest.fixture
def saved(tmp_path):
    graph = replace(planted.graph(), stats=BUILD)
    train("bm25", graph.save(tmp_path / "graph")).save(tmp_path / "model")
    return tmp_path / "model"


def test_a_model_keeps_what_the_build_counted(saved):
    assert describe(saved)["build"] == BUILD
    open_model(saved).add({"new": "a title"}).save(saved, force=True)
    assert describe(saved)["build"] == BUILD, "also after documents were added"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"parameters": {"k1": None}}, "k1 cannot be None"),
        ({"parameters": {"k1": -1.0}}, "k1 cannot be -1.0"),
        ({"state": {}}, "it has no"),
        ({"stats": 7}, "no stats"),
        ({"build": [1]}, "no build"),
    ],
)
def test_a_strangers_manifest_is_not_trusted(saved, change, what):
    manifest = json.loads((saved / "manifest.json").read_text())
    (saved / "manifest.json").write_text(json.dumps(manifest | change))
    with pytest.raises(ArtefactError, match=what):
        open_model(saved)
    [(file, problem)] = verify(saved)
    assert file == "manifest.json" and what in problem


def test_of_two_that_add_documents_at_once_none_is_lost(saved):
    """The second has opened the model before the first is done: it hears so, and does it again."""
    first, second = open_model(saved), open_model(saved)
    with_one, with_two = first.add({"one": "a title"}), second.add({"two": "another title"})
    with_one.save(saved, replaces=first)
    with pytest.raises(UserError, match="replaced meanwhile"):
        with_two.save(saved, replaces=second)
    again = open_model(saved)
    again.add({"two": "another title"}).save(saved, replaces=again)
    assert {"one", "two"} <= set(open_model(saved).graph_.docs)


def test_a_model_of_an_older_version_has_no_such_figures(saved):
    manifest = json.loads((saved / "manifest.json").read_text())
    del manifest["build"]
    (saved / "manifest.json").write_text(json.dumps(manifest))
    assert describe(saved)["build"] == {}
    assert open_model(saved).search("hotel").hits()
