"""Random click graphs of a given shape for benchmarks, with realistic size, skew and locality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.reorder import Csr
from coclick.errors import UserError
from coclick.jit.compiler import jit
from coclick.simulate.engine import GOLDEN_GAMMA, splitmix64

QUERIES_PER_TOPIC = 50
WORDS_PER_TOPIC = 40
TOPIC_ZIPF = 0.6
EDGE_IN_TOPIC = 0.85
WORD_IN_TOPIC = 0.6
CLICKS_TAIL = 1.2
MAX_CLICKS = 1_000_000

# 16 consonants × 4 vowels: words consist of two-letter syllables that no stemmer treats as a suffix.
_CONSONANTS = np.frombuffer(b"bdfghjkmnprstvwz", np.uint8)
_VOWELS = np.frombuffer(b"aiou", np.uint8)


class Shape(NamedTuple):
    """The number of queries, documents and edges of a graph."""

    queries: int
    docs: int
    edges: int


SHAPES = {
    "S": Shape(94_022, 111_631, 164_000),
    "M": Shape(1_000_000, 1_000_000, 5_000_000),
    "L": Shape(6_370_000, 4_600_000, 18_600_000),
}


class WordRows(NamedTuple):
    """Texts as word ids: row `i` is `words[indptr[i]:indptr[i + 1]]`; words may repeat."""

    indptr: NDArray[np.int64]
    words: NDArray[np.int32]


@dataclass(frozen=True)
class ShapedGraph:
    """Clicks (queries × documents, whole numbers ≥ 1), and the words of queries and of titles."""

    clicks: Csr
    query_words: WordRows
    title_words: WordRows
    words: int


def shaped_graph(
    queries: int,
    docs: int,
    edges: int,
    *,
    words_per_query: float = 4.0,
    words_per_title: float = 7.0,
    vocabulary: int | None = None,
    query_zipf: float = 0.8,
    doc_zipf: float = 0.8,
    word_zipf: float = 1.0,
    seed: int = 0,
) -> ShapedGraph:
    """Generate a click graph with exactly `edges` distinct edges and at least one for every query.

    Real click graphs are local: queries that share a document share words. So every query and
    every document belongs to a latent topic (one for 50 queries, sizes Zipf 0.6). An edge's query
    is drawn with Zipf exponent `query_zipf`; its document is one of the query's topic in 85 % of
    the draws, any document in the rest, with Zipf exponent `doc_zipf` either way. A word is one of
    the topic's own 40 words (uniform in the vocabulary, used with exponent `word_zipf`) in 60 % of
    the draws, one of the whole vocabulary (exponent `word_zipf`) in the rest. Clicks of an edge are
    Pareto with exponent 1.2, rounded down. Ids of queries, documents and words are in random order.

    `vocabulary` defaults to 20 · tokens^0.6 words (Heaps' law). Repeated edges are drawn again,
    finally without regard to topic and popularity, so very dense graphs lose their skew.
    """
    if not (queries >= 1 and docs >= 1 and queries <= edges <= max(queries, queries * docs // 2)):
        raise UserError(
            f"cannot generate {edges:,} edges between {queries:,} queries and {docs:,} documents",
            hint="every query needs an edge, and at most half of all pairs may be edges",
        )
    random = np.random.default_rng(seed)
    topics = max(1, queries // QUERIES_PER_TOPIC)
    query_topic = _zipf(random, topics, queries, TOPIC_ZIPF)
    doc_topic = _zipf(random, topics, docs, TOPIC_ZIPF)
    clicks = _clicks(random, query_topic, doc_topic, topics, edges, query_zipf, doc_zipf)
    if vocabulary is None:
        tokens = queries * words_per_query + docs * words_per_title
        vocabulary = max(WORDS_PER_TOPIC, round(20 * tokens**0.6))
    word_of_rank = random.permutation(vocabulary).astype(np.int32)
    query_words = _texts(random, query_topic, word_of_rank, words_per_query, word_zipf)
    title_words = _texts(random, doc_topic, word_of_rank, words_per_title, word_zipf)
    return ShapedGraph(clicks, query_words, title_words, vocabulary)


def named_graph(shape: str, *, seed: int = 0) -> ShapedGraph:
    """Generate the graph of a named shape: "S", "M" or "L"."""
    return shaped_graph(*SHAPES[shape], seed=seed)


def text_rows(texts: WordRows) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return readable text for word ids: UTF-8 bytes of all rows, and the offset of each row.

    Word ids become pseudo-words of two and more syllables ("kadoru"), a different one for each id.
    Words are separated by spaces; row `i` is `bytes[offsets[i]:offsets[i + 1]]`.
    """
    offsets = _text_offsets(texts.indptr, texts.words)
    letters = np.empty(offsets[-1], np.uint8)
    _spell(texts.indptr, texts.words, offsets, _CONSONANTS, _VOWELS, letters)
    return letters, offsets


def _zipf(
    random: np.random.Generator, ranks: int | NDArray[np.int64], draws: int, exponent: float
) -> NDArray[np.int32]:
    """Draw ranks 0 … ranks − 1 with density (rank + 1)^−exponent, by inverting the integral."""
    uniform = random.random(draws)
    if exponent == 1.0:
        drawn = np.power(np.add(ranks, 1.0), uniform)
    else:
        power = 1.0 - exponent
        uniform *= np.power(np.add(ranks, 1.0), power) - 1.0
        uniform += 1.0
        drawn = np.power(uniform, 1.0 / power, out=uniform)
    drawn -= 1.0
    return np.minimum(drawn.astype(np.int32), np.subtract(ranks, 1).astype(np.int32))


def _clicks(
    random: np.random.Generator,
    query_topic: NDArray[np.int32],
    doc_topic: NDArray[np.int32],
    topics: int,
    edges: int,
    query_zipf: float,
    doc_zipf: float,
) -> Csr:
    """The edges: first one for every query, then the remaining ones."""
    queries, docs = len(query_topic), len(doc_topic)
    docs_by_topic = np.argsort(doc_topic, kind="stable").astype(np.int32)
    topic_start = np.zeros(topics + 1, np.int64)
    np.cumsum(np.bincount(doc_topic, minlength=topics), out=topic_start[1:])
    query_of_rank = random.permutation(queries).astype(np.int32)
    doc_of_rank = random.permutation(docs).astype(np.int32)

    def keys(chosen: NDArray[np.int32]) -> NDArray[np.int64]:
        """A document for each chosen query; both in one number that sorts by query, document."""
        topic = query_topic[chosen]
        start = topic_start[topic]
        size = topic_start[topic + 1] - start
        local = (random.random(len(chosen)) < EDGE_IN_TOPIC) & (size > 0)
        anywhere = doc_of_rank[_zipf(random, docs, len(chosen), doc_zipf)]
        start += _zipf(random, np.maximum(size, 1), len(chosen), doc_zipf)
        in_topic = docs_by_topic[np.minimum(start, docs - 1)]
        return _key(chosen, np.where(local, in_topic, anywhere))

    found = np.sort(keys(np.arange(queries, dtype=np.int32)))
    for _ in range(4):
        missing = edges - len(found)
        drawn = keys(query_of_rank[_zipf(random, queries, missing, query_zipf)])
        found = _union(found, drawn)
    while missing := edges - len(found):
        drawn = _key(random.integers(queries, size=missing), random.integers(docs, size=missing))
        found = _union(found, drawn)

    indptr = np.zeros(queries + 1, np.int64)
    np.cumsum(np.bincount(found >> 32, minlength=queries), out=indptr[1:])
    clicks = np.minimum(random.pareto(CLICKS_TAIL, edges) + 1.0, MAX_CLICKS)
    indices = (found & 0xFFFFFFFF).astype(np.int32)
    return Csr(indptr, indices, np.floor(clicks).astype(np.float32), docs)


def _key(queries: NDArray[np.integer], docs: NDArray[np.integer]) -> NDArray[np.int64]:
    return queries.astype(np.int64) << 32 | docs


def _union(found: NDArray[np.int64], drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    both = np.concatenate((found, drawn))
    both.sort()
    return both[np.concatenate(([True], both[1:] != both[:-1]))]


def _texts(
    random: np.random.Generator,
    topics: NDArray[np.int32],
    word_of_rank: NDArray[np.int32],
    mean_length: float,
    word_zipf: float,
) -> WordRows:
    """One text for each row's topic, of 1 + Poisson(`mean_length` − 1) words."""
    lengths = 1 + random.poisson(mean_length - 1.0, len(topics))
    indptr = np.zeros(len(topics) + 1, np.int64)
    np.cumsum(lengths, out=indptr[1:])
    tokens = int(indptr[-1])
    vocabulary = len(word_of_rank)
    own = np.repeat(topics, lengths).astype(np.uint64) * np.uint64(WORDS_PER_TOPIC)
    own += _zipf(random, WORDS_PER_TOPIC, tokens, word_zipf).astype(np.uint64)
    own_word = (_scramble(own) % np.uint64(vocabulary)).astype(np.int32)
    common = word_of_rank[_zipf(random, vocabulary, tokens, word_zipf)]
    return WordRows(indptr, np.where(random.random(tokens) < WORD_IN_TOPIC, own_word, common))


def _scramble(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A fixed pseudo-random number for each number."""
    return splitmix64((numbers + np.uint64(1)) * GOLDEN_GAMMA)  # type: ignore[arg-type,return-value]


@jit
def _syllables(word: np.int64) -> int:
    """Words 0 … 64² − 1 have two syllables, the next 64³ three, and so on."""
    count, room = 2, 64 * 64
    while word >= room:
        word -= room
        room *= 64
        count += 1
    return count


@jit
def _text_offsets(indptr: NDArray[np.int64], words: NDArray[np.int32]) -> NDArray[np.int64]:
    offsets = np.zeros(len(indptr), np.int64)
    for row in range(len(indptr) - 1):
        length = max(0, indptr[row + 1] - indptr[row] - 1)  # the spaces
        for at in range(indptr[row], indptr[row + 1]):
            length += 2 * _syllables(np.int64(words[at]))
        offsets[row + 1] = offsets[row] + length
    return offsets


@jit
def _spell(
    indptr: NDArray[np.int64],
    words: NDArray[np.int32],
    offsets: NDArray[np.int64],
    consonants: NDArray[np.uint8],
    vowels: NDArray[np.uint8],
    letters: NDArray[np.uint8],
) -> None:
    for row in range(len(indptr) - 1):
        end = offsets[row]
        for at in range(indptr[row], indptr[row + 1]):
            if at > indptr[row]:
                letters[end] = 32
                end += 1
            word = np.int64(words[at])
            count = _syllables(word)
            for shorter in range(2, count):
                word -= 64**shorter
            end += 2 * count
            for syllable in range(count):
                letters[end - 2 * syllable - 2] = consonants[(word >> 2) & 15]
                letters[end - 2 * syllable - 1] = vowels[word & 3]
                word >>= 6
