"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
