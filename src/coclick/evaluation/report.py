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
from numpy.typing import NDArray

from coclick._version import __version__
from coclick.errors import UserError
from coclick.evaluation.leaderboard import Leaderboard
from coclick.evaluation.protocol import ModelResult
from coclick.evaluation.separability import separability
from coclick.evaluation.tasks import SEARCH
from coclick.storage.directories import write_file

SHOWN = 10  # results of each ranking
MAX_RANKINGS = 4_000_000  # bytes of all rankings and titles, which keeps a page below 5 MB
MAX_CLUSTERS, MAX_EXAMPLES = 10, 3  # of failing queries
_MAX_TEXT = 80  # characters of a title or a query
_SCRIPTS = (  # in the order of their imports
    "nodes protocol leaderboard significance breakdown separability importance training failing queries "
    "sections page"
)
_IMPORTS_AND_EXPORTS = re.compile(r"^(?:import [^;]*;\n|export )", re.MULTILINE)
_DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)


def write_report(
    board: Leaderboard,
    path: str | Path,
    stats: Mapping[str, Any] | None = None,
    failing: Mapping[str, Any] | None = None,
) -> None:
    """Write the report.

    `stats` is `to_dict()` of the leaderboard, which is the default, or of a comparison. `failing` is what
    `coclick.failing.find_failing` returns, for a section of failing queries.
    """
    write_file(Path(path), render_page(board, stats or board.to_dict(), failing))


def render_page(
    board: Leaderboard, stats: Mapping[str, Any], failing: Mapping[str, Any] | None = None
) -> str:
    """Return the HTML of the report."""
    parts = files("coclick.evaluation") / "page"

    def part(name: str) -> str:
        return (parts / name).read_text(encoding="utf-8")

    return Template(part("page.html")).substitute(
        style=part("style.css"),
        script="\n".join(_without_imports(part(f"{name}.js")) for name in _SCRIPTS.split()),
        data=_json_for_html(collect_data(board, stats) | _failing(failing)),
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


def _failing(found: Mapping[str, Any] | None) -> dict[str, Any]:
    """The largest clusters of failing queries, each with a few examples."""
    if found is None:
        return {}
    clusters = [
        {
            **{name: cluster[name] for name in ("queries", "searches", "failed", "fix")},
            "name": _truncate(cluster["name"]),
            "kinds": list(cluster["kinds"]),
            "examples": [_truncate(one["query"]) for one in cluster["examples"][1 : MAX_EXAMPLES + 1]],
        }
        for cluster in found["clusters"][:MAX_CLUSTERS]
    ]
    sizes = {**found["failing"], "counted": found["counted"], "all_clusters": len(found["clusters"])}
    return {"failing": {**sizes, "clusters": clusters}}


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
    docs = _Docs(board)
    rankings = _rankings(board, ordered, values, docs)
    queries = [
        {"text": _truncate(text), "values": values[:, i].round(6).tolist(), **rankings.get(query, {})}
        for i, (query, text) in enumerate(board.judgments.queries.items())
    ]
    highest = max(max(found.values()) for found in board.judgments.grades.values())
    return {"queries": queries, "docs": docs.shown, "highest_grade": highest}


def _rankings(
    board: Leaderboard, ordered: list[ModelResult], values: NDArray[np.float64], docs: _Docs
) -> dict[str, dict[str, Any]]:
    """The rankings by query, those on which models differ most first, until the page is full."""
    found: dict[str, dict[str, Any]] = {}
    queries = list(board.judgments.queries)
    written = 0
    for i in np.argsort(values.min(axis=0) - values.max(axis=0), kind="stable").tolist():
        rankings = [
            [docs.position(doc) for doc in result.rankings.get(queries[i], [])[:SHOWN]] for result in ordered
        ]
        grades = board.judgments.grades[queries[i]]
        shown = {place: docs.shown[place][0] for ranking in rankings for place in ranking}
        row = {
            "rankings": rankings,
            "grades": {place: grades[doc] for place, doc in shown.items() if doc in grades},
        }
        written += len(json.dumps(row, separators=(",", ":")))
        if written + docs.size > MAX_RANKINGS:
            break
        found[queries[i]] = row
    return found


class _Docs:
    """The documents of the rankings, each once, with its title."""

    def __init__(self, board: Leaderboard) -> None:
        self._graph = board.graph if board.protocol.task is SEARCH else None  # else they are queries
        self._positions: dict[str, int] = {}
        self.shown: list[tuple[str, str]] = []
        self.size = 0  # in bytes, as JSON

    def position(self, doc: str) -> int:
        """Return the position of a document in `shown`, to which it is added."""
        position = self._positions.setdefault(doc, len(self.shown))
        if position == len(self.shown):
            self.shown.append((doc, _truncate(self._graph.title(doc)) if self._graph else ""))
            self.size += len(_json_for_html(self.shown[-1]).encode()) + 1
        return position


def _without_imports(module: str) -> str:
    """A script without imports and exports: in the page, all scripts share one scope."""
    return _IMPORTS_AND_EXPORTS.sub("", module)


def _json_for_html(data: Any) -> str:
    """JSON that cannot close the script element; lone surrogates stay escaped."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _truncate(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"
