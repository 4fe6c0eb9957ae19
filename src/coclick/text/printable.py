"""Untrusted text for a terminal or a log file: it cannot move the cursor, nor reorder what a person reads."""

from __future__ import annotations

import re

# Control characters except tab and newline, marks and overrides of the writing direction, lone surrogates.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Return text with every unsafe character replaced by a replacement character."""
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text)


def escape_json(text: str) -> str:
    """Return JSON with every unsafe character as an escape: the values stay the same."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
