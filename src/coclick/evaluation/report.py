"""The HTML report of a leaderboard: one self-contained page.

This module collects the data; the scripts in `page/` draw it. The data is embedded in the page as JSON, and
the scripts create text nodes, never HTML, so that a query that looks like markup is shown as text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from coclick._version import __version__
from coclick.errors import UserError
from coclick.evaluation.leaderboard import Leaderboard
from coclick.evaluation.protocol import ModelResult
from coclick.evaluation.separability import separability
from coclick.evaluation.tasks import SEARCH
from coclick.storage.directories import write_file

SHOWN = 10  # results of each ranking
MAX_RESULTS = 40_000  # of all models and queries, which keeps the page below 5 MB
_MAX_TEXT = 80  # characters of a title or a query
_SCRIPTS = (  # in the order of their imports
    "nodes protocol leaderboard significance breakdown separability importance training queries sections page"
)
_IMPORTS_AND_EXPORTS = re.compile(r"^(?:import [^;]*;\n|export )", re.MULTILINE)
_DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)


def write_report(board: Leaderboard, path: str | Path, stats: Mapping[str, Any] | None = None) -> None:
    """Write the report.

    `stats` is `to_dict()` of the leaderboard, which is the default, or of a comparison.
    """
    write_file(Path(path), render_page(board, stats or board.to_dict()))


def render_page(board: Leaderboard, stats: Mapping[str, Any]) -> str:
    """Return the HTML of the report."""
    parts = files("coclick.evaluation") / "page"

    def part(name: str) -> str:
        return (parts / name).read_text(encoding="utf-8")

    return Template(part("page.html")).substitute(
        style=part("style.css"),
        script="\n".join(_without_imports(part(f"{name}.js")) for name in _SCRIPTS.split()),
        data=_json_for_html(collect_data(board, stats)),
    )


def read_report(path: Path) -> dict[str, Any]:
    """Return the data of a written report."""
    found = _DATA.search(path.read_text(encoding="utf-8"))
    if found is None:
        raise UserError(
            "this is not a coclick report",
            where=str(path),
            hint="write one with: coclick compare GRAPH --html report.html",
        )
    return json.loads(found[1])


def collect_data(board: Leaderboard, stats: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of the page, with models in the order of the leaderboard."""
    ordered = board.ordered()
    by_name = {model["name"]: model for model in stats["models"]}
    return {
        **stats,
        "version": __version__,
        "models": [{**by_name[result.name], **_details(board, result)} for result in ordered],
        **_queries(board, ordered),
    }


def _details(board: Leaderboard, result: ModelResult) -> dict[str, Any]:
    """What the page shows of a model in addition to the leaderboard."""
    details: dict[str, Any] = {"importance": result.importance, "training": _training(result.training)}
    if result.scores:
        curves, in_order = separability(board.judgments.grades, result.scores)
        rounded = {grade: [round(score, 4) for score in curve] for grade, curve in curves.items()}
        points = [{"grade": grade, "scores": scores} for grade, scores in rounded.items()]
        details["separability"] = {"in_order": in_order, "curves": points}
    return details


def _training(stats: Mapping[str, Any]) -> dict[str, Any]:
    """Training statistics without long lists."""
    views = {
        name: {key: value for key, value in view.items() if not isinstance(value, list)}
        for name, view in stats.get("views", {}).items()
    }
    return {**stats, **({"views": views} if views else {})}


def _queries(board: Leaderboard, ordered: list[ModelResult]) -> dict[str, Any]:
    """The main measure of each query and model; rankings for the queries on which models differ most."""
    values = np.stack([result.values() for result in ordered])
    limit = MAX_RESULTS // (len(ordered) * SHOWN)
    with_rankings = set(np.argsort(values.min(axis=0) - values.max(axis=0), kind="stable")[:limit].tolist())
    positions: dict[str, int] = {}  # document → position in `docs`
    queries = []
    for i, (query, text) in enumerate(board.judgments.queries.items()):
        row: dict[str, Any] = {"text": _truncate(text), "values": values[:, i].round(6).tolist()}
        if i in with_rankings:
            found = [result.rankings.get(query, [])[:SHOWN] for result in ordered]
            row["rankings"] = [[positions.setdefault(doc, len(positions)) for doc in docs] for docs in found]
            grades = board.judgments.grades[query]
            row["grades"] = {positions[doc]: grades[doc] for docs in found for doc in docs if doc in grades}
        queries.append(row)
    titles = [""] * len(positions)
    if positions and board.protocol.task is SEARCH:
        rows = board.graph.docs.lookup(list(positions)).tolist()
        titles = [_truncate(board.graph.title(row)) if row >= 0 else "" for row in rows]
    highest = max(max(found.values()) for found in board.judgments.grades.values())
    return {"queries": queries, "docs": list(zip(positions, titles, strict=True)), "highest_grade": highest}


def _without_imports(module: str) -> str:
    """A script without imports and exports: in the page, all scripts share one scope."""
    return _IMPORTS_AND_EXPORTS.sub("", module)


def _json_for_html(data: Any) -> str:
    """JSON that cannot close the script element; lone surrogates stay escaped."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _truncate(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"
