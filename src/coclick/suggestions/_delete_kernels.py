"""Compiled code of the delete index: hashes of words with letters deleted, and edit distances.

Words are compared by characters (code points). Pointers are checked before use: a damaged one counts as an
empty word.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit, jit_inline, jit_noalloc

PREFIX = 7  # characters whose deletions are indexed
MAX_LENGTH = 40  # characters of a word that is corrected
MAX_HASHES = 1 + PREFIX + PREFIX * (PREFIX - 1) // 2
TWO_DELETES = 6  # characters from which a word is found by two deletions
_SEEN = 4096  # a power of two
_FAR = np.int32(1000)


@jit_inline
def _decode(data, first, last, out):  # type: ignore[no-untyped-def]
    """Write the characters of UTF-8 bytes; return their number, or −1 if there is no room."""
    count = 0
    at = first
    while at < last:
        if count == len(out):
            return -1
        lead = np.int32(data[at])
        size = 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
        code = lead
        if size > 1 and at + size <= last:
            code = lead & (0x7F >> size)
            for i in range(1, size):
                code = (code << 6) | (np.int32(data[at + i]) & 0x3F)
        else:
            size = 1
        out[count] = code
        count += 1
        at += size
    return count


@jit_inline
def _hash(codes, length, skip_one, skip_two):  # type: ignore[no-untyped-def]
    value = np.uint64(14695981039346656037)
    for i in range(length):
        if i != skip_one and i != skip_two:
            value = (value ^ np.uint64(codes[i])) * np.uint64(1099511628211)
    value ^= value >> np.uint64(32)
    value *= np.uint64(0xD6E8FEB86659FD93)
    return value ^ (value >> np.uint64(29))


@jit_noalloc
def _hash_deletes(codes, length, deletes, hashes):  # type: ignore[no-untyped-def]
    """Hash the start of a word, and what is left after one or two deletions from it; return the number."""
    size = min(length, PREFIX)
    hashes[0] = _hash(codes, size, -1, -1)
    count = 1
    if deletes > 0:
        for i in range(size):
            hashes[count] = _hash(codes, size, i, -1)
            count += 1
    if deletes > 1:
        for i in range(size):
            for j in range(i + 1, size):
                hashes[count] = _hash(codes, size, i, j)
                count += 1
    return count


@jit
def index_words(
    offsets: NDArray[np.int64], data: NDArray[np.uint8], words: NDArray[np.int32], bits: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return words by the hashes of their deletes: where each bucket begins, and the words in all buckets."""
    codes, hashes = np.empty(MAX_LENGTH, np.int32), np.empty(MAX_HASHES, np.uint64)
    mask = np.uint64((1 << bits) - 1)
    starts = np.zeros((1 << bits) + 1, np.int64)
    entries = np.empty(0, np.int32)
    for step in range(2):  # count, then fill
        for word in words:
            length = _decode(data, offsets[word], offsets[word + 1], codes)
            if length < 1:
                continue
            count = _hash_deletes(codes, length, 2 if length >= TWO_DELETES else 1, hashes)
            for i in range(count):
                bucket = np.int64(hashes[i] & mask)
                if step == 0:
                    starts[bucket + 1] += 1
                else:
                    entries[starts[bucket]] = word
                    starts[bucket] += 1
        if step == 0:
            for i in range(1 << bits):
                starts[i + 1] += starts[i]
            entries = np.empty(starts[-1], np.int32)
        else:
            for i in range(1 << bits, 0, -1):
                starts[i] = starts[i - 1]
            starts[0] = 0
    return starts, entries


@jit_noalloc
def _distance(a, n_a, b, n_b, limit, table):  # type: ignore[no-untyped-def]
    """The restricted Damerau–Levenshtein distance of two words, or more than `limit`."""
    if abs(n_a - n_b) > limit:
        return limit + 1
    for j in range(n_b + 1):
        table[0, j] = j
    for i in range(1, n_a + 1):
        table[i, 0] = i
        low, high = max(1, i - limit), min(n_b, i + limit)
        if low > 1:
            table[i, low - 1] = _FAR
        smallest = _FAR
        for j in range(low, high + 1):
            cost = table[i - 1, j - 1] + np.int32(a[i - 1] != b[j - 1])
            cost = min(cost, table[i, j - 1] + 1)
            if j < i + limit:
                cost = min(cost, table[i - 1, j] + 1)
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                cost = min(cost, table[i - 2, j - 2] + 1)
            table[i, j] = cost
            smallest = min(smallest, cost)
        if smallest > limit and i > limit:
            return limit + 1
    return table[n_a, n_b]


@jit_noalloc
def _typing_cost(typed, n_typed, meant, n_meant, is_near, table):  # type: ignore[no-untyped-def]
    """The cost of typing one word for another: an edit costs 1, less likely ones up to 2.

    Swaps, dropped and doubled letters and neighbouring keys are likely; other letters, and edits of the first
    one, are not.
    """
    table[0, 0] = 0
    for i in range(n_typed + 1):
        for j in range(n_meant + 1):
            if i == 0 and j == 0:
                continue
            cost = np.float32(1000)
            first = np.float32(0.5) if min(i, j) <= 1 else np.float32(0)
            if i > 0 and j > 0:
                step = np.float32(0)
                if typed[i - 1] != meant[j - 1]:
                    a, b = typed[i - 1] - 97, meant[j - 1] - 97
                    near = 0 <= a < 26 and 0 <= b < 26 and is_near[a, b]
                    step = first + (np.float32(1) if near else np.float32(1.5))
                cost = table[i - 1, j - 1] + step
            if i > 0:
                doubled = (i > 1 and typed[i - 1] == typed[i - 2]) or (
                    i < n_typed and typed[i - 1] == typed[i]
                )
                cost = min(cost, table[i - 1, j] + first + (np.float32(1) if doubled else np.float32(1.5)))
            if j > 0:
                cost = min(cost, table[i, j - 1] + first + np.float32(1))
            if i > 1 and j > 1 and typed[i - 1] == meant[j - 2] and typed[i - 2] == meant[j - 1]:
                swap = np.float32(0) if typed[i - 1] == typed[i - 2] else first + np.float32(1)
                cost = min(cost, table[i - 2, j - 2] + swap)
            table[i, j] = cost
    return table[n_typed, n_meant]


@jit
def lookup(
    offsets: NDArray[np.int64],
    data: NDArray[np.uint8],
    merits: NDArray[np.int32],
    starts: NDArray[np.int64],
    entries: NDArray[np.int32],
    is_near: NDArray[np.bool_],
    typed: NDArray[np.int32],
    limit: int,
    k: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32], bool]:
    """Return the k best words within `limit` edits of a typed one, their distances and typing costs.

    Fewer edits first, then larger merits. The fourth value says whether a pointer was out of bounds.
    """
    found, distances = np.empty(k, np.int32), np.empty(k, np.int32)
    costs = np.empty(k, np.float32)
    hashes, codes = np.empty(MAX_HASHES, np.uint64), np.empty(MAX_LENGTH + 2, np.int32)
    table = np.empty((MAX_LENGTH + 3, MAX_LENGTH + 3), np.int32)
    seen = np.full(_SEEN, -1, np.int32)
    n_seen, size, damaged = 0, 0, False
    mask = np.uint64(len(starts) - 2)
    for h in range(_hash_deletes(typed, len(typed), limit, hashes)):
        bucket = np.int64(hashes[h] & mask)
        first, last = starts[bucket], starts[bucket + 1]
        if first < 0 or last < first or last > len(entries):
            damaged = True
            continue
        for entry in range(first, last):
            word = entries[entry]
            if word < 0 or word >= len(offsets) - 1:
                damaged = True
                continue
            slot = (word * 40503) & (_SEEN - 1)
            while seen[slot] >= 0 and seen[slot] != word:
                slot = (slot + 1) & (_SEEN - 1)
            if seen[slot] == word:
                continue
            if n_seen < _SEEN // 2:
                seen[slot] = word
                n_seen += 1
            begin, end = offsets[word], offsets[word + 1]
            if begin < 0 or end < begin or end > len(data):
                damaged = True
                continue
            length = _decode(data, begin, end, codes)
            if length < 0:
                continue
            distance = _distance(typed, len(typed), codes, length, limit, table)
            if distance > limit:
                continue
            at = size
            repeated = False
            for i in range(size):
                repeated |= found[i] == word
            if repeated:
                continue
            if size < k:
                size += 1
            else:
                at = k - 1
                worst = found[at]
                if distances[at] < distance or (distances[at] == distance and merits[worst] > merits[word]):
                    continue
            while at > 0 and (
                distances[at - 1] > distance
                or (distances[at - 1] == distance and merits[found[at - 1]] < merits[word])
            ):
                found[at], distances[at] = found[at - 1], distances[at - 1]
                at -= 1
            found[at], distances[at] = word, distance
    typing = np.empty((MAX_LENGTH + 3, MAX_LENGTH + 3), np.float32)
    for i in range(size):
        length = _decode(data, offsets[found[i]], offsets[found[i] + 1], codes)
        costs[i] = _typing_cost(typed, len(typed), codes, length, is_near, typing)
    return found[:size], distances[:size], costs[:size], damaged
