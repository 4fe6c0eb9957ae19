"""Every model that fits, one leaderboard, and a recommendation: what `coclick compare` does.

Recommended is a model that backs off by itself (`backoff`, or learning to rank with evidence among its
features), the best of those, unless some single model is better beyond chance: on the queries at hand a
single model may be as good, but it fails where its one signal is missing. Where a single model is ahead, it
is tried once more together with the second best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coclick.errors import CoclickError
from coclick.evaluation.holdout import hold_out
from coclick.evaluation.judgments import Judgments
from coclick.evaluation.leaderboard import Board, leaderboard
from coclick.evaluation.measures import MAIN
from coclick.evaluation.protocol import Protocol, Trial
from coclick.evaluation.significance import t_test
from coclick.graph.click_graph import ClickGraph
from coclick.models.registry import create, model_names
from coclick.progress import Progress, quiet

VARIANTS = ("vpcg(start=doc)", "vpcg(start=doc,units=words+chars,own_weight=1)", "pls(views=words)")
SUMS = (
    "0.8*rw + 0.2*bm25",
    "backoff(neighbours + vpcg + bm25)",
    "backoff(vpcg(start=doc,units=words+chars,own_weight=1) + vsm)",
    "backoff(pls(views=words) + vsm)",
)
ROBUST = ("backoff", "ltr")
_MIXES = ("mix", "backoff")  # names that stand for nothing without their parts
_LEVEL = 0.05
_SECOND = (1, 0.5, 0.2)  # weights of the second best beside the best


@dataclass(frozen=True)
class Comparison:
    """A leaderboard, the models that were left out and why, and the one to train."""

    board: Board
    left_out: dict[str, str]
    recommended: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """The leaderboard's values, and the recommendation."""
        advice = {"model": self.recommended, "reason": self.reason}
        return {**self.board.to_dict(), "left_out": self.left_out, "recommendation": advice}


def compare(
    graph: ClickGraph,
    judgments: Judgments | None = None,
    *,
    holdout: str | None = None,
    models: Sequence[str] = (),
    protocol: Protocol | None = None,
    runs: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    progress: Progress = quiet,
) -> Comparison:
    """Judge all models that this graph can feed and those asked for, by judgments or held-out clicks."""
    protocol = protocol or Protocol()
    if judgments is None:
        graph, judgments, rule = hold_out(graph, holdout)
        protocol = Protocol(protocol.candidates, protocol.gain, protocol.depth, f"held-out clicks, {rule}")
    chosen, left_out = choose(graph)
    board = leaderboard(graph, judgments, [*chosen, *models], progress, protocol=protocol, runs=runs)
    if not recommend(_models(board, runs))[0].startswith(ROBUST):
        together = two_best(board.ordered())
        if together:
            board.trials.extend(leaderboard(graph, judgments, together, progress, protocol=protocol).trials)
    return Comparison(board, left_out, *recommend(_models(board, runs)))


def _models(board: Board, runs: Mapping[str, Any] | None) -> list[Trial]:
    """What can be trained, best first: runs from elsewhere are judged, not recommended."""
    return [trial for trial in board.ordered() if trial.name not in (runs or {})]


def choose(graph: ClickGraph) -> tuple[list[str], dict[str, str]]:
    """The models that fit this graph and this machine; the others with what keeps them away."""
    known = [name for name in model_names() if name not in _MIXES]
    chosen, left_out = [], {}
    for spec in [*known, *VARIANTS, *SUMS]:
        try:
            model = create(spec)
            model.check_requirements(graph)
        except CoclickError as error:
            left_out[spec] = f"{error.what}; {error.hint}" if error.hint else error.what
            continue
        if len(graph.docs) > model.max_docs:
            left_out[spec] = f"too slow for more than {model.max_docs:,} documents; name it to include it"
        else:
            chosen.append(str(model))
    return chosen, left_out


def two_best(ordered: Sequence[Trial]) -> list[str]:
    """Models that back off from the best single model to the second best: two signals instead of one."""
    singles = [trial.name for trial in ordered if trial.name.split("(")[0] in model_names()]
    singles = [name for name in singles if not name.startswith(ROBUST)]
    if len(singles) < 2:
        return []
    return [str(create(f"backoff({singles[0]} + {weight}*{singles[1]})")) for weight in _SECOND]


def recommend(ordered: Sequence[Trial]) -> tuple[str, str]:
    """The specification of the model to train, and why it is that one; trials come best first."""
    best = ordered[0]
    robust = next((trial for trial in ordered if trial.name.startswith(ROBUST)), best)
    figure = f"{MAIN} {robust.values().mean():.3f}"
    if robust is best:
        return best.name, f"it ranks best ({figure})"
    # Not corrected for the number of models: what is recommended must not be worse even by that.
    if t_test(best.values() - robust.values()) < _LEVEL:
        figure = f"{MAIN} {best.values().mean():.3f}"
        return best.name, f"it ranks best ({figure}), beyond chance"
    return (
        robust.name,
        f"it is within chance of the best ({figure}, {best.name} {best.values().mean():.3f}), "
        "and falls back on other signals where one is missing",
    )
