"""Arguments of the command line that have to be read before the library can take them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from coclick.cli.terminal import say
from coclick.errors import UserError

if TYPE_CHECKING:
    from coclick.models.base import Model
from typing import Annotated

import typer


def listed_docs(path: Path | None, model: Model) -> list[str] | None:
    """The documents that a file lists, one id a line."""
    if path is None:
        return None
    try:
        ids = list(filter(None, path.read_text(encoding="utf-8-sig").split("\n")))
    except OSError as error:
        raise UserError(f"the list of documents cannot be read: {error.strerror}", where=str(path)) from None
    except UnicodeDecodeError:
        raise UserError("the list of documents is not UTF-8 text", where=str(path)) from None
    if ids and (model.graph_.docs.lookup(ids) < 0).all():
        say(f"note: no document of the model is listed in {path}, which has {ids[0]!r}")
    return ids


def action_weights(text: str | None) -> dict[str, float] | None:
    """`click=1,cart=3` as a table."""
    if text is None:
        return None
    weights = {}
    for part in text.split(","):
        name, _, weight = (piece.strip() for piece in part.partition("="))
        try:
            weights[name] = float(weight)
        except ValueError:
            raise UserError(
                f"cannot read the action {part.strip()!r}",
                where="--actions",
                hint="write click=1,cart=3,purchase=10",
            ) from None
    return weights


ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="A trained model's directory.")]
GraphPath = Annotated[Path, typer.Argument(metavar="GRAPH", help="A graph's directory.")]
Queries = Annotated[
    Path | None,
    typer.Option(help="Judged queries: id<TAB>text. Left out, judgments name queries by their texts."),
]
Qrels = Annotated[
    Path | None,
    typer.Option(
        help="Judgments: TREC's four columns, id<TAB>doc<TAB>grade, Quepid's CSV or OpenSearch's JSON. "
        "Left out, clicks are held out."
    ),
]
Holdout = Annotated[
    str | None,
    typer.Option(help="Without judgments: time:0.2 (the last days) or queries:0.2 are held out."),
]
Models = Annotated[
    list[str] | None,
    typer.Option("--models", help="A model, a sum of models or a saved model; may be given several times."),
]
Runs = Annotated[
    list[str] | None,
    typer.Option("--run", metavar="NAME=FILE", help="A TREC run from elsewhere, judged beside the models."),
]
Candidates = Annotated[str, typer.Option(help="all: full retrieval; judged: re-rank judged documents.")]
Gain = Annotated[str, typer.Option(help="linear or exponential, of nDCG.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
JsonFile = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write JSON for machines; - prints it.")
]
HtmlFile = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write a page with charts, for a browser.")
]
Threads = Annotated[int | None, typer.Option("--threads", min=1, help="How many threads; default all cores.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an output that exists.")]
Engine = Annotated[str, typer.Option("--engine", help="local, or spark: for what does not fit one machine.")]
Master = Annotated[
    str | None,
    typer.Option("--master", metavar="URL", help="With --engine spark: local[4], spark://host:7077, yarn …"),
]
