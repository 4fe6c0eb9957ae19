"""`compare`: evaluate every model that the graph supports, and recommend one.

The recommendation is the best model that backs off between signals (`backoff`, or `ltr`, which has evidence
among its features), unless a single model is significantly better. A single model may be as good on the
judged queries, but it fails where its one signal is missing. If a single model is ahead, its combinations
with the second best are evaluated too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from coclick.errors import CoclickError, check_whole, counted
from coclick.evaluation.inputs import Graph, Models, Qrels, Queries, Runs, list_models, load_data, load_runs
from coclick.evaluation.leaderboard import Leaderboard, leaderboard
from coclick.evaluation.measures import MAIN_MEASURE
from coclick.evaluation.protocol import DEPTH, ModelResult, Protocol
from coclick.evaluation.significance import t_test
from coclick.graph.click_graph import ClickGraph
from coclick.models.registry import create, model_names
from coclick.progress import Progress, quiet

VARIANTS = ("vpcg(start=doc)", "vpcg(start=doc,units=words+chars,own_weight=1)", "pls(views=words)")
COMBINATIONS = (
    "0.8*rw + 0.2*bm25",
    "backoff(neighbours + vpcg + bm25)",
    "backoff(vpcg(start=doc,units=words+chars,own_weight=1) + vsm)",
    "backoff(pls(views=words) + vsm)",
)
ROBUST = ("backoff", "ltr")
_NEED_PARTS = ("mix", "backoff")  # models that need parts
_SIGNIFICANCE_LEVEL = 0.05
_SECOND_WEIGHTS = (1, 0.5, 0.2)  # of the second best model; the best has weight 1


@dataclass(frozen=True)
class Comparison:
    """A leaderboard, the models that were left out and why, and the recommended model."""

    leaderboard: Leaderboard
    left_out: dict[str, str]
    recommended: str
    reason: str

    def __repr__(self) -> str:
        models = counted(len(self.leaderboard.results), "model")
        return f"Comparison({models}, recommended: {self.recommended}, {len(self.left_out)} left out)"

    def to_dict(self) -> dict[str, Any]:
        """Return `Leaderboard.to_dict()` with the recommendation, as `coclick compare --json` writes it."""
        recommendation = {"model": self.recommended, "reason": self.reason}
        return {**self.leaderboard.to_dict(), "left_out": self.left_out, "recommendation": recommendation}

    def write_html(self, path: str | Path) -> None:
        """Write the report, one self-contained HTML page."""
        from coclick.evaluation.report import write_report

        write_report(self.leaderboard, path, self.to_dict())


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
    progress: Progress = quiet,
) -> Comparison:
    """Evaluate every model that the graph and the machine support, and recommend one.

    Parameters:
        graph: the click graph to train on, or its directory.
        models: models to evaluate in addition to the default ones, such as those that are left out because
            they are slow. To evaluate only some models, use `evaluate`.
        qrels, queries, holdout, runs, candidates, gain, depth, progress: as in `evaluate`.

    Returns a `Comparison`: `recommended` is the specification to pass to `coclick.train`, `reason` says why,
    `left_out` maps other models to the reason, `leaderboard` has all results, `write_html(path)` writes the
    report.
    """
    given = list_models(models)
    check_whole(depth, "depth", 1)
    data = load_data(graph, qrels, queries, holdout)
    protocol = Protocol(candidates, gain, depth, data.source)
    rankings = load_runs(runs)
    chosen, left_out = select_models(data.train)
    specs = [*chosen, *given]
    optional = {*chosen} - {*map(str, given)}
    board = leaderboard(
        data.train, data.judgments, specs, progress, protocol=protocol, runs=rankings, optional=optional
    )

    def trained() -> list[ModelResult]:
        return [result for result in board.ordered() if result.name not in rankings]

    if not recommend(trained())[0].startswith(ROBUST) and (combined := combine_two_best(board.ordered())):
        more = leaderboard(data.train, data.judgments, combined, progress, protocol=protocol)
        board.results.extend(more.results)
    return Comparison(board, {**left_out, **board.left_out}, *recommend(trained()))


def select_models(graph: ClickGraph) -> tuple[list[str], dict[str, str]]:
    """Return the models that this graph and machine support, and the others with the reason."""
    known = [name for name in model_names() if name not in _NEED_PARTS]
    chosen, left_out = [], {}
    for spec in [*known, *VARIANTS, *COMBINATIONS]:
        try:
            model = create(spec)
            model.check_requirements(graph)
        except CoclickError as error:
            left_out[spec] = error.reason
            continue
        if len(graph.docs) > model.max_docs:
            left_out[spec] = f"too slow for more than {model.max_docs:,} documents; name it to include it"
        else:
            chosen.append(str(model))
    return chosen, left_out


def combine_two_best(ordered: Sequence[ModelResult]) -> list[str]:
    """Return models that back off from the best single model to the second best."""
    singles = [result.name for result in ordered if result.name.split("(")[0] in model_names()]
    singles = [name for name in singles if not name.startswith(ROBUST)]
    if len(singles) < 2:
        return []
    return [str(create(f"backoff({singles[0]} + {weight}*{singles[1]})")) for weight in _SECOND_WEIGHTS]


def recommend(ordered: Sequence[ModelResult]) -> tuple[str, str]:
    """Return the recommended model and the reason; results are ordered, best first."""
    best = ordered[0]
    robust = next((result for result in ordered if result.name.startswith(ROBUST)), best)
    figure = f"{MAIN_MEASURE} {robust.values().mean():.3f}"
    if robust is best:
        return best.name, f"it ranks best ({figure})"
    # No correction for multiple tests: a model that backs off must hold even without it.
    if t_test(best.values() - robust.values()) < _SIGNIFICANCE_LEVEL:
        figure = f"{MAIN_MEASURE} {best.values().mean():.3f}"
        return best.name, f"it ranks best ({figure}), significantly better than models that back off"
    other = f"{best.name} {best.values().mean():.3f}"
    reason = f"it is not significantly worse than the best ({figure}, {other}), and it falls back on other"
    return robust.name, f"{reason} signals where one is missing"
