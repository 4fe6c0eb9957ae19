"""Every number among the parameters of the models: odd values are refused, or give finite scores."""

from typing import Any

import numpy as np
import pytest

import planted
from coclick import UserError, create
from coclick.models.registry import model_class, model_names
from coclick.models.spec import choices, parameter_types, parameters_of, ranges

ODD = [0, -1, 1e308, 1e-300, float("nan"), float("inf"), 2**63]


def numbers():
    """Model, parameter and its kind, from the registry."""
    for name in model_names():
        model: Any = model_class(name)
        hints = parameter_types(model)
        for field in parameters_of(model):
            kinds = {int, float} & set(choices(hints[field.name]))
            if kinds:
                yield name, field.name, kinds.pop()


def allowed(name, parameter, kind):
    """The odd values that a model accepts; all others are refused with a sentence."""
    for value in ODD:
        try:
            create(name, **{parameter: value})
            yield value
        except UserError as error:
            assert f"the parameter {parameter} cannot be" in str(error)


@pytest.mark.parametrize("name", model_names())
def test_every_number_has_both_ends(name):
    found: Any = model_class(name)
    limits = ranges(found)
    for model, parameter, _ in numbers():
        if model == name:
            assert np.isfinite([limits[parameter].low, limits[parameter].high]).all(), parameter


ACCEPTED = [
    (name, parameter, value)
    for name, parameter, kind in numbers()
    for value in allowed(name, parameter, kind)
]


def test_what_overflows_is_refused():
    assert {value for _, _, value in ACCEPTED} <= {0, 1e-300}
    assert len(ACCEPTED) > 20


@pytest.fixture(scope="module")
def graph():
    return planted.graph()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameter", "value"), ACCEPTED)
def test_what_is_accepted_gives_finite_scores(graph, name, parameter, value):
    try:
        model = create(name, **{parameter: value}).fit(graph)
    except UserError:
        return  # a sentence, such as one on data that do not suffice
    found = model.search(["ny the hotel", "pizza"], k=5)
    assert np.isfinite(found.scores).all()
    assert np.isfinite(model.score(["pizza"], [["pizza-0", "flu-1"]])[0]).all()


@pytest.mark.parametrize("weight", ["0", "-1", "1e308", "1e-300", "nan", "inf", str(2**63)])
def test_weights_of_sums(weight):
    with pytest.raises(UserError, match="cannot read the summand"):
        create(f"{weight}*bm25 + rw")
