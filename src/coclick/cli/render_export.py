"""Print what an export wrote, what it left out, and what is lost in the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coclick.cli.terminal import print_table
from coclick.errors import counted


def export_summary(stats: Mapping[str, Any]) -> None:
    """Print what was exported, what was not, and the error of the engine's scores."""
    if "score_error" not in stats:
        _print_ranker(stats)
        return
    size = f"{stats['words']:,} words" if "words" in stats else f"{stats['dimensions']:,} dimensions"
    if "form" in stats:
        _print_shipped(stats, size)
        return
    error = stats["score_error"]
    rows = [
        ["documents", f"{stats['documents']:,} with {stats['weights']:,} weights of {size}"],
        ["queries", f"{stats['queries']:,}"],
        *(
            [f"changes of {what}", ", ".join(f"{count:,} {how}" for how, count in counts.items())]
            for what, counts in stats.get("changes", {}).items()
        ),
        *_not_written(stats),
        *_left_out(stats),
        ["score error", f"mean {error['mean']:.2g}, max {error['largest']:.2g}"],
        ["relative to the best score", f"max {error['largest_of_best_score']:.2g}"],
        ["our top 10 in the engine's", f"{error['of_our_top_10_in_theirs']:.2%}"],
    ]
    print_table(f"{stats['model']} for {stats['engine']}", ["", ""], rows)


def _left_out(stats: Mapping[str, Any]) -> list[list[str]]:
    reasons = stats["left_out"].items()
    return [
        ["left out", f"{count:,} {why.replace('documents', 'document', 1) if count == 1 else why}"]
        for why, count in reasons
    ]


def _not_written(stats: Mapping[str, Any]) -> list[list[str]]:
    found = stats.get("not_written")
    if found is None:
        return []
    moved = f"{found['largest_movement']:.3g} of the length (limit {found['limit']:g})"
    return [
        ["changed, but not written", f"{counted(found['documents'], 'document')}, moved by at most {moved}"]
    ]


def _print_shipped(stats: Mapping[str, Any], size: str) -> None:
    loss = stats.get("loss", {"not_measured": "--no-measure"})
    figures = [
        [
            f"{loss['measure']}, {name}",
            f"{part['in_coclick']:.3f} in coclick, {part['as_shipped']:.3f} as shipped "
            f"({counted(part['queries'], 'query')})",
        ]
        for name, part in (("all", loss), ("known", loss.get("known")), ("others", loss.get("unknown")))
        if "not_measured" not in loss and part["queries"]
    ]
    rows = [
        ["documents", f"{stats['documents']:,} with {stats['weights']:,} weights of {size}"],
        ["known queries", f"{stats['queries']:,}, with the rankings of the model"],
        ["other queries", f"by {stats['signals']}, weights learned from held-out clicks"],
        *_not_written(stats),
        *_left_out(stats),
        *(figures or [["loss", f"not measured: {loss['not_measured']}"]]),
    ]
    print_table(f"{stats['model']} for {stats['engine']}", ["", ""], rows)


def _print_ranker(stats: Mapping[str, Any]) -> None:
    rows = []
    if "trees" in stats:
        rows += [
            ["trees", f"{stats['trees']:,} over {len(stats['features'])} features of the engine"],
            ["documents", f"{stats['documents']:,}"],
        ]
        loss = stats.get("loss", {"not_measured": "--no-measure"})
        if "not_measured" in loss:
            rows.append(["loss", f"not measured: {loss['not_measured']}"])
        else:
            shipped = f"{loss['in_coclick']:.3f} in coclick, {loss['as_shipped']:.3f} with these trees"
            rows.append([loss["measure"], f"{shipped} ({counted(loss['queries'], 'query')})"])
    else:
        rows.append(["wiring", "README.md, rerank.py, request.json"])
    print_table(f"{stats['model']} for {stats['engine']}", ["", ""], rows)
