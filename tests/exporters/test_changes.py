"""Increments: what changed since an earlier export, found by digests."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import coclick.exporters
from coclick import ClickGraph, create
from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings
from coclick.cli import app
from coclick.errors import ArtefactError, UserError
from coclick.exporters import changes
from coclick.exporters.changes import CONTENTS, ContentTracker
from coclick.exporters.limits import DocBlock
from coclick.storage.manifest import MANIFEST

BASE = {"d1": "red lamp", "d2": "blue lamp", "d3": "green lamp", "tab\tid": "quote ' \" \\ lamp"}
NEXT = {"d1": "red lamp", "d2": "blue sky lamp", "d4": "white lamp", "tab\tid": "quote ' \" \\ lamp"}


def model_of(docs, queries=("lamp", "red")):
    """A model whose weights depend on a document's words and on idf, which is the same in BASE and NEXT."""
    graph = ClickGraph.from_clicks([(query, "d1", 1.0) for query in queries], docs)
    return create("vsm(tokenizer=words)").fit(graph)


def export(docs, path, engine="pgvector", queries=("lamp", "red"), **options):
    return coclick.exporters.export(model_of(docs, queries), engine, path, **options)


def lines(path):
    """The lines of a file by their first column."""
    return {line.split("\t")[0]: line for line in path.read_text().splitlines()}


@pytest.fixture
def base(tmp_path):
    export(BASE, tmp_path / "base")
    return tmp_path / "base"


def test_only_what_changed_is_written(base, tmp_path):
    stats = export(NEXT, tmp_path / "new", changes_from=base, queries=("lamp", "white"))
    whole = export(NEXT, tmp_path / "whole", queries=("lamp", "white"))
    old, all_lines, new = (lines(tmp_path / name / "documents.tsv") for name in ("base", "whole", "new"))
    assert new == {doc: line for doc, line in all_lines.items() if old.get(doc) != line}
    assert new.keys() == {"d2", "d4"}
    assert (tmp_path / "new/deleted-docs.tsv").read_text() == "d3\n"
    assert lines(tmp_path / "new/queries.tsv").keys() == {"white"}
    assert (tmp_path / "new/deleted-queries.tsv").read_text() == "red\n"
    assert stats["changes"] == {
        "documents": {"added": 1, "changed": 1, "deleted": 1},
        "queries": {"added": 1, "changed": 0, "deleted": 1},
    }
    assert stats["documents"] == whole["documents"] == 4
    assert stats["version"] == whole["version"]
    assert stats["base_version"] == json.loads((base / "manifest.json").read_text())["version"]
    assert "This is an increment" in (tmp_path / "new/README.md").read_text()


def test_increments_of_increments(base, tmp_path):
    export(NEXT, tmp_path / "one", changes_from=base)
    stats = export(BASE, tmp_path / "two", changes_from=tmp_path / "one")
    assert lines(tmp_path / "two/documents.tsv").keys() == {"d2", "d3"}
    assert (tmp_path / "two/deleted-docs.tsv").read_text() == "d4\n"
    assert stats["version"] == json.loads((base / "manifest.json").read_text())["version"]
    same = export(BASE, tmp_path / "three", changes_from=tmp_path / "two")
    assert (tmp_path / "three/documents.tsv").read_text() == ""
    assert same["version"] == same["base_version"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "parquet"}, "the engine pgvector, and this one parquet"),
        ({"name": "other"}, "the index coclick, and this one other"),
        ({"into": "products", "id_field": "sku"}, "the into none, and this one products"),
    ],
)
def test_exports_of_something_else_are_refused(options, message, base, tmp_path):
    with pytest.raises(UserError, match=message):
        export(NEXT, tmp_path / "new", changes_from=base, **options)
    assert not (tmp_path / "new").exists()


def test_another_model_is_refused(base, tmp_path):
    model = create("bm25").fit(model_of(NEXT).trained_on)
    with pytest.raises(UserError, match=r"the model vsm.*, and this one bm25"):
        coclick.exporters.export(model, "pgvector", tmp_path / "new", changes_from=base)


def swap_digests(path):
    with np.load(path) as found:
        arrays = dict(found)
    arrays["docs_digests"][0] += np.uint64(1)
    np.savez(path, **arrays)


def pointers_out_of_bounds(path):
    with np.load(path) as found:
        arrays = dict(found)
    arrays["docs_offsets"][1] = 1 << 40
    np.savez(path, **arrays)


def other_compression(path):
    """The number of an algorithm that no reader has, in the directory of the archive."""
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 10] = 77
    path.write_bytes(content)


def compressed(path):
    """A small archive could hold endless content."""
    with np.load(path) as found:
        arrays = dict(found)
    np.savez_compressed(path, **arrays)


def a_pipe(path):
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("damage", [other_compression, compressed, a_pipe])
def test_archives_that_are_not_as_written_are_refused(damage, base, tmp_path):
    """The first ended in a traceback, the last one waited for ever."""
    damage(base / CONTENTS)
    with pytest.raises(ArtefactError, match=r"contents\.npz is damaged|not a plain file"):
        export(NEXT, tmp_path / "new", changes_from=base)


@pytest.mark.parametrize("unit", ["x", None, [], 0, -1, 10**400])
def test_a_forged_unit_of_scores_is_refused(unit, base, tmp_path):
    """Who writes a manifest can compute its version."""
    manifest = json.loads((base / MANIFEST).read_text())
    manifest["score_unit"] = unit
    contents = changes._read_contents(base)
    manifest["version"] = changes.content_version(*contents, manifest)
    (base / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(ArtefactError, match=r"contents\.npz is damaged"):
        export(NEXT, tmp_path / "new", changes_from=base)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-300]),
        lambda path: path.write_bytes(path.read_bytes().replace(b"tab\tid", b"tab\tix")),
        lambda path: np.savez(path, docs_ids=np.array([object()], object)),
        swap_digests,
        pointers_out_of_bounds,
    ],
)
def test_damaged_bases_are_refused(damage, base, tmp_path):
    damage(base / CONTENTS)
    with pytest.raises(ArtefactError, match=r"contents\.npz is damaged"):
        export(NEXT, tmp_path / "new", changes_from=base)
    assert not (tmp_path / "new").exists()


def test_folders_that_are_no_bases(base, tmp_path):
    (base / CONTENTS).unlink()
    with pytest.raises(UserError, match=r"has no contents\.npz"):
        export(NEXT, tmp_path / "new", changes_from=base)
    for path in (tmp_path / "nothing", tmp_path):
        with pytest.raises(UserError, match="not the folder of an export"):
            export(NEXT, tmp_path / "new", changes_from=path)
    model_of(BASE).save(tmp_path / "model")
    with pytest.raises(UserError, match="not the folder of an export"):
        export(NEXT, tmp_path / "new", changes_from=tmp_path / "model")


def test_a_folder_can_be_replaced_by_its_own_increment(base):
    stats = export(NEXT, base, changes_from=base, force=True)
    assert stats["changes"]["documents"]["deleted"] == 1
    assert (base / "deleted-docs.tsv").exists()


def test_digests_see_every_part_of_a_document_and_no_order_of_words():
    """Each variant differs from the first in one part; the last has its words in another order."""

    def digest(doc, title, words):
        columns, weights = np.array(list(words), np.int32), np.array(list(words.values()), np.float32)
        tracker = ContentTracker(np.array([11, 22, 33], np.uint64))
        ids, titles = Strings.from_list([doc]), Strings.from_list([title])
        tracker.record(ids, titles, Csr(np.array([0, len(words)]), columns, weights, 3))
        return int(tracker.contents().digests[0])

    first = digest("doc", "title", {0: 1.0, 1: 2.0})
    others = [
        digest("dob", "title", {0: 1.0, 1: 2.0}),
        digest("doc", "titel", {0: 1.0, 1: 2.0}),
        digest("title", "doc", {0: 1.0, 1: 2.0}),
        digest("doc", "", {0: 1.0, 1: 2.0}),
        digest("doc", "title", {0: 1.0, 2: 2.0}),
        digest("doc", "title", {0: 2.0, 1: 1.0}),
        digest("doc", "title", {0: 1.0, 1: np.nextafter(np.float32(2), np.float32(3))}),
        digest("doc", "title", {0: 1.0}),
    ]
    assert len({first, *others}) == 9
    assert digest("doc", "title", {1: 2.0, 0: 1.0}) == first


def one_word_each(ids, weights):
    """The ids, and a vector of one word with the given weight for each."""
    rows = np.arange(len(ids) + 1)
    vectors = Csr(rows, np.zeros(len(ids), np.int32), np.array(weights, np.float32), 1)
    return Strings.from_list(ids), vectors


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_documents_are_found_in_any_order(size):
    """Blocks of documents that are as in the base, moved, changed, new and gone, compared with a `dict`."""
    before = {f"d{i}": 1.0 for i in range(12)}
    after = {f"d{i}": 1.0 for i in (0, 1, 2, 4, 5, 20, 6, 11, 10, 21, 7, 8)} | {"d5": 2.0, "d10": 3.0}
    whole = ContentTracker(np.array([7], np.uint64))
    ids, vectors = one_word_each([*before], [*before.values()])
    assert whole.record(ids, None, vectors).tolist() == [*range(12)]
    tracker = ContentTracker(np.array([7], np.uint64), whole.contents())
    written = []
    for first in range(0, len(after), size):
        names = [*after][first : first + size]
        ids, vectors = one_word_each(names, [after[name] for name in names])
        written += [names[row] for row in tracker.record(ids, None, vectors).tolist()]
    assert written == [name for name in after if before.get(name) != after[name]]
    assert (tracker.added, tracker.changed) == (2, 2)
    assert tracker.deleted() == ["d3", "d9"]


def test_few_changes_are_written_in_one_block():
    ids, vectors = one_word_each([f"d{i}" for i in range(30)], [1.0] * 30)
    titles = Strings.from_list([f"title {i}" for i in range(30)])
    whole = ContentTracker(np.array([7], np.uint64))
    whole.record(ids, titles, vectors)
    changed = vectors.with_data(np.where(np.arange(30) % 10 == 3, 2, 1).astype(np.float32))
    blocks = [
        DocBlock(ids.take(rows), titles.take(rows), changed.take(rows))
        for rows in np.arange(30).reshape(3, 10)
    ]
    tracker = ContentTracker(np.array([7], np.uint64), whole.contents())
    (found,) = tracker.differing(iter(blocks), titles=True)
    assert (found.ids, found.titles) == (["d3", "d13", "d23"], ["title 3", "title 13", "title 23"])
    assert found.vectors.data.tolist() == [2, 2, 2]


def test_the_command_writes_an_increment(base, tmp_path):
    model_of(NEXT).save(tmp_path / "model")
    command = ["export", str(tmp_path / "model"), "--to", "pgvector", "-o", str(tmp_path / "new")]
    done = CliRunner().invoke(app, [*command, "--changes-from", str(base)])
    assert done.exit_code == 0 and "1 added" in done.output
    shutil.rmtree(tmp_path / "new")
    done = CliRunner().invoke(app, [*command, "--changes-from", str(Path("nowhere"))])
    assert done.exit_code != 0
