"""Tables and bars in the terminal, for people; every one of them exists as JSON for machines."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from coclick.explanation import Behind, Explanation, Word

_IN_A_PIPE = 110  # columns, where no terminal says how wide it is
console = Console(highlight=False, width=None if sys.stdout.isatty() else _IN_A_PIPE)
_MEASURES = ("nDCG@10", "AP", "RR", "R@100")  # of a leaderboard; JSON has more
_LEVEL = 0.05
_BAR = 24  # characters of the longest bar
_WIDE = 80  # columns from which a tree has room for bars
_ANY_WIDTH = 10_000  # columns
_LONGEST = 200  # characters of a text in a heading
_STEPS = {"rounds": "rounds of propagation", "validation": "rounds tried on held-out clicks"}
_SPACES = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]+")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class Bar(NamedTuple):
    """A table's cell that draws a value; left out where the terminal is too narrow for the table."""

    value: float
    largest: float


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A plain table; numbers to the right."""
    rows = [list(row) for row in rows]
    if title:
        console.print(Text(_line(title), "bold"), no_wrap=True, overflow="ellipsis")
    drawn = _draw(columns, rows)
    if console.measure(drawn, options=console.options.update(max_width=_ANY_WIDTH)).maximum > console.width:
        kept = [i for i in range(len(columns)) if not any(isinstance(row[i], Bar) for row in rows)]
        drawn = _draw([columns[i] for i in kept], [[row[i] for i in kept] for row in rows])
    console.print(drawn)


def _draw(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    drawn = Table(show_header=any(columns), header_style="bold", box=None, pad_edge=False)
    for i, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[i], int | float) for row in rows)
        drawn.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*[_cell(value) for value in row])
    return drawn


def results(asked: str, found: Sequence[Mapping[str, Any]]) -> None:
    """Ranked documents or queries."""
    if not found:
        console.print(f"nothing found for {_quoted(asked)}")
        return
    names = [name for name in ("doc", "query", "title") if name in found[0]]
    rows = [[i + 1, float(hit["score"]), *(hit[name] for name in names)] for i, hit in enumerate(found)]
    table(asked, ["", "score", *names], rows)


def words(query: str, found: Sequence[Mapping[str, Any]]) -> None:
    """A query's vector as bars."""
    if not found:
        console.print(f"no word of {_quoted(query)} is known")
        return
    largest = max(word["weight"] for word in found)
    rows = [[word["word"], float(word["weight"]), Bar(word["weight"], largest)] for word in found]
    table(query, ["word", "weight", ""], rows)


def explanation(why: Explanation, title: str, words: int | None = None) -> None:
    """The words of a score, heaviest first, and the clicks behind them on both sides."""
    asked, doc, title = (escape(_line(text)) for text in (why.query, why.doc, title))
    head = f"[bold]{why.score:.4f}[/]  {asked} → {doc}  [dim]{title}[/]"
    if not why.parts:
        console.print(f"{head}\nquery and document share no word")
        return
    tree = Tree(head)
    largest = max(part.value for part in why.parts)
    sides: Sequence[Word | None] = why.words or [None] * len(why.parts)
    for part, word in list(zip(why.parts, sides, strict=True))[:words]:
        weights = f"[dim]= {word.query_weight:.3f} × {word.doc_weight:.3f}[/]" if word else ""
        bar = "" if console.width < _WIDE else _bar(Bar(part.value, largest)).ljust(_BAR) + " "
        branch = tree.add(f"{bar}[bold]{escape(_line(part.label))}[/] {part.value:.4f} {weights}")
        if word and word.query_clicks:
            _clicks(branch.add("[dim]in the query, from[/]"), Behind(word.query_clicks, word.query_edges))
        if part.clicks:
            _clicks(branch.add("[dim]in the document, from[/]"), Behind(part.clicks, part.edges))
    if rest := why.parts[words or len(why.parts) :]:
        tree.add(f"[dim]and {len(rest)} more words: {sum(part.value for part in rest):.4f}[/]")
    console.print(tree)


def graph_summary(figures: Mapping[str, Any]) -> None:
    """One line on a graph that was just built, and what was left aside."""
    console.print(
        f"[bold]{figures['queries']:,}[/] queries × [bold]{figures['docs']:,}[/] documents, "
        f"[bold]{figures['edges']:,}[/] clicked pairs, {figures['clicks']:,} clicks, "
        f"{_size(figures['bytes'])}"
    )
    built = figures["build"]
    if below := built.get("pairs_below_thresholds"):
        thresholds = f"--min-clicks {built['min_clicks']:g} or --min-users {built['min_users']}"
        console.print(f"clicked pairs left out, below {thresholds}: {below:,}")
    for key, rows in (("rejected", "rows"), ("docs_rejected", "documents")):
        if rejected := built.get(key):
            reasons = ", ".join(f"{reason} {count:,}" for reason, count in rejected.items())
            console.print(f"rejected {rows} are in rejects.parquet: {escape(reasons)}")


def view_summary(name: str, figures: Mapping[str, Any]) -> None:
    """What a view that was just added covers of its graph, and what was left aside."""
    view = figures["views"][name]
    for key, side in (("query", "queries"), ("doc", "docs")):
        shown = "documents" if side == "docs" else side
        console.print(
            f"[bold]{view[side]:,}[/] of {figures[side]:,} {shown} have features in {name}: "
            f"[bold]{view[f'{key}_features']:,}[/] different ones"
        )
        if unknown := view[f"unknown_{side}"]:
            console.print(f"{shown} that the graph does not have: {unknown:,}")
    if rejected := view["rejected"]:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in rejected.items())
        console.print(f"rejected rows are in rejects_{name}.parquet: {escape(reasons)}")


def model_summary(figures: Mapping[str, Any]) -> None:
    """A few lines on a model that was just trained."""
    console.print(f"[bold]{escape(figures['model'])}[/] {_size(figures['bytes'])}")
    if rounds := figures["training"].get("rounds"):
        _steps("rounds", rounds)


def info(figures: Mapping[str, Any]) -> None:
    """Everything known of a graph or a model."""
    table("", ["", ""], [[k, _short(v)] for k, v in figures.items() if not isinstance(v, dict | list)])
    for key, value in figures.items():
        if isinstance(value, dict) and "histogram" in value:
            _distribution(key.replace("_", " "), value)
    for key in ("parameters", "texts", "views", "build", "training"):
        if flat := [[name, _short(value)] for name, value in _flat(figures.get(key, {}))]:
            console.print()
            table(key, ["", ""], flat)
    for key in ("tables", "can"):
        if key in figures:
            console.print(f"\n[bold]{key}[/]  {', '.join(figures[key]).replace('_', ' ') or 'none'}")
    for key in ("rounds", "validation"):
        if steps := figures.get("training", {}).get(key):
            _steps(key, steps)


def models(rows: Sequence[Mapping[str, Any]]) -> None:
    """The registry."""

    def signature(parameters: Mapping[str, Any]) -> str:
        return ", ".join(f"{name}={_short(value)}" for name, value in parameters.items())

    table("", ["model", "what it is", "parameters"],
          [[row["name"], row["summary"], signature(row["parameters"])] for row in rows])  # fmt: skip


def leaderboard(board: Mapping[str, Any]) -> None:
    """Models by their main measure, best first, with what is certain about their order."""
    protocol, main = board["protocol"], board["protocol"]["main_measure"]
    ordered = sorted(board["models"], key=lambda model: -model["measures"][main])
    best = ordered[0]
    tests = [row for row in board["significance"] if row["measure"] == main and row["a"] == best["name"]]
    against = {row["b"]: row for row in tests}
    rows = [
        [
            model["name"],
            *(float(model["measures"][name]) for name in _MEASURES),
            "{:.3f}–{:.3f}".format(*model["interval"]),
            Bar(model["measures"][main], best["measures"][main] or 1),
            _versus(against.get(model["name"])),
            f"{model['seconds']:.1f} s" if model["seconds"] else "",
        ]
        for model in ordered
    ]
    by = protocol["judged_by"]
    asked = f"{protocol['queries']:,} " + (
        "judged queries" if by == "judgments" else f"queries judged by {by}"
    )
    ranked = "full retrieval" if protocol["retrieval"] == "full" else protocol["retrieval"]
    table(
        f"{asked}, {protocol['docs']:,} documents, {ranked}",
        ["model", *_MEASURES, "95 %", "", "the best is", "trained in"],
        rows,
    )
    for warning in protocol["warnings"]:
        console.print(f"note: {warning}", style="dim")
    for by, title in (
        ("query", "whether the log had the query"),
        ("document", "whether documents have clicks"),
    ):
        groups = best["breakdown"][by]
        if len(groups) > 1:
            console.print()
            table(
                f"{main} by {title}",
                ["model", *(f"{name} ({group['queries']:,})" for name, group in groups.items())],
                [[m["name"], *(float(m["breakdown"][by][name][main]) for name in groups)] for m in ordered],
            )


def _versus(test: Mapping[str, Any] | None) -> str:
    """How the best model compares with another: beyond chance or not, and on how many queries."""
    if test is None:
        return ""
    certain = "better" if test["p_holm"] < _LEVEL else "not surely better"
    return f"{certain} ({test['won']}–{test['tied']}–{test['lost']})"


def unit_table(rows: Sequence[Mapping[str, Any]]) -> None:
    """Table 5 of paper 003, with the ranking beside the cosine."""
    columns = [name for name in rows[0] if name != "method"]
    table(
        "vectors for held-out queries",
        ["method", *columns],
        [[r["method"], *(r[c] for c in columns)] for r in rows],
    )


def _steps(name: str, steps: Sequence[Mapping[str, Any]]) -> None:
    console.print()
    columns = [column.replace("_", " ") for column in steps[0]]
    table(_STEPS[name], columns, [list(step.values()) for step in steps])


def _distribution(name: str, value: Mapping[str, Any]) -> None:
    figures = f"mean {value['mean']}, median {value['median']}, p99 {value['p99']}, max {value['max']}"
    console.print(f"\n[bold]{name}[/]  [dim]{figures}[/]")
    largest = max((count for _, count in value["histogram"]), default=1)
    table("", ["", "", ""], [[label, count, Bar(count, largest)] for label, count in value["histogram"]])


def _clicks(branch: Tree, behind: Behind) -> None:
    for click in behind.clicks:
        edge = f"[cyan]{escape(_line(click.query))}[/] → {escape(_line(click.doc))}"
        counted = "1 click" if click.clicks == 1 else f"{click.clicks:g} clicks"
        branch.add(f"{click.share:6.1%}  {counted}  {edge}")
    if left_out := behind.edges - len(behind.clicks):
        branch.add(f"[dim]… and {left_out:,} more; --clicks 0 shows all[/]")


def _bar(bar: Bar) -> str:
    """A bar in eighths of a character."""
    eighths = round(8 * _BAR * bar.value / bar.largest) if bar.largest > 0 else 0
    return "█" * (eighths // 8) + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]


def _cell(value: Any) -> str:
    if isinstance(value, Bar):
        return _bar(value)
    return f"{value:.4f}" if isinstance(value, float) else escape(_line(_short(value), None))


def _short(value: Any) -> str:
    """A figure or a parameter as short as it can be read."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, dict):
        return ", ".join(f"{str(key).replace('_', ' ')} {_short(part)}" for key, part in value.items())
    if isinstance(value, list):
        return ", ".join(map(_short, value[:5])) + (" …" if len(value) > 5 else "")
    return str(value)


def _flat(figures: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Figures by name, those of figures under both names; without what is empty or has a table of its own."""
    for name, value in figures.items():
        if isinstance(value, dict) and any(isinstance(part, dict) for part in value.values()):
            yield from ((f"{name} {inner}", part) for inner, part in value.items())
        elif value not in ({}, []) and name not in _STEPS:
            yield name, value


def _line(text: str, most: int | None = _LONGEST) -> str:
    """Somebody's text on one line: control characters could move the cursor or worse."""
    clean = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", _SPACES.sub(" ", text))
    return clean if most is None or len(clean) <= most else f"{clean[:most]}…"


def _quoted(text: str) -> str:
    return escape(f"“{_line(text)}”")


def _size(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


def recommendation(comparison: Mapping[str, Any], command: str) -> None:
    """Which model to train, why, and how; and what was left out."""
    for spec, why in comparison["left_out"].items():
        console.print(f"left out {escape(spec)}: {escape(why)}", style="dim")
    advice = comparison["recommendation"]
    console.print(f"\nrecommended: [bold]{escape(advice['model'])}[/]: {escape(advice['reason'])}")
    console.print(f"  {escape(command)}", soft_wrap=True)


def tuning(found: Mapping[str, Any]) -> None:
    """The best variants, and what the choice is worth where it had no say."""
    measure, check = found["measure"], found["check"]
    best = found["trials"][:10]
    highest = best[0][measure] or 1
    rows = [[trial["model"], float(trial[measure]), Bar(trial[measure], highest)] for trial in best]
    table(f"{len(found['trials'])} variants by {found['queries']:,} queries", ["model", measure, ""], rows)
    certain = "beyond chance" if check["p_t"] < _LEVEL else "which may be chance"
    console.print(
        f"\non {check['queries']:,} queries that had no say: {check['given']:.4f} as given, "
        f"{check['best']:.4f} tuned, {certain} (p = {check['p_t']:.3f})"
    )


def similar_table(found: Mapping[str, Any]) -> None:
    """Mean grades of similar queries, and wins against the baseline."""
    groups = [name for name in ("all", "head", "tail") if name in found["models"][0]]
    tests = {(row["a"], row["queries"]): row for row in found["significance"]}
    rows = []
    for model in found["models"]:
        versus = [tests.get((model["name"], group)) for group in groups]
        cells = ["" if row is None else f"{row['won']}–{row['tied']}–{row['lost']}" for row in versus]
        rows.append([model["name"], *(float(model[group]) for group in groups), *cells])
    heads = ["model", *groups, *(f"won–tied–lost, {group}" for group in groups)]
    title = f"three most similar queries of {found['queries']:,}, against {found['baseline']}"
    table(title, heads, rows)
