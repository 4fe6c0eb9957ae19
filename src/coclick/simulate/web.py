"""`sample_like`: write a simulated log with the size and shape of a published one."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray

from coclick.graph.click_graph import ClickGraph
from coclick.logs.duckdb_session import literal
from coclick.simulate.engine import search_all
from coclick.simulate.files import write_tsv, writing_files
from coclick.simulate.judging import judge
from coclick.simulate.log_graph import LogGraph
from coclick.simulate.profiles import Profile, find_profile
from coclick.simulate.sample import query_kinds
from coclick.simulate.traffic import count_clicks, draw_searches
from coclick.simulate.world import World

LIKE_FILES = ("clicks.parquet", "docs.tsv", "queries.tsv", "qrels.tsv", "intents.tsv", "graph")


def sample_like(
    directory: str | Path,
    profile: str | Profile = "web-week",
    seed: int = 0,
    scale: float = 1.0,
    force: bool = False,
) -> dict[str, int]:
    """Write a simulated log with the size and shape of a published one into `directory`.

    Files: docs.tsv, queries.tsv, qrels.tsv and intents.tsv as in `sample`; clicks.parquet, the clicks and
    impressions of every pair with a click; and graph, the click graph without pairs of few clicks, with
    impressions, positions, navigational clicks and skip pairs, as `build` would make it from the events.

    Parameters: `profile`, the name of a preset or a `Profile`; `scale`, the share of its size to make.
    Returns the number of queries, docs, clicks, judged queries and judgments.
    """
    made = (find_profile(profile) if isinstance(profile, str) else profile).scaled(scale)
    with writing_files(Path(directory), LIKE_FILES, force) as work:
        return _write(work, made, seed)


def _write(work: Path, profile: Profile, seed: int) -> dict[str, int]:
    world = World.make(profile.queries, profile.docs, seed, profile.world)
    results = search_all(world, seed)
    searches = draw_searches(world.queries.share, profile.traffic, np.random.default_rng([seed, 2]))
    log = LogGraph(world, profile.traffic.min_clicks)
    for counts in count_clicks(world, results, searches, profile.traffic, seed):
        log.add(counts)
    graph = log.graph()
    graph.save(work / "graph")
    pairs = log.clicked_pairs()
    _write_clicks(work / "clicks.parquet", world, pairs)

    docs, texts = world.documents, world.queries.texts
    columns = (docs.ids, docs.titles, docs.bodies, docs.urls, docs.anchors)
    write_tsv(work / "docs.tsv", ("doc", "title", "body", "url", "anchor"), zip(*columns, strict=True))
    clicks, clicked = _graph_clicks(graph, texts, docs.ids)
    judged, place, document, grade = judge(world, results, clicks, clicked, profile.judging, seed)
    ids = [f"q{number:05d}" for number in range(1, len(judged) + 1)]
    write_tsv(work / "queries.tsv", ("id", "text"), zip(ids, (texts[q] for q in judged), strict=True))
    lines = zip(place.tolist(), document.tolist(), grade.tolist(), strict=True)
    write_tsv(
        work / "qrels.tsv", ("id", "doc", "grade"), ((ids[p], docs.ids[d], str(g)) for p, d, g in lines)
    )
    names = world.catalogue.names(world.intents)
    intents = (names[intent] for intent in world.queries.intent)
    write_tsv(
        work / "intents.tsv", ("query", "intent", "kind"),
        zip(texts, intents, query_kinds(searches), strict=True),
    )  # fmt: skip
    return {
        "queries": len(texts),
        "docs": len(docs),
        "clicks": int(pairs[2].sum()),
        "graph_queries": len(graph.queries),
        "edges": graph.clicks.nnz,
        "judged": len(judged),
        "judgments": len(grade),
    }


def _graph_clicks(
    graph: ClickGraph, texts: list[str], ids: list[str]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The clicks of every query of the world in the graph, and which documents have clicks there."""
    row, doc = graph.queries.lookup(texts), graph.docs.lookup(ids)
    clicks = np.add.reduceat(np.append(graph.clicks.data, 0), graph.clicks.indptr[:-1], dtype=np.float64)
    return np.where(row >= 0, clicks[row], 0).astype(np.int64), graph.clicks_by_doc.row_nnz()[doc] > 0


def _write_clicks(path: Path, world: World, pairs: tuple[NDArray[np.int64], ...]) -> None:
    query, document, clicks, impressions = pairs
    table = {
        "query": np.array(world.queries.texts, dtype=object)[query],
        "doc": np.array(world.documents.ids, dtype=object)[document],
        "clicks": clicks.astype(np.int64),
        "impressions": impressions.astype(np.int64),
    }
    connection = duckdb.connect(config={"threads": 1})  # one thread: the same clicks give the same bytes
    connection.execute("SET enable_progress_bar = false")
    connection.register("pairs", table)
    connection.execute(f"COPY (SELECT * FROM pairs) TO {literal(path)} (FORMAT parquet)")
    connection.close()
