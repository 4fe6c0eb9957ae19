"""Increments without the documents whose vectors moved little, compared with vectors in dictionaries."""

import math
import tempfile

import numpy as np
import pytest
import tantivy
from typer.testing import CliRunner

from coclick import ClickGraph, create
from coclick.cli import app
from coclick.errors import ArtefactError, UserError
from coclick.exporters import export
from coclick.exporters.changes import CONTENTS
from exporters.small_exports import run

GRAPHS = tempfile.TemporaryDirectory()
LIMIT = 0.05
WORDS = ["red", "blue", "green", "white", "black", "oak", "iron", "glass"]
DOCS = {
    f"d{i:03}": " ".join([WORDS[i % 8], WORDS[i // 8 % 8], f"w{i % 13}", f"v{i % 7}"]) for i in range(200)
}
DOCS["one"] = "single"  # has the largest weight in every version
# Other documents change the frequency of words, most of all that of oak
NEXT = {**DOCS, **{f"n{i}": f"oak w{i % 13}" for i in range(40)}, "d001": "another title"}
NEXT.pop("d002")
LAST = {**NEXT, **{f"m{i}": f"oak iron v{i % 7}" for i in range(30)}}


def model_of(docs, spec="vsm(tokenizer=words)"):
    """A model of a graph that was saved, which has a digest."""
    folder = tempfile.mkdtemp(dir=GRAPHS.name)
    ClickGraph.from_clicks([("red w0", "d000", 1.0)], docs).save(folder)
    return create(spec).fit(ClickGraph.open(folder))


BASE, NEW, NEWER = model_of(DOCS), model_of(NEXT), model_of(LAST)


def vectors(model):
    """The vector of each document, by word."""
    rows, names = model.embed_docs(model.trained_on.docs.to_list()), model.display_terms_.to_list()
    return {
        doc: {
            names[column]: weight
            for column, weight in zip(*(part.tolist() for part in rows.row(i)), strict=True)
        }
        for i, doc in enumerate(model.trained_on.docs)
    }


def movement(old, new):
    squares = [(new.get(word, 0.0) - old.get(word, 0.0)) ** 2 for word in {*old, *new}]
    return math.sqrt(math.fsum(squares) / math.fsum(weight**2 for weight in old.values()))


def ids(path):
    return {line.split("\t")[0] for line in path.read_text().splitlines()}


def sample_results(model):
    return {doc for query in model.trained_on.queries for doc, _ in model.search(query, 10).hits()}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    path = tmp_path_factory.mktemp("tolerance")
    export(BASE, "pgvector", path / "base")
    return path / "base"


def test_documents_that_moved_little_are_not_written(base, tmp_path):
    options = {"changes_from": base, "changes_above": LIMIT, "previous_model": BASE}
    stats = export(NEW, "pgvector", tmp_path / "new", **options)
    old, new = vectors(BASE), vectors(NEW)
    moved = {doc: movement(old[doc], new[doc]) for doc in old.keys() & new.keys()}
    always = sample_results(NEW) | {"d001"} | (new.keys() - old.keys())
    written = always | {doc for doc, share in moved.items() if share > LIMIT}
    assert ids(tmp_path / "new/documents.tsv") == written
    stay = {doc: share for doc, share in moved.items() if doc not in written and share > 0}
    assert len(stay) > 50 and len(written - always) > 5  # both kinds are there
    largest = pytest.approx(max(stay.values()), rel=1e-4)
    assert stats["not_written"] == {"documents": len(stay), "limit": LIMIT, "largest_movement": largest}
    assert stats["changes"]["documents"] == {
        "added": 40, "deleted": 1, "changed": len(written & old.keys())
    }  # fmt: skip
    assert (tmp_path / "new/deleted-docs.tsv").read_text() == "d002\n"
    whole = export(NEW, "pgvector", tmp_path / "whole", changes_from=base)
    assert whole["version"] != stats["version"] and "not_written" not in whole


def test_movements_add_up_until_a_document_is_written(base, tmp_path):
    export(NEW, "pgvector", tmp_path / "one", changes_from=base, changes_above=LIMIT, previous_model=BASE)
    options = {"changes_from": tmp_path / "one", "changes_above": LIMIT, "previous_model": NEW}
    export(NEWER, "pgvector", tmp_path / "two", **options)
    stayed = vectors(BASE).keys() - ids(tmp_path / "one/documents.tsv")
    old, new, newer = (vectors(model) for model in (BASE, NEW, NEWER))
    expected = sample_results(NEWER) | (newer.keys() - new.keys())
    for doc in new:
        before = movement(old[doc], new[doc]) if doc in stayed else 0.0
        if before + movement(new[doc], newer[doc]) > LIMIT:
            expected.add(doc)
    once = {doc for doc in new if movement(new[doc], newer[doc]) > LIMIT}
    assert ids(tmp_path / "two/documents.tsv") == expected
    assert expected & stayed - once - sample_results(NEWER)  # only the sum is above the limit


def test_the_engine_has_what_the_digests_say(tmp_path):
    """In tantivy, whose weights are rounded: a later exact increment leads to the whole export."""
    first, near, exact = (tmp_path / name for name in ("first", "near", "exact"))
    export(BASE, "tantivy", first)
    options = {"changes_above": LIMIT, "previous_model": BASE}
    stats = export(NEW, "tantivy", near, changes_from=first, **options)
    assert stats["not_written"]["documents"] > 20
    export(NEW, "tantivy", exact, changes_from=near)
    whole = export(NEW, "tantivy", tmp_path / "whole")
    place = tmp_path / "place"
    for folder in (first, near):
        run("tantivy_versions", "load", place, folder)
        assert tantivy.Index.open(str(place / "current")).searcher().num_docs == len(
            DOCS if folder == first else NEXT
        )
    run("tantivy_versions", "load", place, exact)
    assert (place / "current").readlink().name == whole["version"]


def test_dense_vectors(tmp_path):
    spec = "lsi_dt(dim=4)"
    old, new = model_of(DOCS, spec), model_of(NEXT, spec)
    export(old, "pgvector", tmp_path / "base")
    options = {"changes_from": tmp_path / "base", "changes_above": 0.3, "previous_model": old}
    stats = export(new, "pgvector", tmp_path / "new", **options)
    before, after = (
        dict(
            zip(
                model.trained_on.docs,
                np.asarray(model.embed_docs(model.trained_on.docs.to_list())),
                strict=True,
            )
        )
        for model in (old, new)
    )
    both = {doc for doc in before.keys() & after.keys() if after[doc].any()}
    unwritten = both - ids(tmp_path / "new/documents.tsv")
    for doc in unwritten:
        assert np.linalg.norm(after[doc] - before[doc]) <= 0.3 * np.linalg.norm(before[doc]) * (1 + 1e-5)
    assert stats["not_written"]["documents"] <= len(unwritten)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"changes_above": 0.1}, "belong together"),
        ({"changes_above": 0.1, "previous_model": BASE, "changes_from": None}, "belong together"),
        ({"previous_model": BASE}, "belong together"),
        ({"changes_above": 1.5, "previous_model": BASE}, "between 0 and 1"),
        ({"changes_above": 0, "previous_model": BASE}, "between 0 and 1"),
        ({"changes_above": "x", "previous_model": BASE}, "must be a number"),
        ({"changes_above": 0.1, "previous_model": NEWER}, "another graph than the model of --changes-from"),
    ],
)
def test_wrong_options(options, message, base, tmp_path):
    with pytest.raises(UserError, match=message):
        export(NEW, "pgvector", tmp_path / "new", **{"changes_from": base, **options})
    assert not (tmp_path / "new").exists()


def test_damaged_movements_are_refused(base, tmp_path):
    folder = tmp_path / "one"
    export(NEW, "pgvector", folder, changes_from=base, changes_above=LIMIT, previous_model=BASE)
    with np.load(folder / CONTENTS) as found:
        arrays = dict(found)
    for wrong in (arrays["docs_moved"][1:], -arrays["docs_moved"], arrays["docs_moved"] * np.float32(np.nan)):
        np.savez(folder / CONTENTS, **(arrays | {"docs_moved": wrong}))
        with pytest.raises(ArtefactError, match="damaged"):
            export(NEWER, "pgvector", tmp_path / "new", changes_from=folder)


def test_the_command_says_what_it_left_out(base, tmp_path):
    for name, model in (("old", BASE), ("new", NEW)):
        model.save(tmp_path / name)
    command = ["export", str(tmp_path / "new"), "--to", "pgvector", "-o", str(tmp_path / "out")]
    options = [
        "--changes-from",
        str(base),
        "--changes-above",
        "0.05",
        "--previous-model",
        str(tmp_path / "old"),
    ]
    done = CliRunner().invoke(app, [*command, *options])
    assert done.exit_code == 0, done.output
    assert "changed, but not written" in done.output and "limit 0.05" in done.output
