"""Saved models: statistics of the build, damaged manifests, concurrent changes."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import planted
from coclick import ClickGraph, open_model, train
from coclick.answers import describe
from coclick.arrays.csr import Csr
from coclick.errors import ArtefactError, UserError
from coclick.models.verify import verify

BUILD = {"format": "clicks", "rows": 12, "rejected": {"no query": 2}}


@pytest.fixture
def saved(tmp_path):
    graph = replace(planted.graph(), stats=BUILD)
    train("bm25", graph.save(tmp_path / "graph")).save(tmp_path / "model")
    return tmp_path / "model"


def test_a_model_keeps_the_statistics_of_the_build(saved):
    assert describe(saved)["build"] == BUILD
    open_model(saved).add({"new": "a title"}).save(saved, force=True)
    assert describe(saved)["build"] == BUILD, "kept when documents are added"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"parameters": {"k1": None}}, "k1 cannot be None"),
        ({"parameters": {"k1": -1.0}}, "k1 cannot be -1.0"),
        ({"state": {}}, "it has no"),
        ({"stats": 7}, "'stats' is not an object"),
        ({"build": [1]}, "'build' is not an object"),
    ],
)
def test_an_invalid_manifest_is_refused(saved, change, what):
    manifest = json.loads((saved / "manifest.json").read_text())
    (saved / "manifest.json").write_text(json.dumps(manifest | change))
    with pytest.raises(ArtefactError, match=what):
        open_model(saved)
    files, problems = zip(*verify(saved), strict=True)
    assert {*files} == {"manifest.json"}
    assert "digest differs" in problems[0] or what in problems[0]


def test_concurrent_additions_are_not_lost(saved):
    """The second writer opened the model before the first one saved: it gets an error and repeats."""
    first, second = open_model(saved), open_model(saved)
    with_one, with_two = first.add({"one": "a title"}), second.add({"two": "another title"})
    with_one.save(saved, replaces=first)
    with pytest.raises(UserError, match="replaced meanwhile"):
        with_two.save(saved, replaces=second)
    again = open_model(saved)
    again.add({"two": "another title"}).save(saved, replaces=again)
    assert {"one", "two"} <= set(open_model(saved).graph_.docs)


def test_verify_names_the_state_that_is_out_of_bounds(tmp_path):
    model: Any = train("bm25", planted.graph())
    rows = model.doc_index_.vectors
    wrong = Csr(rows.indptr, np.full_like(rows.indices, rows.columns), rows.data, rows.columns)
    model.doc_index_ = replace(model.doc_index_, vectors=wrong)
    model.save(tmp_path / "model")
    [(file, problem)] = verify(tmp_path / "model")
    assert file.startswith("model.doc_index.vectors.")
    assert "model.doc_index.vectors: a column is out of bounds" in problem


def test_a_graph_is_not_opened_as_a_model(saved):
    with pytest.raises(UserError, match="this is a graph, not a model") as error:
        open_model(saved.parent / "graph")
    assert error.value.hint == "train one: coclick train vpcg GRAPH -o MODEL"
    with pytest.raises(ArtefactError, match="trained on another graph"):
        open_model(saved, planted.graph(seed=3).save(saved.parent / "other"))


@pytest.mark.parametrize("name", ["terms", "graph_", "stats_", "artefact_"])
def test_state_with_another_name_is_refused(saved, name):
    manifest = json.loads((saved / "manifest.json").read_text())
    manifest["state"][name] = {"type": "json", "value": 1}
    (saved / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ArtefactError, match=f"'{name}' cannot be a model's state"):
        open_model(saved)


def test_missing_state_is_named(saved):
    manifest = json.loads((saved / "manifest.json").read_text())
    del manifest["state"]["doc_index_"]
    (saved / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ArtefactError, match="it has no doc_index_"):
        open_model(saved)


def test_only_the_short_text_is_kept(tmp_path):
    docs = {"a": {"title": "hat", "body": "felt"}, "b": {"title": "sock", "body": "wool"}}
    graph = ClickGraph.from_clicks([("hat", "a", 1)], docs)
    train("bm25", graph).save(tmp_path / "model")
    opened = open_model(tmp_path / "model")
    assert list(opened.graph_.texts) == ["title"] and opened.search("felt").hits()
    with pytest.raises(UserError):
        train("clicks", graph).save(tmp_path / "model")
    train("clicks", graph).save(tmp_path / "model", force=True)
    assert open_model(tmp_path / "model").name == "clicks"
    with pytest.raises(UserError, match="replaced meanwhile"):
        train("clicks", graph).save(tmp_path / "model", replaces=train("clicks", graph))


def test_a_model_without_build_statistics_can_be_opened(saved):
    manifest = json.loads((saved / "manifest.json").read_text())
    del manifest["build"]
    (saved / "manifest.json").write_text(json.dumps(manifest))
    assert describe(saved)["build"] == {}
    assert open_model(saved).search("hotel").hits()


def test_a_model_saved_before_words_had_pieces_keeps_its_words(tmp_path):
    docs = {"a": {"title": "8ft ladder"}, "b": {"title": "ladder 8 ft"}}
    graph = ClickGraph.from_clicks([("ladder", "a", 1), ("ladder", "b", 1)], docs)
    for spec in ("bm25", "neighbours", "vpcg", "pls(views=words)"):
        saved = tmp_path / spec
        old = train(spec, graph, tokenizer="words")
        old.save(saved)
        manifest = json.loads((saved / "manifest.json").read_text())
        del manifest["parameters"]["tokenizer"]
        (saved / "manifest.json").write_text(json.dumps(manifest))
        opened: Any = open_model(saved)
        assert opened.tokenizer == "words" and "tokenizer=words" in str(opened)
        for query in ("8ft", "8 ft"):
            assert opened.search(query).hits() == old.search(query).hits()
    assert [doc for doc, _ in train("bm25", graph).search("8 ft").hits()] == ["b", "a"]
    assert [doc for doc, _ in train("bm25(tokenizer=words)", graph).search("8 ft").hits()] == ["b"]
