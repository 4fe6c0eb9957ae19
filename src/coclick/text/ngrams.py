"""Units: the n-grams that texts are made of, of words (paper 003, §3.1) or of characters.

Both are n-grams over sequences of int32 symbols: word units over the ids of a text's terms, character units
over code points (`character_sequences`). `WordUnits` and `CharUnits` have one interface:

    incidence = WordUnits.extract(sequences)    # the units of a collection, and who holds them
    incidence.table.decompose(sequences)        # the known units of new texts, by §3.3

The table is a trie. An n-gram is kept if at least `min_texts` texts hold it, and a text that holds an n-gram
holds its beginning too, so the beginnings of all units are there. That makes extraction frugal (an n-gram is
counted only where the two shorter ones inside it are kept, and a count's key is a node and a symbol in 64
bits), look-up short, and the table small: an id and a pointer a unit, in arrays that can be memory-mapped.
Units are ordered by length, then by their symbols.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.strings import Strings
from coclick.errors import ArtefactError, UserError
from coclick.jit.threads import balanced_blocks, run_blocks
from coclick.storage.state import stored
from coclick.text import _ngram_kernels as kernels
from coclick.text.analyzer import Analyzer, Tokens, as_int32, normalised_lines
from coclick.text.tokenizer import plain_shapes

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]

_BLOCK = 1 << 18  # symbols that are looked up at a time

EDGE = "_"  # marks the beginning and the end of a word in character units
_IS_BREAK = np.array([not chr(code).isalnum() for code in range(128)])


class Rows(NamedTuple):
    """For each row the columns it holds, ascending and distinct."""

    indptr: Int64s
    indices: Int32s


@dataclass(frozen=True)
class UnitMatches:
    """Every occurrence of a known unit; text i has those at `indptr[i]:indptr[i+1]`, by start, then size."""

    indptr: Int64s
    units: Int32s
    starts: Int32s  # the place in the text's sequence
    sizes: Int32s


@dataclass(frozen=True)
class Incidence:
    """Which units each text holds: distinct, ascending ids. `whole` is the unit that is all of it, or −1."""

    table: UnitTable
    indptr: Int64s
    units: Int32s
    whole: Int32s

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, text: int) -> Int32s:
        return self.units[self.indptr[text] : self.indptr[text + 1]]

    def by_unit(self) -> Rows:
        """For each unit the texts that hold it."""
        rows = Rows(np.empty(len(self.table) + 1, np.int64), np.empty(len(self.units), np.int32))
        kernels.transpose_pattern(self.indptr, self.units, rows.indptr, rows.indices)
        return rows

    def without_whole(self) -> Incidence:
        """The units of each text "excluding itself" (Eq. 7)."""
        others = self.units != np.repeat(self.whole, np.diff(self.indptr))
        indptr = self.indptr - np.concatenate([[0], np.cumsum(self.whole >= 0)])
        return Incidence(self.table, indptr, self.units[others], np.full_like(self.whole, -1))


@dataclass(frozen=True)
class UnitTable:
    """Known units as a trie whose nodes stand by depth, then by their symbols.

    The children of node v are nodes `children[v] … children[v+1]−1`; the nodes of n symbols are
    `levels[n−1] … levels[n]−1`. Nodes of at least `smallest` symbols are units, numbered from 0.
    """

    symbols: Int32s
    children: Int64s
    levels: Int64s
    smallest: int

    SIZES: ClassVar[tuple[int, int]]

    def __post_init__(self) -> None:
        nodes = len(self.symbols)
        depths = [0, *self.levels.tolist()]
        if (
            len(self.children) != nodes + 1
            or not 1 <= self.smallest < len(self.levels)
            or depths != sorted(depths)
            or self.levels[0] != 0
            or self.levels[-1] != nodes
        ):
            raise ArtefactError("the table of units is damaged")

    @property
    def largest(self) -> int:
        """How many symbols the longest units have."""
        return len(self.levels) - 1

    @property
    def _first(self) -> int:
        """The node that is unit 0."""
        return int(self.levels[self.smallest - 1])

    def __len__(self) -> int:
        return len(self.symbols) - self._first

    def grams(self, units: NDArray[np.integer] | None = None) -> Int32s:
        """The symbols of the given units (of all by default), padded by −1 behind."""
        wanted = np.arange(len(self)) if units is None else np.asarray(units)
        if len(wanted) and not (wanted.min() >= 0 and wanted.max() < len(self)):
            raise IndexError("no such unit")
        nodes = wanted + self._first
        grams = np.full((len(nodes), self.largest), -1, np.int32)
        for depth in range(self.largest, 0, -1):
            deep = nodes >= self.levels[depth - 1]
            grams[deep, depth - 1] = self.symbols[nodes[deep]]
            # The parent is the last node whose children begin at or before this one.
            nodes[deep] = np.searchsorted(self.children, nodes[deep], side="right") - 1
        return grams

    @classmethod
    def extract(
        cls, sequences: Tokens, min_texts: int = 2, sizes: tuple[int, int] | None = None
    ) -> Incidence:
        """The units that at least `min_texts` of the texts hold, and which text holds which."""
        smallest, largest = sizes or cls.SIZES
        if not 1 <= smallest <= largest or min_texts < 1:
            raise UserError(
                f"there are no units of {smallest} to {largest} symbols in {min_texts} texts",
                hint="sizes begin at 1 and ascend; min_texts is at least 1",
            )
        symbols, children, levels = _grow_trie(sequences, largest, min_texts)
        return cls(symbols, children, levels, smallest).incidence(sequences)

    @classmethod
    def build(cls, grams: Int32s) -> Self:
        """The table of these units: rows of symbols padded by −1, by length, then by symbol.

        With each the table must have its beginning, which is so for all that enough texts hold.
        """
        sizes, rows = (grams >= 0).sum(axis=1), np.arange(len(grams))
        levels = np.concatenate([[0], np.cumsum(np.bincount(sizes, minlength=grams.shape[1] + 1)[1:])])
        children = np.full(len(grams) + 1, len(grams), np.int64)
        parent = np.zeros(len(grams), np.int64)  # where in its level the beginning of each unit stands
        for size in range(1, grams.shape[1] + 1):
            first, last = levels[size - 1], levels[size]
            keys = parent << 32 | grams[:, size - 1]
            if size > 1:
                above = np.arange(first - levels[size - 2])
                children[levels[size - 2] : first] = first + np.searchsorted(parent[first:last], above)
            parent[last:] = np.searchsorted(keys[first:last], keys[last:])
        return cls(grams[rows, sizes - 1], children, levels.astype(np.int64), cls.SIZES[0])

    def incidence(self, sequences: Tokens) -> Incidence:
        """All known units of each text, nested ones too, each counted once."""
        return self._incidence(sequences, contained=True)

    def decompose(self, sequences: Tokens) -> Incidence:
        """The units that stand for each text when its vector is made (Eq. 8–9)."""
        return self.incidence(sequences)

    def labels(self, units: NDArray[np.integer], surfaces: Strings) -> list[str]:
        """Units as people read them; `surfaces` says how to write each term."""
        raise NotImplementedError  # abstract

    def find(self, sequences: Tokens, first: int = 0, last: int | None = None) -> UnitMatches:
        """All occurrences of known units in texts `first` … `last` − 1. An unknown symbol is part of none."""
        last = len(sequences) if last is None else last
        symbols = int(sequences.indptr[last] - sequences.indptr[first])
        most = symbols * (self.largest - self.smallest + 1)
        indptr = np.empty(last - first + 1, np.int64)
        nodes, starts, sizes = (np.empty(most, np.int32) for _ in range(3))
        kernels.find(
            first,
            last,
            sequences.indptr,
            sequences.terms,
            self.symbols,
            self.children,
            int(self.levels[1]),
            self.smallest,
            self.largest,
            indptr,
            nodes,
            starts,
            sizes,
        )
        nodes -= np.int32(self._first)
        return UnitMatches(indptr, nodes[: indptr[-1]], starts[: indptr[-1]], sizes[: indptr[-1]])

    def _incidence(self, sequences: Tokens, contained: bool) -> Incidence:
        whole = np.full(len(sequences), -1, np.int32)
        parts: dict[int, Rows] = {}

        def work(first: int, last: int) -> None:
            found = self.find(sequences, first, last)
            if not contained:
                kernels.drop_contained(found.indptr, found.units, found.starts, found.sizes)
            kernels.find_whole(found.indptr, found.units, found.sizes, sequences.indptr, first, whole)
            kernels.distinct(found.indptr, found.units)
            parts[first] = Rows(found.indptr, found.units[: found.indptr[-1]].copy())

        run_blocks(work, balanced_blocks(sequences.indptr, len(sequences.terms) // _BLOCK + 1))
        indptr, units = array("q", [0]), array("i")
        for first in sorted(parts):
            part = parts.pop(first)
            indptr.frombytes((part.indptr[1:] + len(units)).tobytes())
            units.frombytes(part.indices.tobytes())
        return Incidence(self, np.frombuffer(indptr, np.int64), as_int32(units), whole)


@stored
@dataclass(frozen=True)
class WordUnits(UnitTable):
    """1–3-grams of terms."""

    SIZES: ClassVar[tuple[int, int]] = (1, 3)

    def decompose(self, sequences: Tokens) -> Incidence:
        """Without each unit whose span lies inside the span of a longer known unit (§3.3).

        A unit that occurs several times counts once, and falls only if all its occurrences do.
        """
        return self._incidence(sequences, contained=False)

    def labels(self, units: NDArray[np.integer], surfaces: Strings) -> list[str]:
        """The words of each unit in their commonest forms."""
        return [" ".join(surfaces[term] for term in gram if term >= 0) for gram in self.grams(units).tolist()]


@stored
@dataclass(frozen=True)
class CharUnits(UnitTable):
    """3–5-grams of characters, for misspelt and run-together words (SYSTEMS.md §25).

    They all stand for a text, nested ones too: what makes them robust is that they overlap.
    """

    SIZES: ClassVar[tuple[int, int]] = (3, 5)

    def labels(self, units: NDArray[np.integer], surfaces: Strings) -> list[str]:
        """The characters between tildes, with a low line at a word's edge: ~_wal~, ~tmon~."""
        return [
            "~" + "".join(chr(code) for code in gram if code >= 0) + "~"
            for gram in self.grams(units).tolist()
        ]


def character_sequences(texts: Iterable[str]) -> Tokens:
    """Each text as code points: every word between edge marks, then all words run together.

    "walmart money" is `_walmart_`, `_money_`, `walmartmoney`, with a break between them. The first two give
    the units of words with their edges, the third those across words, so that the n-grams of "walmartmoney"
    are all among those of "walmart money". Letters, marks and digits make words; an apostrophe is passed
    over (women's is womens), everything else separates.
    """
    indptr, symbols = array("q", [0]), array("i")
    for lines in normalised_lines(texts):
        text = np.array(bytearray(plain_shapes(lines).encode("utf-32-le"))).view(np.uint32)
        ends = np.append(np.flatnonzero(text == ord("\n")), len(text))
        # A word of one letter and the blank behind it make five symbols, the most for their length.
        laid_out = np.empty(3 * len(text) + 4 * len(ends), np.int32)
        count = kernels.lay_out_words(text, ends, _IS_BREAK, ord("'"), ord(EDGE), laid_out)
        indptr.frombytes((ends + len(symbols)).tobytes())
        symbols.frombytes(laid_out[:count].tobytes())
    return Tokens(np.frombuffer(indptr, np.int64), as_int32(symbols))


def _grow_trie(sequences: Tokens, largest: int, min_texts: int) -> tuple[Int32s, Int64s, Int64s]:
    """The trie of all n-grams of up to `largest` symbols that enough texts hold, one level at a time."""
    indptr, sequence = sequences.indptr, sequences.terms
    counts = np.zeros(int(sequence.max(initial=-1)) + 1, np.int32)
    kernels.count_symbols(indptr, sequence, counts)
    frequent = np.flatnonzero(counts >= min_texts).astype(np.int32)
    node_of = np.full(len(counts) + 1, -1, np.int32)  # the last one is for the break, −1
    node_of[frequent] = np.arange(len(frequent), dtype=np.int32)
    current = node_of[sequence]
    symbols, children, levels = frequent, np.empty(0, np.int64), [0, len(frequent)]
    for size in range(2, largest + 1):
        keys = kernels.frequent_extensions(indptr, sequence, current, size, min_texts)
        parents = np.arange(levels[-2], levels[-1])
        children = np.append(children, np.searchsorted(keys >> 32, parents) + levels[-1])
        symbols = np.append(symbols, (keys & 0xFFFFFFFF).astype(np.int32))
        levels.append(levels[-1] + len(keys))
        if size < largest:
            kernels.extend(indptr, sequence, current, size, symbols, np.append(children, levels[-1]))
    leaves = np.full(levels[-1] - levels[-2] + 1, levels[-1], np.int64)
    return symbols, np.append(children, leaves), np.array(levels, np.int64)


# An analyzer is saved inside the models that use it; `text.analyzer` itself stays free of what saving needs.
stored(Analyzer)
