"""Term ids: distinct, and independent of the other terms."""

import random
import zlib

from coclick.text.term_ids import N_TERM_IDS, stable_term_ids

WORDS = [f"w{i}" for i in range(60_000)]  # some have equal checksums modulo 10⁹


def test_ids_are_distinct_and_checksums_where_free():
    ids = stable_term_ids(WORDS).tolist()
    checksums = [zlib.crc32(word.encode()) % N_TERM_IDS for word in WORDS]
    assert len(set(ids)) == len(WORDS) > len(set(checksums))
    assert min(ids) >= 0 and max(ids) < N_TERM_IDS
    moved = [i for i in range(len(WORDS)) if ids[i] != checksums[i]]
    assert len(moved) == len(WORDS) - len(set(checksums))
    for i in moved:  # the first by letter keeps its checksum
        assert min(word for word, c in zip(WORDS, checksums, strict=True) if c == checksums[i]) != WORDS[i]


def test_ids_do_not_depend_on_order_or_other_words():
    ids = dict(zip(WORDS, stable_term_ids(WORDS).tolist(), strict=True))
    shuffled = random.Random(0).sample(WORDS, len(WORDS))
    assert dict(zip(shuffled, stable_term_ids(shuffled).tolist(), strict=True)) == ids
    some = ["hotel", "größe", "文字", ""]
    assert stable_term_ids(some).tolist() == [zlib.crc32(word.encode()) % N_TERM_IDS for word in some]
