"""The command that starts the HTTP service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
    report: Annotated[
        Path | None,
        typer.Option(help="Report for the studio, written by `evaluate --html` or `compare --html`."),
    ] = None,
    suggestions: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Directory of `suggest build`, for GET /suggest and GET /correct."),
    ] = None,
    workers: Annotated[
        int, typer.Option(min=1, help="Number of processes; they share the models in memory.")
    ] = 1,
    timeout: Annotated[float, typer.Option(min=0.1, help="Time limit of a request in seconds.")] = 10,
) -> None:
    """Serve models over HTTP, with a studio page to inspect them.

    A model that is retrained in its directory is reloaded within a second, without dropping requests.
    """
    from coclick.service import serve as serve_models

    key = _read_key(api_key_file) if api_key_file else None
    serve_models(
        models,
        host=host,
        port=port,
        api_key=key,
        report=report,
        workers=workers,
        timeout=timeout,
        suggestions=suggestions,
    )


def _read_key(path: Path) -> str:
    """Read the API key from a file with one line."""
    try:
        key = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"the API key cannot be read: {error}", where=str(path)) from None
    if not key or "\n" in key:
        raise UserError("the API key file must have one line", where=str(path))
    return key
