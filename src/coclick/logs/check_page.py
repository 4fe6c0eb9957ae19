"""A report of `check` as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from coclick.logs.check_log import CheckReport, FileReport

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; color: #222 }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #ddd; vertical-align: top }
code, pre { background: #f4f4f4; padding: .1rem .3rem }
pre { padding: .8rem; overflow-x: auto }
.warning { background: #fff3cd; padding: .6rem; margin: .4rem 0 }
.problem { background: #f8d7da; padding: .6rem; margin: .4rem 0 }
.ignored { color: #888 }
"""


def render_page(found: CheckReport) -> str:
    """Return the HTML of a report. Texts of the log are escaped."""
    parts = ["<h1>What is in the log</h1>"]
    if found.problem:
        parts.append(f'<p class="problem">{escape(found.problem)}. {escape(found.hint)}</p>')
    parts += [f'<p class="warning">{escape(line)}</p>' for line in found.report.warnings]
    if found.guessed:
        parts.append("<p>The columns were guessed: please check them.</p>")
    if found.sampled:
        parts.append(f"<p>Only the first part was looked at: {escape(', '.join(found.sampled))}</p>")
    for file in found.files:
        parts += _file(file)
    for title, lines in (
        ("Assumed", found.report.assumed),
        ("Missing", found.report.missing),
        ("Ignored", found.report.ignored),
        ("Lost", found.report.lost),
        ("Notes", found.report.notes),
    ):
        if lines:
            parts.append(f"<h2>{title}</h2>{_list(lines)}")
    if found.command:
        parts.append(f"<h2>Command</h2><pre>{escape(found.command)}</pre>")
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>coclick check</title><style>{_STYLE}'
    return f"{head}</style>{''.join(parts)}</html>\n"


def _file(file: FileReport) -> list[str]:
    facts = [file.kind, file.encoding, file.delimiter]
    rows = [
        f"<tr{'' if use.field else ' class=ignored'}><td><code>{escape(use.name)}</code></td>"
        f"<td>{escape(use.field or f'ignored (looks like {use.looks_like})')}</td>"
        f"<td>{escape(' · '.join(use.samples))}</td></tr>"
        for use in file.columns
    ]
    return [
        f"<h2>{escape(file.name)}</h2><p>{escape(', '.join(fact for fact in facts if fact))}</p>",
        f"<table><tr><th>column</th><th>used as</th><th>values</th></tr>{''.join(rows)}</table>",
    ]


def _list(lines: Sequence[str] | Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"
