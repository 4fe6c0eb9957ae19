"""The README of an export: the engine's commands, and the parts that all engines share."""

from __future__ import annotations

from typing import Any

from coclick.exporters.base import Exporter
from coclick.exporters.sample_queries import SampleQuery


def readme(exporter: Exporter, sample: SampleQuery, stats: dict[str, Any]) -> str:
    """Return the README, written for readers who do not know coclick."""
    kind = "dense vectors" if exporter.source.dense else "sparse vectors (weighted words)"
    left_out = "".join(f"- {count:,} {reason}\n" for reason, count in stats["left_out"].items())
    parts = [
        f"# {exporter.title}: {stats['documents']:,} documents as {kind}\n",
        f"Written by coclick from the model `{stats['model']}`. The score of a document for a query is the "
        "dot product of their\nvectors.\n",
        *([] if exporter.base_version is None else [_increment(stats)]),
        f"## Load and search\n\n{exporter.readme().strip()}\n",
        f"The sample query is “{sample.query}”. `expected.json` has its results, as `coclick search` "
        "returns them.\n",
        f"## Query vectors\n\n{_query_vectors(exporter)}\n",
        f"## Differences from coclick\n\n{_differences(stats['score_error'])}\n",
    ]
    if left_out:
        parts.append(f"Not exported, because {exporter.title} cannot store it or it is empty:\n\n{left_out}")
    return "\n".join(parts)


def _increment(stats: dict[str, Any]) -> str:
    changes = "; ".join(
        f"{what}: {', '.join(f'{count:,} {how}' for how, count in counts.items())}"
        for what, counts in stats["changes"].items()
    )
    return (
        f"**This is an increment.** It has only the changes from version `{stats['base_version']}` to "
        f"version `{stats['version']}`\n({changes}) and must be loaded onto the former.\n"
        + _not_written(stats)
    )


def _not_written(stats: dict[str, Any]) -> str:
    found = stats.get("not_written")
    if found is None:
        return ""
    return (
        f"{found['documents']:,} documents stay as they are, because their vectors moved by at most "
        f"{found['limit']:g} of their length\n(the largest movement: {found['largest_movement']:.3g}).\n"
    )


def _query_vectors(exporter: Exporter) -> str:
    ways = [
        f"To search, you need the vector of the query. {exporter.query_vectors_in} has the vectors of the "
        "log's most clicked\nqueries. For other queries, including those that are not in the log:\n",
        "- `coclick serve MODEL` starts a service; `GET /vectors?q=…` returns the vector of a query.",
        "- `coclick vectors MODEL QUERY` prints the vector of a query.",
    ]
    if exporter.token_note and not exporter.source.dense:
        ways.append(f"\n{exporter.token_note}")
    return "\n".join(ways)


def _differences(error: dict[str, Any]) -> str:
    return (
        f"Measured on the {error['documents_each']} best documents of each of {error['queries']} queries of "
        f"the log:\n\n- mean absolute error of scores: {error['mean']:.2g}\n"
        f"- maximum: {error['largest']:.2g}; relative to the best score of the query: "
        f"{error['largest_of_best_score']:.2g}\n- share of coclick's top 10 in the engine's top 10: "
        f"{error['of_our_top_10_in_theirs']:.2%}"
    )
