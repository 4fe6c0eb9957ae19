"""The command that exports models to search engines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coclick.cli.arguments import MAX_COUNT, Force, Json, ModelPath
from coclick.cli.terminal import output, suggest


def export(
    model: ModelPath,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="ENGINE",
            help="opensearch, elasticsearch, solr, vespa, qdrant, pgvector, tantivy or parquet; trees of "
            "ltr: ltr-opensearch, ltr-elasticsearch, ltr-es-plugin or ltr-solr; rerank.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory to write to.")],
    name: Annotated[
        str, typer.Option(help="Name of the index, collection or table; with --into, of the added fields.")
    ] = "coclick",
    queries: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=MAX_COUNT,
            help="Number of log queries to export, most clicked first: by default 10,000 with vectors, "
            "all with rankings.",
        ),
    ] = None,
    max_weights: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MAX_COUNT,
            help="Keep only this many words of a document, those with the largest weights.",
        ),
    ] = None,
    into: Annotated[
        str | None,
        typer.Option(
            metavar="INDEX",
            help="Add the vectors to this index or table, which exists, instead of making one "
            "(all engines but tantivy and parquet).",
        ),
    ] = None,
    id_: Annotated[
        str | None,
        typer.Option("--id", metavar="FIELD", help="Field or column of --into that has the document ids."),
    ] = None,
    hybrid: Annotated[
        str | None,
        typer.Option(
            metavar="FIELDS",
            help="Text fields of --into with weights, such as 'title^3,body': write a query that adds BM25.",
        ),
    ] = None,
    changes_from: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write only what changed since this export, which is loaded: new, changed and deleted "
            "documents and queries.",
        ),
    ] = None,
    changes_above: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="With --changes-from, leave out documents whose vectors moved by at most this share of "
            "their length, such as 0.01.",
        ),
    ] = None,
    previous_model: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL", help="With --changes-above, the model that --changes-from was exported from."
        ),
    ] = None,
    measure: Annotated[
        bool,
        typer.Option(help="Measure what is lost where rankings are exported; trains the model once more."),
    ] = True,
    force: Force = False,
    json_: Json = False,
) -> None:
    """Export a model to a search engine: schema, data, a sample query and instructions.

    A model with vectors is exported as vectors: the engine ranks like `coclick search`. Any other model is
    exported as rankings of the log's queries, and signals for other queries. What is lost is measured.
    """
    from coclick import open_model
    from coclick.cli.render_export import export_summary
    from coclick.exporters import export as write
    from coclick.exporters.output_folder import check_folder
    from coclick.progress import for_terminal

    check_folder(out, force=force)
    stats = write(
        open_model(model),
        to,
        out,
        name=name,
        queries=queries,
        max_weights=max_weights,
        into=into,
        id_field=id_,
        hybrid=hybrid,
        changes_from=changes_from,
        changes_above=changes_above,
        previous_model=previous_model,
        measure=measure,
        force=force,
        progress=for_terminal(),
    )
    output(stats, json_, export_summary, stats)
    suggest(f"less {out}/README.md")
