"""Simulate users: sessions of searches over four weeks with examination, clicks, carts, and a few bots.

A user starts with a query, reads ten results from the top, examines the one at position p with a probability
that falls with p, clicks with a probability that depends on grade and appeal, and stops when satisfied. An
unsatisfied user often reformulates the query; a satisfied one may continue with a related query.

One page in ten has one relevant document that the engine explores at a random position below the first
(EXPLORE). Otherwise no document could be clicked for queries whose words it does not contain.

Bots make one percent of the events: crawlers click every result of many queries, and click farms click one
result again and again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit
from coclick.simulate.engine import DEPTH, N_EXPLORABLE, Results, search_all
from coclick.simulate.intents import zipf
from coclick.simulate.world import World

FIRST_DAY = np.datetime64("2024-03-04", "ms")  # a Monday
DAYS = 28
PAGE = 10
EXPLORE = 0.1
PAGE_NOISE = 0.12  # scores vary by this factor from page to page

EXAMINE = tuple(float((position + 1) ** -0.6) for position in range(PAGE))
ATTRACT = (0.03, 0.12, 0.3, 0.55, 0.75)  # probability to click an examined result, by grade
SATISFY = (0.02, 0.1, 0.3, 0.65, 0.85)  # probability to stop after a click, by grade
CART, PURCHASE = 0.12, 0.45  # probability after a click on a good product; after a cart
REFORMULATE = 0.55  # probability that an unsatisfied user reformulates
CONTINUE = 0.3  # otherwise, probability of another search
SAME_SUBJECT = 0.7
MAX_SEARCHES = 8

CRAWLERS, CLICK_FARMS = 0.008, 0.002  # shares of all events
CRAWLED, FARMED = 12, 40  # searches per crawler session, clicks per click farm session
SESSIONS_PER_USER = 3
SESSIONS_PER_BOT = 20
USER_ZIPF = 0.5
HOUR = 3_600_000  # milliseconds

PILOT_SESSIONS = 5000  # simulated first, to estimate the number of events per session

HUMAN, CRAWLER, CLICK_FARM = 0, 1, 2
ACTIONS = ("impression", "click", "cart", "purchase")
IMPRESSION, CLICK, ADD_TO_CART, BUY = range(4)
MAX_SESSION_EVENTS = MAX_SEARCHES * PAGE * 4 + CRAWLED * PAGE * 2 + FARMED  # no session has more

_HOURS = np.array(
    [2, 1, 1, 1, 1, 2, 4, 7, 10, 11, 11, 11, 12, 11, 11, 11, 11, 12, 13, 15, 16, 14, 9, 4], float
)
_WEEKDAYS = np.array([1.1, 1.1, 1.05, 1.0, 0.95, 0.85, 0.95])


class Events(NamedTuple):
    """Events in time order, column by column, with ids instead of names."""

    time: NDArray[Any]  # int64, milliseconds since FIRST_DAY
    user: NDArray[Any]  # int32
    query: NDArray[Any]  # int32
    document: NDArray[Any]  # int32
    action: NDArray[Any]  # int8, an index into ACTIONS
    position: NDArray[Any]  # int8, from 1


class _Sessions(NamedTuple):
    start: NDArray[np.int64]  # ascending
    user: NDArray[np.int32]
    kind: NDArray[np.int8]


class _Context(NamedTuple):
    """The inputs of all sessions: the engine's results, and the distribution of queries.

    `query` is sorted by subject and intent, so that the queries of a subject or intent are a range of it.
    `cumulative` is the running sum of their shares.
    """

    documents: NDArray[np.int32]
    scores: NDArray[np.float32]
    grades: NDArray[np.int8]
    explorable: NDArray[np.int32]
    explorable_grades: NDArray[np.int8]
    appeal: NDArray[np.float32]
    sells: NDArray[np.bool_]
    query: NDArray[np.int32]
    cumulative: NDArray[np.float64]
    same_subject: NDArray[np.int64]  # queries × 2: first and last + 1 of the range
    same_intent: NDArray[np.int64]


def search_log(
    world: World, events: int, seed: int = 0, results: Results | None = None, chunk: int = 1_000_000
) -> Iterator[Events]:
    """Yield about `events` events in time order, in chunks of about `chunk`; the same for the same seed."""
    context = _make_context(world, results or search_all(world, seed))
    rng_plan, rng_pilot, rng = np.random.default_rng([seed, 2]).spawn(3)
    sessions = _plan_sessions(events, _events_per_session(context, rng_pilot), rng_plan)
    done, pending = 0, _empty(0)
    while done < len(sessions.start):
        buffer = _empty(chunk + MAX_SESSION_EVENTS)
        done, rows = _simulate_sessions(rng, sessions, done, context, buffer)
        # Later sessions have no events before the start of the next one: only those are final.
        horizon = sessions.start[done] if done < len(sessions.start) else np.iinfo(np.int64).max
        events_so_far = _concatenate(pending, _take(buffer, slice(rows)))
        order = np.argsort(events_so_far.time, kind="stable")
        final = int(np.searchsorted(events_so_far.time[order], horizon))
        yield _take(events_so_far, order[:final])
        pending = _take(events_so_far, order[final:])


def user_names(events: int) -> NDArray[np.object_]:
    """Return the names of all users that `search_log` uses for this number of events."""
    count = _n_humans(events) + sum(_n_bots(sessions) for sessions in _n_bot_sessions(events))
    scattered = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(2654435761) % np.uint64(1 << 32)
    return np.array([f"u{number:08x}" for number in scattered.tolist()], dtype=object)


def _n_humans(events: int) -> int:
    return 10 + events // (20 * SESSIONS_PER_USER)


def _n_bot_sessions(events: int) -> tuple[int, int]:
    """The number of sessions of crawlers and of click farms."""
    crawls = CRAWLERS * events / (CRAWLED * 2 * PAGE)
    return 1 + round(crawls), 1 + round(CLICK_FARMS * events / (PAGE + FARMED))


def _n_bots(sessions: int) -> int:
    return -(-sessions // SESSIONS_PER_BOT)


def _empty(count: int) -> Events:
    return Events(
        time=np.empty(count, np.int64),
        user=np.empty(count, np.int32),
        query=np.empty(count, np.int32),
        document=np.empty(count, np.int32),
        action=np.empty(count, np.int8),
        position=np.empty(count, np.int8),
    )


def _take(events: Events, rows: slice | NDArray[np.intp]) -> Events:
    return Events._make(column[rows] for column in events)


def _concatenate(first: Events, second: Events) -> Events:
    return Events._make(np.concatenate(pair) for pair in zip(first, second, strict=True))


def _plan_sessions(events: int, events_per_session: float, rng: np.random.Generator) -> _Sessions:
    """Draw users and start times of sessions: humans by Zipf's law, hour and weekday, bots at any time."""
    humans = max(1, round((1 - CRAWLERS - CLICK_FARMS) * events / events_per_session))
    users = [rng.choice(_n_humans(events), humans, p=zipf(_n_humans(events), USER_ZIPF))]
    kinds = [np.full(humans, HUMAN)]
    by_hour = np.outer(np.resize(_WEEKDAYS, DAYS), _HOURS).ravel()
    hour = rng.choice(len(by_hour), humans, p=by_hour / by_hour.sum())
    starts = [hour * HOUR + rng.integers(HOUR, size=humans)]
    known = _n_humans(events)
    for kind, sessions in zip((CRAWLER, CLICK_FARM), _n_bot_sessions(events), strict=True):
        users.append(known + np.arange(sessions) % _n_bots(sessions))
        kinds.append(np.full(sessions, kind))
        starts.append(rng.integers(DAYS * 24 * HOUR, size=sessions))
        known += _n_bots(sessions)
    start = np.concatenate(starts)
    order = np.argsort(start, kind="stable")
    return _Sessions(
        start[order],
        np.concatenate(users)[order].astype(np.int32),
        np.concatenate(kinds)[order].astype(np.int8),
    )


def _events_per_session(context: _Context, rng: np.random.Generator) -> float:
    """The mean number of events of a few thousand simulated sessions of humans."""
    sessions = _Sessions(
        np.zeros(PILOT_SESSIONS, np.int64),
        np.zeros(PILOT_SESSIONS, np.int32),
        np.full(PILOT_SESSIONS, HUMAN, np.int8),
    )
    played, rows = _simulate_sessions(rng, sessions, 0, context, _empty(20 * PILOT_SESSIONS))
    return rows / played


def _make_context(world: World, results: Results) -> _Context:
    intent = world.queries.intent
    subject = world.intents.subject[intent]
    order = np.lexsort((intent, subject))
    same_subject, same_intent = np.empty((2, len(intent), 2), np.int64)
    same_subject[order] = _runs(subject[order])
    same_intent[order] = _runs(intent[order])
    return _Context(
        *(results.documents, results.scores, results.grades),
        *(results.explorable, results.explorable_grades),
        appeal=world.documents.appeal,
        sells=world.sells(),
        query=order.astype(np.int32),
        cumulative=np.concatenate([[0.0], np.cumsum(world.queries.share[order])]),
        same_subject=same_subject,
        same_intent=same_intent,
    )


def _runs(values: NDArray[np.int32]) -> NDArray[np.int64]:
    """For every index, the first and last + 1 index of its run of equal values."""
    begins = np.flatnonzero(np.diff(values, prepend=values[0] - 1))
    ends = np.append(begins[1:], len(values))
    return np.repeat(np.stack([begins, ends], axis=1), ends - begins, axis=0)


@jit
def _simulate_sessions(
    rng: np.random.Generator, sessions: _Sessions, first: int, context: _Context, out: Events
) -> tuple[int, int]:
    """Simulate sessions from `first` on while `out` has room; return the next session and the next row."""
    page = np.empty(PAGE, np.int32)
    grades = np.empty(PAGE, np.int8)
    row = 0
    everything = np.array([0, len(context.query)])
    for session in range(first, len(sessions.start)):
        if row + MAX_SESSION_EVENTS > len(out.time):
            return session, row
        time, user, kind = sessions.start[session], sessions.user[session], sessions.kind[session]
        query = _draw_query(context, everything, rng.random())
        if kind == CLICK_FARM:  # the same query every time
            query = _draw_query(context, everything, user * 0.6180339887 % 1.0)
        for _ in range(CRAWLED if kind == CRAWLER else MAX_SEARCHES):
            shown = _show_page(rng, context, query, page, grades)
            for position in range(shown):
                row = _append_event(out, row, time, user, query, page[position], IMPRESSION, position)
            if kind == CLICK_FARM:
                position = user % shown
                for _ in range(FARMED):
                    time += 500
                    row = _append_event(out, row, time, user, query, page[position], CLICK, position)
                break
            if kind == CRAWLER:
                for position in range(shown):
                    time += 300
                    row = _append_event(out, row, time, user, query, page[position], CLICK, position)
                time += 1000
                query = _draw_query(context, everything, rng.random())
                continue
            row, time, satisfied = _read_page(rng, context, out, row, time, user, query, page, grades, shown)
            time += 2_000 + int(rng.exponential(15_000.0))
            if not satisfied and rng.random() < REFORMULATE:
                query = _draw_query(context, context.same_intent[query], rng.random())
            elif rng.random() < CONTINUE:
                related = rng.random() < SAME_SUBJECT
                scope = context.same_subject[query] if related else everything
                query = _draw_query(context, scope, rng.random())
            else:
                break
    return len(sessions.start), row


@jit
def _draw_query(context: _Context, scope: NDArray[np.int64], u: float) -> int:
    """Return the query of the range `scope` for a uniform number u, by the shares."""
    low, high = context.cumulative[scope[0]], context.cumulative[scope[1]]
    place = np.searchsorted(context.cumulative, low + u * (high - low), side="right") - 1
    return context.query[min(place, scope[1] - 1)]


@jit
def _show_page(
    rng: np.random.Generator,
    context: _Context,
    query: int,
    page: NDArray[np.int32],
    grades: NDArray[np.int8],
) -> int:
    """Fill the page with the best ten results after noise; return their number."""
    scores = np.empty(DEPTH, np.float32)
    found = 0
    while found < DEPTH and context.documents[query, found] >= 0:
        scores[found] = context.scores[query, found] * (1 + PAGE_NOISE * (2 * rng.random() - 1))
        found += 1
    shown = min(found, PAGE)
    for position in range(shown):
        best = np.argmax(scores[:found])
        scores[best] = -1
        page[position] = context.documents[query, best]
        grades[position] = context.grades[query, best]

    if rng.random() < EXPLORE:
        options = 0
        while options < N_EXPLORABLE and context.explorable[query, options] >= 0:
            options += 1
        position = min(shown, 1 + int(rng.random() * (PAGE - 1)))
        pick = int(rng.random() * options)
        if options > 0 and not np.any(page[:shown] == context.explorable[query, pick]):
            page[position] = context.explorable[query, pick]
            grades[position] = context.explorable_grades[query, pick]
            shown = max(shown, position + 1)
    return shown


@jit
def _read_page(
    rng: np.random.Generator,
    context: _Context,
    out: Events,
    row: int,
    time: int,
    user: int,
    query: int,
    page: NDArray[np.int32],
    grades: NDArray[np.int8],
    shown: int,
) -> tuple[int, int, bool]:
    """Simulate a user who reads the page; return the next row, the time, and whether they were satisfied."""
    for position in range(shown):
        if rng.random() >= EXAMINE[position]:
            continue
        time += 400 + int(rng.exponential(1_200.0))
        document, grade = page[position], grades[position]
        if rng.random() >= min(0.95, ATTRACT[grade] * context.appeal[document]):
            continue
        row = _append_event(out, row, time, user, query, document, CLICK, position)
        time += 3_000 + int(rng.exponential(8_000.0 * (1 + grade)))
        if context.sells[query] and grade >= 3 and rng.random() < CART:
            row = _append_event(out, row, time, user, query, document, ADD_TO_CART, position)
            if rng.random() < PURCHASE:
                time += 20_000 + int(rng.exponential(60_000.0))
                row = _append_event(out, row, time, user, query, document, BUY, position)
        if rng.random() < SATISFY[grade]:
            return row, time, True
    return row, time, False


@jit
def _append_event(
    out: Events,
    row: int,
    time: int,
    user: int,
    query: int,
    document: int,
    action: int,
    position: int,
) -> int:
    """Write one event; return the next row."""
    out.time[row] = time
    out.user[row] = user
    out.query[row] = query
    out.document[row] = document
    out.action[row] = action
    out.position[row] = position + 1
    return row + 1
