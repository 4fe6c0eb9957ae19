"""Build features of queries and documents on Spark, as entries (node, feature, weight).

The local counterpart is `coclick.features.feature_set`.

The views are `words` and one view of clicks, alone or together. The rows of each view, and of both together,
have unit length. The columns are the words in byte order, followed by the clicked nodes of the other side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from coclick.errors import UserError
from coclick.spark import vocabulary
from coclick.spark.graph import SparkGraph
from coclick.spark.numbering import assign_ids
from coclick.spark.partitioning import NodeSet, apply_to_parts, by_part
from coclick.spark.serialization import to_numpy
from coclick.spark.storage import TableWriter, WorkDir
from coclick.spark.vector_tables import ENTRY_SCHEMA, csr_entries
from coclick.text.analyzer import Analyzer
from coclick.text.term_matrix import choose_fields, count_terms, tf_idf

# of views of clicks, as in `features.views.CLICK_SCALES`
_SCALES: dict[str, Callable[[Column], Column]] = {
    "clicks": F.log1p,
    "log_clicks": F.log,
    "raw_clicks": lambda clicks: clicks,
}
_TF = "log"
_MAX_FEATURES = 2**31 - 1


@dataclass(frozen=True)
class FeatureSide:
    """The features of queries or of documents."""

    nodes: NodeSet
    features: NodeSet
    entries: DataFrame  # node, feature, weight


@dataclass(frozen=True)
class FeatureTables:
    """The features of both sides and the views' manifest entry."""

    queries: FeatureSide
    docs: FeatureSide
    entry: dict[str, Any]


def build_features(
    graph: SparkGraph, views: str, analyzer: Analyzer, fields: str, out: TableWriter, n_parts: int
) -> FeatureTables:
    """Compute the features of both sides and write the vocabulary."""
    names = [name.strip() for name in views.split("+")]
    of_clicks = [name for name in names if name in _SCALES]
    if names not in (["words"], of_clicks, ["words", *of_clicks]) or len(of_clicks) > 1:
        raise UserError(
            f"views={views} is supported on one machine only",
            hint="on Spark: words+clicks, words or clicks; log_clicks or raw_clicks instead of clicks",
        )
    sizes = graph.size("queries"), graph.size("docs")
    nodes = NodeSet(sizes[0], n_parts), NodeSet(sizes[1], n_parts)
    entries: list[list[DataFrame]] = [[], []]
    items, words = [], 0
    if "words" in names:
        chosen = choose_fields(dict.fromkeys(graph.texts), fields)
        found, words = _words(graph, analyzer, chosen, nodes, out)
        for side_entries, frame in zip(entries, found, strict=True):
            side_entries.append(frame)
        items.append(_text_entry(chosen, analyzer))
    widths = [words, words]
    for name in of_clicks:
        for side, (own, other) in enumerate((("q", "d"), ("d", "q"))):
            entries[side].append(_clicks(graph, own, other, words, _SCALES[name]))
            widths[side] += sizes[1 - side]
        items.append({"type": "ClickView", "fields": _json(name=name, docs=sizes[1])})
    if max(widths) > _MAX_FEATURES:
        raise UserError(
            f"{max(widths):,} features are more than the maximum of {_MAX_FEATURES:,}", hint="views=words"
        )
    both = []
    for of, width, frames in zip(nodes, widths, entries, strict=True):
        joined = out.work.checkpoint(f"features-{width}", _concat_views(frames))
        both.append(FeatureSide(of, NodeSet(width, n_parts), joined))
    ends = [[*([words] if words else []), *([width] if of_clicks else [])] for width in widths]
    entry = {"views": {"type": "list", "items": items}}
    entry |= _json(joined=True, query_ends=ends[0], doc_ends=ends[1])
    return FeatureTables(both[0], both[1], {"type": "FeatureSet", "fields": entry})


def _words(
    graph: SparkGraph, analyzer: Analyzer, fields: list[str], nodes: tuple[NodeSet, NodeSet], out: TableWriter
) -> tuple[list[DataFrame], int]:
    """TF-IDF entries of both sides over one vocabulary; each side has its own idf."""
    work = out.work
    docs = graph.table("docs").select("id", vocabulary.join_fields(fields))
    texts = graph.table("queries").select("id", "text"), docs
    placed = [vocabulary.assign_parts(frame, of) for frame, of in zip(texts, nodes, strict=True)]
    counted, columns = [], []
    for side, frame, of in zip(("query", "doc"), placed, nodes, strict=True):
        counted.append(vocabulary.count_words(frame, analyzer, work, f"{side}-words"))
        columns.append(vocabulary.inverse_frequency(of.n_nodes, f"{side}_texts").alias(f"{side}_idf"))
    terms, size = _vocabulary(counted, work)
    table = out.write_table("terms", terms.select("id", "text", "surface", *columns))
    frames = []
    for side, frame, counts, of in zip(("query", "doc"), placed, counted, nodes, strict=True):
        numbers = table.select(F.col("text").alias("term"), "id", F.col(f"{side}_idf").alias("idf"))
        known = counts.select("part", "term").distinct().join(numbers, "term")
        weigh = partial(_tf_idf_of_part, analyzer, size, of)
        entries = apply_to_parts(weigh, ENTRY_SCHEMA, frame.groupBy("part"), by_part(known, of.n_parts))
        frames.append(entries.toDF("node", "feature", "weight"))
    return frames, size


def _vocabulary(counted: list[DataFrame], work: WorkDir) -> tuple[DataFrame, int]:
    """The terms of both sides with their surface forms and the number of texts per side."""
    texts, none = F.col("texts"), F.lit(0).cast("long")
    queries, docs = (frame.select("term", "surface", "n", "texts") for frame in counted)
    queries = queries.withColumns({"query_texts": texts, "doc_texts": none})
    docs = docs.withColumns({"query_texts": none, "doc_texts": texts})
    sums = [F.sum(name).alias(name) for name in ("query_texts", "doc_texts")]
    forms = queries.union(docs).groupBy("term", "surface").agg(F.sum("n").alias("n"), *sums)
    terms = forms.groupBy(F.col("term").alias("text")).agg(vocabulary.most_frequent_surface(), *sums)
    return assign_ids(terms, ["text"], work, "terms")


def _tf_idf_of_part(
    analyzer: Analyzer, size: int, nodes: NodeSet, part: int, texts: pa.Table, known: pa.Table
) -> pa.Table:
    idf = np.zeros(size, np.float32)
    idf[to_numpy(known, "id")] = to_numpy(known, "idf")
    tokens = vocabulary.tokenize_part(texts.sort_by("id"), known, analyzer)
    return csr_entries(nodes.ids(part), tf_idf(count_terms(tokens, size), idf, _TF))


def _clicks(
    graph: SparkGraph, own: str, other: str, first: int, scale: Callable[[Column], Column]
) -> DataFrame:
    """The clicks on a scale, rows of unit length."""
    weight = scale(F.col("clicks").cast("double"))
    edges = graph.table("edges").select(
        F.col(own).alias("node"), (F.col(other) + first).alias("feature"), weight.alias("weight")
    )
    return _unit_rows(edges.filter("weight > 0"))


def _concat_views(frames: list[DataFrame]) -> DataFrame:
    return frames[0] if len(frames) == 1 else _unit_rows(frames[0].union(frames[1]))


def _unit_rows(entries: DataFrame) -> DataFrame:
    square = F.col("weight").cast("double") * F.col("weight")
    lengths = entries.groupBy("node").agg(F.sqrt(F.sum(square)).alias("length"))
    scaled = (F.col("weight") / F.col("length")).cast("float")
    return entries.join(lengths, "node").select("node", "feature", scaled.alias("weight"))


def _json(**values: Any) -> dict[str, Any]:
    return {name: {"type": "json", "value": value} for name, value in values.items()}


def _text_entry(fields: list[str], analyzer: Analyzer) -> dict[str, Any]:
    idf = {
        f"{side}_idf": {"type": "array", "table": "terms", "column": f"{side}_idf", "dtype": "<f4"}
        for side in ("query", "doc")
    }
    view = {
        **_json(name="words", fields=fields, tf=_TF),
        "analyzer": {"type": "Analyzer", "fields": _json(**analyzer.to_dict())},
        "terms": {"type": "vocab", "table": "terms", "column": "text"},
        "display_terms": {"type": "strings", "table": "terms", "column": "surface"},
        **idf,
    }
    return {"type": "TextView", "fields": view}
