"""The arguments that `evaluate`, `compare` and `tune` share: judgments or held-out clicks, and runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from coclick.errors import UserError
from coclick.evaluation.holdout import hold_out
from coclick.evaluation.judgments import Judgments, match_queries, read_judgments, read_queries
from coclick.evaluation.runs import read_run
from coclick.graph.click_graph import ClickGraph
from coclick.text.normalise import normalise_batch

Qrels = Judgments | Mapping[str, Mapping[str, int]] | str | Path
Queries = Mapping[str, str] | str | Path
Runs = Mapping[str, Mapping[str, Sequence[str]] | str | Path]

_ID = re.compile(r"[A-Za-z]{0,8}[-_.:]?[0-9]+")  # q0001, 17, topic-3


class EvaluationData(NamedTuple):
    """The graph to train on, the judgments to measure by, and where they come from."""

    train: ClickGraph
    judgments: Judgments
    source: str  # "judgments", or "held-out clicks, RULE"


def load_data(
    graph: ClickGraph, qrels: Qrels | None, queries: Queries | None, holdout: str | None
) -> EvaluationData:
    """Read the judgments or, if there are none, hold out clicks of the graph."""
    if qrels is not None:
        judgments = load_judgments(qrels, queries)
        if queries is None:
            _check_texts(judgments, graph)
        return EvaluationData(graph, judgments, "judgments")
    if queries is not None:
        raise UserError("queries without judgments", hint="give judgments with --qrels")
    train, judgments, rule = hold_out(graph, holdout)
    return EvaluationData(train, judgments, f"held-out clicks, {rule}")


def load_judgments(qrels: Qrels, queries: Queries | None = None) -> Judgments:
    """Return judgments from files or mappings.

    Parameters:
        qrels: a file of judgments, a mapping {query: {document: grade}}, or `Judgments`.
        queries: the texts of the queries, as a file `id<TAB>text` or a mapping {id: text}. Without it,
            `qrels` names queries by their texts.
    """
    if isinstance(qrels, Judgments):
        return qrels
    if isinstance(qrels, str | Path):
        return read_judgments(queries, qrels)
    texts = read_queries(queries) if isinstance(queries, str | Path) else queries
    return match_queries({query: dict(found) for query, found in qrels.items()}, texts)


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
    return {name: read_run(run) if isinstance(run, str | Path) else run for name, run in (runs or {}).items()}
