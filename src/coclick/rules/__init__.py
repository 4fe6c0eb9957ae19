"""Rules for search engines, learned from clicks and reviewed by a person.

`find_rules(graph)` finds synonyms, spelling corrections, rewrites, deletes, pins and excludes with evidence;
`write_rules` writes them for an engine; `load_review` and `decide` read and change the file in which a
person accepts or rejects them.
"""

from __future__ import annotations

from pathlib import Path

from coclick.errors import UserError, check_number
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model
from coclick.progress import Progress, quiet
from coclick.rules.mining import mine
from coclick.rules.replay import measure_effects
from coclick.rules.review import ReviewedRule, decide, load_review
from coclick.rules.rule import Effect, Rule
from coclick.rules.writing import FORMATS, write_rules
from coclick.storage.artefact import Artefact
from coclick.storage.manifest import with_article

__all__ = [
    "FORMATS",
    "Effect",
    "ReviewedRule",
    "Rule",
    "decide",
    "find_rules",
    "load_review",
    "write_rules",
]


def find_rules(
    source: ClickGraph | Model | str | Path,
    *,
    min_clicks: float = 10,
    min_share: float = 0.5,
    replay: bool = True,
    holdout: str | None = None,
    progress: Progress = quiet,
) -> list[Rule]:
    """Find synonyms, spelling corrections, rewrites, deletes, pins and excludes that a log supports.

    Parameters:
        source: a graph, a model, whose graph is used, or the directory of one.
        min_clicks: clicks of the queries that a rule applies to. Corrections need a fifth of them, and rules
            from follow-ups half as many searches that support them.
        min_share: share of these clicks that must support a synonym or rewrite: where its 95 % interval
            begins. Rules from follow-ups have a bound of their own.
        replay: measure what each rule changes on held-out clicks.
        holdout: clicks to hold out: `time:0.2` or `queries:0.2`; by time if the graph has days.
        progress: called for each step of the work.

    Returns a list of `Rule`, by kind and clicks.
    """
    if check_number(min_clicks, "min_clicks") < 1:
        raise UserError(f"min_clicks must be at least 1, not {min_clicks}")
    if not 0 <= check_number(min_share, "min_share") <= 1:
        raise UserError(f"min_share must be between 0 and 1, not {min_share}")
    graph = _graph(source)
    with progress("rules"):
        rules = mine(graph, min_clicks, min_share)
    if not replay:
        return rules
    with progress("replay"):
        return measure_effects(graph, rules, min_clicks, min_share, holdout)


def _graph(source: ClickGraph | Model | str | Path) -> ClickGraph:
    if isinstance(source, Model):
        return source.trained_on
    if isinstance(source, ClickGraph):
        return source
    if isinstance(source, str | Path):
        artefact = Artefact(Path(source))
        if artefact.kind not in ("graph", "model"):
            what = f"this is {with_article(artefact.kind)}, neither a graph nor a model"
            raise UserError(what, where=str(source))
        return ClickGraph.read(artefact)
    raise UserError(f"rules are found in a graph or a model, not in {source!r:.50}")
