"""The reports of an evaluation: tables, JSON and HTML pages, and the files of other systems' runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coclick.cli import arguments as args
from coclick.cli.terminal import output, say
from coclick.errors import UserError

if TYPE_CHECKING:
    from coclick.evaluation.leaderboard import Leaderboard
    from coclick.graph.click_graph import ClickGraph

STDOUT = Path("-")
_SIMILAR = "cos_clicks"  # finds similar queries without training


def prepare(graph: Path, threads: int | None, *outputs: Path | None) -> ClickGraph:
    """Set the threads, check that reports can be written, and open the graph."""
    from coclick.storage.directories import check_file

    for path in outputs:
        if path and path != STDOUT:
            check_file(path, force=True)
    return args.open_graph(graph, threads)


def run_files(given: list[str] | None) -> dict[str, str]:
    """Read `NAME=FILE` as {name: file}."""
    found = {}
    for text in given or []:
        name, equals, path = text.partition("=")
        if not equals or not name or not path:
            raise UserError(f"cannot read the run {text!r}", hint="write --run NAME=FILE")
        found[name] = path
    return found


def output_stats(stats: Any, path: Path | None, render: Callable[..., None], *arguments: Any) -> None:
    """Print the statistics for people or, if the path is `-`, as JSON; write other paths."""
    output(stats, path == STDOUT, render, stats, *arguments)
    if path and path != STDOUT:
        from coclick.storage.directories import write_json

        write_json(path, stats)


def write_page(board: Leaderboard, stats: Mapping[str, Any], path: Path | None, graph: ClickGraph) -> None:
    """Write the HTML report if there is a path for it, with the queries of the graph that fail."""
    if path:
        from coclick.evaluation.report import write_report

        write_report(board, path, stats, _failing(graph))
        say(f"wrote the report to {path}")


def _failing(graph: ClickGraph) -> dict[str, Any] | None:
    """The failing queries of a log with sessions."""
    if graph.searches is None and graph.followups is None:
        return None
    from coclick.failing import find_failing
    from coclick.progress import for_terminal

    return find_failing(graph, _SIMILAR, progress=for_terminal())
