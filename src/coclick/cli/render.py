"""Tables and bars in the terminal, for people; every one of them exists as JSON for machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.markup import escape
from rich.tree import Tree

from coclick.cli import render_training as show_training
from coclick.cli.tables import BAR, Bar, console, line, short, table
from coclick.models.spec import as_text
from coclick.results import ClickEvidence, Contribution, Explanation, Word

_MEASURES = ("nDCG@10", "AP", "RR", "R@100")  # of a leaderboard; JSON has more
_LEVEL = 0.05
_WIDE = 80  # columns from which a tree has room for bars
_INNER = 3  # parts of a part that are shown
_SAID_BEFORE = {  # the label of a part, by its kind
    "query clicks": "its click on ",
    "document clicks": "its click for ",
    "mean": "the mean ",
    "document": "the document's own ",
    "translation": "translated from ",
    "collection": "collection: ",
}


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


def topics(found: Sequence[Mapping[str, Any]]) -> None:
    """Topics with their two languages side by side."""
    rows = [
        [
            topic["topic"],
            f"{topic['share']:.1%}",
            *(" ".join(word["word"] for word in topic[side]) for side in ("query_words", "title_words")),
        ]
        for topic in found
    ]
    table("", ["topic", "share", "in queries", "in titles"], rows)


def translations(word: str, found: Sequence[Mapping[str, Any]]) -> None:
    """What a word of titles stands for in queries, as bars."""
    largest = max((other["probability"] for other in found), default=1.0)
    rows = [[o["word"], float(o["probability"]), Bar(o["probability"], largest)] for o in found]
    table(word, ["in queries", "probability", ""], rows)


def explanation(why: Explanation, title: str, words: int | None = None) -> None:
    """The words of a score, heaviest first, and the clicks behind them on both sides."""
    asked, doc, title = (escape(line(text)) for text in (why.query, why.doc, title))
    head = f"[bold]{why.score:.4f}[/]  {asked} → {doc}  [dim]{title}[/]"
    if not why.parts:
        console.print(f"{head}\nquery and document share nothing")
        return
    tree = Tree(head)
    largest = max(part.value for part in why.parts)
    sides: Sequence[Word | None] = why.words or [None] * len(why.parts)
    for part, word in list(zip(why.parts, sides, strict=True))[:words]:
        weights = f"[dim]= {word.query_weight:.3f} × {word.doc_weight:.3f}[/]" if word else ""
        bar = "" if console.width < _WIDE else Bar(part.value, largest).drawn().ljust(BAR) + " "
        branch = tree.add(f"{bar}[bold]{_labelled(part)}[/] {part.value:.4f} {weights}")
        if word and word.query_clicks:
            _clicks(
                branch.add("[dim]in the query, from[/]"), ClickEvidence(word.query_clicks, word.query_edges)
            )
        if part.clicks:
            _clicks(branch.add("[dim]in the document, from[/]"), ClickEvidence(part.clicks, part.edges))
        if not word:
            _inner_parts(branch, part)
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


def export_summary(figures: Mapping[str, Any]) -> None:
    """What was written for an engine, what was not, and what that does to scores."""
    size = f"{figures['words']:,} words" if "words" in figures else f"{figures['dimensions']:,} dimensions"
    error = figures["score_error"]
    rows = [
        ["documents", f"{figures['documents']:,} with {figures['weights']:,} weights of {size}"],
        ["queries", f"{figures['queries']:,}"],
        *(["left out", f"{count:,} {reason}"] for reason, count in figures["left_out"].items()),
        ["error of scores", f"{error['mean']:.2g} on average, {error['largest']:.2g} at most"],
        ["of the best score", f"{error['largest_of_best_score']:.2g} at most"],
        ["our 10 best in theirs", f"{error['of_our_top_10_in_theirs']:.2%}"],
    ]
    table(f"{figures['model']} for {figures['engine']}", ["", ""], rows)


def view_summary(name: str, figures: Mapping[str, Any]) -> None:
    """What a view that was just added covers of its graph, and what was left aside."""
    view = figures["views"][name]
    for key, side in (("query", "queries"), ("doc", "docs")):
        shown = "documents" if side == "docs" else side
        console.print(
            f"[bold]{view[side]:,}[/] of {figures[side]:,} {shown} have features in {name}, "
            f"[bold]{view[f'{key}_features']:,}[/] different"
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
        show_training.steps("rounds", rounds)
    show_training.notes(figures["training"])


def info(figures: Mapping[str, Any]) -> None:
    """Everything known of a graph or a model."""
    table("", ["", ""], [[k, short(v)] for k, v in figures.items() if not isinstance(v, dict | list)])
    for key, value in figures.items():
        if isinstance(value, dict) and "histogram" in value:
            _distribution(key.replace("_", " "), value)
    for key in ("parameters", "texts", "views", "build", "training"):
        apart = show_training.SHOWN if key == "training" else ()
        if flat := [[name, short(value)] for name, value in _flat(figures.get(key, {}), apart)]:
            console.print()
            table(key, ["", ""], flat)
    for key in ("tables", "can"):
        if key in figures:
            console.print(f"\n[bold]{key}[/]  {', '.join(figures[key]).replace('_', ' ') or 'none'}")
    show_training.everything(figures.get("training", {}))


def models(rows: Sequence[Mapping[str, Any]]) -> None:
    """The registry."""

    def signature(parameters: Mapping[str, Any]) -> str:
        return ", ".join(f"{name}={as_text(value)}" for name, value in parameters.items())

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


def _distribution(name: str, value: Mapping[str, Any]) -> None:
    figures = f"mean {value['mean']}, median {value['median']}, p99 {value['p99']}, max {value['max']}"
    console.print(f"\n[bold]{name}[/]  [dim]{figures}[/]")
    largest = max((count for _, count in value["histogram"]), default=1)
    table("", ["", "", ""], [[label, count, Bar(count, largest)] for label, count in value["histogram"]])


def _labelled(part: Contribution) -> str:
    said = f"{part.kind}: " if part.kind.startswith("bias ") else _SAID_BEFORE.get(part.kind, "")
    return said + escape(line(part.label))


def _inner_parts(branch: Tree, part: Contribution) -> None:
    """What a feature of the query meets in the document, or what makes a word likely; the most first."""
    before = "[dim]with[/] " if part.kind.startswith("query ") else ""
    adding = [inner for inner in part.parts if inner.value]
    for inner in adding[:_INNER]:
        shown = branch.add(f"{before}{_labelled(inner)} {inner.value:.4f}")
        _clicks(shown, ClickEvidence(inner.clicks, inner.edges))
    if rest := adding[_INNER:]:
        branch.add(f"[dim]and {len(rest)} more: {sum(inner.value for inner in rest):.4f}[/]")
    for remark in (inner for inner in part.parts if inner.kind == "collection"):
        branch.add(f"[dim]{_labelled(remark)}[/]")


def _clicks(branch: Tree, behind: ClickEvidence) -> None:
    for click in behind.clicks:
        edge = f"[cyan]{escape(line(click.query))}[/] → {escape(line(click.doc))}"
        counted = "1 click" if click.clicks == 1 else f"{click.clicks:g} clicks"
        branch.add(f"{click.share:6.1%}  {counted}  {edge}")
    if left_out := behind.edges - len(behind.clicks):
        branch.add(f"[dim]… and {left_out:,} more; --clicks 0 shows all[/]")


def _flat(figures: Mapping[str, Any], apart: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Figures by name, those of figures under both names; without what is empty or shown apart."""
    for name, value in figures.items():
        if name in apart or value in ({}, []):
            continue
        if isinstance(value, dict) and any(isinstance(part, dict) for part in value.values()):
            yield from ((f"{name} {inner}", part) for inner, part in value.items())
        else:
            yield name, value


def _quoted(text: str) -> str:
    return escape(f"“{line(text)}”")


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
