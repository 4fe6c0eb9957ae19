"""The simulated search engine: BM25 with noise and a static page score.

It matches the exact words of a query in title, body and anchor text (BM25 without stemming or synonyms). Each
pair's score has a fixed noise factor, and the authority of the page is added. It corrects about half of the
misspelt and run-together queries. If nothing matches, it shows the pages of highest authority.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coclick.jit.compiler import jit
from coclick.jit.threads import run_blocks
from coclick.simulate.world import World

DEPTH = 20  # results kept per query; a page shows the best ten after noise
CORRECTED_SHARE = 0.5
TITLE_WEIGHT = 2.0
SCORE_NOISE = 0.2  # a pair's score is multiplied by a factor in 1 ± this
AUTHORITY_WEIGHT = 0.3  # score added per unit of authority
K1, B = 1.2, 0.75
MAX_DOC_SHARE = 0.05  # words in more documents are used only if there are no others
MIN_CANDIDATES = 100  # with this many, more frequent words add no new candidates
N_EXPLORABLE = 8  # relevant documents per query that the engine may explore
BLOCK = 512
GRADE_BLOCK = 1 << 15  # queries graded at a time, to limit memory

GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)  # the increment of splitmix64
_WORD = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@dataclass(frozen=True)
class Results:
    """The engine's ranking for each query, padded with documents −1 and scores 0.

    `explorable` has documents of grade 2 or more that the engine may explore (see `users`).
    """

    documents: NDArray[np.int32]  # queries × DEPTH
    scores: NDArray[np.float32]
    grades: NDArray[np.int8]
    explorable: NDArray[np.int32]  # queries × EXPLORABLE
    explorable_grades: NDArray[np.int8]


def search_all(world: World, seed: int) -> Results:
    """Search every query of the world. New documents are not indexed."""
    rng = np.random.default_rng([seed, 1])
    corrected = rng.random(len(world.queries)) < CORRECTED_SHARE
    searched = [
        clean_text if known else text
        for text, clean_text, known in zip(
            world.queries.texts, world.queries.clean_texts, corrected, strict=True
        )
    ]
    indexed = np.flatnonzero(~world.documents.is_new)
    vocabulary, indptr, postings, impacts = _index(world, indexed)
    query_indptr, query_words = _lookup(searched, vocabulary, indptr, len(indexed))
    documents = np.full((len(searched), DEPTH), -1, np.int32)
    scores = np.zeros((len(searched), DEPTH), np.float32)
    bonus = AUTHORITY_WEIGHT * world.documents.authority[indexed]
    key = np.uint64(rng.integers(1 << 63))

    def run(first: int, last: int) -> None:
        _search(
            first, last, query_indptr, query_words, indptr, postings, impacts, bonus, key,
            documents, scores,
        )  # fmt: skip

    count = len(searched)
    run_blocks(run, [(i, min(i + BLOCK, count)) for i in range(0, count, BLOCK)])
    found = documents >= 0
    documents[found] = indexed[documents[found]]
    _fill_empty_results(documents, scores, indexed, world.documents.authority)

    grades = np.zeros(documents.shape, np.int8)
    for first in range(0, count, GRADE_BLOCK):
        part = documents[first : first + GRADE_BLOCK]
        row, column = np.nonzero(part >= 0)
        grades[row + first, column] = world.grade(row + first, part[row, column])
    explorable, explorable_grades = _explorable(world, rng)
    return Results(documents, scores, grades, explorable, explorable_grades)


def _index(
    world: World, indexed: NDArray[np.intp]
) -> tuple[dict[str, int], NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Vocabulary, and CSC postings of every word: positions in `indexed` and BM25 impacts."""
    vocabulary: dict[str, int] = {}
    words: list[int] = []
    lengths = np.empty((len(indexed), 2), np.int64)
    docs = world.documents
    for row, doc in enumerate(indexed.tolist()):
        title = _WORD.findall(docs.titles[doc].lower())
        rest = _WORD.findall(f"{docs.bodies[doc]} {docs.anchors[doc]}".lower())
        words += [vocabulary.setdefault(word, len(vocabulary)) for word in title + rest]
        lengths[row] = len(title), len(rest)
    row_of = np.repeat(np.arange(len(indexed)), lengths.sum(1))
    begin = np.repeat(np.cumsum(lengths.sum(1)) - lengths.sum(1), lengths.sum(1))
    weight = np.where(np.arange(len(words)) - begin < lengths[row_of, 0], TITLE_WEIGHT, 1.0)
    counts = sparse.csc_array((weight, (row_of, words)), (len(indexed), len(vocabulary)))
    counts.sum_duplicates()
    size = lengths @ [TITLE_WEIGHT, 1.0]
    size /= size.mean()
    frequency = np.diff(counts.indptr)
    idf = np.log1p((len(indexed) - frequency + 0.5) / (frequency + 0.5))
    tf = counts.data
    impact = np.repeat(idf, frequency) * tf * (K1 + 1) / (tf + K1 * (1 - B + B * size[counts.indices]))
    postings = counts.indices.astype(np.int32)
    return vocabulary, counts.indptr.astype(np.int64), postings, impact.astype(np.float32)


def _lookup(
    texts: list[str], vocabulary: dict[str, int], indptr: NDArray[np.int64], documents: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The distinct words of each text, rarest first; frequent words only if there are no others."""
    frequency = np.diff(indptr).tolist()
    common = MAX_DOC_SHARE * documents
    lengths, words = [0], []
    for text in texts:
        known = {vocabulary[word] for word in _WORD.findall(text) if word in vocabulary}
        known = {word for word in known if frequency[word] <= common} or known
        words += sorted(known, key=lambda word: (frequency[word], word))
        lengths.append(len(known))
    return np.cumsum(lengths).astype(np.int64), np.array(words, np.int32)


@jit
def _search(
    first: int,
    last: int,
    query_indptr: NDArray[np.int64],
    query_words: NDArray[np.int32],
    indptr: NDArray[np.int64],
    postings: NDArray[np.int32],
    impacts: NDArray[np.float32],
    bonus: NDArray[np.float32],
    key: np.uint64,
    documents: NDArray[np.int32],
    scores: NDArray[np.float32],
) -> None:
    """Fill rows first … last − 1 of `documents` and `scores` with the best DEPTH documents."""
    seen_by = np.full(len(bonus), -1, np.int32)
    matched = np.empty(len(bonus), np.float32)
    candidates = np.empty(len(bonus), np.int32)
    for query in range(first, last):
        words = query_words[query_indptr[query] : query_indptr[query + 1]]
        count = 0
        for word in words:
            enough = count >= MIN_CANDIDATES
            for at in range(indptr[word], indptr[word + 1]):
                document = postings[at]
                if seen_by[document] == query:
                    matched[document] += impacts[at]
                elif not enough:
                    seen_by[document] = query
                    matched[document] = impacts[at]
                    candidates[count] = document
                    count += 1
        kept = 0
        for document in candidates[:count]:
            noise = 1 + SCORE_NOISE * (2 * _pair_noise(key, query, document) - 1)
            score = np.float32(matched[document] * noise + bonus[document])
            # Insert into the sorted top list; on ties the earlier document stays first.
            if kept < DEPTH:
                place = kept
                kept += 1
            elif score > scores[query, DEPTH - 1]:
                place = DEPTH - 1
            else:
                continue
            while place > 0 and scores[query, place - 1] < score:
                scores[query, place] = scores[query, place - 1]
                documents[query, place] = documents[query, place - 1]
                place -= 1
            scores[query, place] = score
            documents[query, place] = document


@jit
def _pair_noise(key: np.uint64, query: int, document: int) -> float:
    """A number in [0, 1) that depends on the key and the pair only."""
    x = splitmix64(key + np.uint64(query) * GOLDEN_GAMMA + np.uint64(document))
    return np.float64(x >> np.uint64(11)) / 9007199254740992.0


@jit
def splitmix64(x: np.uint64) -> np.uint64:
    """Hash a number, or an array of numbers, with the finaliser of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _fill_empty_results(
    documents: NDArray[np.int32],
    scores: NDArray[np.float32],
    indexed: NDArray[np.intp],
    authority: NDArray[np.float32],
) -> None:
    """Fill rows without results with the pages of highest authority."""
    best = indexed[np.argsort(-authority[indexed], kind="stable")[:DEPTH]]
    empty = documents[:, 0] < 0
    documents[empty, : len(best)] = best
    scores[empty, : len(best)] = AUTHORITY_WEIGHT * authority[best]


def _explorable(world: World, rng: np.random.Generator) -> tuple[NDArray[np.int32], NDArray[np.int8]]:
    """Up to N_EXPLORABLE random published documents of grade 2 or more for each query's intent."""
    _, representative, intent = np.unique(world.queries.intent, return_index=True, return_inverse=True)
    chosen = np.full((len(representative), N_EXPLORABLE), -1, np.int32)
    grades = np.zeros((len(representative), N_EXPLORABLE), np.int8)
    for first in range(0, len(representative), GRADE_BLOCK):
        place, document, grade = world.relevant(representative[first : first + GRADE_BLOCK])
        keep = rng.permutation(np.flatnonzero((grade >= 2) & ~world.documents.is_new[document]))
        keep = keep[np.argsort(place[keep], kind="stable")]
        rank = np.arange(len(keep)) - np.searchsorted(place[keep], place[keep])
        keep, rank = keep[rank < N_EXPLORABLE], rank[rank < N_EXPLORABLE]
        chosen[place[keep] + first, rank] = document[keep]
        grades[place[keep] + first, rank] = grade[keep]
    return chosen[intent], grades[intent]
