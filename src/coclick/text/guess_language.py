"""Guess the main language of many short texts: titles of documents and queries.

Each text is recognised by itself. A script that one language uses decides: Thai, Hangul, Greek and so on. In
other scripts words decide (stop words and `language_words`), then endings of words and letters; a word that
n languages share counts 1/n for each. Texts without any evidence, such as brands and codes, are not counted.

Han without kana is Chinese, unless some texts have kana: then it is Japanese. Titles and queries count alike
once there are enough of both, however many there are of each.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from coclick.text.language_words import COMPOUNDING, ENDINGS, LETTERS, WORDS
from coclick.text.languages import find_language
from coclick.text.normalise import normalise_batch
from coclick.text.stopwords import STOP_WORDS
from coclick.text.tokenizer import split_words

SAMPLE = 1000  # titles, and queries, that are enough to guess by

_MIN_SHARE = 0.5  # of the recognised texts, which must be in the main language
_MIN_LEAD = 1.25  # how much more evidence it must have than any other language
_MIN_RECOGNISED = 3  # texts, and at least this share of all texts:
_MIN_RECOGNISED_SHARE = 0.02
_MAX_WEIGHT = 500  # recognised texts of one kind, beyond which more of them do not count more
_ENGLISH_WORD = 0.5  # English nouns are common in titles of all languages, English function words are not
_SHORT_WORD = 0.5  # words of two letters are often parts of names
_ENDING, _LETTER = 0.6, 0.4
_MIN_HEAD = 5  # letters of the last part of a compound
_SHORTEST_ENDING, _LONGEST_ENDING = 2, 12
_SCRIPT_SHARE = 0.25  # of the letters, from which on a script other than Latin decides
_CJK_LETTERS = 3  # letters of other scripts that one of these stands for

# First and last code point, script; `han` and `kana` are decided for all texts together.
_SCRIPTS = (
    (0x370, 0x3FF, "el"), (0x400, 0x52F, "cyrillic"), (0x531, 0x58F, "hy"), (0x591, 0x5F4, "he"),
    (0x600, 0x6FF, "arabic"), (0x750, 0x77F, "arabic"), (0x900, 0x97F, "hi"), (0xB80, 0xBFF, "ta"),
    (0xE01, 0xE5B, "th"), (0xE81, 0xEDF, "lo"), (0x1000, 0x109F, "my"), (0x1100, 0x11FF, "ko"),
    (0x1780, 0x17FF, "km"), (0x1EA0, 0x1EF9, "vi"), (0x1F00, 0x1FFF, "el"), (0x3041, 0x30FF, "kana"),
    (0x31F0, 0x31FF, "kana"), (0x3400, 0x4DBF, "han"), (0x4E00, 0x9FFF, "han"), (0xAC00, 0xD7A3, "ko"),
    (0x20000, 0x323AF, "han"),
)  # fmt: skip
_CJK = ("han", "kana", "ko")
_OF_SCRIPT = {  # languages that share a script and are distinguished by their words
    "cyrillic": frozenset({"ru", "uk", "bg", "sr"}),
    "arabic": frozenset({"ar", "fa"}),
}
_LATIN = frozenset({*WORDS, "sr"}) - frozenset({"ru", "uk", "bg", "ar", "fa"})
_KANA_SHARE = 0.1  # of the texts in Han and kana, from which on those in Han alone are Japanese too

Scores = Mapping[str, float]  # evidence by language


class LanguageGuess(NamedTuple):
    """The main language, None if unsure, and the share of the recognised texts that are in it."""

    code: str | None
    share: float

    def entry(self) -> dict[str, Any]:
        """Return the entry of a graph's statistics."""
        return {"code": self.code, "share": round(self.share, 3), "source": "guessed"}


def sample_step(size: int) -> int:
    """Return n such that every n-th of `size` texts makes a sample that is large enough."""
    return max(1, -(-size // SAMPLE))


def guess_language(titles: Iterable[str], queries: Iterable[str] = ()) -> LanguageGuess:
    """Guess the main language of a sample of titles and queries."""
    kinds = [[_evidence(text) for text in normalise_batch(texts)] for texts in (titles, queries)]
    _settle_han(kinds)
    total: defaultdict[str, float] = defaultdict(float)
    recognised = [[scores for scores in kind if scores] for kind in kinds]
    weights = [min(len(kind), _MAX_WEIGHT) / max(len(kind), 1) for kind in recognised]
    for kind, weight in zip(recognised, weights, strict=True):
        for scores in kind:
            for code, score in scores.items():
                total[code] += weight * score / sum(scores.values())
    found, texts = sum(map(len, recognised)), sum(map(len, kinds))
    if not found:
        return LanguageGuess(None, 0.0)
    main, most = max(total.items(), key=lambda item: (item[1], item[0]))
    second = max((score for code, score in total.items() if code != main), default=0.0)
    share = sum(
        weight * sum(scores.get(main, 0) >= max(scores.values()) for scores in kind)
        for kind, weight in zip(recognised, weights, strict=True)
    ) / sum(weight * len(kind) for kind, weight in zip(recognised, weights, strict=True))
    enough = found >= max(_MIN_RECOGNISED, _MIN_RECOGNISED_SHARE * texts)
    sure = enough and share >= _MIN_SHARE and most >= _MIN_LEAD * second
    return LanguageGuess(main if sure else None, share)


def _evidence(text: str) -> dict[str, float]:
    """The evidence for each language in a normalised text."""
    script = "latin" if text.isascii() else _main_script(text)
    if script in ("han", "kana") or (script not in _OF_SCRIPT and script != "latin"):
        return {script: 1.0}
    languages = _OF_SCRIPT.get(script, _LATIN)
    scores: defaultdict[str, float] = defaultdict(float)
    for token in text.split(" "):
        for word in split_words(token):
            for code, weight in _word_evidence(word).items():
                if code in languages:
                    scores[code] += weight
    for letter in set(text):
        if letter in LETTERS:
            codes = LETTERS[letter].split()
            for code in codes:
                if code in languages:
                    scores[code] += _LETTER / len(codes)
    if not scores and script != "latin":
        return dict.fromkeys(languages, 1.0)
    return dict(scores)


def _main_script(text: str) -> str:
    """The script that decides: one that is not Latin, if enough of the letters are in it."""
    counts = Counter(_script(character) for character in text if character.isalpha())
    sizes = {name: count * (_CJK_LETTERS if name in _CJK else 1) for name, count in counts.items()}
    if sizes.get("vi"):
        return "vi"  # letters with two marks, which no other language has
    if sizes.get("kana"):
        sizes["kana"] += sizes.pop("han", 0)
    others = [name for name in sizes if name != "latin"]
    if not others:
        return "latin"
    main = max(others, key=lambda name: (sizes[name], name))
    return main if sizes[main] >= _SCRIPT_SHARE * sum(sizes.values()) else "latin"


@cache
def _script(character: str) -> str:
    code = ord(character)
    return next((name for first, last, name in _SCRIPTS if first <= code <= last), "latin")


def _settle_han(kinds: Sequence[Sequence[dict[str, float]]]) -> None:
    """Replace `han` and `kana` by Chinese or Japanese."""
    counts = Counter(name for kind in kinds for scores in kind for name in scores if name in ("han", "kana"))
    han = "ja" if counts["kana"] >= _KANA_SHARE * counts.total() else "zh"
    for kind in kinds:
        for scores in kind:
            for name, code in (("han", han), ("kana", "ja")):
                if name in scores:
                    scores[code] = scores.pop(name)


@cache
def _word_languages() -> dict[str, dict[str, float]]:
    """For each known word its languages, each with the weight of the word before it is shared."""
    known: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for code, words in WORDS.items():
        for word in words:
            known[word][code] = _ENGLISH_WORD if code == "en" or word in WORDS["en"] else 1.0
    for name, words in STOP_WORDS.items():
        for word in words:
            known[word][find_language(name).code] = _ENGLISH_WORD if word in WORDS["en"] else 1.0
    return {word: codes for word, codes in known.items() if len(word) > 1}


@cache
def _ending_languages() -> dict[str, frozenset[str]]:
    known: defaultdict[str, set[str]] = defaultdict(set)
    for code, endings in ENDINGS.items():
        for ending in endings.split():
            known[ending].add(code)
    for code in COMPOUNDING:
        for word in WORDS.get(code, ()):
            if len(word) >= _MIN_HEAD:
                known[word].add(code)
    return {ending: frozenset(codes) for ending, codes in known.items()}


@lru_cache(maxsize=1 << 14)
def _word_evidence(word: str) -> dict[str, float]:
    """The evidence for each language in a word: the word itself, or else its longest known ending."""
    known = _word_languages().get(word)
    if known:
        share = (_SHORT_WORD if len(word) == 2 else 1.0) / len(known)
        return {code: weight * share for code, weight in known.items()}
    endings = _ending_languages()
    for size in range(min(_LONGEST_ENDING, len(word) - 2), _SHORTEST_ENDING - 1, -1):
        codes = endings.get(word[-size:])
        if codes:
            return dict.fromkeys(codes, _ENDING / len(codes))
    return {}
