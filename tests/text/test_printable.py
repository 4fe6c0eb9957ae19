"""What a terminal or a reader would be deceived by, character by character."""

import json
import logging

import pytest

from coclick.service.log_format import PrintableFormatter
from coclick.text.printable import escape_json, printable

UNSAFE = [0, 7, 8, 0x0D, 0x1B, 0x7F, 0x9B, 0x061C, 0x200E, 0x200F, 0x202A, 0x202E, 0x2066, 0x2069, 0xD800]


@pytest.mark.parametrize("code", UNSAFE)
def test_unsafe_characters(code):
    assert printable(f"a{chr(code)}b") == "a\ufffdb"
    written = escape_json(json.dumps(f"a{chr(code)}b", ensure_ascii=False))
    assert written.isascii() and json.loads(written) == f"a{chr(code)}b"


def test_the_log_of_the_service():
    record = logging.LogRecord("x", logging.WARNING, "", 0, "model %s", ("a\x1b[2J\u202eb",), None)
    assert PrintableFormatter("%(message)s").format(record) == "model a\ufffd[2J\ufffdb"


@pytest.mark.parametrize("text", ["a\tb\nc", "größe", "می‌خواهم", "👩‍🚀", "日本語", "ไทย", "سيارة"])
def test_what_people_write_is_kept(text):
    assert printable(text) == text
    assert escape_json(text) == text
