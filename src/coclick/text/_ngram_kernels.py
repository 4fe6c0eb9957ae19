"""N-grams over sequences of symbols: count them, build a trie of the frequent ones, find them in new texts.

A sequence is a row of int32 symbols; a negative symbol breaks it, so no n-gram spans it. The nodes of the
trie are ordered by depth and, within a depth, by their symbols: the children of node v are the nodes
`children[v] … children[v+1]−1`, with ascending `symbols`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]

_FREE = -1
_LOW_HALF = (1 << 32) - 1
_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_MAX_INSERTION = 24  # values that are sorted by insertion


@jit
def _search(symbols: Int32s, low: int, end: int, symbol: int) -> int:
    """Return the node among low … end−1 that has the symbol, or −1; −1 also for corrupt bounds."""
    if low < 0 or end > len(symbols):
        return -1
    high = end
    while low < high:
        middle = (low + high) // 2
        if symbols[middle] < symbol:
            low = middle + 1
        else:
            high = middle
    return low if low < end and symbols[low] == symbol else -1


@jit
def count_symbols(indptr: Int64s, sequence: Int32s, counts: Int32s) -> None:
    """Count in how many rows each symbol occurs."""
    last_row = np.full(len(counts), -1, np.int32)
    for row in range(len(indptr) - 1):
        for i in range(indptr[row], indptr[row + 1]):
            symbol = sequence[i]
            if symbol >= 0 and last_row[symbol] != row:
                last_row[symbol] = row
                counts[symbol] += 1


@jit
def _slot(slots: Int64s, key: int) -> int:
    """Return the slot of the key in an open-addressing hash table, or the free slot for it."""
    mask = len(slots) - 1
    slot = int((np.uint64(key) * _MIX) >> _HALF) & mask
    while slots[slot, 0] != key and slots[slot, 0] != _FREE:
        slot = (slot + 1) & mask
    return slot


@jit
def _doubled(slots: Int64s) -> Int64s:
    larger = np.full((2 * len(slots), 2), _FREE, np.int64)
    for i in range(len(slots)):
        if slots[i, 0] != _FREE:
            larger[_slot(larger, slots[i, 0])] = slots[i]
    return larger


@jit
def frequent_extensions(
    indptr: Int64s, sequence: Int32s, current: Int32s, size: int, min_rows: int
) -> Int64s:
    """Return the n-grams of `size` symbols in enough rows, as sorted keys `prefix node · 2³² + symbol`.

    `current[i]` is the node of the n-gram one shorter that starts at i, or −1. The longer one can only be
    frequent where this one and the next are. A slot of the hash table holds a key and, packed into one
    integer, its number of rows and the last row, so that a row is counted once.
    """
    slots = np.full((1 << 12, 2), _FREE, np.int64)
    used = 0
    for row in range(len(indptr) - 1):
        for i in range(indptr[row], indptr[row + 1] - size + 1):
            if current[i] < 0 or current[i + 1] < 0:
                continue
            key = int(current[i]) << 32 | int(sequence[i + size - 1])
            slot = _slot(slots, key)
            if slots[slot, 0] == _FREE:
                slots[slot, 0] = key
                slots[slot, 1] = (1 << 32) | row
                used += 1
                if 2 * used > len(slots):
                    slots = _doubled(slots)
            elif slots[slot, 1] & _LOW_HALF != row:
                slots[slot, 1] = ((slots[slot, 1] >> 32) + 1) << 32 | row
    kept = 0
    for i in range(len(slots)):
        if slots[i, 0] != _FREE and slots[i, 1] >> 32 >= min_rows:
            slots[kept, 0] = slots[i, 0]
            kept += 1
    keys = slots[:kept, 0].copy()
    keys.sort()
    return keys


@jit
def extend(
    indptr: Int64s, sequence: Int32s, current: Int32s, size: int, symbols: Int32s, children: Int64s
) -> None:
    """Replace the node of each n-gram by that of the n-gram of `size` symbols at the same position, or −1."""
    for row in range(len(indptr) - 1):
        last = indptr[row + 1] - size
        for i in range(indptr[row], indptr[row + 1]):
            if i <= last and current[i] >= 0 and current[i + 1] >= 0:
                first, end = children[current[i]], children[current[i] + 1]
                current[i] = _search(symbols, first, end, sequence[i + size - 1])
            else:
                current[i] = -1


@jit
def find(
    first: int,
    last: int,
    indptr: Int64s,
    sequence: Int32s,
    symbols: Int32s,
    children: Int64s,
    roots: int,
    min_n: int,
    max_n: int,
    found_indptr: Int64s,
    nodes: Int32s,
    starts: Int32s,
    sizes: Int32s,
) -> None:
    """Find all known n-grams of rows first … last−1 with their spans, by start and then by size.

    The first `roots` nodes are the single symbols.
    """
    written = 0
    found_indptr[0] = 0
    for row in range(first, last):
        start, end = indptr[row], indptr[row + 1]
        for i in range(start, end):
            low, high = 0, roots
            for size in range(1, min(max_n, end - i) + 1):
                symbol = sequence[i + size - 1]
                node = _search(symbols, low, high, symbol) if symbol >= 0 else -1
                if node < 0:
                    break
                low, high = children[node], children[node + 1]
                if size >= min_n:
                    nodes[written] = node
                    starts[written] = i - start
                    sizes[written] = size
                    written += 1
        found_indptr[row - first + 1] = written


@jit
def drop_contained(indptr: Int64s, nodes: Int32s, starts: Int32s, sizes: Int32s) -> None:
    """Drop the spans that `find` found inside a longer span, in place; updates `indptr`.

    Spans are sorted by start, then by size: the last one at a start contains the others there, and is itself
    contained in an earlier one if and only if that ends at or after its end.
    """
    written = 0
    begin = 0
    for row in range(len(indptr) - 1):
        end = indptr[row + 1]
        reach = 0
        for i in range(begin, end):
            if i + 1 < end and starts[i + 1] == starts[i]:
                continue
            if starts[i] + sizes[i] > reach:
                reach = starts[i] + sizes[i]
                nodes[written] = nodes[i]
                starts[written] = starts[i]
                sizes[written] = sizes[i]
                written += 1
        begin = end
        indptr[row + 1] = written


@jit
def find_whole(
    indptr: Int64s, nodes: Int32s, sizes: Int32s, sequences: Int64s, first: int, whole: Int32s
) -> None:
    """Write for each row, counted from `first`, the n-gram that is its whole sequence, if there is one."""
    for row in range(len(indptr) - 1):
        length = sequences[first + row + 1] - sequences[first + row]
        for i in range(indptr[row], indptr[row + 1]):
            if sizes[i] == length:
                whole[first + row] = nodes[i]


@jit
def _sort(values: Int32s) -> None:
    """Sort in place; by insertion where there are few values, which is the usual case."""
    if len(values) > _MAX_INSERTION:
        values.sort()
        return
    for i in range(1, len(values)):
        value = values[i]
        j = i
        while j > 0 and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value


@jit
def distinct(indptr: Int64s, nodes: Int32s) -> None:
    """Sort the entries of each row and drop repetitions, in place; updates `indptr`."""
    written = 0
    begin = 0
    for row in range(len(indptr) - 1):
        end = indptr[row + 1]
        _sort(nodes[begin:end])
        for i in range(begin, end):
            if i == begin or nodes[i] != nodes[i - 1]:
                nodes[written] = nodes[i]
                written += 1
        begin = end
        indptr[row + 1] = written


@jit
def transpose_pattern(indptr: Int64s, indices: Int32s, out_indptr: Int64s, out_indices: Int32s) -> None:
    """Write for each column its rows, ascending."""
    out_indptr[:] = 0
    for column in indices:
        out_indptr[column + 1] += 1
    for column in range(len(out_indptr) - 1):
        out_indptr[column + 1] += out_indptr[column]
    position = out_indptr[:-1].copy()
    for row in range(len(indptr) - 1):
        for i in range(indptr[row], indptr[row + 1]):
            column = indices[i]
            out_indices[position[column]] = row
            position[column] += 1


@jit
def lay_out_words(
    text: NDArray[np.uint32], ends: Int64s, is_break: NDArray[np.bool_], dropped: int, edge: int, out: Int32s
) -> int:
    """Write the words of each text between edge marks, then all of its words run together; −1 between.

    `ends` has the end of each text, and is changed to the end of its symbols. `is_break[c]` marks the ASCII
    characters that separate words; the character `dropped` is skipped. Returns the number of symbols.
    """
    written = 0
    begin = 0
    for row in range(len(ends)):
        first = written
        words = 0
        inside = False
        for i in range(begin, ends[row]):
            character = text[i]
            if character == dropped:
                continue
            if character < len(is_break) and is_break[character]:
                if inside:
                    out[written] = edge
                    written += 1
                inside = False
                continue
            if not inside:
                if words:
                    out[written] = -1
                    written += 1
                out[written] = edge
                written += 1
                words += 1
                inside = True
            out[written] = character
            written += 1
        if inside:
            out[written] = edge
            written += 1
        if words > 1:
            last = written
            for i in range(first, last):
                if out[i] == -1 or out[i] == edge:
                    continue
                if written == last:
                    out[written] = -1
                    written += 1
                out[written] = out[i]
                written += 1
        begin = ends[row]
        ends[row] = written
    return written
