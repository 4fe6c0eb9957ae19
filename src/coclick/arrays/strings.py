"""Packed strings: millions of texts in two arrays, with no Python object for any of them.

`Strings` is a list of texts (titles, bodies). `Vocab` adds look-up: strings at the edge, int32 inside,
unknown is −1. Both are views of arrays that may be memory-mapped, so opening them is free.
"""

from __future__ import annotations

import bisect
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.content_checks import ascends, is_within
from coclick.errors import UserError

_MAX_TAKEN = 1 << 20  # bytes of text that `take` copies at a time
_MAX_BISECTIONS = 64  # up to so many look-ups, Python's bisect is faster than loading a compiled kernel


class Strings:
    """An immutable list of texts in UTF-8: text i is `data[offsets[i]:offsets[i+1]]`."""

    def __init__(self, offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> None:
        self.offsets = offsets
        self.data = data

    @classmethod
    def from_list(cls, texts: Iterable[str]) -> Strings:
        """Pack texts. Lone surrogates, which UTF-8 cannot encode, become question marks."""
        texts = list(texts)
        joined = "".join(texts)
        if joined.isascii():
            lengths = np.fromiter(map(len, texts), np.int64, len(texts))
            data = joined.encode()
        else:
            encoded = [text.encode("utf-8", "replace") for text in texts]
            lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
            data = b"".join(encoded)
        offsets = np.zeros(len(texts) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return cls(offsets, np.frombuffer(data, np.uint8).copy())

    @classmethod
    def joined(cls, parts: Sequence[Strings]) -> Strings:
        """Return the texts of all parts, one part after the other."""
        data = np.concatenate([np.empty(0, np.uint8), *(part.data for part in parts)])
        starts = np.cumsum([0, *(len(part.data) for part in parts)])
        ends = [part.offsets[1:] + start for part, start in zip(parts, starts, strict=False)]
        return cls(np.concatenate([np.zeros(1, np.int64), *ends]), data)

    def find_defect(self) -> str | None:
        """Read the offsets and return what is wrong with them, or None."""
        return None if ascends(self.offsets, len(self.data)) else "offsets do not ascend to the end"

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> str:
        return self.bytes(index).decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_list())

    def bytes(self, index: int) -> bytes:
        """Return the UTF-8 bytes of one text."""
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.data[self.offsets[index] : self.offsets[index + 1]].tobytes()

    def to_list(self, first: int = 0, last: int | None = None) -> list[str]:
        """Return texts first … last − 1 as Python strings."""
        last = len(self) if last is None else min(last, len(self))
        bounds = self.offsets[first : last + 1].tolist()
        if len(bounds) < 2:
            return []
        base = bounds[0]
        block = self.data[base : bounds[-1]].tobytes()
        if block.isascii():
            text = block.decode("ascii")
            return [text[a - base : b - base] for a, b in zip(bounds[:-1], bounds[1:], strict=True)]
        return [
            block[a - base : b - base].decode("utf-8", "replace")
            for a, b in zip(bounds[:-1], bounds[1:], strict=True)
        ]

    def chunks(self, size: int = 8192) -> Iterator[list[str]]:
        """Yield all texts in lists of `size`."""
        for first in range(0, len(self), size):
            yield self.to_list(first, first + size)

    def concatenate(self, other: Strings) -> Strings:
        """Return these texts followed by those of `other`."""
        return Strings.joined([self, other])

    def take(self, rows: NDArray[np.integer]) -> Strings:
        """Return the texts of the given rows, in that order."""
        starts = self.offsets[:-1][rows]
        lengths = self.offsets[1:][rows] - starts
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        data = np.empty(offsets[-1], np.uint8)
        first = 0
        while first < len(rows):  # in blocks, because there is a position of 8 bytes for every byte
            last = int(np.searchsorted(offsets, offsets[first] + _MAX_TAKEN))
            last = min(max(last, first + 1), len(rows))
            source = np.repeat(starts[first:last] - offsets[first:last], lengths[first:last])
            source += np.arange(offsets[first], offsets[last])
            data[offsets[first] : offsets[last]] = self.data[source]
            first = last
        return Strings(offsets, data)


class Vocab(Strings):
    """Distinct strings with ids. `order` sorts them by their bytes; it is empty if they are stored sorted."""

    def __init__(
        self,
        offsets: NDArray[np.int64],
        data: NDArray[np.uint8],
        order: NDArray[np.int32] | None = None,
    ) -> None:
        super().__init__(offsets, data)
        self.order = np.empty(0, np.int32) if order is None else order

    @classmethod
    def from_list(cls, texts: Iterable[str]) -> Vocab:
        """Pack the distinct texts, sorted by their bytes."""
        strings = Strings.from_list(sorted(set(texts), key=lambda text: text.encode("utf-8", "replace")))
        return cls(strings.offsets, strings.data)

    def find_defect(self) -> str | None:
        """Read offsets and order and return what is wrong with them, or None."""
        if len(self.order) not in (0, len(self)) or not is_within(self.order, 0, len(self)):
            return "its order is out of bounds"
        return super().find_defect()

    @property
    def digest(self) -> str:
        """A short digest, stored with artefacts that are made from this vocabulary."""
        digest = hashlib.sha256(self.offsets.view(np.uint8).data)
        digest.update(self.data.data)
        return digest.hexdigest()[:16]

    def id(self, text: str) -> int:
        """Return the id of one string, −1 if it is unknown."""
        return int(self.lookup([text])[0])

    def lookup(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """Return the ids of strings, −1 for unknown ones."""
        if len(texts) <= _MAX_BISECTIONS:
            return np.array([self._bisect(text) for text in texts], np.int32)
        from coclick.arrays.kernels import lookup

        wanted = Strings.from_list(texts)
        found = np.empty(len(texts), np.int32)
        lookup(self.offsets, self.data, self.order, wanted.offsets, wanted.data, found)
        return found

    def extend(self, more: Sequence[str]) -> Vocab:
        """Return a vocabulary with more strings after the present ones (they must be new and distinct)."""
        strings = Strings(self.offsets, self.data).concatenate(Strings.from_list(more))
        order = self.order if len(self.order) else np.arange(len(self), dtype=np.int32)
        keys = [text.encode("utf-8", "replace") for text in more]
        sorting = sorted(range(len(more)), key=keys.__getitem__)
        places = [self._place(keys[i])[0] for i in sorting]
        merged = np.insert(order, places, np.array(sorting, np.int32) + np.int32(len(self)))
        return Vocab(strings.offsets, strings.data, merged.astype(np.int32))

    def _place(self, key: bytes) -> tuple[int, int]:
        """The position of `key` in byte order, and the id of the entry there, or −1 if `key` is unknown."""
        entries = _SortedBytes(self)
        place = bisect.bisect_left(entries, key)
        if place < len(self) and entries[place] == key:
            return place, int(self.order[place]) if len(self.order) else place
        return place, -1

    def _bisect(self, text: str) -> int:
        return self._place(text.encode("utf-8", "replace"))[1]


class _SortedBytes(Sequence[bytes]):
    """A vocabulary as a sorted sequence, for `bisect`."""

    def __init__(self, vocab: Vocab) -> None:
        self.vocab = vocab

    def __len__(self) -> int:
        return len(self.vocab)

    def __getitem__(self, place):  # type: ignore[no-untyped-def]
        return self.vocab.bytes(int(self.vocab.order[place]) if len(self.vocab.order) else place)


def columns_of(texts: Sequence[str | Mapping[str, str]], short: str) -> dict[str, Strings]:
    """Return one column per field of documents given as texts by field, or as a text of the field `short`."""
    given = [{short: text} if isinstance(text, str) else text for text in texts]
    if not all(
        isinstance(text, Mapping) and all(isinstance(t, str) for t in text.values()) for text in given
    ):
        raise UserError("a document must be a text or a mapping from fields to texts")
    fields = sorted({short, *(name for text in given for name in text)})
    return {name: Strings.from_list(text.get(name, "") for text in given) for name in fields}
