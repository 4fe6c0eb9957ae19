"""How two spellings relate: a typing error, another spacing, an abbreviation, another number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_LONG = 8  # letters of a word that may have two typing errors
_MIN_LENGTH = 4  # letters of a word that may have one


def is_respelling(left: str, right: str) -> bool:
    """Whether two texts differ by typing errors or by spaces and hyphens only."""
    short, long = _letters(left), _letters(right)
    if short == long:
        return True
    if (
        " " in left
        or " " in right
        or min(len(short), len(long)) < _MIN_LENGTH
        or _digits(left) != _digits(right)
    ):
        return False
    allowed = 2 if min(len(short), len(long)) >= _LONG else 1
    return edit_distance(short, long, allowed) <= allowed


def is_other_number(left: str, right: str) -> bool:
    """Whether two texts differ by their digits only: "2k" and "2k12"."""
    letters = ["".join(filter(str.isalpha, text)) for text in (left, right)]
    return letters[0] == letters[1] and _digits(left) != _digits(right)


def is_abbreviation(short: str, words: Sequence[str]) -> bool:
    """Whether `short` has the first letters of the words, and their numbers: "mw3", "modern warfare 3"."""
    if len(short) < 2:
        return False
    return short == "".join(word if word.isdigit() else word[0] for word in words)


def deletions(word: str) -> Iterator[str]:
    """Yield the word and all forms with one letter less: words one error apart have a form in common."""
    yield word
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]


def edit_distance(one: str, two: str, most: int) -> int:
    """Return the number of typing errors (insert, delete, replace, swap neighbours); `most` + 1 if more."""
    if abs(len(one) - len(two)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(two) + 1))
    for i, letter in enumerate(one, 1):
        earlier, before, row = before, row, [i]
        for j, other in enumerate(two, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == two[j - 2] and one[i - 2] == other:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))
