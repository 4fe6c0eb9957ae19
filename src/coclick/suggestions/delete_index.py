"""Words within a few edits of a word, found by symmetric deletes.

Two words are within d edits only if at most d deletions from the start of each lead to the same text. So
every word is indexed by the hashes of its start after each choice of deletions, and a typed word is looked up
by its own. What is found is compared letter by letter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.strings import Strings
from coclick.errors import corrupt_error
from coclick.storage.layout import Index, Pointers, Shape
from coclick.storage.state import stored

MIN_LETTERS = 4  # of a word that is corrected
MIN_LETTERS_FOR_TWO = 8
MAX_LETTERS = 40
_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


@stored
@dataclass(frozen=True)
class DeleteIndex:
    """Numbers of words by the hashes of their deletes."""

    dimensions: ClassVar = ("words",)
    # Where each bucket begins in `entries`; the number of buckets is a power of two.
    starts: Annotated[NDArray[np.int64], Pointers("buckets", "entries")]
    entries: Annotated[NDArray[np.int32], Shape("entries"), Index("words")]
    merits: Annotated[NDArray[np.int32], Shape("words")]  # of all words: larger is better

    @classmethod
    def build(cls, words: Strings, indexed: NDArray[np.int32], counts: NDArray[Any]) -> DeleteIndex:
        """Index some of the words; of words at one distance those with larger counts are found first."""
        from coclick.suggestions._delete_kernels import index_words

        merits = np.empty(len(words), np.int32)
        merits[np.lexsort((np.arange(len(words)), -counts))] = np.arange(len(words), 0, -1)
        bits = max(4, (16 * len(indexed)).bit_length() - 1)
        return cls(*index_words(words.offsets, words.data, indexed, bits), merits)

    def near(
        self, words: Strings, typed: str, limit: int, k: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
        """Return the k nearest words within `limit` edits, their distances and what typing them so costs."""
        from coclick.suggestions._delete_kernels import lookup

        characters = np.frombuffer(bytearray(typed.encode("utf-32-le", "replace")), np.int32)
        found, distances, costs, damaged = lookup(
            words.offsets, words.data, self.merits, self.starts, self.entries, _IS_NEAR, characters, limit, k
        )
        if damaged:
            raise corrupt_error("the index of words is")
        return found, distances, costs

    def find_defect(self) -> str | None:
        """Return whether the number of buckets is wrong."""
        buckets = len(self.starts) - 1
        return "the number of buckets is no power of two" if buckets < 1 or buckets & (buckets - 1) else None


def allowed_edits(letters: int) -> int:
    """Return by how many edits a word of that many letters may be corrected."""
    if not MIN_LETTERS <= letters <= MAX_LETTERS:
        return 0
    return 2 if letters >= MIN_LETTERS_FOR_TWO else 1


def _neighbouring_keys() -> NDArray[np.bool_]:
    is_near = np.zeros((26, 26), np.bool_)
    for row in _KEYBOARD:
        for one, two in zip(row[:-1], row[1:], strict=True):
            is_near[ord(one) - 97, ord(two) - 97] = is_near[ord(two) - 97, ord(one) - 97] = True
    return is_near


_IS_NEAR = _neighbouring_keys()
