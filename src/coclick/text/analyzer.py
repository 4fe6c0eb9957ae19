"""Text in, term ids out: normal form, words, stems, and vocabularies that grow with what they see.

All of it works on chunks of some thousand texts joined by line feeds, so that Python's share is paid per
chunk and per distinct word, not per text. The result is the same as text by text, for any chunk size.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import Stemmer
from numpy.typing import NDArray

from coclick.arrays.strings import Strings, Vocab
from coclick.errors import UserError
from coclick.text.stopwords import STOP_WORDS
from coclick.text.tokenizer import cut

LANGUAGES: tuple[str, ...] = tuple(sorted(Stemmer.algorithms()))

_CHUNK_TEXTS = 8192
_CHUNK_CHARACTERS = 4_000_000
_CACHED_BYTES = 64_000_000  # of distinct pieces remembered while a collection is analysed
_FEW = 64  # texts, below which loading compiled kernels does not pay

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
    return [text for lines in normalised_lines(texts) for text in lines.split("\n")]


def normalised_lines(texts: Iterable[str]) -> Iterator[str]:
    """Chunks of normalised texts, one a line."""
    for chunk in _chunks(texts):
        yield _normalise_lines(_lines(chunk))


def _lines(texts: list[str]) -> str:
    """One text a line."""
    lines = "\n".join(texts)
    if lines.count("\n") >= len(texts):
        lines = "\n".join([text.replace("\n", " ") for text in texts])
    return lines


def _normalise_lines(lines: str) -> str:
    """Normalise every line. No step looks across a line feed: it composes and reorders with nothing."""
    if lines.isascii():
        lines = lines.lower().translate(_ASCII_CONTROLS)
    else:
        # A few lines beyond ASCII must not make all of them pay.
        texts = lines.split("\n")
        beyond = [i for i, text in enumerate(texts) if not text.isascii()]
        folded = _fold("\n".join([texts[i] for i in beyond])).split("\n")
        for i in beyond:
            texts[i] = ""
        texts = "\n".join(texts).lower().translate(_ASCII_CONTROLS).split("\n")
        for i, text in zip(beyond, folded, strict=True):
            texts[i] = text
        lines = "\n".join(texts)
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
    remaining = iter(texts)
    while chunk := list(islice(remaining, _CHUNK_TEXTS)):
        parts = sum(map(len, chunk)) // _CHUNK_CHARACTERS + 1
        size = -(-len(chunk) // parts)
        yield from (chunk[first : first + size] for first in range(0, len(chunk), size))


@dataclass(frozen=True)
class Tokens:
    """The terms of many texts: those of text i are `terms[indptr[i]:indptr[i+1]]`, −1 where unknown."""

    indptr: NDArray[np.int64]
    terms: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, index: int) -> NDArray[np.int32]:
        return self.terms[self.indptr[index] : self.indptr[index + 1]]

    def only(self, wanted: NDArray[np.bool_]) -> Tokens:
        """The same texts, with those that are not wanted empty."""
        kept = np.repeat(wanted, np.diff(self.indptr))
        return Tokens(np.concatenate([[0], np.cumsum(kept)])[self.indptr], self.terms[kept])

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

    def add(self, words: list[str], stem: Callable[[list[str]], list[str]]) -> list[int]:
        """The numbers of surface forms; those not seen before are stemmed and added."""
        surfaces = self._surfaces
        new = [word for word in dict.fromkeys(words) if word not in surfaces]
        for word, term in zip(new, stem(new), strict=True):
            place = self._ids.setdefault(term, len(self.terms))
            if place == len(self.terms):
                self.terms.append(term)
            surfaces[word] = len(self._term_of)
            self._term_of.append(place)
        return [surfaces[word] for word in words]

    def count(self, surfaces: NDArray[np.int32]) -> None:
        """Count occurrences of surface forms, and put their terms in their places."""
        from coclick.text._token_kernels import tally

        if len(self._counts) < len(self._term_of):
            self._counts = np.append(self._counts, np.zeros(len(self._term_of), np.int64))
        tally(surfaces, self._counts, as_int32(self._term_of))

    def forms(self) -> tuple[list[str], NDArray[np.int32], NDArray[np.int64]]:
        """The surface forms, the term of each, and how often each was counted."""
        count = len(self._term_of)
        return list(self._surfaces), as_int32(self._term_of), self._counts[:count]

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
    remove_stop_words: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) is not type(field.default):
                raise UserError(f"the analyzer's {field.name} cannot be {value!r}")
        if self.language not in LANGUAGES:
            raise UserError(f"there is no language {self.language!r}", hint="one of " + ", ".join(LANGUAGES))
        if self.remove_stop_words and self.language not in STOP_WORDS:
            raise UserError(
                f"there are no stop words for {self.language!r}",
                hint="keep the stop words, or use one of " + ", ".join(sorted(STOP_WORDS)),
            )

    def to_dict(self) -> dict[str, Any]:
        """The parameters as plain values."""
        return asdict(self)

    def words(self, text: str) -> list[str]:
        """The words of a text as they stand in it, without stop words if those are not wanted."""
        return [word for piece in normalise(text).split(" ") for word in self._cut(piece)]

    def terms(self, text: str) -> list[str]:
        """The terms of a text: its words, stemmed if wanted."""
        return self.stems(self.words(text))

    def stems(self, words: list[str]) -> list[str]:
        """The terms that stand for words: their stems, but codes and, if wanted, words as they are."""
        if not self.stem:
            return words
        stem = _stemmer(self.language)
        return [(stem(word) or word) if _STEMMABLE.fullmatch(word) else word for word in words]

    def analyze(self, texts: Iterable[str], vocabulary: TermIndex) -> Tokens:
        """The terms of many texts, as ids of a vocabulary that grows with them."""
        pieces = _Pieces(self._cut, lambda words: vocabulary.add(words, self.stems))
        indptr, terms = array("q", [0]), array("i")
        for lines in normalised_lines(texts):
            ends, words = pieces.words_of(lines)
            vocabulary.count(words)
            indptr.frombytes((ends + len(terms)).tobytes())
            terms.frombytes(words.tobytes())
        return Tokens(np.frombuffer(indptr, np.int64), as_int32(terms))

    def look_up(self, texts: Sequence[str], vocabulary: Vocab) -> Tokens:
        """The terms of many texts, as ids of a saved vocabulary; −1 where it does not know them."""
        if len(texts) > _FEW:
            seen = TermIndex()
            tokens = self.analyze(texts, seen)
            return tokens.renumbered(vocabulary.lookup(seen.terms))
        rows = [self.terms(text) for text in texts]
        indptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return Tokens(indptr, vocabulary.lookup([term for row in rows for term in row]))

    def without_stop_words(self, words: list[str]) -> list[str]:
        """Return the words without stop words, if those are to be removed."""
        if not self.remove_stop_words:
            return words
        unwanted = STOP_WORDS[self.language]
        return [word for word in words if word not in unwanted]

    def _cut(self, piece: str) -> list[str]:
        return self.without_stop_words(cut(piece))


def as_int32(values: array[int]) -> NDArray[np.int32]:
    """The array itself, not a copy: it may be most of our memory."""
    return np.frombuffer(values, np.int32) if len(values) else np.empty(0, np.int32)


class _Pieces:
    """What stands between blanks, numbered. Each distinct piece is cut into words once.

    Number 0 is the end of a line. The words of piece p are `words[bounds[p]:bounds[p+1]]`.
    """

    def __init__(
        self, cut_piece: Callable[[str], list[str]], number_words: Callable[[list[str]], list[int]]
    ) -> None:
        self.cut_piece, self.number_words = cut_piece, number_words
        self._forget()

    def _forget(self) -> None:
        self.count = 1
        self.slots = np.zeros(1 << 10, np.int32)
        self.starts = np.zeros(1 << 10, np.int64)
        self.known = np.empty(1 << 13, np.uint8)
        self.bounds, self.words = array("q", [0, 0]), array("i")

    def words_of(self, lines: str) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Where the words of each line end, and the words."""
        from coclick.text._token_kernels import number_pieces, spread

        if self.starts[self.count] > _CACHED_BYTES:
            self._forget()
        text = np.array(bytearray(lines.encode()), np.uint8)
        line_feeds = lines.count("\n")
        numbers = np.empty(lines.count(" ") + 2 * line_feeds + 1, np.int32)
        self._make_room(len(numbers), len(text))
        first_new = self.count
        self.count, written = number_pieces(text, self.slots, self.starts, self.known, self.count, numbers)
        self._cut_pieces(first_new)
        numbers = numbers[:written]
        bounds = np.frombuffer(self.bounds, np.int64)
        words = np.empty(np.sum(bounds[numbers + 1] - bounds[numbers]), np.int32)
        line_ends = np.empty(line_feeds + 1, np.int64)
        spread(numbers, bounds, as_int32(self.words), line_ends, words)
        return line_ends, words

    def _cut_pieces(self, first: int) -> None:
        new = Strings(
            self.starts[first : self.count + 1] - self.starts[first], self.known[self.starts[first] :]
        )
        cuts = [self.cut_piece(piece) for piece in new]
        ends = np.cumsum([len(words) for words in cuts], dtype=np.int64) + len(self.words)
        self.bounds.frombytes(ends.tobytes())
        self.words.extend(self.number_words([word for words in cuts for word in words]))

    def _make_room(self, pieces: int, data: int) -> None:
        """For so many new pieces with so many bytes."""
        from coclick.text._token_kernels import fill_slots

        if len(self.starts) < self.count + pieces + 1:
            self.starts = np.append(self.starts, np.empty(self.count + pieces, np.int64))
        if len(self.known) < self.starts[self.count] + data:
            self.known = np.append(self.known, np.empty(len(self.known) + data, np.uint8))
        if len(self.slots) < 2 * (self.count + pieces):
            self.slots = np.zeros(1 << (4 * (self.count + pieces)).bit_length(), np.int32)
            fill_slots(self.slots, self.starts, self.known, self.count)
