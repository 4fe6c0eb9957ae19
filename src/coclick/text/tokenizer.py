"""Split normalised text into words, by rules that keep product codes and technical names whole.

`split_words` takes a token (normalised text without white space) and returns its words:

- Letters, marks and digits make words. Quotes, brackets, symbols and emoji are dropped; ’ is read as ',
  typographic hyphens as -, the slash of a fraction (½) as /.
- An apostrophe inside a word stays: o'neill, levi's.
- A dot or slash between digits stays: 3.5mm, m12x1.5, 1/2. Single letters are joined: u.s.a. is usa, and
  a/c stays a/c. A dot stays before a programming ending (node.js) and at the start of .net and .22; any
  other dot separates, so "good.At" and yahoo.com are two words each.
- An ampersand stays between parts of at most two letters: at&t, h&m, but black&decker is two words.
- A hyphenated compound stays whole unless two or more of its parts are ordinary: words of two or more
  letters without a digit, or a plain number in front. So usb-c, t-shirt, rtx-3080, a4-paper and 555-1234
  stay; new-york, state-of-the-art, tv-stand, pop-up, 12-pack and 2-in-1 are split, and match the same
  words typed with spaces. Compounds of parts of one or two letters stay as well: wi-fi, co-op.
- ++ stays after a letter (c++) and # after a single letter (c#).
- Commas between thousands are dropped: 10,000 is 10000.
- A URL loses its scheme and "www."; the rest is split like any text: https://www.yahoo.com/finance is
  yahoo, com, finance.
- Runs of Han, Kana and Hangul become overlapping pairs of characters; a lone character is a word. With
  `unspaced`, runs of Thai, Lao, Khmer and Burmese do too; there a character is a letter with its marks.
- Words are truncated to 100 characters.

`add_pieces` puts the pieces of a compound word behind it, each once, from left to right, so that it matches
both whole and split:

- Pieces are numbers (with their decimals) and runs of letters: 8ft is 8, ft; 23.5-in is 23.5, in; 2x4 is
  2, x, 4; 1/2 is 1, 2; t-fitting is t, fitting; ps3 is ps, 3.
- Apostrophes, ++ and # belong to the letters before them: o'neill and c# have no pieces, c++11 is c++, 11.
- A word of more than 6 pieces is an identifier and stays alone.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from operator import add

MAX_WORD_LENGTH = 100
MAX_PIECES = 6  # a sheet of 2x4x8ft has as many

_URL_PREFIX = re.compile(r"(?:https?|ftp)://(?:www\.)?|(?<![^\W_])www\.(?=\w)")
_THOUSANDS = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])")
_PUNCTUATION = re.compile(r"(\+\+|[!-/:-@\[-`{-~])")
_LETTERS = r"[^\d!-/:-@\[-`{-~]+"  # all other characters of words are letters and their marks
_PIECE = re.compile(rf"\d+(?:\.\d+)*|{_LETTERS}(?:'{_LETTERS})*(?:\+\+|#)?")
_PROGRAMMING_ENDINGS = frozenset({"js", "py", "ts", "io"})
_CJK_RANGES = (
    "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u3005-\u3007\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u312f\u31f0-\u31ff"  # Kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af\U0001b000-\U0001b16f"  # Han, old Kana
)
_KANA_MARK = re.compile("[\u3099\u309a]")
# Thai, Lao, Burmese, Khmer: letters and marks, without digits and punctuation.
_SOUTH_EAST_ASIAN = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u109d\u1780-\u17d3\u17dc"
)
_SOUTH_EAST_ASIAN_LETTER = re.compile(f"[{_SOUTH_EAST_ASIAN}]")
_MARKS = "".join(
    character
    for first, last in ((0xE00, 0xEFF), (0x1000, 0x109F), (0x1780, 0x17FF))
    for character in map(chr, range(first, last + 1))
    if unicodedata.category(character)[0] == "M"
)
_LETTERS_WITH_MARKS = re.compile(f"[^{_MARKS}][{_MARKS}]*")
_CJK = re.compile(f"([{_CJK_RANGES}]+)")
_UNSPACED = re.compile(f"([{_CJK_RANGES}]+|[{_SOUTH_EAST_ASIAN}]+)")


class _PlainCharacters(dict[int, int | str | None]):
    """A table for `str.translate`: every character that cannot be part of a word becomes a space."""

    def __missing__(self, code: int) -> int | str | None:
        category = unicodedata.category(chr(code))
        if code < 128 or category[0] in "LN" or category in ("Mn", "Mc"):
            plain: int | str | None = code
        elif category == "Me":  # the frame around a keycap digit
            plain = None
        else:
            plain = " "
        self[code] = plain
        return plain


_PLAIN = _PlainCharacters({ord(quote): "'" for quote in "‘’ʼ"})
_PLAIN.update({ord(hyphen): "-" for hyphen in "‐‑‒–−"})
_PLAIN.update({ord(slash): "/" for slash in "⁄∕"})


def simplify_punctuation(text: str) -> str:
    """Replace typographic punctuation by ASCII, and all other symbols by spaces."""
    # Letters and digits stay as they are, except the one letter that is read as an apostrophe.
    if text.isascii() or (text.isalnum() and "ʼ" not in text):
        return text
    return text.translate(_PLAIN)


def split_words(token: str, *, unspaced: bool = False) -> list[str]:
    """Return the words of a token (normalised text without white space), by the rules above.

    `unspaced`: whether the text is of a language that is written without spaces.
    """
    if token.isascii():
        if token.isalnum():
            return [token[:MAX_WORD_LENGTH]]
        return [word[:MAX_WORD_LENGTH] for word in _split_run(token)]
    words: list[str] = []
    pattern = _UNSPACED if unspaced else _CJK
    for run in simplify_punctuation(token).split():
        # Splitting by a pattern with a group puts the runs without spaces at the odd positions.
        for position, part in enumerate(pattern.split(run)):
            words += _bigrams(part) if position % 2 else _clean(_split_run(part))
    return words


def add_pieces(words: list[str]) -> list[str]:
    """Return the words, each followed by its pieces if it has several, by the rules above."""
    if all(map(str.isalpha, words)):
        return words
    return [piece for word in words for piece in ([word] if word.isalpha() else _with_pieces(word))]


def _with_pieces(word: str) -> list[str]:
    pieces = _PIECE.findall(word) if word.isascii() else _clean(_PIECE.findall(word))
    return list(dict.fromkeys([word, *pieces])) if len(pieces) <= MAX_PIECES else [word]


def _bigrams(run: str) -> list[str]:
    """The overlapping pairs of characters of a run; a lone character is a word."""
    if _SOUTH_EAST_ASIAN_LETTER.match(run):
        letters = _LETTERS_WITH_MARKS.findall(run)
        pairs = [(first + second)[:MAX_WORD_LENGTH] for first, second in pairwise(letters)]
        return pairs or [letter[:MAX_WORD_LENGTH] for letter in letters]
    pairs = list(map(add, run, run[1:])) or [run]
    return _clean(pairs) if _KANA_MARK.search(run) else pairs


def _clean(words: list[str]) -> list[str]:
    """The words without leading marks, truncated; words of marks alone are dropped."""
    return [whole[:MAX_WORD_LENGTH] for word in words if (whole := _without_leading_marks(word))]


def _without_leading_marks(word: str) -> str:
    while word and unicodedata.category(word[0])[0] == "M":
        word = word[1:]
    return word


def _split_run(run: str) -> list[str]:
    """Split at punctuation, except where the rules keep it inside a word."""
    if "/" in run or "." in run:
        run = _URL_PREFIX.sub(" ", run)
    if "," in run:
        run = _THOUSANDS.sub(lambda number: number[0].replace(",", ""), run)
    words: list[str] = []
    for text in run.split():
        parts = _PUNCTUATION.split(text)
        word, left, before = parts[0], parts[0], ""
        for mark, right in zip(parts[1::2], parts[2::2], strict=True):
            joint = _joint(before, left, mark, right)
            if joint is None:
                words += _split_compound(word)
                word = right
            else:
                word += joint + right
            left, before = right, mark
        words += _split_compound(word)
    return words


def _joint(before: str, left: str, mark: str, right: str) -> str | None:
    """Return the string that joins `left` and `right` at the punctuation `mark`; None if it separates them.

    `before` is the punctuation in front of `left`.
    """
    joins = False
    if mark == "++":
        joins = left.isalpha()
    elif mark == "#":
        joins = len(left) == 1 and left.isalpha() and not right
    elif mark == "." and not left:
        joins = before not in (".", "#", "++") and (right[:1].isdecimal() or right == "net")
    elif not left or not right:
        joins = False
    elif mark in "-'":
        joins = True
    elif mark == "&":
        joins = len(left) <= 2 and len(right) <= 2 and (left + right).isalpha()
    elif mark in "./":
        if len(left) == len(right) == 1 and (left + right).isalpha():
            return "" if mark == "." else "/"
        digits = left[-1].isdecimal() and right[0].isdecimal()
        joins = digits or (mark == "." and right in _PROGRAMMING_ENDINGS)
    return mark if joins else None


def _split_compound(word: str) -> list[str]:
    if "-" not in word:
        return [word] if word else []
    parts = word.split("-")
    ordinary = [_is_ordinary(part, first=i == 0) for i, part in enumerate(parts)]
    if sum(ordinary) < 2 or all(len(part) <= 2 and part.isalpha() for part in parts):
        return [word]
    return parts


def _is_ordinary(part: str, first: bool) -> bool:
    if any(map(str.isdecimal, part)):
        return first and part.isdecimal()
    return len(part) >= 2
