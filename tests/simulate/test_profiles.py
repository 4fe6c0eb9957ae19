"""Profiles: their knobs, and the published statistics at a small scale."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coclick.simulate import PROFILES, Profile, World, sample_like
from coclick.simulate.engine import search_all
from coclick.simulate.profiles import Traffic, WorldShape
from coclick.simulate.traffic import Counts, count_clicks, draw_searches, read_pages
from reproduce.statistics import BEGIN, END, HEAD, measure, page

TINY = Traffic(max_searches=500)


def simulate(shape: WorldShape, traffic: Traffic) -> Counts:
    """One block of counts of a small world."""
    world = World.make(400, 600, 1, shape)
    searches = draw_searches(world.queries.share, traffic, np.random.default_rng(1))
    (counts,) = count_clicks(world, search_all(world, 1), searches, traffic, 1)
    assert (
        counts.shown[:, :, 0].sum(1) == searches[counts.queries]
    ).all()  # each search shows a first result
    return counts


def click_rate(counts: Counts) -> float:
    return counts.clicks.sum() / counts.shown[:, :, 0].sum()


@pytest.mark.parametrize(("name", "scale"), [("web-week", 0.02), ("enterprise", 0.03)])
def test_published_statistics_are_reached_at_a_small_scale(name: str, scale: float, tmp_path: Path) -> None:
    sample_like(tmp_path, name, seed=0, scale=scale)
    reached, published = measure(tmp_path), PROFILES[name].published
    for size in ("queries", "documents"):
        assert reached[size] == pytest.approx(scale * published[size], rel=0.15)
    for key in ("documents_per_query", "queries_per_document", "judged_documents_per_query"):
        if key in published:
            assert reached[key] == pytest.approx(published[key], rel=0.1)
    assert reached["queries_below_10_clicks"] == pytest.approx(212 / 500, abs=0.05)  # ± 2 standard errors
    assert reached["queries_above_1000_clicks"] > 0.02


@pytest.mark.slow
def test_the_half_year_has_its_ratios_at_a_small_scale(tmp_path: Path) -> None:
    sample_like(tmp_path, "web-halfyear", seed=0, scale=0.01)
    reached, published = measure(tmp_path), PROFILES["web-halfyear"].published
    assert reached["queries"] == pytest.approx(0.01 * published["queries"], rel=0.15)
    assert reached["documents_per_query"] == pytest.approx(published["documents_per_query"], rel=0.1)
    assert reached["queries_per_document"] == pytest.approx(published["queries_per_document"], rel=0.15)


def test_searches_follow_the_power_law() -> None:
    """With exponent 0.5, four times as many searches are a quarter of the rank, between both ends."""
    share = np.append(1.0 / np.arange(1, 10_001), [0.0, 0.0])
    searches = draw_searches(share, Traffic(tail_exponent=0.5, max_searches=1e4), np.random.default_rng(0))
    assert (searches[-2:] == 0).all()
    assert searches[0] == pytest.approx(1e4, rel=0.05)
    law = [np.mean(searches[:-2] > n) for n in (10, 40, 160)]
    assert law[0] / law[1] == pytest.approx(2, rel=0.15)
    assert law[1] / law[2] == pytest.approx(2, rel=0.2)


def test_users_stop_after_a_satisfying_click() -> None:
    """Half of the users click each result. On the first page every click satisfies, on the second none."""
    click = np.zeros((2, 10), np.float32)
    click[:, :2] = 0.5
    stop = click * np.array([[1], [0]], np.float32)
    clicks, single, both = read_pages(click, stop, np.array([2000, 8000]), np.random.default_rng(0))
    assert clicks[0, :2] == pytest.approx(
        [1000, 500], rel=0.1
    )  # half of those who do not click the first one
    assert (single[0] == clicks[0]).all()
    assert not both[0].any()
    assert clicks[1, :2] == pytest.approx([4000, 4000], rel=0.1)  # scaled up from 2,000 users
    assert single[1, :2] == pytest.approx([2000, 2000], rel=0.1)
    assert both[1, 1] == pytest.approx(2000, rel=0.1)  # first and second result
    assert both[1].sum() == both[1, 1]


def test_traffic_knobs() -> None:
    usual = simulate(WorldShape(), TINY)
    informational = simulate(WorldShape(), replace(TINY, informational_share=1.0))
    assert click_rate(informational) > 1.3 * click_rate(usual)
    patient = simulate(WorldShape(), replace(TINY, examination_exponent=0.0))
    assert click_rate(patient) > 1.1 * click_rate(usual)
    blind = simulate(WorldShape(), replace(TINY, recall=0.0))
    assert np.count_nonzero(blind.pool[:, 20:] >= 0) == 0 < np.count_nonzero(usual.pool[:, 20:] >= 0)
    steady = simulate(WorldShape(), replace(TINY, page_versions=1))
    assert np.count_nonzero(steady.shown, axis=2).max() == 1  # one position for each document


def test_a_navigational_query_has_one_official_page() -> None:
    world = World.make(300, 500, 1, WorldShape(official_pages=True))
    queries = np.arange(len(world.queries))
    navigational = world.is_navigational(queries)
    place, document, grade = world.relevant(queries)
    best = navigational[place] & (grade == 4)
    assert best.any()
    assert world.documents.is_official[document[best]].all()
    assert np.bincount(place[best]).max() == 1
    assert not World.make(300, 500, 1).is_navigational(queries).any()


def test_world_knobs() -> None:
    usual = World.make(300, 500, 1)
    named = World.make(300, 500, 1, WorldShape(sites_per_document=1.0, site_suffix_share=1.0))
    ends = {title.split()[-1].lower() for title in named.documents.titles}
    assert ends == {url.split("/")[2].split(".")[1] for url in named.documents.urls}
    assert [
        new.startswith(old) for new, old in zip(named.documents.titles, usual.documents.titles, strict=True)
    ]
    short = World.make(300, 500, 1, WorldShape(numbered_urls=False)).documents.urls
    assert len(set(short)) == len(short)
    assert sum(url[-1].isdigit() for url in short) < 300
    new = World.make(300, 500, 1, WorldShape(new_share=0.5)).documents.is_new
    assert new.mean() == pytest.approx(0.5, abs=0.1)
    clean = World.make(300, 500, 1, WorldShape(misspelt_share=0, run_together_share=0)).queries
    assert clean.texts == clean.clean_texts


def test_a_profile_of_your_own(tmp_path: Path) -> None:
    profile = Profile("a test", queries=500, docs=400, traffic=replace(TINY, min_clicks=2))
    counts = sample_like(tmp_path, profile, scale=0.9)
    assert counts["queries"] == 450
    assert counts["docs"] == 360
    assert measure(tmp_path)["queries"] == counts["graph_queries"]


def test_the_page_keeps_the_rows_of_other_logs() -> None:
    week, enterprise = "| `web-week` | queries | 1 | 2 |", "| `enterprise` | queries | 3 | 4 |"
    text = "\n".join(["before", BEGIN, HEAD, week, enterprise, END, "after"])
    new = "| `web-week` | queries | 1 | 5 |"
    assert page(text, "web-week", [new]) == text.replace(week, new)
