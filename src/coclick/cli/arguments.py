"""Arguments and options that several commands share, and how to read their values."""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from coclick.cli.terminal import say
from coclick.errors import UserError

if TYPE_CHECKING:
    from coclick.evaluation.judgments import Judgments
    from coclick.graph.click_graph import ClickGraph
    from coclick.models.base import Model

MAX_COUNT = 1_000_000_000  # of results, rows, users; larger numbers do not fit into the arrays
MAX_CLICKS = 1e12
MAX_SEED = 2**31 - 1
STDIN = Path("-")
RENAMED_OPTIONS = {
    "--fraction": "--held-out",
    "--merged": "--spellings",
    "--most-weights": "--max-weights",
    "--trees": "--n-trees",
}

ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="Directory of a trained model.")]
GraphPath = Annotated[Path, typer.Argument(metavar="GRAPH", help="Directory of the graph.")]
Queries = Annotated[
    Path | None,
    typer.Option(help="Judged queries: id<TAB>text. Without it, judgments name queries by their text."),
]
Qrels = Annotated[
    Path | None,
    typer.Option(
        help="Judgments: TREC qrels, id<TAB>doc<TAB>grade, Quepid CSV or OpenSearch JSON. "
        "Without it, models are evaluated on held-out clicks."
    ),
]
Holdout = Annotated[
    str | None,
    typer.Option(
        help="Clicks to hold out if there are no judgments: time:0.2 (last days), queries:0.2, or "
        "documents:0.5 (queries, with the clicks of some documents hidden)."
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option("--models", help="Model, weighted sum of models, or saved model; repeat for several."),
]
MoreModels = Annotated[
    list[str] | None,
    typer.Option("--models", help="Model to evaluate in addition to the default ones; repeat for several."),
]
Runs = Annotated[
    list[str] | None,
    typer.Option("--run", metavar="NAME=FILE", help="TREC run of another system to evaluate as well."),
]
Candidates = Annotated[
    Literal["all", "judged"],
    typer.Option(help="Documents to rank: all is full retrieval, judged re-ranking."),
]
Gain = Annotated[Literal["linear", "exponential"], typer.Option(help="Gain of nDCG.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
JsonFile = Annotated[
    Path | None, typer.Option("--json", metavar="[FILE]", help="Print JSON, or write it to a file.")
]
HtmlFile = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write an HTML report with charts.")
]
Memory = Annotated[str, typer.Option(help="Memory limit for the whole process.")]
Threads = Annotated[
    int | None, typer.Option("--threads", min=1, max=1024, help="Number of threads; all cores by default.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace existing output.")]
Engine = Annotated[
    Literal["local", "spark"],
    typer.Option("--engine", help="Where to run; spark if one machine is too small."),
]
Master = Annotated[
    str | None,
    typer.Option("--master", metavar="URL", help="Spark master: local[4], spark://host:7077, yarn …"),
]


def finite(value: float) -> float:
    """Return an option's value; raise for nan, which every comparison with a range lets through."""
    if not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a number.")
    return value


def open_graph(path: Path | str, threads: int | None) -> ClickGraph:
    """Open a graph for work with that many threads."""
    from coclick import ClickGraph
    from coclick.jit.threads import set_threads

    set_threads(threads)
    return ClickGraph.open(path)


def read_doc_ids(path: Path | None, model: Model) -> list[str] | None:
    """Read a file with one document id per line."""
    if path is None:
        return None
    try:
        ids = list(filter(None, path.read_text(encoding="utf-8-sig").split("\n")))
    except OSError as error:
        raise UserError(f"the list of documents cannot be read: {error.strerror}", where=str(path)) from None
    except UnicodeDecodeError:
        raise UserError("the list of documents is not UTF-8 text", where=str(path)) from None
    if ids and (model.graph_.docs.lookup(ids) < 0).all():
        say(f"note: the model has none of the documents in {path}; the first is {ids[0]!r}")
    return ids


def _read_stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError("standard input is not UTF-8 text") from None


def read_query_texts(path: Path) -> list[str]:
    """Read a file of queries, or standard input (`-`): one per line, or `id<TAB>text`."""
    from coclick.evaluation.judgment_files import lines, read_text

    read = _read_stdin() if path == STDIN else read_text(path)
    texts = [line.split("\t")[1 if "\t" in line else 0] for _, line in lines(read, path)]
    if not texts:
        raise UserError("the file has no queries", where=str(path))
    return texts


def read_action_weights(text: str | None) -> dict[str, Any] | None:
    """Read `click=1,cart=3,view=ignore` as {action: weight, or what it is}."""
    if text is None:
        return None
    weights: dict[str, Any] = {}
    for part in text.split(","):
        name, _, weight = (piece.strip() for piece in part.partition("="))
        try:
            weights[name] = weight if weight in ("impression", "ignore") else float(weight)
        except ValueError:
            raise UserError(
                f"cannot read the action {part.strip()!r}",
                where="--actions",
                hint="write click=1,cart=3,purchase=10,view=impression,hover=ignore",
            ) from None
    return weights


def read_columns(text: str | None) -> list[str] | dict[str, str] | None:
    """Read `query,_,doc` as fields by place, and `doc=sku,query=term` as the column of each field."""
    if text is None:
        return None
    rows = list(csv.reader([text], skipinitialspace=True))  # a name with a comma needs quotes
    parts = [part.strip() for part in (rows[0] if rows else [])]
    if not any("=" in part for part in parts):
        return parts
    columns: dict[str, str] = {}
    for part in parts:
        field, _, column = (piece.strip() for piece in part.partition("="))
        if not field or not column or field in columns:
            problem = f"{field!r} is named twice" if field in columns else f"cannot read {part!r}"
            hint = """write query=term,doc=sku; with a comma in a name '"query=term, typed",doc=sku'"""
            raise UserError(problem, where="--columns", hint=hint)
        columns[field] = column
    return columns


def read_share(text: str, option: str) -> float:
    """Read `5%` or `0.05` as a share."""
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UserError(f"{option} {text!r} is not a share", hint=f"write it like {option} 5%")
    return share


def read_judged(queries: Path | None, qrels: Path | None) -> Judgments | None:
    """Read the judgments and the queries they are for; None if no judgments are given."""
    if qrels is None and queries is not None:
        raise UserError("queries without judgments", where=str(queries), hint="give --qrels as well")
    if qrels is None:
        return None
    from coclick.evaluation.judgments import read_judgments

    return read_judgments(queries, qrels)
