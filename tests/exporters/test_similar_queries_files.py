"""Files of similar queries, read back with other tools."""

import csv
import json

import duckdb
import pytest

import planted
from coclick import create
from coclick.errors import UserError
from coclick.exporters import similar_queries
from coclick.exporters.similar_queries import write_similar_queries
from coclick.graph.click_graph import ClickGraph

CLICKS = [("hat", "d1", 1), ("red hat", "d1", 1), ("shoe", "d2", 5), ("cap", "d1", 1)]


@pytest.fixture(scope="module")
def model():
    return create("cos_clicks").fit(ClickGraph.from_clicks(CLICKS))


def read_tsv(path):
    with path.open(newline="") as stream:
        return [
            (row["query"], int(row["rank"]), row["similar"], float(row["score"]), float(row["clicks"]))
            for row in csv.DictReader(stream, delimiter="\t")
        ]


def read_jsonl(path):
    return [tuple(json.loads(line).values()) for line in path.read_text().splitlines()]


def read_parquet(path):
    with duckdb.connect() as connection:
        return connection.execute(f"SELECT * FROM '{path}'").fetchall()


@pytest.mark.parametrize(
    ("suffix", "read"), [("tsv", read_tsv), ("jsonl", read_jsonl), ("parquet", read_parquet)]
)
def test_every_format_has_the_similar_queries_of_the_log(model, tmp_path, suffix, read):
    """Three queries share one document, so all their cosines are 1; the fourth is similar to none.

    They share one click, which counts 1 / 1.3, and two of them also a word, which makes 2 / 2.3.
    """
    path = tmp_path / f"similar.{suffix}"
    assert write_similar_queries(model, path, k=2) == {"queries": 4, "with_similar": 3, "rows": 6}
    rows = read(path)
    group = {"hat", "red hat", "cap"}
    assert {(query, rank) for query, rank, *_ in rows} == {
        (query, rank) for query in group for rank in (1, 2)
    }
    assert all({row[2] for row in rows if row[0] == query} == group - {query} for query in group)
    damped = {frozenset(("hat", "red hat")): 2 / 2.3}
    assert all(row[3] == pytest.approx(damped.get(frozenset((row[0], row[2])), 1 / 1.3)) for row in rows)
    assert [row[4] for row in rows] == [1.0] * 6
    with pytest.raises(UserError, match="exists"):
        write_similar_queries(model, path)
    stats = write_similar_queries(model, path, ["Red  Hat", "unknown"], k=1, force=True)
    assert stats == {"queries": 2, "with_similar": 1, "rows": 1}
    assert [row[:2] for row in read(path)] == [("Red  Hat", 1)]


def test_other_suffixes_are_refused(model, tmp_path):
    with pytest.raises(UserError, match=r"cannot write similar queries as '?\.csv"):
        write_similar_queries(model, tmp_path / "similar.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "spec", ["vpcg", "neighbours", "cos_clicks", "rw", "pls(dim=4)", "vpcg + neighbours"]
)
def test_blocks_do_not_change_the_results(spec, tmp_path, monkeypatch):
    """One by one, in blocks of three, and all at once."""
    from coclick.models import base

    model = create(spec).fit(planted.graph())
    texts = [*model.graph_.queries.to_list(), "a query that is not in the log", "hotel hotel"]
    write_similar_queries(model, tmp_path / "once.tsv", texts, k=4)
    monkeypatch.setattr(base, "_QUERIES_PER_BLOCK", 3)
    monkeypatch.setattr(similar_queries, "_BLOCK", 7)
    write_similar_queries(model, tmp_path / "blocks.tsv", texts, k=4)
    assert (tmp_path / "once.tsv").read_bytes() == (tmp_path / "blocks.tsv").read_bytes()
    alone = [(text, *hit) for text in texts for hit in model.similar_queries(text, 4, damped=True).hits()]
    expected = [(query, other, pytest.approx(score, rel=1e-4)) for query, other, score in alone]
    assert [(row[0], row[2], row[3]) for row in read_tsv(tmp_path / "once.tsv")] == expected


def test_all_queries_of_the_log_in_memory(model):
    """None means all queries, and progress counts them."""
    counted = []

    class Step:
        def __init__(self, what, total):
            counted.append(total)

        def __enter__(self):
            return counted.append

        def __exit__(self, *error):
            return None

    run = model.similar_queries(None, 1, progress=Step)
    assert run.queries == tuple(model.graph_.queries.to_list())
    assert counted == [4, 4]
