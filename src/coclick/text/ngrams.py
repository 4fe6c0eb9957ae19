"""Units: n-grams of words (Jiang et al. 2016, §3.1) or of characters.

Both are n-grams over sequences of int32 symbols: word units over term ids, character units over code points
(`character_sequences`). `WordUnits` and `CharUnits` have one interface:

    incidence = WordUnits.extract(sequences)    # the units of a collection, and which texts contain them
    incidence.table.decompose(sequences)        # the known units of new texts, by §3.3

The table is a trie. An n-gram is kept if at least `min_texts` texts contain it. These texts also contain its
prefixes, so the prefixes of all units are kept. This makes extraction cheap (an n-gram is counted only where
both shorter ones inside it are kept, and the key of a count is a node and a symbol in 64 bits), lookup fast,
and the table small: a symbol and a pointer per unit, in arrays that can be memory-mapped. Units are ordered
by length, then by their symbols.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.content_checks import ascends, is_within
from coclick.arrays.strings import Strings
from coclick.errors import UserError
from coclick.jit.threads import balanced_blocks, run_blocks
from coclick.storage.layout import Index, Shape
from coclick.storage.state import stored
from coclick.text import _ngram_kernels as kernels
from coclick.text.analyzer import Analyzer, Tokens, int32_view
from coclick.text.normalise import normalised_lines
from coclick.text.tokenizer import simplify_punctuation

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]

_BLOCK = 1 << 18  # symbols per lookup task

EDGE = "_"  # marks the start and the end of a word in character units
_IS_BREAK = np.array([not chr(code).isalnum() for code in range(128)])


class SparsePattern(NamedTuple):
    """The pattern of a sparse matrix: for each row its columns, ascending and distinct."""

    indptr: Int64s
    indices: Int32s


@dataclass(frozen=True)
class UnitMatches:
    """All occurrences of known units; those of text i are at `indptr[i]:indptr[i+1]`, by start, then size."""

    indptr: Int64s
    units: Int32s
    starts: Int32s  # position in the text's sequence
    sizes: Int32s


@dataclass(frozen=True)
class Incidence:
    """The units of each text, as distinct ascending ids."""

    table: UnitTable
    indptr: Int64s
    units: Int32s
    whole: Int32s  # for each text the unit that spans all of it, or −1

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, text: int) -> Int32s:
        return self.units[self.indptr[text] : self.indptr[text + 1]]

    def by_unit(self) -> SparsePattern:
        """Return for each unit the texts that contain it."""
        rows = SparsePattern(np.empty(len(self.table) + 1, np.int64), np.empty(len(self.units), np.int32))
        kernels.transpose_pattern(self.indptr, self.units, rows.indptr, rows.indices)
        return rows

    def without_full_text(self) -> Incidence:
        """Return the units of each text without the one that spans all of it: "excluding itself" (Eq. 7)."""
        others = self.units != np.repeat(self.whole, np.diff(self.indptr))
        indptr = self.indptr - np.concatenate([[0], np.cumsum(self.whole >= 0)])
        return Incidence(self.table, indptr, self.units[others], np.full_like(self.whole, -1))


@dataclass(frozen=True)
class UnitTable:
    """Known units as a trie whose nodes are ordered by depth, then by their symbols.

    The children of node v are nodes `children[v] … children[v+1]−1`; the nodes of n symbols are
    `levels[n−1] … levels[n]−1`. Nodes of at least `smallest` symbols are units, numbered from 0.
    """

    dimensions: ClassVar = ("units", "terms")
    symbols: Annotated[Int32s, Shape("nodes")]
    children: Annotated[Int64s, Shape("pointers")]
    levels: Annotated[Int64s, Shape("sizes")]
    min_n: int

    SIZES: ClassVar[tuple[int, int]]

    def sizes(self) -> dict[str, int]:
        """Return the number of units and of pointers; 0 units if the levels are damaged."""
        sound = 1 <= self.min_n < len(self.levels) and 0 <= self._first <= len(self.symbols)
        return {"units": len(self) if sound else 0, "pointers": len(self.symbols) + 1}

    def find_defect(self) -> str | None:
        """Return whether a level, or the children of a node, are out of place."""
        nodes, depths = len(self.symbols), self.levels.tolist()
        if depths != sorted(depths) or [*depths[:1], *depths[-1:]] != [0, nodes]:
            return "its levels do not ascend to the number of nodes"
        if not 1 <= self.min_n < len(depths):
            return "its units have no valid size"
        if not ascends(np.concatenate([[0], self.children]), nodes):
            return "pointers to children do not ascend"
        for first, end in pairwise(depths):
            if first < end and self.children[first] < end:
                return "the children of a node are not on the next level"
        return None

    @property
    def max_n(self) -> int:
        """The number of symbols of the longest units."""
        return len(self.levels) - 1

    @property
    def _first(self) -> int:
        """The node that is unit 0."""
        return int(self.levels[self.min_n - 1])

    def __len__(self) -> int:
        return len(self.symbols) - self._first

    def grams(self, units: NDArray[np.integer] | None = None) -> Int32s:
        """Return the symbols of the given units (default: all), padded with −1 at the end."""
        wanted = np.arange(len(self)) if units is None else np.asarray(units)
        if len(wanted) and not (wanted.min() >= 0 and wanted.max() < len(self)):
            raise IndexError("no such unit")
        nodes = wanted + self._first
        grams = np.full((len(nodes), self.max_n), -1, np.int32)
        for depth in range(self.max_n, 0, -1):
            deep = nodes >= self.levels[depth - 1]
            grams[deep, depth - 1] = self.symbols[nodes[deep]]
            # The parent is the last node whose first child is at or before this node.
            nodes[deep] = np.searchsorted(self.children, nodes[deep], side="right") - 1
        return grams

    @classmethod
    def extract(
        cls, sequences: Tokens, min_texts: int = 2, sizes: tuple[int, int] | None = None
    ) -> Incidence:
        """Find the n-grams that at least `min_texts` texts contain, and which text contains which."""
        min_n, max_n = sizes or cls.SIZES
        if not 1 <= min_n <= max_n or min_texts < 1:
            raise UserError(
                f"there are no units of {min_n} to {max_n} symbols in {min_texts} texts",
                hint="sizes begin at 1 and ascend; min_texts is at least 1",
            )
        symbols, children, levels = _grow_trie(sequences, max_n, min_texts)
        return cls(symbols, children, levels, min_n).incidence(sequences)

    @classmethod
    def build(cls, grams: Int32s) -> Self:
        """Build the table of given units: rows of symbols padded with −1, by length, then by symbols.

        The prefixes of every unit must be among them.
        """
        sizes, rows = (grams >= 0).sum(axis=1), np.arange(len(grams))
        levels = np.concatenate([[0], np.cumsum(np.bincount(sizes, minlength=grams.shape[1] + 1)[1:])])
        children = np.full(len(grams) + 1, len(grams), np.int64)
        parent = np.zeros(len(grams), np.int64)  # the prefix of each unit, as a position in its level
        for size in range(1, grams.shape[1] + 1):
            first, last = levels[size - 1], levels[size]
            keys = parent << 32 | grams[:, size - 1]
            if size > 1:
                above = np.arange(first - levels[size - 2])
                children[levels[size - 2] : first] = first + np.searchsorted(parent[first:last], above)
            parent[last:] = np.searchsorted(keys[first:last], keys[last:])
        return cls(grams[rows, sizes - 1], children, levels.astype(np.int64), cls.SIZES[0])

    def incidence(self, sequences: Tokens) -> Incidence:
        """Return all known units of each text, nested ones too."""
        return self._incidence(sequences, contained=True)

    def decompose(self, sequences: Tokens) -> Incidence:
        """Return the units from which the vector of each text is made (Eq. 8–9)."""
        return self.incidence(sequences)

    def labels(self, units: NDArray[np.integer], display_terms: Strings) -> list[str]:
        """Return readable names of units; `display_terms` has the form in which each term is shown."""
        raise NotImplementedError  # abstract

    def find(self, sequences: Tokens, first: int = 0, last: int | None = None) -> UnitMatches:
        """Find all occurrences of known units in texts `first` … `last` − 1."""
        last = len(sequences) if last is None else last
        symbols = int(sequences.indptr[last] - sequences.indptr[first])
        max_units = symbols * (self.max_n - self.min_n + 1)
        indptr = np.empty(last - first + 1, np.int64)
        nodes, starts, sizes = (np.empty(max_units, np.int32) for _ in range(3))
        trie = self.symbols, self.children, int(self.levels[1]), self.min_n, self.max_n
        out = indptr, nodes, starts, sizes
        kernels.find(first, last, sequences.indptr, sequences.terms, *trie, *out)
        nodes -= np.int32(self._first)
        return UnitMatches(indptr, nodes[: indptr[-1]], starts[: indptr[-1]], sizes[: indptr[-1]])

    def _incidence(self, sequences: Tokens, contained: bool) -> Incidence:
        whole = np.full(len(sequences), -1, np.int32)
        parts: dict[int, SparsePattern] = {}

        def work(first: int, last: int) -> None:
            found = self.find(sequences, first, last)
            if not contained:
                kernels.drop_contained(found.indptr, found.units, found.starts, found.sizes)
            kernels.find_whole(found.indptr, found.units, found.sizes, sequences.indptr, first, whole)
            kernels.distinct(found.indptr, found.units)
            parts[first] = SparsePattern(found.indptr, found.units[: found.indptr[-1]].copy())

        run_blocks(work, balanced_blocks(sequences.indptr, len(sequences.terms) // _BLOCK + 1))
        indptr, units = array("q", [0]), array("i")
        for first in sorted(parts):
            part = parts.pop(first)
            indptr.frombytes((part.indptr[1:] + len(units)).tobytes())
            units.frombytes(part.indices.tobytes())
        return Incidence(self, np.frombuffer(indptr, np.int64), int32_view(units), whole)


@stored
@dataclass(frozen=True)
class WordUnits(UnitTable):
    """1–3-grams of terms."""

    SIZES: ClassVar[tuple[int, int]] = (1, 3)
    symbols: Annotated[Int32s, Shape("nodes"), Index("terms")]

    def decompose(self, sequences: Tokens) -> Incidence:
        """Return the known units whose span is not inside the span of a longer known unit (§3.3).

        A unit that occurs several times is dropped only if all its occurrences are.
        """
        return self._incidence(sequences, contained=False)

    def labels(self, units: NDArray[np.integer], display_terms: Strings) -> list[str]:
        """Return the words of each unit, in their most frequent forms."""
        grams = self.grams(units).tolist()
        return [" ".join(display_terms[term] for term in gram if term >= 0) for gram in grams]


@stored
@dataclass(frozen=True)
class CharUnits(UnitTable):
    """3–5-grams of characters, for misspelt and run-together words.

    A text is represented by all of them, nested ones too: overlap makes them robust.
    """

    SIZES: ClassVar[tuple[int, int]] = (3, 5)

    def find_defect(self) -> str | None:
        """Return whether a symbol is not a character, or what is wrong with the levels."""
        if not is_within(self.symbols, 0, sys.maxunicode + 1):
            return "a symbol is not a character"
        return super().find_defect()

    def labels(self, units: NDArray[np.integer], display_terms: Strings) -> list[str]:
        """Return the characters between tildes, with an underscore at the edge of a word: ~_wal~, ~tmon~."""
        texts = ("".join(chr(code) for code in gram if code >= 0) for gram in self.grams(units).tolist())
        return [f"~{text}~" for text in texts]


def character_sequences(texts: Iterable[str]) -> Tokens:
    """Return each text as code points: every word between edge marks, then all words run together.

    "walmart money" becomes `_walmart_`, `_money_`, `walmartmoney`, with a break between them. The first two
    give the n-grams of words with their edges, the third those across words, so that "walmart money" has all
    inner n-grams of "walmartmoney". Letters, marks and digits make words; an apostrophe is skipped (women's
    is womens), everything else separates.
    """
    indptr, symbols = array("q", [0]), array("i")
    for lines in normalised_lines(texts):
        text = np.array(bytearray(simplify_punctuation(lines).encode("utf-32-le"))).view(np.uint32)
        ends = np.append(np.flatnonzero(text == ord("\n")), len(text))
        # Two characters (a letter and a blank) make at most five symbols.
        laid_out = np.empty(3 * len(text) + 4 * len(ends), np.int32)
        count = kernels.lay_out_words(text, ends, _IS_BREAK, ord("'"), ord(EDGE), laid_out)
        indptr.frombytes((ends + len(symbols)).tobytes())
        symbols.frombytes(laid_out[:count].tobytes())
    return Tokens(np.frombuffer(indptr, np.int64), int32_view(symbols))


def _grow_trie(sequences: Tokens, max_n: int, min_texts: int) -> tuple[Int32s, Int64s, Int64s]:
    """Build the trie of all n-grams of up to `max_n` symbols that enough texts contain, level by level."""
    indptr, sequence = sequences.indptr, sequences.terms
    counts = np.zeros(int(sequence.max(initial=-1)) + 1, np.int32)
    kernels.count_symbols(indptr, sequence, counts)
    frequent = np.flatnonzero(counts >= min_texts).astype(np.int32)
    node_of = np.full(len(counts) + 1, -1, np.int32)  # the last entry is for the break symbol, −1
    node_of[frequent] = np.arange(len(frequent), dtype=np.int32)
    current = node_of[sequence]
    symbols, children, levels = frequent, np.empty(0, np.int64), [0, len(frequent)]
    for size in range(2, max_n + 1):
        keys = kernels.frequent_extensions(indptr, sequence, current, size, min_texts)
        parents = np.arange(levels[-2], levels[-1])
        children = np.append(children, np.searchsorted(keys >> 32, parents) + levels[-1])
        symbols = np.append(symbols, (keys & 0xFFFFFFFF).astype(np.int32))
        levels.append(levels[-1] + len(keys))
        if size < max_n:
            kernels.extend(indptr, sequence, current, size, symbols, np.append(children, levels[-1]))
    leaves = np.full(levels[-1] - levels[-2] + 1, levels[-1], np.int64)
    return symbols, np.append(children, leaves), np.array(levels, np.int64)


# Models save their analyzer. Registered here, so that `text.analyzer` does not import storage.
stored(Analyzer)
