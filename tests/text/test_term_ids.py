"""Numbers of words: distinct, and the same whatever other words there are."""

import random
import zlib

from coclick.text.term_ids import SPACE, numbered

WORDS = [f"w{i}" for i in range(60_000)]  # of which some have equal checksums modulo 10⁹


def test_words_have_distinct_numbers_that_are_their_checksums_wherever_these_are_free():
    ids = numbered(WORDS).tolist()
    checksums = [zlib.crc32(word.encode()) % SPACE for word in WORDS]
    assert len(set(ids)) == len(WORDS) > len(set(checksums))
    assert min(ids) >= 0 and max(ids) < SPACE
    moved = [i for i in range(len(WORDS)) if ids[i] != checksums[i]]
    assert len(moved) == len(WORDS) - len(set(checksums))
    for i in moved:  # the first by letter stays where it is
        assert min(word for word, c in zip(WORDS, checksums, strict=True) if c == checksums[i]) != WORDS[i]


def test_numbers_depend_neither_on_order_nor_on_words_that_share_nothing():
    ids = dict(zip(WORDS, numbered(WORDS).tolist(), strict=True))
    shuffled = random.Random(0).sample(WORDS, len(WORDS))
    assert dict(zip(shuffled, numbered(shuffled).tolist(), strict=True)) == ids
    some = ["hotel", "größe", "文字", ""]
    assert numbered(some).tolist() == [zlib.crc32(word.encode()) % SPACE for word in some]
