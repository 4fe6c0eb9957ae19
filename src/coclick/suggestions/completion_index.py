"""The queries of a log, sorted for completion: which queries begin with what was typed, best first.

A query is found by its beginning or by the beginning of a later word. Whole queries, and what begins at each
later word, are sorted by their bytes, so that all that begin with a text are next to each other. Of every 64
and 4,096 of them the best is known, so that the best k of a range are found without reading all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.strings import Strings, Vocab
from coclick.errors import corrupt_error
from coclick.storage.layout import Index, Shape
from coclick.storage.state import stored

LATER_WORD_WEIGHT = np.float32(0.25)  # of a query that is found by a later word, relative to its beginning
_MIN_TYPED = 4  # characters from which one typo is tolerated
_MIN_TYPED_FOR_TWO = 9
_MAX_TYPED = 64  # characters up to which typos are tolerated
_SPACE = 32
_HIDDEN = np.int32(-1)  # merit of a text that is hidden by `hide`
_CHECKED = 1 << 18  # entries at a time

Merits = NDArray[np.int32]


@stored
@dataclass(frozen=True)
class CompletionIndex:
    """Texts sorted by their bytes, with weights. Make one with `build`."""

    dimensions: ClassVar = ("texts",)
    texts: Annotated[Vocab, Shape("texts")]
    weights: Annotated[NDArray[np.float32], Shape("texts")]
    # The order of weights: larger is better; 0 and less are never found.
    merits: Annotated[Merits, Shape("texts")]
    merits_64: Annotated[Merits, Shape("texts_64")]  # the largest of every 64
    merits_4096: Annotated[Merits, Shape("texts_4096")]
    # Later words, sorted by what follows: the text, and the byte at which the word begins.
    suffix_text: Annotated[NDArray[np.int32], Shape("suffixes"), Index("texts")]
    suffix_begin: Annotated[NDArray[np.uint16], Shape("suffixes")]
    suffix_merits: Annotated[Merits, Shape("suffixes")]
    suffix_merits_64: Annotated[Merits, Shape("suffixes_64")]
    suffix_merits_4096: Annotated[Merits, Shape("suffixes_4096")]

    def sizes(self) -> dict[str, int]:
        """Return the number of blocks of 64 and of 4,096."""
        found = {"texts": len(self.texts), "suffixes": len(self.suffix_text)}
        return {
            f"{name}_{block}": -(-count // block) for name, count in found.items() for block in (64, 4096)
        }

    def find_defect(self) -> str | None:
        """Return whether a later word begins after the end of its text."""
        lengths = np.diff(self.texts.offsets)
        for first in range(0, len(self.suffix_text), _CHECKED):
            part = slice(first, first + _CHECKED)
            if np.any(self.suffix_begin[part] > lengths[self.suffix_text[part]]):
                return "a word begins after the end of its text"
        return None

    @classmethod
    def build(
        cls, texts: Vocab, weights: NDArray[np.float32], shown: NDArray[np.bool_] | None = None
    ) -> CompletionIndex:
        """Index texts that are distinct and sorted by their bytes, each of at most 65,535 bytes.

        Those that are not `shown` are never found.
        """
        count = len(texts)
        merits = np.empty(count, np.int32)
        merits[np.lexsort((np.arange(count), -weights))] = np.arange(count, 0, -1)
        if shown is not None:
            merits[~shown] = 0
        suffix_text, suffix_begin = _sorted_suffixes(texts)
        return cls._with_merits(texts, weights, merits, suffix_text, suffix_begin)

    def hide(self, rows: NDArray[np.int64]) -> CompletionIndex:
        """Return the index with some texts hidden: they are not found any more."""
        merits = self.merits.copy()
        merits[rows] = _HIDDEN
        return self._with_merits(self.texts, self.weights, merits, self.suffix_text, self.suffix_begin)

    def hidden_texts(self) -> frozenset[str]:
        """Return the texts that `hide` has hidden."""
        return frozenset(self.texts.take(np.flatnonzero(self.merits == _HIDDEN)).to_list())

    @classmethod
    def _with_merits(
        cls,
        texts: Vocab,
        weights: NDArray[np.float32],
        merits: NDArray[np.int32],
        suffix_text: NDArray[np.int32],
        suffix_begin: NDArray[np.uint16],
    ) -> CompletionIndex:
        from coclick.suggestions._completion_kernels import BLOCK, SUPERBLOCK, block_maxima

        of_suffixes = merits[suffix_text]
        return cls(
            texts,
            weights,
            merits,
            block_maxima(merits, BLOCK),
            block_maxima(merits, SUPERBLOCK),
            suffix_text,
            suffix_begin,
            of_suffixes,
            block_maxima(of_suffixes, BLOCK),
            block_maxima(of_suffixes, SUPERBLOCK),
        )

    def complete(
        self, prefix: str, k: int, *, typos: bool = True
    ) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int32]]:
        """Return the texts that a normalised prefix completes to, with their scores and numbers of typos."""
        max_typos = allowed_typos(len(prefix)) if typos else 0
        rows, scores, found_typos, damaged = self._complete(
            _characters(prefix, "utf-8", np.uint8),
            _characters(prefix, "utf-32-le", np.int32) if max_typos else _NO_CHARACTERS,
            max_typos,
            LATER_WORD_WEIGHT,
            k,
        )
        if damaged:
            raise corrupt_error("the index of completions is")
        return rows, scores, found_typos

    @cached_property
    def _complete(self) -> Callable[..., Any]:
        """The compiled function with its arrays, which are put together only once."""
        from coclick.suggestions._completion_kernels import complete

        return partial(
            complete,
            (self.texts.offsets, self.texts.data),
            (_NO_ROWS, _NO_BEGINS),
            (self.merits, self.merits_64, self.merits_4096),
            (self.suffix_text, self.suffix_begin),
            (self.suffix_merits, self.suffix_merits_64, self.suffix_merits_4096),
            self.weights,
        )


def allowed_typos(characters: int) -> int:
    """Return how many typos are tolerated in a text of that many characters."""
    if not _MIN_TYPED <= characters <= _MAX_TYPED:
        return 0
    return 2 if characters >= _MIN_TYPED_FOR_TWO else 1


def _sorted_suffixes(texts: Strings) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
    """Where later words begin, as text and byte, sorted by the bytes that follow."""
    starts = np.flatnonzero(texts.data == _SPACE) + 1
    rows = (np.searchsorted(texts.offsets, starts, "right") - 1).astype(np.int32)
    order = sorted_by_bytes(texts.data, starts, texts.offsets[rows + 1])
    rows, starts = rows[order], starts[order]
    return rows, (starts - texts.offsets[rows]).astype(np.uint16)


def sorted_by_bytes(
    data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the order of stretches of bytes without zeros; equal ones stay in their order.

    Sorts by eight bytes at a time, each time only those that are equal so far.
    """
    order = np.arange(len(starts))
    places, group = (
        order.copy(),
        np.zeros(len(order), np.int64),
    )  # what is not in order yet, and what is equal
    depth = 0
    while len(places):
        chosen = order[places]
        keys = _eight_bytes(data, starts[chosen] + depth, ends[chosen])
        inside = np.lexsort((keys, group))
        order[places] = chosen[inside]
        keys, group = keys[inside], group[inside]
        is_first = np.append(True, (np.diff(group) != 0) | (keys[1:] != keys[:-1]))
        is_alone = is_first & np.append(is_first[1:], True)
        unfinished = ~is_alone & (keys & np.uint64(255) != 0)  # ends with zero: all of them have ended
        places, group = places[unfinished], np.cumsum(is_first)[unfinished]
        depth += 8
    return order


def _eight_bytes(
    data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """The next eight bytes of each stretch as a number; zeros after its end."""
    keys = np.zeros(len(starts), np.uint64)
    padded = np.append(data, np.uint8(0))
    for i in range(8):
        inside = starts + i < ends
        byte = np.where(inside, padded[np.where(inside, starts + i, len(data))], 0)
        keys = (keys << np.uint64(8)) | byte.astype(np.uint64)
    return keys


def _characters(text: str, encoding: str, dtype: type) -> NDArray[Any]:
    """The characters of a text in a writable array: numba compiles another function for read-only ones."""
    encoded = bytearray(text.encode(encoding, "replace"))
    return np.frombuffer(encoded, dtype) if encoded else np.empty(0, dtype)


_NO_ROWS, _NO_BEGINS = np.empty(0, np.int32), np.empty(0, np.uint16)
_NO_CHARACTERS = np.empty(0, np.int32)
