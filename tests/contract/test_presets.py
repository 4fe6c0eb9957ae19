"""Presets: their parameters exist and are allowed. `test_contract` trains models with them."""

from pathlib import Path
from typing import Any

import pytest

from coclick import create, model_names
from coclick.errors import UserError
from coclick.models.presets import Preset
from coclick.models.registry import model_class
from coclick.models.spec import parameters_of

REFERENCES = Path(__file__).resolve().parents[2] / "docs" / "references.md"
PRESETS = [(name, preset) for name in model_names() for preset in model_class(name).presets]


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_a_preset_is_the_parameters_that_it_names(name, preset):
    settled = model_class(name).presets[preset]
    model = create(f"{name}(preset={preset})")
    assert {key: getattr(model, key) for key in settled.parameters} == settled.parameters
    for field in parameters_of(type(model)):
        if field.name not in settled.parameters and field.name != "parts":
            assert getattr(model, field.name) == field.default
    assert "preset" not in str(model)
    assert create(str(model)) == model


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_a_preset_names_its_source_and_a_reason_for_each_parameter(name, preset):
    settled = model_class(name).presets[preset]
    assert f"`{preset}`" in REFERENCES.read_text()
    assert settled.source[-4:].isdigit(), "author and year"
    assert all(reason.strip() for reason in settled.reasons.values())


def test_parameters_beside_a_preset_take_precedence():
    assert str(create("vpcg(preset=paper,start=doc,stem=true)")) == str(
        create("vpcg", preset="paper", start="doc", stem=True)
    )
    model: Any = create("vpcg(max_terms=7,preset=paper)")
    assert (model.max_terms, model.stem) == (7, False)


def test_parts_of_combinations_have_presets():
    expanded = str(create("vpcg(preset=paper)"))
    assert str(create("0.8*vpcg(preset=paper) + 0.2*bm25")) == f"0.8*{expanded} + 0.2*bm25"
    assert str(create("backoff(vpcg(preset=paper) + bm25)")) == f"backoff({expanded} + bm25)"


@pytest.mark.parametrize(
    ("spec", "message", "hint"),
    [
        (
            "vpcg(preset=papr)",
            r"vpcg has no preset 'papr' \(did you mean 'paper'\?\)",
            "its presets are paper",
        ),
        ("popularity(preset=paper)", "popularity has no preset 'paper'", "it has no presets"),
        ("0.8*vpcg + 0.2*popularity(preset=paper)", "popularity has no preset", "it has no presets"),
    ],
)
def test_an_unknown_preset_is_refused(spec, message, hint):
    with pytest.raises(UserError, match=message) as error:
        create(spec)
    assert hint in str(error.value.hint)


def test_presets_are_listed_in_alphabetical_order():
    with pytest.raises(UserError) as error:
        create("rw(preset=paper)")
    assert error.value.hint == "its presets are wu2012, wu2013, wu2013b"


def test_a_preset_is_given_once():
    with pytest.raises(UserError, match="given twice"):
        create("vpcg(preset=paper)", preset="paper")


def test_a_wrong_preset_of_another_package_is_refused(monkeypatch):
    monkeypatch.setattr(model_class("bm25"), "presets", {"wrong": Preset("Nobody 2000", k1=(-1.0, "typo"))})
    with pytest.raises(UserError, match="k1 cannot be"):
        create("bm25(preset=wrong)")
