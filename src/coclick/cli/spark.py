"""`--engine spark`: run commands on a cluster and report Spark's errors in one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from coclick.cli.terminal import say, suggest
from coclick.errors import CoclickError, UserError, counted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_DEFAULT_MASTER = "local[*]"  # all cores of this machine
_HINTS = {  # by a part of Spark's message
    "No module named 'coclick'": 'run pip install "coclick[spark]" in the Python environment of all workers',
    "JAVA_GATEWAY_EXITED": "check `java -version`: Spark needs Java 17 or later",
}
_DEFAULT_HINT = "no output was written; the next run removes partial files; see Spark's log for details"
_SEPARATORS = {".tsv": "\t", ".tab": "\t", ".csv": ","}


def is_spark(engine: str, master: str | None) -> bool:
    """Return whether to run on Spark; raise for invalid options."""
    if master and engine != "spark":
        raise UserError("--master requires --engine spark", hint="add --engine spark, or leave --master out")
    return engine == "spark"


def refuse(**given: bool) -> None:
    """Raise for options that only the local engine has."""
    if wrong := [f"--{name.replace('_', '-')}" for name, is_given in given.items() if is_given]:
        raise UserError(f"--engine spark does not know {' '.join(wrong)}", hint="build with --engine local")


def build(
    log: Sequence[str],
    docs: Sequence[str] | None,
    out: str,
    master: str | None,
    **options: Any,
) -> None:
    """Build a graph from Parquet files and print its size."""
    if docs and len(docs) > 1:
        raise UserError("on Spark, documents must be in one file", hint="give --docs once")
    with _session(master) as spark:
        from coclick.cli.render import build_report
        from coclick.spark import build as build_on_spark

        graph = build_on_spark(
            spark, _read_log(spark, log), _read_docs(spark, docs[0] if docs else None), out, **options
        )
        sizes = graph.manifest["sizes"]
    counts = (("queries", "query"), ("docs", "document"), ("edges", "edge"))
    say(f"{', '.join(counted(sizes[key], noun) for key, noun in counts)} in {out}")
    build_report(graph.stats)
    suggest(f'coclick train "vpcg(units=words,own_weight=0)" {out} --engine spark -o model')


def train(spec: str, graph: str, out: str, master: str | None, force: bool) -> None:
    """Train a model on a graph that was built on Spark."""
    with _session(master) as spark:
        from coclick.spark import train as train_on_spark

        train_on_spark(spark, spec, graph, out, force=force)
    say(f"trained {spec} in {out}")
    suggest(f'coclick search {out} "some query"')


@contextmanager
def _session(master: str | None) -> Iterator[SparkSession]:
    """Open a session for one command; convert Spark's errors to one line."""
    from coclick.spark.session import start_session  # first, because it checks the packages

    from py4j.protocol import Py4JError, Py4JJavaError  # isort: skip
    from pyspark.errors import PySparkException

    from coclick.spark.storage import cleanup

    try:
        spark = start_session(master or _DEFAULT_MASTER)
        with cleanup(spark.stop):
            yield spark
    except PySparkException as error:
        raise _error_of(error.getMessage() or str(error)) from error
    except Py4JJavaError as error:
        raise _error_of(str(error.java_exception)) from error
    except Py4JError as error:
        raise _error_of(str(error)) from error


def _error_of(message: str) -> CoclickError:
    """Report the most useful line: the last of a Python traceback, else the first."""
    lines = [line for line in message.splitlines() if line.strip()]
    first = next(iter(lines), "no message")
    _, traceback, after = message.partition("Traceback (most recent call last):\n")
    if traceback:
        first = next((line for line in after.splitlines() if line.strip() and line[0] != " "), first)
    hints = [hint for sign, hint in _HINTS.items() if sign in message]
    return CoclickError(f"Spark failed: {first[:300]}", hint=next(iter(hints), _DEFAULT_HINT))


def _read_log(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    wrong = [path for path in paths if not path.endswith((".parquet", ".pq", "/"))]
    if wrong:
        raise UserError(
            "on Spark, logs must be Parquet files",
            where=wrong[0],
            hint="give *.parquet files, or a directory of them with a trailing slash",
        )
    return _parquet(spark, *paths)


def _read_docs(spark: SparkSession, path: str | None) -> DataFrame | None:
    if path is None:
        return None
    suffix = "." + path.removesuffix(".gz").rpartition(".")[2]
    return _text(spark, path, _SEPARATORS[suffix]) if suffix in _SEPARATORS else _parquet(spark, path)


def _text(spark: SparkSession, path: str, separator: str) -> DataFrame:
    """Read quoted CSV or unquoted TSV; the first line is a header if it looks like one.

    The first line sets the number of columns. Spark would silently drop the extra cells of longer lines, so
    these lines are kept in the column TOO_LONG.
    """
    from coclick.logs.documents import default_fields, is_header
    from coclick.spark.documents import TOO_LONG

    quotes = {"quote": '"', "escape": '"', "multiLine": True} if separator == "," else {"quote": ""}
    reader = spark.read.options(sep=separator, **quotes)
    with _read_errors(path):
        first = reader.csv(path).first()
        if first is None:
            raise UserError("the file is empty", where=path)
        header = is_header([cell or "" for cell in first])
        read = reader.option("header", header)
        schema = read.csv(path).schema.add(TOO_LONG, "string")
        found = read.option("columnNameOfCorruptRecord", TOO_LONG).schema(schema).csv(path)
        if not header:
            found = found.toDF(*default_fields(len(first)), TOO_LONG)
        return found.withColumn(TOO_LONG, _if_longer(TOO_LONG, separator, len(first)))


def _if_longer(record: str, separator: str, columns: int) -> Column:
    """The record if it has more cells than columns. Spark marks shorter ones too, which are valid here."""
    from pyspark.sql import functions as F

    unquoted = F.regexp_replace(record, '"[^"]*"', "") if separator == "," else F.col(record)
    return F.when(F.size(F.split(unquoted, separator)) > columns, F.col(record))


def _parquet(spark: SparkSession, *paths: str) -> DataFrame:
    with _read_errors(*paths):
        return spark.read.parquet(*paths)


@contextmanager
def _read_errors(*paths: str) -> Iterator[None]:
    """Report files that Spark cannot read as user errors."""
    from pyspark.errors import AnalysisException

    try:
        yield
    except AnalysisException as error:
        message = (error.getMessage() or str(error)).splitlines()[0]
        raise UserError(f"Spark cannot read the file: {message}", where=", ".join(paths)) from None
