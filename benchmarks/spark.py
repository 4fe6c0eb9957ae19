"""Propagation on Spark (`local[threads]`).

Compares our products with DataFrames alone, the shuffled bytes with the minimum, and the slowest task with
the median where one query has a large share of the edges.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from benchmarks._row import make_row
from benchmarks._shapes import SHAPES, ShapedGraph, named_graph, shaped_graph
from benchmarks._spark_metrics import Meter
from benchmarks._spark_propagation import (
    DataFrames,
    K,
    Ours,
    Problem,
    compare,
    local_session,
    minimum_bytes,
    row_numbers,
    rows_with_other_terms,
    sorted_entries,
    state_entries,
)
from coclick.arrays.csr import Csr
from coclick.arrays.reorder import transpose
from coclick.text.analyzer import Tokens
from coclick.text.term_matrix import count_terms

PARTS = 8
SKEW = 1.3  # the Zipf exponent of queries
MAX_DEGREE = 10_000
# A sequential float32 sum of half a million numbers, as in an undivided row, is off by 1e-4.
LONG_SUM_TOLERANCE = 5e-4


def rows(shape: str, threads: int) -> list[dict]:
    with local_session(threads) as (spark, directory):
        small = shaped_graph(2_000, 2_000, 10_000)
        _warm_up(spark, small, directory / "warm")  # compiles and starts the workers
        drawn = named_graph(shape)
        return [
            *_compare_with_data_frames(spark, directory, drawn, shape, threads),
            *_skewed(spark, directory, shape, threads),
        ]


def _warm_up(spark: SparkSession, drawn: ShapedGraph, place: Path) -> None:
    problem = Problem.build(spark, drawn, PARTS, place)
    mine = Ours(spark, problem, place / "ours")
    mine.iteration()
    mine.close()
    DataFrames(spark, problem, place / "data-frames").iteration()


def _compare_with_data_frames(
    spark: SparkSession, directory: Path, drawn: ShapedGraph, shape: str, threads: int
) -> list[dict]:
    problem = Problem.build(spark, drawn, PARTS, directory / "problem")
    meter = Meter(spark, directory / "events")
    whole = meter.run(lambda: Ours(spark, problem, directory / "ours"))
    first = meter.run(whole.result.iteration)  # also persists the matrices
    ours = meter.run(whole.result.iteration)
    whole.result.close()
    theirs = meter.run(DataFrames(spark, problem, directory / "data-frames").iteration)
    others, texts = ours.result
    documents = sorted_entries(state_entries(others, problem.others))
    their_documents = sorted_entries(theirs.result[0])
    tied = np.isin(drawn.clicks.indices, rows_with_other_terms(documents, their_documents))
    ignored = np.unique(row_numbers(drawn.clicks)[tied])  # queries of documents with other tied words
    queries = sorted_entries(state_entries(texts, problem.texts))
    verdicts = (
        compare(documents, their_documents),
        compare(queries, sorted_entries(theirs.result[1]), ignored),
    )
    edges, once = drawn.clicks.nnz, whole.seconds + first.seconds - ours.seconds
    minimum = _minimum(drawn, np.bincount(documents[0], minlength=drawn.clicks.columns))
    return [
        make_row(
            name="spark",
            shape=shape,
            threads=threads,
            params=f"one iteration, k={K}, {PARTS} parts",
            peer="DataFrames alone",
            ours=ours.seconds,
            theirs=theirs.seconds,
            unit="s",
            check=f"documents: {verdicts[0]}; queries: {verdicts[1]}; CPU time {ours.core_seconds:.1f} s "
            f"and {theirs.core_seconds:.1f} s; partitioning once takes {once:.1f} s",
        ),
        make_row(
            name="spark",
            shape=shape,
            threads=threads,
            params=f"shuffled in an iteration, {PARTS} parts",
            peer="minimum: each vector once per part",
            ours=ours.shuffled / edges,
            theirs=minimum / edges,
            unit="bytes per edge",
            check=f"from Spark's metrics; DataFrames alone: {theirs.shuffled / edges:.0f}",
        ),
    ]


def _minimum(drawn: ShapedGraph, doc_lengths: NDArray[np.int64]) -> int:
    """The minimum traffic of both half-steps."""
    start = count_terms(Tokens(*drawn.query_words), drawn.words).row_nnz()
    to_docs = minimum_bytes(transpose(drawn.clicks), start, drawn.words, PARTS)
    return to_docs + minimum_bytes(drawn.clicks, doc_lengths, drawn.words, PARTS)


def _skewed(spark: SparkSession, directory: Path, shape: str, threads: int) -> list[dict]:
    """The half-step to queries where one of them has a large share of the edges."""
    queries, docs, edges = SHAPES[shape]
    drawn = _with_head_query(shaped_graph(queries // 2, docs, edges // 2))
    share = drawn.clicks.row_nnz().max() / drawn.clicks.nnz
    problem = Problem.build(spark, drawn, PARTS, directory / "skewed")
    meter = Meter(spark, directory / "events")
    measured = {}
    for name, max_degree in ("split", MAX_DEGREE), ("whole", edges):
        product = Ours(spark, problem, directory / f"skewed-{name}", max_degree)
        others, _ = product.iteration()
        measured[name] = meter.run(partial(product.to_texts, others))
        product.close()
    split, whole = measured["split"], measured["whole"]
    ours, theirs = (sorted_entries(state_entries(run.result, problem.texts)) for run in (split, whole))
    return [
        make_row(
            name="spark",
            shape=shape,
            params=f"slowest task to median, Zipf {SKEW}, head has {share:.0%} of edges, {PARTS} parts",
            threads=threads,
            peer="heavy rows not split",
            ours=split.slowest_to_median(PARTS),
            theirs=whole.slowest_to_median(PARTS),
            unit="times",
            check=f"{compare(ours, theirs, tolerance=LONG_SUM_TOLERANCE)}; "
            f"the half-step took {split.seconds:.1f} s and {whole.seconds:.1f} s",
        )
    ]


def _with_head_query(drawn: ShapedGraph) -> ShapedGraph:
    """Replace the edges: queries drawn by Zipf's law, documents uniformly."""
    clicks, random = drawn.clicks, np.random.default_rng(0)
    share = np.cumsum((np.arange(clicks.rows) + 1.0) ** -SKEW)
    query = np.searchsorted(share / share[-1], random.random(clicks.nnz))
    doc = random.integers(0, clicks.columns, clicks.nnz)
    edges = Csr.from_triples(query, doc, np.ones(clicks.nnz), (clicks.rows, clicks.columns))
    return replace(drawn, clicks=edges)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--shape", default="S")
    for row in rows(parser.parse_args().shape, len(os.sched_getaffinity(0))):
        print(row)
