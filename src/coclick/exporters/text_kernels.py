"""Compiled code that turns vectors and packed texts into the bytes of a file, and digests them.

Callers check pointers and allocate the output; a kernel returns or stores how far it wrote.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit
from coclick.jit.intrinsics import load_word

MAX_NUMBER = 16  # bytes of the longest number: -1.23456789e-38
_ZERO, _MINUS, _PLUS, _POINT, _E = (ord(letter) for letter in "0-+.e")
_DIGITS = 9  # enough to read back the same float32
_MIDDLE = 60  # place of 10⁰
_TENS = np.array([float(f"1e{power - _MIDDLE}") for power in range(2 * _MIDDLE + 1)])
_WHOLE_TENS = np.array([10**power for power in range(_DIGITS + 1)], np.uint64)
_TEN = np.uint64(10)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ divided by the golden ratio: no two multiples are close
_NAN, _INF = np.frombuffer(b"nan", np.uint8), np.frombuffer(b"inf", np.uint8)


@jit
def _put_digits(out: NDArray[np.uint8], at: int, number: np.uint64, count: int) -> int:
    """Write a number with leading zeros."""
    for place in range(at + count - 1, at - 1, -1):
        rest = number // _TEN
        out[place] = _ZERO + number - rest * _TEN
        number = rest
    return at + count


@jit
def _put(out: NDArray[np.uint8], at: int, text: NDArray[np.uint8]) -> int:
    for i in range(len(text)):
        out[at + i] = text[i]
    return at + len(text)


@jit
def _put_float(out: NDArray[np.uint8], at: int, value: float) -> int:
    """Write a float32 with nine significant digits, as `%.9g` does.

    float64 is exact to 16 digits, so the written number is closer to `value` than any other float32 is.
    """
    if value != value:
        return _put(out, at, _NAN)
    if value < 0:
        out[at] = _MINUS
        at, value = at + 1, -value
    if value == 0:
        out[at] = _ZERO
        return at + 1
    if value == np.inf:
        return _put(out, at, _INF)
    power = 0  # of the first digit
    while value < _TENS[_MIDDLE + power]:
        power -= 1
    while value >= _TENS[_MIDDLE + power + 1]:
        power += 1
    digits = np.uint64(value * _TENS[_MIDDLE + _DIGITS - 1 - power] + 0.5)
    if digits >= _WHOLE_TENS[_DIGITS]:
        digits, power = digits // _TEN, power + 1
    count = _DIGITS
    while count > 1 and digits % _TEN == 0:
        digits, count = digits // _TEN, count - 1
    if power < -4 or power >= _DIGITS:
        return _put_scientific(out, at, digits, count, power)
    if power < 0:
        out[at], out[at + 1] = _ZERO, _POINT
        return _put_digits(out, at + 2, digits, count - power - 1)
    if count <= power + 1:
        return _put_digits(out, at, digits * _WHOLE_TENS[power + 1 - count], power + 1)
    split = _WHOLE_TENS[count - power - 1]
    at = _put_digits(out, at, digits // split, power + 1)
    out[at] = _POINT
    return _put_digits(out, at + 1, digits % split, count - power - 1)


@jit
def _put_scientific(out: NDArray[np.uint8], at: int, digits: np.uint64, count: int, power: int) -> int:
    split = _WHOLE_TENS[count - 1]
    at = _put_digits(out, at, digits // split, 1)
    if count > 1:
        out[at] = _POINT
        at = _put_digits(out, at + 1, digits % split, count - 1)
    out[at] = _E
    out[at + 1] = _MINUS if power < 0 else _PLUS
    return _put_digits(out, at + 2, np.uint64(abs(power)), 2)


@jit
def format_entries(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    key_offsets: NDArray[np.int64],
    keys: NDArray[np.uint8],
    separator: NDArray[np.uint8],
    values: bool,
    out: NDArray[np.uint8],
    offsets: NDArray[np.int64],
) -> None:
    """Write the key of each entry's column, if there are keys, and its value, if `values`."""
    at = 0
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            if entry > indptr[row]:
                at = _put(out, at, separator)
            if len(key_offsets) > 1:
                column = indices[entry]
                for i in range(key_offsets[column], key_offsets[column + 1]):
                    out[at] = keys[i]
                    at += 1
            if values:
                at = _put_float(out, at, data[entry])
        offsets[row + 1] = at


@jit
def format_bits(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    levels: NDArray[np.float32],
    key_offsets: NDArray[np.int64],
    keys: NDArray[np.uint8],
    suffix_offsets: NDArray[np.int64],
    suffixes: NDArray[np.uint8],
    separator: NDArray[np.uint8],
    out: NDArray[np.uint8],
    offsets: NDArray[np.int64],
) -> None:
    """Write a key with the suffix of every bit that is set in the level of an entry."""
    at = 0
    for row in range(len(indptr) - 1):
        first = at
        for entry in range(indptr[row], indptr[row + 1]):
            column, level = indices[entry], np.int64(levels[entry])
            for bit in range(len(suffix_offsets) - 1):
                if level >> bit & 1:
                    if at > first:
                        at = _put(out, at, separator)
                    at = _put(out, at, keys[key_offsets[column] : key_offsets[column + 1]])
                    at = _put(out, at, suffixes[suffix_offsets[bit] : suffix_offsets[bit + 1]])
        offsets[row + 1] = at


@jit
def escape(
    offsets: NDArray[np.int64],
    data: NDArray[np.uint8],
    lengths: NDArray[np.int64],
    written: NDArray[np.uint8],
    out: NDArray[np.uint8],
    out_offsets: NDArray[np.int64],
) -> None:
    """Replace bytes: byte b becomes the first `lengths[b]` bytes of `written[b]`."""
    at = 0
    for row in range(len(offsets) - 1):
        for i in range(offsets[row], offsets[row + 1]):
            byte = data[i]
            for j in range(lengths[byte]):
                out[at + j] = written[byte, j]
            at += lengths[byte]
        out_offsets[row + 1] = at


@jit
def put_texts(
    offsets: NDArray[np.int64], data: NDArray[np.uint8], out: NDArray[np.uint8], places: NDArray[np.int64]
) -> None:
    """Copy text i to `places[i]`, which moves behind it."""
    for row in range(len(places)):
        at = places[row]
        for i in range(offsets[row], offsets[row + 1]):
            out[at] = data[i]
            at += 1
        places[row] = at


@jit
def put_literal(text: NDArray[np.uint8], out: NDArray[np.uint8], places: NDArray[np.int64]) -> None:
    """Copy the same text to all places, which move behind it."""
    for row in range(len(places)):
        places[row] = _put(out, places[row], text)


@jit
def _mix(value: np.uint64) -> np.uint64:
    """Return an unrelated number for each number (the finaliser of SplitMix64)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@jit
def hash_texts(
    offsets: NDArray[np.int64], data: NDArray[np.uint8], seed: int, out: NDArray[np.uint64]
) -> None:
    """Hash each text to 64 bits: mix each eight bytes with their place, and add up.

    The terms of the sum do not depend on each other, so the processor computes several at once.
    """
    start = _mix(np.uint64(seed))
    for row in range(len(offsets) - 1):
        at, end = offsets[row], offsets[row + 1]
        place = start
        total = np.uint64(end - at)
        while at + 8 <= end:
            place += _GOLDEN
            total += _mix(load_word(data, at) + place)
            at += 8
        rest = np.uint64(0)
        if end > at and at + 8 <= len(data):  # in one piece, without the bytes of the next text
            rest = load_word(data, at) & ((np.uint64(1) << np.uint64(8 * (end - at))) - np.uint64(1))
        else:
            for i in range(end - at):
                rest |= np.uint64(data[at + i]) << np.uint64(8 * i)
        out[row] = _mix(total + _mix(rest + place + _GOLDEN))


@jit
def hash_numbers(numbers: NDArray[np.int64], out: NDArray[np.uint64]) -> None:
    """Hash each number to 64 bits."""
    for i in range(len(numbers)):
        out[i] = _mix(np.uint64(numbers[i]) + np.uint64(1))


@jit
def add_entry_digests(
    indptr: NDArray[np.int64],
    indices: NDArray[np.uint32],
    bits: NDArray[np.uint32],
    keys: NDArray[np.uint64],
    digests: NDArray[np.uint64],
) -> None:
    """Add the digest of each row's entries to `digests`; the order of entries does not matter.

    Unsigned places need no test whether they count from the end, which would take a third of the time.
    """
    for row in range(len(digests)):
        total = np.uint64(0)
        for entry in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
            total += _mix(keys[indices[entry]] ^ (np.uint64(bits[entry]) << np.uint64(16)))
        digests[row] = _mix(digests[row] + total)


@jit
def fill_table(hashes: NDArray[np.uint64], table: NDArray[np.int32]) -> None:
    """Store the place of each hash in a table of −1, whose size is a power of two above their number."""
    mask = np.uint64(len(table) - 1)
    for i in range(len(hashes)):
        slot = hashes[i] & mask
        while table[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = i


@jit
def look_up(
    hashes: NDArray[np.uint64],
    table: NDArray[np.int32],
    wanted: NDArray[np.uint64],
    found: NDArray[np.int64],
) -> None:
    """Find the place of each wanted hash, −1 if there is none."""
    mask = np.uint64(len(table) - 1)
    for i in range(len(wanted)):
        slot = wanted[i] & mask
        while table[slot] >= 0 and hashes[table[slot]] != wanted[i]:
            slot = (slot + np.uint64(1)) & mask
        found[i] = table[slot]
