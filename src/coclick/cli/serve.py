"""The command that starts the HTTP service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coclick.cli.arguments import finite
from coclick.errors import UserError


def serve(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="Directories of trained models, the default first; NAME=DIR sets the name.",
        ),
    ],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 chooses a free one.")] = 8765,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all.")] = "127.0.0.1",
    api_key_file: Annotated[
        Path | None, typer.Option(help="File with the API key that every request must send.")
    ] = None,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Host name to answer for besides localhost, such as that of a proxy; repeat it for several.",
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Report for the studio, written by `evaluate --html` or `compare --html`."),
    ] = None,
    suggestions: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Directory of `suggest build`, for GET /suggest and GET /correct."),
    ] = None,
    graph: Annotated[
        Path | None, typer.Option(help="Graph for the studio: fields of documents, and queries that fail.")
    ] = None,
    judgments: Annotated[
        Path | None,
        typer.Option(
            help="File to which ratings in the studio are added; `evaluate --qrels` and `ltr` read it."
        ),
    ] = None,
    review: Annotated[
        Path | None,
        typer.Option(help="Review file of `coclick rules`, to accept and reject rules in the studio."),
    ] = None,
    images: Annotated[
        bool,
        typer.Option("--images", help="Show pictures of documents, loaded from the hosts in their fields."),
    ] = False,
    engine_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Search address of your engine, which the studio compares with: http://…/products/_search",
        ),
    ] = None,
    engine_template: Annotated[
        Path | None,
        typer.Option(
            help="JSON body of a search, with {{query}} and {{k}}; without it, they are in the URL."
        ),
    ] = None,
    engine_ids: Annotated[
        str, typer.Option(metavar="PATH", help="Where the ids of documents are in the engine's answer.")
    ] = "hits.hits[]._id",
    engine_titles: Annotated[
        str | None, typer.Option(metavar="PATH", help="Where titles are, such as hits.hits[]._source.title.")
    ] = None,
    engine_headers: Annotated[
        Path | None,
        typer.Option(help="File with headers for the engine, such as Authorization: …, one per line."),
    ] = None,
    workers: Annotated[
        int, typer.Option(min=1, max=256, help="Number of processes; they share the models in memory.")
    ] = 1,
    timeout: Annotated[
        float, typer.Option(min=0.1, max=86_400, callback=finite, help="Time limit of a request in seconds.")
    ] = 10,
) -> None:
    """Serve models over HTTP, with a studio page to inspect them.

    A model that is retrained in its directory is reloaded within a second, without dropping requests.
    """
    from coclick.service import serve as serve_models
    from coclick.service.settings import EngineSettings

    key = _read_key(api_key_file) if api_key_file else None
    engine = None
    if engine_url is not None:
        template = _read(engine_template, "template") if engine_template else None
        headers = _read_headers(engine_headers) if engine_headers else ()
        engine = EngineSettings(engine_url, template, engine_ids, engine_titles, headers)
    elif engine_template or engine_headers or engine_titles:
        raise UserError("the engine has no address", hint="give it with --engine-url URL")
    serve_models(
        models,
        host=host,
        port=port,
        api_key=key,
        report=report,
        graph=graph,
        judgments=judgments,
        review=review,
        images=images,
        engine=engine,
        workers=workers,
        timeout=timeout,
        suggestions=suggestions,
        allowed_hosts=allowed_host or (),
    )


def _read_key(path: Path) -> str:
    """Read the API key from a file with one line."""
    key = _read(path, "API key").strip()
    if not key or "\n" in key:
        raise UserError("the API key file must have one line", where=str(path))
    return key


def _read(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"the {what} cannot be read: {error}", where=str(path)) from None


def _read_headers(path: Path) -> tuple[tuple[str, str], ...]:
    """Read headers from a file with a line `Name: value` for each."""
    found = []
    for number, line in enumerate(_read(path, "file of headers").splitlines(), 1):
        name, colon, value = line.partition(":")
        if not line.strip():
            continue
        if not colon or not name.strip() or " " in name.strip():
            raise UserError("a header has the form Name: value", where=f"{path}, line {number}")
        found.append((name.strip(), value.strip()))
    return tuple(found)
