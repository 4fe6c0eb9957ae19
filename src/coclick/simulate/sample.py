"""`sample`: write a simulated search log with known relevance, as files that coclick reads."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray

from coclick.errors import check_whole
from coclick.logs.duckdb_session import literal
from coclick.simulate.engine import Results, search_all
from coclick.simulate.files import write_tsv, writing_files
from coclick.simulate.users import ACTIONS, FIRST_DAY, PAGE, Events, search_log, user_names
from coclick.simulate.world import World

FILES = ("events.parquet", "docs.tsv", "queries.tsv", "qrels.tsv", "intents.tsv")
EVENTS_PER_QUERY = 60
_MAX_SIZE = 10_000_000  # queries or documents
JUDGED_SHARE, MAX_JUDGED = 0.1, 3000  # of all queries; a third each of head, tail and unseen
HEAD_SHARE = 0.5  # head queries: the most frequent ones that make up half of all searches
N_RANDOM_DOCS = 10  # random documents judged per query, in addition to the engine's results
CAPITALISED_EVERY = 20  # one user in 20 capitalises queries, as phones do


def sample(
    directory: str | Path,
    queries: int = 3000,
    docs: int = 5000,
    events: int | None = None,
    seed: int = 0,
    force: bool = False,
) -> dict[str, int]:
    """Write events.parquet, docs.tsv, queries.tsv, qrels.tsv and intents.tsv into `directory`.

    The log has about `events` events over four weeks, by default 60 per query. The judgments are made after
    the log: for frequent, rare and unseen queries, and over all documents, including new ones. Returns the
    number of queries, docs, events, clicks, judged queries and judgments.
    """
    queries, docs = check_whole(queries, "queries", 0, _MAX_SIZE), check_whole(docs, "docs", 0, _MAX_SIZE)
    events = check_whole(EVENTS_PER_QUERY * queries if events is None else events, "events", 1)
    world = World.make(queries, docs, seed)
    with writing_files(Path(directory), FILES, force) as work:
        return _write(work, world, events, seed)


def _write(work: Path, world: World, events: int, seed: int) -> dict[str, int]:
    results = search_all(world, seed)
    log = _EventsFile(work, world, events)
    for chunk in search_log(world, events, seed, results):
        log.add(chunk)
    log.finish(work / "events.parquet")

    docs = world.documents
    columns = (docs.ids, docs.titles, docs.bodies, docs.urls, docs.anchors)
    write_tsv(work / "docs.tsv", ("doc", "title", "body", "url", "anchor"), zip(*columns, strict=True))

    kinds = query_kinds(log.searches)
    judged = choose_judged_queries(kinds, max(1, round(min(JUDGED_SHARE * len(kinds), MAX_JUDGED) / 3)), seed)
    texts = world.queries.texts
    width = max(4, len(str(len(judged))))
    ids = [f"q{number:0{width}d}" for number in range(1, len(judged) + 1)]
    write_tsv(work / "queries.tsv", ("id", "text"), zip(ids, (texts[q] for q in judged), strict=True))
    place, document, grade = judgments(world, results, judged, seed)
    lines = zip(place.tolist(), document.tolist(), grade.tolist(), strict=True)
    write_tsv(
        work / "qrels.tsv", ("id", "doc", "grade"), ((ids[p], docs.ids[d], str(g)) for p, d, g in lines)
    )
    names = world.catalogue.names(world.intents)
    intents = (names[intent] for intent in world.queries.intent)
    write_tsv(work / "intents.tsv", ("query", "intent", "kind"), zip(texts, intents, kinds, strict=True))
    return {
        "queries": len(texts),
        "docs": len(docs),
        "events": log.rows,
        "clicks": log.clicks,
        "judged": len(judged),
        "judgments": len(grade),
    }


def query_kinds(searches: NDArray[np.int64]) -> list[str]:
    """Return `head`, `tail` or `unseen` for every query, by its number of searches in the log."""
    order = np.argsort(-searches, kind="stable")
    before = np.cumsum(searches[order]) - searches[order]
    kinds = np.where(searches > 0, "tail", "unseen").astype(object)
    kinds[order[(before < HEAD_SHARE * searches.sum()) & (searches[order] > 0)]] = "head"
    return kinds.tolist()


def choose_judged_queries(kinds: list[str], each: int, seed: int) -> NDArray[np.intp]:
    """Choose up to `each` random queries of every kind."""
    rng = np.random.default_rng([seed, 3])
    of_kind = np.array(kinds)
    chosen = [rng.permutation(np.flatnonzero(of_kind == k))[:each] for k in ("head", "tail", "unseen")]
    return np.concatenate(chosen)


def judgments(
    world: World, results: Results, queries: NDArray[np.intp], seed: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int8]]:
    """Return indices into `queries`, documents and grades: all relevant pairs, and some that are not.

    The others are the engine's first results and random documents.
    """
    rng = np.random.default_rng([seed, 4])
    places, documents, _ = world.relevant(queries)
    found = results.documents[queries, :PAGE]
    found_place, found_column = np.nonzero(found >= 0)
    random = rng.integers(len(world.documents), size=(len(queries), N_RANDOM_DOCS))
    pairs = np.concatenate(
        [
            np.stack([places, documents]),
            np.stack([found_place, found[found_place, found_column]]),
            np.stack([np.repeat(np.arange(len(queries)), N_RANDOM_DOCS), random.ravel()]),
        ],
        axis=1,
    )
    places, documents = np.unique(pairs, axis=1).astype(np.int32)
    return places, documents, world.grade(queries[places], documents)


class _EventsFile:
    """Writes chunks of events as Parquet files and concatenates them at the end, to limit memory."""

    def __init__(self, work: Path, world: World, events: int) -> None:
        self.searches = np.zeros(len(world.queries), np.int64)
        self.rows = 0
        self.clicks = 0
        self._work = work
        self._parts: list[str] = []
        self._users = user_names(events)
        self._typed = np.array(world.queries.texts, dtype=object)
        self._capital = np.array([t[0].upper() + t[1:] for t in world.queries.texts], dtype=object)
        self._documents = np.array(world.documents.ids, dtype=object)
        self._actions = np.array(ACTIONS, dtype=object)
        # One thread, so that the same events give the same bytes.
        self._connection = duckdb.connect(config={"threads": 1})
        self._connection.execute("SET enable_progress_bar = false")

    def add(self, events: Events) -> None:
        """Write one chunk, with names instead of ids."""
        capitals = events.user % CAPITALISED_EVERY == 0
        chunk = {
            "timestamp": (FIRST_DAY + events.time.astype("timedelta64[ms]")).astype("datetime64[us]"),
            "user": self._users[events.user],
            "query": np.where(capitals, self._capital[events.query], self._typed[events.query]),
            "doc": self._documents[events.document],
            "action": self._actions[events.action],
            "position": events.position.astype(np.int32),
        }
        part = str(self._work / f"part-{len(self._parts)}.parquet")
        self._connection.register("chunk", chunk)
        self._connection.execute(f"COPY (SELECT * FROM chunk) TO {literal(part)} (FORMAT parquet)")
        self._connection.unregister("chunk")
        self._parts.append(part)
        self.rows += len(events.time)
        self.clicks += int((events.action == ACTIONS.index("click")).sum())
        shown_first = (events.action == ACTIONS.index("impression")) & (events.position == 1)
        self.searches += np.bincount(events.query[shown_first], minlength=len(self.searches))

    def finish(self, path: Path) -> None:
        """Concatenate the chunks, in order, into one file."""
        if len(self._parts) == 1:
            Path(self._parts[0]).replace(path)
        else:
            parts = ", ".join(map(literal, self._parts))
            self._connection.execute(
                f"COPY (SELECT * FROM read_parquet([{parts}])) TO {literal(path)} (FORMAT parquet)"
            )
            for part in self._parts:
                Path(part).unlink()
        self._connection.close()
