"""The README of a shipped model."""

from __future__ import annotations

from typing import Any

from coclick.exporters.base import Exporter


def readme(exporter: Exporter, commands: str, stats: dict[str, Any], samples: list[dict[str, Any]]) -> str:
    """Return the README, written for readers who do not know coclick."""
    known = samples[0]["query"] if samples else ""
    return f"""# {exporter.title}: a ranking for every query

Written by coclick from the model `{exporter.model_name}`. A query of the log ({stats["queries"]:,} of them)
gets the documents that the model ranks for it, which are stored. Any other query borrows the clicks of the
queries of the log with the most similar wording, and adds BM25 over the words of documents. The weights of
both were learned from held-out clicks. coclick does not have to run where the engine runs.

## Load and search

{commands.replace("xbox", known.replace('"', "").replace("'", "''")) if known else commands}

`search/expected.json` has {len(samples)} queries, some of them not in the log, with the results to expect.
`vectors.md` is about the vectors of documents, which the words of queries are matched with.

## What is lost

{loss_text(stats.get("loss"))}
"""


def increment_note(exporter: Exporter) -> str:
    """Return what is in an increment; empty for a whole export."""
    if exporter.base_version is None:
        return ""
    return f"""Of the documents, only the changes since version `{exporter.base_version}` are here. If another
version is loaded, this one is refused. The queries are all here.
"""


def loss_text(loss: dict[str, Any] | None) -> str:
    """Return the measured loss in Markdown."""
    if loss is None:
        return "Not measured: the export was written with `--no-measure`."
    if "not_measured" in loss:
        return f"Not measured: {loss['not_measured']}."
    rows = [
        f"| {name} | {part['queries']:,} | {part['in_coclick']:.3f} | {part['as_shipped']:.3f} |"
        for name, part in (
            ("all", loss),
            ("with clicks in the log", loss.get("known")),
            ("without", loss.get("unknown")),
        )
        if part and part["queries"]
    ]
    table = "\n".join(rows)
    return f"""{loss["measure"]} by held-out clicks ({loss["judged_by"]}) of a model of the same kind that was
trained without them, in coclick and as shipped. Neither has seen these clicks.

| queries | number | in coclick | as shipped |
|---|---|---|---|
{table}"""
