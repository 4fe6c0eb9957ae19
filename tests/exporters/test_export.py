"""What is the same for all engines: limits, figures, the folder, errors."""

import json
import re
from collections import Counter
from urllib.parse import unquote

import numpy as np
import pytest

import planted
from coclick import create
from coclick.arrays.csr import Csr
from coclick.errors import ArtefactError, UserError
from coclick.exporters import ENGINES, export
from coclick.exporters.content import Content
from coclick.exporters.limits import Fitting, Limits
from coclick.exporters.parquet import Parquet
from coclick.exporters.tokens import escaped
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import model_class
from coclick.models.registry import model_names

TOKENS = ["a.b", "two words", "pi|pe", "hat^2", "per%cent", "co:lon", "tab\there", "plain", "größe 文字"]


@pytest.mark.parametrize("characters", [".", r"\s|", r"\s.|^:"])
def test_escaped_words_are_distinct_can_be_read_back_and_have_no_such_character(characters):
    written = escaped([*TOKENS, "a%2Eb"], characters)
    assert [unquote(token) for token in written] == [*TOKENS, "a%2Eb"]
    assert len(set(written)) == len(written)
    assert not any(re.search(f"[{characters}]", token) for token in written)
    assert written[7] == "plain"


def test_limits_keep_the_heaviest_words_and_count_the_rest(words):
    rows = Csr(np.array([0, 4, 5, 5]), np.array([0, 1, 2, 3, 0], np.int32),
               np.array([0.1, 0.4, 0.3, 0.2, 0.5], np.float32), 4)  # fmt: skip
    limits = Limits(weights=2, token_bytes=3)
    fitting = Fitting(Content.of(words), limits, ["a", "too long", "b", "c"], lambda w: np.rint(w * 2.4) / 2)
    fitted, lost = fitting.fit(rows)
    assert [fitted.row(i)[0].tolist() for i in range(3)] == [[2], [0], []]  # 0.2 rounds to nothing
    assert fitted.data.tolist() == [0.5, 0.5]
    assert lost == Counter({
        "weights of words with too long a name": 1,
        "weights beyond the most of a document": 1,
        "weights that round to nothing": 1,
    })  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
def test_every_folder_has_a_readme_a_sample_and_true_figures(engine, words, tmp_path):
    figures = export(words, engine, tmp_path / "out", name="my_docs", queries=7, max_weights=3)
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert manifest.items() >= figures.items()
    assert sorted(manifest["written"]) == sorted(
        path.name for path in (tmp_path / "out").iterdir() if path.name != "manifest.json"
    )
    vectors = words.doc_index_.vectors
    assert figures["left_out"]["documents without a vector"] == int((vectors.row_nnz() == 0).sum()) == 1
    cut = np.maximum(vectors.row_nnz() - 3, 0).sum()
    assert figures["left_out"]["weights beyond the most of a document"] == cut > 0
    assert figures["queries"] == 7
    assert figures["score_error"]["largest"] > 0.01  # which is what cutting costs
    readme = (tmp_path / "out/README.md").read_text()
    assert len(re.findall("^    ", readme, re.MULTILINE)) >= 3
    assert "my_docs" in "".join(
        path.read_text() for path in (tmp_path / "out").rglob("*") if path.suffix in (".sql", ".md", ".sd")
    ) or engine in ("parquet", "tantivy")
    sample = json.loads((tmp_path / "out/expected.json").read_text())
    assert f"“{sample['query']}”" in readme
    assert words.search(sample["query"], 3).hits()[0][1] == pytest.approx(sample["results"][0]["score"])


def test_the_stated_error_is_that_of_scores(words, tmp_path):
    """Of twelve bits, against scores of rounded vectors that are computed here."""
    error = export(words, "tantivy", tmp_path / "out")["score_error"]
    vectors = words.doc_index_.vectors
    unit = vectors.data.max() / 4095
    rounded = vectors.with_data((np.rint(vectors.data / unit) * unit).astype(np.float32)).to_scipy()
    queries = words.embed_queries(words.graph_.queries.to_list()).to_scipy()
    exact = (queries @ vectors.to_scipy().T).toarray()
    off = np.abs((queries @ rounded.T).toarray() - exact)[exact > 0]
    assert error["largest"] == pytest.approx(off.max(), rel=1e-3)
    assert error["mean"] == pytest.approx(off.mean(), rel=1e-3)


@pytest.mark.parametrize("name", model_names())
def test_models_without_vectors_say_so_and_name_those_with(name):
    cls = model_class(name)
    if "export" in cls.capabilities:
        assert hasattr(cls, "embed_queries")
        return
    model = cls.__new__(cls)
    with pytest.raises(UserError, match=f"{name} cannot be exported") as error:
        Content.of(model)
    assert "vpcg" in str(error.value) and "pls" in str(error.value)
    assert name not in error.value.hint.replace("models that can: ", "").split(", ")


def test_images_are_refused_where_words_are_needed(images, tmp_path):
    with pytest.raises(UserError, match=r"pls has dense vectors.*OpenSearch is for words"):
        export(images, "opensearch", tmp_path / "out")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["", "Upper", "1st", "a-b", "x" * 49, "a'b", "a b"])
def test_names_that_some_engine_would_refuse(name, words, tmp_path):
    with pytest.raises(UserError, match="cannot be the name of an index"):
        export(words, "pgvector", tmp_path / "out", name=name)


def test_an_unknown_engine(words, tmp_path):
    with pytest.raises(UserError, match="sphinx") as error:
        export(words, "sphinx", tmp_path / "out")
    assert "opensearch" in error.value.hint


def test_a_model_in_which_nothing_has_a_vector_gives_an_empty_export(tmp_path):
    graph = ClickGraph.from_clicks([("…", "a", 1.0), ("!", "b", 2.0)], {"a": "?", "b": ""})
    for engine in ENGINES:
        figures = export(create("vpcg").fit(graph), engine, tmp_path / engine)
        assert figures["documents"] == figures["weights"] == 0
        assert json.loads((tmp_path / engine / "expected.json").read_text())["results"] == []


# -- the folder ----------------------------------------------------------------------------------------


def test_an_output_that_exists_is_replaced_only_when_asked(words, tmp_path):
    out = tmp_path / "out"
    out.mkdir()  # an empty directory is no obstacle
    export(words, "parquet", out)
    with pytest.raises(UserError, match="the output exists"):
        export(words, "pgvector", out)
    export(words, "pgvector", out, force=True)
    assert (out / "schema.sql").exists() and not (out / "queries.parquet").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_files_of_others_are_never_removed(words, tmp_path):
    out = tmp_path / "out"
    export(words, "parquet", out)
    (out / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match=r"notes\.txt"):
        export(words, "parquet", out, force=True)
    assert (out / "notes.txt").read_text() == "mine"
    model = tmp_path / "model"
    create("bm25").fit(planted.graph()).save(model)
    with pytest.raises(UserError, match="the output is a model"):
        export(words, "parquet", model, force=True)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").touch()
    for force in (True, False):
        with pytest.raises(UserError, match="holds other files"):
            export(words, "parquet", tmp_path / "full", force=force)


@pytest.mark.parametrize("end", [KeyboardInterrupt, MemoryError, OSError])
def test_an_interrupted_export_leaves_nothing_and_the_old_one_as_it_was(end, words, tmp_path, monkeypatch):
    def broken(self, folder, blocks):
        next(blocks)
        (folder / "half").write_text("written")
        raise end

    out = tmp_path / "out"
    for before in ([], ["out"]):
        if before:
            export(words, "pgvector", out)
        monkeypatch.setattr(Parquet, "write_documents", broken)
        with pytest.raises(end):
            export(words, "parquet", out, force=True)
        assert [path.name for path in tmp_path.iterdir()] == before
    assert (out / "schema.sql").exists()


def test_what_a_killed_export_left_is_cleared_and_two_at_a_time_are_refused(words, tmp_path, monkeypatch):
    (tmp_path / ".out.part/inner").mkdir(parents=True)
    (tmp_path / ".out.part/documents.tsv").write_text("half")
    export(words, "parquet", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]

    def at_the_same_time(self, folder, blocks):
        with pytest.raises(UserError, match="another process is writing here"):
            export(words, "pgvector", tmp_path / "two")
        raise KeyboardInterrupt

    monkeypatch.setattr(Parquet, "write_documents", at_the_same_time)
    with pytest.raises(KeyboardInterrupt):
        export(words, "parquet", tmp_path / "two")


def test_a_damaged_model_is_said_to_be_damaged(words, tmp_path, monkeypatch):
    index = words.doc_index_
    wrong = index.vectors.indices.copy()
    wrong[3] = index.vectors.columns + 7
    corrupt_error = Csr(index.vectors.indptr, wrong, index.vectors.data, index.vectors.columns)
    monkeypatch.setattr(words, "doc_index_", type(index).build(index.vectors))
    monkeypatch.setitem(vars(words.doc_index_), "vectors", corrupt_error)
    with pytest.raises(ArtefactError, match="damaged"):
        export(words, "parquet", tmp_path / "out")
    assert not list(tmp_path.iterdir())
