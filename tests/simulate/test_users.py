from __future__ import annotations

import numpy as np
import pytest

from coclick.simulate import Events, World, search_log
from coclick.simulate.engine import Results, search_all
from coclick.simulate.users import ACTIONS, DAYS, EXPLORE, HOUR, PAGE, user_names

IMPRESSION, CLICK, CART, PURCHASE = range(4)


@pytest.fixture(scope="module")
def world() -> World:
    return World.make(queries=800, docs=1200, seed=5)


@pytest.fixture(scope="module")
def results(world: World) -> Results:
    return search_all(world, seed=5)


@pytest.fixture(scope="module")
def log(world: World, results: Results) -> Events:
    (events,) = search_log(world, 250_000, seed=5, results=results)
    return events


def humans(log: Events) -> Events:
    """The log without users who click far more than others."""
    clicks = np.bincount(log.user[log.action == CLICK], minlength=log.user.max() + 1)
    keep = (clicks < 250)[log.user]
    return Events._make(column[keep] for column in log)


def rate(log: Events, rows: np.ndarray) -> float:
    """Clicks per impression among the given rows."""
    return float((log.action[rows] == CLICK).sum() / (log.action[rows] == IMPRESSION).sum())


def test_the_log_has_the_requested_size(world: World, results: Results, log: Events) -> None:
    assert len(log.time) == pytest.approx(250_000, rel=0.05)
    small = sum(len(chunk.time) for chunk in search_log(world, 20_000, seed=6, results=results))
    assert small == pytest.approx(20_000, rel=0.15)


def test_the_chunk_size_does_not_matter(world: World, results: Results, log: Events) -> None:
    chunks = list(search_log(world, 250_000, seed=5, results=results, chunk=20_000))
    assert len(chunks) > 8
    for name, column in zip(Events._fields, log, strict=True):
        joined = np.concatenate([getattr(chunk, name) for chunk in chunks])
        assert np.array_equal(joined, column), name


def test_events_span_four_weeks_with_nights(log: Events) -> None:
    assert np.all(np.diff(log.time) >= 0)
    assert log.time[0] >= 0
    assert DAYS * 24 * HOUR * 0.99 < log.time[-1] < (DAYS * 24 + 2) * HOUR
    by_hour = np.bincount(log.time // HOUR % 24, minlength=24)
    assert by_hour[20] > 5 * by_hour[3]


def test_clicks_follow_an_impression_at_the_same_position(log: Events) -> None:
    shown: set[tuple[int, ...]] = set()
    clicked: set[tuple[int, ...]] = set()
    columns = (log.user, log.query, log.document, log.position, log.action)
    for *what, action in zip(*(column.tolist() for column in columns), strict=True):
        if action == IMPRESSION:
            shown.add(tuple(what))
        elif action == CLICK:
            assert tuple(what) in shown
            clicked.add(tuple(what))
        else:
            assert tuple(what) in clicked
    assert set(np.unique(log.action)) == set(range(len(ACTIONS)))


def test_carts_only_for_product_queries(world: World, log: Events) -> None:
    bought = log.action >= CART
    assert world.sells()[log.query[bought]].all()
    assert not world.sells().all()


def test_pages_show_ten_different_results_in_order(log: Events) -> None:
    impressions = np.flatnonzero(log.action == IMPRESSION)
    assert log.position[impressions].min() == 1
    assert log.position[impressions].max() == PAGE
    pages = np.split(impressions, np.flatnonzero(log.position[impressions] == 1)[1:])
    for page in pages[:3000]:
        assert log.position[page].tolist() == list(range(1, len(page) + 1))
        assert len(set(log.document[page].tolist())) == len(page)
        assert len(set(log.time[page].tolist())) == 1


def test_position_bias(log: Events) -> None:
    real = humans(log)
    rates = [rate(real, real.position == position) for position in range(1, PAGE + 1)]
    assert rates[0] > 1.5 * rates[1] > 2 * rates[7]
    assert rates[7] > 0


def test_better_documents_are_clicked_more_at_the_same_position(world: World, log: Events) -> None:
    real = humans(log)
    grade = world.grade(real.query, real.document)
    first = real.position == 1
    rates = [rate(real, first & (grade == g)) for g in range(5)]
    assert rates == sorted(rates)
    assert rates[0] > 0  # some clicks are mistakes
    # At lower positions similar grades may swap: good results often follow good results, and the user
    # is already satisfied.
    for position in (2, 5, 8):
        here = real.position == position
        assert rate(real, here & (grade >= 3)) > 2 * rate(real, here & (grade <= 1))


def test_head_and_tail(log: Events) -> None:
    searches = np.bincount(log.query[(log.action == IMPRESSION) & (log.position == 1)])
    searches = np.sort(searches[searches > 0])[::-1]
    assert searches[: len(searches) // 10].sum() > 0.35 * searches.sum()
    assert searches[len(searches) // 2 :].sum() < 0.2 * searches.sum()


def test_later_queries_are_not_in_the_log(world: World, log: Events) -> None:
    assert (world.queries.share[log.query] > 0).all()
    assert not world.documents.is_new[log.document].any()


def test_there_are_bots(log: Events) -> None:
    clicks = np.sort(np.bincount(log.user[log.action == CLICK]))[::-1]
    assert clicks[0] > 4 * clicks[5]
    assert clicks[:10].sum() < 0.3 * clicks.sum()


def test_exploration_is_rare_and_relevant(world: World, results: Results, log: Events) -> None:
    impressions = log.action == IMPRESSION
    query, document = log.query[impressions], log.document[impressions]
    outside = (results.documents[query] != document[:, None]).all(axis=1)
    pages = (log.position[impressions] == 1).sum()
    assert 0.02 < outside.sum() / pages <= EXPLORE
    assert world.grade(query[outside], document[outside]).min() >= 2


def test_sessions_reformulate(world: World, log: Events) -> None:
    first = (log.action == IMPRESSION) & (log.position == 1)
    order = np.lexsort((log.time[first], log.user[first]))
    user, query, time = (column[first][order] for column in (log.user, log.query, log.time))
    follows = (user[1:] == user[:-1]) & (np.diff(time) < HOUR / 2)
    intent = world.queries.intent
    again = follows & (intent[query[1:]] == intent[query[:-1]])
    assert 0.2 < follows.mean() < 0.8
    assert (again & (query[1:] != query[:-1])).sum() > 0.2 * follows.sum()


def test_user_names_are_distinct(log: Events) -> None:
    names = user_names(250_000)
    assert len(set(names)) == len(names) > log.user.max()
