"""Models that change on disk while they are served."""

import shutil

import pytest

import planted
from coclick import open_model, train
from coclick.errors import ArtefactError, NotFoundError, UserError
from coclick.service.loaded_models import LoadedModels, named_paths

QUERY = next(iter(planted.TOPICS))


@pytest.fixture
def place(models, tmp_path):
    shutil.copytree(models / "vpcg", tmp_path / "model")
    return tmp_path / "model"


def test_a_changed_model_is_reloaded_and_the_old_one_still_answers(place, graph):
    models_ = LoadedModels([("one", str(place))])
    assert models_.refresh() == []
    old = models_.get()
    before = old.model.search(QUERY).hits(), old.model.explain(QUERY, old.model.search(QUERY).hits()[0][0])
    train("bm25", graph).save(place, force=True)
    [changed] = models_.refresh()
    assert changed.problem is None and models_.get("one") is changed and str(changed.model) == "bm25"
    again = old.model.search(QUERY).hits(), old.model.explain(QUERY, old.model.search(QUERY).hits()[0][0])
    assert again == before, "running requests keep the old model"
    assert models_.refresh() == []


def test_a_damaged_model_changes_nothing(place):
    models_ = LoadedModels([("one", str(place))])
    old = models_.get().model
    manifest = (place / "manifest.json").read_text()
    (place / "manifest.json").write_text("{}")
    [changed] = models_.refresh()
    assert changed.problem and models_.get().model is old
    assert models_.refresh() == [], "the same problem is reported once"
    (place / "manifest.json").unlink()
    assert models_.refresh()[0].model is old
    (place / "manifest.json").write_text(manifest)
    [changed] = models_.refresh()
    assert changed.problem is None


def test_names(models, tmp_path):
    found = named_paths([str(models / "vpcg"), f"other={models / 'vpcg'}"])
    assert [name for name, _ in found] == ["vpcg", "other"]
    models_ = LoadedModels(found)
    assert models_.names() == ["vpcg", "other"] and models_.get().name == "vpcg"
    with pytest.raises(NotFoundError, match="no model is called 'x'"):
        models_.get("x")
    with pytest.raises(UserError, match="two models are called"):
        LoadedModels([*found, found[0]])
    with pytest.raises(UserError, match="cannot read the model"):
        named_paths(["=x"])
    strange = tmp_path / "a=b"
    shutil.copytree(models / "vpcg", strange)
    assert named_paths([str(strange)]) == (("a=b", str(strange)),)


def test_other_directories_are_refused(tmp_path, graph):
    with pytest.raises((UserError, ArtefactError)):
        LoadedModels([("one", str(tmp_path / "none"))])
    with pytest.raises(UserError, match="not a model"):
        LoadedModels([("one", str(graph.artefact.path))])


def test_a_loaded_model_does_not_need_its_directory(place):
    served = LoadedModels([("one", str(place))]).get().model
    expected = open_model(place)
    best = expected.search(QUERY).hits()[0][0]
    answers = expected.search(QUERY).hits(), expected.explain(QUERY, best), expected.similar_docs(best).hits()
    shutil.rmtree(place)
    assert (
        served.search(QUERY).hits(),
        served.explain(QUERY, best),
        served.similar_docs(best).hits(),
    ) == answers
