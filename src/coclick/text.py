"""Text in, term ids out: normal form, words, stems, and vocabularies that grow with what they see.

All of it works on chunks of some thousand texts joined by line feeds, so that Python's share is paid per
chunk and per distinct word, not per text. The result is the same as text by text, for any chunk size.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import Stemmer
from numpy.typing import NDArray

from coclick.errors import UserError
from coclick.stopwords import STOP_WORDS
from coclick.words import cut

if TYPE_CHECKING:
    from coclick.strings import Vocab

LANGUAGES: tuple[str, ...] = tuple(sorted(Stemmer.algorithms()))

_CHUNK_TEXTS = 8192
_CHUNK_CHARACTERS = 4_000_000
_CACHED_CHARACTERS = 64_000_000  # of pieces remembered while a collection is analysed

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
# White space that NFKC leaves, control characters, and surrogates, which are halves of no character.
_BLANK = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u1680\u2028\u2029\ud800-\udfff]")


def normalise(text: str) -> str:
    """The form in which texts are compared: NFKC, case folded, white space collapsed and trimmed.

    Control characters and lone surrogates count as white space, and so do the signs ™ and ℠. The result is
    a fixed point: normalising again changes nothing.
    """
    return _normalise_lines(text.replace("\n", " "))


def normalise_batch(texts: Iterable[str]) -> list[str]:
    """`normalise` for many texts, at a fraction of its cost for each."""
    normal: list[str] = []
    for chunk in _chunks(texts):
        normal += _normalise_lines(_join(chunk)).split("\n")
    return normal


def _join(texts: list[str]) -> str:
    lines = "\n".join(texts)
    if lines.count("\n") >= len(texts):
        lines = "\n".join([text.replace("\n", " ") for text in texts])
    return lines


def _normalise_lines(lines: str) -> str:
    """Normalise every line. No step looks across a line feed: it composes and reorders with nothing."""
    if lines.isascii():
        lines = lines.lower().translate(_ASCII_CONTROLS)
    else:
        lines = _fold(lines)
    while "  " in lines:
        lines = lines.replace("  ", " ")
    return lines.replace(" \n", "\n").replace("\n ", "\n").strip(" ")


def _fold(text: str) -> str:
    """NFKC_Casefold of the Unicode Standard (§3.13), found as its definition says: by repetition.

    Folding can undo NFKC and NFKC can bring forth letters to fold (and dropping an ignorable character can
    bring a mark to its base), so one round is not idempotent; the point where nothing changes is.
    """
    text = _GLUED.sub(lambda sign: " " if sign[0] in "℠™" else " " + sign[0], text)
    text = unicodedata.normalize("NFKC", text)
    while True:
        folded = unicodedata.normalize("NFKC", _IGNORABLE.sub("", text).casefold())
        if folded == text:
            return _BLANK.sub(" ", text)
        text = folded


def _chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    """Some thousand texts at a time, fewer when they are long."""
    chunk: list[str] = []
    characters = 0
    for text in texts:
        chunk.append(text)
        characters += len(text)
        if len(chunk) == _CHUNK_TEXTS or characters > _CHUNK_CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


@dataclass(frozen=True)
class Tokens:
    """The terms of many texts: those of text i are `terms[indptr[i]:indptr[i+1]]`, −1 where unknown."""

    indptr: NDArray[np.int64]
    terms: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, index: int) -> NDArray[np.int32]:
        return self.terms[self.indptr[index] : self.indptr[index + 1]]

    def renumbered(self, new_ids: NDArray[np.int32]) -> Tokens:
        """The same texts with term t called `new_ids[t]`; unknown terms stay unknown."""
        return Tokens(self.indptr, np.append(new_ids, np.int32(-1))[self.terms])


@dataclass(frozen=True)
class Terms:
    """A finished vocabulary: terms by their UTF-8 bytes, each one's id while it grew, and how to show it."""

    terms: list[str]
    surfaces: list[str]
    new_ids: NDArray[np.int32]  # old id → place in `terms`


class TermIndex:
    """A growing vocabulary: terms numbered by first appearance, with counts of their surface forms."""

    def __init__(self) -> None:
        self.terms: list[str] = []
        self._ids: dict[str, int] = {}
        self._surfaces: dict[str, int] = {}
        self._term_of = array("i")
        self._counts = np.zeros(1024, np.int64)

    def __len__(self) -> int:
        return len(self.terms)

    def id(self, term: str) -> int:
        """The id of a term, −1 if it is unknown."""
        return self._ids.get(term, -1)

    def surface(self, word: str, stem: Callable[[str], str]) -> int:
        """The number of a surface form; one not seen before is stemmed and added."""
        number = self._surfaces.get(word)
        if number is None:
            term = stem(word)
            if term == word:
                term = word  # one object for both
            place = self._ids.setdefault(term, len(self.terms))
            if place == len(self.terms):
                self.terms.append(term)
            number = self._surfaces[word] = len(self._term_of)
            self._term_of.append(place)
        return number

    def count(self, surfaces: NDArray[np.int32]) -> NDArray[np.int32]:
        """Count occurrences of surface forms and return the ids of their terms."""
        if len(self._term_of) > len(self._counts):
            self._counts = np.append(self._counts, np.zeros(len(self._term_of), np.int64))
        np.add.at(self._counts, surfaces, 1)
        return np.frombuffer(self._term_of, np.int32)[surfaces] if len(surfaces) else surfaces

    def finish(self) -> Terms:
        """Sort the terms and choose for each its commonest surface form, then the shorter, then by letter."""
        best: dict[int, tuple[int, int, str]] = {}
        for (word, number), count in zip(self._surfaces.items(), self._counts.tolist(), strict=False):
            rank = (-count, len(word), word)
            term = self._term_of[number]
            if term not in best or rank < best[term]:
                best[term] = rank
        # The order of code points is that of UTF-8 bytes.
        order = sorted(range(len(self.terms)), key=self.terms.__getitem__)
        new_ids = np.empty(len(order), np.int32)
        new_ids[order] = np.arange(len(order), dtype=np.int32)
        return Terms([self.terms[i] for i in order], [best[i][2] for i in order], new_ids)


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    # Texts are cut piece by piece and every distinct word is stemmed once: a second cache would be waste.
    return Stemmer.Stemmer(language, 0).stemWord


# Codes keep their endings: a stem is made of letters, marks and apostrophes only.
_STEMMABLE = re.compile(r"[^\d!-&(-/:-@\[-`{-~]+")


@dataclass(frozen=True)
class Analyzer:
    """From text to terms. Its fields are all that must be kept to cut later text in the same way."""

    language: str = "english"
    stem: bool = True
    stop_words: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) is not type(field.default):
                raise UserError(f"the analyzer's {field.name} cannot be {value!r}")
        if self.language not in LANGUAGES:
            raise UserError(f"there is no language {self.language!r}", hint="one of " + ", ".join(LANGUAGES))
        if self.stop_words and self.language not in STOP_WORDS:
            raise UserError(
                f"there are no stop words for {self.language!r}",
                hint="keep the stop words, or use one of " + ", ".join(sorted(STOP_WORDS)),
            )

    def to_dict(self) -> dict[str, Any]:
        """The parameters as plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, parameters: Mapping[str, Any]) -> Analyzer:
        """The analyzer with these parameters; what is missing has its default."""
        known = [field.name for field in fields(cls)]
        if unknown := sorted(set(parameters) - set(known)):
            raise UserError(
                f"the analyzer has no parameter {unknown[0]!r}", hint="one of " + ", ".join(known)
            )
        return cls(**parameters)

    def words(self, text: str) -> list[str]:
        """The words of a text as they stand in it, without stop words if those are not wanted."""
        return [word for piece in normalise(text).split(" ") for word in self._cut(piece)]

    def terms(self, text: str) -> list[str]:
        """The terms of a text: its words, stemmed if wanted."""
        return [self.term(word) for word in self.words(text)]

    def term(self, word: str) -> str:
        """The term that stands for a word: its stem, unless it is a code or stems are not wanted."""
        if self.stem and _STEMMABLE.fullmatch(word):
            return _stemmer(self.language)(word)
        return word

    def analyze(self, texts: Iterable[str], vocabulary: TermIndex, grow: bool = True) -> Tokens:
        """The terms of many texts, as ids of a vocabulary that grows with them.

        Where it must not grow, an unknown term is −1 and nothing is counted.
        """
        pieces = _Pieces(self, vocabulary, grow)
        indptr, terms = array("q", [0]), array("i")
        for chunk in _chunks(texts):
            ends, numbers = pieces.cut_lines(_normalise_lines(_join(chunk)))
            indptr.frombytes((ends + len(terms)).tobytes())
            terms.frombytes((vocabulary.count(numbers) if grow else numbers).tobytes())
        return Tokens(np.frombuffer(indptr, np.int64), _as_int32(terms))

    def look_up(self, texts: Iterable[str], vocabulary: Vocab) -> Tokens:
        """The terms of many texts, as ids of a saved vocabulary; −1 where it does not know them."""
        seen = TermIndex()
        tokens = self.analyze(texts, seen)
        return tokens.renumbered(vocabulary.lookup(seen.terms))

    def _cut(self, piece: str) -> list[str]:
        words = cut(piece)
        if self.stop_words:
            unwanted = STOP_WORDS[self.language]
            return [word for word in words if word not in unwanted]
        return words


def _as_int32(values: array[int]) -> NDArray[np.int32]:
    """The array itself, not a copy: it may be most of our memory."""
    return np.frombuffer(values, np.int32) if len(values) else np.empty(0, np.int32)


class _Pieces(dict[str, int]):
    """Pieces between blanks → numbers. Each is cut into words once; most of a collection is look-ups."""

    def __init__(self, analyzer: Analyzer, vocabulary: TermIndex, grow: bool) -> None:
        super().__init__()
        self.analyzer, self.vocabulary, self.grow = analyzer, vocabulary, grow
        self._forget()

    def _forget(self) -> None:
        self.clear()
        self["\n"] = 0  # the end of a line is a piece without words
        self.bounds = array("q", [0, 0])  # the words of piece p are words[bounds[p]:bounds[p+1]]
        self.words = array("i")
        self.characters = 0

    def __missing__(self, piece: str) -> int:
        stem = self.analyzer.term
        for word in self.analyzer._cut(piece):
            if self.grow:
                self.words.append(self.vocabulary.surface(word, stem))
            else:
                self.words.append(self.vocabulary.id(stem(word)))
        self.bounds.append(len(self.words))
        self.characters += len(piece)
        number = self[piece] = len(self)
        return number

    def cut_lines(self, lines: str) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Where every line's words end, and the words: surface forms if growing, else terms."""
        if self.characters > _CACHED_CHARACTERS:
            self._forget()
        pieces = lines.replace("\n", " \n ").split(" ")
        numbers = np.fromiter(map(self.__getitem__, pieces), np.int64, len(pieces))
        bounds = np.frombuffer(self.bounds, np.int64)
        starts = bounds[numbers]
        lengths = bounds[numbers + 1] - starts
        ends = np.cumsum(lengths)
        places = np.repeat(starts - (ends - lengths), lengths) + np.arange(ends[-1])
        line_ends = np.append(ends[numbers == 0], ends[-1])
        return line_ends, _as_int32(self.words)[places]
