"""Propagation on Spark, under `local[threads]`: ours beside the same with DataFrames alone, what is shuffled
beside the least that must be, and how even the tasks are where one query has a large share of the edges."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from benchmarks._shapes import SHAPES, ShapedGraph, named_graph, shaped_graph
from benchmarks._spark_metrics import Meter
from benchmarks._spark_propagation import (
    DataFrames,
    K,
    Ours,
    Problem,
    entries_of,
    least_bytes,
    local_session,
    row_numbers,
    rows_of_other_terms,
    same,
    sorted_entries,
)
from coclick.arrays.csr import Csr
from coclick.arrays.reorder import transpose
from coclick.text.analyzer import Tokens
from coclick.text.term_matrix import count_terms

PARTS = 8
SKEW = 1.3  # the Zipf exponent of queries
HEAVY = 10_000  # edges
# Half a million numbers of 32 bits added up one by one, as a whole row is, are off by 1e-4 (beside 64 bits).
OF_LONG_SUMS = 5e-4


def rows(shape: str, threads: int) -> list[dict]:
    with local_session(threads) as (spark, directory):
        small = shaped_graph(2_000, 2_000, 10_000)
        _both(spark, small, directory / "warm")  # compiles, and starts the workers
        drawn = named_graph(shape)
        return [
            *_beside_data_frames(spark, directory, drawn, shape, threads),
            *_skewed(spark, directory, shape, threads),
        ]


def _both(spark: SparkSession, drawn: ShapedGraph, place: Path) -> None:
    problem = Problem.of(spark, drawn, PARTS, place)
    mine = Ours(spark, problem, place / "ours")
    mine.iteration()
    mine.done()
    DataFrames(spark, problem, place / "data-frames").iteration()


def _beside_data_frames(
    spark: SparkSession, directory: Path, drawn: ShapedGraph, shape: str, threads: int
) -> list[dict]:
    problem = Problem.of(spark, drawn, PARTS, directory / "problem")
    meter = Meter(spark, directory / "events")
    whole = meter.run(lambda: Ours(spark, problem, directory / "ours"))
    first = meter.run(whole.result.iteration)  # which also lays the links where they stay
    ours = meter.run(whole.result.iteration)
    whole.result.done()
    theirs = meter.run(DataFrames(spark, problem, directory / "data-frames").iteration)
    others, texts = ours.result
    documents = sorted_entries(entries_of(others, problem.others))
    their_documents = sorted_entries(theirs.result[0])
    tied = np.isin(drawn.clicks.indices, rows_of_other_terms(documents, their_documents))
    touched = np.unique(row_numbers(drawn.clicks)[tied])  # queries whose documents were not quite the same
    queries = sorted_entries(entries_of(texts, problem.texts))
    verdicts = same(documents, their_documents), same(queries, sorted_entries(theirs.result[1]), touched)
    edges, once = drawn.clicks.nnz, whole.seconds + first.seconds - ours.seconds
    least = _least(drawn, np.bincount(documents[0], minlength=drawn.clicks.columns))
    common = {"name": "spark", "shape": shape, "threads": threads}
    return [
        common
        | {
            "params": f"one iteration, k={K}, {PARTS} parts",
            "peer": "DataFrames alone",
            "ours": ours.seconds,
            "theirs": theirs.seconds,
            "ratio": theirs.seconds / ours.seconds,
            "unit": "s",
            "check": f"documents: {verdicts[0]}; queries: {verdicts[1]}; of cores {ours.core_seconds:.1f} s "
            f"beside {theirs.core_seconds:.1f} s; edges are cut once in {once:.1f} s",
        },
        common
        | {
            "params": f"shuffled in an iteration, {PARTS} parts",
            "peer": "the least: each vector once a part",
            "ours": ours.shuffled / edges,
            "theirs": least / edges,
            "ratio": least / ours.shuffled,
            "unit": "bytes an edge",
            "check": f"by Spark's metrics; DataFrames alone: {theirs.shuffled / edges:.0f}",
        },
    ]


def _least(drawn: ShapedGraph, doc_lengths: NDArray[np.int64]) -> int:
    """The bytes that both half-steps must move."""
    start = count_terms(Tokens(*drawn.query_words), drawn.words).row_nnz()
    to_docs = least_bytes(transpose(drawn.clicks), start, drawn.words, PARTS)
    return to_docs + least_bytes(drawn.clicks, doc_lengths, drawn.words, PARTS)


def _skewed(spark: SparkSession, directory: Path, shape: str, threads: int) -> list[dict]:
    """The half-step to queries, one of which has a large share of the edges."""
    queries, docs, edges = SHAPES[shape]
    drawn = _with_a_head(shaped_graph(queries // 2, docs, edges // 2))
    share = drawn.clicks.row_nnz().max() / drawn.clicks.nnz
    problem = Problem.of(spark, drawn, PARTS, directory / "skewed")
    meter = Meter(spark, directory / "events")
    measured = {}
    for name, heavy in ("cut", HEAVY), ("whole", edges):
        ours = Ours(spark, problem, directory / f"skewed-{name}", heavy)
        others, _ = ours.iteration()
        measured[name] = meter.run(lambda ours=ours, others=others: ours.to_texts(others))
        ours.done()
    cut, whole = measured["cut"], measured["whole"]
    entries = [sorted_entries(entries_of(run.result, problem.texts)) for run in (cut, whole)]
    return [
        {
            "name": "spark",
            "shape": shape,
            "params": f"slowest task to median, Zipf {SKEW}, head has {share:.0%} of edges, {PARTS} parts",
            "threads": threads,
            "peer": "heavy rows left whole",
            "ours": cut.slowest_to_median(PARTS),
            "theirs": whole.slowest_to_median(PARTS),
            "ratio": whole.slowest_to_median(PARTS) / cut.slowest_to_median(PARTS),
            "unit": "times",
            "check": f"{same(*entries, within=OF_LONG_SUMS)}; "
            f"the half-step took {cut.seconds:.1f} s and {whole.seconds:.1f} s",
        }
    ]


def _with_a_head(drawn: ShapedGraph) -> ShapedGraph:
    """The same with other edges: queries by Zipf's law, any documents."""
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
