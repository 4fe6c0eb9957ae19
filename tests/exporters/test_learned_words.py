"""Files of learned words, read back with other tools."""

import csv
import json

import duckdb
import pytest

import planted
from coclick import create
from coclick.errors import UserError
from coclick.exporters.learned_words import write_learned_words
from coclick.graph.click_graph import ClickGraph

CLICKS = [("cheap trainers", "d1", 3), ("trainers", "d1", 2), ("red hat", "d2", 1)]
TITLES = {"d1": "Running shoes", "d2": "Red hats", "d3": "Never clicked"}


@pytest.fixture(scope="module")
def model():
    return create("bm25sd_mult").fit(ClickGraph.from_clicks(CLICKS, TITLES))


def read_tsv(path):
    with path.open(newline="") as stream:
        return [
            (row["doc"], row["word"], float(row["weight"])) for row in csv.DictReader(stream, delimiter="\t")
        ]


def read_ndjson(path):
    return [tuple(json.loads(line).values()) for line in path.read_text().splitlines()]


def read_parquet(path):
    with duckdb.connect() as connection:
        return connection.execute(f"SELECT doc, word, weight FROM '{path}'").fetchall()


@pytest.mark.parametrize(
    ("suffix", "read"), [("tsv", read_tsv), ("ndjson", read_ndjson), ("parquet", read_parquet)]
)
def test_every_format_has_the_words_of_the_model(model, tmp_path, suffix, read):
    path = tmp_path / f"words.{suffix}"
    stats = write_learned_words(model, path)
    rows = read(path)
    assert stats == {"documents": 3, "with_words": 1, "rows": 2}, "the words of d2 are in its title"
    assert [row[:2] for row in rows] == [("d1", "trainers"), ("d1", "cheap")]
    assert [row[2] for row in rows] == pytest.approx(
        [weight for _, weight in model.expand_docs("d1")], rel=1e-5
    )
    with pytest.raises(UserError, match="exists"):
        write_learned_words(model, path)
    assert write_learned_words(model, path, ["d2"], new=False, force=True)["rows"] == 2
    assert {row[1] for row in read(path)} == {"red", "hat"}


def test_unknown_suffixes_and_documents_are_refused(model, tmp_path):
    with pytest.raises(UserError, match=r"cannot write learned words as '?\.csv"):
        write_learned_words(model, tmp_path / "words.csv")
    with pytest.raises(UserError, match="no document"):
        write_learned_words(model, tmp_path / "words.tsv", ["d9"])
    assert not list(tmp_path.iterdir()), "nothing is left behind"
    odd = create("bm25sd_mult").fit(ClickGraph.from_clicks([("q", "a\tb", 1)], {"a\tb": "title"}))
    with pytest.raises(UserError, match="contains a tab"):
        write_learned_words(odd, tmp_path / "words.tsv")
    assert write_learned_words(odd, tmp_path / "words.parquet")["rows"] == 1


def test_blocks_do_not_change_the_words(tmp_path, monkeypatch):
    from coclick.exporters import learned_words
    from coclick.models import document_expansion

    model = create("vpcg").fit(planted.graph())
    write_learned_words(model, tmp_path / "once.tsv", k=4)
    monkeypatch.setattr(learned_words, "DOCS_PER_BLOCK", 7)
    monkeypatch.setattr(document_expansion, "DOCS_PER_BLOCK", 3)
    write_learned_words(model, tmp_path / "blocks.tsv", k=4)
    assert (tmp_path / "once.tsv").read_bytes() == (tmp_path / "blocks.tsv").read_bytes()
