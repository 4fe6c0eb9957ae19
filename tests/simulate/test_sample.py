from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from coclick import simulate
from coclick.errors import UserError
from coclick.jit.threads import set_threads
from coclick.simulate.files import writing_files
from coclick.simulate.sample import FILES, query_kinds

SIZE: dict[str, Any] = {"queries": 600, "docs": 1000, "events": 40_000}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("sample") / "new" / "deep"
    simulate.sample(made, **SIZE, seed=1)
    return made


def digests(directory: Path) -> dict[str, str]:
    return {name: hashlib.sha256((directory / name).read_bytes()).hexdigest() for name in FILES}


def rows(path: Path) -> tuple[list[str], list[list[str]]]:
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    return header.split("\t"), [line.split("\t") for line in lines]


def events(directory: Path, sql: str) -> list[tuple]:
    return duckdb.sql(sql.format(events=f"read_parquet('{directory / 'events.parquet'}')")).fetchall()


def test_same_seed_same_bytes(directory: Path, tmp_path: Path) -> None:
    try:
        set_threads(1)
        simulate.sample(tmp_path / "again", **SIZE, seed=1)
    finally:
        set_threads(None)
    assert digests(tmp_path / "again") == digests(directory)
    simulate.sample(tmp_path / "other", **SIZE, seed=2)
    other = digests(tmp_path / "other")
    assert all(other[name] != digest for name, digest in digests(directory).items())


def test_events_have_their_columns(directory: Path) -> None:
    described = events(directory, "DESCRIBE SELECT * FROM {events}")
    assert [(name, kind) for name, kind, *_ in described] == [
        ("timestamp", "TIMESTAMP"),
        ("user", "VARCHAR"),
        ("query", "VARCHAR"),
        ("doc", "VARCHAR"),
        ("action", "VARCHAR"),
        ("position", "INTEGER"),
    ]
    times = [time for (time,) in events(directory, "SELECT timestamp FROM {events}")]
    assert times == sorted(times)
    assert len(times) == pytest.approx(SIZE["events"], rel=0.1)


def test_events_have_known_documents_and_queries(directory: Path) -> None:
    documents = {row[0] for row in rows(directory / "docs.tsv")[1]}
    assert {doc for (doc,) in events(directory, "SELECT DISTINCT doc FROM {events}")} <= documents
    kind = {row[0]: row[2] for row in rows(directory / "intents.tsv")[1]}
    asked = {query.lower() for (query,) in events(directory, "SELECT DISTINCT query FROM {events}")}
    assert asked == {query for query in kind if kind[query] != "unseen"}


def test_text_files(directory: Path) -> None:
    header, documents = rows(directory / "docs.tsv")
    assert header == ["doc", "title", "body", "url", "anchor"]
    assert len(documents) == 1000
    assert all(len(row) == 5 and all(row) for row in documents)
    assert rows(directory / "queries.tsv")[0] == ["id", "text"]
    assert rows(directory / "qrels.tsv")[0] == ["id", "doc", "grade"]
    assert rows(directory / "intents.tsv")[0] == ["query", "intent", "kind"]


def test_judgments_cover_unseen_and_new(directory: Path) -> None:
    documents = {row[0] for row in rows(directory / "docs.tsv")[1]}
    judged = dict(rows(directory / "queries.tsv")[1])
    qrels = rows(directory / "qrels.tsv")[1]
    assert {row[0] for row in qrels} == set(judged)
    assert {row[1] for row in qrels} <= documents
    assert {row[2] for row in qrels} == {"0", "1", "2", "3", "4"}
    assert len({(query, doc) for query, doc, _ in qrels}) == len(qrels)
    kind = {row[0]: row[2] for row in rows(directory / "intents.tsv")[1]}
    assert Counter(kind[text] for text in judged.values()) == {"head": 20, "tail": 20, "unseen": 20}

    shown = {doc for (doc,) in events(directory, "SELECT DISTINCT doc FROM {events}")}
    clicked = {d for (d,) in events(directory, "SELECT DISTINCT doc FROM {events} WHERE action = 'click'")}
    good = {doc for _, doc, grade in qrels if grade == "4"}
    assert good - shown and good & (shown - clicked) and good & clicked


def test_existing_files_are_kept(directory: Path) -> None:
    before = digests(directory)
    with pytest.raises(UserError, match="exists") as caught:
        simulate.sample(directory, queries=50, docs=50, events=100)
    assert "force" in (caught.value.hint or "")
    assert digests(directory) == before


def test_force_replaces_and_leaves_nothing_behind(tmp_path: Path) -> None:
    simulate.sample(tmp_path, queries=50, docs=50, events=100)
    before = digests(tmp_path)
    counts = simulate.sample(tmp_path, queries=60, docs=50, events=100, force=True)
    assert digests(tmp_path) != before
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES)
    assert counts["queries"] == 60 and counts["docs"] == 50
    assert counts["events"] == events(tmp_path, "SELECT count(*) FROM {events}")[0][0]


def test_a_directory_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    with pytest.raises(UserError, match="cannot write"):
        simulate.sample(tmp_path / "file" / "sample", queries=50, docs=50)


def test_zero_events_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="events"):
        simulate.sample(tmp_path, queries=50, docs=50, events=0)
    assert not list(tmp_path.iterdir())


def test_chunks_are_concatenated_in_order(tmp_path: Path) -> None:
    simulate.sample(tmp_path, queries=30, docs=50, events=1_300_000)
    file = tmp_path / "events.parquet"
    times = duckdb.sql(f"SELECT timestamp FROM read_parquet('{file}')").fetchnumpy()["timestamp"]
    assert len(times) == pytest.approx(1_300_000, rel=0.05)
    assert np.all(np.diff(times) >= np.timedelta64(0))
    assert len(list(tmp_path.iterdir())) == len(FILES)


def test_query_kinds() -> None:
    # 20 searches: the first two queries make up half of them.
    searches = np.array([1, 6, 0, 4, 3, 3, 2, 1])
    assert query_kinds(searches) == ["tail", "head", "unseen", "head", "tail", "tail", "tail", "tail"]


@pytest.mark.parametrize("moved", [0, 1, 2])
def test_a_stopped_replacement_leaves_no_files_of_two_logs(tmp_path, monkeypatch, moved):
    """Files of a new log were moved beside those of the old one, of which some were still there."""
    names = ("a", "b", "c")
    replace, done = Path.replace, []

    def stop(path, target):
        if len(done) == moved:
            raise KeyboardInterrupt
        done.append(target)
        return replace(path, target)

    for name in names:
        (tmp_path / name).write_text("old")
    with pytest.raises(KeyboardInterrupt), writing_files(tmp_path, names, force=True) as work:
        for name in names:
            (work / name).write_text("new")
        monkeypatch.setattr(Path, "replace", stop)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["new"] * moved
