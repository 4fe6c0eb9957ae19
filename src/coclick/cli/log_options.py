"""Options that say how a log is read and what is kept of it: the same of build and check."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from coclick.cli.arguments import MAX_CLICKS, MAX_COUNT, finite

Logs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="LOG...",
        help="Log files or globs: TSV, CSV, Parquet or JSON, may be compressed; - for standard input.",
    ),
]
Docs = Annotated[
    list[str] | None,
    typer.Option(help="Files or globs of documents: doc, title and other text fields. May be repeated."),
]
Like = Annotated[
    str,
    typer.Option(
        help="Log format: auto (by the columns), clicks, events, aol, ga4, ubi … or a file FILE.toml."
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        help="Columns of fields: doc=sku,query=term. Or the fields of all columns in order: query,_,doc."
    ),
]
Header = Annotated[Literal["auto", "yes", "no"], typer.Option(help="Whether the first line is a header.")]
MinClicks = Annotated[
    float,
    typer.Option(min=0, max=MAX_CLICKS, callback=finite, help="Drop query-document pairs with fewer clicks."),
]
MinUsers = Annotated[
    int, typer.Option(min=1, max=MAX_COUNT, help="Store nothing that fewer users clicked, saw or typed.")
]
Scrub = Annotated[
    Literal["pii"] | None,
    typer.Option(help="pii removes e-mail addresses, phone, card and other id numbers from queries."),
]
Actions = Annotated[
    str | None,
    typer.Option(
        help="Actions that count as clicks, with weights: click=1,cart=3,purchase=10. With 'dwell>30s=3' "
        "a click with a longer dwell time counts 3 instead. view=impression or view=ignore: what it is."
    ),
]
TimeFormat = Annotated[
    str | None,
    typer.Option(
        help="How times are written, if coclick cannot tell: '%d/%m/%Y %H:%M', day-first, month-first, "
        "or the unit of numbers: s, ms, us, ns, excel."
    ),
]
Timezone = Annotated[
    str | None, typer.Option(help="Time zone of times that name none: Europe/Berlin. Default: UTC.")
]
Since = Annotated[
    str | None, typer.Option(help="Count events from this day or time on: 2026-05-01, 2026-05-01T08:00.")
]
Until = Annotated[
    str | None, typer.Option(help="Count events before this day or time; the day itself is left out.")
]
HalfLife = Annotated[
    str | None, typer.Option(help="Clicks count half after this time: 60d, 12h, 4w. Default: never.")
]
Encoding = Annotated[
    str | None,
    typer.Option(help="Encoding of text files, such as latin-1, utf-16 or gb18030. Default: guessed."),
]
MaxRejected = Annotated[str, typer.Option(help="Stop if a larger share of the rows is rejected.")]
Database = Annotated[
    str | None,
    typer.Option(
        help="Database to read, not files: postgresql://user@host/name, or an SQLite or DuckDB file."
    ),
]
Sql = Annotated[str | None, typer.Option(help="Query that returns the log: SELECT query, doc, …")]
DocsSql = Annotated[str | None, typer.Option(help="Query that returns the documents: SELECT doc, title, …")]
Language = Annotated[
    str | None, typer.Option(help="Language of the texts, such as de or german; guessed by default.")
]
Duplicates = Annotated[
    Literal["count", "drop"],
    typer.Option(help="Rows that are equal in all fields: count (and report) them, or drop them."),
]
Bots = Annotated[
    Literal["flag", "drop", "keep"],
    typer.Option(help="Users that are probably programs: list them, drop their events, or do not look."),
]
