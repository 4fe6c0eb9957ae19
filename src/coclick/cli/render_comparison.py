"""Print a comparison: models with quality, cost and what they offer, and the recommendation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from coclick.cli.terminal import console, one_line, print_table
from coclick.errors import counted

if TYPE_CHECKING:
    from coclick.recommendation.comparison import Comparison

_LEVEL = 0.05
_SHOWN = 10  # models of a short table
_NAME = 60  # characters of a model in a short table
_NOT_ENGINES = ("serve", "rerank")


def comparison(stats: Mapping[str, Any], command: str | None) -> None:
    """Print the models, best first, what was left out and why, and the recommendation."""
    main, splits = (
        stats["protocol"]["main_measure"],
        [split["name"] for split in stats["splits"] if split["models"]],
    )
    ordered = sorted(stats["models"], key=lambda model: -model.get("quality", model["measures"][main]))
    rows = [
        [
            model["name"],
            *(_quality(model["splits"].get(split), main) for split in splits),
            "{:.3f}–{:.3f}".format(*model["interval"]),
            "*" if model.get("p_best", 1) < _LEVEL else "",
            *_offers(model),
        ]
        for model in ordered
    ]
    offers = ("training", "search", "exports to", "new docs", "explains")
    heads = ["model", *splits, f"95 %, {splits[0]}", "", *offers]
    print_table(_title(stats), heads, rows)
    console().print(f"{main}; * significantly worse than the best by {_deciding(stats)}", style="dim")
    _list_engines(ordered)
    for warning in stats["protocol"]["warnings"]:
        console().print(f"note: {escape(warning)}", style="dim")
    for split in stats["splits"][1:]:
        if missing := len(ordered) - split["models"]:
            why = "the budget was used up" if stats["budget"]["complete"] else "interrupted"
            models = f"{counted(missing, 'model')} {'was' if missing == 1 else 'were'}"
            console().print(f"note: {models} not judged by {split['name']}: {why}", style="dim")
    _left_out(stats)
    _recommendation(stats, command)


def _left_out(stats: Mapping[str, Any]) -> None:
    """Print which models were not evaluated, and why; those without time together."""
    budget = stats["budget"]
    by_reason: dict[str, list[str]] = {}
    for spec, why in stats["left_out"].items():
        if spec not in budget["left_out"]:
            by_reason.setdefault(why, []).append(spec)
    for why, specs in by_reason.items():
        console().print(f"not evaluated: {escape(', '.join(specs))}: {escape(why)}", style="dim")
    if budget["left_out"]:
        models = ", ".join(f"{spec} ({seconds:.0f} s)" for spec, seconds in budget["left_out"].items())
        how = f"--budget {budget['enough']}, or --only with their names, includes them"
        why = f"the budget of {budget['seconds']:.0f} s did not suffice"
        console().print(f"not evaluated, because {why}: {escape(models)}; {how}", style="dim")


def short_table(found: Comparison) -> list[str]:
    """Return the leading models and the recommendation so far, as lines."""
    splits, entries = list(found.boards), found.entries()
    widths = max((len(one_line(entry.name, _NAME)) for entry in entries[:_SHOWN]), default=0)
    done = f"so far, {found.budget.used:.0f} s: {counted(len(entries), 'model')}"
    lines = [f"{done}, {', '.join(splits)}"]
    for entry in entries[:_SHOWN]:
        cells = [f"{entry.mean(split):.3f}" if split in entry.results else "     " for split in splits]
        costs = f"{entry.seconds:6.1f} s  {entry.properties.milliseconds:6.2f} ms"
        lines.append(f"  {one_line(entry.name, _NAME):<{widths}}  {'  '.join(cells)}  {costs}")
    if found.recommendation is not None:
        lines.append(f"  recommended so far: {one_line(found.recommended)}")
    return lines


def _title(stats: Mapping[str, Any]) -> str:
    protocol = stats["protocol"]
    judged = ", ".join(f"{counted(split['queries'], 'query')} ({split['name']})" for split in stats["splits"])
    by = "judgments" if protocol["judged_by"] == "judgments" else "held-out clicks"
    ranked = "full retrieval" if protocol["retrieval"] == "full" else protocol["retrieval"]
    what = "query" if protocol["task"] == "similar" else "document"
    return f"{judged}; judged by {by}; {counted(protocol['ranked'], what)}, {ranked}"


def _deciding(stats: Mapping[str, Any]) -> str:
    """The splits that decide, with their weights if there are several."""
    weights = {split["name"]: split["weight"] for split in stats["splits"] if split["weight"]}
    if len(weights) == 1:
        return next(iter(weights))
    return " and ".join(f"{name} ({weight:.0%})" for name, weight in weights.items())


def _quality(split: Mapping[str, Any] | None, main: str) -> str:
    return "" if split is None else f"{split[main]:.3f}"


def _offers(model: Mapping[str, Any]) -> list[str]:
    """Cells: training time, time of a search, exports, new documents, explanations; empty for runs."""
    if "milliseconds" not in model:
        return ["", "", "", "", ""]
    engines = _engines(model)
    exports = counted(len(engines), "engine") if engines else "–"
    new, explains = ("yes" if model[key] else "–" for key in ("takes_new_documents", "explains"))
    return [f"{model['seconds']:.1f} s", f"{model['milliseconds']:.2f} ms", exports, new, explains]


def _engines(model: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(target for target in model.get("targets", ()) if target not in _NOT_ENGINES)


def _list_engines(models: Sequence[Mapping[str, Any]]) -> None:
    """Print the names of the engines that the table counts."""
    for engines in sorted({_engines(model) for model in models} - {()}, key=len):
        console().print(f"{counted(len(engines), 'engine')}: {', '.join(engines)}", style="dim")


def _recommendation(stats: Mapping[str, Any], command: str | None) -> None:
    advice = stats["recommendation"]
    if not stats["budget"]["complete"]:
        console().print("interrupted: these are the results so far")
    if advice is None:
        return
    where = f" for {advice['target']}" if advice["target"] else ""
    console().print(f"\nrecommended{where}: [bold]{escape(advice['model'])}[/]: {escape(advice['reason'])}")
    if advice["prices"]:
        console().print(f"what quality costs, {escape(advice['prices'])}")
    if command:
        console().print(f"  {escape(command)}", soft_wrap=True)
