"""`--engine spark`: the commands that run on a cluster, and Spark's own errors in words for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from coclick.errors import CoclickError, UserError
from coclick.terminal import say, suggest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ENGINES = ("local", "spark")
_ANY = "local[*]"  # the master where none is named: all cores of this machine
_TEXT = {".tsv": "\t", ".tab": "\t", ".csv": ","}


def chosen(engine: str, master: str | None) -> bool:
    """Whether Spark shall run."""
    if engine not in ENGINES:
        raise UserError(f"there is no engine {engine!r}", hint=f"choose {' or '.join(ENGINES)}")
    if master and engine != "spark":
        raise UserError("--master is for --engine spark", hint="add --engine spark, or leave --master out")
    return engine == "spark"


def build(log: Sequence[str], docs: str | None, out: str, master: str | None, **options: Any) -> None:
    """Build a graph from Parquet files."""
    with _session(master) as spark:
        from coclick.spark import build as build_on_spark

        graph = build_on_spark(spark, _read_log(spark, log), _read_docs(spark, docs), out, **options)
        sizes = graph.manifest["sizes"]
    say(f"{sizes['queries']:,} queries, {sizes['docs']:,} documents, {sizes['edges']:,} edges in {out}")
    for reason, count in graph.figures["rejected"].items():
        say(f"{count:,} rows rejected: {reason}")
    say(f"left out on Spark: {', '.join(graph.figures['left_out'])}")
    suggest(f'coclick train "vpcg" {out} --engine spark -o model')


def train(spec: str, graph: str, out: str, master: str | None, force: bool) -> None:
    """Train a model on a graph from Spark."""
    with _session(master) as spark:
        from coclick.spark import train as train_on_spark

        train_on_spark(spark, spec, graph, out, force=force)
    say(f"trained {spec} in {out}")
    suggest(f'coclick search {out} "some query"')


@contextmanager
def _session(master: str | None) -> Iterator[SparkSession]:
    """A session for one command; what goes wrong in Spark is said in a line."""
    from coclick.spark.engine import started  # first: it says what to install

    from py4j.protocol import Py4JError  # isort: skip
    from pyspark.errors import PySparkException

    spark = None
    try:
        spark = started(master or _ANY)
        yield spark
    except PySparkException as error:
        raise _explained(error.getMessage() or str(error)) from error
    except Py4JError as error:
        raise _explained(str(error)) from error
    finally:
        if spark is not None:
            spark.stop()


def _explained(message: str) -> CoclickError:
    first = next((line for line in message.splitlines() if line.strip()), "no reason given")
    return CoclickError(
        f"Spark gave up: {first[:300]}",
        hint="nothing was finished, and what is unfinished is removed by the next run; Spark's log says more",
    )


def _read_log(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    wrong = [path for path in paths if not path.endswith((".parquet", ".pq", "/"))]
    if wrong:
        raise UserError(
            "on Spark a log is Parquet",
            where=wrong[0],
            hint="name *.parquet files, or a directory of them with a slash at the end",
        )
    return _parquet(spark, *paths)


def _read_docs(spark: SparkSession, path: str | None) -> DataFrame | None:
    if path is None:
        return None
    suffix = "." + path.removesuffix(".gz").rpartition(".")[2]
    if suffix in _TEXT:
        return spark.read.option("sep", _TEXT[suffix]).option("header", True).csv(path)
    return _parquet(spark, path)


def _parquet(spark: SparkSession, *paths: str) -> DataFrame:
    from pyspark.errors import AnalysisException

    try:
        return spark.read.parquet(*paths)
    except AnalysisException as error:
        message = (error.getMessage() or str(error)).splitlines()[0]
        raise UserError(f"Spark cannot read this: {message}", where=", ".join(paths)) from None
