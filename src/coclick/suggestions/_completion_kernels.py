"""Compiled code of completions: prefix ranges over sorted texts, with and without typos, and their best rows.

Texts are sorted by their bytes. Place i is the whole text i, or, if `rows` is not empty, what follows the
byte `begins[i]` of the text `rows[i]`. `merits` order places: the larger, the better; all places of a text
have the same, and 0 is never found. Blocks and superblocks hold the largest merit of 64 and of 4,096 places.

Pointers are checked before use: a damaged one counts as an empty text and sets `damaged[0]`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit, jit_inline, jit_noalloc

BLOCK = 64
SUPERBLOCK = BLOCK * BLOCK
MAX_TYPED = 64  # characters up to which typos are tolerated
_MAX_TYPOS = 2
_FAR = np.int32(1000)
_END = np.int32(-1)


@jit
def block_maxima(merits: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    """Return the largest merit of every `size` places."""
    found = np.zeros((len(merits) + size - 1) // size, np.int32)
    for i in range(len(merits)):
        found[i // size] = max(found[i // size], merits[i])
    return found


@jit_inline
def _bounds(texts, suffixes, place, damaged):  # type: ignore[no-untyped-def]
    """The first and last byte of a place."""
    offsets, data = texts
    rows, begins = suffixes
    row, skipped = place, 0
    if len(rows):
        row, skipped = rows[place], begins[place]
    if row < 0 or row >= len(offsets) - 1:
        damaged[0] = True
        return 0, 0
    first, last = offsets[row] + skipped, offsets[row + 1]
    if first < 0 or last < first or last > len(data):
        damaged[0] = True
        return 0, 0
    return first, last


@jit_inline
def _character(data, at, last):  # type: ignore[no-untyped-def]
    """The code point at a byte and its length; −1 at the end of the text. Bad bytes count as characters."""
    if at >= last:
        return _END, 0
    lead = np.int32(data[at])
    size = 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    if size == 1 or at + size > last:
        return lead, 1
    code = lead & (0x7F >> size)
    for i in range(1, size):
        code = (code << 6) | (np.int32(data[at + i]) & 0x3F)
    return np.int32(code), size


@jit_inline
def _below(texts, suffixes, place, key, after_prefix, damaged):  # type: ignore[no-untyped-def]
    """Whether a place is before the key or, with `after_prefix`, before all places that begin with it."""
    first, last = _bounds(texts, suffixes, place, damaged)
    data = texts[1]
    for i in range(len(key)):
        if first + i >= last:
            return True
        if data[first + i] != key[i]:
            return data[first + i] < key[i]
    return after_prefix


@jit
def prefix_range(texts, suffixes, size, key, damaged):  # type: ignore[no-untyped-def]
    """The places, of `size`, that begin with a key: from the first to before the last."""
    ends = np.zeros(2, np.int64)
    for end in range(2):
        low, high = (ends[0] if end else 0), size
        while low < high:
            middle = (low + high) // 2
            if _below(texts, suffixes, middle, key, end == 1, damaged):
                low = middle + 1
            else:
                high = middle
        ends[end] = low
    return ends[0], ends[1]


@jit_inline
def _contains(rows, count, row):  # type: ignore[no-untyped-def]
    for i in range(count):  # noqa: SIM110 (numba compiles no generators)
        if rows[i] == row:
            return True
    return False


@jit_noalloc
def _offer(merits, rows, size, merit, row):  # type: ignore[no-untyped-def]
    """Insert a row into a list that is sorted by merit, best first, and keeps its length; return its size."""
    if size == len(rows):
        if merit <= merits[size - 1]:
            return size
        size -= 1
    at = size
    while at > 0 and merits[at - 1] < merit:
        merits[at], rows[at] = merits[at - 1], rows[at - 1]
        at -= 1
    merits[at], rows[at] = merit, row
    return size + 1


@jit_noalloc
def _offer_range(suffixes, order, first, last, known, n_known, merits, rows, size, n_texts, damaged):  # type: ignore[no-untyped-def]
    """Offer all places of a range, without the rows that are known already."""
    merit_of, blocks, superblocks = order
    place = first
    while place < last:
        bound = merits[size - 1] if size == len(rows) else np.int32(0)
        block, superblock = place // BLOCK, place // SUPERBLOCK
        if place % SUPERBLOCK == 0 and superblock < len(superblocks) and superblocks[superblock] <= bound:
            place += SUPERBLOCK
        elif place % BLOCK == 0 and block < len(blocks) and blocks[block] <= bound:
            place += BLOCK
        else:
            merit = merit_of[place]
            if merit > bound:
                row = suffixes[0][place] if len(suffixes[0]) else np.int32(place)
                if row < 0 or row >= n_texts:
                    damaged[0] = True
                elif not _contains(known, n_known, row) and not _contains(rows, size, row):
                    size = _offer(merits, rows, size, merit, row)
            place += 1
    return size


@jit_inline
def _next_row(typed, code, before, rows, depth, typos):  # type: ignore[no-untyped-def]
    """Fill row `depth` of the edit distances (with swaps) between a text's start and all starts of `typed`.

    Only cells within `typos` of the diagonal can matter. Returns the smallest of them.
    """
    low, high = max(depth - typos, 0), min(depth + typos, len(typed))
    smallest = _FAR
    for i in range(low, high + 1):
        cost = np.int32(depth)
        if i > 0:
            cost = np.int32(rows[depth - 1, i - 1] + (typed[i - 1] != code))
            if i > low:
                cost = min(cost, np.int32(rows[depth, i - 1] + 1))
            if i < depth + typos:
                cost = min(cost, np.int32(rows[depth - 1, i] + 1))
            if i > 1 and depth > 1 and typed[i - 2] == code and typed[i - 1] == before:
                cost = min(cost, np.int32(rows[depth - 2, i - 2] + 1))
        rows[depth, i] = cost
        smallest = min(smallest, cost)
    return smallest


@jit_noalloc
def _run_end(texts, suffixes, place, last, depth, code, damaged):  # type: ignore[no-untyped-def]
    """The first place after `place`, up to `last`, whose character at byte `depth` is larger than `code`."""
    step, low, high = 1, place + 1, last
    data = texts[1]
    while low < last:  # in growing steps: most runs are short
        probe = min(place + step, last - 1)
        first, end = _bounds(texts, suffixes, probe, damaged)
        if _character(data, first + depth, end)[0] > code:
            high = probe
            break
        low = probe + 1
        step *= 4
    while low < high:
        middle = (low + high) // 2
        first, end = _bounds(texts, suffixes, middle, damaged)
        if _character(data, first + depth, end)[0] > code:
            high = middle
        else:
            low = middle + 1
    return low


@jit
def _offer_with_typos(  # type: ignore[no-untyped-def]
    texts, suffixes, order, typed, first_range, typos, known, n_known, merits, rows, size, damaged
):
    """Offer all places with a start within `typos` edits of `typed`; `first_range` has its first character.

    Walks down the tree of characters that sorted texts form: a node is a range of places.
    """
    length, n_texts = len(typed), len(texts[0]) - 1
    distances = np.full((length + _MAX_TYPOS + 2, length + 1), _FAR, np.int32)
    for i in range(min(typos, length) + 1):
        distances[0, i] = i
    _next_row(typed, typed[0], _END, distances, 1, typos)
    most = length + typos
    ends, depths = np.empty(most + 2, np.int64), np.empty(most + 2, np.int64)
    codes = np.empty(most + 2, np.int32)
    data = texts[1]
    place, level = first_range[0], 1
    ends[1], codes[1] = first_range[1], typed[0]
    start, last = _bounds(texts, suffixes, place, damaged)
    depths[1] = _character(data, start, last)[1]
    while level > 0:
        if place >= ends[level]:
            level -= 1
            continue
        start, last = _bounds(texts, suffixes, place, damaged)
        code, size_of_code = _character(data, start + depths[level], last)
        end = _run_end(texts, suffixes, place, ends[level], depths[level], code, damaged)
        if code != _END:
            smallest = _next_row(typed, code, codes[level], distances, level + 1, typos)
            reached = level + 1 >= length - typos and distances[level + 1, length] <= typos
            if reached:
                size = _offer_range(
                    suffixes, order, place, end, known, n_known, merits, rows, size, n_texts, damaged
                )
            elif smallest <= typos and level < most:
                level += 1
                ends[level], codes[level], depths[level] = end, code, depths[level - 1] + size_of_code
                continue
        place = end
    return size


@jit_noalloc
def _merge(weights, later_weight, starts, n_starts, laters, n_laters, found, scores, size):  # type: ignore[no-untyped-def]
    """Append rows found at the start of texts and at later words, best first, each once; return the size."""
    i, j = 0, 0
    while size < len(found) and (i < n_starts or j < n_laters):
        while j < n_laters and _contains(starts, n_starts, laters[j]):
            j += 1
        score = later = np.float32(-1)
        if i < n_starts:
            score = weights[starts[i]]
        if j < n_laters:
            later = weights[laters[j]] * later_weight
        if i < n_starts and score >= later:
            found[size], scores[size] = starts[i], score
            i += 1
        elif j < n_laters:
            found[size], scores[size] = laters[j], later
            j += 1
        else:
            break
        size += 1
    return size


@jit
def complete(
    texts: tuple[NDArray[np.int64], NDArray[np.uint8]],
    whole: tuple[NDArray[np.int32], NDArray[np.uint16]],
    whole_order: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]],
    suffixes: tuple[NDArray[np.int32], NDArray[np.uint16]],
    suffix_order: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]],
    weights: NDArray[np.float32],
    key: NDArray[np.uint8],
    typed: NDArray[np.int32],
    max_typos: int,
    later_weight: np.float32,
    k: int,
) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int32], bool]:
    """Return the k best rows whose text, or a later word of it, begins with a key, with their scores.

    Rows with fewer typos come first, then those with larger scores. The third array has the typos of each
    row, the fourth value says whether a pointer was out of bounds.
    """
    found, scores = np.empty(k, np.int32), np.empty(k, np.float32)
    typos_of = np.zeros(k, np.int32)
    damaged = np.zeros(1, np.bool_)
    starts, laters = np.empty(k, np.int32), np.empty(k, np.int32)
    merits = np.empty(k, np.int32)
    n_texts, n_suffixes = len(whole_order[0]), len(suffixes[0])
    size = 0
    for typos in range(max_typos + 1):
        n_starts = n_laters = 0
        if typos == 0:
            first, last = prefix_range(texts, whole, n_texts, key, damaged)
            n_starts = _offer_range(
                whole, whole_order, first, last, found, 0, merits, starts, 0, n_texts, damaged
            )
            if len(key):
                first, last = prefix_range(texts, suffixes, n_suffixes, key, damaged)
                n_laters = _offer_range(
                    suffixes, suffix_order, first, last, found, 0, merits, laters, 0, n_texts, damaged
                )
        else:
            length = 1
            while length < len(key) and (key[length] & 0xC0) == 0x80:
                length += 1
            within = prefix_range(texts, whole, n_texts, key[:length], damaged)
            if within[0] < within[1]:
                n_starts = _offer_with_typos(
                    texts, whole, whole_order, typed, within, typos, found, size, merits, starts, 0, damaged
                )
            within = prefix_range(texts, suffixes, n_suffixes, key[:length], damaged)
            if within[0] < within[1]:
                n_laters = _offer_with_typos(
                    texts,
                    suffixes,
                    suffix_order,
                    typed,
                    within,
                    typos,
                    found,
                    size,
                    merits,
                    laters,
                    0,
                    damaged,
                )
        before = size
        size = _merge(weights, later_weight, starts, n_starts, laters, n_laters, found, scores, size)
        typos_of[before:size] = typos
        if size == k:
            break
    return found[:size], scores[:size], typos_of[:size], damaged[0]
