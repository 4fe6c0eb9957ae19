"""Normalise texts: the form in which queries and words are compared.

Texts are processed in chunks of a few thousand, joined by line feeds: Python's overhead is paid per chunk,
not per text. The result does not depend on the chunk size.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice

_CHUNK_TEXTS = 8192
_CHUNK_CHARACTERS = 4_000_000

# Unicode's Default_Ignorable_Code_Point, which NFKC_Casefold removes: soft hyphens, joiners, byte order
# marks, variation selectors, direction marks.
_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
# NFKC would glue these to the word or number in front: iPad™ → ipadtm, 3½ → 31⁄2.
_GLUED = re.compile("[℠™¼-¾⅐-⅟↉]")
_ASCII_CONTROLS = dict.fromkeys([*range(10), *range(11, 32), 127], " ")
# White space that NFKC leaves, control characters, and lone surrogates.
_BLANK = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u1680\u2028\u2029\ud800-\udfff]")


def normalise(text: str) -> str:
    """Return the text in NFKC, case-folded, with white space collapsed and trimmed.

    Control characters, lone surrogates and the signs ™ and ℠ count as white space. The function is
    idempotent.
    """
    return _normalise_lines(text.replace("\n", " "))


def normalise_batch(texts: Iterable[str]) -> list[str]:
    """Normalise many texts, much faster than one by one."""
    return [text for lines in normalised_lines(texts) for text in lines.split("\n")]


def normalised_lines(texts: Iterable[str]) -> Iterator[str]:
    """Yield chunks of normalised texts, one text per line."""
    for chunk in _chunks(texts):
        yield _normalise_lines(_join_lines(chunk))


def _join_lines(texts: list[str]) -> str:
    """Join texts by line feeds; line feeds inside a text become spaces."""
    lines = "\n".join(texts)
    if lines.count("\n") >= len(texts):
        lines = "\n".join([text.replace("\n", " ") for text in texts])
    return lines


def _normalise_lines(lines: str) -> str:
    """Normalise every line. A line feed never composes or reorders, so lines do not affect each other."""
    if lines.isascii():
        lines = lines.lower().translate(_ASCII_CONTROLS)
    else:
        # Only the lines that are not ASCII take the slow path.
        texts = lines.split("\n")
        unicode_lines = [i for i, text in enumerate(texts) if not text.isascii()]
        folded = _fold("\n".join([texts[i] for i in unicode_lines])).split("\n")
        for i in unicode_lines:
            texts[i] = ""
        texts = "\n".join(texts).lower().translate(_ASCII_CONTROLS).split("\n")
        for i, text in zip(unicode_lines, folded, strict=True):
            texts[i] = text
        lines = "\n".join(texts)
    while "  " in lines:
        lines = lines.replace("  ", " ")
    return lines.replace(" \n", "\n").replace("\n ", "\n").strip(" ")


def _fold(text: str) -> str:
    """Apply NFKC_Casefold of the Unicode Standard (§3.13), repeated until nothing changes.

    One pass is not idempotent: folding can undo NFKC, NFKC can produce letters to fold, and dropping an
    ignorable character can move a mark next to its base.
    """
    text = _GLUED.sub(lambda sign: " " if sign[0] in "℠™" else " " + sign[0], text)
    text = unicodedata.normalize("NFKC", text)
    while True:
        folded = unicodedata.normalize("NFKC", _IGNORABLE.sub("", text).casefold())
        if folded == text:
            return _BLANK.sub(" ", text)
        text = folded


def _chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    """Yield a few thousand texts at a time, fewer when they are long."""
    remaining = iter(texts)
    while chunk := list(islice(remaining, _CHUNK_TEXTS)):
        parts = sum(map(len, chunk)) // _CHUNK_CHARACTERS + 1
        size = -(-len(chunk) // parts)
        yield from (chunk[first : first + size] for first in range(0, len(chunk), size))
