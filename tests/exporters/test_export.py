"""The parts that all exports share: limits, statistics, the output folder, errors."""

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
from coclick.exporters.formatting import percent_encode
from coclick.exporters.limits import Limits, VectorFilter
from coclick.exporters.model_vectors import ModelVectors
from coclick.exporters.parquet import Parquet
from coclick.exporters.vespa import Vespa
from coclick.graph.click_graph import ClickGraph
from coclick.models.registry import model_class, model_names

TOKENS = ["a.b", "two words", "pi|pe", "hat^2", "per%cent", "co:lon", "tab\there", "plain", "größe 文字"]


@pytest.mark.parametrize("characters", [".", r"\s|", r"\s.|^:"])
def test_percent_encoding_is_reversible_and_leaves_no_special_character(characters):
    encoded = percent_encode([*TOKENS, "a%2Eb"], characters)
    assert [unquote(token) for token in encoded] == [*TOKENS, "a%2Eb"]
    assert len(set(encoded)) == len(encoded)
    assert not any(re.search(f"[{characters}]", token) for token in encoded)
    assert encoded[7] == "plain"


def test_limits_keep_the_heaviest_words_and_count_the_rest(words):
    rows = Csr(np.array([0, 4, 5, 5]), np.array([0, 1, 2, 3, 0], np.int32),
               np.array([0.1, 0.4, 0.3, 0.2, 0.5], np.float32), 4)  # fmt: skip
    limits = Limits(max_weights=2, max_token_bytes=3)
    vector_filter = VectorFilter(
        ModelVectors.from_model(words), limits, ["a", "too long", "b", "c"], lambda w: np.rint(w * 2.4) / 2
    )
    kept, dropped = vector_filter.filter_doc_vectors(rows)
    assert [kept.row(i)[0].tolist() for i in range(3)] == [[2], [0], []]  # 0.2 rounds to zero
    assert kept.data.tolist() == [0.5, 0.5]
    assert dropped == Counter({
        "weights of words that are too long": 1,
        "weights above the maximum per document": 1,
        "weights that round to zero": 1,
    })  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
def test_readme_sample_and_statistics_of_each_engine(engine, words, tmp_path):
    stats = export(words, engine, tmp_path / "out", name="my_docs", queries=7, max_weights=3)
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert manifest.items() >= stats.items()
    assert sorted(manifest["written"]) == sorted(
        path.name for path in (tmp_path / "out").iterdir() if path.name != "manifest.json"
    )
    vectors = words.doc_index_.vectors
    assert stats["left_out"]["documents without a vector"] == int((vectors.row_nnz() == 0).sum()) == 1
    cut = np.maximum(vectors.row_nnz() - 3, 0).sum()
    assert stats["left_out"]["weights above the maximum per document"] == cut > 0
    assert stats["queries"] == 7
    assert stats["score_error"]["largest"] > 0.01  # the error of dropping weights
    readme = (tmp_path / "out/README.md").read_text()
    assert len(re.findall("^    ", readme, re.MULTILINE)) >= 3
    assert "my_docs" in "".join(
        path.read_text() for path in (tmp_path / "out").rglob("*") if path.suffix in (".sql", ".md", ".sd")
    ) or engine in ("parquet", "tantivy")
    sample = json.loads((tmp_path / "out/expected.json").read_text())
    assert f"“{sample['query']}”" in readme
    assert words.search(sample["query"], 3).hits()[0][1] == pytest.approx(sample["results"][0]["score"])


def test_score_error_equals_that_of_rounded_vectors(words, tmp_path):
    """tantivy rounds to twelve bits; the scores of rounded vectors are computed here."""
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
def test_models_without_vectors_cannot_be_exported(name):
    cls = model_class(name)
    if "export" in cls.capabilities:
        assert hasattr(cls, "embed_queries")
        return
    model = cls.__new__(cls)
    with pytest.raises(UserError, match=f"{name} cannot be exported") as error:
        ModelVectors.from_model(model)
    assert "vpcg" in str(error.value) and "pls" in str(error.value)
    assert name not in error.value.hint.replace("models that can be exported: ", "").split(", ")


def test_dense_vectors_are_refused_by_engines_without_them(dense):
    with pytest.raises(UserError, match=r"pls has dense vectors.*Vespa takes only sparse"):
        Vespa(ModelVectors.from_model(dense), "name")


@pytest.mark.parametrize("name", ["", "Upper", "1st", "a-b", "x" * 49, "a'b", "a b"])
def test_invalid_index_names(name, words, tmp_path):
    with pytest.raises(UserError, match="cannot be the name of an index"):
        export(words, "pgvector", tmp_path / "out", name=name)


def test_unknown_engine(words, tmp_path):
    with pytest.raises(UserError, match="sphinx") as error:
        export(words, "sphinx", tmp_path / "out")
    assert "opensearch" in error.value.hint


def test_model_without_any_vector_gives_an_empty_export(tmp_path):
    graph = ClickGraph.from_clicks([("…", "a", 1.0), ("!", "b", 2.0)], {"a": "?", "b": ""})
    for engine in ENGINES:
        stats = export(create("vpcg").fit(graph), engine, tmp_path / engine)
        assert stats["documents"] == stats["weights"] == 0
        assert json.loads((tmp_path / engine / "expected.json").read_text())["results"] == []


# -- the output folder ---------------------------------------------------------------------------------


def test_existing_output_is_replaced_only_with_force(words, tmp_path):
    out = tmp_path / "out"
    out.mkdir()  # an empty directory may be used
    export(words, "parquet", out)
    with pytest.raises(UserError, match="the output exists"):
        export(words, "pgvector", out)
    export(words, "pgvector", out, force=True)
    assert (out / "schema.sql").exists() and not (out / "queries.parquet").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_foreign_files_are_never_removed(words, tmp_path):
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
def test_interrupted_export_leaves_nothing_and_keeps_the_old_one(end, words, tmp_path, monkeypatch):
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


def test_leftovers_are_removed_and_concurrent_exports_refused(words, tmp_path, monkeypatch):
    (tmp_path / ".out.coclick-part/inner").mkdir(parents=True)
    (tmp_path / ".out.coclick-part/documents.tsv").write_text("half")
    export(words, "parquet", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]

    def at_the_same_time(self, folder, blocks):
        with pytest.raises(UserError, match="another process is writing here"):
            export(words, "pgvector", tmp_path / "two")
        raise KeyboardInterrupt

    monkeypatch.setattr(Parquet, "write_documents", at_the_same_time)
    with pytest.raises(KeyboardInterrupt):
        export(words, "parquet", tmp_path / "two")


def test_damaged_model_is_reported(words, tmp_path, monkeypatch):
    index = words.doc_index_
    wrong = index.vectors.indices.copy()
    wrong[3] = index.vectors.columns + 7
    corrupt = Csr(index.vectors.indptr, wrong, index.vectors.data, index.vectors.columns)
    monkeypatch.setattr(words, "doc_index_", type(index).build(index.vectors))
    monkeypatch.setitem(vars(words.doc_index_), "vectors", corrupt)
    with pytest.raises(ArtefactError, match="damaged"):
        export(words, "parquet", tmp_path / "out")
    assert not list(tmp_path.iterdir())
