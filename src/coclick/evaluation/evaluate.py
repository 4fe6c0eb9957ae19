"""`evaluate`: measure some models by judgments, or by held-out clicks."""

from __future__ import annotations

from typing import Literal

from coclick.errors import check_whole
from coclick.evaluation.inputs import Graph, Models, Qrels, Queries, Runs, list_models, load_runs
from coclick.evaluation.leaderboard import Leaderboard, leaderboard
from coclick.evaluation.protocol import DEPTH, Protocol
from coclick.evaluation.tasks import find_task
from coclick.progress import Progress, quiet


def evaluate(
    graph: Graph,
    models: Models = (),
    *,
    qrels: Qrels | None = None,
    queries: Queries | None = None,
    holdout: str | None = None,
    runs: Runs | None = None,
    candidates: Literal["all", "judged"] = "all",
    gain: Literal["linear", "exponential"] = "linear",
    depth: int = DEPTH,
    task: Literal["search", "similar"] = "search",
    progress: Progress = quiet,
) -> Leaderboard:
    """Train models on a graph and measure them by judgments or, without any, by held-out clicks.

    Parameters:
        graph: the click graph to train on, or its directory.
        models: specifications such as `"vpcg(start=doc)"` or `"0.8*rw + 0.2*bm25"`, directories of saved
            models, or models; trained ones must have been trained on this graph.
        qrels: a file of judgments, a mapping {query: {document: grade}}, a table with columns query, doc and
            grade, or `Judgments`.
        queries: the texts of the queries in `qrels`, as a file `id<TAB>text` or a mapping {id: text}. Without
            it, `qrels` names queries by their texts.
        holdout: without `qrels`, the clicks to hold out: `time:0.2` or `queries:0.2`.
        runs: rankings of other systems by name, as TREC run files or mappings {query: documents, best first}.
        candidates: `all` ranks all documents, `judged` only the judged documents of each query.
        gain: the gain of nDCG: `linear`, or `exponential` (2^grade − 1).
        depth: how many results of each query are measured.
        task: `search` ranks documents; `similar` ranks the queries of the log by their similarity to a query:
            `qrels` then has grades of queries instead of documents.
        progress: called for each step of the work.

    Returns a `Leaderboard`: `ordered()` has the models, best first; `to_dict()` all measures, breakdowns and
    significance tests; `write_html(path)` writes the report.
    """
    given = list_models(models)
    check_whole(depth, "depth", 1)
    judged_on = find_task(task)
    data = judged_on.load(graph, qrels, queries, holdout)
    protocol = Protocol(candidates, gain, depth, data.source, judged_on)
    return leaderboard(data.train, data.judgments, given, progress, protocol=protocol, runs=load_runs(runs))
