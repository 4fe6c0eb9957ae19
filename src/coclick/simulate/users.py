"""The simulated users: sessions of searches over four weeks, examination, clicks, carts, and a few bots.

A user starts with a query, looks at ten results from the top, examines the one at position p with a
probability that falls with p, clicks what looks right (by its grade and how it is presented), and stops when
satisfied. Who is not satisfied often asks again in other words; who is may go on to something related.

One page in ten carries one relevant document that the engine tries out at a random position below the first
(EXPLORE). Without it no click would ever cross from searchers' words to documents that do not contain them.

Bots do one percent of the traffic: crawlers open every result of many queries, and click farms open one
result again and again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit
from coclick.simulate.engine import DEPTH, EXPLORABLE, Results, search_all
from coclick.simulate.intents import zipf
from coclick.simulate.world import World

FIRST_DAY = np.datetime64("2024-03-04", "ms")  # a Monday
DAYS = 28
PAGE = 10
EXPLORE = 0.1
MOOD = 0.12  # from one page to the next, scores differ by this much up or down

EXAMINE = tuple(float((position + 1) ** -0.6) for position in range(PAGE))
ATTRACT = (0.03, 0.12, 0.3, 0.55, 0.75)  # click on an examined result, by grade
SATISFY = (0.02, 0.1, 0.3, 0.65, 0.85)  # stop after a click, by grade
CART, PURCHASE = 0.12, 0.45  # of clicks on good products; of carts
ASK_AGAIN = 0.55  # who is not satisfied asks in other words
GO_ON = 0.3  # everybody else asks about the same subject, or something new
SAME_SUBJECT = 0.7
MOST_SEARCHES = 8

CRAWLERS, CLICK_FARMS = 0.008, 0.002  # shares of all events
CRAWLED, FARMED = 12, 40  # searches a crawler's session, clicks a click farm's session
SESSIONS_PER_USER = 3
SESSIONS_PER_BOT = 20
USER_ZIPF = 0.5
HOUR = 3_600_000  # milliseconds

TRIAL = 5000  # sessions played to learn how many events a session has

PERSON, CRAWLER, CLICK_FARM = 0, 1, 2
ACTIONS = ("impression", "click", "cart", "purchase")
IMPRESSION, CLICK, ADD_TO_CART, BUY = range(4)
MOST_EVENTS = MOST_SEARCHES * PAGE * 4 + CRAWLED * PAGE * 2 + FARMED  # no session has more

_HOURS = np.array(
    [2, 1, 1, 1, 1, 2, 4, 7, 10, 11, 11, 11, 12, 11, 11, 11, 11, 12, 13, 15, 16, 14, 9, 4], float
)
_WEEKDAYS = np.array([1.1, 1.1, 1.05, 1.0, 0.95, 0.85, 0.95])


class Events(NamedTuple):
    """Columns of events in time order; numbers instead of names."""

    time: NDArray[Any]  # int64, milliseconds since FIRST_DAY
    user: NDArray[Any]  # int32
    query: NDArray[Any]  # int32
    document: NDArray[Any]  # int32
    action: NDArray[Any]  # int8, a place in ACTIONS
    position: NDArray[Any]  # int8, from 1


class _Sessions(NamedTuple):
    start: NDArray[np.int64]  # ascending
    user: NDArray[np.int32]
    kind: NDArray[np.int8]


class _Scene(NamedTuple):
    """What every session needs to know: the engine's results, and how queries are drawn.

    Queries are sorted by subject and intent, so that all of them, those of a subject and those of an intent
    are each a range of `query`; `cumulative` is the running sum of their shares.
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
    """About `events` events in time order, in chunks of about `chunk`, the same for the same seed."""
    scene = _set_scene(world, results or search_all(world, seed))
    rng_plan, rng_pilot, rng = np.random.default_rng([seed, 2]).spawn(3)
    sessions = _plan(events, _events_per_session(scene, rng_pilot), rng_plan)
    done, waiting = 0, _empty(0)
    while done < len(sessions.start):
        buffer = _empty(chunk + MOST_EVENTS)
        done, rows = _live(rng, sessions, done, scene, buffer)
        # Events after the start of the next session may still be preceded by some of its events.
        horizon = sessions.start[done] if done < len(sessions.start) else np.iinfo(np.int64).max
        happened = _joined(waiting, _rows(buffer, slice(rows)))
        order = np.argsort(happened.time, kind="stable")
        final = int(np.searchsorted(happened.time[order], horizon))
        yield _rows(happened, order[:final])
        waiting = _rows(happened, order[final:])


def user_names(events: int) -> NDArray[np.object_]:
    """The names of all users that `search_log` can use for so many events, in no telling order."""
    count = _people(events) + sum(_bots(sessions) for sessions in _bot_sessions(events))
    scattered = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(2654435761) % np.uint64(1 << 32)
    return np.array([f"u{number:08x}" for number in scattered.tolist()], dtype=object)


def _people(events: int) -> int:
    return 10 + events // (20 * SESSIONS_PER_USER)


def _bot_sessions(events: int) -> tuple[int, int]:
    """Sessions of crawlers and of click farms."""
    crawls = CRAWLERS * events / (CRAWLED * 2 * PAGE)
    return 1 + round(crawls), 1 + round(CLICK_FARMS * events / (PAGE + FARMED))


def _bots(sessions: int) -> int:
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


def _rows(events: Events, rows: slice | NDArray[np.intp]) -> Events:
    return Events._make(column[rows] for column in events)


def _joined(first: Events, second: Events) -> Events:
    return Events._make(np.concatenate(pair) for pair in zip(first, second, strict=True))


def _plan(events: int, events_per_session: float, rng: np.random.Generator) -> _Sessions:
    """Who starts a session when: people by Zipf's law, hour and day of the week, bots at any time."""
    people = max(1, round((1 - CRAWLERS - CLICK_FARMS) * events / events_per_session))
    users = [rng.choice(_people(events), people, p=zipf(_people(events), USER_ZIPF))]
    kinds = [np.full(people, PERSON)]
    by_hour = np.outer(np.resize(_WEEKDAYS, DAYS), _HOURS).ravel()
    hour = rng.choice(len(by_hour), people, p=by_hour / by_hour.sum())
    starts = [hour * HOUR + rng.integers(HOUR, size=people)]
    known = _people(events)
    for kind, sessions in zip((CRAWLER, CLICK_FARM), _bot_sessions(events), strict=True):
        users.append(known + np.arange(sessions) % _bots(sessions))
        kinds.append(np.full(sessions, kind))
        starts.append(rng.integers(DAYS * 24 * HOUR, size=sessions))
        known += _bots(sessions)
    start = np.concatenate(starts)
    order = np.argsort(start, kind="stable")
    return _Sessions(
        start[order],
        np.concatenate(users)[order].astype(np.int32),
        np.concatenate(kinds)[order].astype(np.int8),
    )


def _events_per_session(scene: _Scene, rng: np.random.Generator) -> float:
    """The mean over a few thousand sessions of people, played for this purpose alone."""
    sessions = _Sessions(
        np.zeros(TRIAL, np.int64), np.zeros(TRIAL, np.int32), np.full(TRIAL, PERSON, np.int8)
    )
    played, rows = _live(rng, sessions, 0, scene, _empty(20 * TRIAL))
    return rows / played


def _set_scene(world: World, results: Results) -> _Scene:
    intent = world.queries.intent
    subject = world.intents.subject[intent]
    order = np.lexsort((intent, subject))
    same_subject, same_intent = np.empty((2, len(intent), 2), np.int64)
    same_subject[order] = _runs(subject[order])
    same_intent[order] = _runs(intent[order])
    return _Scene(
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
    """For every place, the first and the last + 1 place of the run of equal values it is in."""
    begins = np.flatnonzero(np.diff(values, prepend=values[0] - 1))
    ends = np.append(begins[1:], len(values))
    return np.repeat(np.stack([begins, ends], axis=1), ends - begins, axis=0)


@jit
def _live(
    rng: np.random.Generator, sessions: _Sessions, first: int, scene: _Scene, out: Events
) -> tuple[int, int]:
    """Play sessions from `first` on while `out` has room; the next session and the rows written."""
    page = np.empty(PAGE, np.int32)
    grades = np.empty(PAGE, np.int8)
    row = 0
    everything = np.array([0, len(scene.query)])
    for session in range(first, len(sessions.start)):
        if row + MOST_EVENTS > len(out.time):
            return session, row
        time, user, kind = sessions.start[session], sessions.user[session], sessions.kind[session]
        query = _draw(scene, everything, rng.random())
        if kind == CLICK_FARM:  # the same query every time
            query = _draw(scene, everything, user * 0.6180339887 % 1.0)
        for _ in range(CRAWLED if kind == CRAWLER else MOST_SEARCHES):
            shown = _show(rng, scene, query, page, grades)
            for position in range(shown):
                row = _log(out, row, time, user, query, page[position], IMPRESSION, position)
            if kind == CLICK_FARM:
                position = user % shown
                for _ in range(FARMED):
                    time += 500
                    row = _log(out, row, time, user, query, page[position], CLICK, position)
                break
            if kind == CRAWLER:
                for position in range(shown):
                    time += 300
                    row = _log(out, row, time, user, query, page[position], CLICK, position)
                time += 1000
                query = _draw(scene, everything, rng.random())
                continue
            row, time, satisfied = _read(rng, scene, out, row, time, user, query, page, grades, shown)
            time += 2_000 + int(rng.exponential(15_000.0))
            if not satisfied and rng.random() < ASK_AGAIN:
                query = _draw(scene, scene.same_intent[query], rng.random())
            elif rng.random() < GO_ON:
                related = rng.random() < SAME_SUBJECT
                scope = scene.same_subject[query] if related else everything
                query = _draw(scene, scope, rng.random())
            else:
                break
    return len(sessions.start), row


@jit
def _draw(scene: _Scene, scope: NDArray[np.int64], u: float) -> int:
    """A query of the range `scope`, by its share, for a uniform number u."""
    low, high = scene.cumulative[scope[0]], scene.cumulative[scope[1]]
    place = np.searchsorted(scene.cumulative, low + u * (high - low), side="right") - 1
    return scene.query[min(place, scope[1] - 1)]


@jit
def _show(
    rng: np.random.Generator,
    scene: _Scene,
    query: int,
    page: NDArray[np.int32],
    grades: NDArray[np.int8],
) -> int:
    """Fill the page with the ten results that score best this time; how many there are."""
    scores = np.empty(DEPTH, np.float32)
    found = 0
    while found < DEPTH and scene.documents[query, found] >= 0:
        scores[found] = scene.scores[query, found] * (1 + MOOD * (2 * rng.random() - 1))
        found += 1
    shown = min(found, PAGE)
    for position in range(shown):
        best = np.argmax(scores[:found])
        scores[best] = -1
        page[position] = scene.documents[query, best]
        grades[position] = scene.grades[query, best]

    if rng.random() < EXPLORE:
        options = 0
        while options < EXPLORABLE and scene.explorable[query, options] >= 0:
            options += 1
        position = min(shown, 1 + int(rng.random() * (PAGE - 1)))
        pick = int(rng.random() * options)
        if options > 0 and not np.any(page[:shown] == scene.explorable[query, pick]):
            page[position] = scene.explorable[query, pick]
            grades[position] = scene.explorable_grades[query, pick]
            shown = max(shown, position + 1)
    return shown


@jit
def _read(
    rng: np.random.Generator,
    scene: _Scene,
    out: Events,
    row: int,
    time: int,
    user: int,
    query: int,
    page: NDArray[np.int32],
    grades: NDArray[np.int8],
    shown: int,
) -> tuple[int, int, bool]:
    """A person reads the page from the top; the next row, the time, and whether they found it."""
    for position in range(shown):
        if rng.random() >= EXAMINE[position]:
            continue
        time += 400 + int(rng.exponential(1_200.0))
        document, grade = page[position], grades[position]
        if rng.random() >= min(0.95, ATTRACT[grade] * scene.appeal[document]):
            continue
        row = _log(out, row, time, user, query, document, CLICK, position)
        time += 3_000 + int(rng.exponential(8_000.0 * (1 + grade)))
        if scene.sells[query] and grade >= 3 and rng.random() < CART:
            row = _log(out, row, time, user, query, document, ADD_TO_CART, position)
            if rng.random() < PURCHASE:
                time += 20_000 + int(rng.exponential(60_000.0))
                row = _log(out, row, time, user, query, document, BUY, position)
        if rng.random() < SATISFY[grade]:
            return row, time, True
    return row, time, False


@jit
def _log(
    out: Events,
    row: int,
    time: int,
    user: int,
    query: int,
    document: int,
    action: int,
    position: int,
) -> int:
    """Write one event; the row after it."""
    out.time[row] = time
    out.user[row] = user
    out.query[row] = query
    out.document[row] = document
    out.action[row] = action
    out.position[row] = position + 1
    return row + 1
