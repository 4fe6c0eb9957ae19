"""Learning to rank on the command line: features for other tools, and our own trees."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coclick.cli.arguments import Force, GraphPath, Queries, Threads
from coclick.cli.terminal import say, suggest
from coclick.errors import UserError

if TYPE_CHECKING:
    from coclick.evaluation.judgments import Judgments
    from coclick.ltr.model import Ltr

Parts = Annotated[
    list[str] | None,
    typer.Option("--models", help="A part; may be given several times. Left out, a good set of parts."),
]


def features(
    graph: GraphPath,
    out: Annotated[Path, typer.Option("--out", "-o", help="The LETOR file.")],
    queries: Queries = None,
    qrels: Annotated[
        Path | None, typer.Option(help="Judgments: the labels. Left out, clicks are graded 0 to 4.")
    ] = None,
    models: Parts = None,
    threads: Threads = None,
    force: Force = False,
) -> None:
    """Write training data for learning to rank, as LETOR text: what models say about judged queries.

    The features of a query come from models that were not shown its clicks.
    """
    from coclick import ClickGraph
    from coclick.jit.threads import set_threads
    from coclick.ltr.letor import Letor
    from coclick.progress import for_terminal
    from coclick.storage.directories import check_file, write_file

    check_file(out, force=force)
    set_threads(threads)
    opened = ClickGraph.open(graph)
    names, found = _untrained(models).examples(opened, _read(queries, qrels), for_terminal())
    docs = [opened.docs[row] for row in found.docs.tolist()]
    table = Letor(names, found.features, found.grades, found.sizes, found.queries, docs)
    write_file(out, (f"{line}\n" for line in table.lines()))
    say(f"wrote {len(docs):,} rows of {len(names)} features for {len(found.queries):,} queries to {out}")


def ltr(
    graph: GraphPath,
    out: Annotated[Path, typer.Option("--out", "-o", help="The model's directory.")],
    queries: Queries = None,
    qrels: Annotated[
        Path | None,
        typer.Option(help="Judgments: they say how many trees there should be, or are what is learned."),
    ] = None,
    models: Parts = None,
    labels: Annotated[str, typer.Option(help="clicks or judgments: what the trees learn from.")] = "clicks",
    objective: Annotated[str, typer.Option(help="lambdarank, or pointwise as in paper 002.")] = "lambdarank",
    trees: Annotated[int | None, typer.Option(min=1, help="How many; with judgments, at most.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Other folds and samples.")] = 0,
    threads: Threads = None,
    force: Force = False,
) -> None:
    """Learn to rank: boosted trees over the scores of other models. Needs LightGBM to train, not to search.

    The features of a query come from models that were not shown its clicks.
    """
    from coclick import ClickGraph
    from coclick.answers import describe
    from coclick.cli import render as show
    from coclick.jit.threads import set_threads
    from coclick.progress import for_terminal
    from coclick.storage.directories import check_output

    if labels not in ("clicks", "judgments"):
        raise UserError(f"labels cannot be {labels!r}", where="--labels", hint="clicks or judgments")
    check_output(out, force, "model")
    set_threads(threads)
    opened = ClickGraph.open(graph)
    judgments = _read(queries, qrels)
    model = _untrained(models, objective, trees, seed)
    if judgments is not None:
        model.fit_with(opened, judgments, labels, for_terminal())  # type: ignore[arg-type]
    elif labels == "judgments":
        raise UserError(
            "there are no judgments to learn from", where="--labels", hint="give them with --qrels"
        )
    else:
        model.fit(opened, for_terminal())
    model.save(out, force=force)
    show.model_summary(describe(out))
    suggest(f'coclick search {out} "some query"')


def _untrained(
    parts: list[str] | None, objective: str = "lambdarank", trees: int | None = None, seed: int = 0
) -> Ltr:
    from coclick.ltr.model import Ltr
    from coclick.models import spec as specs

    given = {"objective": objective, "seed": str(seed)}
    if parts:
        given[specs.SUM] = " + ".join(parts)
    if trees:
        given["n_trees"] = str(trees)
    return Ltr(**specs.convert(Ltr, given, "ltr"))


def _read(queries: Path | None, qrels: Path | None) -> Judgments | None:
    from coclick.evaluation.judgments import read_judgments

    if qrels is None and queries is not None:
        raise UserError("queries without judgments", where=str(queries), hint="give those with --qrels")
    return None if qrels is None else read_judgments(queries, qrels)
