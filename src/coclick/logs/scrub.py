"""Remove personal data from query texts: `scrub="pii"`.

Texts are normalised before (case-folded, full-width digits as ASCII). A rule is a pattern and a check, which
says how much of a match to remove: checksums separate card and account numbers from model numbers. A number
that may be a phone number or an id is removed: runs of nine or more digits, except ISBN-13.

Most queries match nothing, so a batch is searched once for texts that could. Only those go through the rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError

KINDS = ("url", "email", "iban", "card", "ssn", "national_id", "phone", "number")
SCRUBS = ("pii",)

_BATCH_TEXTS = 8192
_MIN_DIGITS = 7  # a Spanish NIE has fewest
_IS_MARK = np.isin(np.arange(256), list(b"@/="))  # without seven digits, an address or URL has one of these
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")  # of another script, such as Arabic
_DNI_LETTERS = "trwagmyfpdxbnjzsqvhlcke"


class _Rule(NamedTuple):
    kind: str
    pattern: re.Pattern[str]
    length: Callable[[str], int]  # how many characters of a match to remove, from its start


def check_scrub(scrub: str | None) -> None:
    """Raise if `scrub` is not a known set of rules."""
    if scrub is not None and scrub not in SCRUBS:
        raise UserError(
            f"there is nothing to scrub called {scrub!r}", hint="write --scrub pii, or leave it out"
        )


def scrub(text: str) -> str:
    """Return a normalised text without personal data; empty if no letter or digit is left beside it."""
    return scrub_batch([text])[0][0]


def scrub_batch(texts: Sequence[str]) -> tuple[list[str], NDArray[np.uint8]]:
    """Return normalised texts without personal data, and for each the kinds removed: bit i for KINDS[i]."""
    cleaned, removed = list(texts), np.zeros(len(texts), np.uint8)
    for first in range(0, len(cleaned), _BATCH_TEXTS):
        for i in _suspects(cleaned[first : first + _BATCH_TEXTS]):
            cleaned[first + i], removed[first + i] = _scrub(cleaned[first + i])
    return cleaned, removed


def count_kinds(rows_by_kinds: dict[int, int]) -> dict[str, int]:
    """Return the rows from which each kind was removed, given the rows of each set of kinds."""
    counts = (sum(n for kinds, n in rows_by_kinds.items() if kinds >> i & 1) for i in range(len(KINDS)))
    return {kind: count for kind, count in zip(KINDS, counts, strict=True) if count}


def _suspects(texts: Sequence[str]) -> list[int]:
    """Indices of the texts that a rule could match, found with a few operations on all bytes of a batch."""
    lines = "\n".join(texts)
    if lines.count("\n") >= len(texts):  # a text has a line feed itself: of a damaged graph
        lines = "\n".join([text.replace("\n", " ") for text in texts])
    data = np.frombuffer(lines.encode("utf-8", "surrogatepass"), np.uint8)
    ends = np.flatnonzero(data == ord("\n"))
    starts = np.concatenate([[0], ends + 1])
    digits = np.concatenate([[0], np.cumsum((data - ord("0")) < 10, dtype=np.int32)])
    suspect = digits[np.append(ends, len(data))] - digits[starts] >= _MIN_DIGITS
    marks = np.flatnonzero(_IS_MARK[data])
    suspect[np.searchsorted(starts, marks, "right") - 1] = True
    other_script = np.searchsorted(starts, np.flatnonzero(data >= 128), "right") - 1
    for i in np.unique(other_script).tolist():
        suspect[i] |= _OTHER_DIGIT.search(texts[i]) is not None
    return np.flatnonzero(suspect).tolist()


def _scrub(text: str) -> tuple[str, int]:
    """Apply all rules until nothing changes: what is left on both sides of a match may form another."""
    removed, before = 0, None
    while text != before:
        before = text
        for rule in _RULES:
            shorter = rule.pattern.sub(partial(_cut, rule), text)
            if shorter != text:
                removed |= 1 << KINDS.index(rule.kind)
                text = " ".join(shorter.split())
    if removed and not any(map(str.isalnum, text)):
        text = ""
    return text, removed


def _cut(rule: _Rule, match: re.Match[str]) -> str:
    length = rule.length(match[0])
    return " " + match[0][length:] if length else match[0]


# -- checks ---------------------------------------------------------------------------------------------


def _whole(text: str) -> int:
    return len(text)


def _if(valid: Callable[[str], bool]) -> Callable[[str], int]:
    """Remove a match whole if it is valid without its separators."""
    return lambda text: len(text) if valid(re.sub(r"[\s().+/-]", "", text)) else 0


def _digits(text: str) -> list[int]:
    return [int(character) for character in text if character.isdecimal()]


def _luhn(digits: str) -> bool:
    """The check digit of cards: every second digit from the right counts twice, as the sum of its digits."""
    values = _digits(digits)[::-1]
    return (sum(values[::2]) + sum(sum(divmod(2 * value, 10)) for value in values[1::2])) % 10 == 0


def _is_isbn(digits: str) -> bool:
    """ISBN-13: a product number of 13 digits in the range of books, with weights 1 and 3."""
    values = _digits(digits)
    return (
        len(values) == 13
        and values[:3] in ([9, 7, 8], [9, 7, 9])
        and (sum(values[::2]) + 3 * sum(values[1::2])) % 10 == 0
    )


def _is_card(digits: str) -> bool:
    return _luhn(digits) and not _is_isbn(digits)


def _iban_length(text: str) -> int:
    """ISO 13616: moved to the end, country and check digits give 1 modulo 97. Words may follow an IBAN."""
    for end in sorted({len(text), *(match.start() for match in re.finditer(" ", text))}, reverse=True):
        account = text[:end].replace(" ", "")
        if not (15 <= len(account) <= 34 and account.isascii()):
            continue
        if int("".join(str(int(c, 36)) for c in account[4:] + account[:4])) % 97 == 1:
            return end
    return 0


def _is_german_tax_id(digits: str) -> bool:
    """ISO 7064 MOD 11,10, over eleven digits."""
    product = 10
    values = _digits(digits)
    for value in values[:-1]:
        total = (value + product) % 10 or 10
        product = 2 * total % 11
    return (11 - product) % 10 == values[-1]


def _is_spanish_id(text: str) -> bool:
    """DNI: eight digits and the letter of their remainder by 23. NIE: x, y, z stand for 0, 1, 2 in front."""
    number = text[:-1].replace("x", "0").replace("y", "1").replace("z", "2")
    return _DNI_LETTERS[int(number) % 23] == text[-1]


def _is_french_id(text: str) -> bool:
    """NIR: 97 minus the remainder of thirteen digits by 97; Corsica's 2a and 2b count as 19 and 18."""
    number = text[:13].replace("2a", "19").replace("2b", "18")
    return 97 - int(number) % 97 == int(text[13:])


def _is_swedish_id(digits: str) -> bool:
    """Personnummer: a birth date (its day plus 60 for a coordination number), and Luhn."""
    month, day = int(digits[2:4]), int(digits[4:6])
    return 1 <= month <= 12 and 1 <= day % 60 <= 31 and _luhn(digits)


def _is_brazilian_id(digits: str) -> bool:
    """CPF: two check digits with descending weights, modulo 11."""
    values = _digits(digits)
    checks = [sum(v * w for v, w in zip(values, range(n + 1, 1, -1), strict=False)) for n in (9, 10)]
    return [10 * check % 11 % 10 for check in checks] == values[9:]


def _trunk_length(text: str) -> int:
    """A national number from 0, of 9 to 12 digits; more groups of digits may follow. Dates are none."""
    if re.match(r"\d{1,2}([./-])\d{1,2}\1\d{4}", text):
        return 0
    ends = [len(text), *(match.start() for match in re.finditer(r"[ ./-]+", text))]
    return max((end for end in ends if 9 <= len(_digits(text[:end])) <= 12), default=0)


def _secret_url_length(text: str) -> int:
    """A URL with a user, parameters, or a part of the path that looks like a token."""
    address, _, rest = text.partition("?")
    place, _, path = address.partition("://")[2].partition("/")
    secret = "@" in place or "=" in rest or "=" in address.partition("#")[2]
    return len(text) if secret or _TOKEN.search(path or address) else 0


_TOKEN = re.compile(
    r"(?<![^\W_])(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{20,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)


def _rule(kind: str, pattern: str, length: Callable[[str], int] = _whole) -> _Rule:
    return _Rule(kind, re.compile(pattern), length)


# Longer and surer kinds first. Quantifiers are possessive or bounded: time is linear in a text's length.
_RULES = (
    _rule("url", r"(?<![^\W_])(?:[a-z][a-z0-9+.-]{1,20}://|www\.)[^\s<>\"]++", _secret_url_length),
    _rule("url", r"(?<!\S)[^\s/?#@]{1,250}\.[a-z]{2,20}(?:/[^\s?#]*+)?\?[^\s=]*+=\S*+"),
    _rule(
        "email",
        r"<?(?:mailto:)?(?<![^\s@\"'<>(),;:])[^\s@\"'<>(),;:]++@(?:[\w-]++\.)+(?:xn--[\w-]++|[^\W\d_]{2,})>?",
    ),
    _rule(
        "iban",
        r"(?<![^\W_])[a-z]{2}\d{2}(?:[a-z0-9]{11,30}|(?: [a-z0-9]{4}){2,7}(?: [a-z0-9]{1,3})?)(?![^\W_])",
        _iban_length,
    ),
    _rule(
        "card",
        r"(?<!\d)(?:\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{1,3})?|\d{4}([ -])\d{6}\2\d{4,5}|\d{13,19})(?!\d)",
        _if(_is_card),
    ),
    _rule("national_id", r"(?<!\d)\d{2} \d{3} \d{3} \d{3}(?!\d)", _if(_is_german_tax_id)),
    _rule("national_id", r"(?<![^\W_])(?:[0-9]{8}|[xyz]-?[0-9]{7})-?[a-z](?![^\W_])", _if(_is_spanish_id)),
    _rule(
        "national_id", r"(?<!\d)[12] \d{2} \d{2} (?:\d{2}|2[ab]) \d{3} \d{3} \d{2}(?!\d)", _if(_is_french_id)
    ),
    _rule("national_id", r"(?<!\d)\d{6}[-+]\d{4}(?!\d)", _if(_is_swedish_id)),
    _rule("national_id", r"(?<!\d)\d{3}\.\d{3}\.\d{3}-\d{2}(?!\d)", _if(_is_brazilian_id)),
    _rule("ssn", r"(?<!\d)(?!000|666|9)\d{3}([ -])(?!00)\d{2}\1(?!0000)\d{4}(?!\d)"),
    _rule("phone", r"(?<![\w+])(?:\+ ?|00)[1-9](?:[ ()./-]{0,2}\d){7,14}(?!\d)"),
    _rule("phone", r"(?<!\d)(?:1[ .-])?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]?\d{4}(?!\d)"),
    _rule("phone", r"(?<![\w.,])\(?0[1-9]\d{0,4}\)?(?:[ ./-]{1,2}\d{2,9}){1,6}(?!\d)", _trunk_length),
    _rule("number", r"(?<!\d)\d{9,}(?!\d)", _if(lambda digits: not _is_isbn(digits))),
    _rule("number", r"(?<!\d)\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?!\d)"),
)
