"""Models of other packages: what can be registered, and what entry points may give."""

# mypy: disable-error-code="attr-defined"

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from coclick import create, model_names
from coclick.errors import UserError
from coclick.models import registry
from coclick.models.base import Model
from coclick.models.click_graph.popularity import Popularity
from coclick.models.registry import model_class, register


@dataclass
class Mine(Popularity):
    name = "my_model_2"


@pytest.fixture
def registered(monkeypatch):
    """The registry without what is registered here."""
    kept: dict[str, Any] = dict(registry._registered)
    monkeypatch.setattr(registry, "_registered", kept)
    return kept


def entry(name, load):
    return {name: SimpleNamespace(name=name, value=f"package:{name}", load=load)}


def test_a_registered_class_is_found_by_its_name(registered):
    assert register(Mine) is Mine
    assert model_class("my_model_2") is Mine and "my_model_2" in model_names()
    assert isinstance(create("my_model_2"), Mine)


@pytest.mark.parametrize("wrong", [None, 5, "", "My", "2x", "a-b", "a b"])
def test_a_class_needs_a_name(registered, wrong):
    @dataclass
    class Other(Popularity):
        pass

    Other.name = wrong
    with pytest.raises(UserError, match="Other cannot be registered: its name is") as error:
        register(Other)
    assert 'name = "my_model"' in str(error.value.hint)


def test_a_class_must_be_a_dataclass(registered):
    class Plain(Model):
        name = "plain"

    class Derived(Mine):  # of a dataclass, but none itself
        name = "derived"

    for wrong in (Plain, Derived):
        with pytest.raises(UserError, match="it is not a dataclass") as error:
            register(wrong)
        assert error.value.hint == "put @dataclass below @register"
    assert "plain" not in registered and "derived" not in registered


def test_an_entry_point_may_be_the_class_or_a_module_that_registers_it(registered, monkeypatch):
    monkeypatch.setattr(registry, "_entry_points", lambda: entry("my_model_2", lambda: Mine))
    assert "my_model_2" in model_names()
    assert model_class("my_model_2") is Mine
    registered.pop("my_model_2")

    def load():
        register(Mine)
        return SimpleNamespace()

    monkeypatch.setattr(registry, "_entry_points", lambda: entry("my_model_2", load))
    assert model_class("my_model_2") is Mine


def test_wrong_entry_points_are_refused(registered, monkeypatch):
    def broken():
        raise ImportError("no such module")

    monkeypatch.setattr(registry, "_entry_points", lambda: entry("other", broken))
    with pytest.raises(
        UserError, match="the model 'other' cannot be loaded: ImportError: no such module"
    ) as e:
        model_class("other")
    assert e.value.where == "entry point package:other"
    for load in (lambda: Mine, lambda: None):
        monkeypatch.setattr(registry, "_entry_points", lambda load=load: entry("other", load))
        with pytest.raises(UserError, match="no model called 'other' was registered"):
            model_class("other")


def test_unknown_names_get_a_list(registered):
    with pytest.raises(UserError, match=r"no model is called 'vpgc' \(did you mean 'vpcg'\?\)") as error:
        create("vpgc")
    assert "bm25, bm25sd" in str(error.value.hint)
    assert model_names() == sorted(model_names())


def test_a_specification_is_a_text():
    for wrong, message, hint in (
        (Popularity, "not the class Popularity", '"popularity" or Popularity()'),
        (5, "not 5", 'for example "bm25" or "vpcg(start=doc)"'),
        (Popularity(), "not <popularity, not trained>", 'for example "bm25" or "vpcg(start=doc)"'),
        (int, "not the class int", '"bm25" or int()'),
    ):
        with pytest.raises(UserError, match=message) as error:
            create(wrong)  # type: ignore[arg-type]
        assert error.value.hint == hint
    with pytest.raises(UserError, match="the parameter 'b' is given twice"):
        create("bm25(k1=1,b=0.5)", b=0.4, k1=2)
    with pytest.raises(UserError, match="b cannot be 2"):
        create("bm25", b=2.0)
