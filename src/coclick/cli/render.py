"""Print answers and statistics as tables and bars; --json prints the same as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.markup import escape
from rich.tree import Tree

from coclick.cli import render_training
from coclick.cli.terminal import BAR, Bar, console, one_line, print_labelled, print_table, short
from coclick.errors import counted
from coclick.models.spec import as_text
from coclick.results import Click, Contribution, Explanation, Word
from coclick.text.languages import find_language

_MEASURES = ("nDCG@10", "AP", "RR", "R@100")  # columns of a leaderboard; JSON has more
_LEVEL = 0.05
_MIN_WIDTH = 80  # columns of a terminal with room for bars in a tree
_MAX_INNER = 3  # parts of a part that are shown
_PREFIXES = {  # of a label, by the kind of part
    "query clicks": "clicked document ",
    "document clicks": "clicked for ",
    "mean": "mean ",
    "document": "the document's own ",
    "translation": "translated from ",
    "collection": "collection: ",
}

_BUILD_ELSEWHERE = (
    "columns",
    "docs_columns",
    "fields",
    "bots",
)  # statistics with a table or line of their own


def answer(given: Mapping[str, Any]) -> None:
    """Print the results of a query or document, and the evidence for a query."""
    results(given.get("query", given.get("doc", "")), given["results"])
    if "confidence" not in given or not given["results"]:
        return
    if given["guess"]:
        console().print("[yellow]no evidence for this query: these results are guesses[/]")
        return
    known = given["evidence"]
    clicks = "no clicks" if not known["clicks"] else counted(known["clicks"], "click")
    text = f"{known['known_text']:.0%} of the text known"
    console().print(f"[dim]confidence {given['confidence']:.2f}: {clicks}, {text}[/]")


def results(query: str, found: Sequence[Mapping[str, Any]]) -> None:
    """Print ranked documents or queries."""
    if not found:
        console().print(f"no results for {_quoted(query)}")
        return
    names = [name for name in ("clicks", "doc", "query", "title") if name in found[0]]
    rows = [[i + 1, float(hit["score"]), *(hit[name] for name in names)] for i, hit in enumerate(found)]
    print_table(query, ["", "score", *names], rows)


def words(query: str, found: Sequence[Mapping[str, Any]]) -> None:
    """Print the words of a query or document as bars, with the clicks that they were learned from."""
    if not found:
        console().print(f"the model knows no word of {_quoted(query)}")
        return
    if not any(word.get("clicks") for word in found):
        _bars(query, ["word", "weight"], [(word["word"], float(word["weight"])) for word in found])
        return
    sources = [
        ", ".join(f"{click['query']} ({click['clicks']:g})" for click in word["clicks"]) for word in found
    ]
    rows = [
        [word["word"], float(word["weight"]), source] for word, source in zip(found, sources, strict=True)
    ]
    print_table(query, ["word", "weight", "learned from queries (clicks)"], rows)


def topics(found: Sequence[Mapping[str, Any]]) -> None:
    """Print topics: their words in queries beside their words in titles."""
    rows = []
    for topic in found:
        words = (" ".join(word["word"] for word in topic[side]) for side in ("query_words", "title_words"))
        rows.append([topic["topic"], f"{topic['share']:.1%}", *words])
    print_table("", ["topic", "share", "in queries", "in titles"], rows)


def translations(word: str, found: Sequence[Mapping[str, Any]]) -> None:
    """Print the translations of a title word as bars."""
    _bars(word, ["in queries", "probability"], [(other["word"], other["probability"]) for other in found])


def explanation(why: Explanation, title: str, shown: int = 0) -> None:
    """Print that many parts of a score, 0 for all, largest first, with the clicks they were learned from."""
    query, doc, title = (escape(one_line(text)) for text in (why.query, why.doc, title))
    head = f"[bold]{why.score:.4f}[/]  {query} → {doc}  [dim]{title}[/]"
    if not why.parts:
        console().print(f"{head}\nthe query and the document have nothing in common")
        return
    tree = Tree(head)
    largest = max(part.value for part in why.parts)
    sides: Sequence[Word | None] = why.words or [None] * len(why.parts)
    for part, word in list(zip(why.parts, sides, strict=True))[: shown or None]:
        weights = f"[dim]= {word.query_weight:.3f} × {word.doc_weight:.3f}[/]" if word else ""
        bar = "" if console().width < _MIN_WIDTH else Bar(part.value, largest).draw().ljust(BAR) + " "
        branch = tree.add(f"{bar}[bold]{_label(part)}[/] {part.value:.4f} {weights}".rstrip())
        if word and word.query_clicks:
            learned = branch.add("[dim]weight in the query, learned from[/]")
            _clicks(learned, word.query_clicks, word.query_edges)
        if part.clicks:
            learned = branch.add("[dim]weight in the document, learned from[/]")
            _clicks(learned, part.clicks, part.edges)
        if not word:
            _inner_parts(branch, part)
    if rest := why.parts[shown or len(why.parts) :]:
        tree.add(f"[dim]and {len(rest)} more: {sum(part.value for part in rest):.4f}; --parts 0 shows all[/]")
    console().print(tree)


def graph_summary(stats: Mapping[str, Any]) -> None:
    """Print the size of a new graph and what was dropped or rejected."""
    nouns = {"queries": "query", "docs": "document", "edges": "clicked pair", "clicks": "click"}
    queries, docs, pairs, clicks = (counted(stats[key], noun) for key, noun in nouns.items())
    size = _size(stats["bytes"])
    console().print(f"[bold]{queries}[/] × [bold]{docs}[/], [bold]{pairs}[/], {clicks}, {size}")
    build_report(stats["build"])


def build_report(stats: Mapping[str, Any]) -> None:
    """Print what each column was used as, what was ignored and what was lost; large losses in yellow."""
    from coclick.logs.report import build_report

    report = build_report(stats)
    found = {heading: lines for heading, lines in report.to_dict().items() if heading != "warnings"}
    print_labelled((heading, line) for heading, lines in found.items() for line in lines)
    if report.lost and any(stats.get(key) for key in ("rejected", "docs_rejected")):
        console().print("         coclick rejects GRAPH shows the rejected rows")
    if language := stats.get("language"):
        unclear = "yellow" if language["code"] is None else None
        console().print(language_line(language), style=unclear, highlight=False)
    for line in report.warnings:
        console().print(f"[yellow]warning: {escape(line)}[/]")


def view_summary(name: str, stats: Mapping[str, Any]) -> None:
    """Print what a new view covers of its graph, and what was rejected."""
    view = stats["views"][name]
    for key, side in (("query", "queries"), ("doc", "docs")):
        shown = "documents" if side == "docs" else side
        console().print(
            f"[bold]{view[side]:,}[/] of {stats[side]:,} {shown} have features in {name}, "
            f"[bold]{view[f'{key}_features']:,}[/] distinct"
        )
        if unknown := view[f"unknown_{side}"]:
            console().print(f"{shown} not in the graph: {unknown:,}")
    _rejected("rows", f"rejects_{name}.parquet", view["rejected"])


def _rejected(what: str, file: str, counts: Mapping[str, int] | None) -> None:
    if counts:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in counts.items())
        console().print(f"rejected {what} are in {file}: {escape(reasons)}")


def model_summary(stats: Mapping[str, Any]) -> None:
    """Print the size, rounds and notes of a new model."""
    console().print(f"[bold]{escape(stats['model'])}[/] {_size(stats['bytes'])}")
    if rounds := stats["training"].get("rounds"):
        render_training.steps("rounds", rounds)
    render_training.notes(stats["training"])


def language_line(found: Mapping[str, Any]) -> str:
    """The line of a summary that says in which language texts are split into words."""
    code, share = found["code"], found["share"]
    if code is None:
        return "language: unclear, so models treat texts as English; name it, such as --language de"
    name = find_language(code).name.capitalize()
    if found["source"] == "given":
        return f"language: {name}"
    return f"language: {name}, guessed: {share:.0%} of the recognised texts (--language names another)"


def info(stats: Mapping[str, Any]) -> None:
    """Print everything known about a graph or model."""
    print_table("", ["", ""], [[k, short(v)] for k, v in stats.items() if not isinstance(v, dict | list)])
    for key, value in stats.items():
        if isinstance(value, dict) and "histogram" in value:
            _distribution(key.replace("_", " "), value)
    for key in ("parameters", "texts", "views", "build", "training"):
        elsewhere = {"training": render_training.SHOWN, "build": _BUILD_ELSEWHERE}
        separate = elsewhere.get(key, ())
        if flat := [[name, short(value)] for name, value in _flat(stats.get(key, {}), separate)]:
            console().print()
            print_table(key, ["", ""], flat)
    _bots(stats.get("build", {}).get("bots", {}))
    for key in ("tables", "can"):
        if key in stats:
            console().print(f"\n[bold]{key}[/]  {', '.join(stats[key]).replace('_', ' ') or 'none'}")
    render_training.all_statistics(stats.get("training", {}))


def _bots(found: Mapping[str, Any]) -> None:
    """Print what was found about bots, and a row for each of the busiest."""
    if not found:
        return
    said = [f"{name.removeprefix('n_')} {short(value)}" for name, value in found.items() if name != "users"]
    console().print(f"\n[bold]bots[/]  {escape(', '.join(said)).replace('_', ' ')}")
    if users := found.get("users"):
        columns = ["user", "rule", "value", "threshold", "events"]
        print_table("", columns, [[short(user[name]) for name in columns] for user in users])


def models(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print all models with their parameters."""
    table = []
    for row in rows:
        parameters = ", ".join(f"{name}={as_text(value)}" for name, value in row["parameters"].items())
        table.append([row["name"], row["summary"], ", ".join(row["presets"]), parameters])
    print_table("", ["model", "summary", "presets", "parameters"], table)


def leaderboard(board: Mapping[str, Any]) -> None:
    """Print models by their main measure, best first, with significance."""
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
    if by == "judgments":
        judged = counted(protocol["queries"], "judged query")
    else:
        judged = counted(protocol["queries"], "query") + f" judged by {by}"
    ranked = "full retrieval" if protocol["retrieval"] == "full" else protocol["retrieval"]
    what = "query" if protocol["task"] == "similar" else "document"
    title = f"{judged}, {counted(protocol['ranked'], what)}, {ranked}"
    print_table(title, ["model", *_MEASURES, "95 %", "", "difference to best", "training"], rows)
    for warning in protocol["warnings"]:
        console().print(f"note: {warning}", style="dim")
    titles = {"query": "whether the query is in the log", "document": "whether documents have clicks"}
    for by, title in titles.items():
        groups = best["breakdown"].get(by, {})
        if len(groups) > 1:
            console().print()
            heads = ["model", *(f"{name} ({group['queries']:,})" for name, group in groups.items())]
            rows = [[m["name"], *(float(m["breakdown"][by][name][main]) for name in groups)] for m in ordered]
            print_table(f"{main} by {title}", heads, rows)


def _versus(test: Mapping[str, Any] | None) -> str:
    """Whether the best model is significantly better, and the queries it won, tied and lost."""
    if test is None:
        return ""
    verdict = "significant" if test["p_holm"] < _LEVEL else "not significant"
    return f"{verdict} ({test['won']}–{test['tied']}–{test['lost']})"


def unit_table(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the methods for unseen queries with cosine, nDCG and coverage (Jiang et al. 2016, Table 5)."""
    columns = [name for name in rows[0] if name != "method"]
    table = [[row["method"], *(row[column] for column in columns)] for row in rows]
    print_table("vectors for held-out queries", ["method", *columns], table)


def _distribution(name: str, value: Mapping[str, Any]) -> None:
    stats = ", ".join(f"{name} {value[name]:,}" for name in ("mean", "median", "p99", "max"))
    console().print(f"\n[bold]{name}[/]  [dim]{stats}[/]")
    _bars("", ["", ""], value["histogram"])


def _bars(title: str, columns: Sequence[str], pairs: Sequence[tuple[str, float]]) -> None:
    """Print names with numbers, and each number as a bar."""
    largest = max((value for _, value in pairs), default=1)
    print_table(title, [*columns, ""], [[name, value, Bar(value, largest)] for name, value in pairs])


def _label(part: Contribution) -> str:
    prefix = f"{part.kind}: " if part.kind.startswith("bias ") else _PREFIXES.get(part.kind, "")
    return prefix + escape(one_line(part.label))


def _inner_parts(branch: Tree, part: Contribution) -> None:
    """Add the parts of a part, largest first."""
    prefix = "[dim]with[/] " if part.kind.startswith("query ") else ""
    inner_parts = [inner for inner in part.parts if inner.value]
    for inner in inner_parts[:_MAX_INNER]:
        _clicks(branch.add(f"{prefix}{_label(inner)} {inner.value:.4f}"), inner.clicks, inner.edges)
    if rest := inner_parts[_MAX_INNER:]:
        branch.add(f"[dim]and {len(rest)} more: {sum(inner.value for inner in rest):.4f}[/]")
    for note in (inner for inner in part.parts if inner.kind == "collection"):
        branch.add(f"[dim]{_label(note)}[/]")


def _clicks(branch: Tree, clicks: Sequence[Click], edges: int) -> None:
    for click in clicks:
        edge = f"[cyan]{escape(one_line(click.query))}[/] → {escape(one_line(click.doc))}"
        count = "1 click" if click.clicks == 1 else f"{click.clicks:g} clicks"
        branch.add(f"{click.share:6.1%}  {count}  {edge}")
    if hidden := edges - len(clicks):
        branch.add(f"[dim]… and {hidden:,} more; --clicks 0 shows all[/]")


def _flat(stats: Mapping[str, Any], separate: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Statistics by name, nested ones under both names; without empty ones and those printed separately."""
    for name, value in stats.items():
        if name in separate or value in ({}, []):
            continue
        if isinstance(value, dict) and any(isinstance(part, dict) for part in value.values()):
            yield from ((f"{name} {inner}", part) for inner, part in value.items())
        else:
            yield name, value


def _quoted(text: str) -> str:
    return escape(f"“{one_line(text)}”")


def _size(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


def tuning(found: Mapping[str, Any]) -> None:
    """Print the best variants, and the gain on the queries that were not used for tuning."""
    measure, check = found["measure"], found["check"]
    best = [(trial["model"], float(trial[measure])) for trial in found["trials"][:10]]
    title = f"{counted(len(found['trials']), 'variant')} on {counted(found['queries'], 'query')}"
    _bars(title, ["model", measure], best)
    verdict = "significant" if check["p_t"] < _LEVEL else "not significant"
    checked = counted(check["queries"], "query")
    tested = "not used for tuning"
    if len(found["chosen"]) == 2:
        console().print("\nchosen by each half: {}, and {}".format(*found["chosen"]))
        tested = "tested with the choice of the other half"
    console().print(
        f"\non {checked} {tested}: {check['given']:.4f} as given, "
        f"{check['best']:.4f} tuned, {verdict} (p = {check['p_t']:.3f})"
    )
