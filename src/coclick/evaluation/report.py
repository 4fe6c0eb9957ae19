"""One HTML page of everything that a leaderboard found: self-contained, to be opened, mailed and kept.

Here the figures are gathered; the files in `page/` draw them. They travel as JSON inside the page, and the
scripts make nodes of text, never HTML, so that a query that looks like markup stays a query.
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
from coclick.evaluation.leaderboard import Board
from coclick.evaluation.protocol import Trial
from coclick.evaluation.separability import separability
from coclick.storage.directories import write_file

SHOWN = 10  # results of each ranking
MOST_RESULTS = 40_000  # on a page, of all models and queries: that keeps it below 5 MB
_LONGEST = 80  # characters of a title or a query
_SCRIPTS = (  # each after those that it imports
    "nodes.js",
    "protocol.js",
    "leaderboard.js",
    "significance.js",
    "breakdown.js",
    "separability.js",
    "importance.js",
    "training.js",
    "queries.js",
    "sections.js",
    "page.js",
)
_MODULE_WORDS = re.compile(r"^(?:import [^;]*;\n|export )", re.MULTILINE)
_DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)


def write_report(board: Board, path: Path, figures: Mapping[str, Any] | None = None) -> None:
    """Write the page; `figures` are `to_dict()` of the board or of a comparison, where they exist already."""
    write_file(path, [page(board, figures or board.to_dict())])


def page(board: Board, figures: Mapping[str, Any]) -> str:
    """The page's text."""
    parts = files("coclick.evaluation") / "page"

    def part(name: str) -> str:
        return (parts / name).read_text(encoding="utf-8")

    return Template(part("page.html")).substitute(
        style=part("style.css"),
        script="\n".join(_in_one_scope(part(name)) for name in _SCRIPTS),
        data=_inside_html(gather(board, figures)),
    )


def read_report(path: Path) -> dict[str, Any]:
    """The figures that a written page holds."""
    found = _DATA.search(path.read_text(encoding="utf-8"))
    if found is None:
        raise UserError(
            "this is not a report of coclick",
            where=str(path),
            hint="make one: coclick compare GRAPH --html report.html",
        )
    return json.loads(found[1])


def gather(board: Board, figures: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that the page draws, models in their order on the leaderboard."""
    ordered = board.ordered()
    by_name = {model["name"]: model for model in figures["models"]}
    return {
        **figures,
        "version": __version__,
        "models": [{**by_name[trial.name], **_details(board, trial)} for trial in ordered],
        **_queries(board, ordered),
    }


def _details(board: Board, trial: Trial) -> dict[str, Any]:
    """What the page shows of a model beyond the leaderboard's figures."""
    details: dict[str, Any] = {"importance": trial.importance, "training": _training(trial.training)}
    if trial.scores:
        curves, in_order = separability(board.judgments.grades, trial.scores)
        details["separability"] = {
            "in_order": in_order,
            "curves": [
                {"grade": grade, "scores": [round(score, 4) for score in curve]}
                for grade, curve in curves.items()
            ],
        }
    return details


def _training(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Figures of a training without its long lists."""
    views = {
        name: {key: value for key, value in view.items() if not isinstance(value, list)}
        for name, view in figures.get("views", {}).items()
    }
    return {**figures, **({"views": views} if views else {})}


def _queries(board: Board, ordered: list[Trial]) -> dict[str, Any]:
    """Each query's value by each model; rankings of the queries on which models differ most."""
    values = np.stack([trial.values() for trial in ordered])
    room = MOST_RESULTS // (len(ordered) * SHOWN)
    with_rankings = set(np.argsort(values.min(axis=0) - values.max(axis=0), kind="stable")[:room].tolist())
    places: dict[str, int] = {}  # of documents, by the order in which they are met
    queries = []
    for i, (query, text) in enumerate(board.judgments.queries.items()):
        row: dict[str, Any] = {"text": _cut(text), "values": values[:, i].round(6).tolist()}
        if i in with_rankings:
            found = [trial.rankings.get(query, [])[:SHOWN] for trial in ordered]
            row["rankings"] = [[places.setdefault(doc, len(places)) for doc in docs] for docs in found]
            grades = board.judgments.grades[query]
            row["grades"] = {places[doc]: grades[doc] for docs in found for doc in docs if doc in grades}
        queries.append(row)
    rows = board.graph.docs.lookup(list(places)).tolist() if places else []
    titles = [_cut(board.graph.title(row)) if row >= 0 else "" for row in rows]
    highest = max(max(found.values()) for found in board.judgments.grades.values())
    return {
        "queries": queries,
        "docs": list(zip(places, titles, strict=True)),
        "highest_grade": highest,
    }


def _in_one_scope(module: str) -> str:
    """A module's text for a page that is one file: there, all of them share one scope."""
    return _MODULE_WORDS.sub("", module)


def _inside_html(data: Any) -> str:
    """JSON that cannot end the element it stands in; bytes that are no text stay escaped."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
