"""Turn text into term ids: words, stems, and the vocabulary that is built from them.

Texts are analysed in chunks, and every distinct token (a run of characters without white space) is split into
words once. The result is the same as text by text, for any chunk size.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, cached_property
from typing import Any, Literal, get_args

import numpy as np
import Stemmer
from numpy.typing import NDArray

from coclick.arrays.strings import Strings, Vocab
from coclick.errors import UserError
from coclick.text.languages import DEFAULT, Language, find_language
from coclick.text.normalise import normalise, normalised_lines
from coclick.text.stopwords import STOP_WORDS
from coclick.text.tokenizer import MAX_WORD_LENGTH, add_pieces, simplify_punctuation

# By the rules of `coclick.text.tokenizer`, with pieces of compound words or without; at white space only; or
# into n-grams of the characters of words.
Tokenizer = Literal["pieces", "words", "whitespace", "grams"]

GRAM_SIZES = (3, 4)  # characters
_BREAKS = re.compile(r"[\0-/:-@\[-`{-\x7f\s]+")  # ASCII that is neither letter nor digit
_MAX_TABLE_BYTES = 64_000_000  # of distinct tokens that are kept while a collection is analysed
_MAX_REMEMBERED = 200_000  # tokens of an analyzer, see `remembered_tokens`
_MIN_BATCH = 64  # with fewer texts, loading compiled kernels does not pay


@dataclass(frozen=True)
class Tokens:
    """The term ids of many texts: text i has `terms[indptr[i]:indptr[i+1]]`; −1 is an unknown term."""

    indptr: NDArray[np.int64]
    terms: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, index: int) -> NDArray[np.int32]:
        return self.terms[self.indptr[index] : self.indptr[index + 1]]

    def only(self, wanted: NDArray[np.bool_]) -> Tokens:
        """Return the same texts, with those that are not wanted empty."""
        kept = np.repeat(wanted, np.diff(self.indptr))
        return Tokens(np.concatenate([[0], np.cumsum(kept)])[self.indptr], self.terms[kept])

    def renumbered(self, new_ids: NDArray[np.int32]) -> Tokens:
        """Return the same texts with id `new_ids[t]` for term t; unknown terms stay unknown."""
        return Tokens(self.indptr, np.append(new_ids, np.int32(-1))[self.terms])


@dataclass(frozen=True)
class SortedTerms:
    """A complete vocabulary: terms sorted by their UTF-8 bytes."""

    terms: list[str]
    display_terms: list[str]  # for each term its most frequent surface form
    new_ids: NDArray[np.int32]  # id in the builder → position in `terms`


class VocabularyBuilder:
    """Collect terms, numbered by first appearance, and count their surface forms."""

    def __init__(self) -> None:
        self.terms: list[str] = []
        self._ids: dict[str, int] = {}
        self._surfaces: dict[str, int] = {}
        self._term_of = array("i")
        self._counts = np.zeros(1024, np.int64)

    def __len__(self) -> int:
        return len(self.terms)

    def add(self, words: list[str], stem: Callable[[list[str]], list[str]]) -> list[int]:
        """Return the ids of surface forms; stem and add those that are new."""
        surfaces = self._surfaces
        new = [word for word in dict.fromkeys(words) if word not in surfaces]
        for word, term in zip(new, stem(new), strict=True):
            term_id = self._ids.setdefault(term, len(self.terms))
            if term_id == len(self.terms):
                self.terms.append(term)
            surfaces[word] = len(self._term_of)
            self._term_of.append(term_id)
        return [surfaces[word] for word in words]

    def count(self, surfaces: NDArray[np.int32]) -> None:
        """Count surface forms, and replace each by its term, in place."""
        from coclick.text._token_kernels import count_words

        if len(self._counts) < len(self._term_of):
            self._counts = np.append(self._counts, np.zeros(len(self._term_of), np.int64))
        count_words(surfaces, self._counts, int32_view(self._term_of))

    def surface_forms(self) -> tuple[list[str], NDArray[np.int32], NDArray[np.int64]]:
        """Return the surface forms, the term of each, and the count of each."""
        count = len(self._term_of)
        return list(self._surfaces), int32_view(self._term_of), self._counts[:count]

    def finish(self) -> SortedTerms:
        """Sort the terms; display each in its most frequent form, then the shorter, then by letter."""
        best: dict[int, tuple[int, int, str]] = {}
        for (word, number), count in zip(self._surfaces.items(), self._counts.tolist(), strict=False):
            rank = (-count, len(word), word)
            term = self._term_of[number]
            if term not in best or rank < best[term]:
                best[term] = rank
        # Code points and UTF-8 bytes sort alike.
        order = sorted(range(len(self.terms)), key=self.terms.__getitem__)
        new_ids = np.empty(len(order), np.int32)
        new_ids[order] = np.arange(len(order), dtype=np.int32)
        return SortedTerms([self.terms[i] for i in order], [best[i][2] for i in order], new_ids)


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    # Every distinct word is stemmed once: PyStemmer's own cache would only take memory.
    return Stemmer.Stemmer(language, 0).stemWord


# Only words of letters, marks and apostrophes are stemmed: codes keep their endings.
_STEMMABLE = re.compile(r"[^\d!-&(-/:-@\[-`{-~]+")


@dataclass(frozen=True)
class Analyzer:
    """Split text into terms. Models save its fields, so that later text is split in the same way.

    With `tokenizer="pieces"` a compound word such as usb-c or 8ft is followed by its pieces, in queries and
    documents alike.

    `language` is a name or code of `coclick.text.languages`. Where there is no stemmer for it, words stay as
    they are; a language without spaces has neither stems nor stop words.
    """

    language: str = DEFAULT
    stem: bool = True
    remove_stop_words: bool = False
    tokenizer: Tokenizer = "pieces"

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) is not type(field.default):
                raise UserError(f"the analyzer's {field.name} cannot be {value!r}")
        object.__setattr__(self, "language", find_language(self.language).name)
        if self.tokenizer not in get_args(Tokenizer):
            raise UserError(
                f"there is no tokenizer {self.tokenizer!r}", hint="one of " + ", ".join(get_args(Tokenizer))
            )
        if self.remove_stop_words and self.language not in STOP_WORDS and not self._language.unspaced:
            raise UserError(
                f"there are no stop words for {self.language!r}",
                hint="keep the stop words, or use one of " + ", ".join(sorted(STOP_WORDS)),
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values."""
        return asdict(self)

    def words(self, text: str) -> list[str]:
        """Return the words of a text before stemming, without stop words if those are removed."""
        return [word for token in normalise(text).split(" ") for word in self._split(token)]

    def whole_words(self, text: str) -> list[str]:
        """Return the words of a text without the pieces of compound ones."""
        return (
            replace(self, tokenizer="words").words(text) if self.tokenizer == "pieces" else self.words(text)
        )

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text: its words, stemmed if `stem` is true."""
        return self.stems(self.words(text))

    def stems(self, words: list[str]) -> list[str]:
        """Return the term of each word: its stem, or the word itself for codes and if `stem` is false."""
        if not self.stem or not self._language.has_stemmer:
            return words
        stem = _stemmer(self.language)
        return [(stem(word) or word) if _STEMMABLE.fullmatch(word) else word for word in words]

    def analyze(self, texts: Iterable[str], vocabulary: VocabularyBuilder) -> Tokens:
        """Return the terms of many texts, as ids of a vocabulary that grows with them."""
        split: Callable[[str], list[str]] = self._split
        if (remembered := _remembered.get()) is not None:
            split = remembered.setdefault(self, _SplitTokens(self._split)).__getitem__
        table = _TokenTable(split, lambda words: vocabulary.add(words, self.stems))
        indptr, terms = array("q", [0]), array("i")
        for lines in normalised_lines(texts):
            ends, words = table.words_of(lines)
            vocabulary.count(words)
            indptr.frombytes((ends + len(terms)).tobytes())
            terms.frombytes(words.tobytes())
        return Tokens(np.frombuffer(indptr, np.int64), int32_view(terms))

    def lookup_terms(self, texts: Sequence[str], vocabulary: Vocab) -> Tokens:
        """Return the terms of many texts, as ids of a given vocabulary; −1 where it does not have them."""
        if len(texts) > _MIN_BATCH:
            seen = VocabularyBuilder()
            tokens = self.analyze(texts, seen)
            return tokens.renumbered(vocabulary.lookup(seen.terms))
        rows = [self.terms(text) for text in texts]
        indptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return Tokens(indptr, vocabulary.lookup([term for row in rows for term in row]))

    def without_stop_words(self, words: list[str]) -> list[str]:
        """Return the words without stop words, if those are to be removed."""
        unwanted = STOP_WORDS.get(self.language) if self.remove_stop_words else None
        return [word for word in words if word not in unwanted] if unwanted else words

    @property
    def splits_as_any_language(self) -> bool:
        """Whether words, before stop words are removed, do not depend on the language."""
        return self.tokenizer in ("pieces", "words") and not self._language.has_rules

    @cached_property
    def _language(self) -> Language:
        return find_language(self.language)

    def _split(self, token: str) -> list[str]:
        if self.tokenizer == "whitespace":
            words = [token[:MAX_WORD_LENGTH]]
        elif self.tokenizer == "grams":
            words = word_grams(token)
        else:
            words = self._language.split(token)
        return self.without_stop_words(add_pieces(words) if self.tokenizer == "pieces" else words)


def word_grams(text: str) -> list[str]:
    """Return the n-grams of three and four characters of each word, with `_` at its start and end.

    An apostrophe is skipped, all other punctuation separates.
    """
    words = _BREAKS.split(simplify_punctuation(text).replace("'", ""))
    marked = [f"_{word[:MAX_WORD_LENGTH]}_" for word in words if word]
    return [word[i : i + n] for word in marked for n in GRAM_SIZES for i in range(len(word) - n + 1)]


class _SplitTokens(dict[str, list[str]]):
    """The words of tokens, split when they are first needed."""

    def __init__(self, split: Callable[[str], list[str]]) -> None:
        super().__init__()
        self._split = split

    def __missing__(self, token: str) -> list[str]:
        words = self._split(token)
        if len(self) < _MAX_REMEMBERED:
            self[token] = words
        return words


_remembered: ContextVar[dict[Analyzer, _SplitTokens] | None] = ContextVar("remembered", default=None)


@contextmanager
def remembered_tokens() -> Iterator[None]:
    """Split a token only once, however many collections of texts have it."""
    before = _remembered.set({} if _remembered.get() is None else _remembered.get())
    try:
        yield
    finally:
        _remembered.reset(before)


def int32_view(values: array[int]) -> NDArray[np.int32]:
    """Return a view of the array: a copy could double the memory in use."""
    return np.frombuffer(values, np.int32) if len(values) else np.empty(0, np.int32)


class _TokenTable:
    """Distinct tokens, numbered by first appearance. Each is split into words once.

    Id 0 is the end of a line. Token t has the words `words[bounds[t]:bounds[t+1]]`.
    """

    def __init__(
        self, split_token: Callable[[str], list[str]], word_ids: Callable[[list[str]], list[int]]
    ) -> None:
        self.split_token, self.word_ids = split_token, word_ids
        self._clear()

    def _clear(self) -> None:
        self.count = 1
        self.slots = np.zeros(1 << 10, np.int32)
        self.starts = np.zeros(1 << 10, np.int64)
        self.data = np.empty(1 << 13, np.uint8)
        self.bounds, self.words = array("q", [0, 0]), array("i")

    def words_of(self, lines: str) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return where the words of each line end, and the words."""
        from coclick.text._token_kernels import expand_tokens, number_tokens

        if self.starts[self.count] > _MAX_TABLE_BYTES:
            self._clear()
        text = np.array(bytearray(lines.encode()), np.uint8)
        line_feeds = lines.count("\n")
        ids = np.empty(lines.count(" ") + 2 * line_feeds + 1, np.int32)
        self._reserve(len(ids), len(text))
        first_new = self.count
        self.count, written = number_tokens(text, self.slots, self.starts, self.data, self.count, ids)
        self._split_tokens(first_new)
        ids = ids[:written]
        bounds = np.frombuffer(self.bounds, np.int64)
        words = np.empty(np.sum(bounds[ids + 1] - bounds[ids]), np.int32)
        line_ends = np.empty(line_feeds + 1, np.int64)
        expand_tokens(ids, bounds, int32_view(self.words), line_ends, words)
        return line_ends, words

    def _split_tokens(self, first: int) -> None:
        new = Strings(
            self.starts[first : self.count + 1] - self.starts[first], self.data[self.starts[first] :]
        )
        rows = [self.split_token(token) for token in new]
        ends = np.cumsum([len(words) for words in rows], dtype=np.int64) + len(self.words)
        self.bounds.frombytes(ends.tobytes())
        self.words.extend(self.word_ids([word for words in rows for word in words]))

    def _reserve(self, tokens: int, size: int) -> None:
        """Make room for so many new tokens of together `size` bytes."""
        from coclick.text._token_kernels import fill_slots

        if len(self.starts) < self.count + tokens + 1:
            self.starts = np.append(self.starts, np.empty(self.count + tokens, np.int64))
        if len(self.data) < self.starts[self.count] + size:
            self.data = np.append(self.data, np.empty(len(self.data) + size, np.uint8))
        if len(self.slots) < 2 * (self.count + tokens):
            self.slots = np.zeros(1 << (4 * (self.count + tokens)).bit_length(), np.int32)
            fill_slots(self.slots, self.starts, self.data, self.count)
