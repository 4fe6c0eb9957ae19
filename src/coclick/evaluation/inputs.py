"""The arguments that `evaluate`, `compare` and `tune` share: judgments or held-out clicks, and runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from coclick.errors import UserError
from coclick.evaluation.holdout import hold_out
from coclick.evaluation.judgment_files import mapping_rows, table_rows
from coclick.evaluation.judgments import Judgments, grades_of, match_queries, read_judgments, read_queries
from coclick.evaluation.runs import read_run
from coclick.graph.click_graph import ClickGraph
from coclick.graph.tables import is_table
from coclick.models.base import Model
from coclick.text.normalise import normalise_batch

Graph = ClickGraph | str | Path
Models = str | Path | Model | Sequence[str | Path | Model]
Qrels = Judgments | Mapping[str, Mapping[str, float]] | str | Path | Any  # Any: a table
Queries = Mapping[str, str] | str | Path
Runs = Mapping[str, Mapping[str, Sequence[str]] | str | Path]

_ID = re.compile(r"[A-Za-z]{0,8}[-_.:]?[0-9]+")  # q0001, 17, topic-3


class EvaluationData(NamedTuple):
    """The graph to train on, the judgments to measure by, and where they come from."""

    train: ClickGraph
    judgments: Judgments
    source: str  # "judgments", or "held-out clicks, RULE"


def load_data(
    graph: Graph, qrels: Qrels | None, queries: Queries | None, holdout: str | None
) -> EvaluationData:
    """Open the graph; read the judgments or, if there are none, hold out clicks of the graph."""
    graph = open_graph(graph)
    if not isinstance(holdout, str | None):
        raise UserError(f"holdout must be a text such as 'queries:0.2', not {holdout!r}")
    if qrels is not None:
        judgments = load_judgments(qrels, queries)
        if queries is None:
            _check_texts(judgments, graph)
        return EvaluationData(graph, judgments, "judgments")
    if queries is not None:
        raise UserError("queries without judgments", hint="give judgments with --qrels (in Python: qrels=…)")
    train, judgments, rule = hold_out(graph, holdout)
    return EvaluationData(train, judgments, f"held-out clicks, {rule}")


def open_graph(graph: Graph) -> ClickGraph:
    """Return a graph, opened if it is given by its directory."""
    if isinstance(graph, str | Path):
        graph = ClickGraph.open(graph)
    if not isinstance(graph, ClickGraph):
        raise UserError(f"the first argument must be a ClickGraph or its directory, not {graph!r:.50}")
    return graph


def list_models(models: Models) -> list[str | Model]:
    """Return models as specifications or directories, and trained ones as they are."""
    given = [models] if isinstance(models, str | Path | Model) else models
    if isinstance(given, ClickGraph):
        raise UserError("the graph is the first argument, the models are the second")
    if not isinstance(given, Sequence) or not all(isinstance(one, str | Path | Model) for one in given):
        raise UserError(
            f"models must be specifications, directories or models, not {models!r:.80}",
            hint='for example ["bm25", "vpcg(start=doc)"]',
        )
    paths = [one.absolute() if isinstance(one, Path) else one for one in given]  # never the name of a model
    return [one if isinstance(one, Model) and hasattr(one, "graph_") else str(one) for one in paths]


def load_judgments(qrels: Qrels, queries: Queries | None = None) -> Judgments:
    """Return judgments from files or mappings.

    Parameters:
        qrels: a file of judgments, a mapping {query: {document: grade}}, a table with columns query, doc and
            grade, or `Judgments`.
        queries: the texts of the queries, as a file `id<TAB>text` or a mapping {id: text}. Without it,
            `qrels` names queries by their texts.
    """
    if isinstance(qrels, Judgments):
        return qrels
    if not isinstance(queries, str | Path | Mapping | None):
        raise UserError(f"queries must be a file or a mapping from id to text, not {type(queries).__name__}")
    if isinstance(qrels, str | Path):
        return read_judgments(queries, qrels)
    texts = read_queries(queries) if isinstance(queries, str | Path) else queries
    rows = table_rows(qrels, texts is not None) if is_table(qrels) else mapping_rows(qrels)
    return match_queries(grades_of(rows, "qrels") if rows else {}, texts)


def _check_texts(judgments: Judgments, graph: ClickGraph) -> None:
    """Raise if the judged queries are ids: with these as texts every model would score 0."""
    texts = list(judgments.queries.values())
    if (
        not texts
        or not all(map(_ID.fullmatch, texts))
        or (graph.queries.lookup(normalise_batch(texts)) >= 0).any()
    ):
        return
    raise UserError(
        f"none of the {len(texts):,} judged queries is in the graph, and they look like ids ({texts[0]}, …)",
        hint="give their texts: queries='queries.tsv' (--queries)",
    )


def load_runs(runs: Runs | None) -> dict[str, Mapping[str, Sequence[str]]]:
    """Return rankings by name; a run is a TREC file or a mapping {query id: documents, best first}."""
    if not isinstance(runs, Mapping | None):
        raise UserError(
            f"runs must be a mapping from name to run, not {runs!r:.50}",
            hint='for example {"ours": "run.txt"}',
        )
    return {name: read_run(run) if isinstance(run, str | Path) else run for name, run in (runs or {}).items()}
