"""Simulate the traffic of a large log: searches, result pages and clicks, counted instead of written.

Every query has a few versions of its result page. Each search shows one of them; the user reads it from the
top, examines the result at position p with a probability that falls with p, clicks with a probability that
depends on the grade, and stops when satisfied. Every search is simulated, so that clicks, navigational clicks
and skip pairs come from the same searches. A search is a session of its own.

A version with more than MAX_SIMULATED searches is simulated that often, and its counts are scaled up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.simulate.engine import Results
from coclick.simulate.profiles import (
    INFORMATIONAL_CLICK,
    INFORMATIONAL_STOP,
    NAVIGATIONAL_CLICK,
    NAVIGATIONAL_STOP,
    Traffic,
)
from coclick.simulate.users import PAGE
from coclick.simulate.world import World

MAX_SIMULATED = 2000  # searches of one page version
BLOCK = 10_000  # queries at a time
SEARCH_BLOCK = 500_000  # searches at a time
RECALL_SCORES = (0.4, 1.0)  # of documents found without a matching word, relative to the best match
MIN_RECALL_SCORE = 5.0  # where no word matches at all
_CLICK = np.array([NAVIGATIONAL_CLICK, INFORMATIONAL_CLICK], np.float32)
_STOP = np.array([NAVIGATIONAL_STOP, INFORMATIONAL_STOP], np.float32)


@dataclass(frozen=True)
class Counts:
    """Counts of a block of queries: every column is by query and by document of its pool."""

    queries: NDArray[np.intp]  # numbers of the queries in the world
    pool: NDArray[np.int32]  # queries × P documents that may be shown; −1: none
    clicks: NDArray[np.int64]  # queries × P
    navigational: NDArray[np.int64]  # searches in which it was the only click
    shown: NDArray[np.int64]  # queries × P × PAGE: impressions at each position
    skip_key: NDArray[
        np.int64
    ]  # (query · P + clicked) · P + skipped, ascending, indices into the block and pool
    skip_count: NDArray[np.int64]


def draw_searches(
    share: NDArray[np.float64], traffic: Traffic, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the searches of every query: a power law over the order of the shares, and 0 for share 0."""
    order = np.argsort(-share, kind="stable")[: np.count_nonzero(share)]
    shift = len(order) * (traffic.max_searches / traffic.min_searches) ** -traffic.tail_exponent
    rank = np.arange(len(order)) + shift
    expected = traffic.min_searches * (rank / rank[-1]) ** (-1 / traffic.tail_exponent)
    searches = np.zeros(len(share), np.int64)
    searches[order] = rng.poisson(expected)
    return searches


def count_clicks(
    world: World, results: Results, searches: NDArray[np.int64], traffic: Traffic, seed: int
) -> Iterator[Counts]:
    """Yield the counts of all queries that are searched, block by block."""
    searched = np.flatnonzero(searches)
    for number, first in enumerate(range(0, len(searched), BLOCK)):
        rng = np.random.default_rng([seed, 5, number])
        queries = searched[first : first + BLOCK]
        yield _count_block(world, results, queries, searches[queries], traffic, rng)


def _count_block(
    world: World,
    results: Results,
    queries: NDArray[np.intp],
    searches: NDArray[np.int64],
    traffic: Traffic,
    rng: np.random.Generator,
) -> Counts:
    pool, scores, grades = _pool(results, queries, traffic, rng)
    versions = traffic.page_versions
    split = rng.multinomial(searches, np.full(versions, 1 / versions))
    query, version = np.nonzero(split)
    times = split[query, version]
    noise = 1 + traffic.page_noise * (2 * rng.random((len(query), pool.shape[1]), np.float32) - 1)
    slot = np.argsort(-scores[query] * noise, axis=1)[:, :PAGE].astype(np.int32)
    filled = np.take_along_axis(pool[query], slot, 1) >= 0
    grade = np.take_along_axis(grades[query], slot, 1)
    appeal = world.documents.appeal[np.take_along_axis(pool[query], slot, 1)]
    informational = rng.random(len(query)) < traffic.informational_share
    user = (informational & ~world.is_navigational(queries[query])).astype(np.int8)[:, None]
    examine = np.arange(1, PAGE + 1, dtype=np.float32) ** -traffic.examination_exponent
    click = filled * examine * np.minimum(_CLICK[user, grade] * appeal, 0.97)
    clicks, single, both = read_pages(click, click * _STOP[user, grade], times, rng)

    width = pool.shape[1]
    cell = query[:, None] * width + slot
    cells = len(queries) * width
    skip_key, skip_count = _skips(clicks, both, filled, query, slot, width)
    return Counts(
        queries,
        pool,
        np.bincount(cell.ravel(), clicks.ravel(), cells).astype(np.int64).reshape(-1, width),
        np.bincount(cell.ravel(), single.ravel(), cells).astype(np.int64).reshape(-1, width),
        np.bincount((cell * PAGE + np.arange(PAGE)).ravel(), (times[:, None] * filled).ravel(), cells * PAGE)
        .astype(np.int64)
        .reshape(-1, width, PAGE),
        skip_key,
        skip_count,
    )


def _pool(
    results: Results, queries: NDArray[np.intp], traffic: Traffic, rng: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int8]]:
    """Documents that may be shown for each query: matches of its words, and some other relevant ones."""
    matched, scores = results.documents[queries], results.scores[queries]
    other = results.explorable[queries].copy()
    known = (other[:, :, None] == matched[:, None, :]).any(2)
    other[known | (rng.random(other.shape) >= traffic.recall)] = -1
    best = np.maximum(scores.max(1, keepdims=True), MIN_RECALL_SCORE)
    low, high = RECALL_SCORES
    pool = np.concatenate([matched, other], axis=1)
    grades = np.concatenate([results.grades[queries], results.explorable_grades[queries]], axis=1)
    score = np.concatenate([scores, best * (low + (high - low) * rng.random(other.shape))], axis=1)
    score *= 1 + traffic.ranking_quality * grades
    score[pool < 0] = 0
    return pool, score.astype(np.float32), grades


def read_pages(
    click: NDArray[np.float32],
    click_and_stop: NDArray[np.float32],
    times: NDArray[np.int64],
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Read each page `times` times; return clicks, only clicks (pages × PAGE), and pairs (pages × PAGE²)."""
    simulated = np.minimum(times, MAX_SIMULATED)
    clicks, single = np.zeros(click.shape, np.int64), np.zeros(click.shape, np.int64)
    both = np.zeros((len(click), PAGE * PAGE), np.int64)
    end = np.cumsum(simulated)
    first = 0
    while first < len(click):
        last = max(first + 1, int(np.searchsorted(end, end[first] - simulated[first] + SEARCH_BLOCK)))
        page = np.repeat(np.arange(first, last), simulated[first:last])
        u = rng.random((len(page), PAGE), np.float32)
        clicked = u < click[page]
        stopped = np.logical_or.accumulate(u < click_and_stop[page], axis=1)
        clicked[:, 1:] &= ~stopped[:, :-1]
        number = clicked.sum(1, dtype=np.int8)
        starts = end[first:last] - simulated[first:last] - (end[first] - simulated[first])
        clicks[first:last] = np.add.reduceat(clicked, starts, axis=0, dtype=np.int64)
        single[first:last] = np.add.reduceat(clicked & (number == 1)[:, None], starts, axis=0, dtype=np.int64)
        several = np.flatnonzero(number > 1)
        for upper in range(PAGE - 1):
            row, lower = np.nonzero(clicked[several, upper + 1 :] & clicked[several, upper, None])
            key = (page[several[row]] - first) * PAGE * PAGE + upper * PAGE + lower + upper + 1
            both[first:last] += np.bincount(key, minlength=(last - first) * PAGE * PAGE).reshape(
                -1, PAGE * PAGE
            )
        first = last
    scaled = np.flatnonzero(times > simulated)
    factor = (times[scaled] / simulated[scaled])[:, None]
    for counts in (clicks, single, both):
        counts[scaled] = counts[scaled] * factor + rng.random((len(scaled), 1))
    return clicks, np.minimum(single, clicks), both


def _skips(
    clicks: NDArray[np.int64],
    both: NDArray[np.int64],
    filled: NDArray[np.bool_],
    query: NDArray[np.intp],
    slot: NDArray[np.int32],
    width: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count searches in which a result was clicked and one above it was not, by query and documents."""
    keys, counts = [], []
    for lower in range(1, PAGE):
        for upper in range(lower):
            count = clicks[:, lower] - both[:, upper * PAGE + lower]
            row = np.flatnonzero((count > 0) & filled[:, upper])
            keys.append((query[row] * width + slot[row, lower]) * width + slot[row, upper])
            counts.append(count[row])
    key, place = np.unique(np.concatenate(keys), return_inverse=True)
    return key, np.bincount(place, np.concatenate(counts), len(key)).astype(np.int64)
