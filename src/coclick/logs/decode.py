"""Encodings of text files: guess them from a sample, and transcode what is not UTF-8 block by block.

UTF-8 is never rewritten. Bytes that are invalid in another encoding become a byte that is invalid in UTF-8,
so DuckDB rejects their line, as in a file of UTF-8.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from coclick.errors import UserError

_BLOCK = 1 << 20
_UTF8_BOM = b"\xef\xbb\xbf"
_BOMS = {  # UTF-32 first: its mark begins with that of UTF-16
    b"\xff\xfe\0\0": "utf-32-le",
    b"\0\0\xfe\xff": "utf-32-be",
    b"\xff\xfe": "utf-16-le",
    b"\xfe\xff": "utf-16-be",
}
_MIN_NULLS = 0.1  # share of bytes at odd (or even) places that are 0 in UTF-16 without a mark
_MIXED = 0.1  # a file with this share of valid UTF-8 among its lines beyond ASCII is UTF-8
_MIN_PLAUSIBLE = 0.8  # share of the bytes beyond ASCII that must look like Western European text
_MIN_PAIRS = 0.9  # share of the bytes beyond ASCII that must be pairs of GB2312
_MIN_COMMON = 0.04  # share of frequent characters in Chinese text; at random it is 0.02
_MANY_PAIRS = 300  # below this the frequent characters prove nothing
_EXAMPLES = "latin-1, windows-1252, utf-16, gb18030, windows-1251, shift_jis"

_LETTERS = "àáâãäåæçèéêëìíîïñòóôõöøùúûüýœšž"
_SIGNS = "ßº°ª²³½¼¾µ·§©®™€£¥«»“”„’‘‚–—…•¿¡´×\xa0"
_WESTERN = frozenset(_LETTERS + _LETTERS.upper() + _SIGNS)
_COMMON_CHINESE = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里"
    "用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实"
    "日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政"
    "美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员"
    "图网电车女男价格免费下载视频游戏"
)
_INVALID = "\udc80"  # encodes to the byte 80 with surrogateescape


def _mark_invalid(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return _INVALID, error.end


codecs.register_error("coclick.invalid", _mark_invalid)


def check_encoding(name: str) -> str:
    """Return the name of an encoding that Python knows, as it was given; raise for any other."""
    try:
        codec = codecs.lookup(name)
        "".encode(name)  # raises for codecs that do not encode text, such as base64
    except (LookupError, TypeError, ValueError):
        raise UserError(f"unknown encoding {name!r}", hint=f"for example {_EXAMPLES}") from None
    return "utf-8" if codec.name in ("utf-8", "utf-8-sig", "ascii") else name.lower()


def guess_encoding(sample: bytes) -> str:
    """Return the encoding of the lines in a sample: UTF-8 unless another one is clearly better.

    A file with some lines that are not UTF-8 stays UTF-8, and these lines are rejected.
    """
    for mark, encoding in _BOMS.items():
        if sample.startswith(mark):
            return encoding
    if (nulls := _utf16_without_mark(sample[: 1 << 16])) is not None:
        return nulls
    failing, n_valid = _classify_lines(sample.removeprefix(_UTF8_BOM))
    if not failing or n_valid > _MIXED * (n_valid + len(failing)):
        return "utf-8"
    return guess_lines(failing) or "utf-8"


def guess_lines(lines: Sequence[bytes]) -> str | None:
    """Return the encoding of lines that are not UTF-8: gb18030, windows-1252, latin-1; None if unknown."""
    text = b"\n".join(lines)
    if _is_chinese(text):
        return "gb18030"
    if not _is_western(text):
        return None
    return "windows-1252" if re.search(rb"[\x80-\x9f]", text) else "latin-1"


def _utf16_without_mark(sample: bytes) -> str | None:
    """UTF-16 has a zero byte in each character of ASCII, always at the same side."""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    least = _MIN_NULLS * len(sample) / 2
    if odd > least and odd > 20 * even:
        return "utf-16-le"
    return "utf-16-be" if even > least and even > 20 * odd else None


def failing_lines(sample: bytes) -> list[bytes]:
    """Return the lines of a sample that are not UTF-8."""
    return _classify_lines(sample)[0]


def _classify_lines(sample: bytes) -> tuple[list[bytes], int]:
    """Return the lines of a sample that are not UTF-8, and the number of those that are, without ASCII."""
    failing, n_valid = [], 0
    for line in re.split(rb"[\r\n]", sample) if not sample.isascii() else []:
        if line.isascii():
            continue
        try:
            line.decode()
            n_valid += 1
        except UnicodeDecodeError:
            failing.append(line)
    return failing, n_valid


def _is_western(text: bytes) -> bool:
    """Whether most bytes beyond ASCII are letters and signs of Western European languages, one at a time."""
    beyond = re.findall(rb"[\x80-\xff]+", text)
    wrong = sum(len(run) for run in beyond if len(run) > 3)
    # A capital with an accent after a small letter is the first half of a UTF-8 character.
    wrong += len(re.findall(rb"[a-z][\xc0-\xde](?![A-Z\xc0-\xde])", text))
    likely = sum(char in _WESTERN for run in beyond for char in run.decode("cp1252", "replace"))
    return likely - wrong >= _MIN_PLAUSIBLE * sum(map(len, beyond))


def _is_chinese(text: bytes) -> bool:
    """Whether the bytes beyond ASCII are pairs of GB2312, of the more frequent characters."""
    n_beyond = len(re.findall(rb"[\x80-\xff]", text))
    pairs = re.findall(rb"[\xa1-\xa9\xb0-\xf7][\xa1-\xfe]", text)
    frequent = sum(pair[0] <= 0xD7 for pair in pairs)
    if 2 * len(pairs) < _MIN_PAIRS * n_beyond or frequent < 0.7 * len(pairs):
        return False
    if len(pairs) < _MANY_PAIRS:
        return True
    common = sum(char in _COMMON_CHINESE for char in b"".join(pairs).decode("gb18030", "replace"))
    return common >= _MIN_COMMON * len(pairs)


def transcode(stream: IO[bytes], encoding: str, out: Path, max_bytes: int | None = None) -> None:
    """Write a text, or about its first `max_bytes`, as UTF-8 without a byte order mark. Lines stay lines."""
    head = stream.read(4)
    for mark, marked in _BOMS.items():
        if head.startswith(mark) and codecs.lookup(encoding).name.startswith(marked[:6]):
            encoding, head = marked, head[len(mark) :]
            break
    head = head.removeprefix(_UTF8_BOM)  # some programs write it before any encoding
    with io.BytesIO(head) as first, out.open("wb") as target:
        decoder = codecs.getincrementaldecoder(encoding)("coclick.invalid")
        for source in (first, stream):
            while (block := source.read(_BLOCK)) and (max_bytes is None or target.tell() < max_bytes):
                target.write(decoder.decode(block).encode("utf-8", "surrogateescape"))
        target.write(decoder.decode(b"", final=True).encode("utf-8", "surrogateescape"))


def not_utf8_hint(lines: Sequence[bytes]) -> str:
    """Return what to do about lines that are not UTF-8."""
    encoding = guess_lines(lines)
    if encoding is None:
        return f"name the encoding of the file with --encoding, for example {_EXAMPLES}"
    return f"these lines look like {encoding}: if the whole file is, add --encoding {encoding}"
