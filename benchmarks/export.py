"""`coclick.export`: a million documents of 20 words, and the increment for 1 % of changed documents.

    python -m benchmarks --only export --shape M

Shape S has 100,000 documents, M and L have a million. Each engine is exported in a separate process, five
times; the best run counts. The peer of a whole export is `json.dumps` of the same documents, measured on a
sample; that of memory is the limit of 2 GB; that of an increment is a tenth of the time of the whole export.
CPU time is that of the process, for machines that are not quiet.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._peak_memory import peak
from benchmarks._row import make_row
from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings, Vocab
from coclick.exporters import export
from coclick.graph.click_graph import ClickGraph
from coclick.jit.compiler import cache_home
from coclick.models.persistence import open_model
from coclick.models.registry import create
from coclick.storage.manifest import FORMAT

DOCS = {"S": 100_000, "M": 1_000_000, "L": 1_000_000}
WORDS, VOCABULARY, QUERIES = 20, 50_000, 20_000
ENGINES = ("pgvector", "qdrant", "tantivy", "parquet")
CHANGED = 0.01
_RUNS = 5  # the first one loads compiled code
MEMORY = 2.0  # GB
SPEC = "bm25(tokenizer=words,stem=false)"


def rows(shape: str, threads: int) -> list[dict[str, Any]]:
    base, changed = _saved_models(DOCS[shape])
    theirs = _json_speed(base)
    found = []
    for engine in ENGINES:
        with tempfile.TemporaryDirectory(prefix="coclick-bench-") as place:
            whole = _run(base, engine, Path(place) / "whole")
            part = _run(changed, engine, Path(place) / "part", Path(place) / "whole")
        size = whole["bytes"] / 1e6
        params = f"{DOCS[shape]:,} documents × {WORDS} words, {size:,.0f} MB"
        times = f"{whole['seconds']:.2f} s, CPU {whole['cpu']:.2f} s"
        ours: dict[str, Any] = {"shape": shape, "threads": 1}
        found += [
            make_row(
                f"export {engine}", params=f"{params}, {times}", peer="json.dumps", unit="MB/s of CPU",
                ours=size / whole["cpu"], theirs=theirs, higher_is_better=True,
                check=f"{size / whole['seconds']:.0f} MB/s of wall time", **ours,
            ),
            make_row(
                f"export {engine}, memory", params=params, peer="limit", unit="GB peak",
                ours=whole["peak"], theirs=MEMORY, check="with the memory-mapped model", **ours,
            ),
            make_row(
                f"export {engine}, increment", params=f"{CHANGED:.0%} changed, {part['seconds']:.2f} s",
                peer="a tenth of the whole", unit="s of CPU", ours=part["cpu"], theirs=whole["cpu"] / 10,
                check=f"{part['changed']:,} documents changed", **ours,
            ),
        ]  # fmt: skip
    return found


def _saved_models(docs: int) -> tuple[Path, Path]:
    """Return the directories of a model, and of one in which 1 % of documents have other weights."""
    place = cache_home() / "benchmarks" / f"format-{FORMAT}"
    base, changed = place / f"export-{docs}", place / f"export-{docs}-changed"
    if not (changed / "manifest.json").exists():
        model = create(SPEC).fit(_graph(docs))
        model.save(base, force=True)
        vectors = model.doc_index_.vectors  # type: ignore[attr-defined]
        rows = np.random.default_rng(1).random(vectors.rows) < CHANGED
        data = np.where(np.repeat(rows, vectors.row_nnz()), vectors.data * np.float32(0.9), vectors.data)
        other = Csr(vectors.indptr, vectors.indices, data.astype(np.float32), vectors.columns)
        model.doc_index_ = type(model.doc_index_).build(other)  # type: ignore[attr-defined]
        model.save(changed, force=True)
    return base, changed


def _graph(docs: int) -> ClickGraph:
    random = np.random.default_rng(0)
    words = np.array([f"w{i:x}".encode() for i in range(VOCABULARY)])
    # Words of a title are distinct: each comes from its own part of the vocabulary
    parts = VOCABULARY // WORDS
    drawn = (random.random((docs, WORDS)) ** 2 * parts).astype(np.int64) + np.arange(WORDS) * parts
    titles = Strings.from_list(b" ".join(row).decode() for row in words[drawn])
    names = Strings.from_list(f"d{i:08}" for i in range(docs))
    picked = random.integers(0, docs, QUERIES)
    queries = {" ".join(words[drawn[doc, :2]].astype(str)): doc for doc in picked.tolist()}
    texts = Vocab.from_list(queries)
    columns = np.array([queries[text] for text in texts], np.int32)
    clicks = Csr(np.arange(len(texts) + 1), columns, np.ones(len(texts), np.float32), docs)
    return ClickGraph(texts, Vocab(names.offsets, names.data), clicks, {"title": titles})


def _json_speed(path: Path, sample: int = 20_000) -> float:
    """Return how many megabytes of JSON lines Python's encoder makes in a second."""
    model: Any = open_model(path)
    vectors, tokens = model.doc_index_.vectors, model.display_terms_.to_list()
    ids, titles = model.trained_on.docs.to_list(0, sample), model.trained_on.texts["title"].to_list(0, sample)
    start, size = time.process_time(), 0
    for i, (doc, title) in enumerate(zip(ids, titles, strict=True)):
        columns, weights = vectors.row(i)
        words = dict(zip([tokens[c] for c in columns.tolist()], weights.tolist(), strict=True))
        size += len(json.dumps({"doc": doc, "title": title, "words": words}))
    return size / 1e6 / (time.process_time() - start)


def _run(model: Path, engine: str, out: Path, base: Path | None = None) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.export", str(model), engine, str(out)]
    done = subprocess.run([*command, str(base or "")], capture_output=True, text=True, check=True)
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def _measure(model: str, engine: str, out: Path, base: str) -> dict[str, Any]:
    opened, best = open_model(model), {"seconds": float("inf")}
    for _ in range(_RUNS):
        shutil.rmtree(out, ignore_errors=True)
        start, cpu = time.perf_counter(), time.process_time()
        stats = export(opened, engine, out, changes_from=base or None)
        run = {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu}
        best = min(best, run, key=lambda found: found["seconds"])
    written = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    changed = stats["changes"]["documents"]["changed"] if base else 0
    return best | {"bytes": written, "peak": peak(), "changed": changed}


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4])))
