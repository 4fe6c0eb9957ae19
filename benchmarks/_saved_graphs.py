"""Click graphs of the shapes S, M and L on disk, generated once and kept in the cache directory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks._shapes import SHAPES, ShapedGraph, WordRows, named_graph, text_rows
from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings, Vocab
from coclick.graph.click_graph import ClickGraph
from coclick.jit.compiler import cache_home
from coclick.storage.manifest import FORMAT


def saved_graph(shape: str) -> Path:
    """Return the directory of the graph of a shape; its texts are pseudo-words."""
    size = "-".join(map(str, SHAPES[shape]))
    path = cache_home() / "benchmarks" / f"format-{FORMAT}" / f"graph-{shape}-{size}"
    if not (path / "manifest.json").exists():
        graph_of(named_graph(shape)).save(path)
    return path


def saved_model(shape: str) -> Path:
    """Return the directory of a `vpcg` with word units trained on the graph of a shape."""
    from coclick import train

    path = saved_graph(shape).with_name(f"vpcg-{shape}-blocks")
    if not (path / "manifest.json").exists():
        train("vpcg(units=words,own_weight=0)", ClickGraph.open(saved_graph(shape))).save(path)
    return path


def graph_of(drawn: ShapedGraph) -> ClickGraph:
    """Convert a generated graph to a ClickGraph with texts and names."""
    queries = _unique(_texts(drawn.query_words))
    docs = Strings.from_list(f"d{i:08}" for i in range(drawn.clicks.columns))
    clicks = Csr(drawn.clicks.indptr, drawn.clicks.indices, drawn.clicks.data, drawn.clicks.columns)
    titles = {"title": _texts(drawn.title_words)}
    return ClickGraph(queries, Vocab(docs.offsets, docs.data), clicks, titles)


def _texts(rows: WordRows) -> Strings:
    data, offsets = text_rows(rows)
    return Strings(offsets, data)


def _unique(texts: Strings) -> Vocab:
    """Make texts unique: repeated ones get their row number as an extra word."""
    found = texts.to_list()
    order = np.array(sorted(range(len(found)), key=found.__getitem__), np.int64)
    repeated = _equal_to_previous(found, order)
    if len(repeated):
        for row in repeated:
            found[row] += f" {row}"
        order = np.array(sorted(range(len(found)), key=found.__getitem__), np.int64)
    packed = Strings.from_list(found)
    return Vocab(packed.offsets, packed.data, order.astype(np.int32))


def _equal_to_previous(texts: list[str], order: NDArray[np.int64]) -> list[int]:
    rows = order.tolist()
    return [row for before, row in zip(rows[:-1], rows[1:], strict=True) if texts[before] == texts[row]]
