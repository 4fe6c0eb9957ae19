"""Personal data in queries: what `scrub="pii"` removes, and what it must leave."""

import re
import time
from itertools import chain

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coclick.errors import UserError
from coclick.logs.scrub import KINDS, check_scrub, count_kinds, scrub, scrub_batch
from coclick.text.normalise import normalise

# Card, account and id numbers are the published examples of their issuers and standards.
REMOVED = {
    "email": [
        "john.doe@example.com",
        "mailto:John.Doe+shop@mail.example.co.uk",
        "<ann@example.org>",
        "ann@müller.de",
        "josé@example.com",
    ],
    "url": [
        "https://shop.example/reset?token=abc",
        "www.shop.example/?session=abc",
        "shop.example/account?id=ann",
        "https://ann:secret@shop.example/",
        "https://shop.example/#access_token=abc",
        "https://shop.example/i/3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "https://shop.example/share/a8f5f167f44f4964e6c998dee827110c",
    ],
    "card": [
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "4111111111111111",
        "5555555555554444",
        "3782 822463 10005",
        "378282246310005",
        "４１１１ １１１１ １１１１ １１１１",
    ],
    "iban": [
        "DE89 3704 0044 0532 0130 00",
        "de89370400440532013000",
        "GB29 NWBK 6016 1331 9268 19",
        "FR14 2004 1010 0505 0001 3M02 606",
        "NO9386011117947",
    ],
    "ssn": ["078-05-1120", "078 05 1120", "219-09-9999"],
    "national_id": [
        "86 095 742 719",
        "12345678Z",
        "12345678-z",
        "X1234567L",
        "2 55 08 14 168 025 38",
        "811228-9874",
        "111.444.777-35",
    ],
    "phone": [
        "+49 170 1234567",
        "+1 (415) 555-2671",
        "+44 (0)20 7946 0958",
        "0049 30 1234567",
        "415-555-2671",
        "(415) 555-2671",
        "1-800-555-0199",
        "415.555.2671",
        "030/1234567",
        "(030) 1234567",
        "06 12 34 56 78",
        "020 7946 0958",
    ],
    "number": ["123456789", "2065550100", "١٢٣٤٥٦٧٨٩٠", "1234 5678 9012 3456", "4006381333931"],
}
KEPT = [
    "iphone 14 128gb",
    "wd40 12345678",
    "9780306406157",  # ISBN-13
    "978-0-306-40615-7",
    "isbn 9783161484100",
    "12345678a",  # no letter of a DNI
    "000-12-3456",  # no social security numbers
    "666-12-3456",
    "iphone 14 128 256 512",
    "galaxy s21+ 128gb",
    "rtx 4090 24gb gddr6x",
    "sm-g998b/ds",
    "michelin 205/55 r16 91v",
    "screw m8x1.25 50",
    "lego 10294",
    "hp 305 3ym61ae",
    "c++ 17",
    "world cup 2022 2026",
    "2026-05-01",
    "01.02.2026 1000",
    "24.12.2026 18:00",
    "10,000 steps",
    "1/2 inch 3/4 inch",
    "http://www.facebook.com",
    "https://shop.example/p/iphone-14-pro-max-256gb",
    "what is 2+2=4?",
    "@nasa",
    "meet @ 5",
    "de10 drill 2000 w",
    "123-4567",
    "pi 3.14159265",
    "",
]


def kinds_of(text):
    _, [kinds] = scrub_batch([normalise(text)])
    return [kind for i, kind in enumerate(KINDS) if int(kinds) >> i & 1]


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in REMOVED.items() for text in texts]
)
def test_removes(kind, text):
    assert kinds_of(text) == [kind]
    assert scrub(normalise(text)) == ""
    assert scrub(normalise(f"red shoes {text} size 42")) == "red shoes size 42"


@pytest.mark.parametrize("text", KEPT)
def test_keeps(text):
    assert scrub(text) == text
    assert kinds_of(text) == []


def test_a_wrong_check_digit_is_no_card_account_or_id():
    for text in ("86 195 742 718", "811228-9875", "111.444.777-36", "2 55 08 14 168 025 39", "x1234567m"):
        assert "national_id" not in kinds_of(text)
    assert kinds_of("4111111111111112") == ["number"]
    assert "iban" not in kinds_of("de88 3704 0044 0532 0130 00")


def test_words_beside_stay():
    assert scrub("es91 2100 0418 4502 0005 1332 bank") == "bank"
    assert scrub("030 1234567 10115 berlin") == "10115 berlin"
    assert scrub("ann@a.example, bob@b.example") == ""
    assert kinds_of("ann@a.example 4111111111111111") == ["email", "card"]


def test_a_batch_is_the_same_as_one_by_one(monkeypatch):
    texts = [normalise(text) for text in [*KEPT, *chain(*REMOVED.values())]]
    monkeypatch.setattr("coclick.logs.scrub._BATCH_TEXTS", 7)
    assert scrub_batch(texts)[0] == [scrub(text) for text in texts]


def test_texts_with_line_feeds_stay_apart():
    """Normalised texts have none, those of a damaged graph may: rules must be applied to the right text."""
    texts = ["a\nb\n", "é\n٣", "ann@a.example", "red\nshoes"]
    assert scrub_batch(texts)[0] == ["a\nb\n", "é\n٣", "", "red\nshoes"]


def test_counts_rows_by_kind():
    both = 1 << KINDS.index("email") | 1 << KINDS.index("phone")
    assert count_kinds({both: 3, 1 << KINDS.index("phone"): 4}) == {"email": 3, "phone": 7}


def test_time_is_linear_in_the_length_of_a_text():
    started = time.process_time()
    for text in ("a", "1 ", "a.", "a@", "0", "-1", "www.", "0 ("):
        scrub(text * 50_000)
    assert time.process_time() - started < 5


def test_unknown_rules_are_refused():
    check_scrub(None)
    check_scrub("pii")
    with pytest.raises(UserError, match="'names'"):
        check_scrub("names")


DIGITS = st.text("0123456789", min_size=1, max_size=20)
PIECES = st.sampled_from(
    ["@", ".", " ", "-", "+", "(", ")", "/", "://", "www.", "?", "=", "x", "ab", "de", "é", "٣", "\u0301"]
)
TEXTS = st.lists(DIGITS | PIECES | st.text(max_size=3), max_size=12).map("".join) | st.text()


@given(TEXTS)
@example("1@a.aa2@a.aa3")
@example("4111 a@b.cd 1111 1111 1111")
def test_scrubbing_twice_changes_nothing_more(text):
    once = scrub(normalise(text))
    assert scrub(once) == once
    assert normalise(once) == once


def naive_luhn(digits):
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value if value < 10 else value - 9
    return total % 10 == 0


def naive_isbn(digits):
    weighted = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits))
    return len(digits) == 13 and digits[:3] in ("978", "979") and weighted % 10 == 0


@given(st.lists(DIGITS | st.sampled_from([" ", "shoe", "-", "x"]), max_size=8).map("".join))
@example("4111111111111111")
@example("shoe9780306406157x123456789")
def test_no_long_run_of_digits_is_left_but_isbns(text):
    for run in re.findall(r"\d{9,}", scrub(normalise(text))):
        assert naive_isbn(run)


@given(st.lists(st.integers(0, 9), min_size=15, max_size=15), st.sampled_from(["", " ", "-"]))
def test_no_card_number_is_left(values, separator):
    digits = next(
        "".join(map(str, [*values, check]))
        for check in range(10)
        if naive_luhn("".join(map(str, [*values, check])))
    )
    written = separator.join(digits[i : i + 4] for i in range(0, 16, 4))
    assert scrub(f"shoe {written} red") == "shoe red"
