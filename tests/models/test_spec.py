"""Model specifications: parsing, validation, formatting."""

from dataclasses import dataclass
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coclick.errors import UserError
from coclick.models.spec import Range, check, convert, format_spec, parse


@dataclass
class Example:
    name = "example"
    start: Literal["query", "doc"] = "query"
    k: int = 20
    rounds: int | Literal["converge", "validate"] = 1
    weight: float = 0.5
    stem: bool = True
    fields: str = "all"


def create(spec):
    name, given = parse(spec)
    assert name == "example"
    return Example(**convert(Example, given, spec))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("example", Example()),
        ("example()", Example()),
        (" example ( k = 5 , start=doc ) ", Example(k=5, start="doc")),
        ("example(rounds=converge)", Example(rounds="converge")),
        ("example(rounds=3,stem=false,weight=2)", Example(rounds=3, stem=False, weight=2.0)),
        ("example(fields=title+body)", Example(fields="title+body")),
    ],
)
def test_parse(spec, expected):
    assert create(spec) == expected


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("Example", "cannot read the model"),
        ("example(k=5", "cannot read the model"),
        ("example(k)", "cannot read the parameter"),
        ("example(=5)", "cannot read the parameter"),
        ("example(k=5,k=6)", "given twice"),
        ("example(kk=5)", "did you mean 'k'"),
        ("example(k=five)", "k cannot be 'five'"),
        ("example(start=title)", "start cannot be 'title'"),
        ("example(rounds=often)", "rounds cannot be 'often'"),
        ("example(stem=maybe)", "stem cannot be 'maybe'"),
    ],
)
def test_invalid_specifications_are_refused(spec, message):
    with pytest.raises(UserError, match=message):
        create(spec)


def test_defaults_are_not_written():
    assert format_spec(Example()) == "example"
    assert format_spec(Example(stem=False, k=7)) == "example(k=7,stem=false)"


@given(
    st.builds(
        Example,
        start=st.sampled_from(["query", "doc"]),
        k=st.integers(-5, 100),
        rounds=st.one_of(st.integers(1, 9), st.sampled_from(["converge", "validate"])),
        weight=st.floats(allow_nan=False),
        stem=st.booleans(),
        fields=st.sampled_from(["all", "title", "title+body"]),
    )
)
def test_formatting_and_parsing_are_inverse(example):
    assert create(format_spec(example)) == example


@pytest.mark.parametrize(
    "wrong", [{"k": "5"}, {"start": "title"}, {"rounds": "often"}, {"stem": 1}, {"k": 1.5}]
)
def test_values_from_python_are_checked(wrong):
    with pytest.raises(UserError, match=next(iter(wrong))):
        check(Example(**wrong))
    check(Example(k=3, rounds="validate"))


def test_a_changed_default_keeps_the_range():
    @dataclass
    class Ranged:
        name = "ranged"
        k: Annotated[int, Range(1)] = 20

    @dataclass
    class Other(Ranged):
        k: int = 5

    @dataclass
    class Narrower(Ranged):
        k: Annotated[int, Range(3)] = 5

    for wrong in (Other(k=0), Narrower(k=2)):
        with pytest.raises(UserError, match="k cannot be"):
            check(wrong)
    check(Other(k=1))
