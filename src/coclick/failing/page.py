"""The HTML page of failing queries: one self-contained file, in the style of the report, without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from coclick._version import __version__
from coclick.failing.kinds import KINDS
from coclick.storage.directories import write_file

MAX_CLUSTERS = 500  # which keeps a page of ten examples each below 5 MB
_PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>coclick: failing queries</title>
<style>
$style
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: .4rem .7rem; }
summary { cursor: pointer; }
summary b { margin-right: .6rem; }
</style>
</head>
<body>
<header id="top"><h1>Failing queries</h1></header>
<main id="main">
$main
</main>
<footer class="quiet">coclick $version</footer>
</body>
</html>
""")
_TEXTS = ("meaning", "next queries", "fix")  # columns
_LABELS = {kind: kind.replace("_", " ") for kind in KINDS}


def write_page(found: Mapping[str, Any], path: str | Path) -> None:
    """Write what `find_failing` returned as a web page."""
    write_file(Path(path), render_page(found))


def render_page(found: Mapping[str, Any]) -> str:
    """Return the HTML of the page; every text of the log is escaped."""
    style = (files("coclick.evaluation") / "page" / "style.css").read_text(encoding="utf-8")
    clusters = found["clusters"][:MAX_CLUSTERS]
    parts = [
        _summary(found),
        *(f'<div class="box warning"><p>{escape(_sentence(line))}</p></div>' for line in found["missing"]),
        _kinds(found),
        f'<section aria-labelledby="clusters"><h2 id="clusters">{_heading(found, len(clusters))}</h2>',
        *(_cluster(cluster, opened=i == 0) for i, cluster in enumerate(clusters)),
        "</section>",
    ]
    text = _PAGE.substitute(style=style, main="\n".join(parts), version=escape(__version__))
    return text.encode("utf-8", "backslashreplace").decode("utf-8")  # lone surrogates


def _summary(found: Mapping[str, Any]) -> str:
    totals = found["totals"]
    facts = {
        found["counted"]: totals["searches"],
        "without a click": totals["without_clicks"],
        "without results": totals["without_results"],
        "with a next query": totals["followed"],
        "failing queries": found["failing"]["queries"],
    }
    entries = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{'unknown' if value is None else f'{value:,}'}</dd></div>"
        for name, value in facts.items()
    )
    return f'<dl class="facts">{entries}</dl>'


def _kinds(found: Mapping[str, Any]) -> str:
    rows = [
        [_LABELS[kind["kind"]], kind["queries"], kind["searches"], kind["meaning"]] for kind in found["kinds"]
    ]
    head = ["kind", "queries", found["counted"], "meaning"]
    note = f"Queries with fewer than {found['min_searches']} {found['counted']} are left out. "
    note += "Click rates over the weeks of {:,} queries were tested.".format(found["trends_tested"])
    return f"<section><h2>Kinds</h2>{_table(head, rows)}<p>{escape(note)}</p></section>"


def _heading(found: Mapping[str, Any], shown: int) -> str:
    every = len(found["clusters"])
    if not every:
        return "No failing queries were found"
    of = f"{shown:,} of {every:,}" if shown < every else f"{every:,}"
    return f"{of} clusters of similar queries, most failed searches first"


def _cluster(cluster: Mapping[str, Any], opened: bool) -> str:
    kinds = ", ".join(f"{_LABELS[kind]} {count}" for kind, count in cluster["kinds"].items())
    size = f"{cluster['queries']:,} queries, {cluster['searches']:,} searches, {cluster['failed']:,} failed"
    fix = f"{cluster['fix']['sentence']}. {_sentence(cluster['fix']['reason'])}"
    head = ["query", "searches", "no click", "no results", "went on", "clicks", "next queries", "fix"]
    rows = [
        [
            f"{query['query']} ({', '.join(_LABELS[kind] for kind in query['kinds'])})",
            query["searches"],
            query["without_clicks"],
            query["without_results"],
            query["followed"],
            query["clicks"],
            ", ".join(f"{one['query']} ({one['searches']})" for one in query["next"]),
            query["fix"]["sentence"] + _weeks(query["weeks"]),
        ]
        for query in cluster["examples"]
    ]
    more = cluster["queries"] - len(rows)
    rest = f"<p>… and {more:,} more queries</p>" if more else ""
    return (
        f"<details{' open' if opened else ''}><summary><b>{escape(cluster['name'])}</b> "
        f'<span class="quiet">{escape(size)}: {escape(kinds)}</span></summary>'
        f'<div class="box"><p>{escape(fix)}</p>{_ship(cluster["fix"])}</div>'
        f"{_table(head, rows)}{rest}</details>"
    )


def _ship(fix: Mapping[str, Any]) -> str:
    """The command that brings a fix to the engine."""
    if not fix["command"]:
        return ""
    rule = f", accept rule {fix['rule']}" if fix["rule"] else ""
    return f"<p>Ship with <code>{escape(fix['command'])}</code>{rule}</p>"


def _weeks(weeks: Sequence[Mapping[str, Any]]) -> str:
    """The click rate of each week, for a query whose rate falls."""
    if not weeks:
        return ""
    return "; clicked by week: " + ", ".join(f"{week['clicked']} of {week['searches']}" for week in weeks)


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    def cell(value: Any) -> str:
        if value is None:
            return "<td>–</td>"
        if isinstance(value, int | float):
            return f"<td>{value:,}</td>"
        return f'<td style="text-align:left">{escape(str(value))}</td>'

    titles = "".join(f'<th class="{"left" if name in _TEXTS else ""}">{escape(name)}</th>' for name in head)
    lines = "".join(
        f"<tr><th>{escape(str(first))}</th>{''.join(map(cell, rest))}</tr>" for first, *rest in rows
    )
    return f'<div class="frame"><table><thead><tr>{titles}</tr></thead><tbody>{lines}</tbody></table></div>'


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."
