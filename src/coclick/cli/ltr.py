"""Commands for learning to rank: features, ltr."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from coclick.cli.arguments import MAX_SEED, Force, GraphPath, Queries, Threads, open_graph, read_judged
from coclick.cli.terminal import say, suggest
from coclick.errors import UserError, counted

if TYPE_CHECKING:
    from coclick.ltr.model import Ltr

Parts = Annotated[
    list[str] | None,
    typer.Option(
        "--models", help="Model whose score is a feature; repeat for several. Default: a good set of models."
    ),
]


def features(
    graph: GraphPath,
    out: Annotated[Path, typer.Option("--out", "-o", help="LETOR file to write.")],
    queries: Queries = None,
    qrels: Annotated[
        Path | None, typer.Option(help="Judgments to use as labels. Without it, clicks are graded 0 to 4.")
    ] = None,
    models: Parts = None,
    threads: Threads = None,
    force: Force = False,
) -> None:
    """Write training data for learning to rank in LETOR format: the scores of models as features.

    The features of a query come from models that were trained without its clicks.
    """
    from coclick.ltr.letor import Letor
    from coclick.progress import for_terminal
    from coclick.storage.directories import check_file, write_file

    check_file(out, force=force)
    opened = open_graph(graph, threads)
    names, examples = _untrained(models).examples(opened, read_judged(queries, qrels), for_terminal())
    docs = [opened.docs[row] for row in examples.docs.tolist()]
    table = Letor(names, examples.features, examples.grades, examples.sizes, examples.queries, docs)
    write_file(out, (f"{line}\n" for line in table.lines()))
    rows, judged = counted(len(docs), "row"), counted(len(examples.queries), "query")
    say(f"wrote {rows} of {counted(len(names), 'feature')} for {judged} to {out}")


def ltr(
    graph: GraphPath,
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory of the new model.")],
    queries: Queries = None,
    qrels: Annotated[
        Path | None,
        typer.Option(help="Judgments: to choose the number of trees, or to train on (--labels judgments)."),
    ] = None,
    models: Parts = None,
    labels: Annotated[Literal["clicks", "judgments"], typer.Option(help="Labels to train on.")] = "clicks",
    objective: Annotated[
        Literal["lambdarank", "pointwise"], typer.Option(help="Loss function.")
    ] = "lambdarank",
    n_trees: Annotated[
        int | None,
        typer.Option(
            min=1, max=10_000, help="Number of trees; with judgments, the maximum (early stopping)."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Random seed.")] = 0,
    threads: Threads = None,
    force: Force = False,
) -> None:
    """Train a learning-to-rank model: boosted trees over the scores of other models.

    Training needs LightGBM, searching does not. The features of a query come from models that were trained
    without its clicks.
    """
    from coclick.answers import describe
    from coclick.cli import render
    from coclick.progress import for_terminal
    from coclick.storage.directories import check_output

    check_output(out, force, "model")
    opened = open_graph(graph, threads)
    judgments = read_judged(queries, qrels)
    model = _untrained(models, objective, n_trees, seed)
    if judgments is not None:
        model.fit_with(opened, judgments, labels, for_terminal())
    elif labels == "judgments":
        raise UserError("there are no judgments to train on", where="--labels", hint="give --qrels")
    else:
        model.fit(opened, for_terminal())
    model.save(out, force=force)
    render.model_summary(describe(out))
    suggest(f'coclick search {out} "some query"')


def _untrained(
    parts: list[str] | None, objective: str = "lambdarank", n_trees: int | None = None, seed: int = 0
) -> Ltr:
    from coclick.ltr.model import Ltr
    from coclick.models import spec

    given = {"objective": objective, "seed": str(seed)}
    if parts:
        given[spec.SUM] = " + ".join(parts)
    if n_trees:
        given["n_trees"] = str(n_trees)
    return Ltr(**spec.convert(Ltr, given, "ltr"))
