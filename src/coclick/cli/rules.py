"""The command that finds rules for search engines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coclick.cli.arguments import MAX_CLICKS, Force, Json, Threads, finite
from coclick.cli.terminal import output, suggest


def rules(
    source: Annotated[Path, typer.Argument(metavar="GRAPH|MODEL", help="Directory of a graph or a model.")],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="querqy, es-synonyms, opensearch-synonyms, solr-synonyms, es-query-rules, elevate "
            "or algolia.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write to.")],
    review: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Review file (TSV) with a decision for each rule. It is created or brought up to date, and "
            "only accepted rules are written.",
        ),
    ] = None,
    min_clicks: Annotated[
        float,
        typer.Option(
            min=1,
            max=MAX_CLICKS,
            callback=finite,
            help="Clicks that a rule needs; corrections a fifth of them.",
        ),
    ] = 10,
    min_share: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            callback=finite,
            help="Share of the clicks that must support a synonym: where its 95 % interval begins.",
        ),
    ] = 0.5,
    holdout: Annotated[
        str | None,
        typer.Option(help="Clicks to replay rules on: time:0.2 (last days) or queries:0.2."),
    ] = None,
    replay: Annotated[bool, typer.Option(help="Measure the effect of each rule on held-out clicks.")] = True,
    id_: Annotated[
        str,
        typer.Option(
            "--id", metavar="FIELD", help="Field of document ids in pins of Querqy: _id for Elasticsearch."
        ),
    ] = "id",
    force: Force = False,
    threads: Threads = None,
    json_: Json = False,
) -> None:
    """Find synonyms, spelling corrections, rewrites, deletes and pins, and write them for a search engine.

    Each rule has its clicks, the share of them that supports it, and its effect on held-out clicks. With
    --review, a person decides which rules are written.
    """
    from coclick.cli import render_rules
    from coclick.jit.threads import set_threads
    from coclick.progress import for_terminal
    from coclick.rules import find_rules, write_rules
    from coclick.rules.review import load_review
    from coclick.rules.writing import check_format
    from coclick.storage.directories import check_file

    check_format(to, id_)
    check_file(out, force=force)
    if review is not None and review.exists():
        load_review(review)  # reports mistakes before the work, not after it
    set_threads(threads)
    found = find_rules(
        source,
        min_clicks=min_clicks,
        min_share=min_share,
        replay=replay,
        holdout=holdout,
        progress=for_terminal(),
    )
    stats = write_rules(found, to, out, review=review, id_field=id_, force=force)
    answer = {**stats, "rules": [rule.to_dict() for rule in found]}
    output(answer, json_, render_rules.rules, found, stats)
    if review is not None and stats["decisions"]["undecided"]:
        suggest(f"decide in {review}, then run this again with --force")
