"""Decide by content whether the first line of a text file without known names is a header.

A cell differs from the values below it if they are numbers or times and it is not, or if they have digits and
it has none. It is like them if it is of the same kind, or occurs again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_NEARLY_ALL = 0.9
_NUMBER = re.compile(r"[-+]?\d[\d\s.,:/TZ+-]*")  # or a time written with digits


def is_header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool | None:
    """Return whether more cells of the first line differ from the values below than are like them.

    None if as many do, so that nothing settles it.
    """
    votes = 0
    for place, cell in enumerate(map(str.strip, first)):
        below = [row[place].strip() for row in rows if place < len(row) and row[place].strip()]
        if not cell or not below:
            continue
        kinds = [pattern for pattern in (_is_number, _has_digit) if _share(pattern, below) >= _NEARLY_ALL]
        if kinds and not kinds[0](cell):
            votes += 1
        elif kinds or cell in below:
            votes -= 1
    return None if votes == 0 else votes > 0


def _is_number(value: str) -> bool:
    return _NUMBER.fullmatch(value) is not None


def _has_digit(value: str) -> bool:
    return any(character.isdigit() for character in value)


def _share(is_kind: Callable[[str], bool], values: Sequence[str]) -> float:
    return sum(map(is_kind, values)) / len(values)
