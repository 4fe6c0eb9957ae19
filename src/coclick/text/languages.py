"""The languages of texts: names, codes, and what splitting a text into words must know about each.

A language is named by its ISO 639 code (`de`) or its English name (`german`). A graph stores the language of
its texts; `language="auto"`, the default of models, is that one (`resolve_language`).

- Languages that are written without spaces are split into overlapping pairs of characters.
- In French, Italian and Catalan, articles before an apostrophe are left out: l'eau is eau.
- Letters that people write in two ways are read as one: Arabic أ, إ and آ as ا, Russian ё as е.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import Stemmer

from coclick.errors import UserError
from coclick.text.tokenizer import split_words

AUTO = "auto"  # the language that the graph names
DEFAULT = "english"  # where no language is known

_STEMMERS = frozenset(Stemmer.algorithms())
_UNSPACED = frozenset({"ja", "zh", "ko", "th", "lo", "km", "my"})
_ELIDED = {
    "fr": "c d j l m n s t qu jusqu lorsqu puisqu quoiqu",
    "it": "l un d all dall dell nell sull coll quest quell c s m t v n",
    "ca": "l d n s m t",
}
# Also accepted: the two written forms of Norwegian, and older codes.
_OTHER_CODES = {"nb": "no", "nn": "no", "iw": "he", "in": "id"}
_NAMES = """
    ar arabic, bg bulgarian, ca catalan, cs czech, da danish, de german, el greek, en english, eo esperanto,
    es spanish, et estonian, eu basque, fa persian, fi finnish, fr french, ga irish, he hebrew, hi hindi,
    hr croatian, hu hungarian, hy armenian, id indonesian, it italian, ja japanese, km khmer, ko korean,
    lo lao, lt lithuanian, lv latvian, my burmese, ne nepali, nl dutch, no norwegian, pl polish,
    pt portuguese, ro romanian, ru russian, sk slovak, sl slovenian, sr serbian, st sesotho, sv swedish,
    ta tamil, th thai, tr turkish, uk ukrainian, vi vietnamese, yi yiddish, zh chinese
"""


def _letters(pairs: str, dropped: str = "") -> dict[int, str | None]:
    """A table for `str.translate` from pairs such as `"أا إا"`, and letters that are dropped."""
    table: dict[int, str | None] = {ord(letter): None for letter in dropped}
    return table | {ord(pair[0]): pair[1:] for pair in pairs.split()}


_DIGITS = " ".join(f"{chr(zero + i)}{i}" for zero in (0x660, 0x6F0) for i in range(10))  # Arabic and Persian
_VOWEL_MARKS = "".join(map(chr, [*range(0x64B, 0x660), 0x670])) + "ـ"  # Arabic, and the tatweel
_FOLDED = {
    "ar": _letters(f"أا إا آا ٱا {_DIGITS}", _VOWEL_MARKS),
    "fa": _letters(f"يی كک أا إا {_DIGITS}", _VOWEL_MARKS),
    "he": _letters("", "".join(map(chr, range(0x591, 0x5C8)))),  # points and accents
    "ru": _letters("ёе"),
    "tr": _letters("", "\u0307"),  # the dot that case folding leaves of İ
    "ro": _letters("şș ţț"),
}


@dataclass(frozen=True)
class Language:
    """A language, and the rules that words of its texts follow beyond those of `split_words`."""

    code: str
    name: str
    unspaced: bool = False  # written without spaces between words
    elided: frozenset[str] = frozenset()  # articles that are left out before an apostrophe
    folded: Mapping[int, str | None] = field(default_factory=dict, compare=False)  # letters read as others

    @property
    def has_stemmer(self) -> bool:
        """Whether words can be reduced to stems."""
        return self.name in _STEMMERS

    @property
    def has_rules(self) -> bool:
        """Whether words are split differently than `split_words` does without a language."""
        return bool(self.unspaced or self.elided or self.folded)

    def split(self, token: str) -> list[str]:
        """Return the words of a token (normalised text without white space)."""
        if self.folded and not token.isascii():
            token = token.translate(self.folded)
        words = split_words(token, unspaced=self.unspaced)
        if self.elided and "'" in "".join(words):
            words = [self._without_article(word) for word in words]
        return words

    def _without_article(self, word: str) -> str:
        article, mark, rest = word.partition("'")
        return rest if mark and rest and article in self.elided else word


def _all_languages() -> dict[str, Language]:
    pairs = (entry.split() for entry in _NAMES.split(","))
    known = {
        name: Language(
            code, name, code in _UNSPACED, frozenset(_ELIDED.get(code, "").split()), _FOLDED.get(code, {})
        )
        for code, name in pairs
    }
    others = {name: Language(name, name) for name in _STEMMERS if name not in known}  # such as porter
    return dict(sorted((known | others).items()))


_LANGUAGES = _all_languages()
_BY_CODE = {language.code: language for language in _LANGUAGES.values()}
LANGUAGES = tuple(_LANGUAGES)


def find_language(name: str) -> Language:
    """Return a language by its code (`de`, also `de-AT`) or name; raise for an unknown one."""
    given = name.strip().lower() if isinstance(name, str) else ""
    code = given.replace("_", "-").split("-")[0]
    code = _OTHER_CODES.get(code, code)
    language = _LANGUAGES.get(given) or _BY_CODE.get(code)
    if language is None:
        near = difflib.get_close_matches(given, [*_LANGUAGES, *_BY_CODE], n=2, cutoff=0.6)
        meant = f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""
        known = ", ".join(f"{one.code} {one.name}" for one in _LANGUAGES.values() if one.code != one.name)
        raise UserError(f"there is no language {name!r}{meant}", hint=f"use a code or name of: {known}")
    return language


def named_language(name: str) -> dict[str, Any]:
    """Return the entry of a graph's statistics for a language that the user names."""
    return {"code": find_language(name).code, "share": None, "source": "given"}


def resolve_language(language: str, stats: Mapping[str, Any]) -> str:
    """Return the name of a model's language; `auto` is the one in the statistics of a graph.

    A graph without one, or whose language the build could not tell, counts as English.
    """
    if language != AUTO:
        return find_language(language).name
    stored = stats.get("language")
    code = stored.get("code") if isinstance(stored, Mapping) else None
    return DEFAULT if code is None else find_language(code).name
