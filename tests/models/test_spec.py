"""Model specifications: parsing, validation, formatting."""

from dataclasses import dataclass
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coclick.errors import UserError
from coclick.models.spec import (
    Range,
    as_text,
    check,
    convert,
    format_spec,
    format_sum,
    is_sum,
    parse,
    parse_sum,
    pieces,
)


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
        ("example(stem=False,k=3)", Example(stem=False, k=3)),
        ("example(stem=TRUE)", Example(stem=True)),
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


@pytest.mark.parametrize(
    ("text", "separator", "expected"),
    [
        ("a+b", "+", ["a", "b"]),
        ("a(b+c)+d", "+", ["a(b+c)", "d"]),
        ("a((b+c)+d)", "+", ["a((b+c)+d)"]),
        ("", "+", [""]),
        ("+a", "+", ["", "a"]),
        ("a)+(b", "+", ["a)+(b"]),
    ],
)
def test_pieces(text, separator, expected):
    assert pieces(text, separator) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bm25", False),
        ("0.5*bm25", True),
        ("a + b", True),
        ("backoff(a + b)", False),
        ("backoff(2*a)", False),
    ],
)
def test_what_is_a_sum(text, expected):
    assert is_sum(text) is expected


def test_sums():
    terms = parse_sum("0.8*rw(s=1) + bm25 + 2*mix(0.5*a + b)")
    assert terms == [(0.8, "rw(s=1)"), (1.0, "bm25"), (2.0, "mix(0.5*a + b)")]
    assert format_sum(terms) == "0.8*rw(s=1) + bm25 + 2*mix(0.5*a + b)"
    for wrong in ("0*a", "-1*a", "inf*a", "nan*a", "x*a", "2*3*a", "a + ", "2*", "*a"):
        with pytest.raises(UserError, match="cannot read the summand"):
            parse_sum(wrong)


def test_ranges_include_both_ends_but_not_infinity():
    limits = Range(1, 3)
    assert [value in limits for value in (0.9, 1, 2, 3, 3.1)] == [False, True, True, True, False]
    assert 10**9 in Range(0) and float("inf") not in Range(0) and float("nan") not in Range(0)
    assert (str(Range(1)), str(Range(0, 1))) == ("at least 1", "from 0 to 1")


def test_values_as_text():
    values = [True, False, 0.5, 1.0, 0.1 + 0.2, 1e-9, 3, "all"]
    assert [as_text(value) for value in values] == [
        *("true", "false", "0.5", "1", "0.30000000000000004", "1e-09", "3", "all")
    ]
    assert as_text(12345678.0) == "12345678.0"


@dataclass
class Limited:
    name = "limited"
    k: Annotated[int, Range(1)] = 20
    share: Annotated[float, Range(0, 1)] = 0.5
    rounds: Annotated[int | Literal["converge", "validate"], Range(1)] = 1
    stem: bool = True
    fields: str = "all"
    start: Literal["query", "doc"] = "query"
    parts: str = ""


WHOLE = "from 1 to 2147483647"


@pytest.mark.parametrize(
    ("given", "what", "hint"),
    [
        ({"k": "x"}, "k cannot be 'x'", f"use a whole number {WHOLE}"),
        ({"share": "x"}, "share cannot be 'x'", "use a number from 0 to 1"),
        (
            {"rounds": "x"},
            "rounds cannot be 'x'",
            f"use a whole number {WHOLE}, converge or validate",
        ),
        ({"stem": "x"}, "stem cannot be 'x'", "use true or false"),
        ({"start": "x"}, "start cannot be 'x'", "use query or doc"),
        ({"nearest": "5"}, "no parameter 'nearest'", "the parameters are k, share, rounds"),
        ({"shar": "5"}, r"no parameter 'shar' \(did you mean 'share'\?\)", "the parameters are k, share"),
    ],
)
def test_what_a_parameter_may_be(given, what, hint):
    with pytest.raises(UserError, match=what) as error:
        convert(Limited, given, "limited")
    assert str(error.value.hint).startswith(hint)


def test_a_parameter_without_a_name_is_the_sum():
    assert convert(Limited, {"parts": "a + b"}, "")["parts"] == "a + b"
    assert parse("limited(a + b)") == ("limited", {"parts": "a + b"})
    assert parse("limited( k = 1 , , share=a=b)") == ("limited", {"k": "1", "share": "a=b"})
    for wrong in ("limited(=1)", "limited(k=)", "limited(k= )"):
        with pytest.raises(UserError, match="cannot read the parameter"):
            parse(wrong)
    with pytest.raises(UserError, match="cannot read the parameter 'a'"):
        convert(Example, {"parts": "a"}, "example")


def test_former_names():
    @dataclass
    class Renamed:
        name = "renamed"
        n_neighbours: int = 3
        query_threshold: float = 0.0
        doc_threshold: float = 0.0

    with pytest.raises(UserError, match="'nearest' is now called 'n_neighbours'"):
        convert(Renamed, {"nearest": "5"}, "")
    with pytest.raises(UserError, match="'beta' is now called 'query_threshold' and 'doc_threshold'"):
        convert(Renamed, {"beta": "5"}, "")


def test_ranges_of_values_from_python():
    for wrong in (
        {"k": 0},
        {"share": 1.5},
        {"share": float("nan")},
        {"rounds": 0},
        {"k": True},
        {"stem": 1.0},
    ):
        with pytest.raises(UserError, match=f"{next(iter(wrong))} cannot be") as error:
            check(Limited(**wrong))
        assert str(error.value.hint).startswith("use ")
    check(Limited(k=1, share=1.0, rounds="converge"))
    check(Limited(share=1))
