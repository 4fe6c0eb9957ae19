"""The guess of the main language, on small shops that were made by hand and on texts that tell nothing."""

from __future__ import annotations

import random

import pytest

from coclick.text.guess_language import guess_language
from coclick.text.language_words import ENDINGS, LETTERS, WORDS
from coclick.text.languages import find_language
from coclick.text.normalise import normalise
from coclick.text.tokenizer import split_words
from text.shops import SHOPS

BRANDS = [
    "iPhone 13 Pro Max 256GB",
    "Sony WH-1000XM4",
    "PlayStation 5",
    "Galaxy S21",
    "RTX 3080",
    "Nike Dunk",
]


@pytest.mark.parametrize("code", SHOPS)
def test_language_of_a_shop(code: str) -> None:
    shop = SHOPS[code]
    guess = guess_language(shop.titles, shop.queries)
    assert guess.code == code
    assert guess.share >= 0.7
    assert guess_language(shop.titles).code == code
    assert guess_language(shop.titles + BRANDS, shop.queries + BRANDS).code == code


@pytest.mark.parametrize("code", SHOPS)
def test_few_texts_are_enough(code: str) -> None:
    shop, right = SHOPS[code], 0
    for seed in range(20):
        rng = random.Random(seed)
        titles = rng.sample(shop.titles, min(6, len(shop.titles)))
        right += guess_language(titles, rng.sample(shop.queries, min(3, len(shop.queries)))).code == code
    assert right >= 19


def test_unsure() -> None:
    assert guess_language([], []) == (None, 0.0)
    assert guess_language(BRANDS, ["rtx 3080", "ps5", ""]).code is None
    assert guess_language(["Damen Jacke", "Herren Schuhe"], []).code is None  # too few
    half = [*SHOPS["de"].titles[:10], *SHOPS["fr"].titles[:10]]
    assert guess_language(half, []).code is None


def test_the_larger_part_of_a_shop_in_two_languages() -> None:
    titles = [*SHOPS["de"].titles, *SHOPS["fr"].titles[:4]]
    guess = guess_language(titles, SHOPS["de"].queries)
    assert guess.code == "de"
    assert 0.7 < guess.share < 1


def test_titles_and_queries_count_alike() -> None:
    """1,200 French titles do not outvote 640 German queries."""
    many, few = SHOPS["fr"].titles * 100, SHOPS["de"].queries * 80
    assert guess_language(many, few).code is None
    assert guess_language(many, SHOPS["fr"].queries).code == "fr"


def test_han_alone_is_chinese_unless_there_is_kana() -> None:
    han = ["冷蔵庫", "電動自転車", "掃除機", "洗濯機"]
    assert guess_language(han, []).code == "zh"
    assert guess_language([*han, "ワイヤレスイヤホン"], []).code == "ja"


def test_a_greek_letter_does_not_make_a_text_greek() -> None:
    assert (
        guess_language(["the effect of β-carotene", "omega ω-3 and the heart", "what is α-tocopherol"]).code
        == "en"
    )


def test_words_are_written_as_they_are_compared() -> None:
    for code, words in WORDS.items():
        assert find_language(code).code == code
        for word in words:
            assert split_words(normalise(word)) == [word]
    for code in ENDINGS:
        assert find_language(code).code == code
    for letter, codes in LETTERS.items():
        assert normalise(letter) == letter
        assert all(find_language(code).code == code for code in codes.split())
