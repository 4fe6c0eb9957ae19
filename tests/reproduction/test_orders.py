"""Orders and verdicts on hand-made values; docs/reproduction.md has the papers' orders."""

import itertools

import numpy as np
import pytest

from reproduce.orders import Order, Verdict, chance, judge


def test_names_groups_and_relations():
    order = Order.parse("{rmls, pls} > {svdfeature, rw+bm25} ≥ bm25 ≈ vpcg&vg_query")
    assert order.groups == (("rmls", "pls"), ("svdfeature", "rw+bm25"), ("bm25",), ("vpcg&vg_query",))
    assert order.relations == (">", "≥", "≈")
    assert order.names == ["rmls", "pls", "svdfeature", "rw+bm25", "bm25", "vpcg&vg_query"]


@pytest.mark.parametrize("text", ["a > b", "{a, b} > c ≈ d", "a ≥ {b, c}"])
def test_parse_and_format_round_trip(text):
    assert str(Order.parse(text)) == text


@pytest.mark.parametrize(
    "text", ["", "a", "a >", "> a", "a > > b", "{a, b > c", "a, > b", "a > a", "a b > c"]
)
def test_invalid_orders(text):
    with pytest.raises(ValueError):
        Order.parse(text)


def test_pairs_are_those_of_neighbouring_groups():
    pairs = [*Order.parse("{a, b} > {c, d} ≈ e").pairs()]
    assert pairs == [
        ("a", ">", "c"), ("a", ">", "d"), ("b", ">", "c"), ("b", ">", "d"), ("c", "≈", "e"), ("d", "≈", "e"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "kept", "expected"),
    [
        ("a > b > c", "ac", "a > c"),
        ("a ≥ b > c", "ac", "a > c"),
        ("a ≈ b ≥ c", "ac", "a ≥ c"),
        ("a ≈ b ≈ c", "ac", "a ≈ c"),
        ("{a, b} > {c, d} ≈ e", "bde", "b > d ≈ e"),
        ("a > b ≈ c", "bc", "b ≈ c"),
        ("a > b ≈ c", "ab", "a > b"),
    ],
)
def test_order_restricted_to_some_systems(text, kept, expected):
    assert str(Order.parse(text).restricted_to(set(kept))) == expected


def test_one_system_alone_has_no_relation():
    assert Order.parse("a > b").restricted_to({"b"}).relations == ()


def test_means_differences_and_p_values():
    """Differences 0.2, 0.1, 0.3: mean 0.2, deviation 0.1, t = 0.2 / (0.1 / √3) = 3.4641 with 2 degrees of
    freedom, for which p = 1 − t / √(2 + t²) = 0.0742."""
    values = {"a": np.array([0.5, 0.6, 0.9]), "b": np.array([0.3, 0.5, 0.6])}
    [verdict] = judge(Order.parse("a > b"), values)
    assert verdict.difference == pytest.approx(0.2)
    assert verdict.p == pytest.approx(0.0742, abs=1e-4)
    assert verdict.holds and not verdict.significant


def test_reversed_relation():
    values = {"a": np.full(30, 0.2), "b": np.linspace(0.4, 0.5, 30)}
    [verdict] = judge(Order.parse("a > b"), values)
    assert not verdict.holds
    assert verdict.significant
    assert verdict.difference == pytest.approx(-0.25)


@pytest.mark.parametrize(
    ("relation", "difference", "p", "holds"),
    [
        (">", 0.001, 0.9, True),
        (">", 0.0, 1.0, False),
        (">", -0.1, 0.9, False),
        ("≥", 0.0, 1.0, True),
        ("≥", -0.001, 0.9, False),
        ("≈", 0.2, 0.06, True),  # not significant
        ("≈", -0.2, 0.04, False),
        ("≈", 0.009, 0.0001, True),  # significant, but negligible
        ("≈", 0.2, None, False),
        ("≈", 0.009, None, True),
    ],
)
def test_when_a_relation_holds(relation, difference, p, holds):
    assert Verdict("a", relation, "b", difference, p).holds is holds


def test_single_values_are_compared_without_a_test():
    [verdict] = judge(Order.parse("a > b"), {"a": np.array([0.6]), "b": np.array([0.5])})
    assert verdict.holds and verdict.p is None and not verdict.significant


def test_sign_test():
    """Nine of ten queries won: 2 · (1 + 10) / 2^10 = 0.0215; the tie does not count."""
    values = {"a": np.array([1.0] * 9 + [0.0, 0.5]), "b": np.array([0.0] * 9 + [1.0, 0.5])}
    [verdict] = judge(Order.parse("a > b"), values, "sign", 0.01)
    assert verdict.p == pytest.approx(22 / 1024)
    assert verdict.holds and not verdict.significant
    assert judge(Order.parse("a > b"), values, "sign", 0.05)[0].significant


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a > b", 1 / 2),
        ("a > b > c", 1 / 6),
        ("{a, b} > c", 1 / 3),  # c is the last of three
        ("{a, b} > {c, d}", 4 / 24),
        ("a ≈ b", 1),
        ("a ≈ b > c", 1 / 2),  # a may be anywhere
        ("a ≥ b", 1 / 2),
    ],
)
def test_chance_of_a_random_order(text, expected):
    assert chance(Order.parse(text)) == pytest.approx(expected)


def test_chance_is_the_share_of_permutations():
    order = Order.parse("{a, b} > c > {d, e} ≈ f")
    found = 0
    for ranking in itertools.permutations("abcdef"):
        place = {name: i for i, name in enumerate(ranking)}
        found += all(place[a] < place[b] for a, relation, b in order.pairs() if relation == ">")
    assert chance(order) == pytest.approx(found / 720)
