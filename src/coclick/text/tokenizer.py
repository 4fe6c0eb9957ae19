"""Where one word ends and the next begins: rules that keep what shoppers and engineers type.

`cut` takes a piece of normalised text without white space and returns its words:

- Letters, marks and digits make words. Quotes, brackets, symbols and emoji fall away; ’ is read as ',
  typographic hyphens as -, the slash of a fraction (½) as /.
- An apostrophe inside a word stays: o'neill, levi's.
- A dot or slash between digits stays: 3.5mm, m12x1.5, 1/2. Single letters are joined: u.s.a. is usa, and
  a/c stays a/c. A dot stays before a programming ending (node.js) and at the start of .net and .22; any
  other dot separates, so that "good.At" and yahoo.com fall into two words.
- An ampersand stays between parts of at most two letters: at&t, h&m, but black&decker is two words.
- A hyphenated compound stays whole unless two or more of its parts are ordinary: words of two or more
  letters without a digit, or a plain number in front. So usb-c, t-shirt, rtx-3080, a4-paper and 555-1234
  stay; new-york, state-of-the-art, tv-stand, pop-up, 12-pack and 2-in-1 are cut, and then match the same
  words typed with spaces. Compounds of nothing but one or two letters stay as well: wi-fi, co-op.
- ++ stays behind a letter (c++) and # behind a single letter (c#).
- Commas between thousands are dropped: 10,000 is 10000.
- An address loses its scheme and "www."; the rest is cut like any text: https://www.yahoo.com/finance is
  yahoo, com, finance.
- Runs of Han, Kana and Hangul become overlapping pairs of characters; a lone character is a word.
- A word longer than 100 characters is cut off there.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST = 100  # characters of a word that are kept

_ADDRESS = re.compile(r"(?:https?|ftp)://(?:www\.)?|(?<![^\W_])www\.(?=\w)")
_THOUSANDS = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])")
_PUNCTUATION = re.compile(r"(\+\+|[!-/:-@\[-`{-~])")
_PROGRAMMING_ENDINGS = frozenset({"js", "py", "ts", "io"})
_CJK = re.compile(
    "(["
    "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u3005-\u3007\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u312f\u31f0-\u31ff"  # Kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af\U0001b000-\U0001b16f"  # Han, old Kana
    "]+)"
)


class _Shapes(dict[int, int | str | None]):
    """For `str.translate`: every character that cannot be part of a word becomes a space."""

    def __missing__(self, code: int) -> int | str | None:
        kind = unicodedata.category(chr(code))
        if code < 128 or kind[0] in "LN" or kind in ("Mn", "Mc"):
            shape: int | str | None = code
        elif kind == "Me":  # the frame around a keycap digit
            shape = None
        else:
            shape = " "
        self[code] = shape
        return shape


_SHAPES = _Shapes({ord(quote): "'" for quote in "‘’ʼ"})
_SHAPES.update({ord(hyphen): "-" for hyphen in "‐‑‒–−"})
_SHAPES.update({ord(slash): "/" for slash in "⁄∕"})


def plain_shapes(text: str) -> str:
    """Text whose only characters besides those of words are ASCII punctuation and white space."""
    return text if text.isascii() else text.translate(_SHAPES)


def cut(piece: str) -> list[str]:
    """The words of one piece of normalised text without white space, by the rules above."""
    if piece.isascii():
        if piece.isalnum():
            return [piece[:LONGEST]]
        return [word[:LONGEST] for word in _cut_run(piece)]
    words: list[str] = []
    for run in plain_shapes(piece).split():
        # Splitting by a pattern with a group puts the runs of CJK at the odd places.
        for place, part in enumerate(_CJK.split(run)):
            words += _pairs(part) if place % 2 else _cut_run(part)
    return [whole[:LONGEST] for word in words if (whole := _without_leading_marks(word))]


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _without_leading_marks(word: str) -> str:
    while word and unicodedata.category(word[0])[0] == "M":
        word = word[1:]
    return word


def _cut_run(run: str) -> list[str]:
    """Join the parts between punctuation as long as the rules say that it belongs to the word."""
    if "/" in run or "." in run:
        run = _ADDRESS.sub(" ", run)
    if "," in run:
        run = _THOUSANDS.sub(lambda number: number[0].replace(",", ""), run)
    words: list[str] = []
    for text in run.split():
        parts = _PUNCTUATION.split(text)
        word, left, before = parts[0], parts[0], ""
        for mark, right in zip(parts[1::2], parts[2::2], strict=True):
            joint = _joint(before, left, mark, right)
            if joint is None:
                words += _cut_compound(word)
                word = right
            else:
                word += joint + right
            left, before = right, mark
        words += _cut_compound(word)
    return words


def _joint(before: str, left: str, mark: str, right: str) -> str | None:
    """What stands between `left` and `right` if `mark` keeps them together, None if it separates them.

    `before` is the punctuation in front of `left`.
    """
    holds = False
    if mark == "++":
        holds = left.isalpha()
    elif mark == "#":
        holds = len(left) == 1 and left.isalpha() and not right
    elif mark == "." and not left:
        holds = before not in (".", "#", "++") and (right[:1].isdecimal() or right == "net")
    elif not left or not right:
        holds = False
    elif mark in "-'":
        holds = True
    elif mark == "&":
        holds = len(left) <= 2 and len(right) <= 2 and (left + right).isalpha()
    elif mark in "./":
        if len(left) == len(right) == 1 and (left + right).isalpha():
            return "" if mark == "." else "/"
        digits = left[-1].isdecimal() and right[0].isdecimal()
        holds = digits or (mark == "." and right in _PROGRAMMING_ENDINGS)
    return mark if holds else None


def _cut_compound(word: str) -> list[str]:
    if "-" not in word:
        return [word] if word else []
    parts = word.split("-")
    ordinary = [_is_ordinary(part, first=place == 0) for place, part in enumerate(parts)]
    if sum(ordinary) < 2 or all(len(part) <= 2 and part.isalpha() for part in parts):
        return [word]
    return parts


def _is_ordinary(part: str, first: bool) -> bool:
    if any(map(str.isdecimal, part)):
        return first and part.isdecimal()
    return len(part) >= 2
