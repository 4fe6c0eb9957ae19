"""Logs like published ones: consistency of their files, determinism, and the statistics that they aim at."""

from __future__ import annotations

import hashlib
from pathlib import Path

import duckdb
import numpy as np
import pytest

from coclick.errors import UserError
from coclick.evaluation.judgments import Judgments, read_judgments
from coclick.evaluation.similar_queries import read_intents
from coclick.graph.click_graph import ClickGraph
from coclick.logs import build
from coclick.simulate import PROFILES, sample_like

SCALE = 0.01


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("week")
    sample_like(directory, "web-week", seed=1, scale=SCALE)
    return directory


def judgments(directory: Path) -> Judgments:
    return read_judgments(directory / "queries.tsv", directory / "qrels.tsv")


def test_the_graph_is_the_one_that_build_makes(week: Path, tmp_path: Path) -> None:
    graph = ClickGraph.open(week / "graph")
    built = build([week / "clicks.parquet"], week / "docs.tsv", tmp_path / "graph", min_clicks=4)
    assert list(graph.queries) == list(built.queries)
    assert list(graph.docs) == list(built.docs)
    assert (graph.clicks.to_scipy() != built.clicks.to_scipy()).nnz == 0
    assert graph.texts.keys() == built.texts.keys()
    assert all(list(graph.texts[name]) == list(built.texts[name]) for name in graph.texts)


def test_counts_agree(week: Path) -> None:
    graph = ClickGraph.open(week / "graph")
    assert graph.provides == {"texts", "impressions", "sessions", "days", "positions", "skips"}
    pairs, daily = graph.pairs, graph.daily
    assert (daily.clicks <= pairs.impressions).all()  # no click on a document that was not shown
    assert (pairs.navigational <= daily.clicks).all()
    assert (pairs.impressions > 0).all()
    shown = np.add.reduceat(daily.shown, daily.position_indptr[:-1])
    assert (shown == pairs.impressions).all()
    assert daily.position.min() == 1
    assert daily.position.max() <= 10
    logged = duckdb.sql(
        f"SELECT min(impressions - clicks), min(clicks) FROM '{week}/clicks.parquet'"
    ).fetchall()
    assert logged[0][0] >= 0
    assert logged[0][1] == 1


def test_skip_pairs_are_clicked_documents_and_others_that_were_shown(week: Path) -> None:
    graph = ClickGraph.open(week / "graph")
    pairs, skips = graph.pairs, graph.skips
    for row in range(0, len(graph.queries), 50):
        mine = slice(pairs.indptr[row], pairs.indptr[row + 1])
        shown = dict(zip(pairs.docs[mine].tolist(), graph.daily.clicks[mine].tolist(), strict=True))
        for place in range(skips.indptr[row], skips.indptr[row + 1]):
            assert skips.clicked[place] != skips.skipped[place]
            assert skips.count[place] <= shown[skips.clicked[place]]
            assert skips.skipped[place] in shown


def test_users_click_the_first_position_most(week: Path) -> None:
    """The click-through rate of pairs that are always at one position falls with the position."""
    daily = ClickGraph.open(week / "graph").daily
    fixed = np.flatnonzero(np.diff(daily.position_indptr) == 1)
    position = daily.position[daily.position_indptr[fixed]]
    clicks = np.bincount(position, daily.clicks[fixed], 11)[1:]
    rate = clicks / np.bincount(position, daily.impressions[fixed], 11)[1:]
    assert rate[0] > 2 * rate[1] > 4 * rate[4]


def test_the_same_seed_gives_the_same_bytes(week: Path, tmp_path: Path) -> None:
    def digests(directory: Path) -> dict[str, str]:
        files = [path for path in directory.rglob("*") if path.is_file() and path.name != "manifest.json"]
        return {
            str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files
        }

    sample_like(tmp_path / "again", "web-week", seed=1, scale=SCALE)
    assert digests(tmp_path / "again") == digests(week)
    sample_like(tmp_path / "other", "web-week", seed=2, scale=SCALE)
    other = digests(tmp_path / "other")
    for name in ("clicks.parquet", "docs.tsv", "queries.tsv", "qrels.tsv", "intents.tsv"):
        assert other[name] != digests(week)[name]


def test_grades_agree_with_the_intents(week: Path) -> None:
    """Two judged queries of one intent give a document the same grade, and every query has a relevant one."""
    judged = judgments(week)
    intents = dict(line.split("\t")[:2] for line in (week / "intents.tsv").read_text().splitlines()[1:])
    seen: dict[tuple[str, str], int] = {}
    for query, grades in judged.grades.items():
        assert max(grades.values()) > 0
        for doc, grade in grades.items():
            assert seen.setdefault((intents[judged.queries[query]], doc), grade) == grade
    assert set(seen.values()) == {0, 1, 2, 3, 4}
    assert len(read_intents(week / "intents.tsv").queries) > len(judged.queries)


def test_the_click_bins_have_their_share_of_the_judged_queries(week: Path) -> None:
    graph = ClickGraph.open(week / "graph")
    rows = graph.queries.lookup(list(judgments(week).queries.values()))
    assert (rows >= 0).all()
    clicks = graph.clicks.to_scipy().sum(1)[rows]
    bins = np.histogram(clicks, [0, 10.5, 100.5, 1000.5, np.inf])[0] / len(rows)
    assert bins == pytest.approx([0.103, 0.347, 0.341, 0.209], abs=0.06)  # Wu, Lu & Li 2013 Table 6


def test_a_navigational_query_wants_the_official_page(week: Path) -> None:
    judged = judgments(week)
    intents = dict(line.split("\t")[:2] for line in (week / "intents.tsv").read_text().splitlines()[1:])
    urls = {line.split("\t")[0]: line.split("\t")[3] for line in (week / "docs.tsv").read_text().splitlines()}
    best = [
        urls[doc]
        for query, grades in judged.grades.items()
        for doc, grade in grades.items()
        if grade == 4 and intents[judged.queries[query]].count("/") == 1
    ]
    assert best
    assert all(url.endswith(".example/") for url in best)


def test_coverage(tmp_path: Path) -> None:
    sample_like(tmp_path, "web-unseen", seed=1, scale=0.02)
    query_share, doc_share = coverage(tmp_path)
    assert query_share == pytest.approx(0.925, abs=0.03)
    assert doc_share == pytest.approx(0.789, abs=0.04)


def test_new_documents_have_no_clicks(tmp_path: Path) -> None:
    sample_like(tmp_path, "web-new", seed=1, scale=SCALE)
    assert coverage(tmp_path) == (1.0, 0.0)


def coverage(directory: Path) -> tuple[float, float]:
    """Shares of judged queries and of judged pairs' documents with clicks in the graph."""
    graph, judged = ClickGraph.open(directory / "graph"), judgments(directory)
    rows = graph.queries.lookup(list(judged.queries.values()))
    clicked = {graph.docs[doc] for doc in np.unique(graph.clicks.indices).tolist()}
    pairs = [doc in clicked for grades in judged.grades.values() for doc in grades]
    return float((rows >= 0).mean()), float(np.mean(pairs))


def test_unknown_profiles_and_scales_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no profile 'web'"):
        sample_like(tmp_path, "web")
    with pytest.raises(UserError, match="scale"):
        sample_like(tmp_path, "web-week", scale=2)
    assert not list(tmp_path.iterdir())


def test_every_profile_says_what_it_is_like() -> None:
    assert all(profile.about and profile.published for profile in PROFILES.values())
