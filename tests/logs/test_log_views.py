"""User views from files of features: formats, rejected rows, unknown ids, linked arrays."""

import gzip
import json
from pathlib import Path

import duckdb
import numpy as np
import pytest

from coclick import ClickGraph
from coclick.errors import UserError
from coclick.logs import add_view, build
from coclick.models.verify import verify

LOG = "query\tdoc\tclicks\nRed shoe\tD1\t3\nhat\tD2\t1\nhat\tD9\t2\nhat\t\t2\n"
QUERIES = [["red  SHOE", "wear", "2"], ["Hat", "head", "1.5"], ["hat", "head", "3"], ["unseen", "other", "1"]]
DOCS = [["D9", "wool, warm", "0.25"], ["D1", "wear", "1"], ["D7", "silk", "1"], ["D8", "silk", "1"]]
# Both rows of "hat" are one entry. Features of unknown ids only are left out.
QUERY_CELLS = {("red shoe", "wear"): 2, ("hat", "head"): 4.5}
DOC_CELLS = {("D9", "wool, warm"): 0.25, ("D1", "wear"): 1}


@pytest.fixture
def graph(tmp_path):
    (tmp_path / "log.tsv").write_text(LOG)
    build([tmp_path / "log.tsv"], None, tmp_path / "graph")
    return tmp_path / "graph"


def write(path, key, rows):
    names = [key, "feature", "value"]
    if path.suffix == ".csv":
        text = "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in [names, *rows])
    elif path.suffix == ".jsonl":
        text = "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)
    elif path.suffix == ".parquet":
        values = ", ".join(f"('{a}', '{b}', {c})" for a, b, c in rows)
        duckdb.execute(f"COPY (FROM (VALUES {values}) t({', '.join(names)})) TO '{path}' (FORMAT parquet)")
        return path
    else:
        text = "".join("\t".join(row) + "\n" for row in [names, *rows])
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def files(tmp_path, suffix, queries=QUERIES, docs=DOCS) -> tuple[list[Path], list[Path]]:
    return (
        [write(tmp_path / f"queries.{suffix}", "query", queries)],
        [write(tmp_path / f"docs.{suffix}", "doc", docs)],
    )


def content(graph, name="tags"):
    view, found = graph.views[name], []
    sides = (
        (graph.queries, view.queries, view.query_features),
        (graph.docs, view.docs, view.doc_features),
    )
    for ids, matrix, features in sides:
        assert matrix.rows == len(ids) and matrix.columns == len(features)
        coo = matrix.to_scipy().tocoo()
        cells = zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True)
        found.append({(ids[row], features[column]): value for row, column, value in cells})
    return tuple(found)


@pytest.mark.parametrize("suffix", ["tsv", "csv", "jsonl", "parquet", "tsv.gz"])
def test_formats(tmp_path, graph, suffix):
    new = add_view(graph, "tags", *files(tmp_path, suffix), tmp_path / "new")
    assert content(new) == (QUERY_CELLS, DOC_CELLS)
    counted = {"unknown_queries": 1, "query_rows": 4, "unknown_docs": 2, "doc_rows": 4, "rejected": {}}
    assert new.stats["views"] == {"tags": counted}
    assert list(new.views["tags"].query_features) == ["head", "wear"]
    assert list(new.views["tags"].doc_features) == ["wear", "wool, warm"]
    assert verify(tmp_path / "new") == []


def test_the_old_arrays_are_linked(tmp_path, graph):
    new = add_view(graph, "tags", *files(tmp_path, "tsv"), tmp_path / "new")
    old = ClickGraph.open(graph)
    assert old.views == {} and old.artefact.files.keys() < new.artefact.files.keys()
    for name in old.artefact.files:
        assert old.artefact.file(name).samefile(new.artefact.file(name))
    assert (tmp_path / "new" / "rejects.parquet").read_bytes() == (graph / "rejects.parquet").read_bytes()


def test_in_place_and_again(tmp_path, graph):
    queries, docs = files(tmp_path, "tsv")
    with pytest.raises(UserError, match="exists"):
        add_view(graph, "tags", queries, docs, graph)
    add_view(graph, "tags", queries, docs, graph, force=True)
    write(docs[0], "doc", [["D2", "felt", "1"]])
    add_view(graph, "more", queries, docs, graph, force=True)
    new = add_view(graph, "tags", queries, docs, graph, force=True)
    assert list(new.views) == ["more", "tags"] == sorted(new.stats["views"])
    assert content(new)[1] == content(new, "more")[1] == {("D2", "felt"): 1}
    assert verify(graph) == []


def test_the_default_value_is_1(tmp_path, graph):
    queries = tmp_path / "queries.tsv"
    queries.write_text("search term\tTag\nhat\thead\nhat\thead\nhat\twarm\n")
    docs = tmp_path / "docs.csv"
    docs.write_text("id,category,weight\nD1,shoes,3\n")
    new = add_view(graph, "tags", [queries], [docs], tmp_path / "new")
    assert content(new) == ({("hat", "head"): 2, ("hat", "warm"): 1}, {("D1", "shoes"): 3})


def test_rejected_rows(tmp_path, graph):
    queries = tmp_path / "queries.tsv"
    rows = [
        b"query\tfeature\tvalue",
        b"hat\thead\t1",
        b"hat\thead\t-1",
        b"hat\thead\tnan",
        b"hat\thead\tmuch",
        b"hat\thead\t",
        b"hat\t\t1",
        b"\thead\t1",
        b"hat\thead\t0",
        b"hat\thead\tinf",
        b"hat\thead\t1e300",
        b"hat\tcaf\xe9\t1",
        b"\xc2\xad\thead\t1",  # a soft hyphen, blank after normalisation
        b"hat\thead",
    ]
    queries.write_bytes(b"\n".join(rows) + b"\n")
    docs = write(tmp_path / "docs.tsv", "doc", [*DOCS, ["D1", "wear", "-3"]])
    new = add_view(graph, "tags", [queries], [docs], tmp_path / "new")
    assert content(new) == ({("hat", "head"): 1}, DOC_CELLS)
    assert new.stats["views"]["tags"]["rejected"] == {
        "value is negative": 2,
        "value is not a finite number": 2,
        "feature is missing": 1,
        "not valid UTF-8": 1,
        "query is blank once normalised": 1,
        "query is missing": 1,
        "value is missing": 1,
        "value is not a number": 1,
        "value is too large": 1,
        "value is zero": 1,
        "wrong number of columns": 1,
    }
    kept = tmp_path / "new" / "rejects_tags.parquet"
    found = duckdb.execute(f"SELECT file, line FROM '{kept}' ORDER BY ALL").fetchall()
    assert found == [(str(docs), 6), *((str(queries), line) for line in range(3, 15))]


def test_files_without_usable_rows(tmp_path, graph):
    queries, docs = files(tmp_path, "tsv", docs=[["D1", "wear", "-3"]])
    with pytest.raises(UserError, match=r"no valid feature in 1 row; most common reason: value is negative"):
        add_view(graph, "tags", queries, docs, tmp_path / "new")
    write(docs[0], "doc", [["d1", "wear", "3"]])
    with pytest.raises(UserError, match="no documents of the graph") as caught:
        add_view(graph, "tags", queries, docs, tmp_path / "new")
    assert "the view has 'd1'; the graph has 'D1', 'D2', 'D9'" in str(caught.value)
    write(docs[0], "doc", [])
    with pytest.raises(UserError, match="the file has no rows"):
        add_view(graph, "tags", queries, docs, tmp_path / "new")
    docs[0].write_text("")
    with pytest.raises(UserError, match="the file is empty"):
        add_view(graph, "tags", queries, docs, tmp_path / "new")
    docs[0].write_text("doc\tcolour\nD1\tred\n")
    with pytest.raises(UserError, match="no column for 'feature'"):
        add_view(graph, "tags", queries, docs, tmp_path / "new")
    (tmp_path / "docs.parquet").write_bytes(b"PAR1 and then nonsense")
    with pytest.raises(UserError, match="Parquet"):
        add_view(graph, "tags", queries, [tmp_path / "docs.parquet"], tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_names_and_sides(tmp_path, graph):
    queries, docs = files(tmp_path, "tsv")
    with pytest.raises(UserError, match="a built-in view"):
        add_view(graph, "words", queries, docs, tmp_path / "new")
    with pytest.raises(UserError, match=r"features of queries and of documents"):
        add_view(graph, "tags", queries, [], tmp_path / "new")


def test_the_order_of_rows_does_not_matter(tmp_path, graph):
    """More rows than fit into a block, with duplicates whose floating-point sum depends on the order."""
    random = np.random.default_rng(1)
    names, values = random.integers(0, 50, 120_000), random.lognormal(0, 5, 120_000)
    rows = [f"hat\tf{name}\t{value!r}" for name, value in zip(names, values.tolist(), strict=True)]
    rows += [f"red shoe\tf{name}\t1" for name in range(50)]
    digests, expected = [], np.bincount(names, values)
    for order in (rows, rows[::-1]):
        (tmp_path / "queries.tsv").write_text("query\tfeature\tvalue\n" + "\n".join(order) + "\n")
        docs = write(tmp_path / "docs.tsv", "doc", DOCS)
        new = add_view(
            graph,
            "tags",
            [tmp_path / "queries.tsv"],
            [docs],
            tmp_path / "new",
            memory="400MB",
            force=True,
        )
        digests.append(new.digest)
    cells = content(new)[0]
    for name, total in enumerate(expected.tolist()):
        assert cells["hat", f"f{name}"] == pytest.approx(total, rel=1e-6)
        assert cells["red shoe", f"f{name}"] == 1
    assert digests[0] == digests[1]


def test_other_encodings_and_json_arrays(tmp_path, graph):
    """As in logs, with the user's file and line in rejected rows."""
    queries, docs = tmp_path / "queries.json", tmp_path / "docs.tsv"
    queries.write_text(
        '[\n{"query":"hat","feature":"x","value":1},\n{"query":"hat","feature":"y","value":"z"}]'
    )
    docs.write_bytes("doc\tfeature\nD1\tgrün\n".encode("utf-16"))
    new = add_view(graph, "tags", [queries], [docs], tmp_path / "new")
    assert new.stats["views"]["tags"]["rejected"] == {"value is not a number": 1}
    assert content(new)[1] == {("D1", "grün"): 1}
    rows = duckdb.sql(f"SELECT file, line FROM '{tmp_path}/new/rejects_tags.parquet'").fetchall()
    assert rows == [(str(queries), 3)]
