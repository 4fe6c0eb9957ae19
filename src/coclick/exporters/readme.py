"""The README of an export: the commands of the engine, and what is the same for all of them."""

from __future__ import annotations

from typing import Any

from coclick.exporters.engine import Engine
from coclick.exporters.sample import Sample


def readme(engine: Engine, sample: Sample, figures: dict[str, Any]) -> str:
    """For whoever loads the folder, who may never have heard of coclick."""
    kind = "dense vectors" if engine.content.dense else "words with weights"
    left_out = "".join(f"- {count:,} {reason}\n" for reason, count in figures["left_out"].items())
    error = figures["score_error"]
    parts = [
        f"# {engine.title}: {figures['documents']:,} documents as {kind}\n",
        f"Written by coclick from the model `{figures['model']}`. The score of a document for a query is the "
        "sum, over what their\nvectors share, of the products of their weights.\n",
        engine.readme().strip() + "\n",
        f"The sample query is “{sample.query}” and should find what is in `expected.json`, as does "
        "`coclick search`.\n",
        f"## Vectors of queries\n\n{_query_vectors(engine)}\n",
        f"## What is different here\n\n{_differences(error)}\n",
    ]
    if left_out:
        parts.append(f"Left out, as {engine.title} cannot hold it or there is nothing to hold:\n\n{left_out}")
    return "\n".join(parts)


def _query_vectors(engine: Engine) -> str:
    ways = [
        f"- {engine.queries_are} has the vectors of the log's most clicked queries, ready to be used.",
        "- `coclick serve MODEL` answers `/vectors?q=…` for any query, also for one that the log never had.",
        "- `coclick vectors MODEL QUERY` prints the vector of one query.",
    ]
    if engine.token_note and not engine.content.dense:
        ways.append(f"\n{engine.token_note}")
    return "\n".join(ways)


def _differences(error: dict[str, Any]) -> str:
    where = f"on {error['queries']} queries of the log and the {error['documents_each']} best of each"
    return (
        f"Measured {where}:\nscores are off by {error['mean']:.2g} on average and by {error['largest']:.2g} "
        f"at most ({error['largest_of_best_score']:.2g} of a query's best score), and\n"
        f"{error['of_our_top_10_in_theirs']:.2%} of our ten best are among the engine's."
    )
