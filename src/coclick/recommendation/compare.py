"""`compare`: evaluate the models that suit a log within a time budget, and recommend one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from coclick.errors import UserError, check_whole
from coclick.evaluation.inputs import (
    EvaluationData,
    Graph,
    Models,
    Qrels,
    Queries,
    Runs,
    list_models,
    load_runs,
    open_graph,
)
from coclick.evaluation.leaderboard import Trainer
from coclick.evaluation.protocol import DEPTH, Protocol, evaluate_rankings
from coclick.evaluation.tasks import SEARCH, Task, find_task
from coclick.exporters.targets import find_target
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model
from coclick.progress import Progress, quiet
from coclick.recommendation.budget import DEFAULT, Budget
from coclick.recommendation.candidates import Candidates, combine_best, select_models
from coclick.recommendation.comparison import Comparison
from coclick.recommendation.reranking import has_shown, with_shown
from coclick.recommendation.schedule import Schedule
from coclick.recommendation.splits import Split
from coclick.recommendation.updates import Update

Names = str | Sequence[str]


def compare(
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
    task: str = "search",
    target: str | None = None,
    only: Names = (),
    skip: Names = (),
    budget: str | float | None = DEFAULT,
    on_update: Callable[[Update], None] = lambda update: None,
    progress: Progress = quiet,
) -> Comparison:
    """Evaluate the models that suit the graph within a time budget, and recommend one.

    Without judgments, models are judged by the clicks of the last days, if the graph has days, and also by
    held-out queries; the first decides.

    Parameters:
        graph: the click graph to train on, or its directory.
        models: models to evaluate in addition to the default ones.
        qrels, queries, holdout, runs, candidates, gain, depth, progress: as in `evaluate`.
        task: what models are judged on; `search` ranks documents.
        target: where the model will be used: `serve`, `rerank` (it orders what an engine has found: the
            judged documents or, without judgments, those that the log has shown), or an engine to export to,
            such as `opensearch`. Only models that can be used there are recommended.
        only: evaluate only these models: names (`vpcg`: all its variants) or specifications.
        skip: do not evaluate these models.
        budget: how long it may take, such as `90s` or `3m`; None is no limit. Cheap models are evaluated
            first, others if there is time. Those in `models` and `only` are evaluated in any case.
        on_update: called with an `Update` for each model: a line of text and the comparison so far.

    Returns a `Comparison`: `recommended` is the specification to pass to `coclick.train`, `reason` says why,
    `left_out` maps other models to the reason, `leaderboard` has the results, `boards` those of all splits,
    `write_html(path)` writes the report.
    """
    clock = Budget(budget)
    judged, target = find_task(task), None if target is None else find_target(target)
    given = list_models(models)
    check_whole(depth, "depth", 1)
    opened = open_graph(graph)
    data = load_splits(judged, opened, qrels, queries, holdout)
    if target == "rerank" and judged is SEARCH and (qrels is not None or has_shown(opened)):
        candidates = "judged"
        if qrels is None:
            data = {name: with_shown(opened, one) for name, one in data.items()}
    splits = []
    for name, one in data.items():
        protocol = Protocol(candidates, gain, depth, one.source, judged)
        protocol.check(one.train, one.judgments)
        trainer = Trainer(one.train, clock.stop_late(progress), open_saved=one.source == "judgments")
        splits.append(Split(name, one, protocol, trainer))
    only, skip = ([names] if isinstance(names, str) else list(names) for names in (only, skip))
    chosen, left_out = select_models(splits[0].data.train, judged, only, skip)
    own = [splits[0].trainer.use(one) if isinstance(one, Model) else one for one in given]
    splits[0].trainer.check(own)
    _add_runs(splits, runs, [*chosen, *own])
    schedule = Schedule(
        splits,
        weights_of(judged, opened, data),
        Candidates(list(dict.fromkeys([*own, *chosen])), left_out),
        {*own, *(chosen if only else ())},
        clock,
        target,
        combine=lambda ordered: [] if only else combine_best(ordered, skip),
        on_update=on_update,
    )
    return schedule.run()


def load_splits(
    task: Task, graph: ClickGraph, qrels: Qrels | None, queries: Queries | None, holdout: str | None
) -> dict[str, EvaluationData]:
    """Return the data of each split by its name; the one that decides comes first."""
    if qrels is not None or queries is not None or holdout is not None:
        name = "judgments" if holdout is None or qrels is not None else holdout.partition(":")[0]
        return {name: task.load(graph, qrels, queries, holdout)}
    found: dict[str, EvaluationData] = {}
    errors = []
    for rule in task.holdouts(graph):
        try:
            found[rule.partition(":")[0]] = task.load(graph, None, None, rule)
        except UserError as error:  # such as a log of a single day
            errors.append(error)
    if not found:
        raise errors[0]
    return found


def weights_of(task: Task, graph: ClickGraph, data: Mapping[str, EvaluationData]) -> dict[str, float]:
    """Return the weights of the splits that decide; one alone always does."""
    rules = {rule.partition(":")[0]: weight for rule, weight in task.holdouts(graph).items()}
    weights = {name: rules.get(name, 0.0) for name in data}
    if len(data) == 1 or not any(weights.values()):
        return {next(iter(data)): 1.0}
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items()}


def _add_runs(splits: Sequence[Split], runs: Runs | None, specs: Sequence[str]) -> None:
    """Measure the rankings of other systems; a split whose queries they do not have goes without."""
    for name, run in load_runs(runs).items():
        if name in specs:
            raise UserError(f"a run and a model are both called {name!r}", hint="give the run another name")
        for split in splits:
            try:
                split.results.append(evaluate_rankings(name, run, split.data.judgments, split.protocol))
            except UserError:
                if split is splits[0]:
                    raise
