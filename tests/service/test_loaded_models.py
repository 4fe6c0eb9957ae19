"""Models that change on disk while they are served."""

import shutil

import pytest

import planted
from coclick import open_model, train
from coclick.errors import ArtefactError, NotFoundError, UserError
from coclick.service.loaded_models import Catalogue, named_paths

QUERY = next(iter(planted.TOPICS))


@pytest.fixture
def place(models, tmp_path):
    shutil.copytree(models / "vpcg", tmp_path / "model")
    return tmp_path / "model"


def test_a_model_that_changes_is_taken_and_the_old_one_still_answers(place, graph):
    catalogue = Catalogue([("one", str(place))])
    assert catalogue.refresh() == []
    old = catalogue.get()
    before = old.model.search(QUERY).hits(), old.model.explain(QUERY, old.model.search(QUERY).hits()[0][0])
    train("bm25", graph).save(place, force=True)
    [changed] = catalogue.refresh()
    assert changed.problem is None and catalogue.get("one") is changed and str(changed.model) == "bm25"
    again = old.model.search(QUERY).hits(), old.model.explain(QUERY, old.model.search(QUERY).hits()[0][0])
    assert again == before, "requests that began with the old model end with it"
    assert catalogue.refresh() == []


def test_a_model_that_is_damaged_changes_nothing(place):
    catalogue = Catalogue([("one", str(place))])
    old = catalogue.get().model
    manifest = (place / "manifest.json").read_text()
    (place / "manifest.json").write_text("{}")
    [changed] = catalogue.refresh()
    assert changed.problem and catalogue.get().model is old
    assert catalogue.refresh() == [], "the same problem is told once"
    (place / "manifest.json").unlink()
    assert catalogue.refresh()[0].model is old
    (place / "manifest.json").write_text(manifest)
    [changed] = catalogue.refresh()
    assert changed.problem is None


def test_names(models, tmp_path):
    found = named_paths([str(models / "vpcg"), f"other={models / 'vpcg'}"])
    assert [name for name, _ in found] == ["vpcg", "other"]
    catalogue = Catalogue(found)
    assert catalogue.names() == ["vpcg", "other"] and catalogue.get().name == "vpcg"
    with pytest.raises(NotFoundError, match="no model is called 'x'"):
        catalogue.get("x")
    with pytest.raises(UserError, match="two models are called"):
        Catalogue([*found, found[0]])
    with pytest.raises(UserError, match="cannot read the model"):
        named_paths(["=x"])
    strange = tmp_path / "a=b"
    shutil.copytree(models / "vpcg", strange)
    assert named_paths([str(strange)]) == (("a=b", str(strange)),)


def test_what_is_no_model_is_refused(tmp_path, graph):
    with pytest.raises((UserError, ArtefactError)):
        Catalogue([("one", str(tmp_path / "none"))])
    with pytest.raises(UserError, match="not a model"):
        Catalogue([("one", str(graph.artefact.path))])


def test_an_opened_model_needs_its_directory_no_more(place):
    served = Catalogue([("one", str(place))]).get().model
    expected = open_model(place)
    best = expected.search(QUERY).hits()[0][0]
    answers = expected.search(QUERY).hits(), expected.explain(QUERY, best), expected.similar_docs(best).hits()
    shutil.rmtree(place)
    assert (
        served.search(QUERY).hits(),
        served.explain(QUERY, best),
        served.similar_docs(best).hits(),
    ) == answers
