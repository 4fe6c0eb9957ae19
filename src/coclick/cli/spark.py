"""`--engine spark`: the commands that run on a cluster, and Spark's own errors in words for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from coclick.cli.terminal import say, suggest
from coclick.errors import CoclickError, UserError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

ENGINES = ("local", "spark")
_ANY = "local[*]"  # the master where none is named: all cores of this machine
_HINTS = {  # by what Spark says
    "No module named 'coclick'": 'pip install "coclick[spark]" on all workers, where their Python is',
    "JAVA_GATEWAY_EXITED": "look at `java -version`: Spark needs Java 17 or later",
}
_ANY_HINT = "nothing was finished, and what is unfinished is removed by the next run; Spark's log says more"
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
    for key, rows in (("rejected", "rows"), ("docs_rejected", "documents")):
        for reason, count in graph.figures.get(key, {}).items():
            say(f"{count:,} {rows} rejected, kept in the table rejects: {reason}")
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

    from py4j.protocol import Py4JError, Py4JJavaError  # isort: skip
    from pyspark.errors import PySparkException

    from coclick.spark.storage import cleaning

    try:
        spark = started(master or _ANY)
        with cleaning(spark.stop):
            yield spark
    except PySparkException as error:
        raise _explained(error.getMessage() or str(error)) from error
    except Py4JJavaError as error:
        raise _explained(str(error.java_exception)) from error
    except Py4JError as error:
        raise _explained(str(error)) from error


def _explained(message: str) -> CoclickError:
    """The line that says most: of a Python traceback the one behind it, else the first."""
    lines = [line for line in message.splitlines() if line.strip()]
    first = next(iter(lines), "no reason given")
    _, traceback, after = message.partition("Traceback (most recent call last):\n")
    if traceback:
        first = next((line for line in after.splitlines() if line.strip() and line[0] != " "), first)
    hints = [hint for sign, hint in _HINTS.items() if sign in message]
    return CoclickError(f"Spark gave up: {first[:300]}", hint=next(iter(hints), _ANY_HINT))


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
    return _text(spark, path, _TEXT[suffix]) if suffix in _TEXT else _parquet(spark, path)


def _text(spark: SparkSession, path: str, separator: str) -> DataFrame:
    """CSV with quotes, or tabs without; the first line is a header if it looks like one. It says how many
    columns there are: Spark would cut off what stands behind them in other lines, and say nothing."""
    from coclick.logs.documents import default_fields, is_header
    from coclick.spark.documents import TOO_LONG

    quotes = {"quote": '"', "escape": '"', "multiLine": True} if separator == "," else {"quote": ""}
    reader = spark.read.options(sep=separator, **quotes)
    with _readable(path):
        first = reader.csv(path).first()
        if first is None:
            raise UserError("the file of documents is empty", where=path)
        header = is_header([cell or "" for cell in first])
        read = reader.option("header", header)
        schema = read.csv(path).schema.add(TOO_LONG, "string")
        found = read.option("columnNameOfCorruptRecord", TOO_LONG).schema(schema).csv(path)
        if not header:
            found = found.toDF(*default_fields(len(first)), TOO_LONG)
        return found.withColumn(TOO_LONG, _if_longer(TOO_LONG, separator, len(first)))


def _if_longer(record: str, separator: str, columns: int) -> Column:
    """The record if it has more cells than columns. Spark marks shorter ones, too, but what is missing there
    is empty."""
    from pyspark.sql import functions as F

    unquoted = F.regexp_replace(record, '"[^"]*"', "") if separator == "," else F.col(record)
    return F.when(F.size(F.split(unquoted, separator)) > columns, F.col(record))


def _parquet(spark: SparkSession, *paths: str) -> DataFrame:
    with _readable(*paths):
        return spark.read.parquet(*paths)


@contextmanager
def _readable(*paths: str) -> Iterator[None]:
    """What Spark cannot read is the user's to mend."""
    from pyspark.errors import AnalysisException

    try:
        yield
    except AnalysisException as error:
        message = (error.getMessage() or str(error)).splitlines()[0]
        raise UserError(f"Spark cannot read this: {message}", where=", ".join(paths)) from None
